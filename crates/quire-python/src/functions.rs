//! The functions that make digests: from bytes, files and trees.

use std::path::PathBuf;
use std::sync::Arc;

use encoding_rs::Encoding;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use quire_core::format::{Header, Signatures};
use quire_core::{Columns, Kind, Namespace, Options};

use quire_core::html::Context;
use quire_core::{Digest as Page, Verify, format};

use crate::buffers::{Owned, map};
use crate::digest::Digest;
use crate::guard::{brief, run};

/// Make the digest of a source.
#[pyfunction]
#[pyo3(signature = (source, kind, content_type, encoding, scripting, fragment, recover))]
#[allow(clippy::too_many_arguments)] // these are the options of `quire.encode`, which passes them by name
pub fn encode(
    py: Python<'_>,
    source: PyBackedBytes,
    kind: Option<&str>,
    content_type: Option<String>,
    encoding: Option<&str>,
    scripting: bool,
    fragment: Option<&str>,
    recover: bool,
) -> PyResult<Digest> {
    let options = options_of(kind, content_type, encoding, scripting, fragment, recover)?;
    run(py, move || quire_core::encode(&source, &options)).map(Digest::new)
}

/// Collects the chunks of a page. For one thread at a time.
#[pyclass(module = "quire._core._native")]
pub struct Encoder {
    /// None once the page is finished.
    kept: Option<quire_core::Encoder>,
}

impl Encoder {
    fn finished() -> PyErr {
        PyValueError::new_err("the page is finished; use a new Encoder for the next one")
    }
}

#[pymethods]
impl Encoder {
    /// Start an empty page.
    #[new]
    #[pyo3(signature = (kind, content_type, encoding, scripting, fragment, recover))]
    fn new(
        kind: Option<&str>,
        content_type: Option<String>,
        encoding: Option<&str>,
        scripting: bool,
        fragment: Option<&str>,
        recover: bool,
    ) -> PyResult<Self> {
        let options = options_of(kind, content_type, encoding, scripting, fragment, recover)?;
        let kept = Some(quire_core::Encoder::new(options));
        Ok(Self { kept })
    }

    /// Add the next bytes of the page.
    fn feed(&mut self, py: Python<'_>, chunk: &[u8]) -> PyResult<()> {
        let encoder = self.kept.as_mut().ok_or_else(Self::finished)?;
        brief(py, || encoder.feed(chunk))
    }

    /// Make the digest. The encoder cannot be used again.
    fn finish(&mut self, py: Python<'_>) -> PyResult<Digest> {
        let encoder = self.kept.take().ok_or_else(Self::finished)?;
        run(py, move || encoder.finish()).map(Digest::new)
    }
}

fn options_of(
    kind: Option<&str>,
    content_type: Option<String>,
    encoding: Option<&str>,
    scripting: bool,
    fragment: Option<&str>,
    recover: bool,
) -> PyResult<Options> {
    Ok(Options {
        kind: kind.map(kind_of).transpose()?,
        content_type,
        encoding: encoding.map(encoding_of).transpose()?,
        scripting,
        context: fragment.map(context_of).transpose()?,
        recover,
    })
}

fn kind_of(name: &str) -> PyResult<Kind> {
    Kind::from_name(name)
        .filter(|&kind| kind != Kind::Tree)
        .ok_or_else(|| {
            PyValueError::new_err(format!(
                "unknown kind {name:?}; expected html, xml, json, text or bytes"
            ))
        })
}

fn encoding_of(label: &str) -> PyResult<&'static Encoding> {
    Encoding::for_label(label.as_bytes()).ok_or_else(|| {
        PyValueError::new_err(format!(
            "unknown encoding {label:?}; expected a label of the WHATWG Encoding Standard"
        ))
    })
}

