//! Memory shared between Rust and Python: columns out, mapped files in.
//!
//! All `unsafe` code of the project is in this file and in the `__getbuffer__` methods that call
//! it. It relies on two promises: memory lent to Python does not move or change while it is lent,
//! and mapped files do not change either.

use std::ffi::c_int;
use std::fs::File;
use std::ops::Deref;
use std::sync::Arc;

use memmap2::MmapOptions;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use quire_core::{Buffer, Digest};

/// Lend `bytes` to Python, read-only, for as long as `owner` lives.
///
/// # Safety
///
/// `view` must come from the interpreter, and `bytes` must be owned by `owner`, stay where they are
/// and not change until `owner` is dropped.
pub unsafe fn lend(
    owner: &Bound<'_, PyAny>,
    bytes: *const u8,
    length: usize,
    view: *mut ffi::Py_buffer,
    flags: c_int,
) -> PyResult<()> {
    let length = ffi::Py_ssize_t::try_from(length)
        .map_err(|_| PyBufferError::new_err("the column is too long for a buffer"))?;
    let py = owner.py();
    // SAFETY: the interpreter fills its own structure, takes a reference to `owner` and refuses
    // requests to write, because of the 1 for "read-only".
    let result = unsafe {
        ffi::PyBuffer_FillInfo(
            view,
            owner.as_ptr(),
            bytes.cast_mut().cast(),
            length,
            1,
            flags,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(PyErr::fetch(py))
    }
}

/// One of the derived columns.
#[derive(Clone, Copy)]
pub enum Column {
    /// Parent of each node.
    Parent,
    /// Depth of each node.
    Depth,
    /// Size of each subtree.
    Size,
}

/// A derived column as a read-only buffer of 32-bit integers, in native byte order.
#[pyclass(frozen, module = "quire._core._native")]
pub struct Navigation {
    digest: Arc<Digest>,
    column: Column,
}

impl Navigation {
    /// Lend a column of `digest`. Its navigation columns must already be derived.
    pub fn new(digest: Arc<Digest>, column: Column) -> Self {
        Self { digest, column }
    }

    fn values(&self) -> &[u32] {
        let derived = self.digest.derived();
        match self.column {
            // The root's parent is all ones, which reads as -1 in signed integers.
            Column::Parent => &derived.parent,
            Column::Depth => &derived.depth,
            Column::Size => &derived.size,
        }
    }
}

#[pymethods]
impl Navigation {
    unsafe fn __getbuffer__(
        slf: &Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let values = slf.get().values();
        let (start, length) = (values.as_ptr().cast::<u8>(), size_of_val(values));
        // SAFETY: the values belong to the digest, which this frozen object keeps alive and which
        // never changes its derived columns; any bytes of a `u32` may be read as bytes.
        unsafe { lend(slf, start, length, view, flags) }
    }
}

/// Results of a kernel as a read-only buffer of 32-bit floats, in native byte order.
#[pyclass(frozen, module = "quire._core._native")]
pub struct Floats {
    values: Vec<f32>,
}

impl Floats {
    /// Take over the results of a kernel.
    pub fn new(values: Vec<f32>) -> Self {
        Self { values }
    }
}

#[pymethods]
impl Floats {
    unsafe fn __getbuffer__(
        slf: &Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let values = &slf.get().values[..];
        let (start, length) = (values.as_ptr().cast::<u8>(), size_of_val(values));
        // SAFETY: the values are owned by this frozen object, which never changes them; any bytes
        // of an `f32` may be read as bytes.
        unsafe { lend(slf, start, length, view, flags) }
    }
}

/// Map a file from its first byte. The map outlives the file descriptor.
pub fn map(file: &File, length: u64) -> std::io::Result<Buffer> {
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    // SAFETY: the map is private to this crate and never written to. Another process could write to
    // the file or truncate it; the documentation of `quire.load` forbids that, and `save` never
    // does it: it writes a new file and renames it. The same holds for every reader of mapped
    // files.
    let map = unsafe { MmapOptions::new().len(length).map(file) }?;
    Ok(Box::new(map))
}

/// Bytes that Python owns and cannot change.
pub struct Owned<T>(pub T);

impl<T: Deref<Target = [u8]>> AsRef<[u8]> for Owned<T> {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}
