//! The parts that pages share: AF trees, shingles and pools of parts.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use quire_core::fragments as kernel;
use quire_core::fragments::{
    AfTree as Tree, Estimate, Likeness, Packer, Pool, Row, Rows, Shingling, Windows, groups,
};
use quire_core::memory::hold;

use crate::digest::Digest;
use crate::guard::{PARTING, READING, UNPACKING, brief, run};
use crate::similarity::packed;
use crate::templates::numbers;

type Columns<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>);

fn shingling(window: usize, sample: usize, bits: u32) -> PyResult<Shingling> {
    let how = Shingling {
        window,
        sample,
        bits,
    };
    (how.fault()).map_or(Ok(how), |fault| Err(PyValueError::new_err(fault)))
}

fn narrow<'py>(py: Python<'py>, values: &[u32]) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &packed(values, u32::to_le_bytes))
}

fn wide<'py>(py: Python<'py>, values: &[u64]) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &packed(values, u64::to_le_bytes))
}

type PyShingles<'py> = (
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
    u64,
    u64,
);

/// The AF tree of a page. Immutable.
#[pyclass(frozen, module = "quire._core._native")]
pub struct AfTree {
    tree: Tree,
}

#[pymethods]
impl AfTree {
    /// Build the AF tree of a page without tags of these names; with or without chains of only
    /// children.
    #[new]
    #[allow(clippy::needless_pass_by_value)] // Python passes a list, which arrives as a `Vec`
    fn new(
        py: Python<'_>,
        page: &Bound<'_, Digest>,
        formatting: Vec<String>,
        chains: bool,
    ) -> PyResult<Self> {
        let page = Arc::clone(page.get().page());
        let tree = run(py, move || {
            let _held = hold(page.memory_for(PARTING))?;
            Tree::of(&page, &formatting, chains)
        })?;
        Ok(Self { tree })
    }

    /// Number of nodes.
    fn __len__(&self) -> usize {
        self.tree.n()
    }

    /// Return the value of node 0.
    fn text<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.tree.text)
    }

    /// Number of page nodes that were left out, by reason: formatting, blank, joined, chained.
    #[getter]
    fn pruned(&self) -> (u32, u32, u32, u32) {
        let pruned = self.tree.pruned;
        (
            pruned.formatting,
            pruned.blank,
            pruned.joined,
            pruned.chained,
        )
    }

    /// Return a column as 32-bit numbers, or 64-bit hashes; little-endian. Columns about the source
    /// may be empty.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
        let tree = &self.tree;
        let column = match name {
            "node" => &tree.node,
            "node_end" => &tree.node_end,
            "parent" => &tree.parent,
            "depth" => &tree.depth,
            "index" => &tree.index,
            "size" => &tree.shape.size,
            "value_start" => &tree.shape.value_start,
            "value_end" => &tree.shape.value_end,
            "byte_start" => &tree.byte_start,
            "byte_end" => &tree.byte_end,
            "value_hash" => return Ok(wide(py, &tree.value_hash)),
            "source_hash" => return Ok(wide(py, &tree.source_hash)),
            _ => {
                return Err(PyKeyError::new_err(format!(
                    "unknown column {name:?} of an AF tree"
                )));
            }
        };
        Ok(narrow(py, column))
    }

    /// Return the shingles of all nodes, by folding or node by node (`direct`): where each node's
    /// shingles begin and end (64 bits), all shingles (32 bits), the number of hashes computed, and
    /// the nanoseconds it took.
    fn shingles<'py>(
        &self,
        py: Python<'py>,
        window: usize,
        sample: usize,
        bits: u32,
        direct: bool,
    ) -> PyResult<PyShingles<'py>> {
        let how = shingling(window, sample, bits)?;
        let tree = &self.tree;
        let (found, took) = run(py, || {
            let nodes = PARTING * tree.n() as u64;
            let _held = hold(nodes + UNPACKING * tree.text.len() as u64)?;
            let method = if direct { kernel::direct } else { kernel::hish };
            let start = Instant::now();
            Ok((method(&tree.shape, &tree.text, how), start.elapsed()))
        })?;
        Ok((
            wide(py, &found.starts),
            wide(py, &found.ends),
            narrow(py, &found.values),
            found.hashes,
            took.as_nanos() as u64,
        ))
    }
}

/// Return the hashes of all windows over the bytes, in order, 32 bits each. Bytes shorter than a
/// window have one hash over all of them.
#[pyfunction]
pub fn window_hashes<'py>(
    py: Python<'py>,
    data: &[u8],
    window: usize,
    bits: u32,
) -> PyResult<Bound<'py, PyBytes>> {
    let how = shingling(window, 1, bits)?;
    let windows = Windows::new(how.window, how.bits);
    let mut found = Vec::new();
    if data.len() < window {
        found.extend((!data.is_empty()).then(|| windows.short(data, 0, data.len())));
    } else {
        windows.hash(data, &mut found);
    }
    Ok(narrow(py, &found))
}

