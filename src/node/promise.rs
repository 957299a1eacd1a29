//! Promises: those that calls return, and those that callbacks return.

use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use napi::bindgen_prelude::{CallbackContext, FromNapiValue, Object, PromiseRaw, ToNapiValue};
use napi::{Env, Error, JsValue, Unknown, check_status, sys};
use tokio::sync::oneshot;

use super::error::thrown;
use super::event_loop::EventLoop;
use crate::contract::Outcome;

/// The settling side of a promise that was returned to JavaScript.
pub struct Deferred(sys::napi_deferred);

// SAFETY: only carried by other threads; used on the JavaScript thread alone.
unsafe impl Send for Deferred {}

impl Deferred {
    /// A promise and its settling side.
    pub fn new(env: &Env) -> napi::Result<(Self, Object<'_>)> {
        let (mut deferred, mut promise) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: on the JavaScript thread of `env`.
        check_status!(
            unsafe { sys::napi_create_promise(env.raw(), &mut deferred, &mut promise) },
            "a promise could not be made"
        )?;
        Ok((Deferred(deferred), Object::from_raw(env.raw(), promise)))
    }

    /// Fulfils the promise with a value, or rejects it with an error.
    pub fn settle<V: ToNapiValue>(self, env: &Env, outcome: napi::Result<V>) {
        let raw = env.raw();
        // SAFETY: on the JavaScript thread of `env`, whose promise this is; it is settled once, as
        // `self` is gone then.
        unsafe {
            match outcome.and_then(|value| V::to_napi_value(raw, value)) {
                Ok(value) => sys::napi_resolve_deferred(raw, self.0, value),
                Err(error) => match Error::to_napi_value(raw, error) {
                    Ok(reason) => sys::napi_reject_deferred(raw, self.0, reason),
                    Err(_) => sys::Status::napi_generic_failure,
                },
            };
        }
    }
}

/// Sends what `returned` comes to, as `await` would see it: a value that is no promise counts as
/// it is. Until then `event_loop` does not keep the process alive for the job that waits for it.
pub fn follow<Value: FromNapiValue + Send + 'static>(
    env: &Env,
    event_loop: &Arc<EventLoop>,
    returned: Unknown<'static>,
    answer: oneshot::Sender<Outcome<Value>>,
) -> napi::Result<()> {
    // A promise of our own, whose `then` is not the callback's to change.
    let promise = PromiseRaw::resolve(env, returned)?;
    // Either callback runs, once; what the other one holds goes with it.
    let answer = Arc::new(Mutex::new(Some(answer)));
    let settle = |answer: Arc<Mutex<Option<oneshot::Sender<Outcome<Value>>>>>| {
        let event_loop = event_loop.clone();
        move |env: &Env, outcome: Outcome<Value>| {
            event_loop.begin_wait(env);
            let sender = answer.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(sender) = sender {
                // Nobody waits any more if the call was cancelled meanwhile.
                let _ = sender.send(outcome);
            }
        }
    };
    let (fulfilled, rejected) = (settle(answer.clone()), settle(answer));
    promise
        .then(
            move |CallbackContext { value, env }: CallbackContext<Unknown>| {
                fulfilled(&env, value_of(&env, value).map_err(thrown));
                Ok(())
            },
        )?
        .catch(
            move |CallbackContext { value, env }: CallbackContext<Unknown>| {
                rejected(
                    &env,
                    Err(thrown(Error::from_unknown_without_coercion(value))),
                );
                Ok(())
            },
        )?;
    event_loop.end_wait(env);
    Ok(())
}

fn value_of<Value: FromNapiValue>(env: &Env, value: Unknown) -> napi::Result<Value> {
    // SAFETY: on the JavaScript thread of `env`, to which the value belongs.
    unsafe { Value::from_napi_value(env.raw(), value.raw()) }
}
