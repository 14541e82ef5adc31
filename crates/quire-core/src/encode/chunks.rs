//! A page that arrives in chunks, as from a socket.
//!
//! The chunks are kept until the end: sniffing, character sets and the check of every
//! byte need the whole page. So how a page was cut cannot make a difference. A source that
//! grows past the limit is refused as soon as it does, not when it ends.

use crate::base::error::Error;
use crate::digest::Digest;
use crate::encode::{Options, encode};
use crate::page::limits::MAX_SOURCE;

/// Collects chunks and encodes them as one page.
///
/// ```
/// use quire_core::encode::chunks::Encoder;
/// use quire_core::encode::{Options, encode};
///
/// let mut encoder = Encoder::new(Options::default());
/// encoder.feed(b"<p>Fi").unwrap();
/// encoder.feed(b"sh").unwrap();
/// let whole = encode(b"<p>Fish", &Options::default()).unwrap();
/// assert_eq!(encoder.finish().unwrap().as_bytes(), whole.as_bytes());
/// ```
pub struct Encoder {
    options: Options,
    source: Vec<u8>,
}

impl Encoder {
    /// An encoder without any bytes yet.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            source: Vec::new(),
        }
    }

    /// Add the next bytes of the page.
    pub fn feed(&mut self, chunk: &[u8]) -> Result<(), Error> {
        if chunk.len() > MAX_SOURCE - self.source.len() {
            return Err(Error::TooLarge {
                bytes: self.source.len() as u64 + chunk.len() as u64,
                limit: MAX_SOURCE as u64,
            });
        }
        self.source.extend_from_slice(chunk);
        Ok(())
    }

    /// Make the digest of everything that was fed.
    pub fn finish(self) -> Result<Digest, Error> {
        encode(&self.source, &self.options)
    }
}
