//! zstd with a base as dictionary: the default codec of the archive, one frame for each page.
//!
//! # Frame
//!
//! One or more zstd frames (RFC 8878) without their magic number, which the container knows anyway.
//! The base is the dictionary, as raw content: no tables, no identifier. There is no checksum and
//! no content size; the container stores both. The window covers the base and the page. Because
//! zstd treats raw content that starts with `37 A4 30 EC` as a dictionary with tables, one zero
//! byte is put before such a base; because zstd ignores dictionaries of less than 8 bytes, so does
//! the decoder.
//!
//! # Cost
//!
//! A base is prepared once for reading and, when the first page is written at a level and with a
//! search, once for each thread that writes. After that, the cost of a page depends only on its own
//! bytes, not on the length of the base. Contexts are kept with the base and reused.

use std::sync::{Mutex, PoisonError};

use zstd::zstd_safe::{
    CCtx, CParameter, DCtx, DDict, DParameter, DictAttachPref, FrameFormat, Strategy,
    compress_bound, get_error_name,
};

use super::refused;
use crate::base::error::Error;

/// zstd reads content that starts with this as a dictionary with tables.
const DICTIONARY_MAGIC: [u8; 4] = [0x37, 0xa4, 0x30, 0xec];
/// zstd's limits for the window, as powers of two.
const MIN_WINDOW_LOG: u32 = 10;
const MAX_WINDOW_LOG: u32 = 30;
/// Levels up to this search by hash alone; above, by trees, whose sizes zstd chooses well.
const TABLE_LEVELS: i32 = 12;
/// Limits for the table of a base, as powers of two.
const MIN_TABLE_LOG: u32 = 12;
const MAX_TABLE_LOG: u32 = 24;

/// Shortest match in a base that pages repeat nearly all of; zstd's own choice is 5.
const LONG_MATCH: u32 = 6;

/// What to search a base for. Frames of both are read alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// Every match that is worth it, as zstd's levels do.
    Usual,
    /// Matches of six bytes or more, without looking two bytes ahead for a better one. It takes
    /// three quarters of the time. Frames are smaller if pages repeat nearly all of a long base:
    /// short grams are then so frequent that the best matches are not among those tried.
    Long,
}

/// A base, prepared for many pages. Several threads may use it.
pub struct Base {
    content: Vec<u8>,
    digested: Option<DDict<'static>>,
    writers: Mutex<Vec<Writer>>,
    readers: Mutex<Vec<DCtx<'static>>>,
}

/// A context that has prepared the base for one level and search.
struct Writer {
    level: i32,
    search: Search,
    context: CCtx<'static>,
}

impl Base {
    /// Prepare a base for reading; the first page written prepares it for writing.
    #[must_use]
    pub fn new(content: &[u8]) -> Base {
        let mut kept = Vec::with_capacity(content.len() + 1);
        if content.starts_with(&DICTIONARY_MAGIC) {
            kept.push(0);
        }
        kept.extend_from_slice(content);
        Base {
            digested: (!kept.is_empty()).then(|| DDict::create(&kept)),
            content: kept,
            writers: Mutex::default(),
            readers: Mutex::default(),
        }
    }

    /// Create an empty base: pages are compressed on their own.
    #[must_use]
    pub fn none() -> Base {
        Base::new(&[])
    }

    /// Compress a page against this base. Levels are zstd's, 1 to 22; others are clamped to that
    /// range.
    ///
    /// ```
    /// # use quire_core::codec::Base;
    /// let base = Base::new(b"<title>Monday</title><p>the same as ever</p>");
    /// let page = b"<title>Tuesday</title><p>the same as ever</p>";
    /// let frame = base.encode(page, 9)?;
    /// assert!(frame.len() < 25);
    /// assert_eq!(base.decode(&frame, page.len())?, page);
    /// # Ok::<(), quire_core::Error>(())
    /// ```
    pub fn encode(&self, page: &[u8], level: i32) -> Result<Vec<u8>, Error> {
        self.encode_with(page, level, Search::Usual)
    }

