//! Memory: one budget for all kernels of a process, and an error where memory ends.
//!
//! Rust ends the process when an allocation fails. So a kernel that needs much memory says how much
//! before it starts, and gets an error if the system would not give it that. Kernels that do not
//! fit into the budget together run one after another, whatever the number of threads: the peak of
//! a process follows the largest page, not the number of workers.
//!
//! What a kernel says is an estimate from above. It is not allocated, only asked for.
//!
//! A kernel may ask again while it holds memory (applying a script encodes a page). Then it does not
//! wait: two kernels that wait for each other would never end.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use crate::base::error::Error;

/// Kernels that need less than this do not ask: a page of up to a few hundred kilobytes.
const MIN_BYTES: u64 = 8 << 20;
/// Budget where the memory of the machine is not known.
const UNKNOWN_BUDGET: u64 = 4 << 30;
/// Pause before asking again while other kernels run. They take tens of milliseconds or more.
const PAUSE: Duration = Duration::from_millis(2);

/// Bytes that running kernels have asked for.
static HELD: AtomicU64 = AtomicU64::new(0);
/// The process they run in. After a fork, the kernels of other threads are gone.
static PROCESS: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// The part of it that was asked for on this thread.
    static HELD_HERE: Cell<u64> = const { Cell::new(0) };
}

/// Memory that a kernel may use until this is dropped, on the thread that asked for it.
#[must_use]
#[derive(Debug)]
pub struct Hold {
    bytes: u64,
    same_thread: PhantomData<*const ()>,
}

impl Hold {
    fn new(bytes: u64) -> Self {
        HELD_HERE.set(HELD_HERE.get().saturating_add(bytes));
        Self {
            bytes,
            same_thread: PhantomData,
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        HELD_HERE.set(HELD_HERE.get().saturating_sub(self.bytes));
        give_back(self.bytes);
    }
}

/// Ask for memory before using it. Waits while other kernels use the budget.
///
/// ```
/// use quire_core::memory::hold;
///
/// let held = hold(100 << 20).unwrap();
/// drop(held);
/// assert!(hold(u64::MAX).is_err());
/// ```
///
/// # Errors
///
/// [`Error::Memory`] if the system does not have that much.
pub fn hold(bytes: u64) -> Result<Hold, Error> {
    if bytes < MIN_BYTES {
        return Ok(Hold::new(0));
    }
    let nested = HELD_HERE.get() > 0;
    let process = std::process::id();
    loop {
        if PROCESS.swap(process, Ordering::AcqRel) != process {
            HELD.store(0, Ordering::Release);
        }
        let others = HELD.load(Ordering::Acquire);
        let all = others.saturating_add(bytes);
        let may_start = nested || others == 0 || all <= budget();
        if may_start
            && (HELD.compare_exchange(others, all, Ordering::AcqRel, Ordering::Acquire)).is_ok()
        {
            if is_there(all) {
                return Ok(Hold::new(bytes));
            }
            give_back(bytes);
            if nested || others == 0 {
                return Err(Error::Memory { bytes });
            }
        }
        std::thread::sleep(PAUSE);
    }
}

/// Make room in a vector.
///
/// # Errors
///
/// [`Error::Memory`] if the system does not have that much.
pub fn reserve<T>(vector: &mut Vec<T>, more: usize) -> Result<(), Error> {
    vector.try_reserve_exact(more).map_err(|_| Error::Memory {
        bytes: (more as u64).saturating_mul(size_of::<T>() as u64),
    })
}

fn give_back(bytes: u64) {
    let less = |held: u64| Some(held.saturating_sub(bytes));
    let _ = HELD.fetch_update(Ordering::AcqRel, Ordering::Acquire, less);
}

/// Tell whether the system would give this much. Nothing is written to it, so it costs nothing.
fn is_there(bytes: u64) -> bool {
    let mut probe: Vec<u8> = Vec::new();
    let given = usize::try_from(bytes).is_ok_and(|bytes| probe.try_reserve_exact(bytes).is_ok());
    // Otherwise the compiler may leave out an allocation that is not used.
    std::hint::black_box(&mut probe);
    given
}

/// Return the memory that kernels share: half of what the machine or its control group has.
fn budget() -> u64 {
    static BUDGET: OnceLock<u64> = OnceLock::new();
    *BUDGET.get_or_init(|| {
        let number = |path: &str, name: &str| -> Option<u64> {
            let text = std::fs::read_to_string(path).ok()?;
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse().ok()
        };
        let machine = number("/proc/meminfo", "MemTotal:").map(|kilobytes| kilobytes << 10);
        let group = number("/sys/fs/cgroup/memory.max", "");
        machine
            .into_iter()
            .chain(group)
            .min()
            .map_or(UNKNOWN_BUDGET, |bytes| bytes / 2)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // One test: the budget belongs to the process.
    #[test]
    fn kernels_share_one_budget() {
        let most = budget();
        let first = hold(most).unwrap();
        assert_eq!(HELD.load(Ordering::Acquire), most);
        // It asked for memory before, so it must not wait.
        drop(hold(most).unwrap());
        let second = std::thread::spawn(move || hold(most).map(drop));
        std::thread::sleep(10 * PAUSE);
        assert!(!second.is_finished(), "it waits for the first");
        drop(first);
        second.join().unwrap().unwrap();
        assert_eq!(HELD.load(Ordering::Acquire), 0);

        assert!(matches!(hold(u64::MAX), Err(Error::Memory { .. })));
        assert_eq!(HELD.load(Ordering::Acquire), 0);
        drop(hold(MIN_BYTES - 1));
        let mut vector: Vec<u64> = Vec::new();
        let reserved = reserve(&mut vector, usize::MAX / 16);
        std::hint::black_box(&mut vector);
        assert!(reserved.is_err());
    }
}
