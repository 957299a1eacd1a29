//! The bounded pool that runs the turns of all jobs.
//!
//! The pool is our own because none that is kept does the three things at once: a fixed number of
//! threads, futures in turns, and one wake-up a turn. Tokio's scheduler wakes a second thread to
//! look for more work, its blocking pool cannot suspend a job, and each costs two to three times
//! the call itself on a machine with few cores.
//!
//! A thread without work sleeps at once. Woken by a JavaScript thread that is about to wait, it
//! runs on that thread's core and hands back there; a thread that kept looking for work would
//! answer from another core, whose signal takes longer than most calls.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::{Condvar, LazyLock, Mutex, MutexGuard, PoisonError};

use async_task::Runnable;
use napi::bindgen_prelude::retain_current_module_for_unload_safety;

/// Number of threads. More gain nothing where the disk or the cores are the limit, and a small
/// number bounds the memory of concurrent jobs.
const THREADS: usize = 4;

static POOL: LazyLock<Pool> = LazyLock::new(Pool::start);

/// Runs `job` to its end; each of its turns waits behind all that wait already. The job must not
/// panic: what it runs is guarded before it comes here.
pub fn spawn(job: impl Future<Output = ()> + Send + 'static) {
    let (first_turn, job) = async_task::spawn(job, |turn| POOL.push(turn));
    job.detach();
    first_turn.schedule();
}

struct Pool {
    waiting: Mutex<Waiting>,
    ready: Condvar,
}

#[derive(Default)]
struct Waiting {
    turns: VecDeque<Runnable>,
    /// Number of threads that sleep. To wake nobody is a system call all the same.
    sleepers: usize,
}

impl Pool {
    fn start() -> Self {
        // The threads outlive the environment that started them; their code must stay loaded.
        retain_current_module_for_unload_safety();
        for number in 0..THREADS {
            let thread = std::thread::Builder::new().name(format!("dsh-fs-native {number}"));
            // With fewer threads the rest do the work; with none, jobs would wait for ever.
            let started = thread.spawn(|| POOL.work());
            assert!(
                number > 0 || started.is_ok(),
                "no thread could be started for file work"
            );
        }
        Pool {
            waiting: Mutex::default(),
            ready: Condvar::new(),
        }
    }

    fn push(&self, turn: Runnable) {
        let mut waiting = self.lock();
        waiting.turns.push_back(turn);
        let wakes = waiting.sleepers > 0;
        drop(waiting);
        if wakes {
            self.ready.notify_one();
        }
    }

    fn work(&self) -> ! {
        loop {
            self.take().run();
        }
    }

    fn take(&self) -> Runnable {
        let mut waiting = self.lock();
        loop {
            if let Some(turn) = waiting.turns.pop_front() {
                return turn;
            }
            waiting.sleepers += 1;
            waiting = self
                .ready
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
            waiting.sleepers -= 1;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[test]
    fn every_job_runs_whether_the_threads_sleep_or_not() {
        let (sender, receiver) = mpsc::channel();
        for number in 0..5_000u64 {
            let sender = sender.clone();
            spawn(async move {
                tokio::task::yield_now().await;
                let _ = sender.send(number);
            });
            // Some pushes find busy threads, some find all asleep.
            if number % 50 == 0 {
                std::thread::sleep(Duration::from_micros(50 * (number % 4)));
            }
        }
        let wait = Duration::from_secs(30);
        let sum: u64 = (0..5_000)
            .map(|_| receiver.recv_timeout(wait).expect("a job"))
            .sum();
        assert_eq!(sum, 4_999 * 5_000 / 2);
    }

    #[test]
    fn a_job_that_waits_holds_no_thread() {
        let (release, waiting): (Vec<_>, Vec<_>) = (0..THREADS * 4)
            .map(|_| tokio::sync::oneshot::channel::<()>())
            .unzip();
        let (sender, receiver) = mpsc::channel();
        for wait in waiting {
            let sender = sender.clone();
            spawn(async move {
                let _ = wait.await;
                let _ = sender.send("released");
            });
        }
        spawn(async move {
            let _ = sender.send("free");
        });
        let wait = Duration::from_secs(30);
        assert_eq!(receiver.recv_timeout(wait), Ok("free"));
        drop(release);
        for _ in 0..THREADS * 4 {
            assert_eq!(receiver.recv_timeout(wait), Ok("released"));
        }
    }

    #[test]
    fn jobs_of_many_turns_share_the_threads() {
        let (sender, receiver) = mpsc::channel();
        for _ in 0..THREADS {
            let sender = sender.clone();
            spawn(async move {
                for _ in 0..200 {
                    std::thread::sleep(Duration::from_millis(1));
                    tokio::task::yield_now().await;
                }
                let _ = sender.send("long");
            });
        }
        spawn(async move {
            let _ = sender.send("short");
        });
        assert_eq!(receiver.recv_timeout(Duration::from_secs(30)), Ok("short"));
    }
}
