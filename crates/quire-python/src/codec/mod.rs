//! The codecs of the archive: zstd with a base, dense, and template-based compression (TBC).

pub mod clusters;

use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use quire_core::codec;
use quire_core::codec::{Base as Kept, Search, choose_base_within, tbc};

use crate::guard::run;

/// The shared content that zstd compresses the pages of a cluster against. Several threads may use
/// it.
#[pyclass(frozen, module = "quire._core._native")]
pub struct Base {
    kept: Kept,
    length: usize,
}

#[pymethods]
impl Base {
    /// Prepare a base. With an empty base, pages are compressed on their own.
    #[new]
    fn new(py: Python<'_>, content: &[u8]) -> PyResult<Self> {
        let kept = run(py, || Ok(Kept::new(content)))?;
        Ok(Self {
            kept,
            length: content.len(),
        })
    }

    /// Number of bytes in the base.
    fn __len__(&self) -> usize {
        self.length
    }

    /// Compress a page.
    fn encode<'py>(
        &self,
        py: Python<'py>,
        page: &[u8],
        level: i32,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let frame = run(py, || self.kept.encode(page, level))?;
        Ok(PyBytes::new(py, &frame))
    }

    /// Compress a page by long matches only: faster, and smaller if the page repeats nearly all of
    /// a long base.
    fn encode_long<'py>(
        &self,
        py: Python<'py>,
        page: &[u8],
        level: i32,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let frame = run(py, || self.kept.encode_with(page, level, Search::Long))?;
        Ok(PyBytes::new(py, &frame))
    }

    /// Decompress a page of `length` bytes.
    fn decode<'py>(
        &self,
        py: Python<'py>,
        frame: &[u8],
        length: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let page = run(py, || self.kept.decode(frame, length))?;
        Ok(PyBytes::new(py, &page))
    }
}

/// The shared content that the dense codec compresses pages against: smaller than zstd, but slow.
/// Threads take turns.
#[pyclass(frozen, module = "quire._core._native")]
pub struct DenseBase {
    kept: codec::DenseBase,
    length: usize,
}

#[pymethods]
impl DenseBase {
    /// Learn a base; return it with the frame that [`DenseBase::open`] reads.
    #[staticmethod]
    fn create<'py>(py: Python<'py>, content: &[u8]) -> PyResult<(Self, Bound<'py, PyBytes>)> {
        let (kept, frame) = run(py, || Ok(codec::DenseBase::create(content)))?;
        let length = content.len();
        Ok((Self { kept, length }, PyBytes::new(py, &frame)))
    }

    /// Extend the base with more content; return the longer base and the frame that `open_more`
    /// reads.
    fn learn_more<'py>(
        &self,
        py: Python<'py>,
        more: &[u8],
    ) -> PyResult<(Self, Bound<'py, PyBytes>)> {
        let (kept, frame) = run(py, || Ok(self.kept.learn_more(more)))?;
        let length = self.length + more.len();
        Ok((Self { kept, length }, PyBytes::new(py, &frame)))
    }

    /// Extend the base by `length` bytes that are read from their frame.
    fn open_more(&self, py: Python<'_>, frame: &[u8], length: usize) -> PyResult<Self> {
        let kept = run(py, || self.kept.open_more(frame, length))?;
        let length = self.length + length;
        Ok(Self { kept, length })
    }

    /// Learn a base of `length` bytes from its frame.
    #[staticmethod]
    fn open(py: Python<'_>, frame: &[u8], length: usize) -> PyResult<Self> {
        let kept = run(py, || codec::DenseBase::open(frame, length))?;
        Ok(Self { kept, length })
    }

    /// Number of bytes in the base.
    fn __len__(&self) -> usize {
        self.length
    }

    /// Return the content of the base.
    fn content<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.kept.base())
    }

    /// Compress a page.
    fn encode<'py>(&self, py: Python<'py>, page: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let frame = run(py, || Ok(self.kept.encode(page)))?;
        Ok(PyBytes::new(py, &frame))
    }

    /// Decompress a page of `length` bytes.
    fn decode<'py>(
        &self,
        py: Python<'py>,
        frame: &[u8],
        length: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let page = run(py, || self.kept.decode(frame, length))?;
        Ok(PyBytes::new(py, &page))
    }
}

/// Choose the pages of a cluster that cover most of the content the others repeat, most useful
/// first.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // Python passes a list, which arrives as a `Vec`
pub fn choose_base(
    py: Python<'_>,
    pages: Vec<Bound<'_, PyBytes>>,
    most: usize,
    max_bytes: usize,
    known: &[u8],
) -> PyResult<Vec<usize>> {
    let bytes: Vec<&[u8]> = pages.iter().map(PyBytesMethods::as_bytes).collect();
    run(py, || {
        Ok(choose_base_within(&bytes, most, max_bytes, known))
    })
}

/// Tokens of the reference and of the page, tokens left after the filter, number of edits, and
/// whether that number is minimal.
type Steps = (usize, usize, usize, usize, usize, bool);

fn counts(steps: &tbc::Steps) -> Steps {
    (
        steps.tokens.0,
        steps.tokens.1,
        steps.kept.0,
        steps.kept.1,
        steps.edits,
        steps.is_shortest,
    )
}

/// Nanoseconds spent on tokenizing, on filtering, on the shortest script, and on merging and
/// writing.
type Spent = (u64, u64, u64, u64);

fn nanoseconds(spent: &tbc::Spent) -> Spent {
    let of = |step: Duration| step.as_nanos() as u64;
    (
        of(spent.cut),
        of(spent.filter),
        of(spent.myers),
        of(spent.merge),
    )
}

/// A page that other pages are stored against as deltas, as in paper 003. Several threads may use
/// it.
#[pyclass(frozen, module = "quire._core._native")]
pub struct TbcReference {
    kept: tbc::Reference<Vec<u8>>,
}

#[pymethods]
impl TbcReference {
    /// Tokenize a page for a filter with a window of `window` tokens.
    #[new]
    fn new(py: Python<'_>, content: &[u8], window: usize) -> PyResult<Self> {
        let kept = run(py, || Ok(tbc::Reference::new(content.to_vec(), window)))?;
        Ok(Self { kept })
    }

    /// Nanoseconds it took to prepare the reference, by step.
    #[getter]
    fn nanoseconds(&self) -> Spent {
        nanoseconds(&self.kept.spent)
    }

    /// Return the delta of a page, the counts of each step, and the time each step took.
    fn delta<'py>(
        &self,
        py: Python<'py>,
        page: &[u8],
    ) -> PyResult<(Bound<'py, PyBytes>, Steps, Spent)> {
        let (delta, steps, spent) = run(py, || Ok(self.kept.delta(page)))?;
        Ok((
            PyBytes::new(py, &delta),
            counts(&steps),
            nanoseconds(&spent),
        ))
    }
}

/// Return the delta of a page against a reference, as in paper 003, and the counts of each step.
#[pyfunction]
pub fn tbc_delta<'py>(
    py: Python<'py>,
    reference: &[u8],
    page: &[u8],
    window: usize,
) -> PyResult<(Bound<'py, PyBytes>, Steps)> {
    let (delta, steps) = run(py, || Ok(tbc::delta(reference, page, window)))?;
    Ok((PyBytes::new(py, &delta), counts(&steps)))
}

/// Rebuild a page of `length` bytes from a reference and a delta.
#[pyfunction]
pub fn tbc_apply<'py>(
    py: Python<'py>,
    reference: &[u8],
    delta: &[u8],
    length: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let page = run(py, || tbc::apply(reference, delta, length))?;
    Ok(PyBytes::new(py, &page))
}
