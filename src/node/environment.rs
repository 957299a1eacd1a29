//! The JavaScript environment that calls come from: its event loop, and its end.
//!
//! A thread that ends takes its promises with it, but not what it queued. Nobody would learn of a
//! file that such a job still writes, so the end of the environment cancels all of its calls.

use std::cell::RefCell;
use std::sync::Arc;

use napi::Env;
use tokio_util::sync::CancellationToken;

use super::event_loop::EventLoop;

/// What all calls of one environment share.
#[derive(Clone)]
struct Environment {
    event_loop: Arc<EventLoop>,
    /// Fires when the environment ends.
    end: CancellationToken,
}

thread_local! {
    /// A thread has one environment at a time.
    static CURRENT: RefCell<Option<Environment>> = const { RefCell::new(None) };
}

/// The event loop of `env`. Call it on its JavaScript thread.
pub fn event_loop(env: &Env) -> napi::Result<Arc<EventLoop>> {
    Ok(current(env)?.event_loop)
}

/// A token for one call of `env`: the end of the environment cancels it too.
pub fn call_token(env: &Env) -> napi::Result<CancellationToken> {
    Ok(current(env)?.end.child_token())
}

fn current(env: &Env) -> napi::Result<Environment> {
    if let Some(environment) = CURRENT.with_borrow(Clone::clone) {
        return Ok(environment);
    }
    let environment = Environment {
        event_loop: EventLoop::new(env)?,
        end: CancellationToken::new(),
    };
    env.add_env_cleanup_hook(environment.clone(), |environment| {
        // A later environment of the same thread has an end of its own.
        CURRENT.take();
        environment.end.cancel();
        environment.event_loop.close();
    })?;
    CURRENT.set(Some(environment.clone()));
    Ok(environment)
}
