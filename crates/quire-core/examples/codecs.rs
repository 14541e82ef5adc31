//! Measures the codecs of the archive on folders of pages: bytes, time to write, time to read.
//!
//! `cargo run --release -p quire-core --example codecs -- [--bases N] [--pages N] FOLDER…`. Each
//! folder is a corpus, each folder in it a cluster; `--pages` takes at most that many pages of a
//! cluster, evenly spaced. Every page is decoded and compared. `solid xz` is all pages in cluster
//! order in one stream, if `xz` is installed; single pages cannot be read from it.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use quire_core::codec::{Base, DenseBase, choose_base};

/// A way to store the pages of a cluster.
trait Codec {
    /// Store a base and prepare to write pages against it.
    fn create(&self, base: &[u8]) -> (Vec<u8>, Box<dyn Pages>);
    /// Prepare to read, from the stored base.
    fn open(&self, stored: &[u8], base_len: usize) -> Box<dyn Pages>;
}

/// A codec with its base.
trait Pages {
    fn encode(&self, page: &[u8]) -> Vec<u8>;
    fn decode(&self, frame: &[u8], length: usize) -> Vec<u8>;
}

struct Zstd(i32);

impl Codec for Zstd {
    fn create(&self, base: &[u8]) -> (Vec<u8>, Box<dyn Pages>) {
        let stored = match base {
            [] => Vec::new(),
            _ => Base::none().encode(base, 19).unwrap(),
        };
        (stored, Box::new((Base::new(base), self.0)))
    }

    fn open(&self, stored: &[u8], base_len: usize) -> Box<dyn Pages> {
        let base = match base_len {
            0 => Vec::new(),
            _ => Base::none().decode(stored, base_len).unwrap(),
        };
        Box::new((Base::new(&base), self.0))
    }
}

impl Pages for (Base, i32) {
    fn encode(&self, page: &[u8]) -> Vec<u8> {
        self.0.encode(page, self.1).unwrap()
    }

    fn decode(&self, frame: &[u8], length: usize) -> Vec<u8> {
        self.0.decode(frame, length).unwrap()
    }
}

struct Dense;

impl Codec for Dense {
    fn create(&self, base: &[u8]) -> (Vec<u8>, Box<dyn Pages>) {
        let (made, stored) = DenseBase::create(base);
        (stored, Box::new(made))
    }

    fn open(&self, stored: &[u8], base_len: usize) -> Box<dyn Pages> {
        Box::new(DenseBase::open(stored, base_len).unwrap())
    }
}

impl Pages for DenseBase {
    fn encode(&self, page: &[u8]) -> Vec<u8> {
        DenseBase::encode(self, page)
    }

    fn decode(&self, frame: &[u8], length: usize) -> Vec<u8> {
        DenseBase::decode(self, frame, length).unwrap()
    }
}

/// Return the CPU time of this thread, if the system provides it: other work on the machine does
/// not count.
fn worked() -> Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = told.split(' ').next().and_then(|first| first.parse().ok());
    nanos.map_or_else(
        || START.get_or_init(Instant::now).elapsed(),
        Duration::from_nanos,
    )
}

/// The results of a codec on a corpus.
#[derive(Default)]
struct Row {
    bytes: usize,
    base_bytes: usize,
    encode: Duration,
    open: Vec<Duration>,
    reads: Vec<Duration>,
    /// CPU time for all reads and openings, which load on the machine does not increase.
    reading: Duration,
    opening: Duration,
}

/// Return the base: the chosen pages one after another, the most useful last, so that it is nearest
/// to the page compressed against it.
fn join_base(pages: &[&[u8]], chosen: &[usize]) -> Vec<u8> {
    let mut base = Vec::with_capacity(chosen.iter().map(|&page| pages[page].len()).sum());
    for &page in chosen.iter().rev() {
        base.extend_from_slice(pages[page]);
    }
    base
}

impl Row {
    /// Process one cluster: the base, then every other page against it, each verified.
    fn cluster(&mut self, pages: &[&[u8]], bases: usize, codec: &dyn Codec) {
        let start = worked();
        let most = bases.min(pages.len().div_ceil(3));
        let chosen = choose_base(pages, most);
        let base = join_base(pages, &chosen);
        let (stored, writer) = codec.create(&base);
        let rest = (0..pages.len()).filter(|at| !chosen.contains(at));
        let rest: Vec<&[u8]> = rest.map(|at| pages[at]).collect();
        let frames: Vec<Vec<u8>> = rest.iter().map(|page| writer.encode(page)).collect();
        self.encode += worked().saturating_sub(start);
        drop(writer);
        self.base_bytes += stored.len();
        self.bytes += stored.len() + frames.iter().map(|frame| frame.len() + 2).sum::<usize>();
        let (start, from) = (worked(), Instant::now());
        let reader = codec.open(&stored, base.len());
        self.open.push(from.elapsed());
        self.opening += worked().saturating_sub(start);
        let start = worked();
        for (frame, page) in frames.iter().zip(rest) {
            let mut best = Duration::MAX;
            for _ in 0..3 {
                let start = Instant::now();
                let back = reader.decode(frame, page.len());
                best = best.min(start.elapsed());
                assert!(back == *page, "a page came back changed");
            }
            self.reads.push(best);
        }
        self.reading += worked().saturating_sub(start) / 3;
    }

