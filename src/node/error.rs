//! How a failure becomes what JavaScript catches.

use napi::bindgen_prelude::{FnArgs, FunctionRef};
use napi::{Either, Env, Error, Status, Unknown};

use super::callback::call;
use super::types::SystemCause;
use crate::contract::{Failure, FsError};

/// Makes the host's error object of a message, a code and the system error behind it. The host's
/// own class is needed: its consumers test `instanceof`.
pub type CreateError =
    FunctionRef<FnArgs<(String, String, Either<SystemCause, ()>)>, Unknown<'static>>;

/// A failure of the mutation step, which the harness explains to the model before it is thrown.
pub struct Explained(pub Failure);

/// The napi error that rejects a promise with what `failure` stands for.
pub fn rejection(env: &Env, create_error: &CreateError, failure: Failure) -> Error {
    match failure {
        Failure::Fs(error) => create(env, create_error, error).unwrap_or_else(|fault| fault),
        Failure::Argument(message) => Error::new(Status::GenericFailure, message),
        Failure::Internal(message) => Error::new(Status::GenericFailure, message),
        Failure::Thrown(thrown) => match thrown.downcast::<Error>() {
            Ok(error) => *error,
            Err(_) => Error::new(Status::GenericFailure, "a callback failed"),
        },
    }
}

fn create(env: &Env, create_error: &CreateError, error: FsError) -> napi::Result<Error> {
    let cause = error
        .cause
        .map_or(Either::B(()), |cause| Either::A(cause.into()));
    let arguments = (error.message, error.code.as_str().to_owned(), cause);
    let value = call(env, create_error, arguments.into())?;
    Ok(Error::from_unknown_without_coercion(value))
}

/// Keeps an error of a callback so that its very object is thrown in the end.
pub fn thrown(error: Error) -> Failure {
    Failure::Thrown(Box::new(error))
}
