//! Similarity of pages: bags of features, sketches and estimates.

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
use crate::guard::{READING, brief, run};
use quire_core::memory::hold;

/// The structure of pages with fewer nodes together is compared in a few microseconds: too short
/// for other threads to benefit.
const FEW_NODES: usize = 10_000;

/// Read the name of a measure.
pub fn measure_of(name: &str) -> PyResult<Measure> {
    Measure::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = Measure::ALL.map(Measure::name).to_vec();
        PyValueError::new_err(format!(
            "unknown measure {name:?}; expected one of {}",
            known.join(", ")
        ))
    })
}

/// Return numbers as little-endian bytes, for numpy.
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
    /// Collect the features of a page, or of the parts that a selector chooses.
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
            let _held = hold(page.memory_for(READING))?;
            Features::of(&page, measure, &Scope::new(&page, nodes)?)
        })?;
        Ok(Self { measure, features })
    }

    /// Name of the measure.
    #[getter]
    fn measure(&self) -> &'static str {
        self.measure.name()
    }

    /// Number of distinct features.
    fn __len__(&self) -> usize {
        self.features.hashes().len()
    }

    /// Number of features, counting repeats.
    #[getter]
    fn total(&self) -> u64 {
        self.features.total()
    }

    /// Return the features in ascending order, 64 bits each, little-endian.
    fn hashes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &packed(self.features.hashes(), u64::to_le_bytes))
    }

    /// Return how often each feature occurs, 32 bits each, little-endian.
    fn counts<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &packed(self.features.counts(), u32::to_le_bytes))
    }

    /// Return the similarity of two bags, from 0 to 1.
    fn similarity(&self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<f64> {
        let other = other.get();
        if self.measure != other.measure {
            return Err(PyValueError::new_err(format!(
                "cannot compare a bag of {} with a bag of {}",
                self.measure.name(),
                other.measure.name()
            )));
        }
        brief(py, || {
            Ok(self.features.similarity(&other.features, self.measure))
        })
    }
}

/// Return the similarity of two pages, or of the parts that a selector chooses, from 0 to 1.
#[pyfunction]
pub fn similarity(
    py: Python<'_>,
    one: &Bound<'_, Digest>,
    other: &Bound<'_, Digest>,
    measure: &str,
    nodes: Option<&str>,
) -> PyResult<f64> {
    let measure = measure_of(measure)?;
    let (one, other) = (one.get().page(), other.get().page());
    if measure == Measure::Structure && nodes.is_none() && one.n() + other.n() < FEW_NODES {
        return brief(py, || kernel::similarity(one, other, measure, nodes));
    }
    let (one, other) = (Arc::clone(one), Arc::clone(other));
    run(py, move || {
        let _held = hold(one.memory_for(READING) + other.memory_for(READING))?;
        kernel::similarity(&one, &other, measure, nodes)
    })
}

/// A feature as readable text, and its count on each page.
type PyPart = (String, u32, u32);

/// Compare two pages in detail: features in both, features in either, number of features that
/// differ, and the first `most` of those.
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
        let _held = hold(one.memory_for(READING) + other.memory_for(READING))?;
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

/// A layer: elements of both pages, and the paper's Ek, Ej and W.
type PyLayer = (u32, u32, u64, u64, f64);

