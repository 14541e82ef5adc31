//! Runs kernels: other threads may run meanwhile, and panics become errors.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::prelude::*;
use quire_core::Error;

use crate::errors;

/// Bytes for each node that a kernel uses at its peak, measured on pages with a node for each byte
/// and rounded up: reading texts, selecting and counting features.
pub const READING: u64 = 64;
/// The same for an annotation, for each node of both pages.
pub const ANNOTATING: u64 = 160;
/// The same for an edit script.
pub const SCRIPTING: u64 = 288;
/// The same for applying a script: columns of the old page and the actions on them.
pub const APPLYING: u64 = 128;
/// The same for the parts of a page: its AF tree, their texts and shingles.
pub const PARTING: u64 = 288;
/// The same for an outline and a search for lists: columns, and the shapes of all nodes.
pub const EXTRACTING: u64 = 288;
/// Bytes for each byte of a script as JSON, and of packed numbers.
pub const UNPACKING: u64 = 16;

/// Run a kernel with the interpreter released.
///
/// A panic cannot leave anything half-made: digests are immutable, and columns derived on first use
/// are stored only when they are complete.
pub fn run<T: Send>(
    py: Python<'_>,
    kernel: impl FnOnce() -> Result<T, Error> + Send,
) -> PyResult<T> {
    finish(py, py.detach(|| guarded(kernel)))
}

/// Run a kernel with the interpreter held; for kernels too short for other threads to benefit.
pub fn brief<T>(py: Python<'_>, kernel: impl FnOnce() -> Result<T, Error>) -> PyResult<T> {
    finish(py, guarded(kernel))
}

/// The result of a kernel: a value, an error, or a panic.
pub type Outcome<T> = std::thread::Result<Result<T, Error>>;

/// Run a kernel and catch its panics.
pub fn guarded<T>(kernel: impl FnOnce() -> Result<T, Error>) -> Outcome<T> {
    catch_unwind(AssertUnwindSafe(kernel))
}

/// Turn the result of a kernel into a Python value or exception.
pub fn finish<T>(py: Python<'_>, result: Outcome<T>) -> PyResult<T> {
    match result {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(errors::raise(py, &error)),
        Err(panic) => Err(errors::internal(py, &said(&*panic))),
    }
}

/// Return the message of a panic.
fn said(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}
