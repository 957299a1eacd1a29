//! A `ctx.fs` that is not ours (a remote backend, a wrapped one, a test double) as a provider.

use std::sync::Arc;

use napi::Either;
use napi::bindgen_prelude::{FnArgs, Null};
use napi_derive::napi;

use super::callback::Callback;
use super::event_loop::EventLoop;
use super::text::{JsString, JsText};
use super::types::{EditGuard, Info, Target, WriteIntent};
use crate::contract::{
    self, Confinement, EditOutcome, EditRequest, FileType, Opened, Operation, Outcome, Provider,
    TextSource, WriteOutcome,
};
use crate::text::Text;

/// A literal replacement, as `ctx.fs.editText` takes it.
#[napi(object, object_from_js = false)]
pub struct ForeignEdit {
    /// Text to find.
    #[napi(ts_type = "string")]
    pub old_string: JsText,
    /// Text to put in its place.
    #[napi(ts_type = "string")]
    pub new_string: JsText,
    /// Replace every occurrence.
    pub replace_all: bool,
}

/// What a foreign `writeText` returned.
#[napi(object, object_to_js = false)]
pub struct ForeignWritten {
    /// `create` or `update`.
    pub operation: String,
    /// Version after the write.
    pub version: String,
    /// Former text.
    #[napi(ts_type = "string | null")]
    pub before: Either<JsString, Null>,
    /// New text.
    #[napi(ts_type = "string")]
    pub after: JsString,
}

/// What a foreign `editText` returned.
#[napi(object, object_to_js = false)]
pub struct ForeignEdited {
    /// Version after the edit.
    pub version: String,
    /// Former text.
    #[napi(ts_type = "string")]
    pub before: JsString,
    /// New text.
    #[napi(ts_type = "string")]
    pub after: JsString,
}

type Resolve = Callback<FnArgs<(String, Either<String, ()>)>, Target>;
type OnTarget<Value> = Callback<FnArgs<(Target,)>, Value>;
type WriteText = Callback<FnArgs<(Target, JsText, Either<WriteIntent, ()>)>, ForeignWritten>;
type EditText = Callback<FnArgs<(Target, ForeignEdit, Either<EditGuard, ()>)>, ForeignEdited>;

/// A foreign `ctx.fs`, bound to one tool call. Every callback returns a promise; each is called
/// exactly as often and in the order that the contract of the tool says.
#[napi(object, object_to_js = false)]
pub struct ProviderCallbacks {
    /// `resolve(path, { cwd })`.
    #[napi(ts_type = "(path: string, cwd?: string) => Promise<Target>")]
    pub resolve: Resolve,
    /// `stat(target)`.
    #[napi(ts_type = "(target: Target) => Promise<Info | undefined>")]
    pub stat: OnTarget<Option<Info>>,
    /// `readText(target)`.
    #[napi(ts_type = "(target: Target) => Promise<string>")]
    pub read_text: OnTarget<JsString>,
    /// `streamText(target)`: makes the stream that `nextText` pulls from.
    #[napi(ts_type = "(target: Target) => Promise<void>")]
    pub open_text: OnTarget<()>,
    /// The next chunk of the stream, `null` at its end.
    #[napi(ts_type = "() => Promise<string | null>")]
    pub next_text: Callback<(), Option<JsString>>,
    /// `writeText(target, content, intent)`.
    #[napi(
        ts_type = "(target: Target, content: string, intent?: WriteIntent) => Promise<ForeignWritten>"
    )]
    pub write_text: WriteText,
    /// `editText(target, edit, guard)`.
    #[napi(
        ts_type = "(target: Target, edit: ForeignEdit, guard?: EditGuard) => Promise<ForeignEdited>"
    )]
    pub edit_text: EditText,
}

/// A foreign provider during one call.
#[derive(Clone)]
pub struct ForeignFs {
    callbacks: Arc<ProviderCallbacks>,
    event_loop: Arc<EventLoop>,
}

impl ForeignFs {
    /// A provider of callbacks that `event_loop` runs.
    pub fn new(callbacks: ProviderCallbacks, event_loop: Arc<EventLoop>) -> Self {
        ForeignFs {
            callbacks: Arc::new(callbacks),
            event_loop,
        }
    }
}

