//! The executors as functions of the addon.

use std::sync::Arc;

use napi::bindgen_prelude::{ClassInstance, Float64Array, Null, Object};
use napi::{Either, Env};
use napi_derive::napi;

use super::cancel::{Cancellation, token_of};
use super::environment;
use super::foreign::{ForeignFs, ProviderCallbacks};
use super::hooks::{CallHooks, ToolHooks};
use super::local::LocalFs;
use super::runtime::run;
use super::text::{JsString, JsText};
use crate::contract::EditRequest;
use crate::fs::{LocalCall, session_base};
use crate::text::Text;
use crate::tools::{self, DEFAULT_BUDGET, Hunk};

/// One `read`. Contract: tools §4.
#[napi(object, object_to_js = false)]
pub struct ReadRequest {
    /// `file_path` as given.
    pub path: String,
    /// Working directory of the session; relative paths start there, else at the provider's base.
    #[napi(ts_type = "string | undefined")]
    pub cwd: Option<String>,
    /// First line, counted from 1. Default 1.
    #[napi(ts_type = "number | undefined")]
    pub offset: Option<f64>,
    /// Greatest number of lines. Default `readLimit`.
    #[napi(ts_type = "number | undefined")]
    pub limit: Option<f64>,
    /// Default and greatest `limit`.
    pub read_limit: f64,
    /// UTF-16 units kept of a line.
    pub read_max_line_length: f64,
    /// Bytes of the selected lines.
    pub read_max_bytes: f64,
    /// Size in bytes from which a foreign provider is asked for a stream.
    pub read_stream_min_size: f64,
}

/// What one `read` shows.
#[napi(object, object_from_js = false)]
pub struct ReadOutcome {
    /// Absolute path as spelled.
    pub path: String,
    /// First line asked for.
    pub offset: f64,
    /// Lines of the file.
    pub total_lines: f64,
    /// Number of selected lines.
    pub line_count: f64,
    /// The selected lines joined by line feeds; none of them holds one.
    #[napi(ts_type = "string")]
    pub text: JsText,
}

/// Reads a window of numbered lines. Rejects with what `createError` made, a plain error for a
/// wrong argument, or the object that a callback threw.
#[napi(ts_return_type = "Promise<ReadOutcome>", catch_unwind)]
pub fn execute_read<'env>(
    env: &'env Env,
    provider: Either<ClassInstance<'_, LocalFs>, ProviderCallbacks>,
    request: ReadRequest,
    hooks: ToolHooks,
    cancel: Option<ClassInstance<'_, Cancellation>>,
) -> napi::Result<Object<'env>> {
    let provider = BoundProvider::new(env, provider, cancel)?;
    let hooks = Arc::new(CallHooks::new(env, hooks)?);
    let settling = hooks.clone();
    let work = async move {
        let limits = tools::ReadLimits {
            lines: request.read_limit,
            line_units: request.read_max_line_length as usize,
            bytes: request.read_max_bytes as usize,
            stream_min_size: request.read_stream_min_size as u64,
        };
        let arguments = tools::ReadArguments {
            cwd: session_base(request.cwd, &request.path),
            path: request.path,
            offset: request.offset,
            limit: request.limit,
        };
        let shown = match provider {
            BoundProvider::Local(local) => {
                tools::read(&local, &*hooks, &arguments, &limits).await?
            }
            BoundProvider::Foreign(foreign) => {
                tools::read(&foreign, &*hooks, &arguments, &limits).await?
            }
        };
        Ok(ReadOutcome {
            path: shown.path,
            offset: shown.offset,
            total_lines: shown.window.total_lines as f64,
            line_count: shown.window.line_count as f64,
            text: Text::from_valid(shown.window.text).into(),
        })
    };
    run(env, work, move |env, outcome| settling.settle(env, outcome))
}

/// One `write`. Contract: tools §5.
#[napi(object, object_to_js = false)]
pub struct WriteRequest {
    /// `file_path` as given.
    pub path: String,
    /// Working directory of the session.
    #[napi(ts_type = "string | undefined")]
    pub cwd: Option<String>,
    /// The whole new content.
    #[napi(ts_type = "string")]
    pub content: JsString,
}

/// What one `write` did.
#[napi(object, object_from_js = false)]
pub struct WriteOutcome {
    /// Absolute path as spelled.
    pub path: String,
    /// Whether a file was made or replaced.
    #[napi(ts_type = "'create' | 'update'")]
    pub operation: String,
    /// Former text with LF line breaks, `null` where there was none to compare with.
    #[napi(ts_type = "string | null")]
    pub before: Either<JsText, Null>,
    /// New text with LF line breaks.
    #[napi(ts_type = "string")]
    pub after: JsText,
    /// The difference, in the form of `diffHunks`.
    pub hunks: Float64Array,
}

