//! Edit scripts.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use quire_core::Error;
use quire_core::sdiff::script::{Making, Script as Kernel, Wanted};
use quire_core::sdiff::{Budget, Labels, Pairs, Rules, script};

use crate::digest::Digest;
use crate::guard::run;
use crate::sdiff::granularity_of;

/// What turns one page into another, and back.
#[pyclass(frozen, module = "quire._core._native")]
pub struct Script {
    script: Arc<Kernel>,
}

impl Script {
    fn new(script: Kernel) -> Self {
        Self {
            script: Arc::new(script),
        }
    }
}

/// By what a page is recognised: signature of its source, nodes, kind, bytes.
type Head = (u128, u32, String, u64);

#[pymethods]
impl Script {
    /// Whether the layers alone give the new source, without a patch.
    #[getter]
    fn exact_tree(&self) -> bool {
        self.script.is_exact_tree()
    }

    /// Whether the script has the way back.
    #[getter]
    fn invertible(&self) -> bool {
        self.script.invertible
    }

    /// Nodes inserted, deleted and relabelled, when they were counted.
    #[getter]
    fn node_edits(&self) -> Option<u64> {
        self.script.node_edits
    }

    /// Whether no mapping has fewer node edits.
    #[getter]
    fn proven_minimal(&self) -> bool {
        self.script.proven_minimal
    }

    /// Where the pairing met a limit: nodes of the old and the new page.
    #[getter]
    fn coarse(&self) -> Vec<(Option<u32>, Option<u32>)> {
        let nodes = self.script.coarse.iter();
        nodes.map(|node| (node.old, node.new)).collect()
    }

    /// The old page and the new one.
    #[getter]
    fn heads(&self) -> [Head; 2] {
        [&self.script.old, &self.script.new]
            .map(|head| (head.signature, head.n, head.kind.clone(), head.bytes))
    }

    fn __len__(&self) -> usize {
        self.script.actions.len()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other
            .cast::<Script>()
            .is_ok_and(|other| other.get().script == self.script)
    }

    /// How many actions there are of each kind.
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = self.script.counts();
        let found = PyDict::new(py);
        found.set_item("insert", counts.inserts)?;
        found.set_item("delete", counts.deletes)?;
        found.set_item("move", counts.moves)?;
        found.set_item("update", counts.updates)?;
        found.set_item("rename", counts.renames)?;
        Ok(found)
    }

    /// Make the new page of the old one.
    fn apply(&self, py: Python<'_>, old: &Bound<'_, Digest>) -> PyResult<Digest> {
        let (script, old) = (&self.script, Arc::clone(old.get().page()));
        run(py, move || script.apply(&old)).map(Digest::new)
    }

    /// Make the script that undoes this one.
    fn invert(&self, py: Python<'_>) -> PyResult<Self> {
        let script = &self.script;
        run(py, move || script.invert()).map(Self::new)
    }

    /// Make one script of this one and the one that follows it, given the pages they lead through.
    fn compose(
        &self,
        py: Python<'_>,
        following: &Bound<'_, Self>,
        old: &Bound<'_, Digest>,
        between: &Bound<'_, Digest>,
        new: &Bound<'_, Digest>,
    ) -> PyResult<Self> {
        let (script, following) = (&self.script, Arc::clone(&following.get().script));
        let [old, between, new] = [old, between, new].map(|page| Arc::clone(page.get().page()));
        run(py, move || script.compose(&following, &old, &between, &new)).map(Self::new)
    }

    /// Write the script as JSON.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        let script = &self.script;
        run(py, move || script.to_json())
    }
}

/// Make the script that turns one page into another.
#[pyfunction]
pub fn edit_script(
    py: Python<'_>,
    old: &Bound<'_, Digest>,
    new: &Bound<'_, Digest>,
    exact: bool,
    granularity: &str,
    invertible: bool,
    max_steps: Option<u64>,
) -> PyResult<Script> {
    let usual = Budget::default();
    let wanted = Wanted {
        exact,
        granularity: granularity_of(granularity)?,
        invertible,
        // Cells are memory and stay within their limit, whatever time is given.
        budget: Budget {
            steps: max_steps.unwrap_or(usual.steps),
            ..usual
        },
    };
    let [old, new] = [old, new].map(|page| Arc::clone(page.get().page()));
    run(py, move || script::between(&old, &new, wanted)).map(Script::new)
}

/// Make the script of given partners, which must be one to one with the roots among them.
#[pyfunction]
pub fn script_of_pairs(
    py: Python<'_>,
    old: &Bound<'_, Digest>,
    new: &Bound<'_, Digest>,
    pairs: Vec<(u32, u32)>,
    nodewise: bool,
    invertible: bool,
) -> PyResult<Script> {
    let [old, new] = [old, new].map(|page| Arc::clone(page.get().page()));
    let making = Making {
        nodewise,
        invertible,
    };
    run(py, move || {
        let mut partners = Pairs::new(old.n(), new.n());
        for (x, y) in pairs {
            let (Some(to), Some(from)) = (
                partners.to_new.get_mut(x as usize),
                partners.to_old.get_mut(y as usize),
            ) else {
                return Err(Error::Script {
                    message: format!("partners {x} and {y} are not both on their pages"),
                });
            };
            (*to, *from) = (y, x);
        }
        old.check_heaps()?;
        new.check_heaps()?;
        let rules = Rules::default();
        let labels = [&*old, &*new].map(|page| Labels::new(page, &rules));
        script::edit_script(&old, &new, [&labels[0], &labels[1]], &partners, making)
    })
    .map(Script::new)
}

/// Read a script from JSON.
#[pyfunction]
pub fn script_from_json(py: Python<'_>, text: &str) -> PyResult<Script> {
    run(py, || Kernel::from_json(text)).map(Script::new)
}
