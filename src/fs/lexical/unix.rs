//! Paths of Unix systems: exactly Node's `path.posix`.

use std::io;

use super::working_directory;

pub(super) fn resolve(base: &str, path: &str) -> io::Result<String> {
    if path.starts_with('/') {
        return Ok(absolute(path.split('/')));
    }
    if base.starts_with('/') {
        return Ok(absolute(base.split('/').chain(path.split('/'))));
    }
    let start = working_directory()?;
    Ok(absolute(
        start
            .split('/')
            .chain(base.split('/'))
            .chain(path.split('/')),
    ))
}

pub(super) fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() && name.is_empty() {
        return ".".to_owned();
    }
    let is_absolute = if directory.is_empty() {
        name.starts_with('/')
    } else {
        directory.starts_with('/')
    };
    let last = if name.is_empty() { directory } else { name };
    let segments = reduce(directory.split('/').chain(name.split('/')), is_absolute);
    let mut joined = String::from(if is_absolute { "/" } else { "" });
    joined.push_str(&segments.join("/"));
    if joined.is_empty() {
        joined.push('.');
    }
    if last.ends_with('/') && !joined.ends_with('/') {
        joined.push('/');
    }
    joined
}

fn absolute<'a>(segments: impl Iterator<Item = &'a str>) -> String {
    let segments = reduce(segments, true);
    let mut path = String::with_capacity(segments.iter().map(|s| s.len() + 1).sum::<usize>() + 1);
    for segment in &segments {
        path.push('/');
        path.push_str(segment);
    }
    if path.is_empty() {
        path.push('/');
    }
    path
}

/// Takes out `.`, empty segments and what `..` undoes. A `..` that undoes nothing stays only in a
/// relative path.
fn reduce<'a>(segments: impl Iterator<Item = &'a str>, is_absolute: bool) -> Vec<&'a str> {
    let mut kept = Vec::new();
    for segment in segments {
        match segment {
            "" | "." => {}
            ".." if kept.last().is_some_and(|&last| last != "..") => {
                kept.pop();
            }
            ".." if is_absolute => {}
            _ => kept.push(segment),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn resolves_as_node_does() {
        for (base, path, expected) in [
            ("/b", "./p//q/../r.md", "/b/p/r.md"),
            ("/b", "/x/../../y/", "/y"),
            ("/b/c/", "..", "/b"),
            ("/b", "../../..", "/"),
            ("/b", "...", "/b/..."),
            ("/b", "~/.profile", "/b/~/.profile"),
            ("/b", " a ", "/b/ a "),
            ("//b//", "", "/b"),
            ("/", "/", "/"),
            ("/b", "a\\..\\c", "/b/a\\..\\c"),
        ] {
            assert_eq!(resolve(base, path).unwrap(), expected, "{base} {path}");
        }
    }

    #[test]
    fn a_relative_base_starts_at_the_working_directory() {
        let start = std::env::current_dir()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        assert_eq!(resolve("sub", "f").unwrap(), format!("{start}/sub/f"));
        assert_eq!(resolve("", "f").unwrap(), format!("{start}/f"));
    }

    #[test]
    fn joins_as_node_does() {
        for (directory, name, expected) in [
            ("/d", "n", "/d/n"),
            ("/", "n", "/n"),
            ("/d/", "", "/d/"),
            ("", "", "."),
            ("d", "../..", ".."),
            ("d", "../x/", "x/"),
            ("d", "../", "./"),
            ("", "/n", "/n"),
            ("./d", "../../n", "../n"),
        ] {
            assert_eq!(join(directory, name), expected, "{directory} {name}");
        }
    }

    proptest! {
        #[test]
        fn a_resolved_path_is_a_fixed_point(base in "/[a./]{0,8}", path in "[a./]{0,12}") {
            let once = resolve(&base, &path).unwrap();
            prop_assert_eq!(resolve("/elsewhere", &once).unwrap(), once.clone());
            prop_assert!(once.starts_with('/') && (once == "/" || !once.ends_with('/')));
            prop_assert!(once.split('/').all(|s| s != "." && s != ".."));
        }
    }
}
