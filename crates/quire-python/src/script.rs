//! Edit scripts: make, apply, invert, compose, read and write them.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use quire_core::Error;
use quire_core::memory::hold;
use quire_core::sdiff::script::{Making, Script as Kernel, Wanted};
use quire_core::sdiff::{Budget, Labels, Pairs, Rules, script};

use crate::digest::Digest;
use crate::guard::{APPLYING, SCRIPTING, UNPACKING, run};
use crate::sdiff::granularity_of;

/// An edit script: turns the old page into the new one, and back if it is invertible.
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

/// How a page is recognised: signature of its source, number of nodes, kind, bytes.
type Head = (u128, u32, String, u64);

#[pymethods]
impl Script {
    /// Whether the tree edits alone give the new source, without a byte patch.
    #[getter]
    fn exact_tree(&self) -> bool {
        self.script.is_exact_tree()
    }

    /// Whether the script can be inverted.
    #[getter]
    fn invertible(&self) -> bool {
        self.script.invertible
    }

    /// Number of nodes inserted, deleted and relabelled, if they were counted.
    #[getter]
    fn node_edits(&self) -> Option<u64> {
        self.script.node_edits
    }

    /// Whether it is proven that no mapping needs fewer node edits.
    #[getter]
    fn proven_minimal(&self) -> bool {
        self.script.proven_minimal
    }

    /// Pairs of nodes (old, new) where the pairing hit a limit.
    #[getter]
    fn coarse(&self) -> Vec<(Option<u32>, Option<u32>)> {
        let nodes = self.script.coarse.iter();
        nodes.map(|node| (node.old, node.new)).collect()
    }

    /// Identity of the old page and of the new page.
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

    /// Count the actions of each kind.
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

    /// Apply the script: make the new page from the old one.
    fn apply(&self, py: Python<'_>, old: &Bound<'_, Digest>) -> PyResult<Digest> {
        let (script, old) = (&self.script, Arc::clone(old.get().page()));
        run(py, move || {
            let _held = hold(old.memory_for(APPLYING))?;
            script.apply(&old)
        })
        .map(Digest::new)
    }

    /// Return the script that undoes this one.
    fn invert(&self, py: Python<'_>) -> PyResult<Self> {
        let script = &self.script;
        run(py, move || {
            let _held = hold(script.memory())?;
            script.invert()
        })
        .map(Self::new)
    }

    /// Return one script for this one followed by the next; the pages between them are given.
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
        run(py, move || {
            let pages = [&old, &between, &new].map(|page| page.memory_for(SCRIPTING));
            let _held = hold(pages.iter().sum())?;
            script.compose(&following, &old, &between, &new)
        })
        .map(Self::new)
    }

    /// Return the script as JSON.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        let script = &self.script;
        run(py, move || script.to_json())
    }
}

/// Return the edit script that turns the old page into the new one.
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
        // Cells cost memory, so their limit holds regardless of the time budget.
        budget: Budget {
            steps: max_steps.unwrap_or(usual.steps),
            ..usual
        },
    };
    let [old, new] = [old, new].map(|page| Arc::clone(page.get().page()));
    run(py, move || {
        let _held = hold(old.memory_for(SCRIPTING) + new.memory_for(SCRIPTING))?;
        script::between(&old, &new, wanted)
    })
    .map(Script::new)
}

/// Return the edit script for the given partners. They must be one to one and include the roots.
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
        let _held = hold(old.memory_for(SCRIPTING) + new.memory_for(SCRIPTING))?;
        let mut partners = Pairs::new(old.n(), new.n());
        for (x, y) in pairs {
            let (Some(to), Some(from)) = (
                partners.to_new.get_mut(x as usize),
                partners.to_old.get_mut(y as usize),
            ) else {
                return Err(Error::Script {
                    message: format!("nodes {x} (old) and {y} (new) cannot be paired: one of them is not on its page"),
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
    run(py, || {
        let _held = hold(UNPACKING * text.len() as u64)?;
        Kernel::from_json(text)
    })
    .map(Script::new)
}
