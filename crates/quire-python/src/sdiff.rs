//! Compares two pages: annotation, changed words, lines side by side.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};
use quire_core::sdiff::{Annotation, Compared, Granularity, Pairs, Row, Rules, Scope, Tolerance};
use quire_core::select::{CssSelector, Limits, View};
use quire_core::text::{Line, read_lines};
use quire_core::{Error, NONE};

use crate::digest::{Digest, numbers};
use crate::guard::{ANNOTATING, run};
use crate::similarity::packed;
use quire_core::memory::hold;

/// The rules of a comparison as Python passes them: patterns and selectors are still strings.
#[derive(FromPyObject)]
pub struct Asked {
    only: Vec<String>,
    without: Vec<String>,
    ignore_space: bool,
    ignore_case: bool,
    ignore_attributes: Vec<String>,
    ignore_text: Vec<String>,
    ignore_order: bool,
    tolerance: Option<(f64, f64)>,
}

impl Asked {
    /// Compile the rules.
    pub fn rules(&self) -> Result<Rules, Error> {
        Ok(Rules {
            ignore_space: self.ignore_space,
            ignore_case: self.ignore_case,
            ignore_attributes: self.ignore_attributes.clone(),
            ignore_text: (self.ignore_text.iter())
                .map(|pattern| Rules::pattern(pattern))
                .collect::<Result<_, _>>()?,
            ignore_order: self.ignore_order,
            tolerance: (self.tolerance)
                .map(|(absolute, relative)| Tolerance { absolute, relative }),
        })
    }

    /// Find the nodes that the selectors choose on a page.
    pub fn scope(&self, page: &quire_core::Digest) -> Result<Scope, Error> {
        let chosen = |selectors: &[String]| {
            let mut nodes = Vec::new();
            for selector in selectors {
                page.check_heaps()?;
                let selector = CssSelector::parse(selector)?;
                nodes.extend(selector.select(&View::new(page), 0, Limits::default())?);
            }
            Ok::<_, Error>(nodes)
        };
        Ok(Scope {
            only: (!self.only.is_empty())
                .then(|| chosen(&self.only))
                .transpose()?,
            without: chosen(&self.without)?,
        })
    }
}

/// Read the name of a granularity.
pub fn granularity_of(name: &str) -> PyResult<Granularity> {
    match name {
        "brief" => Ok(Granularity::Brief),
        "normal" => Ok(Granularity::Normal),
        "fine" => Ok(Granularity::Fine),
        _ => Err(PyValueError::new_err(format!(
            "unknown granularity {name:?}; expected brief, normal or fine"
        ))),
    }
}

/// Compare two pages node by node: partners and statuses as buffers, and the pairs where a limit
/// was hit.
#[pyfunction]
pub fn annotate<'py>(
    py: Python<'py>,
    old: &Bound<'py, Digest>,
    new: &Bound<'py, Digest>,
    rules: Asked,
    granularity: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let granularity = granularity_of(granularity)?;
    let (old, new) = (Arc::clone(old.get().page()), Arc::clone(new.get().page()));
    let found = run(py, move || {
        let _held = hold(old.memory_for(ANNOTATING) + new.memory_for(ANNOTATING))?;
        let compared = |page| {
            Ok::<_, Error>(Compared {
                page,
                scope: rules.scope(page)?,
            })
        };
        let (old, new) = (compared(&*old)?, compared(&*new)?);
        quire_core::sdiff::annotate(&old, &new, &rules.rules()?, granularity)
    })?;
    arrays(py, &found)
}

fn arrays<'py>(py: Python<'py>, found: &Annotation) -> PyResult<Bound<'py, PyDict>> {
    let arrays = PyDict::new(py);
    arrays.set_item("to_new", numbers(py, &found.pairs.to_new))?;
    arrays.set_item("to_old", numbers(py, &found.pairs.to_old))?;
    arrays.set_item("old", PyBytes::new(py, &status_bytes(&found.old)))?;
    arrays.set_item("new", PyBytes::new(py, &status_bytes(&found.new)))?;
    let coarse: Vec<(u32, u32)> = found.coarse.iter().map(|at| (at.old, at.new)).collect();
    arrays.set_item("coarse", coarse)?;
    Ok(arrays)
}

