//! Where a mutation takes place: the directory of its target, opened, and the target's name there.
//!
//! ```text
//!  unconfined   the parent's path            -> handle, links followed
//!  confined     the root's path -> handle    -> parent beneath it, no links -> handle
//! ```
//!
//! Inspection, staging and publication are relative to the handle (D22). Where the parent is
//! missing there is no handle until the publication makes it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::contract::{FileType, Target};
use crate::fs::directory::{Directory, Links, Status, open_beneath, open_without_links};
use crate::fs::errno;

/// A root that a target lies beneath.
#[derive(Clone, Debug)]
pub struct Beneath {
    /// Canonical path of the root.
    pub root: PathBuf,
    /// The target's canonical path from there.
    pub rest: PathBuf,
}

/// The directory and the name of one target.
pub struct Place {
    name: OsString,
    way: Way,
    /// `None` while it is missing.
    parent: Option<Directory>,
}

/// How the parent is reached.
enum Way {
    Path(PathBuf),
    Beneath { root: Directory, parent: PathBuf },
}

impl Place {
    /// The place of a target, by its path.
    ///
    /// Errors: the system's, except that the parent is absent.
    pub fn of(target: &Target) -> io::Result<Self> {
        let (parent, name) = split(Path::new(&target.key))?;
        let opened = unless_absent(Directory::open(&parent))?;
        Ok(Place {
            name,
            way: Way::Path(parent),
            parent: opened,
        })
    }

    /// The place of a target beneath a root, reached without following any link.
    ///
    /// Errors: the system's, except that the parent is absent, be it behind a link that leads
    /// nowhere. Any other link on the way is ELOOP or ENOTDIR.
    pub fn beneath(beneath: &Beneath) -> io::Result<Self> {
        let (parent, name) = split(&beneath.rest)?;
        let root = match open_without_links(&beneath.root) {
            Ok(root) => root,
            Err(error) => {
                let absent = Place::in_absent_root(&beneath.root, &parent, name)?;
                return absent.ok_or(error);
            }
        };
        let opened = match open_beneath(&root, &parent) {
            Ok(opened) => Some(opened),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(_) if leads_nowhere(&root, &parent)? => None,
            // Something on the way that is no directory is no absence here.
            Err(error) => return Err(error),
        };
        Ok(Place {
            name,
            way: Way::Beneath { root, parent },
            parent: opened,
        })
    }

    /// The place of a target in a root that is to be made, without following links, with it; `None`
    /// if the root is not absent.
    fn in_absent_root(root: &Path, parent: &Path, name: OsString) -> io::Result<Option<Self>> {
        let top_path = root.ancestors().last().unwrap_or(root);
        let below_top = root.strip_prefix(top_path).unwrap_or(root);
        let top = Directory::open(top_path)?;
        let is_absent = match open_beneath(&top, below_top) {
            Ok(_) => false,
            Err(error) if error.kind() == io::ErrorKind::NotFound => true,
            Err(_) => leads_nowhere(&top, below_top)?,
        };
        let way = Way::Beneath {
            root: top,
            parent: below_top.join(parent),
        };
        Ok(is_absent.then_some(Place {
            name,
            way,
            parent: None,
        }))
    }

    /// Whether the target is confined to a root.
    pub fn is_confined(&self) -> bool {
        matches!(self.way, Way::Beneath { .. })
    }

    /// The name of the target in its directory.
    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// The status of the target, `None` if it is absent.
    pub fn status(&self) -> io::Result<Option<Status>> {
        let Some(parent) = &self.parent else {
            return Ok(None);
        };
        unless_absent(parent.status(&self.name, self.links())).and_then(|status| {
            match (status, self.is_confined()) {
                (Some(status), true) => self.unless_link(parent, status),
                (status, _) => Ok(status),
            }
        })
    }

    /// The status of the name itself, links not followed.
    pub fn status_of_name(&self) -> io::Result<Status> {
        self.parent()?.status(&self.name, Links::Keep)
    }

