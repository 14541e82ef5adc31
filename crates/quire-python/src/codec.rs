//! Codecs of the archive.

use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use quire_core::codec;
use quire_core::codec::{Base as Kept, choose_base_within, tbc};

use crate::guard::run;

/// What pages of a cluster are written against, with zstd. Threads may share it.
#[pyclass(frozen, module = "quire._core._native")]
pub struct Base {
    kept: Kept,
    length: usize,
}

#[pymethods]
impl Base {
    /// Prepare a base; empty, and pages stand alone.
    #[new]
    fn new(py: Python<'_>, content: &[u8]) -> PyResult<Self> {
        let kept = run(py, || Ok(Kept::new(content)))?;
        Ok(Self {
            kept,
            length: content.len(),
        })
    }

    /// How many bytes it has.
    fn __len__(&self) -> usize {
        self.length
    }

    /// Write a page.
    fn encode<'py>(
        &self,
        py: Python<'py>,
        page: &[u8],
        level: i32,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let frame = run(py, || self.kept.encode(page, level))?;
        Ok(PyBytes::new(py, &frame))
    }

    /// Read a page of so many bytes.
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

/// What pages of a cluster are written against, slowly and smaller. Threads wait for each other.
#[pyclass(frozen, module = "quire._core._native")]
pub struct DenseBase {
    kept: codec::DenseBase,
    length: usize,
}

#[pymethods]
impl DenseBase {
    /// Learn a base, and give the frame that it is opened from.
    #[staticmethod]
    fn create<'py>(py: Python<'py>, content: &[u8]) -> PyResult<(Self, Bound<'py, PyBytes>)> {
        let (kept, frame) = run(py, || Ok(codec::DenseBase::create(content)))?;
        let length = content.len();
        Ok((Self { kept, length }, PyBytes::new(py, &frame)))
    }

    /// Learn more on top of it: the longer base, and the frame that it is opened from.
    fn learn_more<'py>(
        &self,
        py: Python<'py>,
        more: &[u8],
    ) -> PyResult<(Self, Bound<'py, PyBytes>)> {
        let (kept, frame) = run(py, || Ok(self.kept.learn_more(more)))?;
        let length = self.length + more.len();
        Ok((Self { kept, length }, PyBytes::new(py, &frame)))
    }

    /// Learn so many bytes more from their frame.
    fn open_more(&self, py: Python<'_>, frame: &[u8], length: usize) -> PyResult<Self> {
        let kept = run(py, || self.kept.open_more(frame, length))?;
        let length = self.length + length;
        Ok(Self { kept, length })
    }

    /// Learn a base of so many bytes from its frame.
    #[staticmethod]
    fn open(py: Python<'_>, frame: &[u8], length: usize) -> PyResult<Self> {
        let kept = run(py, || codec::DenseBase::open(frame, length))?;
        Ok(Self { kept, length })
    }

    /// How many bytes it has.
    fn __len__(&self) -> usize {
        self.length
    }

    /// The base itself.
    fn content<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.kept.base())
    }

    /// Write a page.
    fn encode<'py>(&self, py: Python<'py>, page: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let frame = run(py, || Ok(self.kept.encode(page)))?;
        Ok(PyBytes::new(py, &frame))
    }

    /// Read a page of so many bytes.
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

/// Choose the pages of a cluster that hold what the others repeat, most useful first.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // what Python gives is a list, and a list is a `Vec`
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

/// Tokens of reference and page, tokens left by the filter, edits, and whether they are the fewest.
type Steps = (usize, usize, usize, usize, usize, bool);

fn told(steps: &tbc::Steps) -> Steps {
    (
        steps.tokens.0,
        steps.tokens.1,
        steps.kept.0,
        steps.kept.1,
        steps.edits,
        steps.is_shortest,
    )
}

/// Nanoseconds to cut, to filter, for the shortest script, and to merge and write.
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

/// A page that others are written against, as paper 003 does. Threads may share it.
#[pyclass(frozen, module = "quire._core._native")]
pub struct TbcReference {
    kept: tbc::Reference<Vec<u8>>,
}

#[pymethods]
impl TbcReference {
    /// Cut a page, for a filter with a window of so many tokens.
    #[new]
    fn new(py: Python<'_>, content: &[u8], window: usize) -> PyResult<Self> {
        let kept = run(py, || Ok(tbc::Reference::new(content.to_vec(), window)))?;
        Ok(Self { kept })
    }

    /// How long it took to make it, by step.
    #[getter]
    fn nanoseconds(&self) -> Spent {
        nanoseconds(&self.kept.spent)
    }

    /// The delta of a page, how the steps went, and how long they took.
    fn delta<'py>(
        &self,
        py: Python<'py>,
        page: &[u8],
    ) -> PyResult<(Bound<'py, PyBytes>, Steps, Spent)> {
        let (delta, steps, spent) = run(py, || Ok(self.kept.delta(page)))?;
        Ok((PyBytes::new(py, &delta), told(&steps), nanoseconds(&spent)))
    }
}

/// The delta of a page against another, as paper 003 makes it.
#[pyfunction]
pub fn tbc_delta<'py>(
    py: Python<'py>,
    reference: &[u8],
    page: &[u8],
    window: usize,
) -> PyResult<(Bound<'py, PyBytes>, Steps)> {
    let (delta, steps) = run(py, || Ok(tbc::delta(reference, page, window)))?;
    Ok((PyBytes::new(py, &delta), told(&steps)))
}

/// Make the page of so many bytes out of a reference and a delta.
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
