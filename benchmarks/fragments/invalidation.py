"""What a cache fetches again when pages change: compositions that follow each other, and the files that ``quire fragments changed`` lists.

Real histories are replayed. At each step the newest captures are composed as ``quire fragments esi --after`` does it, and the files that have other bytes or
are new are counted, with their bytes. A cache of whole pages fetches every page that changed. Each history is replayed twice: with the parts
that pages share alone (``--no-pace``), and with those that change at their own pace too.
"""

import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from benchmarks.context import Context
from benchmarks.corpora import Page, html_pages
from benchmarks.fragments.histories import front_pages, histories
from benchmarks.report import Goal, Report, Right, Table, every
from quire.fragments import verify, write_composition
from quire.fragments.caching.site_plan import Keeping, plan_site
from quire.fragments.esi.changes import changed_files
from quire.fragments.esi.continued import continued_parts
from quire.fragments.site.collection import Collection
from quire.sources.capture import Capture

#: Captures of each page that are replayed, the last ones, and how many of them a composition knows.
STEPS, KNOWN = 12, 4
#: Dates at which Helsingborg's sites were captured have the form of this.
DATE = "%Y-%m-%d"
#: Pages of each of Helsingborg's sites.
MOST_PAGES = 60

#: Captures by page: address without its scheme, as compositions have it, then time and page in order of time.
Site = dict[str, list[tuple[datetime, Page]]]


@dataclass(slots=True)
class Replayed:
    """A site that was replayed: pages, and counts over all steps."""

    pages: int
    fragments: int = 0
    steps: int = 0
    purged: int = 0
    added: int = 0
    fetched_bytes: int = 0
    whole_bytes: int = 0
    equal: int = 0
    of: int = 0
    changed_pages: int = 0

    def cells(self) -> list[str]:
        """For a table."""
        steps = max(self.steps, 1)
        return [
            *(f"{self.pages:,}", f"{self.fragments:,}", f"{self.steps}"),
            f"{self.changed_pages / steps:,.1f}",
            *(f"{self.purged / steps:,.1f}", f"{self.added / steps:,.1f}"),
            *(f"{self.fetched_bytes / 1e6:,.2f}", f"{self.whole_bytes / 1e6:,.2f}"),
            f"{self.share:.1%}",
        ]

    @property
    def share(self) -> float:
        """Bytes fetched again, as a share of those of whole pages."""
        return self.fetched_bytes / self.whole_bytes if self.whole_bytes else 0.0


def run(context: Context) -> Report:
    """Replay the histories."""
    groups = {
        "front page alone": _front_pages(),
        "two pages of terms": _terms(),
        "pages of one site": _sites(),
    }
    report = Report(
        title="Invalidation: what a cache fetches again when pages change",
        inputs=f"versions-news ({len(groups['front page alone'])} front pages), versions-terms ({len(groups['two pages of terms'])} services with two pages), templates-helsingborg ({len(groups['pages of one site'])} site captured twice, {MOST_PAGES} pages)",
        method=f"the last {STEPS} captures of each page; a composition of the newest captures at each, with the defaults of quire fragments esi and {KNOWN} captures known of each page, after the one before; fetched again: files with other bytes and new files; whole pages: pages that changed",
    )
    rows, shares, shared_alone = [], {}, {}
    replayed: list[Replayed] = []
    for group, sites in groups.items():
        found, alone = [], []
        for name, site in list(sites.items())[: context.pick(len(sites), 1)]:
            found.append(replay(site, context.pick(STEPS, 3)))
            alone.append(replay(site, context.pick(STEPS, 3), Keeping(pace=False)))
            rows.append([group, name, *found[-1].cells(), f"{alone[-1].share:.1%}"])
            context.say(" ".join(rows[-1]))
        replayed += [*found, *alone]
        shares[group] = _share_of(found)
        shared_alone[group] = _share_of(alone)
    report.tables.append(
        Table(
            [
                *("group", "site", "pages", "fragments", "steps", "pages changed a step"),
                *("files purged a step", "files new a step"),
                *("fetched again, MB", "whole pages, MB", "share", "share, shared parts alone"),
            ],
            rows,
        )
    )
    equal, of = sum(one.equal for one in replayed), sum(one.of for one in replayed)
    report.right = [Right("quire", equal, of, "pages composed of the files, equal or refused")]
    report.goals = [
        *(
            Goal(
                f"bytes fetched again, as a share of whole pages: {group}",
                "< 100%",
                f"{share:.1%}",
                met=share < 1,
            )
            for group, share in shares.items()
        ),
        *(
            Goal(
                f"fewer bytes with parts for their pace than with shared parts alone: {group}",
                "< shared parts alone",
                f"{shares[group]:.1%}, shared parts alone {shared_alone[group]:.1%}",
                met=shares[group] < shared_alone[group],
            )
            for group in shares
            if group != "pages of one site"  # captured twice: one change shows no pace
        ),
        every("pages composed after each step", equal, of),
    ]
    report.notes = [
        "a front page that was captured alone shares nothing: with shared parts alone it is one file, and purging it is purging the page. The L-P fragments of paper 004 (section 4) are what saves there",
        "a part is cut out for its pace if the captures before show that fetching it by itself costs less, headers of requests included; one more fetch counts for a part that was no file before. Templates stay large where large elements change with every capture, such as scripts with a nonce in their tag",
    ]
    report.data = {"shares": shares, "shared_alone": shared_alone}
    return report


