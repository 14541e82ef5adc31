//! Clusters of pages for the archive, found by sketches.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use quire_core::codec;
use quire_core::codec::{EMPTY, SKETCH_VALUES, Sketch};

use crate::guard::run;
use crate::similarity::packed;
use crate::templates::numbers;

/// Number of bytes in a sketch.
const SKETCH_BYTES: usize = 4 * SKETCH_VALUES;

/// Read the sketches that follow each other in `data`.
fn sketches(data: &[u8]) -> PyResult<Vec<Sketch>> {
    let (rows, rest) = data.as_chunks::<SKETCH_BYTES>();
    if !rest.is_empty() {
        return Err(PyValueError::new_err(format!(
            "sketches: found {} bytes, expected a multiple of {SKETCH_BYTES}",
            data.len()
        )));
    }
    let read = |row: &[u8; SKETCH_BYTES]| {
        let mut sketch = [EMPTY; SKETCH_VALUES];
        for (value, bytes) in sketch.iter_mut().zip(row.as_chunks::<4>().0) {
            *value = u32::from_le_bytes(*bytes);
        }
        sketch
    };
    Ok(rows.iter().map(read).collect())
}

fn one_sketch(data: &[u8]) -> PyResult<Sketch> {
    match sketches(data)?[..] {
        [sketch] => Ok(sketch),
        _ => Err(PyValueError::new_err(format!(
            "sketch: found {} bytes, expected {SKETCH_BYTES}",
            data.len()
        ))),
    }
}

/// Sketch a page for `page_clusters`: 64 numbers of 4 bytes.
#[pyfunction]
pub fn page_sketch<'py>(py: Python<'py>, page: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let sketch = run(py, || Ok(codec::page_sketch(page)))?;
    Ok(PyBytes::new(py, &packed(&sketch, u32::to_le_bytes)))
}

/// Group pages into clusters; returns the cluster of each page as 4 bytes.
#[pyfunction]
pub fn page_clusters<'py>(
    sketches: &[u8],
    lengths: &Bound<'py, PyAny>,
    hosts: &Bound<'py, PyAny>,
    base_bytes: u64,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = lengths.py();
    let sketches = self::sketches(sketches)?;
    let (lengths, hosts) = (numbers::<u64>(lengths)?, numbers::<u32>(hosts)?);
    if lengths.len() != sketches.len() || hosts.len() != sketches.len() {
        return Err(PyValueError::new_err(format!(
            "found {} lengths and {} hosts, expected {}",
            lengths.len(),
            hosts.len(),
            sketches.len()
        )));
    }
    let found = run(py, || {
        Ok(codec::page_clusters(
            &sketches, &lengths, &hosts, base_bytes,
        ))
    })?;
    Ok(PyBytes::new(py, &packed(&found, u32::to_le_bytes)))
}

/// The base of some pages, and those of them that others may depend on.
#[pyclass(frozen, module = "quire._core._native")]
pub struct Neighbours {
    kept: Mutex<codec::Neighbours>,
}

#[pymethods]
impl Neighbours {
    /// Begin with a base and no pages.
    #[new]
    fn new(py: Python<'_>, base: &[u8]) -> PyResult<Self> {
        let kept = run(py, || Ok(codec::Neighbours::new(base)))?;
        Ok(Self {
            kept: Mutex::new(kept),
        })
    }

    /// Use another base, with the same pages.
    fn set_base(&self, py: Python<'_>, base: &[u8]) -> PyResult<()> {
        run(py, || {
            self.locked().set_base(base);
            Ok(())
        })
    }

    /// Forget all pages.
    fn clear(&self) {
        self.locked().clear();
    }

    /// Add a page by its sketch; returns its number, counted from 0.
    fn add(&self, sketch: &[u8]) -> PyResult<usize> {
        let sketch = one_sketch(sketch)?;
        Ok(self.locked().add(&sketch))
    }

    /// Find the page that this one resembles more than it resembles the base, if any.
    fn nearest(&self, sketch: &[u8]) -> PyResult<Option<usize>> {
        let sketch = one_sketch(sketch)?;
        Ok(self.locked().nearest(&sketch))
    }
}

impl Neighbours {
    fn locked(&self) -> std::sync::MutexGuard<'_, codec::Neighbours> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
