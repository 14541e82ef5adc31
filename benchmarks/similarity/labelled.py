"""Pages whose template is known, and how they are sampled.

A truth is a corpus with a template for each of its pages: what a person who knows the sites would say. Four of them were
looked at when defaults were chosen; those of ``HELD_OUT`` were not.
"""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath

import quire
from benchmarks.context import Context
from benchmarks.corpora import Page, html_pages

#: Five page types of one site, and forty sites: the folder of a page is its template.
TYPES = "templates-types"
SITES = "templates-swde-sites"
#: Handbooks of five Debian packages, and six sites of one city.
DOCS = "templates-docs"
CITY = "templates-helsingborg"
CITY_KINDS = "templates-helsingborg, kinds"
CITY_FEEDS = "templates-helsingborg, feeds as pages"

#: Pages of one template, at least, in a sample; fewer make no pairs to tell.
_FELLOWS = 4

_BODY_CLASS = re.compile(rb'<body class="([^"]*)"')
_KINDS = ("single-", "post-type-archive-", "page-template-", "archive")


@dataclass(frozen=True, slots=True)
class Labelled:
    """A page, its digest and its template."""

    page: Page
    digest: quire.Digest
    template: str


@dataclass(frozen=True, slots=True)
class Truth:
    """A corpus, and which template each of its pages has; None leaves a page out."""

    corpus: str
    what: str
    template_of: Callable[[Page], str | None]


def _folder(page: Page) -> str:
    return str(PurePosixPath(page.name).parent)


def _first_folder(page: Page) -> str:
    return PurePosixPath(page.name).parts[0]


def _site_or_feed(page: Page) -> str:
    """The site; but a feed is RSS, which no template of a page made, and WordPress makes all of them alike."""
    return "feed" if b"<rss" in page.read()[:2000] else _first_folder(page)


def _kind(page: Page) -> str | None:
    """The site and the kind of page that WordPress writes into the class of ``<body>``; a feed has none."""
    found = _BODY_CLASS.search(page.read())
    if found is None:
        return None
    kinds = [name for name in found[1].decode().split() if name.startswith(_KINDS)]
    kinds = sorted(name for name in kinds if name != "single-format-standard")
    return " ".join([_first_folder(page), *kinds[:1]])


TRUTHS = {
    TYPES: Truth(TYPES, "page types of one site", _folder),
    SITES: Truth(SITES, "sites", _first_folder),
    DOCS: Truth(DOCS, "documentation packages", _first_folder),
    CITY: Truth(CITY, "sites of one theme family, and feeds", _site_or_feed),
    CITY_FEEDS: Truth(CITY, "sites, feeds as any page of theirs", _first_folder),
    CITY_KINDS: Truth(CITY, "sites and kinds of page", _kind),
    "templates-swde": Truth("templates-swde", "one shop, so one template", _first_folder),
    "versions-fund": Truth("versions-fund", "versions of one page", _folder),
    "versions-terms": Truth("versions-terms", "versions of 22 pages", _folder),
    "versions-terms, services": Truth(
        "versions-terms", "versions of pages of 13 services", _first_folder
    ),
    "versions-news": Truth(
        "versions-news", "versions of the front pages of 6 sites", _first_folder
    ),
}
#: Looked at when measures and thresholds were chosen.
CHOSEN_ON = (TYPES, SITES, DOCS, CITY)
#: Not looked at.
HELD_OUT = (
    "templates-swde",
    "versions-fund",
    "versions-terms",
    "versions-terms, services",
    "versions-news",
)


@cache
def _encoded(corpus: str) -> list[tuple[Page, quire.Digest]]:
    return [(page, quire.encode(page.read())) for page in html_pages((corpus,))]


def read(name: str) -> list[Labelled]:
    """All pages of a truth, encoded, without those it has no template for."""
    truth = TRUTHS[name]
    pages = [(*entry, truth.template_of(entry[0])) for entry in _encoded(truth.corpus)]
    return [
        Labelled(page, digest, template) for page, digest, template in pages if template is not None
    ]


def sample(pages: Sequence[Labelled], context: Context, most: int) -> list[Labelled]:
    """At most ``most`` pages, drawn with the run's seed, of so few templates that they have fellows."""
    draw = random.Random(context.seed)
    if len(pages) <= most:
        return list(pages)
    templates = sorted({page.template for page in pages})
    if len(templates) * _FELLOWS > most:
        templates = draw.sample(templates, most // _FELLOWS)
    kept = set(templates)
    known = [number for number, page in enumerate(pages) if page.template in kept]
    return [pages[number] for number in sorted(draw.sample(known, min(most, len(known))))]