fn status_bytes(status: &[u16]) -> Vec<u8> {
    packed(status, u16::to_ne_bytes)
}

/// Return the changed parts of a text: start and end of each in the old and in the new text.
#[pyfunction]
pub fn word_changes(py: Python<'_>, old: &str, new: &str) -> PyResult<Vec<(u32, u32, u32, u32)>> {
    run(py, || {
        Ok((quire_core::sdiff::word_changes(old, new).into_iter())
            .map(|hunk| (hunk.old.start, hunk.old.end, hunk.new.start, hunk.new.end))
            .collect())
    })
}

/// Return the long runs of words that two texts have in common: start in the old text, start in the
/// new text, and length.
#[pyfunction]
pub fn long_runs(py: Python<'_>, old: &str, new: &str) -> PyResult<Vec<(u32, u32, u32)>> {
    run(py, || {
        Ok((quire_core::sdiff::long_runs(old, new).into_iter())
            .map(|part| (part.old, part.new, part.length))
            .collect())
    })
}

/// A line: its text and its nodes.
type PyLine = (String, Vec<u32>);

/// A row: its kind, and the indexes of its lines; -1 for none.
type PyRow = (u8, i32, i32);

/// Return the lines of two pages and how they line up side by side, given the result of `annotate`.
#[pyfunction]
#[allow(clippy::type_complexity)] // two lists of lines and one of rows, each with a type above
pub fn text_rows<'py>(
    py: Python<'py>,
    old: &Bound<'py, Digest>,
    new: &Bound<'py, Digest>,
    found: (PyBackedBytes, PyBackedBytes, PyBackedBytes),
    ignore_order: bool,
) -> PyResult<(Vec<PyLine>, Vec<PyLine>, Vec<PyRow>)> {
    let (old, new) = (Arc::clone(old.get().page()), Arc::clone(new.get().page()));
    let (to_new, old_status, new_status) = found;
    let pairs = pairs_of(&to_new, old.n(), new.n());
    let (old_status, new_status) = (status_of(&old_status), status_of(&new_status));
    let (Some(pairs), true) = (
        pairs,
        old_status.len() == old.n() && new_status.len() == new.n(),
    ) else {
        return Err(PyValueError::new_err(
            "the partners and statuses belong to other pages",
        ));
    };
    run(py, move || {
        old.check_heaps()?;
        new.check_heaps()?;
        let (old_lines, new_lines) = (read_lines(&old), read_lines(&new));
        let rows = quire_core::sdiff::rows(
            &quire_core::sdiff::Page {
                lines: &old_lines,
                status: &old_status,
            },
            &quire_core::sdiff::Page {
                lines: &new_lines,
                status: &new_status,
            },
            &pairs,
            ignore_order,
        );
        let place = |line: u32| if line == NONE { -1 } else { line as i32 };
        let row = |row: &Row| (row.kind as u8, place(row.old), place(row.new));
        let line = |line: Line| (line.text, line.nodes);
        Ok((
            old_lines.into_iter().map(line).collect(),
            new_lines.into_iter().map(line).collect(),
            rows.iter().map(row).collect(),
        ))
    })
}

fn status_of(bytes: &[u8]) -> Vec<u16> {
    (bytes.as_chunks().0.iter())
        .map(|&bits| u16::from_ne_bytes(bits))
        .collect()
}

/// Read partners back; `None` if they do not belong to two pages of these sizes.
fn pairs_of(to_new: &[u8], old: usize, new: usize) -> Option<Pairs> {
    let mut pairs = Pairs::new(old, new);
    let partners = to_new.as_chunks().0;
    if partners.len() != old {
        return None;
    }
    for (node, &partner) in partners.iter().enumerate() {
        let partner = u32::from_ne_bytes(partner);
        if partner != NONE {
            let free = pairs.to_old.get(partner as usize) == Some(&NONE);
            if !free {
                return None;
            }
            pairs.join(node as u32, partner);
        }
    }
    Some(pairs)
}
