//! The bounded pool that runs the turns of all jobs.
//!
//! The pool is our own because none that is kept does the three things at once: a fixed number of
//! threads, futures in turns, and one wake-up a turn. Tokio's scheduler wakes a second thread to
//! look for more work, its blocking pool cannot suspend a job, and each costs two to three times
//! the call itself on a machine with few cores.
//!
//! A thread without work looks at the queue for a moment longer before it sleeps: calls come in
//! short sequences (resolve, stat, read), and waking a thread costs more than most of them.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_task::Runnable;
use napi::bindgen_prelude::retain_current_module_for_unload_safety;

/// Number of threads. More gain nothing where the disk or the cores are the limit, and a small
/// number bounds the memory of concurrent jobs.
const THREADS: usize = 4;

/// How long one thread without work keeps looking: about the time that JavaScript takes from the
/// end of one call to the start of the next.
const LOOK: Duration = Duration::from_micros(50);

static POOL: LazyLock<Pool> = LazyLock::new(Pool::start);

/// Runs `job` to its end; each of its turns waits behind all that wait already. The job must not
/// panic: what it runs is guarded before it comes here.
pub fn spawn(job: impl Future<Output = ()> + Send + 'static) {
    let (first_turn, job) = async_task::spawn(job, |turn| POOL.push(turn));
    job.detach();
    first_turn.schedule();
}

struct Pool {
    turns: Mutex<VecDeque<Runnable>>,
    /// Length of `turns`, for a look without the lock.
    length: AtomicUsize,
    ready: Condvar,
    /// Whether a thread is looking; it takes the next turn without being woken.
    looking: AtomicBool,
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
            turns: Mutex::default(),
            length: AtomicUsize::new(0),
            ready: Condvar::new(),
            looking: AtomicBool::new(false),
        }
    }

    fn push(&self, turn: Runnable) {
        let mut turns = self.lock();
        turns.push_back(turn);
        self.length.store(turns.len(), Ordering::Release);
        drop(turns);
        if !self.looking.load(Ordering::SeqCst) {
            self.ready.notify_one();
        }
    }

    fn work(&self) -> ! {
        loop {
            self.take().run();
        }
    }

    fn take(&self) -> Runnable {
        self.look();
        let mut turns = self.lock();
        loop {
            if let Some(turn) = turns.pop_front() {
                self.length.store(turns.len(), Ordering::Release);
                // Whoever pushed may have counted on this thread for more than one turn.
                if !turns.is_empty() {
                    self.ready.notify_one();
                }
                return turn;
            }
            turns = self
                .ready
                .wait(turns)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits a moment for work without sleeping, unless another thread does already.
    fn look(&self) {
        if self.length.load(Ordering::Acquire) > 0 || self.looking.swap(true, Ordering::SeqCst) {
            return;
        }
        let end = Instant::now() + LOOK;
        while self.length.load(Ordering::Acquire) == 0 && Instant::now() < end {
            std::hint::spin_loop();
        }
        self.looking.store(false, Ordering::SeqCst);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Runnable>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn every_job_runs_however_the_pushes_fall_between_looking_and_sleeping() {
        let (sender, receiver) = mpsc::channel();
        for number in 0..5_000u64 {
            let sender = sender.clone();
            spawn(async move {
                tokio::task::yield_now().await;
                let _ = sender.send(number);
            });
            // Some pushes find a thread that looks, some find all asleep.
            if number % 50 == 0 {
                std::thread::sleep(LOOK * (number % 4) as u32);
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
