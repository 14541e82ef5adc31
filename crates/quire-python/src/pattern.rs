//! Regular expressions from users, matched in time linear in the text.

use pyo3::prelude::*;
use quire_core::sdiff::{Regex, Rules};

use crate::guard::run;

/// A compiled regular expression.
#[pyclass(frozen, module = "quire._core._native")]
pub struct Pattern(Regex);

#[pymethods]
impl Pattern {
    #[new]
    fn new(py: Python<'_>, pattern: &str) -> PyResult<Self> {
        run(py, || Ok(Self(Rules::pattern(pattern)?)))
    }

    /// Whether the expression matches anywhere in a text.
    fn is_match(&self, py: Python<'_>, text: &str) -> PyResult<bool> {
        run(py, || Ok(self.0.is_match(text)))
    }

    /// Return at most `most` matches: each as the whole match, or its first group if there is one.
    ///
    /// Each search is linear, but the search for all matches is not, so their number is limited.
    fn find_all(&self, py: Python<'_>, text: &str, most: usize) -> PyResult<Vec<String>> {
        run(py, || {
            let group = usize::from(self.0.captures_len() > 1);
            Ok((self.0.captures_iter(text).take(most))
                .filter_map(|found| found.get(group).or_else(|| found.get(0)))
                .map(|found| found.as_str().to_owned())
                .collect())
        })
    }

    /// Return a text without its matches.
    fn remove(&self, py: Python<'_>, text: &str) -> PyResult<String> {
        run(py, || Ok(self.0.replace_all(text, "").into_owned()))
    }
}
