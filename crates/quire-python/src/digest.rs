//! The digest as a Python object: metadata, columns, strings and queries.

use std::borrow::Cow;
use std::ffi::c_int;
use std::sync::{Arc, OnceLock};

use pyo3::exceptions::{PyIndexError, PyOverflowError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use quire_core::format::{Section, Signatures};
use quire_core::select::{CssSelector, Found, Limits, Paths, View, XPath};
use quire_core::text::{Reader, Reference, TagRoles};
use quire_core::{Class, Digest as Page, Error, Namespace, Places, decode, places, text};

use crate::buffers::{Column, Navigation, lend};
use crate::errors;
use crate::guard::{READING, brief, run};
use crate::similarity::packed;
use quire_core::memory::hold;

/// A page as columns. Immutable; several threads may use it.
///
/// As a buffer it is the digest in memory, read-only; `column` tells where a column is in it. The
/// header in it may lack signatures and checksums, which `to_bytes` has.
#[pyclass(frozen, module = "quire._core._native")]
pub struct Digest {
    page: Arc<Page>,
    /// Where each node begins and ends in the source; computed on first use.
    places: OnceLock<Option<Places>>,
    /// What paths are made of; found out when first asked.
    paths: Paths,
    /// What tags mean to a reader; found out when first asked.
    roles: TagRoles,
}

/// A node number as Python passes it. Whether the page has that node is checked later.
#[derive(Clone, Copy)]
pub struct Number(i64);

impl FromPyObject<'_, '_> for Number {
    type Error = PyErr;

    fn extract(number: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        match number.extract::<i64>() {
            Ok(number) => Ok(Self(number)),
            // Does not fit into 64 bits, so no page has it.
            Err(error) if error.is_instance_of::<PyOverflowError>(number.py()) => {
                Ok(Self(i64::MAX))
            }
            Err(error) => Err(error),
        }
    }
}

impl Digest {
    /// Wrap a digest.
    pub fn new(page: Page) -> Self {
        Self {
            page: Arc::new(page),
            places: OnceLock::new(),
            paths: Paths::default(),
            roles: TagRoles::default(),
        }
    }

    /// Return the digest itself.
    pub fn page(&self) -> &Arc<Page> {
        &self.page
    }

    fn node(&self, py: Python<'_>, node: Number) -> PyResult<usize> {
        let n = self.page.n();
        usize::try_from(node.0)
            .ok()
            .filter(|&node| node < n)
            .ok_or_else(|| errors::node_not_found(py, node.0, n))
    }

    /// Check the heaps, then run a kernel that reads strings.
    fn read<T: Send>(
        &self,
        py: Python<'_>,
        kernel: impl FnOnce(&Page) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let page = &*self.page;
        run(py, || {
            let _held = hold(page.memory_for(READING))?;
            page.check_heaps()?;
            kernel(page)
        })
    }

    /// Return all signatures; those of a page just encoded are computed now.
    fn signed(&self, py: Python<'_>) -> PyResult<Signatures> {
        if self.page.is_signed() {
            return Ok(self.page.signatures());
        }
        self.read(py, |page| Ok(page.signatures()))
    }

    fn string<'py>(
        &self,
        py: Python<'py>,
        index: usize,
        count: usize,
        string: impl FnOnce(&Page) -> &[u8],
    ) -> PyResult<Bound<'py, PyBytes>> {
        if index >= count {
            return Err(PyIndexError::new_err(format!(
                "entry {index} does not exist; the list has {count}"
            )));
        }
        let bytes = brief(py, || {
            self.page.check_heaps()?;
            Ok(string(&self.page))
        })?;
        Ok(PyBytes::new(py, bytes))
    }

    fn navigation(&self, py: Python<'_>, column: Column) -> PyResult<Navigation> {
        run(py, || {
            self.page.derived();
            Ok(())
        })?;
        Ok(Navigation::new(Arc::clone(&self.page), column))
    }
}

#[pymethods]
impl Digest {
    unsafe fn __getbuffer__(
        slf: &Bound<'_, Self>,
        view: *mut pyo3::ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let bytes = slf.get().page.memory();
        let (start, length) = (bytes.as_ptr(), bytes.len());
        // SAFETY: the bytes are owned by the digest, which this frozen object keeps alive; digests
        // never change.
        unsafe { lend(slf, start, length, view, flags) }
    }

    /// Number of nodes.
    #[getter]
    fn n(&self) -> usize {
        self.page.n()
    }

