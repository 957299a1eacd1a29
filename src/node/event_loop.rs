//! The way from a job back to the JavaScript thread that its call came from.
//!
//! One threadsafe function an environment carries all results and callbacks. One for each call, as
//! napi-rs makes for a promise, costs more than most calls.
//!
//! The environment lives as long as a call waits for a job. While a job waits for JavaScript (a
//! callback that returned a promise), it is JavaScript's own affair whether there is still
//! something to wait for.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use napi::{Env, check_status, sys};

/// Something to do on the JavaScript thread.
type Delivery = Box<dyn FnOnce(&Env) + Send>;

/// The event loop of one environment, as jobs see it.
pub struct EventLoop {
    state: Mutex<State>,
    /// Number of calls that wait for a job. Changed on the JavaScript thread only.
    awaited: AtomicUsize,
}

#[derive(Default)]
struct State {
    deliveries: Vec<Delivery>,
    /// `None` before the start and after the end of the environment.
    wake: Option<Wake>,
}

#[derive(Clone, Copy)]
struct Wake(sys::napi_threadsafe_function);

// SAFETY: a threadsafe function may be called from every thread; it is only used under the mutex
// of `State`, from which it is taken before it is released.
unsafe impl Send for Wake {}

impl EventLoop {
    /// The event loop of `env`. Call it on the JavaScript thread, once for each environment.
    pub fn new(env: &Env) -> napi::Result<Arc<Self>> {
        let event_loop = Arc::new(EventLoop {
            state: Mutex::default(),
            awaited: AtomicUsize::new(0),
        });
        let name = env.create_string("dsh-fs-native")?;
        let context = Arc::into_raw(Arc::clone(&event_loop))
            .cast_mut()
            .cast::<c_void>();
        let mut wake = ptr::null_mut();
        // SAFETY: on the JavaScript thread of `env`. `context` is a strong reference, which
        // `finalize` gives up after the last call of `deliver`.
        unsafe {
            let status = sys::napi_create_threadsafe_function(
                env.raw(),
                ptr::null_mut(),
                ptr::null_mut(),
                napi::JsValue::raw(&name),
                0,
                1,
                context,
                Some(finalize),
                context,
                Some(deliver),
                &mut wake,
            );
            if status != sys::Status::napi_ok {
                drop(Arc::from_raw(context.cast_const().cast::<EventLoop>()));
            }
            check_status!(
                status,
                "the event loop cannot be reached from other threads"
            )?;
            check_status!(sys::napi_unref_threadsafe_function(env.raw(), wake))?;
        }
        event_loop.lock().wake = Some(Wake(wake));
        Ok(event_loop)
    }

    /// Has `delivery` done on the JavaScript thread, behind all that were posted before. After the
    /// end of the environment it is dropped.
    pub fn post(&self, delivery: impl FnOnce(&Env) + Send + 'static) {
        let mut state = self.lock();
        let Some(Wake(wake)) = state.wake else {
            drop(state);
            return;
        };
        state.deliveries.push(Box::new(delivery));
        if state.deliveries.len() == 1 {
            let mode = sys::ThreadsafeFunctionCallMode::nonblocking;
            // SAFETY: `wake` is released only after it was taken out of the state, which is locked.
            let status = unsafe { sys::napi_call_threadsafe_function(wake, ptr::null_mut(), mode) };
            if status != sys::Status::napi_ok {
                // The queue has no limit, so this is the end of the environment: nothing comes
                // through any more.
                let unreachable = std::mem::take(&mut *state);
                drop(state);
                drop(unreachable);
            }
        }
    }

    /// From now on one call more waits for a job; the process must not end meanwhile.
    pub fn begin_wait(&self, env: &Env) {
        if self.awaited.fetch_add(1, Ordering::Relaxed) == 0 {
            self.with_wake(|wake| {
                // SAFETY: on the JavaScript thread of `env`; `wake` belongs to it and lives.
                unsafe { sys::napi_ref_threadsafe_function(env.raw(), wake) };
            });
        }
    }

    /// The counterpart of [`EventLoop::begin_wait`].
    pub fn end_wait(&self, env: &Env) {
        if self.awaited.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.with_wake(|wake| {
                // SAFETY: as above.
                unsafe { sys::napi_unref_threadsafe_function(env.raw(), wake) };
            });
        }
    }

    /// The environment ends: nothing is delivered any more. Call it on the JavaScript thread.
    pub fn close(&self) {
        let State { deliveries, wake } = std::mem::take(&mut *self.lock());
        if let Some(Wake(wake)) = wake {
            // SAFETY: `wake` lives, and nobody can reach it any more.
            unsafe {
                sys::napi_release_threadsafe_function(
                    wake,
                    sys::ThreadsafeFunctionReleaseMode::abort,
                );
            }
        }
        // References that they hold are given up on this thread, while the environment exists.
        drop(deliveries);
    }

    fn with_wake(&self, act: impl FnOnce(sys::napi_threadsafe_function)) {
        if let Some(Wake(wake)) = self.lock().wake {
            act(wake);
        }
    }

    fn deliver(&self, env: &Env) {
        let deliveries = std::mem::take(&mut self.lock().deliveries);
        for delivery in deliveries {
            // A delivery settles its own failures, panics included; one must not stop the others.
            let _ = catch_unwind(AssertUnwindSafe(|| in_scope(env, delivery)));
            drop_exception(env);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Drops an exception that a delivery left: with one pending, the next could settle nothing.
fn drop_exception(env: &Env) {
    let mut pending = false;
    let mut exception = ptr::null_mut();
    // SAFETY: on the JavaScript thread of `env`, in the scope of the call from its event loop.
    unsafe {
        sys::napi_is_exception_pending(env.raw(), &mut pending);
        if pending {
            sys::napi_get_and_clear_last_exception(env.raw(), &mut exception);
        }
    }
}

/// Runs a delivery in a handle scope of its own, so that many in a row do not keep their values.
fn in_scope(env: &Env, delivery: Delivery) {
    struct Scope(sys::napi_env, sys::napi_handle_scope);
    impl Drop for Scope {
        fn drop(&mut self) {
            // SAFETY: opened below in the same environment, closed once.
            unsafe { sys::napi_close_handle_scope(self.0, self.1) };
        }
    }
    let mut scope = ptr::null_mut();
    // SAFETY: on the JavaScript thread of `env`.
    let status = unsafe { sys::napi_open_handle_scope(env.raw(), &mut scope) };
    let _scope = (status == sys::Status::napi_ok).then(|| Scope(env.raw(), scope));
    delivery(env);
}

unsafe extern "C" fn deliver(
    env: sys::napi_env,
    _function: sys::napi_value,
    context: *mut c_void,
    _data: *mut c_void,
) {
    // A call that is left over at the end of the environment comes without one.
    if env.is_null() {
        return;
    }
    // SAFETY: `context` is the reference that `EventLoop::new` made; `finalize` comes last.
    let event_loop = unsafe { &*context.cast_const().cast::<EventLoop>() };
    event_loop.deliver(&Env::from_raw(env));
}

unsafe extern "C" fn finalize(_env: sys::napi_env, context: *mut c_void, _hint: *mut c_void) {
    // SAFETY: the reference that `EventLoop::new` made; this runs once, after the last `deliver`.
    drop(unsafe { Arc::from_raw(context.cast_const().cast::<EventLoop>()) });
}
