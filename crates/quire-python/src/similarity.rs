//! How alike pages are.

use std::sync::Arc;

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use quire_core::similarity as kernel;
use quire_core::similarity::{
    Bag as Features, Measure, Scope, Sketch as Kept, Values, token_bins as kernel_bins,
};

use crate::buffers::Floats;
use crate::digest::Digest;
use crate::guard::{brief, run};

/// Read the name of a measure that is a bag or a set.
pub fn measure_of(name: &str) -> PyResult<Measure> {
    Measure::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = Measure::ALL.map(Measure::name).to_vec();
        PyValueError::new_err(format!(
            "measure {name:?} is not known; known are {}",
            known.join(", ")
        ))
    })
}

/// Little-endian bytes of numbers, for numpy.
pub fn packed<const N: usize, T: Copy>(values: &[T], bytes: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    let mut out = vec![0; N * values.len()];
    for (place, &value) in out.chunks_exact_mut(N).zip(values) {
        place.copy_from_slice(&bytes(value));
    }
    out
}

/// The features of a page with their counts. Immutable.
#[pyclass(frozen, module = "quire._core._native")]
pub struct Bag {
    measure: Measure,
    features: Features,
}

#[pymethods]
impl Bag {
    /// Take the features of a page, or of the parts that a selector chooses.
    #[new]
    fn new(
        py: Python<'_>,
        page: &Bound<'_, Digest>,
        measure: &str,
        nodes: Option<&str>,
    ) -> PyResult<Self> {
        let measure = measure_of(measure)?;
        let page = Arc::clone(page.get().page());
        let features = run(py, move || {
            Features::of(&page, measure, &Scope::new(&page, nodes)?)
        })?;
        Ok(Self { measure, features })
    }

    /// The name of the measure.
    #[getter]
    fn measure(&self) -> &'static str {
        self.measure.name()
    }

    /// Number of different features.
    fn __len__(&self) -> usize {
        self.features.hashes().len()
    }

    /// All occurrences together.
    #[getter]
    fn total(&self) -> u64 {
        self.features.total()
    }

    /// The features, ascending: 64 bits each, little-endian.
    fn hashes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &packed(self.features.hashes(), u64::to_le_bytes))
    }

    /// How often each occurs: 32 bits each, little-endian.
    fn counts<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &packed(self.features.counts(), u32::to_le_bytes))
    }

    /// How alike two bags are.
    fn similarity(&self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<f64> {
        let other = other.get();
        if self.measure != other.measure {
            return Err(PyValueError::new_err(format!(
                "one bag is of {}, the other of {}; they do not compare",
                self.measure.name(),
                other.measure.name()
            )));
        }
        brief(py, || {
            Ok(self.features.similarity(&other.features, self.measure))
        })
    }
}

/// How alike two pages are, or the parts of them that a selector chooses.
#[pyfunction]
pub fn similarity(
    py: Python<'_>,
    one: &Bound<'_, Digest>,
    other: &Bound<'_, Digest>,
    measure: &str,
    nodes: Option<&str>,
) -> PyResult<f64> {
    let measure = measure_of(measure)?;
    let (one, other) = (Arc::clone(one.get().page()), Arc::clone(other.get().page()));
    run(py, move || kernel::similarity(&one, &other, measure, nodes))
}

/// A feature in words, and how often each page has it.
type PyPart = (String, u32, u32);

/// What two pages share, what either has, how many features differ, and the first `most` of those.
#[pyfunction]
pub fn likeness(
    py: Python<'_>,
    one: &Bound<'_, Digest>,
    other: &Bound<'_, Digest>,
    measure: &str,
    nodes: Option<&str>,
    most: usize,
) -> PyResult<(u64, u64, usize, Vec<PyPart>)> {
    let measure = measure_of(measure)?;
    let (one, other) = (Arc::clone(one.get().page()), Arc::clone(other.get().page()));
    run(py, move || {
        let found = kernel::explain(&one, &other, measure, nodes, most)?;
        let parts = (found.parts.into_iter()).map(|part| (part.text, part.one, part.other));
        Ok((
            found.overlap.shared,
            found.overlap.all,
            found.differing,
            parts.collect(),
        ))
    })
}

/// A layer: elements of both pages, the paper's Ek, Ej and W.
type PyLayer = (u32, u32, u64, u64, f64);

/// Kang's S, its normalised form, and the layers.
#[pyfunction]
pub fn kang(
    py: Python<'_>,
    one: &Bound<'_, Digest>,
    other: &Bound<'_, Digest>,
    depth: u32,
) -> PyResult<(f64, f64, Vec<PyLayer>)> {
    let (one, other) = (Arc::clone(one.get().page()), Arc::clone(other.get().page()));
    run(py, move || {
        let found = kernel::kang(&one, &other, depth);
        let layers = (found.layers.iter())
            .map(|at| (at.one, at.other, at.changed, at.places, at.weight))
            .collect();
        Ok((found.value, found.normalised, layers))
    })
}

