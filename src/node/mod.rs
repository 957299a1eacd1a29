//! What JavaScript sees. The only room that knows Node-API.
//!
//! A call's synchronous part converts the request; everything else runs as one job on the worker
//! threads; its result becomes a JavaScript value when the promise settles. See [`runtime`].

mod callback;
mod cancel;
mod environment;
mod error;
mod event_loop;
mod foreign;
mod hooks;
mod local;
mod pool;
mod promise;
mod runtime;
mod stream;
mod text;
mod tools;
mod types;