    /// Like [`Base::encode`], with a choice of what to search for. Above level 12, and if the base
    /// is empty, every search is the usual one.
    pub fn encode_with(&self, page: &[u8], level: i32, search: Search) -> Result<Vec<u8>, Error> {
        let level = level.clamp(1, zstd::zstd_safe::max_c_level());
        let mut writer = match self.idle_writer(level, search) {
            Some(writer) => writer,
            None => Writer::new(&self.content, level, search)?,
        };
        let mut frame = Vec::with_capacity(compress_bound(page.len()));
        writer.write(page, self.content.len(), &mut frame)?;
        frame.shrink_to_fit();
        self.writers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(writer);
        Ok(frame)
    }

    /// Decompress a page: exactly `expected_len` bytes, or an error. Never allocates more than
    /// that, whatever the frame claims.
    pub fn decode(&self, frame: &[u8], expected_len: usize) -> Result<Vec<u8>, Error> {
        let kept = self
            .readers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        let mut reader = match kept {
            Some(reader) => reader,
            None => new_reader()?,
        };
        // A wrong length must not allocate memory: a block of up to 128 KiB takes at least 4 bytes.
        let most = (frame.len() as u64).saturating_mul(128 << 10 >> 2);
        if expected_len as u64 > most {
            return Err(refused(format!(
                "zstd frame of {} bytes cannot hold the expected {expected_len} bytes",
                frame.len()
            )));
        }
        let mut page = Vec::with_capacity(expected_len);
        let read = match &self.digested {
            Some(digested) => reader.decompress_using_ddict(&mut page, frame, digested),
            None => reader.decompress(&mut page, frame),
        };
        let read = read.map_err(|code| {
            refused(format!(
                "zstd frame is damaged or not for this base: {}",
                get_error_name(code)
            ))
        });
        self.readers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(reader);
        read?;
        if page.len() == expected_len {
            return Ok(page);
        }
        Err(refused(format!(
            "zstd frame holds {} bytes; expected {expected_len}",
            page.len()
        )))
    }

    fn idle_writer(&self, level: i32, search: Search) -> Option<Writer> {
        let mut writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |writer: &Writer| (writer.level, writer.search) == (level, search);
        let at = writers.iter().position(is_same)?;
        Some(writers.swap_remove(at))
    }
}

impl Writer {
    fn new(base: &[u8], level: i32, search: Search) -> Result<Writer, Error> {
        let mut context = CCtx::create();
        let mut set = |parameter| context.set_parameter(parameter).map_err(failed);
        set(CParameter::CompressionLevel(level))?;
        set(CParameter::Format(FrameFormat::Magicless))?;
        set(CParameter::ContentSizeFlag(false))?;
        set(CParameter::DictIdFlag(false))?;
        set(CParameter::ChecksumFlag(false))?;
        if !base.is_empty() {
            // By itself zstd makes tables for pages of any length, tens of megabytes that have to be
            // cleared: that takes longer than writing some megabytes of pages. The base is searched
            // where it is, because a copy of its tables for each page would cost the same again.
            if level <= TABLE_LEVELS {
                let entries = base.len().next_power_of_two().ilog2();
                let log = entries.clamp(MIN_TABLE_LOG, MAX_TABLE_LOG);
                set(CParameter::HashLog(log))?;
                set(CParameter::ForceAttachDict(DictAttachPref::ForceAttach))?;
                if search == Search::Long {
                    set(CParameter::MinMatch(LONG_MATCH))?;
                    set(CParameter::Strategy(Strategy::ZSTD_lazy))?;
                }
            }
            context.load_dictionary(base).map_err(failed)?;
        }
        Ok(Writer {
            level,
            search,
            context,
        })
    }

    fn write(&mut self, page: &[u8], base: usize, frame: &mut Vec<u8>) -> Result<(), Error> {
        // Not taken from the level, whose window may be shorter than base and page together.
        let reach = (base + page.len()).max(1).next_power_of_two().ilog2();
        let window = CParameter::WindowLog(reach.clamp(MIN_WINDOW_LOG, MAX_WINDOW_LOG));
        self.context.set_parameter(window).map_err(failed)?;
        self.context.compress2(frame, page).map_err(failed)?;
        Ok(())
    }
}

fn new_reader() -> Result<DCtx<'static>, Error> {
    let mut reader = DCtx::create();
    reader
        .set_parameter(DParameter::Format(FrameFormat::Magicless))
        .map_err(failed)?;
    Ok(reader)
}

fn failed(code: usize) -> Error {
    refused(format!("zstd: {}", get_error_name(code)))
}

#[cfg(test)]
mod tests;
