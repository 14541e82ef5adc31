"""As many pages as one wants, made from real templates.

A seed is a real page without its scripts and styles, cut at the bytes of its tags into a plan: what stays, texts, and
runs of siblings that look alike (rows of a table, items of a list, entries of a menu). A page is the plan carried out with other
words, and with runs made shorter or longer, which is how pages of one template differ. Everything is drawn with a seed.

Cost: a page is the joining of some hundred pieces of bytes, about half a millisecond.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.corpora import Page, html_pages
from benchmarks.similarity.labelled import DOCS, SITES, TRUTHS

#: A seed has so many bytes, scripts and styles aside.
LEAST_BYTES, MOST_BYTES = 4_000, 24_000
#: Templates, at most.
MOST_SEEDS = 100
PAGES_A_FILE = 2_000
SCHEMA = pa.schema(
    [("url", pa.string()), ("time", pa.timestamp("us", tz="UTC")), ("body", pa.binary())]
)

# The last are pages of sites of which there is one page: its site is its template.
_SOURCES = (SITES, DOCS, "versions-terms", "pages-trafilatura")
_UNSEEN = re.compile(
    rb"<!--.*?-->|<(script|style|noscript|svg)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE
)
_TAG = re.compile(rb"<(/?)([a-zA-Z][^\s/>]*)([^>]*)>")
_NAMED = re.compile(rb"\b(class|id)\s*=\s*[\"']?([^\"'>]*)", re.IGNORECASE)
_DIGITS = re.compile(rb"\d+")
_VOID = frozenset(b"area base br col embed hr img input link meta source track wbr".split())
_WORDS = b"rain cod harbour nine open late ferry price table tower bread winter city north".split()
# A run of this many is repeated or shortened; a pair may be a pair by meaning.
_LEAST_RUN = 3
# Siblings may differ in so many things inside: a link here, a picture there.
_FREE = 3

#: A plan: bytes that stay, a text (its number of bytes), or a run of alternatives.
Piece = bytes | int | list["Plan"]
Plan = list[Piece]


@dataclass(slots=True)
class _Element:
    """An element while the page is cut: where it begins and ends, what it looks like, and its children."""

    start: int
    kind: bytes
    look: bytes
    end: int = -1
    children: list["_Element"] = field(default_factory=list)
    inside: set[bytes] = field(default_factory=set)

    def close(self, end: int) -> None:
        """It ends here; what is inside is known."""
        self.end = end
        for child in self.children:
            self.inside |= child.inside | {child.look}

    def is_like(self, other: "_Element", *, loose: bool) -> bool:
        """Whether the two are entries of one list: header and footer may both be a bare ``div``, but hold other things.

        Loosely, tag and class are all that is asked, and a page may lose its header.
        """
        if loose:
            return self.kind == other.kind
        shared = len(self.inside & other.inside)
        differ = len(self.inside) + len(other.inside) - 2 * shared
        return self.look == other.look and differ <= max(_FREE, shared)


@dataclass(frozen=True, slots=True)
class Seed:
    """A template: its name, and the plan of its pages."""

    name: str
    plan: Plan


def seeds(*, loose: bool = False, sizes: tuple[int, int] = (LEAST_BYTES, MOST_BYTES)) -> list[Seed]:
    """One page of every template that has one of fitting size: that nearest to the middle.

    ``loose`` lets pages lose parts of what makes their template: see ``_Element.is_like``.
    """
    least, most = sizes
    best: dict[str, tuple[int, bytes]] = {}
    for name in _SOURCES:
        for page in html_pages((name,)):
            source = _UNSEEN.sub(b"", page.read())
            if least <= len(source) <= most:
                key = f"{name}/{_template(name, page)}"
                off = abs(len(source) - (least + most) // 2)
                if key not in best or off < best[key][0]:
                    best[key] = (off, source)
    chosen = list(best.items())[:MOST_SEEDS]
    return [Seed(key, plan_of(source, loose=loose)) for key, (_, source) in chosen]


def _template(corpus: str, page: Page) -> str:
    if corpus in TRUTHS:
        return str(TRUTHS[corpus].template_of(page))
    # Files are named by site and a word of the page: "example.org.trolls.html".
    return ".".join(PurePosixPath(page.name).name.split(".")[:2])


def plan_of(source: bytes, *, loose: bool = False) -> Plan:
    """Cut a page into what stays, texts and runs."""
    return _plan(source, 0, len(source), _elements(source).children, loose=loose)


def make(plan: Plan, draw: random.Random, words: Sequence[bytes] = _WORDS) -> bytes:
    """Carry out a plan: a page of the template."""
    out: list[bytes] = []
    _carry_out(plan, draw, words, out)
    return b"".join(out)


def write(folder: Path, templates: Sequence[Seed], pages: int, seed: int) -> tuple[list[str], int]:
    """Write so many pages as Parquet files; give their paths, and how many bytes the pages have.

    The first templates have most of the pages, as in a crawl: the k-th has 1 / k of what the first has. The name of the
    template is in the address of each page, which nothing that groups pages looks at.
    """
    draw = random.Random(seed)
    shares = [1 / (place + 1) for place in range(len(templates))]
    paths, total = [], 0
    for number, first in enumerate(range(0, pages, PAGES_A_FILE)):
        chosen = draw.choices(templates, shares, k=min(PAGES_A_FILE, pages - first))
        bodies = [make(template.plan, draw) for template in chosen]
        total += sum(map(len, bodies))
        urls = [f"http://{first + i}.example/{template.name}" for i, template in enumerate(chosen)]
        table = pa.table(
            [urls, pa.nulls(len(urls), SCHEMA.field("time").type), bodies], schema=SCHEMA
        )
        paths.append(str(folder / f"pages-{number:04}.parquet"))
        pq.write_table(table, paths[-1], compression="zstd")
    return paths, total


def with_fixed_texts(templates: Sequence[Seed], share: float, seed: int) -> list[Seed]:
    """Make a share of the texts of each template (menus, headings, labels) the same on all its pages."""
    draw = random.Random(seed)

    def fixed(plan: Plan) -> Plan:
        made: Plan = []
        for piece in plan:
            if isinstance(piece, int):
                made.append(make([piece], draw) if draw.random() < share else piece)
            else:
                made.append([fixed(one) for one in piece] if isinstance(piece, list) else piece)
        return made

    return [replace(one, plan=fixed(one.plan)) for one in templates]


def template_of(url: str) -> str:
    """The name of the template of a page that ``write`` wrote."""
    return url.split("/", 3)[3]


def _elements(source: bytes) -> _Element:
    """The elements that have both their tags, as a tree; the others are bytes that stay."""
    root = _Element(0, b"", b"", len(source))
    open_ones = [root]
    names = [b""]
    for tag in _TAG.finditer(source):
        name = tag[2].lower()
        if not tag[1]:
            if name not in _VOID and not tag[3].endswith(b"/"):
                # Numbers aside: entries are counted in their ids.
                named = sorted(_DIGITS.sub(b"", found[0]) for found in _NAMED.finditer(tag[3]))
                classes = [
                    found[2] for found in _NAMED.finditer(tag[3]) if found[1].lower() == b"class"
                ]
                kind, look = (b" ".join([name, *words]) for words in (classes, named))
                open_ones.append(_Element(tag.start(), kind, look))
                names.append(name)
        elif name in names:
            while names[-1] != name:  # never closed: its children go up
                names.pop()
                lost = open_ones.pop()
                open_ones[-1].children += lost.children
            names.pop()
            whole = open_ones.pop()
            whole.close(tag.end())
            open_ones[-1].children.append(whole)
    while len(open_ones) > 1:
        lost = open_ones.pop()
        open_ones[-1].children += lost.children
    return root


def _plan(
    source: bytes, start: int, end: int, children: Sequence[_Element], *, loose: bool
) -> Plan:
    plan: Plan = []
    at = start
    for run in _runs(source, children, loose=loose):
        plan += _texts(source[at : run[0].start])
        # A sibling takes with it the white space that follows it.
        ends = [*(element.start for element in run[1:]), run[-1].end]
        parts = [
            _plan(source, element.start, stop, element.children, loose=loose)
            for element, stop in zip(run, ends, strict=True)
        ]
        plan += [parts] if len(run) >= _LEAST_RUN else [piece for part in parts for piece in part]
        at = run[-1].end
    return plan + _texts(source[at:end])


def _runs(source: bytes, children: Sequence[_Element], *, loose: bool) -> Iterator[list[_Element]]:
    """Siblings that look alike and have nothing between them."""
    run: list[_Element] = []
    for child in children:
        if run and (
            source[run[-1].end : child.start].strip() or not child.is_like(run[-1], loose=loose)
        ):
            yield run
            run = []
        run.append(child)
    if run:
        yield run


def _texts(markup: bytes) -> Plan:
    """Bytes between elements: tags stay, texts become numbers."""
    pieces: Plan = []
    at = 0
    for tag in [*_TAG.finditer(markup), None]:
        text = markup[at : tag.start() if tag else len(markup)]
        # What is left of a declaration or of a broken tag stays as it is.
        pieces.append(len(text) if text.strip() and b"<" not in text else text)
        if tag:
            pieces.append(tag[0])
            at = tag.end()
    return [piece for piece in pieces if piece != b""]


def _carry_out(plan: Plan, draw: random.Random, words: Sequence[bytes], out: list[bytes]) -> None:
    for piece in plan:
        if isinstance(piece, bytes):
            out.append(piece)
        elif isinstance(piece, int):
            # Words of six letters and a space, about.
            out.append(b" ".join(draw.choices(words, k=1 + piece // 7)))
        else:
            # A third of the length to three times of it.
            for _ in range(max(1, round(len(piece) * 3 ** draw.uniform(-1, 1)))):
                _carry_out(draw.choice(piece), draw, words, out)
