//! The mutation lock: mutations of one target run one after the other, in the order in which they
//! were asked for; mutations of different targets do not wait for each other.
//!
//! A place in the queue is taken synchronously ([`Locks::enqueue`]), so that the order is that of
//! the calls and not that in which worker threads pick them up. Whoever waits can be cancelled.
//!
//! Contract: provider §8.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// Those who wait for one key, in their order. The entry exists as long as somebody holds the key.
type Queues = HashMap<Arc<str>, VecDeque<oneshot::Sender<Guard>>>;

/// The queues of all keys that are held at present.
#[derive(Default)]
pub struct Locks {
    queues: Mutex<Queues>,
}

/// A place in the queue of one key. Dropping it gives the place up.
pub struct Ticket(Place);

enum Place {
    Held(Guard),
    Waiting(Waiting),
}

struct Waiting {
    locks: Arc<Locks>,
    key: Arc<str>,
    turn: oneshot::Receiver<Guard>,
}

/// The lock of one key. Dropping it passes the lock to the next in the queue.
pub struct Guard {
    locks: Arc<Locks>,
    key: Arc<str>,
    /// False once the lock went to somebody else.
    holds: bool,
}

impl Locks {
    /// Takes a place in the queue of `key`, at once and behind all who asked before.
    ///
    /// Contract: provider §8.
    pub fn enqueue(self: &Arc<Self>, key: &str) -> Ticket {
        let mut queues = self.lock();
        if let Some((key, _)) = queues.get_key_value(key) {
            let key = Arc::clone(key);
            let (sender, turn) = oneshot::channel();
            queues
                .entry(Arc::clone(&key))
                .or_default()
                .push_back(sender);
            return Ticket(Place::Waiting(Waiting {
                locks: Arc::clone(self),
                key,
                turn,
            }));
        }
        let key: Arc<str> = Arc::from(key);
        queues.insert(Arc::clone(&key), VecDeque::new());
        Ticket(Place::Held(Guard {
            locks: Arc::clone(self),
            key,
            holds: true,
        }))
    }

    /// The next in the queue of a key; if there is none, the key is free from now on.
    fn next(&self, key: &str) -> Option<oneshot::Sender<Guard>> {
        let mut queues = self.lock();
        let next = queues.get_mut(key).and_then(VecDeque::pop_front);
        if next.is_none() {
            queues.remove(key);
        }
        next
    }

    /// No code that can panic runs under this mutex, so a poisoned one holds sound queues.
    fn lock(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ticket {
    /// Waits for the turn of this place. `None` if `cancel` fired while it waited; the place is
    /// given up then. A lock that is had already is handed over even if `cancel` has fired, as
    /// the checks of a mutation come in their own order.
    ///
    /// Contract: provider §8.
    pub async fn acquire(self, cancel: &CancellationToken) -> Option<Guard> {
        match self.0 {
            Place::Held(guard) => Some(guard),
            Place::Waiting(mut waiting) => tokio::select! {
                biased;
                turn = &mut waiting.turn => turn.ok(),
                () = cancel.cancelled() => None,
            },
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // Had the turn come already, its guard is in the channel or was taken from it; closing is
        // harmless, and a guard in the channel passes the lock on when the channel is dropped.
        self.turn.close();
        if let Some(queue) = self.locks.lock().get_mut(&*self.key) {
            queue.retain(|waiting| !waiting.is_closed());
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if !self.holds {
            return;
        }
        while let Some(next) = self.locks.next(&self.key) {
            let (locks, key) = (Arc::clone(&self.locks), Arc::clone(&self.key));
            match next.send(Guard {
                locks,
                key,
                holds: true,
            }) {
                Ok(()) => return,
                // The next gave up meanwhile; its guard must not pass the lock on by itself.
                Err(mut refused) => refused.holds = false,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::task::{Context, Waker};

    use super::*;

    fn is_idle(locks: &Locks) -> bool {
        locks.lock().is_empty()
    }

    fn waiting(locks: &Locks, key: &str) -> usize {
        locks.lock().get(key).map_or(0, VecDeque::len)
    }

    #[tokio::test]
    async fn turns_come_in_the_order_of_the_tickets() {
        let locks = Arc::new(Locks::default());
        let order = Arc::new(Mutex::new(Vec::new()));
        let tickets: Vec<_> = (0..5).map(|_| locks.enqueue("k")).collect();
        // Polled last to first, so that only the queue can give the order.
        let tasks: Vec<_> = tickets
            .into_iter()
            .enumerate()
            .rev()
            .map(|(number, ticket)| {
                let order = Arc::clone(&order);
                tokio::spawn(async move {
                    let guard = ticket.acquire(&CancellationToken::new()).await;
                    tokio::task::yield_now().await;
                    order.lock().unwrap().push(number);
                    drop(guard);
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), [0, 1, 2, 3, 4]);
        assert!(is_idle(&locks));
    }

    #[tokio::test]
    async fn keys_do_not_wait_for_each_other() {
        let locks = Arc::new(Locks::default());
        let cancel = CancellationToken::new();
        let _one = locks.enqueue("a").acquire(&cancel).await.unwrap();
        let _two = locks.enqueue("b").acquire(&cancel).await.unwrap();
    }

    #[tokio::test]
    async fn a_held_lock_is_exclusive() {
        let locks = Arc::new(Locks::default());
        let cancel = CancellationToken::new();
        let first = locks.enqueue("k").acquire(&cancel).await.unwrap();
        let mut second = std::pin::pin!(locks.enqueue("k").acquire(&cancel));
        let mut context = Context::from_waker(Waker::noop());
        assert!(second.as_mut().poll(&mut context).is_pending());
        drop(first);
        assert!(second.await.is_some());
        assert!(is_idle(&locks));
    }

    #[tokio::test]
    async fn a_cancelled_wait_gives_its_place_up() {
        let locks = Arc::new(Locks::default());
        let never = CancellationToken::new();
        let cancel = CancellationToken::new();
        let first = locks.enqueue("k").acquire(&never).await.unwrap();
        let second = locks.enqueue("k");
        let third = locks.enqueue("k");
        cancel.cancel();
        assert!(second.acquire(&cancel).await.is_none());
        assert_eq!(waiting(&locks, "k"), 1);
        drop(first);
        assert!(third.acquire(&never).await.is_some());
        assert!(is_idle(&locks));
    }

    #[tokio::test]
    async fn a_lock_that_is_had_wins_over_a_cancellation() {
        let locks = Arc::new(Locks::default());
        let cancel = CancellationToken::new();
        cancel.cancel();
        let free = locks.enqueue("k");
        let queued = locks.enqueue("k");
        drop(free.acquire(&cancel).await.unwrap());
        assert!(queued.acquire(&cancel).await.is_some());
    }

    #[tokio::test]
    async fn dropped_tickets_pass_the_lock_on() {
        let locks = Arc::new(Locks::default());
        let cancel = CancellationToken::new();
        let held = locks.enqueue("k");
        let given_up = locks.enqueue("k");
        let granted = locks.enqueue("k");
        let last = locks.enqueue("k");
        drop(given_up);
        assert_eq!(waiting(&locks, "k"), 2);
        drop(held);
        // Its turn has come, but nobody asked for it.
        drop(granted);
        assert!(last.acquire(&cancel).await.is_some());
        assert!(is_idle(&locks));
    }

    #[test]
    fn an_unused_ticket_leaves_nothing() {
        let locks = Arc::new(Locks::default());
        drop(locks.enqueue("k"));
        assert!(is_idle(&locks));
    }
}