    /// Kind of the page: html, xml, json, text, bytes or tree.
    #[getter]
    fn kind(&self) -> &'static str {
        self.page.kind().name()
    }

    /// Names of the flags that are set.
    #[getter]
    fn flags(&self) -> Vec<&'static str> {
        self.page.flags().names().collect()
    }

    /// WHATWG label of the character set.
    #[getter]
    fn encoding(&self) -> &str {
        &self.page.meta().encoding
    }

    /// How the character set was detected.
    #[getter]
    fn encoding_reason(&self) -> &str {
        &self.page.meta().encoding_reason
    }

    /// Signatures of the source and of each facet.
    #[getter]
    fn signatures(&self, py: Python<'_>) -> PyResult<[u128; Signatures::NAMES.len()]> {
        Ok(self.signed(py)?.0)
    }

    /// Length of the source in bytes.
    #[getter]
    fn source_bytes(&self) -> u64 {
        self.page.header().source_length
    }

    /// Length of the uncompressed digest in bytes.
    #[getter]
    fn nbytes(&self) -> u64 {
        let header = self.page.header();
        header.length as u64 + header.body_length
    }

    /// Return the whole digest, uncompressed. The buffer of a digest that was loaded compressed may
    /// end before the texts.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.signed(py)?;
        let parts = brief(py, || self.page.parts())?;
        let length = parts.iter().map(|part| part.len()).sum();
        PyBytes::new_with(py, length, |mut bytes| {
            for part in &parts {
                let (place, rest) = bytes.split_at_mut(part.len());
                place.copy_from_slice(part);
                bytes = rest;
            }
            Ok(())
        })
    }

    /// Return the position of a column in the buffer: offset in bytes, number of values, and type
    /// in numpy notation.
    fn column(&self, name: &str) -> PyResult<(u64, usize, &'static str)> {
        let (section, signed) = match name {
            "children" => (Section::Children, false),
            "tag" => (Section::Tag, false),
            "attr" => (Section::Attr, true),
            "content" => (Section::Content, true),
            _ => {
                return Err(pyo3::exceptions::PyKeyError::new_err(format!(
                    "unknown column {name:?}; expected children, tag, attr or content"
                )));
            }
        };
        let place = self.page.header().places[section as usize];
        let values = place.length / u64::from(place.width.max(1));
        let dtype = match (place.width, signed) {
            (2, false) => "<u2",
            (2, true) => "<i2",
            (4, false) => "<u4",
            (4, true) => "<i4",
            (_, false) => "u1",
            (_, true) => "i1",
        };
        Ok((place.offset, values as usize, dtype))
    }

    /// Return the parent of each node, -1 for the root.
    fn parent(&self, py: Python<'_>) -> PyResult<Navigation> {
        self.navigation(py, Column::Parent)
    }

    /// Return the depth of each node.
    fn depth(&self, py: Python<'_>) -> PyResult<Navigation> {
        self.navigation(py, Column::Depth)
    }

    /// Return the number of nodes in each subtree.
    fn size(&self, py: Python<'_>) -> PyResult<Navigation> {
        self.navigation(py, Column::Size)
    }

    /// Return one byte per node: 1 if a reader can see it, 0 if not.
    fn visible<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let visible = self.read(py, |page| Ok(Reader::new(page).visible()))?;
        let bytes: Vec<u8> = visible.into_iter().map(u8::from).collect();
        Ok(PyBytes::new(py, &bytes))
    }

    /// Return the first byte of a node in the source and the byte after its last one; None if the
    /// page is flagged `verbatim`.
    fn span(&self, py: Python<'_>, node: Number) -> PyResult<Option<(u32, u32)>> {
        let node = self.node(py, node)?;
        let places = if let Some(found) = self.places.get() {
            found
        } else {
            let found = self.read(py, places)?;
            self.places.get_or_init(|| found)
        };
        Ok((places.as_ref()).map(|places| (places.start[node], places.end[node])))
    }

    /// Return label, name and namespace of each tag. Labels are unique.
    fn tags(&self) -> Vec<(Cow<'_, str>, &str, &'static str)> {
        (0..self.page.tag_count())
            .map(|tag| {
                let info = self.page.tag_info(tag);
                let named = matches!(info.class, Class::Element | Class::Member);
                let namespace = match info.namespace {
                    _ if !named => "",
                    Namespace::Html => "html",
                    Namespace::Svg => "svg",
                    Namespace::MathMl => "math",
                    Namespace::Xml => "xml",
                    Namespace::Json => "json",
                    Namespace::Tree => "tree",
                };
                (self.page.tag_label(tag), self.page.tag_name(tag), namespace)
            })
            .collect()
    }

    /// Count how often each tag occurs. `names` are the labels from `tags`, passed in so that they
    /// are created only once.
    fn tag_counts<'py>(
        &self,
        py: Python<'py>,
        names: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let counts = brief(py, || Ok(self.page.tag().histogram(self.page.tag_count())))?;
        let totals = PyDict::new(py);
        for (name, count) in names.iter().zip(counts) {
            totals.set_item(name, count)?;
        }
        Ok(totals)
    }

    /// Number of distinct attribute runs.
    #[getter]
    fn attr_count(&self) -> usize {
        self.page.attr_count()
    }

    /// Number of distinct contents.
    #[getter]
    fn content_count(&self) -> usize {
        self.page.content_count()
    }

    /// Return an attribute run as written in the source.
    fn attr_run<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyBytes>> {
        let count = self.page.attr_count();
        self.string(py, index, count, |page| page.attr_run(index))
    }

    /// Return a content as written in the source.
    fn content_raw<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyBytes>> {
        let count = self.page.content_count();
        self.string(py, index, count, |page| page.content_raw(index))
    }

    /// Return the exact source.
    fn decode<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let page = &*self.page;
        let source = run(py, || decode(page))?;
        PyBytes::new_with(py, source.len(), |bytes| {
            bytes.copy_from_slice(&source);
            Ok(())
        })
    }

    /// Return the text of a subtree in reading order.
    fn text(&self, py: Python<'_>, node: Number) -> PyResult<String> {
        let node = self.node(py, node)?;
        self.read(py, |page| {
            Ok(Reader::with_roles(page, &self.roles).text(node))
        })
    }

    /// Return the text of a subtree as if some nodes in it were not there.
    fn text_without(&self, py: Python<'_>, node: Number, without: Vec<Number>) -> PyResult<String> {
        let node = self.node(py, node)?;
        let mut left_out = vec![false; self.page.n()];
        for one in without {
            left_out[self.node(py, one)?] = true;
        }
        self.read(py, |page| {
            Ok(Reader::with_roles(page, &self.roles).text_without(node, &left_out))
        })
    }

    /// Return what each tag does to the text around it; empty if the layout decides.
    fn text_roles(&self, py: Python<'_>) -> PyResult<Vec<&'static str>> {
        self.read(py, |page| {
            Ok(Reader::with_roles(page, &self.roles).role_names())
        })
    }

    /// Return the passages of the text: the nodes with words, then for each passage how many of
    /// them are before its end, its length (all 32-bit) and its hash (64-bit); little-endian.
    fn passages<'py>(&self, py: Python<'py>) -> PyResult<[Bound<'py, PyBytes>; 4]> {
        let (nodes, found) = self.read(py, |page| Ok(text::passages(page)))?;
        let bytes = |values: &mut dyn Iterator<Item = u32>| {
            PyBytes::new(py, &values.flat_map(u32::to_le_bytes).collect::<Vec<u8>>())
        };
        let hashes: Vec<u8> = (found.iter())
            .flat_map(|one| one.hash.to_le_bytes())
            .collect();
        Ok([
            bytes(&mut nodes.into_iter()),
            bytes(&mut found.iter().map(|one| one.end)),
            bytes(&mut found.iter().map(|one| one.bytes)),
            PyBytes::new(py, &hashes),
        ])
    }

    /// Return the attributes of a node, with names as the tree has them.
    fn attributes<'py>(&self, py: Python<'py>, node: Number) -> PyResult<Bound<'py, PyDict>> {
        let node = self.node(py, node)?;
        let attributes = brief(py, || {
            self.page.check_heaps()?;
            Ok(self.page.attributes(node))
        })?;
        let found = PyDict::new(py);
        for (name, value) in attributes {
            found.set_item(&**name, &**value)?;
        }
        Ok(found)
    }

    /// Return the attributes of nodes as lines `tag name=value`, sorted for each node.
    ///
    /// With names, only attributes that have one of them.
    fn attribute_lines(
        &self,
        py: Python<'_>,
        nodes: Vec<Number>,
        names: Vec<String>,
    ) -> PyResult<Vec<String>> {
        let nodes = (nodes.into_iter())
            .map(|node| self.node(py, node))
            .collect::<PyResult<Vec<usize>>>()?;
        self.read(py, move |page| {
            let labels: Vec<_> = (0..page.tag_count())
                .map(|tag| page.tag_label(tag))
                .collect();
            let mut lines = Vec::new();
            for node in nodes {
                let first = lines.len();
                let label = &labels[page.tag().get(node) as usize];
                for (name, value) in page.attributes(node) {
                    if names.is_empty() || names.iter().any(|wanted| **wanted == **name) {
                        lines.push((name, format!("{label} {name}={value}")));
                    }
                }
                lines[first..].sort_by(|one, two| one.0.cmp(two.0));
            }
            Ok(lines.into_iter().map(|(_, line)| line).collect())
        })
    }

    /// Return the elements that match a CSS selector, as 32-bit integers in native byte order.
    fn select<'py>(
        &self,
        py: Python<'py>,
        selector: &str,
        within: Number,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let scope = self.node(py, within)? as u32;
        let found = self.read(py, |page| {
            CssSelector::parse(selector)?.select(&View::new(page), scope, Limits::default())
        })?;
        Ok(numbers(py, &found))
    }

    /// Evaluate an XPath expression: nodes as from `select`, strings, a number, a string or a
    /// boolean.
    fn xpath<'py>(
        &self,
        py: Python<'py>,
        expression: &str,
        node: Number,
    ) -> PyResult<Bound<'py, PyAny>> {
        let node = self.node(py, node)? as u32;
        let found = self.read(py, |page| {
            XPath::parse(expression)?.select(&View::new(page), node, Limits::default())
        })?;
        Ok(match found {
            Found::Nodes(nodes) => numbers(py, &nodes).into_any(),
            Found::Strings(strings) => strings.into_pyobject(py)?.into_any(),
            Found::Number(number) => number.into_pyobject(py)?.into_any(),
            Found::Text(text) => text.into_pyobject(py)?.into_any(),
            Found::Bool(truth) => truth.into_pyobject(py)?.to_owned().into_any(),
        })
    }

    /// Return a CSS selector that matches only this node.
    fn css_path(&self, py: Python<'_>, node: Number) -> PyResult<String> {
        let node = self.node(py, node)? as u32;
        self.read(py, |page| Ok(self.paths.css(&View::new(page), node)))
    }

    /// The same for many nodes; None where it would be too long, or all of them together would.
    fn css_paths(&self, py: Python<'_>, nodes: Vec<Number>) -> PyResult<Vec<Option<String>>> {
        let nodes = (nodes.into_iter())
            .map(|node| Ok(self.node(py, node)? as u32))
            .collect::<PyResult<Vec<_>>>()?;
        self.read(py, |page| Ok(self.paths.css_all(&View::new(page), &nodes)))
    }

    /// Return an XPath that matches only this node.
    fn xpath_path(&self, py: Python<'_>, node: Number) -> PyResult<String> {
        let node = self.node(py, node)? as u32;
        self.read(py, |page| Ok(self.paths.xpath(&View::new(page), node)))
    }

    /// Return the links: node, address as written, and the start of the text if it is an `a`
    /// element.
    fn links(&self, py: Python<'_>) -> PyResult<Vec<(u32, String, String)>> {
        self.read(py, |page| {
            let reader = Reader::new(page);
            let links = text::links(page).into_iter().map(|link| {
                let node = link.node as usize;
                let is_anchor = page.tag_name(page.tag().get(node) as usize) == "a";
                let text = if is_anchor {
                    reader.beginning(node, text::MAX_LINK_TEXT)
                } else {
                    String::new()
                };
                (link.node, link.address, text)
            });
            Ok(links.collect())
        })
    }

    /// Return the links without their texts: node and address as written.
    fn link_addresses(&self, py: Python<'_>) -> PyResult<Vec<(u32, String)>> {
        self.read(py, |page| Ok(pairs(text::links(page))))
    }

    /// Return the images: node and address as written.
    fn images(&self, py: Python<'_>) -> PyResult<Vec<(u32, String)>> {
        self.read(py, |page| Ok(pairs(text::images(page))))
    }

    /// Return the address in the first `base` element, as written.
    fn base(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.read(py, |page| Ok(text::base(page)))
    }
}

/// Return the names of the HTML elements whose content is not part of the text of a page.
#[pyfunction]
pub fn hidden_elements() -> Vec<&'static str> {
    text::HIDDEN_ELEMENTS.to_vec()
}

fn pairs(references: Vec<Reference>) -> Vec<(u32, String)> {
    references
        .into_iter()
        .map(|reference| (reference.node, reference.address))
        .collect()
}

pub fn numbers<'py>(py: Python<'py>, nodes: &[u32]) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &packed(nodes, u32::to_ne_bytes))
}
