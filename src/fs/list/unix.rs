//! Directories of Unix systems.

use std::io;

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, openat, statat};

use crate::contract::Info;
use crate::fs::metadata::info_of_stat;

/// An opened directory; its children are probed relative to its descriptor.
pub(super) struct Directory(Dir);

impl Directory {
    pub(super) fn open(path: &str) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let descriptor = openat(CWD, path, flags, Mode::empty())?;
        Ok(Directory(Dir::new(descriptor)?))
    }

    /// The names of the children, lossily decoded.
    pub(super) fn names(&mut self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in &mut self.0 {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy();
            if name != "." && name != ".." {
                names.push(name.into_owned());
            }
        }
        Ok(names)
    }

    /// Metadata of a child, links not followed.
    pub(super) fn probe(&self, name: &str) -> io::Result<Info> {
        let stat = statat(self.0.fd()?, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(info_of_stat(&stat))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use tokio_util::sync::CancellationToken;

    use crate::contract::{Code, FileType, FsError, Target};
    use crate::fs::list::{Listed, list_dir};
    use crate::fs::metadata::stat;

    struct Place {
        _dir: tempfile::TempDir,
        root: PathBuf,
    }

    impl Place {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let root = dir.path().canonicalize().unwrap();
            Place { _dir: dir, root }
        }

        fn at(&self, path: &str) -> String {
            self.root.join(path).to_str().unwrap().to_owned()
        }

        fn target(&self) -> Target {
            Target {
                key: self.root.to_str().unwrap().to_owned(),
                display: "/shown".to_owned(),
            }
        }

        fn children(&self) -> BTreeMap<String, Result<Listed, FsError>> {
            list_dir(&self.target(), &CancellationToken::new())
                .unwrap()
                .into_iter()
                .collect()
        }

        fn child(&self, name: &str) -> Listed {
            self.children().remove(name).unwrap().unwrap()
        }
    }

    #[test]
    fn children_have_the_version_that_stat_gives() {
        let place = Place::new();
        std::fs::write(place.at("f"), "abc").unwrap();
        std::fs::create_dir(place.at("sub")).unwrap();
        let children = place.children();
        assert_eq!(children.keys().collect::<Vec<_>>(), ["f", "sub"]);
        for (name, kind, size) in [
            ("f", FileType::File, Some(3)),
            ("sub", FileType::Directory, None),
        ] {
            let key = place.at(name);
            let target = Target {
                key: key.clone(),
                display: key.clone(),
            };
            let info = stat(&target, &CancellationToken::new()).unwrap().unwrap();
            let version = Some(info.version);
            let expected = Listed {
                name: name.to_owned(),
                kind,
                key,
                version,
                size,
            };
            assert_eq!(place.child(name), expected);
        }
    }

    #[test]
    fn edge_95_a_link_that_leads_nowhere() {
        let place = Place::new();
        symlink("absent", place.at("ghost")).unwrap();
        let Listed {
            kind,
            key,
            version,
            size,
            ..
        } = place.child("ghost");
        assert_eq!((kind, key), (FileType::Other, place.at("ghost")));
        assert_eq!((version, size), (None, None));
    }

    #[test]
    fn edge_96_a_link_has_the_key_and_kind_of_its_target() {
        let place = Place::new();
        std::fs::create_dir(place.at("sub")).unwrap();
        symlink("sub", place.at("lk")).unwrap();
        let Listed {
            kind,
            key,
            version,
            size,
            ..
        } = place.child("lk");
        assert_eq!(
            (kind, key, size),
            (FileType::Directory, place.at("sub"), None)
        );
        assert_eq!(version, place.child("sub").version);
    }

    #[test]
    fn edge_97_a_loop_fails_by_its_own_name() {
        let place = Place::new();
        std::fs::write(place.at("f"), "").unwrap();
        symlink("ouro", place.at("ouro")).unwrap();
        let children = place.children();
        assert!(children["f"].is_ok());
        let failure = children["ouro"].as_ref().unwrap_err();
        assert_eq!(failure.code, Code::IoError);
        let expected = "cannot list \"/shown/ouro\": ELOOP: too many symbolic links encountered";
        assert_eq!(failure.message, expected);
    }

    #[test]
    fn a_link_to_below_a_file_cannot_be_resolved() {
        let place = Place::new();
        std::fs::write(place.at("leaf"), "").unwrap();
        symlink("leaf/x", place.at("bad")).unwrap();
        let failure = place.children().remove("bad").unwrap().unwrap_err();
        assert_eq!(failure.code, Code::NotFound);
        let expected = "cannot resolve \"/shown/bad\": a parent path segment is not a directory";
        assert_eq!(failure.message, expected);
    }

    #[test]
    fn edge_98_what_cannot_be_listed() {
        let place = Place::new();
        std::fs::write(place.at("f"), "").unwrap();
        for (path, code, why) in [
            ("m", Code::NotFound, "not found"),
            ("f", Code::NotDirectory, "not a directory"),
            ("f/x", Code::NotFound, "not found"),
        ] {
            let target = Target {
                key: place.at(path),
                display: "/shown".to_owned(),
            };
            let failure = list_dir(&target, &CancellationToken::new()).unwrap_err();
            assert_eq!(failure.code, code);
            assert_eq!(failure.message, format!("cannot list \"/shown\": {why}"));
        }
    }

    #[test]
    fn edge_99_a_cancelled_call_is_aborted() {
        let cancel = CancellationToken::new();
        cancel.cancel();
        let failure = list_dir(&Place::new().target(), &cancel).unwrap_err();
        assert_eq!(
            (failure.code, failure.message.as_str()),
            (Code::Aborted, "list aborted")
        );
    }

    // Other systems refuse such names.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_name_that_is_not_utf_8_is_absent_under_its_decoded_form() {
        let place = Place::new();
        std::fs::write(place.root.join(OsStr::from_bytes(b"a\xFFb")), "x").unwrap();
        let Listed {
            kind, key, version, ..
        } = place.child("a\u{FFFD}b");
        assert_eq!(
            (kind, key, version),
            (FileType::Other, place.at("a\u{FFFD}b"), None)
        );
    }

    #[test]
    fn keys_are_real_where_the_directory_is_named_through_a_link() {
        let place = Place::new();
        std::fs::create_dir(place.at("sub")).unwrap();
        std::fs::write(place.at("sub/f"), "").unwrap();
        symlink("sub", place.at("lk")).unwrap();
        let target = Target {
            key: place.at("lk"),
            display: place.at("lk"),
        };
        let children = list_dir(&target, &CancellationToken::new()).unwrap();
        assert_eq!(children[0].1.as_ref().unwrap().key, place.at("sub/f"));
    }
}