/// Creates or replaces a file. Rejects as `executeRead` does.
#[napi(ts_return_type = "Promise<WriteOutcome>", catch_unwind)]
pub fn execute_write<'env>(
    env: &'env Env,
    provider: Either<ClassInstance<'_, LocalFs>, ProviderCallbacks>,
    request: WriteRequest,
    hooks: ToolHooks,
    cancel: Option<ClassInstance<'_, Cancellation>>,
) -> napi::Result<Object<'env>> {
    let provider = BoundProvider::new(env, provider, cancel)?;
    let hooks = Arc::new(CallHooks::new(env, hooks)?);
    let settling = hooks.clone();
    let work = async move {
        let arguments = tools::WriteArguments {
            cwd: session_base(request.cwd, &request.path),
            path: request.path,
            content: request.content.into_text(),
        };
        let written = match provider {
            BoundProvider::Local(local) => tools::write(&local, &*hooks, arguments).await?,
            BoundProvider::Foreign(foreign) => tools::write(&foreign, &*hooks, arguments).await?,
        };
        Ok(WriteOutcome {
            path: written.path,
            operation: written.operation.as_str().to_owned(),
            before: written
                .before
                .map_or(Either::B(Null), |before| Either::A(before.into())),
            after: written.after.into(),
            hunks: offsets(&written.hunks),
        })
    };
    run(env, work, move |env, outcome| settling.settle(env, outcome))
}

/// One `edit`. Contract: tools §6.
#[napi(object, object_to_js = false, js_name = "EditRequest")]
pub struct EditToolRequest {
    /// `file_path` as given.
    pub path: String,
    /// Working directory of the session.
    #[napi(ts_type = "string | undefined")]
    pub cwd: Option<String>,
    /// Text to find.
    #[napi(ts_type = "string")]
    pub old_string: JsString,
    /// Text to put in its place.
    #[napi(ts_type = "string")]
    pub new_string: JsString,
    /// Replace every occurrence.
    pub replace_all: bool,
}

/// What one `edit` did.
#[napi(object, object_from_js = false, js_name = "EditOutcome")]
pub struct EditToolOutcome {
    /// Absolute path as spelled.
    pub path: String,
    /// Former text with LF line breaks.
    #[napi(ts_type = "string")]
    pub before: JsText,
    /// New text with LF line breaks.
    #[napi(ts_type = "string")]
    pub after: JsText,
    /// The difference, in the form of `diffHunks`.
    pub hunks: Float64Array,
}

/// Replaces literal text in a file. Rejects as `executeRead` does.
#[napi(ts_return_type = "Promise<EditOutcome>", catch_unwind)]
pub fn execute_edit<'env>(
    env: &'env Env,
    provider: Either<ClassInstance<'_, LocalFs>, ProviderCallbacks>,
    request: EditToolRequest,
    hooks: ToolHooks,
    cancel: Option<ClassInstance<'_, Cancellation>>,
) -> napi::Result<Object<'env>> {
    let provider = BoundProvider::new(env, provider, cancel)?;
    let hooks = Arc::new(CallHooks::new(env, hooks)?);
    let settling = hooks.clone();
    let work = async move {
        let arguments = tools::EditArguments {
            cwd: session_base(request.cwd, &request.path),
            path: request.path,
            edit: EditRequest {
                old: request.old_string.into_text(),
                new: request.new_string.into_text(),
                replace_all: request.replace_all,
            },
        };
        let edited = match provider {
            BoundProvider::Local(local) => tools::edit(&local, &*hooks, arguments).await?,
            BoundProvider::Foreign(foreign) => tools::edit(&foreign, &*hooks, arguments).await?,
        };
        Ok(EditToolOutcome {
            path: edited.path,
            before: edited.before.into(),
            after: edited.after.into(),
            hunks: offsets(&edited.hunks),
        })
    };
    run(env, work, move |env, outcome| settling.settle(env, outcome))
}

/// The line difference of two texts, bounded in work. Synchronous: for the rare value that was
/// replaced after a tool ran; the executors return it with their outcome. Five numbers a hunk:
/// start and end in `before`, start and end in `after` (UTF-16 units, the last line break left
/// out), and 1 if the hunk has an old line, else 0.
#[napi(ts_args_type = "before: string, after: string", catch_unwind)]
pub fn diff_hunks(before: JsString, after: JsString) -> Float64Array {
    let (before, after) = (before.into_text(), after.into_text());
    offsets(&tools::hunks(
        before.as_bytes(),
        after.as_bytes(),
        DEFAULT_BUDGET,
    ))
}

fn offsets(hunks: &[Hunk]) -> Float64Array {
    let mut numbers = Vec::with_capacity(hunks.len() * 5);
    for hunk in hunks {
        let old = hunk.old.clone().unwrap_or(0..0);
        let has_old = f64::from(u8::from(hunk.old.is_some()));
        let places = [old.start, old.end, hunk.new.start, hunk.new.end];
        numbers.extend(places.map(|place| place as f64));
        numbers.push(has_old);
    }
    numbers.into()
}

enum BoundProvider {
    Local(LocalCall),
    Foreign(ForeignFs),
}

impl BoundProvider {
    fn new(
        env: &Env,
        provider: Either<ClassInstance<'_, LocalFs>, ProviderCallbacks>,
        cancel: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Self> {
        Ok(match provider {
            Either::A(local) => BoundProvider::Local(local.call(token_of(env, cancel)?)),
            Either::B(callbacks) => {
                let event_loop = environment::event_loop(env)?;
                BoundProvider::Foreign(ForeignFs::new(callbacks, event_loop))
            }
        })
    }
}
