//! The fence of a confined mutation: which targets the policy of a call lets it change.
//!
//! It decides by path, on the target resolved anew; what it lets through is then reached by handle
//! beneath the root that it lies in (D22, `place`). A target that is spelled as its key need not be
//! resolved: that it can be reached without links shows that it is where it says.
//!
//! Contract: sandbox.

use std::path::{Path, PathBuf};

use tokio_util::sync::CancellationToken;

use crate::contract::{Code, Confinement, FsError, SandboxMode, Target};
use crate::fs::place::Beneath;
use crate::fs::{errno, identity, lexical};

#[cfg(unix)]
#[path = "confine/unix.rs"]
mod platform;
#[cfg(windows)]
#[path = "confine/windows.rs"]
mod platform;

/// Bytes of a path that no system resolves; Linux has the largest limit.
const LONGEST_PATH: usize = 4096;

/// A target that may be changed.
#[derive(Clone, Debug)]
pub struct Admitted {
    /// The target to lock and to change.
    pub target: Target,
    /// The root that it lies beneath; `None` where nothing confines.
    pub beneath: Option<Beneath>,
    /// The target was not resolved anew: it counts only if there proves to be no link on its way.
    pub if_without_links: bool,
}

/// Lets a target through, or refuses it. `None` confines nothing; `verb` is that of the call, for
/// failures of the system.
///
/// A target that is spelled as its key, in the first root as spelled, is not resolved: opening it without
/// links shows as well that it is where it says.
///
/// Errors: `SandboxDenied`; those of resolving; `IoError` or `PermissionDenied` where it cannot be
/// told whether the target lies in a root.
///
/// Contract: sandbox, fence.
pub fn admit(
    confinement: Option<&Confinement>,
    target: &Target,
    verb: &str,
) -> Result<Admitted, FsError> {
    match confinement.and_then(|confinement| as_spelled(confinement, target)) {
        Some(admitted) => Ok(admitted),
        None => admit_anew(confinement, target, verb),
    }
}

/// [`admit`], with the target resolved anew in any case.
///
/// Errors: as [`admit`].
pub fn admit_anew(
    confinement: Option<&Confinement>,
    target: &Target,
    verb: &str,
) -> Result<Admitted, FsError> {
    let Some(confinement) = confinement else {
        return Ok(free(target));
    };
    match confinement.mode {
        SandboxMode::DangerFullAccess => Ok(free(target)),
        SandboxMode::ReadOnly => Err(denied(target, confinement.mode)),
        SandboxMode::WorkspaceWrite => admit_inside(confinement, target, verb),
    }
}

fn as_spelled(confinement: &Confinement, target: &Target) -> Option<Admitted> {
    if confinement.mode != SandboxMode::WorkspaceWrite {
        return None;
    }
    // Roots behind the first one count only once those before them have been looked at.
    let beneath = beneath_as_spelled(Path::new(&target.key), confinement.roots.first()?)?;
    let is_plain = target.key == target.display && is_normal(&target.key);
    is_plain.then(|| Admitted {
        target: target.clone(),
        beneath: Some(beneath),
        if_without_links: true,
    })
}

/// Whether a path is in the one form that resolving gives, and not too long to be resolved. Another
/// spelling of the same file would have a queue of its own.
fn is_normal(path: &str) -> bool {
    path.len() < LONGEST_PATH && lexical::resolve("/", path).is_ok_and(|normal| normal == path)
}

/// The way to a canonical path that starts with `root` as spelled. As there is no link in the path,
/// such a root is canonical too.
fn beneath_as_spelled(key: &Path, root: &str) -> Option<Beneath> {
    let root = PathBuf::from(root);
    let rest = platform::strip_root(key, &root)?;
    Some(Beneath { root, rest })
}

/// The refusal under `mode`.
pub fn denied(target: &Target, mode: SandboxMode) -> FsError {
    let (path, mode) = (&target.display, mode.as_str());
    FsError::new(
        Code::SandboxDenied,
        format!("cannot write \"{path}\": file access denied under {mode} mode"),
    )
}

fn free(target: &Target) -> Admitted {
    Admitted {
        target: target.clone(),
        beneath: None,
        if_without_links: false,
    }
}

fn admit_inside(
    confinement: &Confinement,
    target: &Target,
    verb: &str,
) -> Result<Admitted, FsError> {
    // A fence is not cancelled: the checks of the mutation itself come in their own order.
    let fresh = identity::resolve("/", &target.display, None, &CancellationToken::new())?;
    let key = Path::new(&fresh.key);
    let admitted = |beneath| Admitted {
        target: fresh.clone(),
        beneath,
        if_without_links: false,
    };
    for root in &confinement.roots {
        let spelled = beneath_as_spelled(key, root);
        if spelled.is_some() {
            return Ok(admitted(spelled));
        }
        let root = PathBuf::from(identity::real_path(root).unwrap_or_else(|_| root.clone()));
        let beneath = beneath(key, root)
            .map_err(|error| errno::failure(verb, &target.display, &error, "stat"))?;
        if beneath.is_some() {
            return Ok(admitted(beneath));
        }
    }
    Err(denied(target, confinement.mode))
}

/// The way from `root` to `key`: by their paths, or through an ancestor of `key` that is the same
/// directory as `root` under another path.
fn beneath(key: &Path, root: PathBuf) -> std::io::Result<Option<Beneath>> {
    if let Some(rest) = platform::strip_root(key, &root) {
        return Ok(Some(Beneath { root, rest }));
    }
    let Some(identity) = platform::identity_of(&root)? else {
        return Ok(None);
    };
    for ancestor in key.ancestors() {
        if platform::identity_of(ancestor)?.as_ref() == Some(&identity) {
            let rest = key
                .strip_prefix(ancestor)
                .unwrap_or(Path::new(""))
                .to_owned();
            let root = ancestor.to_owned();
            return Ok(Some(Beneath { root, rest }));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
