//! The plain objects that cross the boundary.

use napi::bindgen_prelude::{Float64Array, Uint8Array};
use napi_derive::napi;

use super::text::{JsString, JsText};
use crate::contract::{self, SandboxMode};

/// A stable file identity with the spelling that the caller used. Contract: provider §2.
#[napi(object)]
#[derive(Clone)]
pub struct Target {
    /// Canonical absolute path; the same for all aliases of a file. Opaque to consumers.
    pub target_key: String,
    /// Absolute path as spelled.
    pub display_path: String,
}

impl From<contract::Target> for Target {
    fn from(target: contract::Target) -> Self {
        Target {
            target_key: target.key,
            display_path: target.display,
        }
    }
}

impl From<Target> for contract::Target {
    fn from(target: Target) -> Self {
        contract::Target {
            key: target.target_key,
            display: target.display_path,
        }
    }
}

/// What a mutation may change. Contract: sandbox, modes.
#[napi(object, object_to_js = false)]
pub struct Confinement {
    /// The mode. A mode that is not known allows nothing, with the text of `workspace-write`.
    #[napi(ts_type = "'read-only' | 'workspace-write' | 'danger-full-access'")]
    pub mode: String,
    /// The writable roots of `workspace-write`, as spelled; they are made canonical at each call.
    pub roots: Vec<String>,
}

impl From<Confinement> for contract::Confinement {
    fn from(confinement: Confinement) -> Self {
        contract::Confinement {
            mode: match confinement.mode.as_str() {
                "danger-full-access" => SandboxMode::DangerFullAccess,
                "read-only" => SandboxMode::ReadOnly,
                _ => SandboxMode::WorkspaceWrite,
            },
            roots: match confinement.mode.as_str() {
                "workspace-write" => confinement.roots,
                _ => Vec::new(),
            },
        }
    }
}

/// What the harness says of a mutation before any I/O.
#[napi(object, object_to_js = false)]
pub struct Authorization {
    /// Base of relative paths that replaces `cwd`.
    pub base: Option<String>,
    /// The policy to run under, for our own provider; any other has it from its own arguments.
    pub confinement: Option<Confinement>,
}

impl From<Authorization> for contract::Authorization {
    fn from(authorization: Authorization) -> Self {
        contract::Authorization {
            base: authorization.base,
            confinement: authorization.confinement.map(Into::into),
        }
    }
}

/// Metadata of a target or path. Contract: provider §2.
#[napi(object)]
pub struct Info {
    /// Opaque version token.
    pub version: String,
    /// What it is; `symlink` only from `lstat`.
    #[napi(
        js_name = "type",
        ts_type = "'file' | 'directory' | 'symlink' | 'other'"
    )]
    pub kind: String,
    /// Size in bytes.
    pub size: Option<f64>,
}

impl From<contract::Info> for Info {
    fn from(info: contract::Info) -> Self {
        Info {
            version: info.version,
            kind: info.kind.as_str().to_owned(),
            size: info.size.map(|size| size as f64),
        }
    }
}

impl From<Info> for contract::Info {
    fn from(info: Info) -> Self {
        let kind = match info.kind.as_str() {
            "file" => contract::FileType::File,
            "directory" => contract::FileType::Directory,
            _ => contract::FileType::Other,
        };
        // An unknown size must stream, as a large one does; a negative or broken one cannot be.
        let size = info.size.map(|size| size as u64);
        contract::Info {
            version: info.version,
            kind,
            size,
        }
    }
}

/// The guard of a write. Contract: provider §2.
#[napi(object)]
pub struct WriteIntent {
    /// `createIfAbsent`, or `replaceIfVersion` with a version.
    #[napi(ts_type = "'createIfAbsent' | 'replaceIfVersion'")]
    pub kind: String,
    /// The version that a replaced file must have.
    pub version: Option<String>,
}

impl WriteIntent {
    /// The guard in the form of the contract. One that lacks its version guards all the same: no
    /// file has the empty version.
    pub fn into_contract(self) -> Option<contract::WriteIntent> {
        match (self.kind.as_str(), self.version) {
            ("createIfAbsent", _) => Some(contract::WriteIntent::CreateIfAbsent),
            ("replaceIfVersion", version) => Some(contract::WriteIntent::ReplaceIfVersion(
                version.unwrap_or_default(),
            )),
            _ => None,
        }
    }
}

