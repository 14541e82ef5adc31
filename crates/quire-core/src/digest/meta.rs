//! Metadata of a page that is not in columns.

/// The character set and other metadata of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// WHATWG label of the character set.
    pub encoding: String,
    /// How it was detected.
    pub encoding_reason: String,
    /// The element a fragment was parsed in; empty for documents.
    pub context: String,
    /// Spacing of a JSON page, see [`crate::parse::json::Layout`].
    pub layout: Vec<u8>,
}

impl Meta {
    /// Append the stored form: four strings, each after its length in one byte.
    pub fn write(&self, out: &mut Vec<u8>) {
        for text in [
            self.encoding.as_bytes(),
            self.encoding_reason.as_bytes(),
            self.context.as_bytes(),
            &self.layout,
        ] {
            let mut length = text.len().min(255);
            // Not in the middle of a character, so that it can be read back.
            while length < text.len() && text[length] & 0xc0 == 0x80 {
                length -= 1;
            }
            let text = &text[..length];
            out.push(text.len() as u8);
            out.extend_from_slice(text);
        }
    }

    pub(super) fn read(mut bytes: &[u8]) -> Option<Self> {
        let mut next = || {
            let (&length, rest) = bytes.split_first()?;
            let (text, rest) = rest.split_at_checked(length as usize)?;
            bytes = rest;
            Some(text)
        };
        let meta = Self {
            encoding: String::from_utf8(next()?.to_vec()).ok()?,
            encoding_reason: String::from_utf8(next()?.to_vec()).ok()?,
            context: String::from_utf8(next()?.to_vec()).ok()?,
            layout: next()?.to_vec(),
        };
        bytes.is_empty().then_some(meta)
    }
}
