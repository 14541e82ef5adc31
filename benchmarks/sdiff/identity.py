"""Identity: nodes of a first version, followed partner by partner to the last.

On the first version of each front page some nodes are chosen by rule, before anything is
compared: links of the navigation and the footer, section headings, the search form, the first
teaser. Each is then followed from version to version. What becomes of it is judged by
what a reader would go by, never by the pairing itself:

* **followed**: it still reads the same or leads to the same path. One that reads otherwise *and* leads
  elsewhere is *renamed* (and followed on) when what it was and what it is now never stand on one page;
* **wrong**: it became another thing: what it was is still on the new page, or what it is now was on
  the old one;
* **lost**: it has no partner, though an element that reads the same is there;
* **gone**: it has no partner, and nothing that reads the same is there.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

import quire
from benchmarks import corpora
from benchmarks.context import Context
from benchmarks.corpora import Page, describe
from benchmarks.report import Goal, Report, Table

CORPUS = "versions-news"
#: Kind of node, where it is looked for, and how many are taken.
NAMED = (
    ("navigation", "nav a, header a, [class*=nav] a", 6),
    ("footer", "footer a, [class*=footer] a", 4),
)
HEADINGS, MOST_HEADINGS = "h1, h2, h3", 3
TEASERS = "article a, main h2 a, main h3 a, article h3, h3 a, h2 a, article h2"
SEARCH = re.compile("such|search")
FATES = ("followed", "gone", "lost", "wrong")


class Version:
    """One version of a page, as a reader goes by it."""

    def __init__(self, page: Page) -> None:
        self.name = PurePosixPath(page.name).stem
        self.digest = quire.encode(page.read())

    def reads(self, node: int) -> str:
        """The text of a node, white space evened out."""
        return " ".join(self.digest.text(node).split())

    def path(self, node: int) -> str:
        """The path a node links to, without host, query and fragment."""
        address = self.digest.attributes(node).get("href", "")
        return re.split(r"[?#]", re.sub(r"^\w+://[^/]*", "", address))[0].rstrip("/")

    @cached_property
    def names(self) -> frozenset[str]:
        """What links, headings and buttons of the page read."""
        return frozenset(map(self.reads, self.select("a, h1, h2, h3, h4, button")))

    def select(self, selector: str) -> list[int]:
        """Nodes by selector."""
        return [int(node) for node in self.digest.select(selector)]

    @cached_property
    def search_forms(self) -> frozenset[int]:
        """Forms that look for something."""
        attributes = self.digest.attributes
        return frozenset(
            form for form in self.select("form") if SEARCH.search(str(attributes(form)))
        )


@dataclass(slots=True)
class Followed:
    """A chosen node on its way through the versions."""

    site: str
    kind: str
    name: str
    node: int
    fate: str = "followed"
    until: str = ""
    renamed: int = 0


def run(context: Context) -> Report:
    """Follow the chosen nodes of every history."""
    chosen = corpora.html_pages((CORPUS,))
    histories: dict[str, list[Page]] = {}
    for page in chosen:
        histories.setdefault(page.name.split("/")[0], []).append(page)
    report = Report(
        title="Nodes followed through versions",
        inputs=describe(chosen),
        method="chosen by rule on the first version, followed by `annotate` between neighbours at the default granularity",
    )
    followed: list[Followed] = []
    rows = []
    for site, pages in histories.items():
        context.say(site)
        history = pages[: context.pick(len(pages), 12)]
        found = _follow(site, history)
        followed += found
        fates = Counter(node.fate for node in found)
        rows.append(
            [site, str(len(history)), str(len(found)), *(str(fates[fate]) for fate in FATES)]
        )
    report.tables.append(Table(["site", "versions", "nodes", *FATES], rows))
    kinds = dict.fromkeys(node.kind for node in followed)
    report.tables.append(
        Table(
            ["kind", "nodes", *FATES],
            [
                [kind, str(sum(fates.values())), *(str(fates[fate]) for fate in FATES)]
                for kind in kinds
                for fates in [Counter(node.fate for node in followed if node.kind == kind)]
            ],
        )
    )
    ends = [node for node in followed if node.fate in {"lost", "wrong"}]
    report.notes = [
        f"{node.fate}: {node.kind} {node.name[:40]!r} of {node.site} at {node.until}"
        for node in ends
    ]
    report.notes.append(f"renamed on the way: {sum(node.renamed for node in followed)}")
    wrong = sum(node.fate == "wrong" for node in followed)
    report.goals = [
        Goal("nodes chosen", ">= 40", str(len(followed)), met=len(followed) >= 40),
        Goal("nodes matched with the wrong node", "0", str(wrong), met=wrong == 0),
    ]
    report.data = {fate: sum(node.fate == fate for node in followed) for fate in FATES}
    return report


def _follow(site: str, history: list[Page]) -> list[Followed]:
    old, last = Version(history[0]), Version(history[-1])
    nodes = list(_chosen(site, old, last))
    for page in history[1:]:
        new = Version(page)
        partners = quire.annotate(old.digest, new.digest).to_new
        for node in nodes:
            if node.fate == "followed":
                _step(node, old, new, int(partners[node.node]))
        old = new
    return nodes


def _chosen(site: str, first: Version, last: Version) -> Iterator[Followed]:
    names: set[str] = set()
    for kind, selector, most in NAMED:
        fitting = [
            (node, name)
            for node in first.select(selector)
            for name in [first.reads(node)]
            if 3 < len(name) < 30 and any(map(str.isalpha, name))
        ]
        taken = 0
        for node, name in fitting:
            if taken < most and name not in names:
                names.add(name)
                taken += 1
                yield Followed(site, kind, name, node)
    # Headings of sections, not of articles: those that are there in the end as well.
    sections = [node for node in first.select(HEADINGS) if first.reads(node) in last.names]
    for node in sections:
        name = first.reads(node)
        if 3 < len(name) < 40 and name not in names and len(names) < 10 + MOST_HEADINGS:
            names.add(name)
            yield Followed(site, "heading", name, node)
    for node in sorted(first.search_forms)[:1]:
        yield Followed(site, "search form", "", node)
    teasers = [node for node in first.select(TEASERS) if len(first.reads(node)) > 30]
    for node in teasers[:1]:
        yield Followed(site, "first teaser", first.reads(node), node)


def _step(node: Followed, old: Version, new: Version, partner: int) -> None:
    """Judge one step."""
    was, was_path = old.reads(node.node), old.path(node.node)
    node.until = new.name
    is_form = node.kind == "search form"
    if partner < 0:
        is_there = bool(new.search_forms) if is_form else was in new.names
        node.fate = "lost" if is_there else "gone"
        return
    if is_form:
        node.fate = "followed" if partner in new.search_forms else "wrong"
    elif new.reads(partner) != was and (not was_path or new.path(partner) != was_path):
        if was in new.names or new.reads(partner) in old.names:
            node.fate = "wrong"
        else:
            node.renamed += 1
    node.node = partner
