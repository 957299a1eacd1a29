//! Publication, with faults and rivals put in the place of its last steps.

use std::cell::RefCell;
use std::path::Path;

use super::*;

/// A directory, a target `f` in it, and what is needed to publish there.
struct Scene {
    dir: tempfile::TempDir,
    target: Target,
    cancel: CancellationToken,
}

impl Scene {
    fn new() -> Self {
        Scene::at("f")
    }

    fn at(name: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let key = dir.path().join(name).to_str().unwrap().to_owned();
        let target = Target {
            display: format!("/shown/{name}"),
            key,
        };
        Scene {
            dir,
            target,
            cancel: CancellationToken::new(),
        }
    }

    fn run<S: Steps>(&self, steps: &S, no_replace: bool) -> Result<(), FsError> {
        let mut place = Place::of(&self.target).unwrap();
        let existing = place.status().unwrap();
        let publication = Publication {
            target: &self.target,
            chunks: &[b"n", b"ew"],
            existing: existing.as_ref(),
            no_replace,
            verb: "write",
            cancel: &self.cancel,
        };
        publication.run(&mut place, steps)
    }

    fn content(&self) -> String {
        std::fs::read_to_string(&self.target.key).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let children = std::fs::read_dir(self.dir.path()).unwrap();
        let mut names: Vec<_> = children
            .map(|child| child.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

/// Fails the last steps with error numbers; what is `None` works.
#[derive(Default)]
struct Faults {
    replace: Option<i32>,
    link: Option<i32>,
    clean: Option<i32>,
}

fn fault(errno: Option<i32>) -> io::Result<()> {
    errno.map_or(Ok(()), |errno| Err(io::Error::from_raw_os_error(errno)))
}

impl Steps for Faults {
    fn replace(&self, staged: &Staged<'_>, existed: bool) -> io::Result<()> {
        fault(self.replace)?;
        System.replace(staged, existed)
    }

    fn link(&self, staged: &Staged<'_>) -> io::Result<()> {
        fault(self.link)?;
        System.link(staged)
    }

    fn clean(&self, staged: &Staged<'_>) -> io::Result<()> {
        fault(self.clean)?;
        System.clean(staged)
    }
}

/// Runs a step of somebody else just before the name is taken.
struct Rival<F: Fn()>(F);

impl<F: Fn()> Steps for Rival<F> {
    fn replace(&self, staged: &Staged<'_>, existed: bool) -> io::Result<()> {
        (self.0)();
        System.replace(staged, existed)
    }

    fn link(&self, staged: &Staged<'_>) -> io::Result<()> {
        (self.0)();
        System.link(staged)
    }
}

const EPERM: i32 = 1;
const EXDEV: i32 = 18;
const ENOTEMPTY: i32 = 39;
const ENOSPC: i32 = 28;
const EEXIST: i32 = 17;

#[test]
fn content_is_published_and_nothing_stays() {
    for no_replace in [false, true] {
        let scene = Scene::new();
        scene.run(&System, no_replace).unwrap();
        assert_eq!(scene.content(), "new");
        assert_eq!(scene.names(), ["f"]);
    }
}

#[test]
fn many_and_large_chunks_arrive_in_order() {
    let scene = Scene::new();
    let large: Vec<u8> = (0..3 * STEP + 5).map(|at| (at % 251) as u8).collect();
    let mut chunks: Vec<&[u8]> = vec![b"a"; 300_000];
    chunks.push(&large);
    chunks.push(b"");
    chunks.push(b"z");
    let place = &mut Place::of(&scene.target).unwrap();
    publish(
        &scene.target,
        place,
        &chunks,
        None,
        false,
        "edit",
        &scene.cancel,
    )
    .unwrap();
    assert!(std::fs::read(&scene.target.key).unwrap() == chunks.concat());
}

#[test]
fn edge_64_a_refused_link_is_an_io_error() {
    let scene = Scene::new();
    let failure = scene
        .run(
            &Faults {
                link: Some(EPERM),
                ..Faults::default()
            },
            true,
        )
        .unwrap_err();
    assert_eq!(failure.code, Code::IoError);
    assert_eq!(
        failure.message,
        "cannot write \"/shown/f\": EPERM: operation not permitted"
    );
    let cause = failure.cause.unwrap();
    assert_eq!(
        (cause.code, cause.errno, cause.syscall),
        ("EPERM", EPERM, "link")
    );
    assert!(scene.names().is_empty());
}

#[test]
fn edge_65_a_file_that_appears_is_not_replaced() {
    let scene = Scene::new();
    let rival = Rival(|| std::fs::write(&scene.target.key, "theirs").unwrap());
    let failure = scene.run(&rival, true).unwrap_err();
    assert_eq!(failure.code, Code::NotObserved);
    let expected = "cannot overwrite existing \"/shown/f\" without reading it first";
    assert_eq!(failure.message, expected);
    assert_eq!(failure.cause.unwrap().code, "EEXIST");
    assert_eq!(scene.content(), "theirs");
    assert_eq!(scene.names(), ["f"]);
}

#[test]
fn edge_65_a_name_that_was_taken_for_a_moment_counts_as_taken() {
    let scene = Scene::new();
    let faults = Faults {
        link: Some(EEXIST),
        ..Faults::default()
    };
    assert_eq!(
        scene.run(&faults, true).unwrap_err().code,
        Code::NotObserved
    );
}

#[test]
fn edge_66_a_rewrite_between_check_and_publication_is_lost() {
    let scene = Scene::new();
    std::fs::write(&scene.target.key, "old").unwrap();
    let rival = Rival(|| std::fs::write(&scene.target.key, "theirs").unwrap());
    scene.run(&rival, false).unwrap();
    assert_eq!(scene.content(), "new");
}

#[test]
fn edge_312_the_last_of_two_publications_wins() {
    let (scene, rival_cancel) = (Scene::new(), CancellationToken::new());
    std::fs::write(&scene.target.key, "old").unwrap();
    let rival = Rival(|| {
        publish(
            &scene.target,
            &mut Place::of(&scene.target).unwrap(),
            &[b"theirs"],
            None,
            false,
            "write",
            &rival_cancel,
        )
        .unwrap();
    });
    scene.run(&rival, false).unwrap();
    assert_eq!(scene.content(), "new");
    assert_eq!(scene.names(), ["f"]);
}

#[test]
fn edge_68_a_failed_cleanup_after_publication_is_no_failure() {
    let scene = Scene::new();
    scene
        .run(
            &Faults {
                clean: Some(ENOTEMPTY),
                ..Faults::default()
            },
            false,
        )
        .unwrap();
    assert_eq!(scene.content(), "new");
    let names = scene.names();
    assert_eq!(names.len(), 2);
    let prefix = format!(".f.{}.", std::process::id());
    let uuid = names[0]
        .strip_prefix(&prefix)
        .unwrap()
        .strip_suffix(".tmpdir")
        .unwrap();
    let groups: Vec<_> = uuid.split('-').map(str::len).collect();
    assert_eq!(groups, [8, 4, 4, 4, 12]);
    assert_eq!(&uuid[14..15], "4");
    assert!("89ab".contains(&uuid[19..20]));
}

#[test]
fn edge_69_two_faults_are_told_together() {
    let scene = Scene::new();
    let faults = Faults {
        link: Some(EPERM),
        clean: Some(16),
        ..Faults::default()
    };
    let failure = scene.run(&faults, true).unwrap_err();
    assert_eq!(failure.code, Code::NotFound);
    assert_eq!(
        failure.message,
        "write failed (cannot write \"/shown/f\": EPERM: operation not permitted) and temp \
         cleanup failed (EBUSY: resource busy or locked)"
    );
    assert_eq!(failure.cause.unwrap().code, "EPERM");
}

#[test]
fn a_failed_rename_leaves_the_old_file_alone() {
    for (errno, code, reason) in [
        (EPERM, Code::PermissionDenied, "permission denied"),
        (2, Code::NotFound, "not found"),
        (ENOSPC, Code::IoError, "ENOSPC: no space left on device"),
        (
            EXDEV,
            Code::IoError,
            "EXDEV: cross-device link not permitted",
        ),
    ] {
        let scene = Scene::new();
        std::fs::write(&scene.target.key, "old").unwrap();
        let faults = Faults {
            replace: Some(errno),
            ..Faults::default()
        };
        let failure = scene.run(&faults, false).unwrap_err();
        assert_eq!(failure.code, code);
        assert_eq!(
            failure.message,
            format!("cannot write \"/shown/f\": {reason}")
        );
        assert_eq!(scene.content(), "old");
        assert_eq!(scene.names(), ["f"]);
    }
}

#[test]
fn a_directory_in_the_place_of_a_new_file_is_not_regular() {
    let scene = Scene::new();
    let rival = Rival(|| std::fs::create_dir(&scene.target.key).unwrap());
    let failure = scene.run(&rival, true).unwrap_err();
    assert_eq!(failure.code, Code::NotRegularFile);
    assert_eq!(
        failure.message,
        "cannot write \"/shown/f\": not a regular file"
    );
}

#[test]
fn parents_are_made_and_stay() {
    let scene = Scene::at("a/b/f");
    let faults = Faults {
        link: Some(EPERM),
        ..Faults::default()
    };
    scene.run(&faults, true).unwrap_err();
    let parent = scene.dir.path().join("a/b");
    assert_eq!(std::fs::read_dir(parent).unwrap().count(), 0);
    scene.run(&System, true).unwrap();
    assert_eq!(scene.content(), "new");
}

#[test]
fn a_file_among_the_parents_is_an_error() {
    let scene = Scene::at("leaf/x/f");
    std::fs::write(scene.dir.path().join("leaf"), "").unwrap();
    let failure = scene.run(&System, false).unwrap_err();
    assert_eq!(
        failure.message,
        "cannot write \"/shown/leaf/x/f\": not found"
    );
}

#[test]
fn a_long_name_is_an_error_without_the_staging_path() {
    let scene = Scene::at(&"n".repeat(250));
    let failure = scene.run(&System, false).unwrap_err();
    assert_eq!(failure.code, Code::IoError);
    assert!(
        failure.message.ends_with("\": ENAMETOOLONG: name too long"),
        "{}",
        failure.message
    );
    assert!(!failure.message.contains("tmpdir"));
    assert!(scene.names().is_empty());
}

#[test]
fn a_cancelled_publication_changes_nothing() {
    let scene = Scene::at("a/f");
    scene.cancel.cancel();
    let failure = scene.run(&System, false).unwrap_err();
    assert_eq!(
        (failure.code, failure.message.as_str()),
        (Code::Aborted, "write aborted")
    );
    assert!(scene.names().is_empty());
}

#[test]
fn once_the_name_is_taken_a_cancellation_comes_too_late() {
    let scene = Scene::new();
    let rival = Rival(|| scene.cancel.cancel());
    scene.run(&rival, false).unwrap();
    assert_eq!(scene.content(), "new");
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;
    use crate::fs::directory::Links;

    fn mode_of(path: &Path) -> u32 {
        std::fs::symlink_metadata(path)
            .unwrap()
            .permissions()
            .mode()
            & 0o7777
    }

    /// Notes modes of the staged things.
    #[derive(Default)]
    struct Witness(RefCell<Vec<(String, u32)>>);

    impl Steps for Witness {
        fn link(&self, staged: &Staged<'_>) -> io::Result<()> {
            for (directory, name) in [
                (staged.parent, staged.staging_name),
                (staged.staging, staged.file_name),
            ] {
                let mode = directory.status(name, Links::Keep)?.mode & 0o7777;
                let name = name.to_str().unwrap().to_owned();
                self.0.borrow_mut().push((name, mode));
            }
            System.link(staged)
        }
    }

    #[test]
    fn edge_70_staging_is_private() {
        let scene = Scene::new();
        let witness = Witness::default();
        scene.run(&witness, true).unwrap();
        let seen = witness.0.into_inner();
        assert_eq!(seen[0].1, 0o700);
        assert_eq!(seen[1], ("f.tmp".to_owned(), 0o600));
        assert_eq!(mode_of(Path::new(&scene.target.key)), 0o600);
    }

    #[test]
    fn edge_52_mode_bits_are_kept_and_special_bits_are_not() {
        for (former, kept) in [(0o754, 0o754), (0o4711, 0o711), (0o444, 0o444)] {
            let scene = Scene::new();
            std::fs::write(&scene.target.key, "old").unwrap();
            let permissions = std::fs::Permissions::from_mode(former);
            std::fs::set_permissions(&scene.target.key, permissions).unwrap();
            scene.run(&System, false).unwrap();
            assert_eq!(mode_of(Path::new(&scene.target.key)), kept);
        }
    }

    #[test]
    fn edge_54_the_other_hard_link_keeps_the_old_content() {
        let scene = Scene::new();
        std::fs::write(&scene.target.key, "old").unwrap();
        let other = scene.dir.path().join("g");
        std::fs::hard_link(&scene.target.key, &other).unwrap();
        scene.run(&System, false).unwrap();
        assert_eq!(std::fs::read_to_string(other).unwrap(), "old");
        assert_eq!(std::fs::metadata(&scene.target.key).unwrap().nlink(), 1);
    }

    #[test]
    fn edge_48_49_a_dangling_link_is_kept_by_a_create_and_replaced_else() {
        let scene = Scene::at("ghost");
        symlink("absent", &scene.target.key).unwrap();
        let failure = scene.run(&System, true).unwrap_err();
        assert_eq!(
            failure.message,
            "cannot write \"/shown/ghost\": not a regular file"
        );
        assert!(
            std::fs::symlink_metadata(&scene.target.key)
                .unwrap()
                .is_symlink()
        );

        scene.run(&System, false).unwrap();
        assert!(
            std::fs::symlink_metadata(&scene.target.key)
                .unwrap()
                .is_file()
        );
        assert_eq!(scene.names(), ["ghost"]);
    }

    #[test]
    fn edge_50_a_dangling_directory_link_is_an_absence() {
        for (name, errno) in [("gd/x", "ENOENT"), ("gd/deep/x", "ENOTDIR")] {
            let scene = Scene::at(name);
            symlink("nodir", scene.dir.path().join("gd")).unwrap();
            let failure = scene.run(&System, false).unwrap_err();
            assert_eq!(failure.code, Code::NotFound);
            assert_eq!(
                failure.message,
                format!("cannot write \"/shown/{name}\": not found")
            );
            assert_eq!(failure.cause.unwrap().code, errno);
            assert_eq!(scene.names(), ["gd"]);
        }
    }
}
