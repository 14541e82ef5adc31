"""Real pages: the archives of ``../shared/corpus``, unpacked once, sampled the same way every time.

An archive is unpacked into a cache folder outside the repository on first use
(``QUIRE_CORPUS_CACHE``, else the user's cache folder). A sample is every k-th file of the
sorted names, so that the same call means the same pages on every machine.
"""

import io
import os
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import zstandard

from benchmarks.provenance import REPOSITORY

ARCHIVES = Path(os.environ.get("QUIRE_CORPUS", REPOSITORY.parent / "shared" / "corpus"))

#: Pages as fetched from many sites: what "real pages" means in every table.
PAGES = ("pages-trafilatura", "pages-readability", "pages-articlebench")
TEMPLATES = (
    "templates-docs",
    "templates-helsingborg",
    "templates-swde",
    "templates-swde-sites",
    "templates-types",
)
VERSIONS = ("versions-fund", "versions-news", "versions-terms")
XML = ("xml-data",)
EVERYTHING = (
    *PAGES,
    *TEMPLATES,
    *VERSIONS,
    *XML,
    "records",
    "diff-pairs",
    "conformance-html5lib",
    "conformance-xml",
    "warc",
)

#: The archives were packed with a window of 2^27 bytes.
MAX_WINDOW_BYTES = 1 << 27


class CorpusMissing(FileNotFoundError):
    """An archive of pages is not where it should be."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path}: no such archive; set QUIRE_CORPUS to the folder that holds it")


@dataclass(frozen=True, slots=True)
class Page:
    """One file of a corpus."""

    corpus: str
    name: str
    path: Path

    def read(self) -> bytes:
        """The bytes as they were fetched."""
        return self.path.read_bytes()


def pages(
    corpora: Sequence[str], limit: int | None = None, suffixes: tuple[str, ...] = ()
) -> list[Page]:
    """The files of some corpora, or ``limit`` of them, evenly spaced.

    Empty files are left out: they have no speed. ``suffixes`` keeps only names that end so.
    """
    found = [page for corpus in corpora for page in _files(corpus)]
    found = [
        page
        for page in found
        if page.path.stat().st_size and (not suffixes or page.name.endswith(suffixes))
    ]
    if limit is None or limit >= len(found):
        return found
    return [found[index * len(found) // limit] for index in range(limit)]


def html_pages(corpora: Sequence[str], limit: int | None = None) -> list[Page]:
    """Only the pages, without the truth files that some corpora carry."""
    return pages(corpora, limit, (".html", ".htm"))


def xml_pages(corpora: Sequence[str] = XML, limit: int | None = None) -> list[Page]:
    """Only the XML documents."""
    return pages(corpora, limit, (".xml",))


def describe(chosen: Sequence[Page]) -> str:
    """``corpus + corpus (n files, m MB)``."""
    names = " + ".join(dict.fromkeys(page.corpus for page in chosen))
    total = sum(page.path.stat().st_size for page in chosen)
    return f"{names} ({len(chosen):,} files, {total / 1e6:.1f} MB)"


def warc_bodies(page: Page) -> Iterator[bytes]:
    """The payloads inside a WARC or ARC file, up to the first record that cannot be read."""
    # Here, since only this corpus needs it.
    from warcio.archiveiterator import (  # type: ignore[import-untyped] # noqa: PLC0415
        ArchiveIterator,
    )
    from warcio.exceptions import (  # type: ignore[import-untyped] # noqa: PLC0415
        ArchiveLoadFailed,
    )

    with page.path.open("rb") as file:
        try:
            for record in ArchiveIterator(file, arc2warc=True):
                body = record.content_stream().read()
                if body:
                    yield body
        except (ArchiveLoadFailed, EOFError, OSError, ValueError):
            return


def _files(corpus: str) -> list[Page]:
    folder = unpacked(corpus)
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return [Page(corpus, path.relative_to(folder).as_posix(), path) for path in found]


def unpacked(corpus: str) -> Path:
    """The folder of a corpus, unpacked on first use."""
    cache = Path(os.environ.get("QUIRE_CORPUS_CACHE", Path.home() / ".cache" / "quire" / "corpus"))
    target = cache / corpus
    if target.is_dir():
        return target
    archive = ARCHIVES / f"{corpus}.tar.zst"
    if not archive.is_file():
        raise CorpusMissing(archive)
    # Unpacked beside and renamed, so that an interrupted run leaves nothing half-done behind.
    staging = cache / f"{corpus}.{os.getpid()}.partial"
    with archive.open("rb") as packed:
        reader = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW_BYTES).stream_reader(packed)
        with tarfile.open(fileobj=io.BufferedReader(reader), mode="r|") as tar:
            tar.extractall(staging, filter="data")
    (staging / corpus).rename(target)
    staging.rmdir()
    return target
