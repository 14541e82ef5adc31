//! The corpus next to the repository, for the tests that read it.

use std::io::Read;
use std::path::Path;

/// Return the files of an archive of the corpus, as (path, bytes); `None`, with the reason printed,
/// if the corpus is not available.
pub fn archive(name: &str) -> Option<Vec<(String, Vec<u8>)>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/corpus")
        .join(format!("{name}.tar.zst"));
    let Ok(packed) = std::fs::File::open(&path) else {
        eprintln!("skipped: no corpus at {}", path.display());
        return None;
    };
    let unpacked = zstd::Decoder::new(packed).expect("a zstd frame");
    let mut archive = tar::Archive::new(unpacked);
    let mut files = Vec::new();
    for entry in archive.entries().expect("a tar archive") {
        let mut entry = entry.expect("a whole entry");
        if entry.header().entry_type().is_file() {
            let path = entry.path().expect("a path").to_string_lossy().into_owned();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).expect("a whole file");
            files.push((path, bytes));
        }
    }
    Some(files)
}
