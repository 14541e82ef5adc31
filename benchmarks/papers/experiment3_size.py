"""Experiment 3, figure 4(a): how the size of a digest follows tag length and tag repetition.

The paper fixes tags at 5 or 10 characters and varies the share of tags that are the same from
0 to 100 %, the others all unique. Its documents' text is not described; "potential reduction" is read as
documents of tags alone, and a second table has ten characters in every leaf. Three sizes:

* *paper*: what sections 3.3 and 3.5 charge. ST takes N characters and the mappings TM, AM and CM
  take 3 N, empty or not; each tag name counts once; attributes and contents count as in the source.
* *columns*: the same lists, but columns at the width that their values need. One byte holds 256
  values, and a document with 10,000 different tags needs two.
* *file*: the bytes that ``save`` writes, with signatures, checksums and the spelling of the source.
"""

import numpy as np
import zstandard

import quire
from benchmarks import corpora
from benchmarks.context import Context
from benchmarks.plot import Series, line_chart
from benchmarks.report import Goal, Report, Right, Table
from quire.testing import generate_tags

LENGTHS = (5, 10)
REPETITIONS = range(0, 101, 10)
NODES, QUICK_NODES = 20_000, 2_000
TEXTS = (0, 10)
#: The paper: "30 to 50 % smaller".
LEAST_SAVED = 0.3


def run(context: Context) -> Report:
    """Write both tables, and the same ratios on real documents."""
    nodes = context.pick(NODES, QUICK_NODES)
    report = Report(
        title="Paper, experiment 3: size by tag length and repetition (figure 4a)",
        inputs=f"generated XML, {nodes:,} elements in the mixed shape, seed {context.seed}; real XML and pages",
        method=(
            "bytes of the digest / bytes of the source; paper: as its sections 3.3 and 3.5 count, a character for"
            " each entry of four columns, tag names once, attributes and contents as in the source; columns: the"
            " same with the width that values need; file: as saved, with signatures and checksums; zstd level 6,"
            " each document by itself"
        ),
        notes=["the paper: 30 to 50 % smaller; the reduction grows with repetition and tag length"],
    )
    right = cases = 0
    for text_bytes in TEXTS:
        series: dict[tuple[int, str], list[float]] = {}
        rows = []
        for repetition in REPETITIONS:
            row = [f"{repetition} %"]
            for length in LENGTHS:
                body = generate_tags(nodes, length, repetition, text_bytes, context.seed)
                digest = quire.encode(body, kind="xml")
                plain, packed = digest.to_bytes(), digest.to_bytes(compress=True)
                cases += 1
                right += quire.from_bytes(plain).decode() == body
                lists = _list_bytes(digest)
                ratios = {
                    "paper": (4 * digest.n + lists) / len(body),
                    "columns": (_column_bytes(digest) + lists) / len(body),
                    "file": len(plain) / len(body),
                    "zstd": len(packed) / len(body),
                    "source zstd": len(zstandard.compress(body, 6)) / len(body),
                }
                row += [f"{ratio:.3f}" for ratio in ratios.values()]
                for name, ratio in ratios.items():
                    series.setdefault((length, name), []).append(ratio)
            rows.append(row)
        headings = [
            "same tag",
            *(
                f"{length}: {name}"
                for length in LENGTHS
                for name in ("paper", "columns", "file", "zstd", "source zstd")
            ),
        ]
        caption = f"tag length 5 and 10, {text_bytes} bytes of text in each leaf; size / source"
        report.tables.append(Table(headings, rows, caption))
        lines = [
            Series(f"length {length}, {name}", list(REPETITIONS), values)
            for (length, name), values in series.items()
            if name in ("paper", "columns", "file")
        ]
        title = f"Digest size by tag repetition, {text_bytes} bytes of text a leaf"
        report.figures[f"figure4a-text{text_bytes}"] = line_chart(
            title, lines, "percent of tags that are the same", "size / source"
        )
        report.notes.append(_verdict(text_bytes, series))
        words = f"{text_bytes} bytes of text a leaf" if text_bytes else "tags alone"
        counted = [ratio for length in LENGTHS for ratio in series[length, "paper"]]
        report.goals.append(_claim(words, counted))
        report.data[f"text {text_bytes}"] = {
            f"{length} {name}": values for (length, name), values in series.items()
        }
    real, real_right, real_cases = _real(context)
    report.tables.append(real)
    for words, start in (("real XML", "xml-data"), ("real pages", "pages-")):
        counted = [float(row[3]) for row in real.rows if row[0].startswith(start)]
        report.goals.append(_claim(words, counted))
    report.right = [
        Right("quire", right, cases, "generated: the file reads back to the source"),
        Right("quire", real_right, real_cases, "real: the file reads back to the source"),
    ]
    return report


