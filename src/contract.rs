//! What the rooms of this crate say to each other: targets, versions, guards, outcomes and errors,
//! and the two traits that carry the design.
//!
//! * [`Provider`] is what `ctx.fs` promises, as far as the tools need it. The local provider
//!   (`crate::fs`) and the JavaScript one (`crate::node::foreign`) implement it.
//! * [`Hooks`] is what an executor asks of the harness around a mutation.
//!
//! Contract: provider (types), tools (§4 to §6), policy.

use std::future::Future;

use crate::text::Text;

/// A stable file identity with the spelling that the caller used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Canonical absolute path; the same for all aliases of a file. Opaque above `crate::fs`.
    pub key: String,
    /// Absolute path as spelled, for messages and results.
    pub display: String,
}

/// What kind of thing a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileType {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link (only where links are not followed).
    Symlink,
    /// A device, pipe, socket or whatever else.
    Other,
}

impl FileType {
    /// The name that the contract gives this type.
    pub fn as_str(self) -> &'static str {
        match self {
            FileType::File => "file",
            FileType::Directory => "directory",
            FileType::Symlink => "symlink",
            FileType::Other => "other",
        }
    }
}

/// Metadata of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info {
    /// Opaque version token; changes when the file does.
    pub version: String,
    /// Kind of the target.
    pub kind: FileType,
    /// Size in bytes, where the provider knows it.
    pub size: Option<u64>,
}

/// The guard of a whole-file write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteIntent {
    /// The target must not exist.
    CreateIfAbsent,
    /// The target must still have this version.
    ReplaceIfVersion(String),
}

/// Whether a write made a file or replaced one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// There was no file.
    Create,
    /// There was one.
    Update,
}

impl Operation {
    /// The name that the contract gives this operation.
    pub fn as_str(self) -> &'static str {
        match self {
            Operation::Create => "create",
            Operation::Update => "update",
        }
    }
}

/// Result of a whole-file write. Texts have LF line breaks and no byte-order mark.
#[derive(Clone, Debug)]
pub struct WriteOutcome {
    /// Created or replaced.
    pub operation: Operation,
    /// Version of the file after the write.
    pub version: String,
    /// Former text, or `None` where there was none to compare with.
    pub before: Option<Text>,
    /// New text.
    pub after: Text,
}

/// A literal replacement.
#[derive(Clone, Debug)]
pub struct EditRequest {
    /// Text to find.
    pub old: Text,
    /// Text to put in its place.
    pub new: Text,
    /// Replace every occurrence instead of the only one.
    pub replace_all: bool,
}

/// Result of an edit. Texts have LF line breaks and no byte-order mark.
#[derive(Clone, Debug)]
pub struct EditOutcome {
    /// Version of the file after the edit.
    pub version: String,
    /// Former text.
    pub before: Text,
    /// New text.
    pub after: Text,
}

/// What a call may change. Contract: sandbox, modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SandboxMode {
    /// Nothing.
    ReadOnly,
    /// What lies in a writable root.
    WorkspaceWrite,
    /// Everything.
    DangerFullAccess,
}

impl SandboxMode {
    /// The name that the contract gives this mode.
    pub fn as_str(self) -> &'static str {
        match self {
            SandboxMode::ReadOnly => "read-only",
            SandboxMode::WorkspaceWrite => "workspace-write",
            SandboxMode::DangerFullAccess => "danger-full-access",
        }
    }
}

/// The policy that a mutation of a confining provider runs under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confinement {
    /// Its mode.
    pub mode: SandboxMode,
    /// The writable roots of `workspace-write`, as spelled.
    pub roots: Vec<String>,
}

/// What the harness says of a mutation before any I/O.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Authorization {
    /// Base of relative paths that replaces the session's.
    pub base: Option<String>,
    /// The policy to run under; `None` under a provider that does not confine.
    pub confinement: Option<Confinement>,
}

/// What a tool tells the harness that it has seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observation {
    /// The target exists in this version.
    Present(String),
    /// The target does not exist.
    Absent,
}

/// Stable error codes of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The target, or a parent of it, is absent; or an argument names nothing.
    NotFound,
    /// A directory was asked for.
    NotDirectory,
    /// Binary or not UTF-8.
    NotText,
    /// A regular file was asked for.
    NotRegularFile,
    /// Beyond a byte or character limit.
    TooLarge,
    /// The system refused the access.
    PermissionDenied,
    /// Any other failure of the system.
    IoError,
    /// The target changed since the version that the guard names.
    StaleVersion,
    /// The target exists although the guard says that nobody has seen it.
    NotObserved,
    /// The text to replace occurs more than once.
    AmbiguousEdit,
    /// The text to replace does not occur.
    EditNotFound,
    /// The call was cancelled.
    Aborted,
    /// The policy of the call forbids the change.
    SandboxDenied,
}

