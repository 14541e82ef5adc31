//! Groups of pages made from the same template.

use std::sync::Arc;

use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use quire_core::hash;
use quire_core::memory::hold;
use quire_core::similarity::templates::{Bags as Kept, Likeness, Link, Settings};
use quire_core::similarity::{Bag as Features, Scope, templates as kernel};

use crate::digest::Digest;
use crate::guard::{READING, UNPACKING, run};
use crate::similarity::{measure_of, packed};

/// Copy the numbers out of a buffer, since another thread may write to it meanwhile.
pub fn numbers<T: Element + Copy>(buffer: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    PyBuffer::<T>::get(buffer)?.to_vec(buffer.py())
}

fn check_length(what: &str, found: usize, expected: usize) -> PyResult<()> {
    if found == expected {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "{what}: found {found} values, expected {expected}"
    )))
}

fn check_below(what: &str, values: &[u32], n: usize) -> PyResult<()> {
    match values.iter().find(|&&value| value as usize >= n) {
        None => Ok(()),
        Some(value) => Err(PyValueError::new_err(format!(
            "{what} {value} does not exist; the limit is {n}"
        ))),
    }
}

/// Bags of many pages. Immutable.
#[pyclass(frozen, module = "quire._core._native")]
pub struct Bags {
    kept: Kept,
}

#[pymethods]
impl Bags {
    /// Collect the features of pages.
    #[staticmethod]
    #[allow(clippy::needless_pass_by_value)] // Python passes a list, which arrives as a `Vec`
    fn of_pages(py: Python<'_>, pages: Vec<Bound<'_, Digest>>, measure: &str) -> PyResult<Self> {
        let measure = measure_of(measure)?;
        let pages: Vec<_> = (pages.iter())
            .map(|page| Arc::clone(page.get().page()))
            .collect();
        let kept = run(py, move || {
            let mut bags = Kept::default();
            for page in &pages {
                let _held = hold(page.memory_for(READING))?;
                let bag = Features::of(page, measure, &Scope::new(page, None)?)?;
                bags.push(&bag, measure);
            }
            Ok(bags)
        })?;
        Ok(Self { kept })
    }

    /// Read packed bags that follow each other in `data`; `offsets` are their borders.
    #[staticmethod]
    fn from_packed(data: &Bound<'_, PyAny>, offsets: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = data.py();
        let bytes = numbers::<u8>(data)?;
        let offsets = numbers::<i64>(offsets)?;
        let are_fine = offsets.is_sorted()
            && offsets.first().is_none_or(|&first| first >= 0)
            && (offsets.last()).is_none_or(|&last| last as u64 <= bytes.len() as u64);
        if !are_fine {
            return Err(PyValueError::new_err(
                "offsets of packed bags must be ascending and within the bytes",
            ));
        }
        let kept = run(py, move || {
            let _held = hold(UNPACKING * bytes.len() as u64)?;
            let mut bags = Kept::default();
            for ends in offsets.windows(2) {
                bags.push_packed(&bytes[ends[0] as usize..ends[1] as usize])?;
            }
            Ok(bags)
        })?;
        Ok(Self { kept })
    }

    /// Number of bags.
    fn __len__(&self) -> usize {
        self.kept.len()
    }

    /// Return one bag in its packed form.
    fn packed<'py>(&self, py: Python<'py>, at: usize) -> PyResult<Bound<'py, PyBytes>> {
        check_below("bag", &[at as u32], self.kept.len())?;
        Ok(PyBytes::new(py, &self.kept.packed(at)))
    }

    /// Return the number of features of each bag, counting repeats; 64 bits each, little-endian.
    fn totals<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let totals: Vec<u64> = (0..self.kept.len()).map(|at| self.kept.total(at)).collect();
        PyBytes::new(py, &packed(&totals, u64::to_le_bytes))
    }

    /// Compare bags of this list with bags of another, pair by pair; return containment and
    /// resemblance as 64-bit floats.
    fn likenesses<'py>(
        &self,
        py: Python<'py>,
        places: &Bound<'py, PyAny>,
        others: &Bound<'py, Self>,
        other_places: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
        let (ours, theirs) = (numbers::<u32>(places)?, numbers::<u32>(other_places)?);
        let others = others.get();
        check_length("the other side", theirs.len(), ours.len())?;
        check_below("bag", &ours, self.kept.len())?;
        check_below("bag", &theirs, others.kept.len())?;
        let found: Vec<Likeness> = run(py, || {
            let pairs = ours.iter().zip(&theirs);
            Ok(pairs
                .map(|(&one, &other)| {
                    self.kept
                        .likeness(one as usize, &others.kept, other as usize)
                })
                .collect())
        })?;
        let column =
            |of: fn(Likeness) -> f64| PyBytes::new(py, &packed(&found, |at| of(at).to_le_bytes()));
        Ok((column(|at| at.contained), column(|at| at.resemblance)))
    }

    /// Of the given bags, return the one most similar to the others.
    fn medoid(&self, py: Python<'_>, of: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
        let of = numbers::<u32>(of)?;
        check_below("bag", &of, self.kept.len())?;
        let of: Vec<usize> = of.into_iter().map(|at| at as usize).collect();
        run(py, || Ok(kernel::medoid(&self.kept, &of)))
    }
}

/// Return the XXH3 hash of bytes; identifies a name.
#[pyfunction]
pub fn hash64(data: &[u8]) -> u64 {
    hash::hash64(data)
}