impl From<contract::WriteIntent> for WriteIntent {
    fn from(intent: contract::WriteIntent) -> Self {
        match intent {
            contract::WriteIntent::CreateIfAbsent => WriteIntent {
                kind: "createIfAbsent".into(),
                version: None,
            },
            contract::WriteIntent::ReplaceIfVersion(version) => WriteIntent {
                kind: "replaceIfVersion".into(),
                version: Some(version),
            },
        }
    }
}

/// The version that an edit expects.
#[napi(object)]
pub struct EditGuard {
    /// The version that the file must have.
    pub version: String,
}

/// What a tool has seen of a target.
#[napi(object)]
pub struct Observation {
    /// Whether the target exists.
    #[napi(ts_type = "'present' | 'absent'")]
    pub kind: String,
    /// Its version, if it does.
    pub version: Option<String>,
}

impl From<contract::Observation> for Observation {
    fn from(observation: contract::Observation) -> Self {
        match observation {
            contract::Observation::Present(version) => Observation {
                kind: "present".into(),
                version: Some(version),
            },
            contract::Observation::Absent => Observation {
                kind: "absent".into(),
                version: None,
            },
        }
    }
}

/// The system error behind a failure.
#[napi(object)]
pub struct SystemCause {
    /// Name of the error number, such as `ENOSPC`.
    pub code: String,
    /// The error number, negative as in Node.
    pub errno: i32,
    /// The operation that failed.
    pub syscall: String,
    /// A sentence of the three.
    pub message: String,
}

impl From<contract::SystemCause> for SystemCause {
    fn from(cause: contract::SystemCause) -> Self {
        SystemCause {
            message: format!("{}: {}", cause.code, cause.syscall),
            code: cause.code.to_owned(),
            errno: -cause.errno,
            syscall: cause.syscall.to_owned(),
        }
    }
}

/// Result of `LocalFs.writeText`. Contract: provider §9.
#[napi(object, object_from_js = false)]
pub struct TextWritten {
    /// Whether a file was made or replaced.
    #[napi(ts_type = "'create' | 'update'")]
    pub operation: String,
    /// Version of the file after the write.
    pub version: String,
    /// Former text with LF line breaks, `null` where there was none to compare with.
    #[napi(ts_type = "string | null")]
    pub before: napi::Either<JsText, napi::bindgen_prelude::Null>,
    /// New text with LF line breaks.
    #[napi(ts_type = "string")]
    pub after: JsText,
}

/// A literal replacement.
#[napi(object, object_to_js = false)]
pub struct TextEdit {
    /// Text to find.
    #[napi(ts_type = "string")]
    pub old_string: JsString,
    /// Text to put in its place.
    #[napi(ts_type = "string")]
    pub new_string: JsString,
    /// Replace every occurrence.
    pub replace_all: bool,
}

/// Result of `LocalFs.editText`. Contract: provider §10.
#[napi(object, object_from_js = false)]
pub struct TextEdited {
    /// Version of the file after the edit.
    pub version: String,
    /// Former text with LF line breaks.
    #[napi(ts_type = "string")]
    pub before: JsText,
    /// New text with LF line breaks.
    #[napi(ts_type = "string")]
    pub after: JsText,
}

/// The children of a directory in columns, in the directory's own order: the caller sorts them
/// with its collation. Columns cross the boundary in a few calls whatever the number of rows.
#[napi(object, object_from_js = false)]
pub struct Listing {
    /// Names, joined by NUL; empty without rows.
    #[napi(ts_type = "string")]
    pub names: JsText,
    /// Keys of the targets, joined by NUL.
    #[napi(ts_type = "string")]
    pub keys: JsText,
    /// Versions, joined by NUL; empty where the child is absent.
    #[napi(ts_type = "string")]
    pub versions: JsText,
    /// 0 file, 1 directory, 2 other.
    pub kinds: Uint8Array,
    /// Sizes in bytes, -1 where there is none.
    pub sizes: Float64Array,
    /// Children that could not be looked at.
    pub failures: Vec<ListingFailure>,
}

/// A child that could not be looked at.
#[napi(object, object_from_js = false)]
pub struct ListingFailure {
    /// Row of the child.
    pub row: u32,
    /// Text of the error.
    pub message: String,
    /// Code of the error.
    pub code: String,
    /// The system error behind it.
    pub cause: Option<SystemCause>,
}
