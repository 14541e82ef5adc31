//! Bytes of a page in JSON: a string where they are UTF-8, else base64.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes as a page has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Raw(pub Vec<u8>);

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The form for bytes that are not UTF-8.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Packed {
    base64: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Form {
    Text(String),
    Packed(Packed),
}

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(&self.0) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => Packed {
                base64: to_base64(&self.0),
            }
            .serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Form::deserialize(deserializer) {
            Ok(Form::Text(text)) => Ok(Self(text.into_bytes())),
            Ok(Form::Packed(Packed { base64 })) => from_base64(&base64)
                .map(Self)
                .ok_or_else(|| D::Error::custom("bytes are not valid base64")),
            Err(_) => Err(D::Error::custom(
                "bytes are neither a string nor {\"base64\": string}",
            )),
        }
    }
}

/// Three bytes as four characters (RFC 4648, with padding).
///
/// ```
/// use quire_core::sdiff::script::{from_base64, to_base64};
///
/// assert_eq!(to_base64(b"\xff\xfe!?"), "//4hPw==");
/// assert_eq!(from_base64("//4hPw==").unwrap(), b"\xff\xfe!?");
/// assert!(from_base64("//4hP").is_none());
/// ```
pub fn to_base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut group = [0; 3];
        group[..chunk.len()].copy_from_slice(chunk);
        let bits = u32::from_be_bytes([0, group[0], group[1], group[2]]);
        for at in 0..4 {
            let six = bits >> (18 - 6 * at) & 63;
            text.push(if at <= chunk.len() {
                ALPHABET[six as usize] as char
            } else {
                '='
            });
        }
    }
    text
}

/// Undo [`to_base64`].
pub fn from_base64(text: &str) -> Option<Vec<u8>> {
    let text = text.as_bytes();
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let groups = text.len() / 4;
    for (at, group) in text.chunks_exact(4).enumerate() {
        let filled = group.iter().rev().take_while(|&&c| c == b'=').count();
        if filled > 2 || (filled > 0 && at + 1 != groups) {
            return None;
        }
        let mut bits = 0;
        for &character in &group[..4 - filled] {
            bits = bits << 6 | six_bits(character)?;
        }
        bits <<= 6 * filled;
        bytes.extend_from_slice(&bits.to_be_bytes()[1..4 - filled]);
    }
    Some(bytes)
}

fn six_bits(character: u8) -> Option<u32> {
    Some(u32::from(match character {
        b'A'..=b'Z' => character - b'A',
        b'a'..=b'z' => character - b'a' + 26,
        b'0'..=b'9' => character - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}