    #[allow(clippy::cast_precision_loss)] // three digits are shown
    fn print(&mut self, name: &str, raw: usize) {
        let millis = |times: &mut Vec<Duration>, part: usize| {
            times.sort_unstable();
            let at = (times.len() * part / 100).min(times.len().saturating_sub(1));
            times.get(at).map_or(0.0, |t| t.as_secs_f64() * 1e3)
        };
        println!(
            "  {name:<16}{:>11}{:>11}{:>8.3} %{:>8.1}{:>9.3}{:>8.3}{:>8.3}{:>9.1}{:>8.1}{:>8.1}",
            self.bytes,
            self.base_bytes,
            self.bytes as f64 * 100.0 / raw as f64,
            raw as f64 / 1e6 / self.encode.as_secs_f64(),
            self.reading.as_secs_f64() * 1e3 / self.reads.len().max(1) as f64,
            millis(&mut self.reads, 50),
            millis(&mut self.reads, 95),
            self.opening.as_secs_f64() * 1e3 / self.open.len().max(1) as f64,
            millis(&mut self.open, 50),
            millis(&mut self.open, 100),
        );
    }
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

fn clusters(corpus: &Path, at_most: usize) -> BTreeMap<PathBuf, Vec<Vec<u8>>> {
    let mut clusters = BTreeMap::new();
    for entry in std::fs::read_dir(corpus).unwrap().flatten() {
        let mut found = Vec::new();
        files(&entry.path(), &mut found);
        found.sort();
        let count = found.len().min(at_most);
        let some = (0..count).map(|i| &found[i * found.len() / count]);
        clusters.insert(
            entry.path(),
            some.map(|path| std::fs::read(path).unwrap()).collect(),
        );
    }
    clusters
}

/// Return the size of all pages in one stream of `xz -9`.
fn solid_xz(clusters: &BTreeMap<PathBuf, Vec<Vec<u8>>>) -> Option<(usize, Duration)> {
    let start = Instant::now();
    let mut xz = Command::new("xz")
        .args(["-9", "-k", "--stdout"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let mut input = xz.stdin.take()?;
    let all: Vec<u8> = clusters.values().flatten().flatten().copied().collect();
    let writer = std::thread::spawn(move || input.write_all(&all));
    let output = xz.wait_with_output().ok()?;
    writer.join().ok()?.ok()?;
    Some((output.stdout.len(), start.elapsed()))
}

fn main() {
    let mut bases = 32;
    let mut at_most = usize::MAX;
    let mut only: Option<String> = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--bases" => bases = arguments.next().unwrap().parse().unwrap(),
            "--pages" => at_most = arguments.next().unwrap().parse().unwrap(),
            "--only" => only = arguments.next(),
            corpus => measure(Path::new(corpus), bases, at_most, only.as_deref()),
        }
    }
}

fn measure(corpus: &Path, bases: usize, at_most: usize, only: Option<&str>) {
    let clusters = clusters(corpus, at_most);
    let pages: usize = clusters.values().map(Vec::len).sum();
    let raw: usize = clusters.values().flatten().map(Vec::len).sum();
    println!(
        "\n{}: {} clusters, {pages} pages, {raw} bytes; at most {bases} bases",
        corpus.display(),
        clusters.len()
    );
    println!(
        "  {:<16}{:>11}{:>11}{:>10}{:>8}{:>9}{:>8}{:>8}{:>9}{:>8}{:>8}",
        "codec",
        "bytes",
        "in base",
        "of raw",
        "MB/s",
        "read ms",
        "median",
        "p95",
        "open ms",
        "median",
        "most"
    );
    let rows: [(&str, usize, &dyn Codec); 3] = [
        ("zstd -19 each", 0, &Zstd(19)),
        ("zstd -9 base", bases, &Zstd(9)),
        ("dense", bases, &Dense),
    ];
    for (name, bases, codec) in rows {
        if only.is_some_and(|only| !name.contains(only)) {
            continue;
        }
        let mut row = Row::default();
        for pages in clusters.values() {
            let pages: Vec<&[u8]> = pages.iter().map(Vec::as_slice).collect();
            row.cluster(&pages, bases, codec);
        }
        row.print(name, raw);
    }
    if only.is_none_or(|only| "xz".contains(only))
        && let Some((bytes, time)) = solid_xz(&clusters)
    {
        Row {
            bytes,
            encode: time,
            ..Row::default()
        }
        .print("solid xz -9", raw);
    }
}
