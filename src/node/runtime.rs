//! The worker threads, and how a job becomes a promise.
//!
//! Tokio drives the jobs. The runtime belongs to this addon alone and runs nothing but file work,
//! so its few threads are the bounded pool for it: a job blocks its thread in system calls and
//! lets go of it where it awaits (a hook, a lock, the next chunk of a long read).

use std::future::Future;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use napi::Env;
use napi::bindgen_prelude::{PromiseRaw, ToNapiValue, create_custom_tokio_runtime};
use tokio::runtime::Builder;

use crate::contract::{Failure, Outcome};

/// Number of worker threads. More gain nothing where the disk or the cores are the limit, and a
/// small number bounds the memory of concurrent jobs.
const WORKERS: usize = 4;

#[napi_derive::module_init]
fn start_workers() {
    let workers = Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .max_blocking_threads(1)
        .thread_name("dsh-fs-native")
        .build();
    // Without them napi-rs makes a runtime of its own at the first call.
    if let Ok(workers) = workers {
        create_custom_tokio_runtime(workers);
    }
}

/// Runs `work` on the worker threads and settles the promise with `settle` on the JavaScript
/// thread. A panic in `work` becomes [`Failure::Internal`].
pub fn run<'env, T, V>(
    env: &'env Env,
    work: impl Future<Output = Outcome<T>> + Send + 'static,
    settle: impl FnOnce(&'env Env, Outcome<T>) -> napi::Result<V> + 'static,
) -> napi::Result<PromiseRaw<'env, V>>
where
    T: Send + 'static,
    V: ToNapiValue,
{
    let job = guarded(work);
    env.spawn_future_with_callback(async move { Ok(job.await) }, settle)
}

/// Runs `work`; a panic in it becomes a failure.
async fn guarded<T>(work: impl Future<Output = Outcome<T>>) -> Outcome<T> {
    let result = AssertUnwindSafe(work).catch_unwind().await;
    result.unwrap_or_else(|panic| Err(internal(&*panic)))
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
            let outcome = guarded::<()>(async move {
                match work {
                    None => panic!("a fixed text"),
                    Some(number) => panic!("a made text {number}"),
                }
            });
            let failure = outcome.await.expect_err("the panic must fail the call");
            assert!(matches!(failure, Failure::Internal(_)));
            let text = format!("dsh-fs-native: internal error: {reason}");
            assert_eq!(failure.to_string(), text);
        }
    }

    #[tokio::test]
    async fn a_result_passes_through() {
        assert_eq!(guarded(async { Ok(7) }).await.expect("a value"), 7);
    }
}
