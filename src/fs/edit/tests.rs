use super::*;

struct Scene {
    dir: tempfile::TempDir,
    cancel: CancellationToken,
}

impl Scene {
    fn new() -> Self {
        Scene {
            dir: tempfile::tempdir().unwrap(),
            cancel: CancellationToken::new(),
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

    fn edit(&self, old: &str, new: &str, replace_all: bool) -> Result<EditOutcome, FsError> {
        let text = |text: &str| Text::from_valid(text.into());
        let request = EditRequest {
            old: text(old),
            new: text(new),
            replace_all,
        };
        edit_text(
            &self.target(),
            &mut Place::of(&self.target()).unwrap(),
            &request,
            None,
            &self.cancel,
        )
    }

    fn edit_version(&self, expected: &str) -> Result<EditOutcome, FsError> {
        let text = |text: &str| Text::from_valid(text.into());
        let request = EditRequest {
            old: text("old"),
            new: text("new"),
            replace_all: false,
        };
        edit_text(
            &self.target(),
            &mut Place::of(&self.target()).unwrap(),
            &request,
            Some(expected),
            &self.cancel,
        )
    }

    fn content(&self) -> Vec<u8> {
        std::fs::read(self.target().key).unwrap()
    }

    fn version(&self) -> String {
        metadata::info_of(&std::fs::metadata(self.target().key).unwrap()).version
    }
}

fn told(result: Result<EditOutcome, FsError>) -> (Code, String) {
    let failure = result.unwrap_err();
    (failure.code, failure.message)
}

fn changed() -> (Code, String) {
    let message = "cannot edit \"/shown/f\": file changed since it was read";
    (Code::StaleVersion, message.to_owned())
}

#[test]
fn edge_73_the_mark_stays_in_the_file_and_out_of_the_texts() {
    let scene = Scene::with("\u{FEFF}w1");
    let outcome = scene.edit("w1", "w2", false).unwrap();
    assert_eq!(outcome.before.as_bytes(), b"w1");
    assert_eq!(outcome.after.as_bytes(), b"w2");
    assert_eq!(outcome.version, scene.version());
    assert_eq!(scene.content(), "\u{FEFF}w2".as_bytes());
    assert_eq!(
        told(scene.edit("\u{FEFF}", "", false)).0,
        Code::EditNotFound
    );
}

#[test]
fn edge_74_the_texts_have_lf_only() {
    let scene = Scene::with("\u{FEFF}h\r\ni\r\nj");
    let outcome = scene.edit("i", "I\nK", false).unwrap();
    assert_eq!(outcome.before.as_bytes(), b"h\ni\nj");
    assert_eq!(outcome.after.as_bytes(), b"h\nI\nK\nj");
    assert_eq!(scene.content(), "\u{FEFF}h\r\nI\r\nK\r\nj".as_bytes());
}

#[test]
fn edge_80_either_break_in_the_request_matches() {
    for old in ["h\ni", "h\r\ni"] {
        let scene = Scene::with("h\r\ni");
        scene.edit(old, "k", false).unwrap();
        assert_eq!(scene.content(), b"k");
    }
}

#[test]
fn edge_81_the_cr_of_a_crlf_is_not_found() {
    let message = "old_string was not found in \"/shown/f\"".to_owned();
    let told = told(Scene::with("h\r\ni").edit("\r", "", false));
    assert_eq!(told, (Code::EditNotFound, message));
}

#[test]
fn edge_83_84_overlaps_do_not_count() {
    let scene = Scene::with("ooo");
    scene.edit("oo", "e", false).unwrap();
    assert_eq!(scene.content(), b"eo");
    let scene = Scene::with("oooo");
    let message = "old_string matched 2 times in \"/shown/f\"; provide a more specific old_string \
                   or set replace_all to true";
    assert_eq!(
        told(scene.edit("oo", "e", false)),
        (Code::AmbiguousEdit, message.to_owned())
    );
    assert_eq!(scene.content(), b"oooo");
    scene.edit("oo", "e", true).unwrap();
    assert_eq!(scene.content(), b"ee");
}

#[test]
fn edge_85_patterns_are_literal() {
    let scene = Scene::with("v1");
    scene.edit("1", "$&$$", false).unwrap();
    assert_eq!(scene.content(), b"v$&$$");
}

#[test]
fn edge_86_nothing_cannot_be_found() {
    let message = "old_string must be a non-empty string".to_owned();
    assert_eq!(
        told(Scene::with("v1").edit("", "x", false)),
        (Code::EditNotFound, message)
    );
}

#[test]
fn edge_87_an_edit_without_effect_is_written() {
    let scene = Scene::with("h\ni");
    let version = scene.version();
    let outcome = scene.edit("h\r\n", "h\n", false).unwrap();
    assert_eq!(outcome.before, outcome.after);
    assert_ne!(outcome.version, version);
}

#[test]
fn edge_88_89_an_absent_file_has_changed() {
    let scene = Scene::new();
    assert_eq!(told(scene.edit("a", "b", false)), changed());
    scene.cancel.cancel();
    assert_eq!(told(scene.edit("a", "b", false)), changed());
}

#[test]
fn the_version_comes_before_the_cancellation() {
    let scene = Scene::with("old");
    assert_eq!(told(scene.edit_version("1:2:3:4:5")), changed());
    scene.edit_version(&scene.version()).unwrap();
    assert_eq!(scene.content(), b"new");
    scene.cancel.cancel();
    assert_eq!(told(scene.edit_version("1:2:3:4:5")), changed());
    let aborted = (Code::Aborted, "edit aborted".to_owned());
    assert_eq!(told(scene.edit_version(&scene.version())), aborted);
}

#[test]
fn a_directory_is_not_regular() {
    let scene = Scene::new();
    std::fs::create_dir(scene.target().key).unwrap();
    let message = "cannot edit \"/shown/f\": not a regular file".to_owned();
    assert_eq!(
        told(scene.edit("a", "b", false)),
        (Code::NotRegularFile, message)
    );
}

#[test]
fn only_the_head_of_the_file_decides_whether_it_is_binary() {
    let message = "cannot edit \"/shown/f\": binary file".to_owned();
    assert_eq!(
        told(Scene::with("a\0").edit("a", "b", false)),
        (Code::NotText, message)
    );
    let mut late = vec![b'-'; 8192];
    late.extend_from_slice(b"\0a");
    let scene = Scene::with(&late);
    scene.edit("a", "b", false).unwrap();
    late[8193] = b'b';
    assert_eq!(scene.content(), late);
}

#[test]
fn what_is_not_utf8_is_refused() {
    let message = "cannot edit \"/shown/f\": invalid UTF-8 text".to_owned();
    assert_eq!(
        told(Scene::with(b"a\xFF").edit("a", "b", false)),
        (Code::NotText, message)
    );
}

#[test]
fn a_lone_surrogate_is_stored_as_a_replacement() {
    let scene = Scene::with("a");
    let request = EditRequest {
        old: Text::from_valid(b"a".to_vec()),
        new: Text::from_utf16(&[0xD83D]),
        replace_all: false,
    };
    let outcome = edit_text(
        &scene.target(),
        &mut Place::of(&scene.target()).unwrap(),
        &request,
        None,
        &scene.cancel,
    )
    .unwrap();
    assert_eq!(scene.content(), "\u{FFFD}".as_bytes());
    assert_eq!(outcome.after.to_utf16(), [0xD83D]);
}

#[test]
fn a_result_beyond_the_limit_is_refused_before_it_is_made() {
    // 2^15 times 2^15 units.
    let scene = Scene::with("a".repeat(1 << 15));
    let message = "cannot edit \"/shown/f\": content exceeds the 536870888-character limit";
    let told = told(scene.edit("a", &"b".repeat(1 << 15), true));
    assert_eq!(told, (Code::TooLarge, message.to_owned()));
    assert_eq!(scene.content().len(), 1 << 15);
}

#[test]
fn a_file_beyond_the_limit_is_not_read() {
    let scene = Scene::new();
    let file = File::create(scene.target().key).unwrap();
    file.set_len(3 * (read::MAX_STRING_UNITS as u64 + 1))
        .unwrap();
    assert_eq!(told(scene.edit("a", "b", false)).0, Code::TooLarge);
}

#[test]
fn the_limit_counts_units_and_not_bytes() {
    let limit = read::MAX_STRING_UNITS;
    assert_eq!(units_after(b"aa", b"a", b"bcd", 2), 6);
    // Each character has two bytes and is one unit.
    let count = limit / 2 + 1;
    assert_eq!(units_after(b"", b"", "é".as_bytes(), count), count);
    assert!(units_after(b"", b"", b"ab", count) > limit);
    assert_eq!(units_after(b"", b"", b"ab", usize::MAX), usize::MAX);
}

#[test]
fn failures_of_publication_name_the_edit() {
    let name = "n".repeat(250);
    let scene = Scene::new();
    let key = scene.dir.path().join(&name).to_str().unwrap().to_owned();
    std::fs::write(&key, "old").unwrap();
    let target = Target {
        key,
        display: "/shown/f".to_owned(),
    };
    let text = |text: &str| Text::from_valid(text.into());
    let request = EditRequest {
        old: text("old"),
        new: text("new"),
        replace_all: false,
    };
    let told = told(edit_text(
        &target,
        &mut Place::of(&target).unwrap(),
        &request,
        None,
        &scene.cancel,
    ));
    let message = "cannot edit \"/shown/f\": ENAMETOOLONG: name too long".to_owned();
    assert_eq!(told, (Code::IoError, message));
}
