//! The local provider as a class of the addon.

use std::sync::Arc;

use napi::bindgen_prelude::{Buffer, ClassInstance, Null, Object};
use napi::{Either, Env};
use napi_derive::napi;
use tokio_util::sync::CancellationToken;

use super::cancel::{Cancellation, token_of, unless_cancelled, unless_cancelled_before};
use super::error::{CreateError, rejection};
use super::runtime::{run, run_holding};
use super::stream::TextStream;
use super::text::{JsString, JsText};
use super::types::{
    Confinement, EditGuard, Info, Listing, ListingFailure, Target, TextEdit, TextEdited,
    TextWritten, WriteIntent,
};
use crate::contract::{self, EditRequest, Failure, FileType, FsError, Outcome};
use crate::fs::{self, Children, LocalCall, Locks, Mutation};
use crate::text::Text;

/// Configuration of a local provider.
#[napi(object, object_to_js = false)]
pub struct LocalFsOptions {
    /// Base of relative paths.
    pub cwd: String,
    /// Exclusive byte limit of both sides of an overwrite's diff.
    pub diff_basis_max_bytes: f64,
    /// Makes the host's error of a message, a stable code and the system error behind it.
    #[napi(ts_type = "(message: string, code: string, cause?: SystemCause) => Error")]
    pub create_error: CreateError,
}

/// The files of this machine. Every method runs as one job off the event loop and rejects with
/// what `createError` made. Contract: provider.
#[napi]
pub struct LocalFs {
    fs: Arc<fs::LocalFs>,
    create_error: Arc<CreateError>,
}

#[napi]
impl LocalFs {
    /// A provider with its own mutation locks.
    #[napi(constructor, catch_unwind)]
    pub fn new(options: LocalFsOptions) -> Self {
        let fs = fs::LocalFs {
            base: options.cwd,
            diff_basis_max_bytes: options.diff_basis_max_bytes as u64,
            locks: Arc::new(Locks::default()),
        };
        LocalFs {
            fs: Arc::new(fs),
            create_error: Arc::new(options.create_error),
        }
    }

    /// Maps a path to a target; relative paths start at `cwd`, else at the configured base.
    #[napi(ts_return_type = "Promise<Target>", catch_unwind)]
    pub fn resolve<'env>(
        &self,
        env: &'env Env,
        path: String,
        cwd: Option<String>,
        cancel: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let call = self.call(token_of(env, cancel)?);
        self.look(env, "resolve", call.clone(), async move {
            Ok(Target::from(call.resolve_now(&path, cwd.as_deref())?))
        })
    }

    /// Metadata of a target, `null` if it is absent.
    #[napi(ts_return_type = "Promise<Info | null>", catch_unwind)]
    pub fn stat<'env>(
        &self,
        env: &'env Env,
        target: Target,
        cancel: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let call = self.call(token_of(env, cancel)?);
        self.look(env, "stat", call.clone(), async move {
            Ok(call.stat(&target.into())?.map(Info::from))
        })
    }

    /// Metadata of a path without following its last link, `null` if it is absent.
    #[napi(ts_return_type = "Promise<Info | null>", catch_unwind)]
    pub fn lstat<'env>(
        &self,
        env: &'env Env,
        path: String,
        cwd: Option<String>,
        cancel: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let call = self.call(token_of(env, cancel)?);
        self.look(env, "lstat", call.clone(), async move {
            Ok(call.lstat(&path, cwd.as_deref())?.map(Info::from))
        })
    }

    /// The whole text of a file, without its byte-order mark.
    #[napi(ts_return_type = "Promise<string>", catch_unwind)]
    pub fn read_text<'env>(
        &self,
        env: &'env Env,
        target: Target,
        cancel: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let call = self.call(token_of(env, cancel)?);
        self.look(env, "read", call.clone(), async move {
            Ok(JsText::from(call.read_text(&target.into())?))
        })
    }

    /// The text of a file in chunks. Nothing is opened before the first chunk is asked for.
    #[napi(catch_unwind)]
    pub fn open_text(
        &self,
        env: &Env,
        target: Target,
        cancel: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<TextStream> {
        Ok(TextStream::new(
            self.call(token_of(env, cancel)?),
            target.into(),
            self.create_error.clone(),
        ))
    }

    /// The bytes of a file of at most `maxBytes` bytes.
    #[napi(ts_return_type = "Promise<Buffer>", catch_unwind)]
    pub fn read_bytes<'env>(
        &self,
        env: &'env Env,
        target: Target,
        max_bytes: f64,
        cancel: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let call = self.call(token_of(env, cancel)?);
        self.look(env, "read", call.clone(), async move {
            Ok(Buffer::from(
                call.read_bytes(&target.into(), max_bytes as u64)?,
            ))
        })
    }

    /// The children of a directory, unsorted.
    #[napi(ts_return_type = "Promise<Listing>", catch_unwind)]
    pub fn list_dir<'env>(
        &self,
        env: &'env Env,
        target: Target,
        cancel: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let call = self.call(token_of(env, cancel)?);
        self.look(env, "list", call.clone(), async move {
            Ok(columns(call.list_dir(&target.into())?))
        })
    }

    /// Creates or replaces a file, as far as `confinement` allows it (default: any). Its place in
    /// the target's queue is taken now.
    #[napi(ts_return_type = "Promise<TextWritten>", catch_unwind)]
    pub fn write_text<'env>(
        &self,
        env: &'env Env,
        target: Target,
        #[napi(ts_arg_type = "string")] content: JsString,
        intent: Option<WriteIntent>,
        cancel: Option<ClassInstance<'_, Cancellation>>,
        confinement: Option<Confinement>,
    ) -> napi::Result<Object<'env>> {
        let policy = (cancel, confinement);
        self.mutation(env, target, "write", policy, move |call, mutation| {
            let intent = intent.and_then(WriteIntent::into_contract);
            let content = content.into_text();
            let written = call.write_now(mutation, content, intent.as_ref())?;
            Ok(TextWritten {
                operation: written.operation.as_str().to_owned(),
                version: written.version,
                before: written
                    .before
                    .map_or(Either::B(Null), |before| Either::A(before.into())),
                after: written.after.into(),
            })
        })
    }

    /// Replaces literal text, as far as `confinement` allows it (default: in any file). Its place
    /// in the target's queue is taken now.
    #[napi(ts_return_type = "Promise<TextEdited>", catch_unwind)]
    pub fn edit_text<'env>(
        &self,
        env: &'env Env,
        target: Target,
        edit: TextEdit,
        expected: Option<EditGuard>,
        cancel: Option<ClassInstance<'_, Cancellation>>,
        confinement: Option<Confinement>,
    ) -> napi::Result<Object<'env>> {
        let policy = (cancel, confinement);
        self.mutation(env, target, "edit", policy, move |call, mutation| {
            let request = EditRequest {
                old: edit.old_string.into_text(),
                new: edit.new_string.into_text(),
                replace_all: edit.replace_all,
            };
            let expected = expected.map(|guard| guard.version);
            let edited = call.edit_now(mutation, &request, expected.as_deref())?;
            Ok(TextEdited {
                version: edited.version,
                before: edited.before.into(),
                after: edited.after.into(),
            })
        })
    }
}

