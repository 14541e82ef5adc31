//! How a script begins: its format and version, and the facts by which it recognises its pages.

use serde::{Deserialize, Serialize};

use crate::base::hash::hash128;
use crate::digest::Digest;
use crate::digest::format::Signatures;

/// By what a page is recognised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// Signature of its source, 32 hexadecimal digits.
    #[serde(with = "hexadecimal")]
    pub signature: u128,
    /// Signature of its shape, tags and contents: the same source may be read in several ways.
    #[serde(with = "hexadecimal")]
    pub tree: u128,
    /// Number of nodes.
    pub n: u32,
    /// Its kind.
    pub kind: String,
    /// Length of its source.
    pub bytes: u64,
}

impl Head {
    /// By what a page is recognised.
    pub fn of(page: &Digest) -> Self {
        let Signatures([source, structure, tags, _, content, ..]) = page.signatures();
        Self {
            signature: source,
            tree: hash128(&[structure, tags, content].map(u128::to_le_bytes).concat()),
            n: page.n() as u32,
            kind: page.kind().name().to_owned(),
            bytes: page.header().source_length,
        }
    }
}

/// The mark of the format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub struct Mark;

impl Mark {
    const TEXT: &'static str = "quire-edit-script";
}

impl From<Mark> for &'static str {
    fn from(_: Mark) -> Self {
        Mark::TEXT
    }
}

impl TryFrom<String> for Mark {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text == Mark::TEXT {
            return Ok(Mark);
        }
        let text = crate::base::error::shortened(&text);
        Err(format!("format is {text:?}, but expected {:?}", Mark::TEXT))
    }
}

/// The version of the form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct Version;

impl Version {
    const NUMBER: u64 = 1;
}

impl From<Version> for u64 {
    fn from(_: Version) -> Self {
        Version::NUMBER
    }
}

impl TryFrom<u64> for Version {
    type Error = String;

    fn try_from(found: u64) -> Result<Self, String> {
        if found == Version::NUMBER {
            return Ok(Version);
        }
        let newest = Version::NUMBER;
        Err(format!(
            "version is {found}, but this version reads {newest}"
        ))
    }
}

mod hexadecimal {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[allow(clippy::trivially_copy_pass_by_ref)] // serde hands references
    pub fn serialize<S: Serializer>(value: &u128, serializer: S) -> Result<S::Ok, S::Error> {
        format!("{value:032x}").serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u128, D::Error> {
        let text = String::deserialize(deserializer)?;
        (text.len() == 32)
            .then(|| u128::from_str_radix(&text, 16).ok())
            .flatten()
            .ok_or_else(|| D::Error::custom("a signature is not 32 hexadecimal digits"))
    }
}
