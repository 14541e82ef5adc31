//! The character set of a page, and the check whether its strings need decoding.

use encoding_rs::Encoding;

use crate::page::text_mode::Mode;

/// The character set of a page, as needed for hashing its bytes.
#[derive(Clone, Copy)]
pub struct Charset {
    /// The character set.
    pub encoding: &'static Encoding,
    /// Whether the whole page is valid UTF-8, so that parts need no further check.
    pub valid_utf8: bool,
}

impl Charset {
    /// Whether a string needs no decoding. May return false for some strings that need none.
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
