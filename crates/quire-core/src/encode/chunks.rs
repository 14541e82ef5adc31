//! A page that arrives in chunks, as from a socket.
//!
//! The chunks are kept until the end: sniffing, character set detection and the check of every byte
//! need the whole page. So the way a page was split cannot make a difference. A source that exceeds
//! the limit is refused at once, not at its end.

use crate::base::error::Error;
use crate::digest::Digest;
use crate::encode::{Options, encode};
use crate::page::limits::MAX_SOURCE;

/// Collects chunks and encodes them as one page.
///
/// ```
/// use quire_core::Encoder;
/// use quire_core::{Options, encode};
///
/// let mut encoder = Encoder::new(Options::default());
/// encoder.feed(b"<p>Fi").unwrap();
/// encoder.feed(b"sh").unwrap();
/// let whole = encode(b"<p>Fish", &Options::default()).unwrap();
/// assert_eq!(encoder.finish().unwrap().whole().unwrap(), whole.whole().unwrap());
/// ```
pub struct Encoder {
    options: Options,
    source: Vec<u8>,
    /// [`MAX_SOURCE`], except in tests.
    limit: usize,
}

impl Encoder {
    /// Create an encoder without any bytes.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            source: Vec::new(),
            limit: MAX_SOURCE,
        }
    }

    /// Add the next bytes of the page; fails if the page becomes too long.
    pub fn feed(&mut self, chunk: &[u8]) -> Result<(), Error> {
        if chunk.len() > self.limit - self.source.len() {
            return Err(Error::TooLarge {
                bytes: self.source.len() as u64 + chunk.len() as u64,
                limit: self.limit as u64,
            });
        }
        self.source.extend_from_slice(chunk);
        Ok(())
    }

    /// Make the digest of all bytes added.
    pub fn finish(self) -> Result<Digest, Error> {
        encode(&self.source, &self.options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_refused_as_soon_as_it_is_too_long() {
        let mut encoder = Encoder::new(Options::default());
        encoder.limit = 8;
        encoder.feed(b"<p>Fish").unwrap();
        let error = encoder.feed(b" and chips").unwrap_err();
        assert!(matches!(
            error,
            Error::TooLarge {
                bytes: 17,
                limit: 8
            }
        ));
        encoder.feed(b"!").unwrap();
        let page = encoder.finish().unwrap();
        assert_eq!(crate::digest::decode::decode(&page).unwrap(), b"<p>Fish!");
    }
}
