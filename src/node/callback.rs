//! Calling JavaScript functions: on their own thread, and from a job.

use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;

use napi::bindgen_prelude::{
    FromNapiValue, FunctionRef, JsValuesTupleIntoVec, TypeName, ValidateNapiValue,
};
use napi::{Env, Error, JsValue, Status, Unknown, ValueType, sys};
use tokio::sync::oneshot;

use super::error::thrown;
use super::event_loop::EventLoop;
use super::promise::follow;
use crate::contract::{Failure, Outcome};

/// A callback whose promise a job awaits.
pub struct Callback<Args: JsValuesTupleIntoVec, Value> {
    function: Arc<FunctionRef<Args, Unknown<'static>>>,
    value: PhantomData<fn() -> Value>,
}

impl<Args, Value> Callback<Args, Value>
where
    Args: JsValuesTupleIntoVec + Send + 'static,
    Value: FromNapiValue + Send + 'static,
{
    /// Calls back on the JavaScript thread and awaits what the promise comes to; what JavaScript
    /// throws comes out as [`Failure::Thrown`].
    pub async fn ask(&self, event_loop: &Arc<EventLoop>, args: Args) -> Outcome<Value> {
        let (answer, answered) = oneshot::channel();
        let function = self.function.clone();
        let follower = event_loop.clone();
        event_loop.post(move |env| match call(env, &function, args) {
            Ok(returned) => {
                // A promise that cannot be followed leaves the job without an answer.
                let _ = follow(env, &follower, returned, answer);
            }
            Err(error) => {
                let _ = answer.send(Err(thrown(error)));
            }
        });
        answered
            .await
            .unwrap_or_else(|_| Err(Failure::Internal("a callback gave no answer".to_owned())))
    }
}

impl<Args: JsValuesTupleIntoVec, Value> FromNapiValue for Callback<Args, Value> {
    // SAFETY: as the trait demands, called on the JavaScript thread of `env` with one of its values.
    unsafe fn from_napi_value(env: sys::napi_env, value: sys::napi_value) -> napi::Result<Self> {
        // SAFETY: as above.
        let function = unsafe { FunctionRef::from_napi_value(env, value)? };
        Ok(Callback {
            function: Arc::new(function),
            value: PhantomData,
        })
    }
}

impl<Args: JsValuesTupleIntoVec, Value> TypeName for Callback<Args, Value> {
    fn type_name() -> &'static str {
        "Function"
    }

    fn value_type() -> ValueType {
        ValueType::Function
    }
}

impl<Args: JsValuesTupleIntoVec, Value> ValidateNapiValue for Callback<Args, Value> {}

/// Calls `function`. What it throws, a primitive value included, comes out as an error that throws
/// the same value again; napi-rs's own call keeps objects only.
pub fn call<Args>(
    env: &Env,
    function: &FunctionRef<Args, Unknown<'static>>,
    args: Args,
) -> napi::Result<Unknown<'static>>
where
    Args: JsValuesTupleIntoVec,
{
    let function = function.borrow_back(env)?.raw();
    let args = args.into_vec(env.raw())?;
    let (mut receiver, mut result) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: on the JavaScript thread of `env`; all values belong to it and to this call.
    let status = unsafe {
        napi::check_status!(sys::napi_get_undefined(env.raw(), &mut receiver))?;
        sys::napi_call_function(
            env.raw(),
            receiver,
            function,
            args.len(),
            args.as_ptr(),
            &mut result,
        )
    };
    match Status::from(status) {
        // SAFETY: the call succeeded, so `result` is a value of this call.
        Status::Ok => Ok(unsafe { Unknown::from_raw_unchecked(env.raw(), result) }),
        Status::PendingException => {
            let mut exception = ptr::null_mut();
            // SAFETY: an exception is pending; taking it makes it a value of this call.
            Err(unsafe {
                sys::napi_get_and_clear_last_exception(env.raw(), &mut exception);
                let exception = Unknown::from_raw_unchecked(env.raw(), exception);
                Error::from_unknown_without_coercion(exception)
            })
        }
        status => Err(Error::new(status, "a callback could not be called")),
    }
}