impl Code {
    /// The code as JavaScript sees it.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::NotFound => "FS_NOT_FOUND",
            Code::NotDirectory => "FS_NOT_DIRECTORY",
            Code::NotText => "FS_NOT_TEXT",
            Code::NotRegularFile => "FS_NOT_REGULAR_FILE",
            Code::TooLarge => "FS_TOO_LARGE",
            Code::PermissionDenied => "FS_PERMISSION_DENIED",
            Code::IoError => "FS_IO_ERROR",
            Code::StaleVersion => "FS_STALE_VERSION",
            Code::NotObserved => "FS_NOT_OBSERVED",
            Code::AmbiguousEdit => "FS_AMBIGUOUS_EDIT",
            Code::EditNotFound => "FS_EDIT_NOT_FOUND",
            Code::Aborted => "FS_ABORTED",
            Code::SandboxDenied => "FS_SANDBOX_DENIED",
        }
    }
}

/// The system error behind a failure. It never names a staging path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemCause {
    /// Name of the error number, such as `ENOSPC`.
    pub code: &'static str,
    /// The error number as the system gave it.
    pub errno: i32,
    /// The operation that failed, such as `open`.
    pub syscall: &'static str,
}

/// A failure with a code of the contract.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct FsError {
    /// Stable code.
    pub code: Code,
    /// Text for the model and the user.
    pub message: String,
    /// The system error behind it.
    pub cause: Option<SystemCause>,
}

impl FsError {
    /// A failure without a system error behind it.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        FsError {
            code,
            message: message.into(),
            cause: None,
        }
    }

    /// The call was cancelled during `verb` ("read", "write", ...).
    pub fn aborted(verb: &str) -> Self {
        FsError::new(Code::Aborted, format!("{verb} aborted"))
    }
}

/// An object that JavaScript threw in a callback; it goes back as it came. Only `crate::node`
/// looks inside.
pub type Thrown = Box<dyn std::any::Any + Send>;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A failure of the contract.
    #[error(transparent)]
    Fs(#[from] FsError),
    /// A wrong argument; a plain error without a code.
    #[error("{0}")]
    Argument(String),
    /// A fault of this crate (a panic that was caught).
    #[error("{0}")]
    Internal(String),
    /// What a callback threw.
    #[error("a callback failed")]
    Thrown(Thrown),
}

/// Result of an operation that may call back into JavaScript.
pub type Outcome<T> = Result<T, Failure>;

/// A regular or other file that a provider opened for reading.
pub struct Opened<S> {
    /// Metadata of the very file that `text` reads, where the provider can say so.
    pub info: Info,
    /// Its text, for regular files.
    pub text: S,
}

/// The text of one opened file, in chunks.
pub trait TextSource: Send {
    /// The next chunk of text, or `None` at the end. Chunks end at character boundaries.
    fn next(&mut self) -> impl Future<Output = Outcome<Option<&[u8]>>> + Send;

    /// After the end: whether what was read belongs to the version that was announced. A source
    /// that cannot tell answers `true`.
    fn is_settled(&mut self) -> impl Future<Output = Outcome<bool>> + Send;
}

/// What `ctx.fs` promises, as far as the tools use it.
pub trait Provider: Send + Sync {
    /// Text of an opened file.
    type Source: TextSource;

    /// Maps a path to a target; relative paths start at `cwd`, else at the provider's own base.
    fn resolve(
        &self,
        path: &str,
        cwd: Option<&str>,
    ) -> impl Future<Output = Outcome<Target>> + Send;

    /// Metadata and text of a target, `None` if it is absent. From `stream_min_size` bytes on the
    /// text is streamed rather than held as a whole.
    fn open(
        &self,
        target: &Target,
        stream_min_size: u64,
    ) -> impl Future<Output = Outcome<Option<Opened<Self::Source>>>> + Send;

    /// Creates or replaces a file. A provider that asks JavaScript leaves the confinement to it.
    fn write_text(
        &self,
        target: &Target,
        content: Text,
        intent: Option<WriteIntent>,
        confinement: Option<Confinement>,
    ) -> impl Future<Output = Outcome<WriteOutcome>> + Send;

    /// Replaces literal text in a file, confined as [`Provider::write_text`] is.
    fn edit_text(
        &self,
        target: &Target,
        edit: EditRequest,
        expected: Option<String>,
        confinement: Option<Confinement>,
    ) -> impl Future<Output = Outcome<EditOutcome>> + Send;
}

/// What an executor asks of the harness.
pub trait Hooks: Send + Sync {
    /// Settles under which policy a mutation runs, before any I/O.
    fn authorize(&self) -> impl Future<Output = Outcome<Authorization>> + Send;

    /// The guard for a write of `target`; `None` writes unconditionally.
    fn write_intent(
        &self,
        target: &Target,
    ) -> impl Future<Output = Outcome<Option<WriteIntent>>> + Send;

    /// The version that an edit of `target` expects; `None` edits unconditionally.
    fn edit_intent(&self, target: &Target) -> impl Future<Output = Outcome<Option<String>>> + Send;

    /// Tells what was seen. Called at most once and as the last step of a call: an implementation
    /// may deliver it when the call settles, and an error of the listener fails the call.
    fn observed(&self, target: &Target, observation: Observation);

    /// Marks a failure as one of the mutation step, which the harness explains to the model.
    fn explain(&self, failure: Failure) -> Failure;
}
