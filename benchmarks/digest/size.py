"""How large digest files are beside their sources, plain and compressed, corpus by corpus.

Page by page, as files would be stored; a corpus compressed as a whole is the archive's
subject. zstd of the source stands beside, because it is what anybody would use instead.
"""

from dataclasses import dataclass

import zstandard

import quire
from benchmarks import corpora
from benchmarks.context import Context
from benchmarks.report import Report, Right, Table

#: The level of compressed digests, for the source as well.
LEVEL = 6


@dataclass(slots=True)
class Sizes:
    """Bytes of one corpus in four forms."""

    files: int = 0
    source: int = 0
    source_zstd: int = 0
    digest: int = 0
    digest_zstd: int = 0
    right: int = 0

    def row(self, name: str) -> list[str]:
        """One line of the table, ratios to the source."""
        return [
            name,
            f"{self.files:,}",
            f"{self.source / 1e6:.1f}",
            f"{self.digest / self.source:.3f}",
            f"{self.digest_zstd / self.source:.3f}",
            f"{self.source_zstd / self.source:.3f}",
            f"{self.digest_zstd / self.source_zstd:.3f}",
        ]


def run(context: Context) -> Report:
    """Measure files of every corpus that has pages or XML."""
    chosen = context.corpora or (
        *corpora.PAGES,
        *corpora.TEMPLATES,
        *corpora.VERSIONS,
        *corpora.XML,
    )
    report = Report(
        title="Size of digest files compared with their sources",
        inputs=", ".join(chosen),
        method=f"each file by itself, zstd level {LEVEL}; evenly spaced samples of at most 300 files a corpus",
        notes=[
            "there is no target for the size of a compressed digest compared with the compressed page"
        ],
    )
    total = Sizes()
    rows = []
    for corpus in chosen:
        context.say(corpus)
        sizes = _measure(corpus, context.pick(300, 15))
        rows.append(sizes.row(corpus))
        report.data[corpus] = {name: getattr(sizes, name) for name in Sizes.__slots__}
        for name in Sizes.__slots__:
            setattr(total, name, getattr(total, name) + getattr(sizes, name))
    rows.append(total.row("all"))
    headings = [
        "corpus",
        "files",
        "source MB",
        "digest",
        "digest zstd",
        "source zstd",
        "digest zstd / source zstd",
    ]
    report.tables.append(Table(headings, rows, "bytes as a share of the source"))
    report.right = [
        Right("quire", total.right, total.files, "the plain file reads back to the source")
    ]
    return report


def _measure(corpus: str, limit: int) -> Sizes:
    sizes = Sizes()
    compressor = zstandard.ZstdCompressor(level=LEVEL)
    for page in corpora.pages((corpus,), limit, (".html", ".htm", ".xml")):
        body = page.read()
        digest = quire.encode(body, kind="xml" if page.name.endswith(".xml") else "html")
        plain, packed = digest.to_bytes(), digest.to_bytes(compress=True)
        sizes.files += 1
        sizes.source += len(body)
        sizes.source_zstd += len(compressor.compress(body))
        sizes.digest += len(plain)
        sizes.digest_zstd += len(packed)
        sizes.right += quire.from_bytes(plain).decode() == body
    return sizes