    /// Whether the name is a link, or it cannot be told.
    pub fn may_be_link(&self) -> bool {
        match self.status_of_name() {
            Ok(status) => status.info.kind == FileType::Symlink,
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        }
    }

    /// Opens the target for reading, `None` if it is absent.
    pub fn open(&self) -> io::Result<Option<File>> {
        let Some(parent) = &self.parent else {
            return Ok(None);
        };
        match unless_absent(parent.open_file(&self.name, self.links())) {
            // A confined link that leads nowhere is nothing.
            Err(error) if self.is_confined() => match self.status()? {
                Some(_) => Err(error),
                None => Ok(None),
            },
            opened => opened,
        }
    }

    /// The directory of the target; made, with those above it, if it is missing.
    pub fn ensure_parent(&mut self) -> io::Result<()> {
        if self.parent.is_none() {
            self.parent = Some(match &self.way {
                Way::Path(path) => {
                    create_directories(path)?;
                    Directory::open(path)?
                }
                Way::Beneath { root, parent } => make_beneath(root, parent)?,
            });
        }
        Ok(())
    }

    /// The directory of the target.
    ///
    /// Errors: `NotFound` while it is missing.
    pub fn parent(&self) -> io::Result<&Directory> {
        self.parent.as_ref().ok_or_else(absent)
    }

    fn links(&self) -> Links {
        if self.is_confined() {
            Links::Keep
        } else {
            Links::Follow
        }
    }

    /// A canonical path ends in a link only if that leads nowhere: then nothing is there. If it
    /// leads somewhere, it has come after the path was made canonical.
    fn unless_link(&self, parent: &Directory, status: Status) -> io::Result<Option<Status>> {
        if status.info.kind != FileType::Symlink {
            return Ok(Some(status));
        }
        match unless_absent(parent.status(&self.name, Links::Follow))? {
            None => Ok(None),
            Some(_) => Err(way_is_a_link()),
        }
    }
}

/// The error for a link where the canonical path had none.
fn way_is_a_link() -> io::Error {
    #[cfg(unix)]
    return rustix::io::Errno::LOOP.into();
    #[cfg(windows)]
    return io::ErrorKind::NotADirectory.into();
}

fn split(path: &Path) -> io::Result<(PathBuf, OsString)> {
    if path.as_os_str().as_encoded_bytes().contains(&0) {
        // As the standard library says it.
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "file name contained an unexpected NUL byte",
        ));
    }
    let Some(name) = path.file_name() else {
        return Ok((path.to_owned(), OsString::from(".")));
    };
    let parent = path.parent().unwrap_or(Path::new(""));
    let parent = if parent.as_os_str().is_empty() {
        Path::new(".")
    } else {
        parent
    };
    Ok((parent.to_owned(), name.to_owned()))
}

fn unless_absent<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if errno::is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Makes the directories that lead to `path`, and it.
fn create_directories(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path).map_err(|error| match std::fs::metadata(path) {
        // A link that leads nowhere is in the way: that says more than that the link exists. Above
        // `path`, it is no directory; as `path` itself, it is nothing.
        Err(absent) if error.kind() == io::ErrorKind::AlreadyExists => {
            if std::fs::symlink_metadata(path).is_ok() {
                absent
            } else {
                not_a_directory()
            }
        }
        _ => error,
    })
}

/// Whether the way along `path` below `base` ends at a link that leads nowhere.
fn leads_nowhere(base: &Directory, path: &Path) -> io::Result<bool> {
    let mut directory = open_beneath(base, Path::new(""))?;
    for name in path {
        match directory.open_directory(name) {
            Ok(next) => directory = next,
            Err(_) => return Ok(is_dangling(&directory, name)),
        }
    }
    Ok(false)
}

fn is_dangling(directory: &Directory, name: &OsStr) -> bool {
    let is_link = |status: Status| status.info.kind == FileType::Symlink;
    directory.status(name, Links::Keep).is_ok_and(is_link)
        && directory
            .status(name, Links::Follow)
            .is_err_and(|error| errno::is_absent(&error))
}