type PyRows<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// Pair texts of two versions that resemble each other; return the rows of the old and of the new
/// version, 32 bits each.
///
/// Each version has three buffers of 32-bit numbers: the shingles of its texts, the end of each
/// text among the shingles, and the position of each text.
#[pyfunction]
pub fn pair_alike<'py>(
    py: Python<'py>,
    old: PyRows<'py>,
    new: PyRows<'py>,
    min_overlap: f64,
    most: usize,
) -> PyResult<Columns<'py>> {
    let columns = |rows: PyRows<'py>| {
        PyResult::Ok((
            numbers::<u32>(&rows.0)?,
            numbers::<u32>(&rows.1)?,
            numbers::<u32>(&rows.2)?,
        ))
    };
    let (old, new) = (columns(old)?, columns(new)?);
    let old = Rows {
        values: &old.0,
        ends: &old.1,
        places: &old.2,
    };
    let new = Rows {
        values: &new.0,
        ends: &new.1,
        places: &new.2,
    };
    if let Some(fault) = old.fault().or_else(|| new.fault()) {
        return Err(PyValueError::new_err(fault));
    }
    let found = run(py, || Ok(kernel::pair_alike(old, new, min_overlap, most)))?;
    let (olds, news): (Vec<u32>, Vec<u32>) = found.into_iter().unzip();
    Ok((narrow(py, &olds), narrow(py, &news)))
}

type PySpans<'py> = (
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
);

/// Return the bytes of each node in the source: start and end (32 bits), hash (64 bits); None if
/// the page does not know them.
#[pyfunction]
pub fn source_spans<'py>(
    py: Python<'py>,
    page: &Bound<'py, Digest>,
) -> PyResult<Option<PySpans<'py>>> {
    let page = Arc::clone(page.get().page());
    let found = run(py, move || {
        let _held = hold(page.memory_for(READING))?;
        let spans = quire_core::Spans::of(&page)?;
        Ok(spans.map(|spans| {
            let hashes = kernel::span_hashes(&spans);
            (spans, hashes)
        }))
    })?;
    Ok(found.map(|(spans, hashes)| {
        (
            narrow(py, &spans.start),
            narrow(py, &spans.end),
            wide(py, &hashes),
        )
    }))
}

/// Packs the parts of pages for a pool in another process. Content that pages share is sent once.
#[pyclass(frozen, module = "quire._core._native")]
pub struct PartPacker {
    how: Shingling,
    formatting: Vec<String>,
    packer: Mutex<Packer>,
}

#[pymethods]
impl PartPacker {
    /// Create a packer for parts whose value has at least `min_bytes` bytes.
    #[new]
    fn new(
        min_bytes: u32,
        window: usize,
        sample: usize,
        bits: u32,
        formatting: Vec<String>,
    ) -> PyResult<Self> {
        Ok(Self {
            how: shingling(window, sample, bits)?,
            formatting,
            packer: Mutex::new(Packer::new(min_bytes)),
        })
    }

    /// Return the parts of a page as bytes.
    fn pack<'py>(
        &self,
        py: Python<'py>,
        page: &Bound<'py, Digest>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let page = Arc::clone(page.get().page());
        let packed = run(py, || {
            let _held = hold(page.memory_for(PARTING))?;
            let tree = Tree::of(&page, &self.formatting, false)?;
            let shingles = kernel::hish(&tree.shape, &tree.text, self.how);
            let mut packer = self.packer.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(packer.pack(&tree, &shingles))
        })?;
        Ok(PyBytes::new(py, &packed))
    }
}

/// The parts of many pages.
#[pyclass(frozen, module = "quire._core._native")]
pub struct FragmentPool {
    how: Shingling,
    formatting: Vec<String>,
    pool: Mutex<Pool>,
}

