//! Style sheets of untrusted pages.

use pyo3::prelude::*;
use quire_core::style::{self, Limits};

use crate::guard::run;

/// Keep what of a style sheet loads nothing and cannot hide marks.
#[pyfunction]
#[pyo3(signature = (css, *, is_bare))]
pub fn sanitize_sheet(py: Python<'_>, css: &str, is_bare: bool) -> PyResult<String> {
    run(py, || Ok(style::sanitize_sheet(css, is_bare)))
}

/// Keep what of a `style` attribute loads nothing and, on request, hides nothing.
#[pyfunction]
#[pyo3(signature = (css, *, holds_marks, is_bare))]
pub fn sanitize_declarations(
    py: Python<'_>,
    css: &str,
    holds_marks: bool,
    is_bare: bool,
) -> PyResult<String> {
    let limits = Limits {
        holds_marks,
        is_bare,
    };
    run(py, || Ok(style::sanitize_declarations(css, limits)))
}
