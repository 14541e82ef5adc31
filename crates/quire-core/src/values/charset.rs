//! The character set of a page, and whether its strings read as they are written.

use encoding_rs::Encoding;

use crate::page::text_mode::Mode;

/// What is known about the bytes of a page before they are hashed.
#[derive(Clone, Copy)]
pub struct Charset {
    /// The character set.
    pub encoding: &'static Encoding,
    /// Whether all of the page is valid UTF-8, so that no part needs to be looked at again.
    pub valid_utf8: bool,
}

impl Charset {
    /// Whether a string reads as it is written. May say no where the answer is yes.
    #[inline]
    pub fn is_plain(self, raw: &[u8], mode: Mode) -> bool {
        match mode {
            Mode::Data | Mode::Rcdata if self.valid_utf8 => {
                memchr::memchr3(b'&', b'\r', 0, raw).is_none()
            }
            Mode::RawText if self.valid_utf8 => memchr::memchr2(b'\r', 0, raw).is_none(),
            _ => super::is_plain(raw, mode, self.encoding),
        }
    }
}
