//! Classes, namespaces and modes by name, as JSON has them.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::page::text_mode::Mode;
use crate::page::vocabulary::{Class, Namespace};

/// Classes in the order of their numbers.
const CLASSES: [&str; 15] = [
    "document",
    "element",
    "text",
    "comment",
    "doctype",
    "cdata",
    "instruction",
    "fragment",
    "object",
    "array",
    "member",
    "scalar",
    "paragraph",
    "line",
    "bytes",
];

/// Namespaces in the order of their numbers.
const NAMESPACES: [&str; 6] = ["html", "svg", "mathml", "xml", "json", "tree"];

/// Modes in the order of their numbers.
const MODES: [&str; 12] = [
    "plain",
    "data",
    "rcdata",
    "raw-text",
    "foreign",
    "comment",
    "doctype",
    "xml-text",
    "xml-markup",
    "json-string",
    "data-after-pre",
    "rcdata-after-textarea",
];

/// Read a name and give its number.
fn number<'de, D: Deserializer<'de>>(
    deserializer: D,
    names: &[&str],
    what: &str,
) -> Result<u8, D::Error> {
    let name = String::deserialize(deserializer)?;
    (names.iter().position(|&known| known == name))
        .map(|at| at as u8)
        .ok_or_else(|| {
            let name = crate::base::error::shortened(&name);
            D::Error::custom(format!(
                "unknown {what} {name:?}; expected one of {}",
                names.join(", ")
            ))
        })
}

macro_rules! by_name {
    ($module:ident, $type:ty, $names:ident, $what:literal) => {
        pub mod $module {
            use super::*;

            #[allow(clippy::trivially_copy_pass_by_ref)] // serde hands references
            pub fn serialize<S: Serializer>(
                value: &$type,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                $names[*value as usize].serialize(serializer)
            }

            pub fn deserialize<'de, D: Deserializer<'de>>(
                deserializer: D,
            ) -> Result<$type, D::Error> {
                let number = number(deserializer, &$names, $what)?;
                <$type>::from_u8(number).ok_or_else(|| D::Error::custom($what))
            }
        }
    };
}

by_name!(class, Class, CLASSES, "class");
by_name!(namespace, Namespace, NAMESPACES, "namespace");
by_name!(mode, Mode, MODES, "mode");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_its_name() {
        assert!(Class::from_u8(CLASSES.len() as u8).is_none());
        assert!(Namespace::from_u8(NAMESPACES.len() as u8).is_none());
        assert!(Mode::from_u8(MODES.len() as u8).is_none());
        assert_eq!(CLASSES[Class::Bytes as usize], "bytes");
        assert_eq!(NAMESPACES[Namespace::MathMl as usize], "mathml");
        assert_eq!(MODES[Mode::DataAfterPre as usize], "data-after-pre");
    }
}
