use super::*;

struct Scene {
    dir: tempfile::TempDir,
    root: PathBuf,
}

impl Scene {
    /// A workspace `ws` and a directory `ws-evil` beside it.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("ws")).unwrap();
        std::fs::create_dir(root.join("ws-evil")).unwrap();
        Scene { dir, root }
    }

    fn admit(&self, mode: SandboxMode, root: &str, path: &str) -> Result<Admitted, FsError> {
        let at = |path: &str| self.root.join(path).to_str().unwrap().to_owned();
        let confinement = Confinement {
            mode,
            roots: vec![at(root)],
        };
        let target = Target {
            key: at(path),
            display: at(path),
        };
        admit_anew(Some(&confinement), &target, "write")
    }

    fn rest(&self, root: &str, path: &str) -> Option<String> {
        let admitted = self.admit(SandboxMode::WorkspaceWrite, root, path).ok()?;
        Some(admitted.beneath?.rest.to_str().unwrap().to_owned())
    }
}

#[test]
fn only_what_lies_in_a_root_is_let_through() {
    let scene = Scene::new();
    assert_eq!(scene.rest("ws", "ws/a/f").as_deref(), Some("a/f"));
    assert_eq!(scene.rest("ws", "ws").as_deref(), Some(""));
    assert_eq!(scene.rest("ws", "ws-evil/f"), None);
    assert_eq!(scene.rest("ws", "ws/../f"), None);
    assert_eq!(scene.rest("absent", "ws/f"), None);
}

#[test]
fn the_refusal_names_path_and_mode() {
    let scene = Scene::new();
    for (mode, path) in [
        (SandboxMode::ReadOnly, "ws/f"),
        (SandboxMode::WorkspaceWrite, "ws-evil/f"),
    ] {
        let failure = scene.admit(mode, "ws", path).unwrap_err();
        assert_eq!(failure.code, Code::SandboxDenied);
        let (path, mode) = (scene.root.join(path), mode.as_str());
        let path = path.display();
        let expected = format!("cannot write \"{path}\": file access denied under {mode} mode");
        assert_eq!(failure.message, expected);
    }
}

#[test]
fn nothing_confines_full_access() {
    let scene = Scene::new();
    let admitted = scene
        .admit(SandboxMode::DangerFullAccess, "ws", "f")
        .unwrap();
    assert!(admitted.beneath.is_none());
    assert_eq!(Path::new(&admitted.target.key), scene.dir.path().join("f"));
}

#[cfg(unix)]
#[test]
fn links_are_judged_by_where_they_lead() {
    use std::os::unix::fs::symlink;

    let scene = Scene::new();
    symlink(scene.root.join("ws-evil"), scene.root.join("ws/out")).unwrap();
    symlink("ws", scene.root.join("alias")).unwrap();
    symlink("/absent/f", scene.root.join("ws/ghost")).unwrap();
    assert_eq!(scene.rest("ws", "ws/out/f"), None);
    assert_eq!(scene.rest("alias", "ws/f").as_deref(), Some("f"));
    assert_eq!(scene.rest("ws", "alias/f").as_deref(), Some("f"));
    assert_eq!(scene.rest("ws", "ws/ghost").as_deref(), Some("ghost"));
}

#[test]
fn a_target_spelled_as_its_key_in_a_root_as_spelled_is_not_resolved() {
    let admitted = |mode, key: &str, display: &str| {
        let confinement = Confinement {
            mode,
            roots: vec!["/ws".to_owned()],
        };
        let target = Target {
            key: key.to_owned(),
            display: display.to_owned(),
        };
        as_spelled(&confinement, &target).is_some()
    };
    let mode = SandboxMode::WorkspaceWrite;
    assert!(admitted(mode, "/ws/a/f", "/ws/a/f"));
    assert!(!admitted(mode, "/ws/a/f", "/alias/a/f"));
    assert!(!admitted(mode, "/ws/../f", "/ws/../f"));
    assert!(!admitted(mode, "/ws-evil/f", "/ws-evil/f"));
    for mode in [SandboxMode::ReadOnly, SandboxMode::DangerFullAccess] {
        assert!(!admitted(mode, "/ws/a/f", "/ws/a/f"));
    }
}
