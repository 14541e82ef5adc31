//! The lists of records of a page: its outline, the lists, and the cells of a list.

use std::sync::Arc;

use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use quire_core::Digest as Page;
use quire_core::extraction as kernel;
use quire_core::extraction::{Outline as Columns, Subtree};
use quire_core::memory::hold;

use crate::digest::Digest;
use crate::guard::{EXTRACTING, run};
use crate::similarity::packed;

/// The measures of the nodes of a page. Immutable.
#[pyclass(frozen, module = "quire._core._native")]
pub struct Outline {
    page: Arc<Page>,
    columns: Columns,
}

fn wide<'py>(py: Python<'py>, values: &[u32]) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &packed(values, |value| i64::from(value).to_le_bytes()))
}

fn truths<'py>(py: Python<'py>, values: &[bool]) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &packed(values, |value| [u8::from(value)]))
}

fn subtree(name: &str) -> PyResult<Subtree> {
    Subtree::named(name).ok_or_else(|| {
        PyKeyError::new_err(format!(
            "unknown heuristic {name:?}; expected HF, GSI, LTC or volume"
        ))
    })
}

type PyCells<'py> = (Bound<'py, PyList>, Bound<'py, PyList>);

impl Outline {
    /// Check that all nodes of records exist, and that none is empty.
    fn check(&self, records: &[Vec<u32>]) -> PyResult<()> {
        let n = self.columns.n();
        if let Some(node) = (records.iter().flatten()).find(|&&node| node as usize >= n) {
            return Err(PyValueError::new_err(format!(
                "node {node} does not exist; the page has {n}"
            )));
        }
        if records.is_empty() || records.iter().any(Vec::is_empty) {
            return Err(PyValueError::new_err(
                "no records, or a record without nodes; expected at least one of each",
            ));
        }
        Ok(())
    }
}

#[pymethods]
impl Outline {
    /// Measure the nodes of a page.
    #[new]
    fn new(py: Python<'_>, page: &Bound<'_, Digest>) -> PyResult<Self> {
        let page = Arc::clone(page.get().page());
        let columns = run(py, || {
            let _held = hold(page.memory_for(EXTRACTING))?;
            page.check_heaps()?;
            Ok(Columns::of(&page))
        })?;
        Ok(Self { page, columns })
    }

    /// Return a column: one byte for each node for `elements` and `leaves`, 64-bit numbers for
    /// `own_text`, `end`, `leaves_before` and `text_before`; little-endian.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
        let columns = &self.columns;
        Ok(match name {
            "elements" => truths(py, &columns.elements),
            "leaves" => truths(py, &columns.leaves),
            "own_text" => wide(py, &columns.own_text),
            "end" => wide(py, &columns.end),
            "leaves_before" => wide(py, &columns.leaves_before),
            "text_before" => wide(py, &columns.text_before),
            _ => {
                return Err(PyKeyError::new_err(format!(
                    "unknown column {name:?} of an outline"
                )));
            }
        })
    }

    /// Return the score of each node by a subtree heuristic (HF, GSI, LTC, volume); 64-bit floats.
    fn subtree_scores<'py>(
        &self,
        py: Python<'py>,
        heuristic: &str,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let heuristic = subtree(heuristic)?;
        let scores = run(py, || Ok(heuristic.scores(&self.page, &self.columns)))?;
        Ok(PyBytes::new(py, &packed(&scores, f64::to_le_bytes)))
    }

    /// Return the node with the highest score by a subtree heuristic; the last one of several.
    fn best_subtree(&self, py: Python<'_>, heuristic: &str) -> PyResult<usize> {
        let heuristic = subtree(heuristic)?;
        run(py, || Ok(heuristic.best(&self.page, &self.columns)))
    }

    /// Find the lists of the page, in its order: the node around each, the nodes of its records, and
    /// how alike neighbouring records are.
    fn lists<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let found = run(py, || {
            let _held = hold(self.page.memory_for(EXTRACTING))?;
            self.page.check_heaps()?;
            Ok(kernel::lists(&self.page, &self.columns))
        })?;
        let lists = PyList::empty(py);
        for list in found {
            let records = (list.records.iter())
                .map(|record| PyTuple::new(py, record))
                .collect::<PyResult<Vec<_>>>()?;
            lists.append((list.node, PyTuple::new(py, records)?, list.likeness))?;
        }
        Ok(lists)
    }

    /// Measure a list: leaves, links, linked, leaf bytes, images, controls, prose, uneven, record
    /// bytes, different and share.
    #[allow(clippy::needless_pass_by_value)] // Python passes tuples, which arrive as a `Vec`
    fn measure(&self, py: Python<'_>, records: Vec<Vec<u32>>) -> PyResult<[f64; 11]> {
        self.check(&records)?;
        let of = run(py, || {
            self.page.check_heaps()?;
            Ok(kernel::measure(&self.page, &self.columns, &records))
        })?;
        Ok([
            of.leaves,
            of.links,
            of.linked,
            of.leaf_bytes,
            of.images,
            of.controls,
            of.prose,
            of.uneven,
            of.record_bytes,
            of.different,
            of.share,
        ])
    }

    /// Read the cells of records, each a sorted run of nodes.
    ///
    /// Return the keys (path, source, table column) and for each record its cells (number of the key,
    /// node, value). Sources are 0 for text, 1 for links, 2 for images, 3 for properties.
    #[allow(clippy::needless_pass_by_value)] // Python passes tuples, which arrive as a `Vec`
    fn cells<'py>(&self, py: Python<'py>, records: Vec<Vec<u32>>) -> PyResult<PyCells<'py>> {
        self.check(&records)?;
        let found = run(py, || {
            let _held = hold(self.page.memory_for(EXTRACTING))?;
            self.page.check_heaps()?;
            Ok(kernel::cells(&self.page, &self.columns, &records))
        })?;
        let keys = PyList::empty(py);
        for key in found.keys {
            keys.append((PyTuple::new(py, key.path)?, key.source as u8, key.column))?;
        }
        let rows = PyList::empty(py);
        for row in found.rows {
            let cells = (row.into_iter()).map(|cell| (cell.key, cell.node, cell.value));
            rows.append(PyList::new(py, cells.collect::<Vec<_>>())?)?;
        }
        Ok((keys, rows))
    }
}