/// A fixed-size sample of a bag. Immutable.
#[pyclass(frozen, eq, module = "quire._core._native")]
#[derive(PartialEq)]
pub struct Sketch {
    kept: Kept,
}

#[pymethods]
impl Sketch {
    /// The name of the measure.
    #[getter]
    fn measure(&self) -> &'static str {
        self.kept.head.measure.name()
    }

    /// How many values it keeps.
    #[getter]
    fn m(&self) -> u16 {
        self.kept.head.m
    }

    /// The hash of the selector that chose the nodes; 0 for the whole page.
    #[getter]
    fn nodes(&self) -> u64 {
        self.kept.head.nodes
    }

    /// Whether it keeps the smallest of all, and not one for each bin.
    #[getter]
    fn is_bottom_k(&self) -> bool {
        matches!(self.kept.values, Values::BottomK(_))
    }

    /// The stored form.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.kept.to_bytes())
    }

    /// The sketch of both bags together.
    fn merge(&self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<Self> {
        let other = other.get();
        let kept = brief(py, || self.kept.merge(&other.kept))?;
        Ok(Self { kept })
    }

    /// How alike the bags are, estimated, and the standard error.
    fn resemblance(&self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<(f64, f64)> {
        let other = other.get();
        let found = brief(py, || self.kept.resemblance(&other.kept))?;
        Ok((found.value, found.error))
    }

    /// What two bottom-k sketches share of all values they hold.
    fn overlap(&self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<f64> {
        let other = other.get();
        brief(py, || self.kept.overlap(&other.kept))
    }
}

/// Sketch a page, or the parts that a selector chooses.
#[pyfunction]
pub fn sketch(
    py: Python<'_>,
    page: &Bound<'_, Digest>,
    measure: &str,
    m: u16,
    nodes: Option<&str>,
    is_bottom_k: bool,
) -> PyResult<Sketch> {
    let measure = measure_of(measure)?;
    let page = Arc::clone(page.get().page());
    let kept = run(py, move || {
        if is_bottom_k {
            Kept::bottom_k(&page, measure, m, nodes)
        } else {
            Kept::min_wise(&page, measure, m, nodes)
        }
    })?;
    Ok(Sketch { kept })
}

/// The bins of a min-wise sketch of `w` tokens in a row, 32 bits each.
#[pyfunction]
pub fn token_bins<'py>(
    page: &Bound<'py, Digest>,
    m: u16,
    w: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = page.py();
    let page = Arc::clone(page.get().page());
    let bins = run(py, move || kernel_bins(&page, m, w))?;
    Ok(PyBytes::new(py, &packed(&bins, u32::to_le_bytes)))
}

/// Read a stored sketch.
#[pyfunction]
pub fn sketch_from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Sketch> {
    let kept = brief(py, || Kept::from_bytes(data))?;
    Ok(Sketch { kept })
}

/// The numbers in a buffer. Copied, since another thread may write to it meanwhile.
fn numbers_in(rows: &Bound<'_, PyAny>, m: Option<usize>) -> PyResult<Vec<u32>> {
    let numbers = PyBuffer::<u32>::get(rows)?.to_vec(rows.py())?;
    match m {
        Some(m) if m == 0 || !numbers.len().is_multiple_of(m) => {
            Err(PyValueError::new_err(format!(
                "{} values are no whole number of rows of {m}",
                numbers.len()
            )))
        }
        _ => Ok(numbers),
    }
}

/// Estimates of one row of bins with many.
#[pyfunction]
pub fn resemblances(one: &Bound<'_, PyAny>, rows: &Bound<'_, PyAny>) -> PyResult<Floats> {
    let py = one.py();
    let one = numbers_in(one, None)?;
    let rows = numbers_in(rows, Some(one.len()))?;
    run(py, move || Ok(kernel::one_with_many(&one, &rows))).map(Floats::new)
}

/// Estimates of all rows of m bins with all, row by row.
#[pyfunction]
pub fn all_resemblances(rows: &Bound<'_, PyAny>, m: usize) -> PyResult<Floats> {
    let py = rows.py();
    let rows = numbers_in(rows, Some(m))?;
    let n = rows.len() / m;
    // Asked for beforehand: a square grows fast, and a kernel that gets no memory ends the process.
    let is_there = (n.checked_mul(n))
        .is_some_and(|square| Vec::<f32>::new().try_reserve_exact(square).is_ok());
    if !is_there {
        return Err(PyMemoryError::new_err(format!(
            "{n} rows have {n} times {n} estimates of 4 bytes, which is more than there is memory"
        )));
    }
    run(py, move || Ok(kernel::all_pairs(&rows, m))).map(Floats::new)
}