/// Makes the directories of `path` below `root` where they are missing, each in the handle of the
/// one before; the last of them.
fn make_beneath(root: &Directory, path: &Path) -> io::Result<Directory> {
    let leads_down = |component| matches!(component, Component::Normal(_) | Component::CurDir);
    if !path.components().all(leads_down) {
        // A canonical path has no other; nothing is made for one that has.
        return Err(absent());
    }
    let mut directory = open_beneath(root, Path::new(""))?;
    for component in path.components() {
        if let Component::Normal(name) = component {
            directory = open_or_make(&directory, name)?;
        }
    }
    Ok(directory)
}

fn open_or_make(directory: &Directory, name: &OsStr) -> io::Result<Directory> {
    match directory.open_directory(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(_) if is_dangling(directory, name) => return Err(absent()),
        opened => return opened,
    }
    match directory.make_directory(name) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        // Made by us or, meanwhile, by somebody else.
        _ => directory.open_directory(name),
    }
}

fn not_a_directory() -> io::Error {
    #[cfg(unix)]
    return rustix::io::Errno::NOTDIR.into();
    #[cfg(windows)]
    return io::ErrorKind::NotADirectory.into();
}

fn absent() -> io::Error {
    #[cfg(unix)]
    return rustix::io::Errno::NOENT.into();
    #[cfg(windows)]
    return io::ErrorKind::NotFound.into();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_parents_are_made_beneath_the_root_alone() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let mut place = Place::beneath(&Beneath {
            root: root.clone(),
            rest: PathBuf::from("a/b/f"),
        })
        .unwrap();
        assert!(place.status().unwrap().is_none() && place.open().unwrap().is_none());
        place.ensure_parent().unwrap();
        place
            .parent()
            .unwrap()
            .create_file(OsStr::new("f"))
            .unwrap();
        assert!(root.join("a/b/f").is_file());
        assert!(place.status().unwrap().is_some());
    }

    #[test]
    fn an_absent_root_is_made_with_what_lies_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("gone/ws");
        let mut place = Place::beneath(&Beneath {
            root: root.clone(),
            rest: PathBuf::from("a/f"),
        })
        .unwrap();
        assert!(place.status().unwrap().is_none());
        place.ensure_parent().unwrap();
        assert!(root.join("a").is_dir());
    }

    #[test]
    fn nothing_is_made_for_a_root_that_leads_up() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("absent/../other");
        let rest = PathBuf::from("f");
        if let Ok(mut place) = Place::beneath(&Beneath { root, rest }) {
            assert!(place.ensure_parent().is_err());
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_root_that_is_a_link_to_nowhere_is_absent_and_not_made() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("ws");
        std::os::unix::fs::symlink("nowhere", &root).unwrap();
        let mut place = Place::beneath(&Beneath {
            root,
            rest: PathBuf::from("f"),
        })
        .unwrap();
        assert!(place.status().unwrap().is_none());
        let refused = place.ensure_parent().unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::NotFound);
        assert!(!dir.path().join("nowhere").exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_came_later_is_not_followed() {
        use std::os::unix::fs::symlink;

        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("root");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(dir.path().join("outside"), "secret").unwrap();
        symlink("../outside", root.join("f")).unwrap();
        symlink("..", root.join("up")).unwrap();
        symlink("absent", root.join("ghost")).unwrap();
        let beneath = |rest: &str| {
            Place::beneath(&Beneath {
                root: root.clone(),
                rest: rest.into(),
            })
        };
        let place = beneath("f").unwrap();
        assert!(place.status().is_err() && place.open().is_err());
        assert!(beneath("up/outside").is_err());
        assert!(beneath("ghost").unwrap().status().unwrap().is_none());
        // Behind a link that leads nowhere nothing is, and nothing is made.
        let mut place = beneath("ghost/f").unwrap();
        assert!(place.status().unwrap().is_none());
        let refused = place.ensure_parent().unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::NotFound);
        assert!(!root.join("absent").exists());
    }
}
