//! How a job becomes a promise.
//!
//! A job is a future. Each of its turns runs on the bounded pool, in which it may block in system
//! calls; where it awaits (a hook, a lock, the turn of another job) it holds no thread.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_util::FutureExt;
use napi::bindgen_prelude::{Object, ToNapiValue};
use napi::{Env, Error};

use super::promise::Deferred;
use super::{environment, pool};
use crate::contract::{Failure, Outcome};

/// Runs `work` on the pool and settles the promise with `settle` on the JavaScript thread. A panic
/// in `work` becomes [`Failure::Internal`].
pub fn run<'env, T, V>(
    env: &'env Env,
    work: impl Future<Output = Outcome<T>> + Send + 'static,
    settle: impl FnOnce(&Env, Outcome<T>) -> napi::Result<V> + Send + 'static,
) -> napi::Result<Object<'env>>
where
    T: Send + 'static,
    V: ToNapiValue + 'static,
{
    run_holding(env, async { (work.await, ()) }, settle)
}

/// Like [`run`], for work that keeps something (its turn in a queue) until its result is on the
/// way: results then settle in the order of the turns.
pub fn run_holding<'env, T, V, H>(
    env: &'env Env,
    work: impl Future<Output = (Outcome<T>, H)> + Send + 'static,
    settle: impl FnOnce(&Env, Outcome<T>) -> napi::Result<V> + Send + 'static,
) -> napi::Result<Object<'env>>
where
    T: Send + 'static,
    V: ToNapiValue + 'static,
    H: Send + 'static,
{
    let event_loop = environment::event_loop(env)?;
    let (deferred, promise) = Deferred::new(env)?;
    let waiting = event_loop.clone();
    pool::spawn(async move {
        let (outcome, held) = guarded(work).await;
        let waiting = event_loop.clone();
        event_loop.post(move |env| {
            waiting.end_wait(env);
            deferred.settle(env, settled(env, outcome, settle));
        });
        drop(held);
    });
    // Nothing is delivered before this call has returned to the event loop.
    waiting.begin_wait(env);
    Ok(promise)
}

/// What `settle` makes of an outcome; a panic in it becomes an error.
fn settled<T, V>(
    env: &Env,
    outcome: Outcome<T>,
    settle: impl FnOnce(&Env, Outcome<T>) -> napi::Result<V>,
) -> napi::Result<V> {
    catch_unwind(AssertUnwindSafe(|| settle(env, outcome)))
        .unwrap_or_else(|panic| Err(Error::from_reason(internal(&*panic).to_string())))
}

/// Runs `work`; a panic in it becomes a failure, and what it kept is let go.
async fn guarded<T, H>(work: impl Future<Output = (Outcome<T>, H)>) -> (Outcome<T>, Option<H>) {
    match AssertUnwindSafe(work).catch_unwind().await {
        Ok((outcome, held)) => (outcome, Some(held)),
        Err(panic) => (Err(internal(&*panic)), None),
    }
}

fn internal(panic: &(dyn std::any::Any + Send)) -> Failure {
    let reason = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "unknown reason".to_owned());
    Failure::Internal(format!("dsh-fs-native: internal error: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_becomes_a_failure_with_its_reason() {
        let number = 3;
        for (work, reason) in [(None, "a fixed text"), (Some(number), "a made text 3")] {
            let (outcome, held) = guarded::<(), ()>(async move {
                match work {
                    None => panic!("a fixed text"),
                    Some(number) => panic!("a made text {number}"),
                }
            })
            .await;
            assert!(held.is_none());
            let failure = outcome.expect_err("the panic must fail the call");
            assert!(matches!(failure, Failure::Internal(_)));
            let text = format!("dsh-fs-native: internal error: {reason}");
            assert_eq!(failure.to_string(), text);
        }
    }

    #[tokio::test]
    async fn a_result_passes_through() {
        let (outcome, held) = guarded(async { (Ok(7), "held") }).await;
        assert_eq!((outcome.expect("a value"), held), (7, Some("held")));
    }
}