def _verdict(text_bytes: int, series: dict[tuple[int, str], list[float]]) -> str:
    """How much smaller the digest is at both ends of figure 4, by each way to count."""
    said = []
    for name in ("paper", "columns", "file"):
        ends = [
            f"{1 - series[length, name][0]:.0%} to {1 - series[length, name][-1]:.0%} (length {length})"
            for length in LENGTHS
        ]
        said.append(f"{name} {', '.join(ends)}")
    return f"smaller by, {text_bytes} bytes of text a leaf, 0 to 100 % repeated: " + "; ".join(said)


def _claim(words: str, ratios: list[float]) -> Goal:
    """The paper's claim, by its own way to count."""
    saved = [1 - ratio for ratio in ratios]
    return Goal(
        f"claim: 30 to 50 % smaller, {words}, counted as in the paper",
        f">= {LEAST_SAVED:.0%}",
        f"{min(saved):.0%} to {max(saved):.0%}",
        met=min(saved) >= LEAST_SAVED,
    )


def _list_bytes(digest: quire.Digest) -> int:
    """Tag names once each; attributes and contents as often as the source has them."""
    names = sum(len(name) + 1 for name in digest.tags)
    return names + sum(
        len(values[place])
        for values, column in ((digest.attrs, digest.attr), (digest.contents, digest.content))
        for place in column[column >= 0].tolist()
    )


def _column_bytes(digest: quire.Digest) -> int:
    columns = (digest.children, digest.tag, digest.attr, digest.content)
    return sum(_narrow(column) for column in columns)


def _narrow(column: np.ndarray) -> int:
    """Bytes of a column in the narrowest of 1, 2 or 4 bytes that holds it; nothing if all entries are -1."""
    if column.size == 0 or int(column.max()) < 0:
        return 0
    top = int(column.max()) + 1  # one more value for "none"
    width = 1 if top < 1 << 8 else 2 if top < 1 << 16 else 4
    return int(column.size) * width


def _real(context: Context) -> tuple[Table, int, int]:
    rows = []
    right = 0
    xml = [(page, "xml") for page in corpora.xml_pages()[: context.pick(None, 3)]]
    html = [(page, "html") for page in corpora.html_pages(corpora.PAGES, context.pick(12, 3))]
    for page, kind in (*xml, *html):
        body = page.read()
        digest = quire.encode(body, kind=kind)
        plain = digest.to_bytes()
        right += quire.from_bytes(plain).decode() == body
        rows.append(
            [
                f"{page.corpus}/{page.name}"[-60:],
                f"{len(body) / 1e3:,.0f}",
                f"{digest.n:,}",
                f"{(4 * digest.n + _list_bytes(digest)) / len(body):.3f}",
                f"{len(plain) / len(body):.3f}",
                f"{len(digest.to_bytes(compress=True)) / len(body):.3f}",
                f"{len(zstandard.compress(body, 6)) / len(body):.3f}",
            ]
        )
    headings = ["document", "source kB", "nodes", "paper", "file", "file zstd", "source zstd"]
    return (
        Table(headings, rows, "real documents; size / source (every corpus: `size`)"),
        right,
        len(rows),
    )
