//! The harness's hooks as JavaScript callbacks.

use std::sync::{Arc, Mutex};

use napi::bindgen_prelude::{FnArgs, FunctionRef};
use napi::{Env, Error, Unknown};
use napi_derive::napi;

use super::callback::{Callback, call};
use super::environment;
use super::error::{CreateError, Explained, rejection};
use super::event_loop::EventLoop;
use super::types::{Authorization, EditGuard, Observation, Target, WriteIntent};
use crate::contract::{self, Failure, Hooks, Outcome};

type Observed = FunctionRef<FnArgs<(Target, Observation)>, Unknown<'static>>;
type Explain = FunctionRef<FnArgs<(Unknown<'static>,)>, Unknown<'static>>;

/// What the executors ask of the harness. Contract: tools §4 to §7.
#[napi(object, object_to_js = false)]
pub struct ToolHooks {
    /// Makes the host's error of a message, a stable code and the system error behind it.
    #[napi(ts_type = "(message: string, code: string, cause?: SystemCause) => Error")]
    pub create_error: CreateError,
    /// Tells what was seen. Called at most once, synchronously, as the last step; what it throws
    /// rejects the call.
    #[napi(ts_type = "(target: Target, observation: Observation) => void")]
    pub observed: Observed,
    /// Settles the policy of a mutation after the argument checks and before any I/O.
    #[napi(ts_type = "(() => Promise<Authorization | undefined>) | undefined")]
    pub authorize: Option<Callback<(), Option<Authorization>>>,
    /// The guard of a write.
    #[napi(ts_type = "(target: Target) => Promise<WriteIntent | undefined>")]
    pub write_intent: Option<Callback<FnArgs<(Target,)>, Option<WriteIntent>>>,
    /// The guard of an edit.
    #[napi(ts_type = "(target: Target) => Promise<EditGuard | undefined>")]
    pub edit_intent: Option<Callback<FnArgs<(Target,)>, Option<EditGuard>>>,
    /// Maps an error of the mutation step to what the call is rejected with.
    #[napi(ts_type = "(error: unknown) => unknown")]
    pub explain: Option<Explain>,
}

/// The hooks of one call, shared by its job and by what settles it.
pub struct CallHooks {
    hooks: ToolHooks,
    event_loop: Arc<EventLoop>,
    seen: Mutex<Option<(contract::Target, contract::Observation)>>,
}

impl CallHooks {
    /// Hooks for one call of `env`.
    pub fn new(env: &Env, hooks: ToolHooks) -> napi::Result<Self> {
        Ok(CallHooks {
            hooks,
            event_loop: environment::event_loop(env)?,
            seen: Mutex::new(None),
        })
    }

    /// On the JavaScript thread: delivers the observation, then yields the value or what the
    /// promise is rejected with.
    pub fn settle<T>(&self, env: &Env, outcome: Outcome<T>) -> napi::Result<T> {
        let seen = self
            .seen
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .take();
        if let Some((target, observation)) = seen {
            let arguments = (Target::from(target), Observation::from(observation));
            call(env, &self.hooks.observed, arguments.into())?;
        }
        outcome.map_err(|failure| self.rejection(env, failure))
    }

    fn rejection(&self, env: &Env, failure: Failure) -> Error {
        let failure = match failure {
            Failure::Thrown(inner) => match inner.downcast::<Explained>() {
                Ok(explained) => return self.explained(env, explained.0),
                Err(other) => Failure::Thrown(other),
            },
            other => other,
        };
        rejection(env, &self.hooks.create_error, failure)
    }

    fn explained(&self, env: &Env, failure: Failure) -> Error {
        let error = rejection(env, &self.hooks.create_error, failure);
        let Some(explain) = &self.hooks.explain else {
            return error;
        };
        let value = error_value(env, error);
        let mapped = value.and_then(|value| call(env, explain, (value,).into()));
        mapped.map_or_else(|fault| fault, Error::from_unknown_without_coercion)
    }
}

fn error_value(env: &Env, error: Error) -> napi::Result<Unknown<'static>> {
    use napi::bindgen_prelude::{FromNapiValue, ToNapiValue};
    // SAFETY: called on the JavaScript thread of `env`; the value is used before this call
    // returns to JavaScript.
    unsafe {
        let value = Error::to_napi_value(env.raw(), error)?;
        Unknown::from_napi_value(env.raw(), value)
    }
}

impl Hooks for CallHooks {
    async fn authorize(&self) -> Outcome<contract::Authorization> {
        let Some(callback) = &self.hooks.authorize else {
            return Ok(contract::Authorization::default());
        };
        let authorization = callback.ask(&self.event_loop, ()).await?;
        Ok(authorization.map(Into::into).unwrap_or_default())
    }

    async fn write_intent(
        &self,
        target: &contract::Target,
    ) -> Outcome<Option<contract::WriteIntent>> {
        let Some(callback) = &self.hooks.write_intent else {
            return Ok(None);
        };
        let intent = callback
            .ask(&self.event_loop, (Target::from(target.clone()),).into())
            .await?;
        Ok(intent.and_then(WriteIntent::into_contract))
    }

    async fn edit_intent(&self, target: &contract::Target) -> Outcome<Option<String>> {
        let Some(callback) = &self.hooks.edit_intent else {
            return Ok(None);
        };
        let guard = callback
            .ask(&self.event_loop, (Target::from(target.clone()),).into())
            .await?;
        Ok(guard.map(|guard| guard.version))
    }

    fn observed(&self, target: &contract::Target, observation: contract::Observation) {
        let mut seen = self
            .seen
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        *seen = Some((target.clone(), observation));
    }

    fn explain(&self, failure: Failure) -> Failure {
        Failure::Thrown(Box::new(Explained(failure)))
    }
}
