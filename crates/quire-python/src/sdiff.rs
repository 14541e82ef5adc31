//! Comparing two pages.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use quire_core::error::Error;
use quire_core::sdiff::annotation::{Annotation, Compared};
use quire_core::sdiff::{Granularity, Rules, Scope, Tolerance};
use quire_core::select::{CssSelector, Limits};
use quire_core::view::View;

use crate::digest::{Digest, numbers};
use crate::guard::run;

/// The rules of a comparison as Python gives them: patterns and selectors are still strings.
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

    /// Find what the selectors choose on a page.
    pub fn scope(&self, page: &quire_core::digest::Digest) -> Result<Scope, Error> {
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
            "granularity {name:?} is not known; known are brief, normal and fine"
        ))),
    }
}

/// What became of every node: partners and statuses as buffers, and the pairs where a limit was met.
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
    arrays.set_item("old", PyBytes::new(py, &found.old))?;
    arrays.set_item("new", PyBytes::new(py, &found.new))?;
    let coarse: Vec<(u32, u32)> = found.coarse.iter().map(|at| (at.old, at.new)).collect();
    arrays.set_item("coarse", coarse)?;
    Ok(arrays)
}
