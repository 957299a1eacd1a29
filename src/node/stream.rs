//! A file's text as a stream that JavaScript pulls from.

use std::sync::Arc;

use napi::Either;
use napi::Env;
use napi::bindgen_prelude::{Null, Object};
use napi_derive::napi;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::cancel::{unless_cancelled, unless_cancelled_before};
use super::error::{CreateError, rejection};
use super::runtime::run;
use super::text::JsText;
use crate::contract::{Code, FileType, FsError, Outcome, Target, TextSource};
use crate::fs::{FileText, LocalCall, Locks};
use crate::text::{Text, whole_characters};

/// Bytes that are read at once: large enough that the way over the boundary does not count, small
/// enough that the copy does not hold the event loop.
const CHUNK: usize = 512 << 10;

/// Bytes of one string: as large as the engine makes without asking the system for memory.
const PIECE: usize = 64 << 10;

/// The text of one file. Contract: provider §6.
#[napi]
pub struct TextStream {
    state: Arc<Mutex<State>>,
    /// Keeps calls in the order in which they were made.
    order: Arc<Locks>,
    cancel: CancellationToken,
    create_error: Arc<CreateError>,
}

enum State {
    Unopened { call: LocalCall, target: Target },
    Open(Box<FileText>),
    Ended,
}

impl TextStream {
    /// A stream of `target`; nothing is opened yet.
    pub fn new(call: LocalCall, target: Target, create_error: Arc<CreateError>) -> Self {
        let cancel = call.cancel.clone();
        let state = State::Unopened { call, target };
        TextStream {
            state: Arc::new(Mutex::new(state)),
            order: Arc::default(),
            cancel,
            create_error,
        }
    }
}

#[napi]
impl TextStream {
    /// The next pieces of the text, `null` at the end. After a rejection the stream has ended.
    #[napi(ts_return_type = "Promise<string[] | null>", catch_unwind)]
    pub fn next<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let state = self.state.clone();
        let create_error = self.create_error.clone();
        let cancel = self.cancel.clone();
        let ticket = self.order.enqueue("next");
        let work = async move {
            let turn = ticket.acquire(&CancellationToken::new()).await;
            let chunk = state.lock().await.next().await?;
            // Calls read one after the other, but convert at the same time.
            drop(turn);
            Ok(chunk.map_or(Either::B(Null), |chunk| Either::A(pieces(&chunk))))
        };
        let work = unless_cancelled_before(&cancel, "read", work);
        run(env, work, move |env, outcome| {
            let outcome = unless_cancelled(&cancel, "read", outcome);
            outcome.map_err(|failure| rejection(env, &create_error, failure))
        })
    }

    /// Closes the file before its end; a chunk that is being read comes first.
    #[napi(ts_return_type = "Promise<void>", catch_unwind)]
    pub fn close<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let state = self.state.clone();
        let work = async move {
            *state.lock().await = State::Ended;
            Ok(())
        };
        let create_error = self.create_error.clone();
        run(env, work, move |env, outcome| {
            outcome.map_err(|failure| rejection(env, &create_error, failure))
        })
    }
}

impl State {
    async fn next(&mut self) -> Outcome<Option<Vec<u8>>> {
        // Whatever fails below ends the stream.
        match std::mem::replace(self, State::Ended) {
            State::Ended => Ok(None),
            State::Open(source) => self.pull(source).await,
            State::Unopened { call, target } => {
                let source = open(&call, &target)?;
                self.pull(Box::new(source)).await
            }
        }
    }

    async fn pull(&mut self, mut source: Box<FileText>) -> Outcome<Option<Vec<u8>>> {
        let chunk = source.next().await?.map(<[u8]>::to_vec);
        if chunk.is_some() {
            *self = State::Open(source);
        }
        Ok(chunk)
    }
}

/// A chunk cut into pieces, never inside a character.
fn pieces(mut chunk: &[u8]) -> Vec<JsText> {
    let mut pieces = Vec::with_capacity(chunk.len() / PIECE + 1);
    loop {
        let end = whole_characters(&chunk[..chunk.len().min(PIECE)]);
        let (piece, rest) = chunk.split_at(end);
        pieces.push(Text::from_valid(piece.to_vec()).into());
        if rest.is_empty() {
            return pieces;
        }
        chunk = rest;
    }
}

fn open(call: &LocalCall, target: &Target) -> Result<FileText, FsError> {
    let path = &target.display;
    let opened = call.open_text(target, CHUNK)?;
    let Some(opened) = opened else {
        let message = format!("cannot read \"{path}\": not found");
        return Err(FsError::new(Code::NotFound, message));
    };
    if opened.info.kind != FileType::File {
        let message = format!("cannot read \"{path}\": not a regular file");
        return Err(FsError::new(Code::NotRegularFile, message));
    }
    Ok(opened.text)
}