/// Read the context of a fragment: `td`, `svg path` or `math mi`.
fn context_of(text: &str) -> PyResult<Context> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let (namespace, name) = match words[..] {
        [name] => (Namespace::Html, name.to_ascii_lowercase()),
        ["svg", name] => (Namespace::Svg, name.to_owned()),
        ["math", name] => (Namespace::MathMl, name.to_owned()),
        _ => {
            return Err(PyValueError::new_err(format!(
                "fragment {text:?} is not an element; expected e.g. 'td', 'svg path' or 'math mi'"
            )));
        }
    };
    Ok(Context {
        namespace,
        name,
        html_integration: false,
    })
}

fn verify_of(verify: &str) -> PyResult<Verify> {
    match verify {
        "all" => Ok(Verify::All),
        "columns" => Ok(Verify::Columns),
        _ => Err(PyValueError::new_err(format!(
            "unknown verify {verify:?}; expected all or columns"
        ))),
    }
}

/// Open a digest in memory, compressed or not. The bytes are not copied.
#[pyfunction]
pub fn from_bytes(py: Python<'_>, data: PyBackedBytes, verify: &str) -> PyResult<Digest> {
    let verify = verify_of(verify)?;
    run(py, move || Page::open(Box::new(Owned(data)), verify)).map(Digest::new)
}

/// Open a digest file, compressed or not. The file must not be changed in place afterwards.
#[pyfunction]
pub fn from_file(py: Python<'_>, path: PathBuf, verify: &str) -> PyResult<Digest> {
    let verify = verify_of(verify)?;
    let opened = run(py, || match quire_core::open_file(&path, verify, map) {
        Ok(opened) => opened.map(Ok),
        Err(error) => Ok(Err(error)),
    })?;
    opened.map(Digest::new).map_err(|error| {
        let Some(code) = error.raw_os_error() else {
            return error.into();
        };
        // From these three Python picks the right class, such as FileNotFoundError. Rust's message
        // ends with the error code, which Python adds itself.
        let message = error.to_string();
        let message = message.split(" (os error").next().unwrap_or_default();
        PyOSError::new_err((code, message.to_owned(), path.into_os_string()))
    })
}

/// The fields of a header: kind, nodes, flags, source length, compressed, signatures.
pub type Peeked = (
    &'static str,
    u32,
    Vec<&'static str>,
    u64,
    bool,
    [u128; Signatures::NAMES.len()],
);

/// Read the header at the start of a digest. The rest of the digest may be missing.
#[pyfunction]
pub fn peek(py: Python<'_>, head: &[u8]) -> PyResult<Peeked> {
    let header = brief(py, || Header::read(head))?;
    Ok((
        header.kind.name(),
        header.nodes,
        header.flags.names().collect(),
        header.source_length,
        header.compressed,
        header.signatures.0,
    ))
}

/// Return a digest in its compressed form.
#[pyfunction]
pub fn compress<'py>(
    py: Python<'py>,
    digest: &Bound<'py, Digest>,
    level: i32,
) -> PyResult<Bound<'py, PyBytes>> {
    if !(1..=22).contains(&level) {
        return Err(PyValueError::new_err(format!(
            "unknown level {level}; expected 1 to 22"
        )));
    }
    let page = Arc::clone(digest.get().page());
    let bytes = run(py, move || {
        page.check_heaps()?;
        format::compress(&page.whole()?, level)
    })?;
    Ok(PyBytes::new(py, &bytes))
}

/// Make the digest of a tree given as columns.
#[pyfunction]
pub fn from_columns(
    py: Python<'_>,
    children: Vec<u32>,
    tags: Vec<String>,
    attributes: Vec<Vec<(String, String)>>,
    contents: Vec<Option<PyBackedBytes>>,
) -> PyResult<Digest> {
    run(py, move || {
        let contents = contents
            .into_iter()
            .map(|content| content.map(|bytes| bytes.to_vec()))
            .collect();
        quire_core::from_columns(&Columns {
            children,
            tags,
            attributes,
            contents,
        })
    })
    .map(Digest::new)
}

/// Panic like a kernel with a bug. For the test that panics arrive as `InternalError`.
#[pyfunction]
pub fn _panic_for_test(py: Python<'_>) -> PyResult<()> {
    run(py, || panic!("asked to fail"))
}
