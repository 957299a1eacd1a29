//! Calling a JavaScript function on its own thread.

use std::ptr;

use napi::bindgen_prelude::{FunctionRef, JsValuesTupleIntoVec};
use napi::{Env, Error, JsValue, Status, Unknown, sys};

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
