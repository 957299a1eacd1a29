//! The worker threads, and how a job becomes a promise.
//!
//! Tokio drives the jobs. The runtime belongs to this addon alone and runs nothing but file work,
//! so its few threads are the bounded pool for it: a job blocks its thread in system calls and
//! lets go of it where it awaits (a hook, a lock, the next chunk of a long read).

use std::future::Future;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use napi::bindgen_prelude::{PromiseRaw, ToNapiValue, create_custom_tokio_runtime};
use napi::Env;
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
    let guarded = AssertUnwindSafe(work).catch_unwind();
    let job = async move { Ok(guarded.await.unwrap_or_else(|panic| Err(internal(&*panic)))) };
    env.spawn_future_with_callback(job, settle)
}

fn internal(panic: &(dyn std::any::Any + Send)) -> Failure {
    let reason = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "unknown reason".to_owned());
    Failure::Internal(format!("dsh-fs-native: internal error: {reason}"))
}
