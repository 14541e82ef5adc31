//! Patches: bytes that the layers do not give exactly, compressed with what they do give as a prefix.

use std::io::Read;

use zstd::zstd_safe::{CCtx, CParameter};

use crate::base::error::Error;
use crate::sdiff::script::model::{Base, Patch, Raw};
use crate::sdiff::script::refuse;

/// Level of patches: they are rare, small against their prefix, and kept.
const LEVEL: i32 = 6;
/// The narrowest window of zstd, and the widest that is used: 128 MiB, so that a frame cannot ask for
/// more memory than that before it has given anything.
const WINDOWS: (u32, u32) = (10, 27);

/// Wide enough to reach the start of the prefix from the end of the source, where that is possible.
fn window(prefix: usize, source: usize) -> u32 {
    let reach = (prefix + source).max(1).next_power_of_two();
    reach.trailing_zeros().clamp(WINDOWS.0, WINDOWS.1)
}

/// Make a patch.
pub fn make_patch(base: Base, prefix: &[u8], source: &[u8]) -> Result<Patch, Error> {
    let failed = |code| {
        refuse(format!(
            "patch could not be made: {}",
            zstd::zstd_safe::get_error_name(code)
        ))
    };
    let mut context = CCtx::create();
    for parameter in [
        CParameter::CompressionLevel(LEVEL),
        CParameter::WindowLog(window(prefix.len(), source.len())),
        CParameter::EnableLongDistanceMatching(true),
    ] {
        context.set_parameter(parameter).map_err(failed)?;
    }
    context.ref_prefix(prefix).map_err(failed)?;
    let mut zstd = Vec::with_capacity(zstd::zstd_safe::compress_bound(source.len()));
    context.compress2(&mut zstd, source).map_err(failed)?;
    Ok(Patch {
        base,
        zstd: Raw(zstd),
    })
}

/// Undo [`make_patch`]. Memory follows what the patch really holds, and at most `length`.
pub fn open_patch(patch: &Patch, prefix: &[u8], length: u64) -> Result<Vec<u8>, Error> {
    let damaged = |error: std::io::Error| refuse(format!("patch is damaged: {error}"));
    let mut source = Vec::new();
    let mut decoder =
        zstd::stream::read::Decoder::with_ref_prefix(&patch.zstd.0[..], prefix).map_err(damaged)?;
    let longest = usize::try_from(length).unwrap_or(usize::MAX / 4);
    decoder
        .window_log_max(window(prefix.len(), longest))
        .map_err(damaged)?;
    (decoder.take(length + 1))
        .read_to_end(&mut source)
        .map_err(damaged)?;
    if source.len() as u64 == length {
        return Ok(source);
    }
    Err(refuse(format!(
        "patch holds {} bytes or more, but the new page has {length}",
        source.len()
    )))
}
