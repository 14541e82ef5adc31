//! A pool of vectors per thread, reused from page to page.
//!
//! Encoding a page needs a dozen vectors for a fraction of a millisecond. Allocating them each time
//! makes the allocator return memory to the system and fetch it again, which took a tenth of the
//! total time. A [`Reused`] vector goes back to the pool of its thread when it is dropped.

use std::cell::{Cell, RefCell};
use std::ops::{Deref, DerefMut};
use std::thread::LocalKey;

/// Maximum number of vectors of one type that a thread keeps.
const MAX_KEPT: usize = 12;
/// Maximum number of bytes that a thread keeps. Enough for a page of 100,000 nodes; anything beyond
/// is freed, because a page with a node for each byte needs the memory for its next step.
const MAX_KEPT_BYTES: usize = 4 << 20;

thread_local! {
    /// Bytes of all vectors in the pools of this thread.
    static BYTES: Cell<usize> = const { Cell::new(0) };
}

/// The vectors of one type that a thread keeps.
pub type Shelf<T> = RefCell<Vec<Vec<T>>>;

/// A type whose vectors are reused. The macro [`kept!`] implements it next to the type.
pub trait Kept: Sized + 'static {
    /// Return its pool on this thread.
    fn shelf() -> &'static LocalKey<Shelf<Self>>;
}

/// Give types a pool of their own on each thread.
macro_rules! kept {
    ($($type:ty),* $(,)?) => {
        $(impl $crate::base::vec_pool::Kept for $type {
            #[inline]
            fn shelf() -> &'static std::thread::LocalKey<$crate::base::vec_pool::Shelf<Self>> {
                thread_local! {
                    static SHELF: $crate::base::vec_pool::Shelf<$type> =
                        const { std::cell::RefCell::new(Vec::new()) };
                }
                &SHELF
            }
        })*
    };
}
pub(crate) use kept;

kept!(u8, u16, u32, i32, u64, bool, (u32, u32));

/// A vector that goes back to its pool when dropped.
pub struct Reused<T: Kept>(Vec<T>);

impl<T: Kept> Reused<T> {
    /// Take an empty vector with room for `capacity` values.
    pub fn with_capacity(capacity: usize) -> Self {
        let kept = T::shelf().try_with(|shelf| shelf.borrow_mut().pop());
        let mut vector = kept.ok().flatten().unwrap_or_default();
        if vector.capacity() > 0 {
            BYTES.set(BYTES.get() - bytes_of(&vector));
        }
        vector.reserve(capacity);
        Self(vector)
    }

    /// Take a vector of `length` times `value`.
    pub fn filled(length: usize, value: T) -> Self
    where
        T: Clone,
    {
        let mut vector = Self::with_capacity(length);
        vector.resize(length, value);
        vector
    }
}

impl<T: Kept> Drop for Reused<T> {
    fn drop(&mut self) {
        let mut vector = std::mem::take(&mut self.0);
        let bytes = bytes_of(&vector);
        if bytes == 0 {
            return;
        }
        vector.clear();
        // When the thread is ending its pool is already gone; then the vector is simply freed.
        let _ = T::shelf().try_with(|shelf| {
            let mut own = shelf.borrow_mut();
            if BYTES.get() + bytes <= MAX_KEPT_BYTES && own.len() < MAX_KEPT {
                own.push(vector);
                BYTES.set(BYTES.get() + bytes);
            }
        });
    }
}

fn bytes_of<T>(vector: &Vec<T>) -> usize {
    vector.capacity() * size_of::<T>()
}

impl<T: Kept> Default for Reused<T> {
    fn default() -> Self {
        Self::with_capacity(0)
    }
}

impl<T: Kept> Deref for Reused<T> {
    type Target = Vec<T>;
    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T: Kept> DerefMut for Reused<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

impl<'a, T: Kept> IntoIterator for &'a Reused<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
