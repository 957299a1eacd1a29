use super::*;
use crate::fs::metadata;

const LIMIT: u64 = 10 * 1024 * 1024;

struct Scene {
    dir: tempfile::TempDir,
    cancel: CancellationToken,
    limit: u64,
}

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Scene {
            dir,
            cancel: CancellationToken::new(),
            limit: LIMIT,
        }
    }

    /// With a file `f`.
    fn with(content: impl AsRef<[u8]>) -> Self {
        let scene = Scene::new();
        std::fs::write(scene.target().key, content).unwrap();
        scene
    }

    fn target(&self) -> Target {
        let key = self.dir.path().join("f").to_str().unwrap().to_owned();
        Target {
            key,
            display: "/shown/f".to_owned(),
        }
    }

    fn write(&self, content: &str, intent: Option<&WriteIntent>) -> Result<WriteOutcome, FsError> {
        let content = Text::from_valid(content.into());
        let (target, cancel) = (self.target(), &self.cancel);
        let place = &mut Place::of(&target).unwrap();
        write_text(&target, place, content, intent, self.limit, cancel)
    }

    fn content(&self) -> Vec<u8> {
        std::fs::read(self.target().key).unwrap()
    }

    fn version(&self) -> String {
        metadata::info_of(&std::fs::metadata(self.target().key).unwrap()).version
    }
}

fn before(outcome: &WriteOutcome) -> Option<&[u8]> {
    outcome.before.as_ref().map(Text::as_bytes)
}

fn told(result: Result<WriteOutcome, FsError>) -> (Code, String) {
    let failure = result.unwrap_err();
    (failure.code, failure.message)
}

#[test]
fn edge_42_43_a_new_file_is_stored_verbatim() {
    let scene = Scene::new();
    let outcome = scene.write("k\r\nl\rm", None).unwrap();
    assert_eq!(outcome.operation, Operation::Create);
    assert_eq!(before(&outcome), None);
    assert_eq!(outcome.after.as_bytes(), b"k\nl\rm");
    assert_eq!(outcome.version, scene.version());
    assert_eq!(scene.content(), b"k\r\nl\rm");
}

#[test]
fn an_update_tells_the_former_text() {
    let scene = Scene::with("\u{FEFF}a\r\n");
    let version = scene.version();
    let outcome = scene
        .write("b", Some(&WriteIntent::ReplaceIfVersion(version.clone())))
        .unwrap();
    assert_eq!(outcome.operation, Operation::Update);
    assert_eq!(before(&outcome), Some(&b"a\n"[..]));
    assert_eq!(outcome.version, scene.version());
    assert_ne!(outcome.version, version);
    assert_eq!(scene.content(), b"b");
}

#[test]
fn edge_44_an_unseen_file_is_kept() {
    let scene = Scene::with("old");
    let told = told(scene.write("new", Some(&WriteIntent::CreateIfAbsent)));
    let message = "cannot overwrite existing \"/shown/f\" without reading it first";
    assert_eq!(told, (Code::NotObserved, message.to_owned()));
    assert_eq!(scene.content(), b"old");
}

#[test]
fn edge_45_46_another_version_is_stale() {
    let intent = WriteIntent::ReplaceIfVersion("1:2:3:4:5".to_owned());
    let stale = |why: &str| {
        (
            Code::StaleVersion,
            format!("cannot write \"/shown/f\": {why}"),
        )
    };
    let scene = Scene::new();
    assert_eq!(
        told(scene.write("new", Some(&intent))),
        stale("file no longer exists")
    );
    let scene = Scene::with("old");
    assert_eq!(
        told(scene.write("new", Some(&intent))),
        stale("file changed since it was read")
    );
    assert_eq!(scene.content(), b"old");
}

#[test]
fn edge_47_a_directory_is_not_regular_whatever_the_guard() {
    let scene = Scene::new();
    std::fs::create_dir(scene.target().key).unwrap();
    let intent = WriteIntent::ReplaceIfVersion(String::new());
    for intent in [None, Some(&WriteIntent::CreateIfAbsent), Some(&intent)] {
        let message = "cannot write \"/shown/f\": not a regular file".to_owned();
        assert_eq!(
            told(scene.write("new", intent)),
            (Code::NotRegularFile, message)
        );
    }
}

#[test]
fn edge_55_identical_content_is_written_again() {
    let scene = Scene::with("same");
    let version = scene.version();
    let outcome = scene.write("same", None).unwrap();
    assert_ne!(outcome.version, version);
}

#[test]
fn edge_56_a_lone_surrogate_is_stored_as_a_replacement() {
    let scene = Scene::new();
    let content = Text::from_utf16(&[0x75, 0xD83D, 0x76]);
    let outcome = write_text(
        &scene.target(),
        &mut Place::of(&scene.target()).unwrap(),
        content,
        None,
        scene.limit,
        &scene.cancel,
    )
    .unwrap();
    assert_eq!(scene.content(), b"u\xEF\xBF\xBDv");
    assert_eq!(outcome.after.to_utf16(), [0x75, 0xD83D, 0x76]);
}

#[test]
fn edge_60_the_limit_of_the_basis_is_exclusive_on_both_sides() {
    for (old, new, kept) in [
        ("12345", "54321", true),
        ("12345", "654321", false),
        ("123456", "54321", false),
        ("1", "ééé", false),
    ] {
        let scene = Scene {
            limit: 6,
            ..Scene::with(old)
        };
        let outcome = scene.write(new, None).unwrap();
        assert_eq!(
            before(&outcome),
            kept.then_some(old.as_bytes()),
            "{old} {new}"
        );
    }
}

#[test]
fn edge_61_where_a_cancellation_is_seen() {
    let aborted = |verb| (Code::Aborted, format!("{verb} aborted"));
    let new = Scene::new();
    new.cancel.cancel();
    assert_eq!(told(new.write("n", None)), aborted("write"));
    assert!(!std::path::Path::new(&new.target().key).exists());

    let old = Scene {
        limit: 3,
        ..Scene::with("o")
    };
    old.cancel.cancel();
    assert_eq!(told(old.write("n", None)), aborted("read"));
    assert_eq!(told(old.write("long", None)), aborted("write"));
    assert_eq!(old.content(), b"o");
}

#[test]
fn edge_62_the_guard_comes_before_the_cancellation() {
    let scene = Scene::with("old");
    scene.cancel.cancel();
    assert_eq!(
        told(scene.write("n", Some(&WriteIntent::CreateIfAbsent))).0,
        Code::NotObserved
    );
    let intent = WriteIntent::ReplaceIfVersion(String::new());
    assert_eq!(told(scene.write("n", Some(&intent))).0, Code::StaleVersion);
}

#[test]
fn edge_310_a_file_that_has_gone_has_a_version_that_says_so() {
    let target = Scene::new().target();
    assert_eq!(
        version_after(&target, &Place::of(&target).unwrap(), "write").unwrap(),
        format!("missing:{}", target.key)
    );
}

/// A name that is too long.
#[test]
fn a_path_that_cannot_be_looked_at_is_a_typed_failure() {
    let target = Target {
        key: "/".to_owned() + &"n".repeat(300),
        display: "/shown/f".to_owned(),
    };
    let content = Text::from_valid(Vec::new());
    let result = write_text(
        &target,
        &mut Place::of(&target).unwrap(),
        content,
        None,
        LIMIT,
        &CancellationToken::new(),
    );
    let message = "cannot write \"/shown/f\": ENAMETOOLONG: name too long".to_owned();
    assert_eq!(told(result), (Code::IoError, message));
}