/// Return the 128-bit XXH3 hash of bytes, little-endian: the signature of a source.
#[pyfunction]
pub fn hash128<'py>(py: Python<'py>, data: &[u8]) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &hash::hash128(data).to_le_bytes())
}

type TwoColumns<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// Link pages with the hubs of their keys: two columns of 64-bit numbers.
#[pyfunction]
pub fn hubs<'py>(
    py: Python<'py>,
    keys: &Bound<'py, PyAny>,
    pages: &Bound<'py, PyAny>,
    sizes: &Bound<'py, PyAny>,
) -> PyResult<TwoColumns<'py>> {
    let (keys, pages) = (numbers::<u64>(keys)?, numbers::<u64>(pages)?);
    let sizes = numbers::<u32>(sizes)?;
    check_length("pages", pages.len(), keys.len())?;
    check_length("sizes", sizes.len(), keys.len())?;
    let (linked, found) = run(py, move || Ok(kernel::hubs(&keys, &pages, &sizes)))?;
    Ok((bytes_of(py, &linked), bytes_of(py, &found)))
}

/// Keep the hubs that pages were linked with most often: two columns of 64-bit numbers.
#[pyfunction]
pub fn most_met<'py>(
    py: Python<'py>,
    pages: &Bound<'py, PyAny>,
    hubs: &Bound<'py, PyAny>,
    most: usize,
) -> PyResult<TwoColumns<'py>> {
    let (pages, hubs) = (numbers::<u64>(pages)?, numbers::<u64>(hubs)?);
    check_length("hubs", hubs.len(), pages.len())?;
    let (kept, found) = run(py, move || Ok(kernel::most_met(&pages, &hubs, most)))?;
    Ok((bytes_of(py, &kept), bytes_of(py, &found)))
}

fn bytes_of<'py>(py: Python<'py>, values: &[u64]) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &packed(values, u64::to_le_bytes))
}

/// Read links from their columns: page, hub, contained, resemblance.
fn links_of(n: usize, columns: &Bound<'_, PyTuple>) -> PyResult<Vec<Link>> {
    let column = |at| columns.get_item(at);
    let (pages, hubs) = (numbers::<u32>(&column(0)?)?, numbers::<u32>(&column(1)?)?);
    let (contained, resemblance) = (numbers::<f64>(&column(2)?)?, numbers::<f64>(&column(3)?)?);
    check_length("hubs", hubs.len(), pages.len())?;
    check_length("contained", contained.len(), pages.len())?;
    check_length("resemblance", resemblance.len(), pages.len())?;
    check_below("page", &pages, n)?;
    check_below("page", &hubs, n)?;
    Ok((0..pages.len())
        .map(|at| Link {
            page: pages[at],
            hub: hubs[at],
            likeness: Likeness {
                contained: contained[at],
                resemblance: resemblance[at],
            },
        })
        .collect())
}

/// Assign each of n pages to its best hub; return the smallest page number of each page's group, 32
/// bits each.
#[pyfunction]
pub fn stars<'py>(
    py: Python<'py>,
    n: usize,
    links: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyBytes>> {
    let links = links_of(n, links)?;
    let found = run(py, move || Ok(kernel::stars(n, &links)))?;
    Ok(PyBytes::new(py, &packed(&found, u32::to_le_bytes)))
}

/// Choose the pages that represent their groups; return their numbers in ascending order, 32 bits
/// each.
#[pyfunction]
pub fn sample_groups<'py>(
    py: Python<'py>,
    of: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyBytes>> {
    let of = numbers::<u32>(of)?;
    let found = run(py, move || Ok(kernel::sample(&of)))?;
    Ok(PyBytes::new(py, &packed(&found, u32::to_le_bytes)))
}

/// Merge groups along links, by size; return the smallest page number of each page's group, 32 bits
/// each.
#[pyfunction]
pub fn merge_groups<'py>(
    py: Python<'py>,
    of: &Bound<'py, PyAny>,
    links: &Bound<'py, PyTuple>,
    sampled: &Bound<'py, PyAny>,
    bags: &Bound<'py, Bags>,
    threshold: f64,
) -> PyResult<Bound<'py, PyBytes>> {
    let of = numbers::<u32>(of)?;
    let links = links_of(of.len(), links)?;
    let sampled = numbers::<u32>(sampled)?;
    check_below("group", &of, of.len())?;
    check_below("page", &sampled, of.len())?;
    let bags = bags.get();
    check_length("bags", bags.kept.len(), sampled.len())?;
    let found = run(py, || {
        Ok(kernel::merge(&of, &links, &sampled, &bags.kept, threshold))
    })?;
    Ok(PyBytes::new(py, &packed(&found, u32::to_le_bytes)))
}

/// Cluster rows of m bins as in paper 003; return the row of each one's template, or -1, 32 bits
/// each.
#[pyfunction]
pub fn random_sampling<'py>(
    rows: &Bound<'py, PyAny>,
    m: usize,
    k: usize,
    threshold: f32,
    seed: u64,
    patience: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = rows.py();
    let rows = numbers::<u32>(rows)?;
    if m == 0 || !rows.len().is_multiple_of(m) {
        return Err(PyValueError::new_err(format!(
            "{} values cannot be split into rows of {m}",
            rows.len()
        )));
    }
    let settings = Settings {
        k,
        threshold,
        seed,
        patience,
    };
    let found = run(py, move || Ok(kernel::cluster(&rows, m, &settings)))?;
    let numbers = packed(&found, |template| {
        template.map_or(-1, |row| row as i32).to_le_bytes()
    });
    Ok(PyBytes::new(py, &numbers))
}