/// Return Kang's S, its normalised form, and the layers.
#[pyfunction]
pub fn kang(
    py: Python<'_>,
    one: &Bound<'_, Digest>,
    other: &Bound<'_, Digest>,
    depth: u32,
) -> PyResult<(f64, f64, Vec<PyLayer>)> {
    let (one, other) = (Arc::clone(one.get().page()), Arc::clone(other.get().page()));
    run(py, move || {
        let _held = hold(one.memory_for(READING) + other.memory_for(READING))?;
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
    /// Name of the measure.
    #[getter]
    fn measure(&self) -> &'static str {
        self.kept.head.measure.name()
    }

    /// Maximum number of values in the sketch.
    #[getter]
    fn m(&self) -> u16 {
        self.kept.head.m
    }

    /// Hash of the selector that chose the nodes; 0 for the whole page.
    #[getter]
    fn nodes(&self) -> u64 {
        self.kept.head.nodes
    }

    /// Whether this is a bottom-k sketch (the smallest values) instead of a min-wise one (one value
    /// per bin).
    #[getter]
    fn is_bottom_k(&self) -> bool {
        matches!(self.kept.values, Values::BottomK(_))
    }

    /// Return the stored form.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.kept.to_bytes())
    }

    /// Return the sketch of both bags together.
    fn merge(&self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<Self> {
        let other = other.get();
        let kept = brief(py, || self.kept.merge(&other.kept))?;
        Ok(Self { kept })
    }

    /// Estimate the similarity of the two bags; return it with its standard error.
    fn resemblance(&self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<(f64, f64)> {
        let other = other.get();
        let found = brief(py, || self.kept.resemblance(&other.kept))?;
        Ok((found.value, found.error))
    }

    /// Return the share of values that two bottom-k sketches have in common, of all their values.
    fn overlap(&self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<f64> {
        let other = other.get();
        brief(py, || self.kept.overlap(&other.kept))
    }
}

/// Make the sketch of a page, or of the parts that a selector chooses.
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
        let _held = hold(page.memory_for(READING))?;
        if is_bottom_k {
            Kept::bottom_k(&page, measure, m, nodes)
        } else {
            Kept::min_wise(&page, measure, m, nodes)
        }
    })?;
    Ok(Sketch { kept })
}

/// Return the bins of a min-wise sketch over sequences of `w` tokens, 32 bits each.
#[pyfunction]
pub fn token_bins<'py>(
    page: &Bound<'py, Digest>,
    m: u16,
    w: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = page.py();
    let page = Arc::clone(page.get().page());
    let bins = run(py, move || {
        let _held = hold(page.memory_for(READING))?;
        kernel_bins(&page, m, w)
    })?;
    Ok(PyBytes::new(py, &packed(&bins, u32::to_le_bytes)))
}

/// Read a stored sketch.
#[pyfunction]
pub fn sketch_from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Sketch> {
    let kept = brief(py, || Kept::from_bytes(data))?;
    Ok(Sketch { kept })
}

/// Copy the numbers out of a buffer, since another thread may write to it meanwhile.
fn numbers_in(rows: &Bound<'_, PyAny>, m: Option<usize>) -> PyResult<Vec<u32>> {
    let numbers = PyBuffer::<u32>::get(rows)?.to_vec(rows.py())?;
    match m {
        Some(m) if m == 0 || !numbers.len().is_multiple_of(m) => Err(PyValueError::new_err(
            format!("{} values cannot be split into rows of {m}", numbers.len()),
        )),
        _ => Ok(numbers),
    }
}

/// Estimate the similarity of one row of bins to each of many rows.
#[pyfunction]
pub fn resemblances(one: &Bound<'_, PyAny>, rows: &Bound<'_, PyAny>) -> PyResult<Floats> {
    let py = one.py();
    let one = numbers_in(one, None)?;
    let rows = numbers_in(rows, Some(one.len()))?;
    run(py, move || Ok(kernel::one_with_many(&one, &rows))).map(Floats::new)
}

/// Estimate the similarity of all rows of m bins to all rows, row by row.
#[pyfunction]
pub fn all_resemblances(rows: &Bound<'_, PyAny>, m: usize) -> PyResult<Floats> {
    let py = rows.py();
    let rows = numbers_in(rows, Some(m))?;
    let n = rows.len() / m;
    // Reserved beforehand: n times n grows fast, and a kernel that runs out of memory ends the
    // process.
    let is_there = (n.checked_mul(n))
        .is_some_and(|square| Vec::<f32>::new().try_reserve_exact(square).is_ok());
    if !is_there {
        return Err(PyMemoryError::new_err(format!(
            "not enough memory for {n} times {n} estimates of 4 bytes"
        )));
    }
    run(py, move || Ok(kernel::all_pairs(&rows, m))).map(Floats::new)
}