def _share_of(replayed: list[Replayed]) -> float:
    """Bytes fetched again of all sites, as a share of those of whole pages."""
    whole = sum(one.whole_bytes for one in replayed)
    return sum(one.fetched_bytes for one in replayed) / max(whole, 1)


def replay(site: Site, steps: int, keeping: Keeping | None = None) -> Replayed:
    """Compose a site again and again, as its captures arrive."""
    times = sorted({when for captures in site.values() for when, _ in captures})[-steps - 1 :]
    result = Replayed(len(site))
    with tempfile.TemporaryDirectory() as work:
        before: Path | None = None
        for number, now in enumerate(times):
            folder = Path(work, str(number))
            with Collection(_captures(site, now)) as collection:
                continued = continued_parts(before, collection) if before is not None else None
                with plan_site(collection, continued=continued, keeping=keeping) as plan:
                    manifest = write_composition(plan, folder, after=before)
            checked = verify(folder)
            result.equal += checked.pages - checked.unequal
            result.of += checked.pages
            result.fragments = len(manifest.fragments)
            if before is not None:
                _count(result, before, folder, site, now)
            before = folder
    return result


def _count(result: Replayed, before: Path, folder: Path, site: Site, now: datetime) -> None:
    changes = changed_files(before, folder)
    paths = [f"{one.folder}/{one.name}.html" for one in changes.purge]
    result.steps += 1
    result.purged += len(paths)
    result.added += len(changes.added)
    result.fetched_bytes += sum((folder / path).stat().st_size for path in (*paths, *changes.added))
    changed = (*changes.pages, *changes.new_pages)
    result.changed_pages += len(changed)
    for address in changed:
        newest = [page for when, page in site[address] if when <= now][-1]
        result.whole_bytes += len(newest.read())


def _captures(site: Site, now: datetime) -> Iterator[Capture]:
    for address, captures in site.items():
        for when, page in [one for one in captures if one[0] <= now][-KNOWN:]:
            yield Capture(page.name, f"https:{address}", when, b"", page.read(), "text/html")


def _front_pages() -> dict[str, Site]:
    return {
        name: {f"//{name}/": captures} for name, captures in front_pages("versions-news").items()
    }


def _terms() -> dict[str, Site]:
    services: dict[str, Site] = defaultdict(dict)
    for name, captures in histories("versions-terms").items():
        service, _, page = name.partition("/")
        services[service][f"//{service.lower()}/{page}"] = captures
    return {name: site for name, site in services.items() if len(site) > 1}


def _sites() -> dict[str, Site]:
    """Helsingborg's sites that were captured on two days: ``site/2025-10-10/site/path/index.html``."""
    sites: dict[str, Site] = defaultdict(lambda: defaultdict(list))
    for page in html_pages(("templates-helsingborg",)):
        site, date, *path = page.name.split("/")
        try:
            when = datetime.strptime(f"{date} +0000", f"{DATE} %z")
        except ValueError:
            continue
        sites[site][f"//{site}/{'/'.join(path[1:])}"].append((when, page))
    found = {}
    for name, pages in sites.items():
        twice = {address: sorted(some, key=lambda one: one[0]) for address, some in pages.items()}
        twice = {address: some for address, some in twice.items() if len(some) > 1}
        if len(twice) > 1:
            found[name] = dict(list(twice.items())[:MOST_PAGES])
    return found
