//! Paths of Windows, through the components of `std::path`.

use std::io;
use std::path::{Component, Path, PathBuf};

use super::working_directory;

pub(super) fn resolve(base: &str, path: &str) -> io::Result<String> {
    let mut whole = Path::new(base).join(path);
    if !whole.is_absolute() {
        whole = Path::new(&working_directory()?).join(whole);
    }
    Ok(reduce(&whole))
}

pub(super) fn join(directory: &str, name: &str) -> String {
    reduce(&Path::new(directory).join(name))
}

/// Takes out `.` and what `..` undoes.
fn reduce(path: &Path) -> String {
    let mut kept = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                kept.pop();
            }
            other => kept.push(other),
        }
    }
    kept.to_string_lossy().into_owned()
}
