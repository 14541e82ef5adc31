//! Turns errors of the kernels into the classes of `quire.errors`: the message first, then the
//! findings as keywords.

use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use quire_core::Error;

/// Return the Python exception for an error of a kernel.
pub fn raise(py: Python<'_>, error: &Error) -> PyErr {
    if let Error::Memory { .. } = error {
        return PyMemoryError::new_err(error.to_string());
    }
    let found = PyDict::new(py);
    let set = |name: &str, value: Bound<'_, PyAny>| found.set_item(name, value);
    let filled = (|| -> PyResult<&str> {
        Ok(match error {
            Error::TooLarge { bytes, limit } => {
                set("found_bytes", bytes.into_pyobject(py)?.into_any())?;
                set("max_bytes", limit.into_pyobject(py)?.into_any())?;
                "SourceTooLarge"
            }
            Error::Syntax {
                kind,
                offset,
                line,
                column,
                ..
            } => {
                set("kind", kind.into_pyobject(py)?.into_any())?;
                set("line", line.into_pyobject(py)?.into_any())?;
                set("column", column.into_pyobject(py)?.into_any())?;
                set("offset", offset.into_pyobject(py)?.into_any())?;
                "MalformedSource"
            }
            Error::Version { found, newest } => {
                set("found", found.into_pyobject(py)?.into_any())?;
                set("newest", newest.into_pyobject(py)?.into_any())?;
                "DigestFormatError"
            }
            Error::Format { .. } => "DigestFormatError",
            Error::Selector {
                selector, offset, ..
            } => {
                set("selector", selector.into_pyobject(py)?.into_any())?;
                set("offset", offset.into_pyobject(py)?.into_any())?;
                "SelectorError"
            }
            Error::Budget { selector, steps } => {
                set("selector", selector.into_pyobject(py)?.into_any())?;
                set("steps", steps.into_pyobject(py)?.into_any())?;
                "SelectorBudgetExceeded"
            }
            Error::Pattern {
                pattern, offset, ..
            } => {
                set("pattern", pattern.into_pyobject(py)?.into_any())?;
                set("offset", offset.into_pyobject(py)?.into_any())?;
                "PatternError"
            }
            Error::Memory { .. } => "QuireError", // raised above
            Error::Codec { .. } => "CodecError",
            Error::Script { .. } => "ScriptError",
            Error::Sketch { .. } => "SketchError",
            Error::Tree { .. } => "TreeError",
        })
    })();
    match filled {
        Ok(class) => make(py, class, &error.to_string(), Some(&found)),
        Err(error) => error,
    }
}

/// Return the exception for a panic, which is always a bug in quire.
pub fn internal(py: Python<'_>, message: &str) -> PyErr {
    let message = format!("a kernel failed (this is a bug in quire): {message}");
    make(py, "InternalError", &message, None)
}

/// Return the exception for a node that does not exist.
pub fn node_not_found(py: Python<'_>, node: i64, n: usize) -> PyErr {
    let found = PyDict::new(py);
    let message = format!(
        "node {node} does not exist; the page has nodes 0 to {}",
        n - 1
    );
    match found
        .set_item("node", node)
        .and_then(|()| found.set_item("n", n))
    {
        Ok(()) => make(py, "NodeNotFound", &message, Some(&found)),
        Err(error) => error,
    }
}

fn make(py: Python<'_>, class: &str, message: &str, found: Option<&Bound<'_, PyDict>>) -> PyErr {
    py.import("quire.errors")
        .and_then(|module| module.getattr(class))
        .and_then(|class| class.call((message,), found))
        .map_or_else(|error| error, PyErr::from_value)
}