impl FragmentPool {
    /// Run `work` on the pool. After a panic inside, the pool is still used: one page then lacks
    /// some of its parts, which does not affect the others.
    fn with<T>(&self, work: impl FnOnce(&mut Pool) -> T) -> T {
        work(&mut self.pool.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[pymethods]
impl FragmentPool {
    /// Create a pool for parts whose value has at least `min_bytes` bytes.
    #[new]
    fn new(
        min_bytes: u32,
        window: usize,
        sample: usize,
        bits: u32,
        formatting: Vec<String>,
    ) -> PyResult<Self> {
        Ok(Self {
            how: shingling(window, sample, bits)?,
            formatting,
            pool: Mutex::new(Pool::new(min_bytes)),
        })
    }

    /// Add the parts of a page.
    fn push(&self, py: Python<'_>, page: &Bound<'_, Digest>) -> PyResult<()> {
        let page = Arc::clone(page.get().page());
        run(py, || {
            let _held = hold(page.memory_for(PARTING))?;
            let tree = Tree::of(&page, &self.formatting, false)?;
            let shingles = kernel::hish(&tree.shape, &tree.text, self.how);
            self.with(|pool| pool.push(&tree, &shingles));
            Ok(())
        })
    }

    /// Add the parts of a page packed by a `PartPacker`.
    fn push_packed(&self, py: Python<'_>, packed: &[u8]) -> PyResult<()> {
        brief(py, || {
            let _held = hold(UNPACKING * packed.len() as u64)?;
            self.with(|pool| pool.push_packed(packed))
        })
    }

    /// Number of pages added.
    #[getter]
    fn pages(&self) -> u32 {
        self.with(|pool| pool.pages())
    }

    /// Number of parts.
    fn __len__(&self) -> usize {
        self.with(|pool| pool.rows.len())
    }

    /// Number of distinct values among the parts.
    #[getter]
    fn values(&self) -> usize {
        self.with(|pool| pool.values())
    }

    /// Return a column of the parts with these numbers: 32 bits each, or 64 for hashes;
    /// little-endian.
    fn column<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        rows: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let rows = numbers::<u32>(rows)?;
        self.with(|pool| {
            if let Some(row) = rows.iter().find(|&&row| row as usize >= pool.rows.len()) {
                return Err(PyValueError::new_err(format!(
                    "part {row} does not exist; there are {} parts",
                    pool.rows.len()
                )));
            }
            let chosen = || rows.iter().map(|&row| pool.rows[row as usize]);
            let of = |of: fn(Row) -> u32| narrow(py, &chosen().map(of).collect::<Vec<_>>());
            let hashes = |of: &dyn Fn(Row) -> u64| wide(py, &chosen().map(of).collect::<Vec<_>>());
            Ok(match name {
                "page" => of(|row| row.page),
                "part" => of(|row| row.part),
                "node" => of(|row| row.node),
                "node_end" => of(|row| row.node_end),
                "byte_start" => of(|row| row.byte_start),
                "byte_end" => of(|row| row.byte_end),
                "size" => of(|row| row.size),
                "source_hash" => hashes(&|row| row.source_hash),
                "value_hash" => hashes(&|row| pool.hash[row.value as usize]),
                "value_bytes" => {
                    let bytes = chosen().map(|row| pool.bytes[row.value as usize]);
                    narrow(py, &bytes.collect::<Vec<_>>())
                }
                _ => {
                    return Err(PyKeyError::new_err(format!(
                        "unknown column {name:?} of a pool"
                    )));
                }
            })
        })
    }

    /// Find fragments: where the members of each begin (32 bits), and the members as part numbers
    /// (32 bits).
    fn fragments<'py>(
        &self,
        py: Python<'py>,
        min_match: f64,
        size_ratio: f64,
        min_pages: usize,
        unbiased: bool,
    ) -> PyResult<Columns<'py>> {
        if !(min_match > 0.0 && min_match <= 1.0 && (0.0..=1.0).contains(&size_ratio)) {
            return Err(PyValueError::new_err(format!(
                "min_match is {min_match} and size_ratio is {size_ratio}; expected shares up to \
                 1, min_match above 0"
            )));
        }
        let lacking = self.with(|pool| pool.lacking());
        if lacking > 0 {
            return Err(PyValueError::new_err(format!(
                "{lacking} values have no shingles; expected the page they were packed with to \
                 be added first"
            )));
        }
        let likeness = Likeness {
            min_match,
            size_ratio,
            min_bytes: 2 * self.how.window as u32,
            sample: self.how.sample,
            estimate: if unbiased {
                Estimate::Unbiased
            } else {
                Estimate::Paper
            },
        };
        let found = run(py, || {
            let _held = hold(PARTING * self.with(|pool| pool.rows.len() as u64))?;
            Ok(self.with(|pool| kernel::fragments(pool, &groups(pool, &likeness), min_pages)))
        })?;
        let ends = found.iter().scan(0, |end, members| {
            *end += members.len() as u32;
            Some(*end)
        });
        let starts: Vec<u32> = std::iter::once(0).chain(ends).collect();
        brief(py, || {
            Ok((narrow(py, &starts), narrow(py, &found.concat())))
        })
    }
}
