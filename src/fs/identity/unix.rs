//! Real paths on Unix systems.

use std::io;
use std::path::Path;

pub(super) fn real_path(path: &Path) -> io::Result<String> {
    Ok(std::fs::canonicalize(path)?.to_string_lossy().into_owned())
}

/// The system itself says ENOTDIR below a file: nothing is left to look at.
pub(super) fn require_directory(_real: &str) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use tokio_util::sync::CancellationToken;

    use crate::contract::{Code, FsError, Target};
    use crate::fs::identity::{resolve, session_base};

    struct Place {
        _dir: tempfile::TempDir,
        root: String,
    }

    impl Place {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let root = dir
                .path()
                .canonicalize()
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned();
            Place { _dir: dir, root }
        }

        fn at(&self, path: &str) -> String {
            format!("{}/{path}", self.root)
        }

        fn resolve(&self, path: &str) -> Result<Target, FsError> {
            resolve(&self.root, path, None, &CancellationToken::new())
        }

        fn expect(&self, path: &str, key: &str, display: &str) {
            let target = self.resolve(path).unwrap();
            assert_eq!(
                target,
                Target {
                    key: self.at(key),
                    display: self.at(display)
                }
            );
        }
    }

    #[test]
    fn edge_1_a_missing_path_is_only_normalised() {
        Place::new().expect("./p//q/../r.md", "p/r.md", "p/r.md");
    }

    #[test]
    fn edge_2_to_4_links_share_the_key_before_and_after_creation() {
        let place = Place::new();
        std::fs::create_dir_all(place.at("packages/core")).unwrap();
        std::fs::write(place.at("notes.md"), "").unwrap();
        symlink("notes.md", place.at("doc")).unwrap();
        symlink("packages/core", place.at("pkg")).unwrap();
        place.expect("doc", "notes.md", "doc");
        place.expect(
            "pkg/new/deep.ts",
            "packages/core/new/deep.ts",
            "pkg/new/deep.ts",
        );
        std::fs::create_dir(place.at("packages/core/new")).unwrap();
        place.expect(
            "pkg/new/deep.ts",
            "packages/core/new/deep.ts",
            "pkg/new/deep.ts",
        );
    }

    #[test]
    fn edge_5_a_dangling_link_is_itself_the_target() {
        let place = Place::new();
        symlink("absent", place.at("ghost")).unwrap();
        place.expect("ghost", "ghost", "ghost");
        place.expect("ghost/below", "ghost/below", "ghost/below");
    }

    #[test]
    fn edge_6_a_loop_is_a_typed_failure() {
        let place = Place::new();
        symlink("ouro", place.at("ouro")).unwrap();
        let failure = place.resolve("ouro").unwrap_err();
        assert_eq!(failure.code, Code::IoError);
        let why = "ELOOP: too many symbolic links encountered";
        assert_eq!(
            failure.message,
            format!("cannot resolve \"{}\": {why}", place.at("ouro"))
        );
        assert_eq!(failure.cause.unwrap().syscall, "realpath");
    }

    #[test]
    fn edge_7_and_8_below_a_file_there_is_nothing() {
        let place = Place::new();
        std::fs::write(place.at("leaf"), "").unwrap();
        let failure = place.resolve("leaf/inner/x").unwrap_err();
        assert_eq!(failure.code, Code::NotFound);
        let why = "a parent path segment is not a directory";
        let display = place.at("leaf/inner/x");
        assert_eq!(
            failure.message,
            format!("cannot resolve \"{display}\": {why}")
        );
        place.expect("leaf/", "leaf", "leaf");
        place.expect("leaf/../leaf", "leaf", "leaf");
    }

    #[test]
    fn edge_11_and_12_paths_that_no_system_takes() {
        let place = Place::new();
        let failure = place.resolve("a\0b").unwrap_err();
        assert_eq!(failure.code, Code::IoError);
        let expected = format!(
            "cannot resolve \"{}\": path contains a NUL byte",
            place.at("a\0b")
        );
        assert_eq!(failure.message, expected);
        let failure = place.resolve(&"n".repeat(256)).unwrap_err();
        assert!(failure.message.ends_with("\": ENAMETOOLONG: name too long"));
    }

    #[test]
    fn the_given_base_wins() {
        let place = Place::new();
        let cancel = CancellationToken::new();
        let target = resolve("/elsewhere", "f", Some(&place.root), &cancel).unwrap();
        assert_eq!(target.display, place.at("f"));
    }

    #[test]
    fn a_session_base_is_real_only_where_the_path_climbs() {
        let place = Place::new();
        std::fs::create_dir(place.at("real")).unwrap();
        symlink("real", place.at("link")).unwrap();
        let spelled = Some(place.at("link"));
        assert_eq!(session_base(spelled.clone(), "f"), spelled);
        assert_eq!(session_base(spelled, "../f"), Some(place.at("real")));
        let climbing = Some(place.at("link/../real"));
        assert_eq!(session_base(climbing, "f"), Some(place.at("real")));
        assert_eq!(
            session_base(Some("/absent/x".into()), ".."),
            Some("/absent/x".into())
        );
        assert_eq!(session_base(None, ".."), None);
    }
}