impl LocalFs {
    /// This provider for one call.
    pub fn call(&self, cancel: CancellationToken) -> LocalCall {
        LocalCall {
            fs: self.fs.clone(),
            cancel,
        }
    }

    /// Runs work that changes nothing, unless the call is cancelled already. A later cancellation
    /// counts until the promise settles, so that one which comes right after the call is never too
    /// late.
    fn look<'env, V>(
        &self,
        env: &'env Env,
        verb: &'static str,
        call: LocalCall,
        work: impl Future<Output = Outcome<V>> + Send + 'static,
    ) -> napi::Result<Object<'env>>
    where
        V: napi::bindgen_prelude::ToNapiValue + Send + 'static,
    {
        let create_error = self.create_error.clone();
        let work = unless_cancelled_before(&call.cancel, verb, work);
        run(env, work, move |env, outcome| {
            let outcome = unless_cancelled(&call.cancel, verb, outcome);
            outcome.map_err(|failure| rejection(env, &create_error, failure))
        })
    }

    /// Runs `mutate` in the turn of the target, whose place in the queue is taken now. The turn
    /// lasts until the result is on the way, so that results settle in the order of the calls.
    fn mutation<'env, V>(
        &self,
        env: &'env Env,
        target: Target,
        verb: &'static str,
        (cancel, confinement): (Option<ClassInstance<'_, Cancellation>>, Option<Confinement>),
        mutate: impl FnOnce(&LocalCall, &mut Mutation) -> Result<V, FsError> + Send + 'static,
    ) -> napi::Result<Object<'env>>
    where
        V: napi::bindgen_prelude::ToNapiValue + Send + 'static,
    {
        let call = self.call(token_of(env, cancel)?);
        let target = contract::Target::from(target);
        let ticket = self.fs.locks.enqueue(&target.key);
        let confinement = confinement.map(Into::into);
        let create_error = self.create_error.clone();
        let work = async move {
            match call.enter(&target, ticket, confinement, verb).await {
                Ok(mut mutation) => {
                    let done = mutate(&call, &mut mutation).map_err(Failure::from);
                    (done, Some(mutation))
                }
                Err(error) => (Err(error.into()), None),
            }
        };
        run_holding(env, work, move |env, outcome| {
            outcome.map_err(|failure| rejection(env, &create_error, failure))
        })
    }
}

fn columns(rows: Children) -> Listing {
    let mut kinds = Vec::with_capacity(rows.len());
    let mut sizes = Vec::with_capacity(rows.len());
    let mut names = Column::default();
    let mut keys = Column::default();
    let mut versions = Column::default();
    let mut failures = Vec::new();
    for (row, (name, result)) in rows.into_iter().enumerate() {
        names.push(&name);
        match result {
            Ok(listed) => {
                keys.push(&listed.key);
                versions.push(listed.version.as_deref().unwrap_or_default());
                kinds.push(match listed.kind {
                    FileType::File => 0,
                    FileType::Directory => 1,
                    FileType::Symlink | FileType::Other => 2,
                });
                sizes.push(listed.size.map_or(-1.0, |size| size as f64));
            }
            Err(error) => {
                keys.push("");
                versions.push("");
                kinds.push(2);
                sizes.push(-1.0);
                failures.push(ListingFailure {
                    row: row as u32,
                    message: error.message,
                    code: error.code.as_str().to_owned(),
                    cause: error.cause.map(Into::into),
                });
            }
        }
    }
    Listing {
        names: names.into_text(),
        keys: keys.into_text(),
        versions: versions.into_text(),
        kinds: kinds.into(),
        sizes: sizes.into(),
        failures,
    }
}

/// Strings joined by NUL, which no name holds.
#[derive(Default)]
struct Column {
    joined: Vec<u8>,
    rows: usize,
}

impl Column {
    fn push(&mut self, value: &str) {
        if self.rows > 0 {
            self.joined.push(0);
        }
        self.joined.extend_from_slice(value.as_bytes());
        self.rows += 1;
    }

    fn into_text(self) -> JsText {
        Text::from_valid(self.joined).into()
    }
}
