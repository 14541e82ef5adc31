//! Working memory that is kept from page to page.
//!
//! Encoding a page needs a dozen vectors for a fraction of a millisecond. Asking
//! the allocator each time makes it hand pages back to the system and fetch them
//! again, which took a tenth of the whole time. A [`Reused`] vector goes back to a
//! shelf of its thread when it is dropped.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

use crate::draft::{DraftNode, EndTag};
use crate::html::build::stack::Open;
use crate::intern::Entry;

/// Vectors of one type a thread keeps.
const MAX_KEPT: usize = 12;
/// Bytes a thread keeps in all. Enough for a page of 600,000 nodes; what is beyond is given back.
const MAX_KEPT_BYTES: usize = 64 << 20;

/// The vectors a thread keeps, by type.
#[derive(Default)]
pub struct Shelves {
    /// What all vectors take together.
    bytes: usize,
    u8: Vec<Vec<u8>>,
    u32: Vec<Vec<u32>>,
    i32: Vec<Vec<i32>>,
    u64: Vec<Vec<u64>>,
    bool: Vec<Vec<bool>>,
    pair: Vec<Vec<(u32, u32)>>,
    node: Vec<Vec<DraftNode>>,
    end: Vec<Vec<EndTag>>,
    open: Vec<Vec<Open>>,
    entry: Vec<Vec<Entry>>,
}

thread_local! {
    static SHELVES: RefCell<Shelves> = RefCell::default();
}

/// A type whose vectors are kept.
pub trait Kept: Sized {
    /// Its shelf.
    fn shelf(shelves: &mut Shelves) -> &mut Vec<Vec<Self>>;
}

macro_rules! kept {
    ($($type:ty => $field:ident),* $(,)?) => {
        $(impl Kept for $type {
            fn shelf(shelves: &mut Shelves) -> &mut Vec<Vec<Self>> {
                &mut shelves.$field
            }
        })*
    };
}

kept! {
    u8 => u8, u32 => u32, i32 => i32, u64 => u64, bool => bool, (u32, u32) => pair,
    DraftNode => node, EndTag => end, Open => open, Entry => entry,
}

/// A vector that goes back to its shelf.
pub struct Reused<T: Kept>(Vec<T>);

impl<T: Kept> Reused<T> {
    /// An empty vector with room for `capacity` values.
    pub fn with_capacity(capacity: usize) -> Self {
        let kept = SHELVES.try_with(|shelves| {
            let mut shelves = shelves.borrow_mut();
            let vector = T::shelf(&mut shelves).pop();
            shelves.bytes -= vector.as_ref().map_or(0, bytes_of);
            vector
        });
        let mut vector = kept.ok().flatten().unwrap_or_default();
        vector.reserve(capacity);
        Self(vector)
    }

    /// A vector of `length` times `value`.
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
        // At the end of a thread there is no shelf any more; then the vector is simply freed.
        let _ = SHELVES.try_with(|shelves| {
            let mut shelves = shelves.borrow_mut();
            let fits = shelves.bytes + bytes <= MAX_KEPT_BYTES;
            let own = T::shelf(&mut shelves);
            if fits && own.len() < MAX_KEPT {
                own.push(vector);
                shelves.bytes += bytes;
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