/// The text of a foreign file: whole, or streamed.
pub struct ForeignText {
    fs: ForeignFs,
    target: contract::Target,
    state: State,
    chunk: Text,
}

enum State {
    Whole,
    Stream,
    Streaming,
    Ended,
}

impl TextSource for ForeignText {
    async fn next(&mut self) -> Outcome<Option<&[u8]>> {
        let target = || (Target::from(self.target.clone()),).into();
        let ForeignFs {
            callbacks,
            event_loop,
        } = &self.fs;
        let chunk = match self.state {
            State::Whole => {
                self.state = State::Ended;
                Some(callbacks.read_text.ask(event_loop, target()).await?)
            }
            State::Stream => {
                callbacks.open_text.ask(event_loop, target()).await?;
                self.state = State::Streaming;
                callbacks.next_text.ask(event_loop, ()).await?
            }
            State::Streaming => callbacks.next_text.ask(event_loop, ()).await?,
            State::Ended => None,
        };
        let Some(chunk) = chunk else {
            self.state = State::Ended;
            return Ok(None);
        };
        self.chunk = chunk.into_text();
        Ok(Some(self.chunk.as_bytes()))
    }

    async fn is_settled(&mut self) -> Outcome<bool> {
        Ok(true)
    }
}

impl Provider for ForeignFs {
    type Source = ForeignText;

    async fn resolve(&self, path: &str, cwd: Option<&str>) -> Outcome<contract::Target> {
        let arguments = (path.to_owned(), or_undefined(cwd.map(str::to_owned)));
        Ok(self
            .callbacks
            .resolve
            .ask(&self.event_loop, arguments.into())
            .await?
            .into())
    }

    async fn open(
        &self,
        target: &contract::Target,
        stream_min_size: u64,
    ) -> Outcome<Option<Opened<ForeignText>>> {
        let info = self
            .callbacks
            .stat
            .ask(&self.event_loop, (Target::from(target.clone()),).into())
            .await?;
        let Some(info) = info.map(contract::Info::from) else {
            return Ok(None);
        };
        let whole = info.size.is_some_and(|size| size < stream_min_size);
        let state = match info.kind {
            FileType::File if whole => State::Whole,
            FileType::File => State::Stream,
            _ => State::Ended,
        };
        let text = ForeignText {
            fs: self.clone(),
            target: target.clone(),
            state,
            chunk: Text::from_valid(Vec::new()),
        };
        Ok(Some(Opened { info, text }))
    }

    async fn write_text(
        &self,
        target: &contract::Target,
        content: Text,
        intent: Option<contract::WriteIntent>,
        _: Option<Confinement>,
    ) -> Outcome<WriteOutcome> {
        let arguments = (
            Target::from(target.clone()),
            JsText::from(content),
            or_undefined(intent.map(WriteIntent::from)),
        );
        let written = self
            .callbacks
            .write_text
            .ask(&self.event_loop, arguments.into())
            .await?;
        Ok(WriteOutcome {
            operation: match written.operation.as_str() {
                "create" => Operation::Create,
                _ => Operation::Update,
            },
            version: written.version,
            before: match written.before {
                Either::A(before) => Some(before.into_text()),
                Either::B(_) => None,
            },
            after: written.after.into_text(),
        })
    }

    async fn edit_text(
        &self,
        target: &contract::Target,
        edit: EditRequest,
        expected: Option<String>,
        _: Option<Confinement>,
    ) -> Outcome<EditOutcome> {
        let request = ForeignEdit {
            old_string: edit.old.into(),
            new_string: edit.new.into(),
            replace_all: edit.replace_all,
        };
        let guard = or_undefined(expected.map(|version| EditGuard { version }));
        let arguments = (Target::from(target.clone()), request, guard);
        let edited = self
            .callbacks
            .edit_text
            .ask(&self.event_loop, arguments.into())
            .await?;
        Ok(EditOutcome {
            version: edited.version,
            before: edited.before.into_text(),
            after: edited.after.into_text(),
        })
    }
}

fn or_undefined<T>(value: Option<T>) -> Either<T, ()> {
    value.map_or(Either::B(()), Either::A)
}
