//! Where kernels are called: other threads run meanwhile, and panics stop here.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::prelude::*;
use quire_core::Error;

use crate::errors;

/// Run a kernel without holding the interpreter.
///
/// Kernels share nothing that a panic could leave half-made: digests are immutable, and what they
/// derive on first use is kept only when it is complete.
pub fn run<T: Send>(
    py: Python<'_>,
    kernel: impl FnOnce() -> Result<T, Error> + Send,
) -> PyResult<T> {
    finish(py, py.detach(|| guarded(kernel)))
}

/// Run a kernel that is over before another thread could profit.
pub fn brief<T>(py: Python<'_>, kernel: impl FnOnce() -> Result<T, Error>) -> PyResult<T> {
    finish(py, guarded(kernel))
}

/// What a kernel gave: a value, an error, or a panic.
pub type Outcome<T> = std::thread::Result<Result<T, Error>>;

/// Run a kernel and stop its panics.
pub fn guarded<T>(kernel: impl FnOnce() -> Result<T, Error>) -> Outcome<T> {
    catch_unwind(AssertUnwindSafe(kernel))
}

/// Turn what a kernel gave into what Python gets.
pub fn finish<T>(py: Python<'_>, result: Outcome<T>) -> PyResult<T> {
    match result {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(errors::raise(py, &error)),
        Err(panic) => Err(errors::internal(py, &said(&*panic))),
    }
}

/// What a panic said.
fn said(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}
