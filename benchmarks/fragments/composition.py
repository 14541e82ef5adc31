"""Do pages come together again, through the strict composer and through a real Varnish? And what does it save?

Whole crawls, every page: cut into templates and fragments as ``quire fragments esi`` does it, written to disk, composed and compared by SHA-256. Of
histories the newest version of each page is cut, and what changes with every capture is set apart.
"""

import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.context import Context
from benchmarks.corpora import Page, describe, html_pages
from benchmarks.fragments.histories import captured_at
from benchmarks.report import Goal, Report, Right, Table, every
from quire.fragments import (
    Manifest,
    PlanRules,
    Verification,
    verify,
    write_composition,
)
from quire.fragments.caching.site_plan import plan_site
from quire.fragments.site.collection import Collection
from quire.sources.capture import Capture

#: The crawls; pages of templates-swde-sites begin with a byte order mark, so caches must be told to look into them.
CRAWLS = {
    "templates-docs": PlanRules(),
    "templates-helsingborg": PlanRules(),
    "templates-swde-sites": PlanRules(xml_check=False),
    "versions-news": PlanRules(),
    "versions-terms": PlanRules(),
}
LIMIT = 60


def run(context: Context) -> Report:
    """Compose the crawls."""
    crawls = {name: CRAWLS[name] for name in context.corpora or CRAWLS if name in CRAWLS}
    chosen = {name: html_pages((name,), context.pick(None, LIMIT)) for name in crawls}
    composers = ["own", "varnish"] if shutil.which("varnishd") else ["own"]
    report = Report(
        title="Composition: every page of whole crawls, and the savings",
        inputs="; ".join(describe(pages) for pages in chosen.values()),
        method=(
            "quire.fragments with its defaults (500 bytes, 2 pages, depth 1), pages of templates-swde-sites with xml_check off; "
            "a page counts as equal if the composed page has the same SHA-256; Varnish runs the VCL that quire wrote"
        ),
    )
    savings: list[list[str]] = []
    results: list[list[str]] = []
    found: list[Verification] = []
    for name, rules in crawls.items():
        with tempfile.TemporaryDirectory() as work:
            folder = Path(work, "composition")
            manifest, seconds = _written(chosen[name], rules, folder)
            savings.append(_saving(name, manifest, seconds))
            for composer in composers:
                start = time.perf_counter()
                checked = verify(folder, composer="own" if composer == "own" else "varnish")
                results.append(_result(name, manifest, checked, time.perf_counter() - start))
                found.append(checked)
                context.say(" ".join(results[-1]))
    report.tables = [
        Table(
            [
                *("crawl", "pages", "MB", "composed", "fragments", "includes a page"),
                *("stored MB", "stored", "moved MB", "moved", "plan and write, s"),
            ],
            savings,
            "bytes compared with a cache of whole pages: stored, and transferred when all pages are fetched again while fragments are fresh",
        ),
        Table(
            [
                "crawl",
                "composer",
                "pages",
                "equal",
                "refused",
                "unequal",
                "parts kept by hazards",
                "s",
            ],
            results,
            "pages",
        ),
    ]
    for composer in composers:
        of = [one for one in found if one.composer == composer]
        pages, right = sum(one.pages for one in of), sum(one.pages - one.unequal for one in of)
        report.right.append(Right(composer, right, pages, "pages equal, or refused before writing"))
        report.goals.append(every(f"pages composed by {composer}", right, pages))
    if "varnish" not in composers:
        report.goals.append(Goal("pages composed by varnish", "all", "not installed", met=False))
    return report


def _written(pages: list[Page], rules: PlanRules, folder: Path) -> tuple[Manifest, float]:
    start = time.perf_counter()
    with Collection(_captures(pages)) as site, plan_site(site, rules=rules) as plan:
        manifest = write_composition(plan, folder)
    return manifest, time.perf_counter() - start


def _captures(pages: list[Page]) -> Iterator[Capture]:
    for page in pages:
        when = captured_at(page.name)
        address = page.name if when is None else page.name.rpartition("/")[0]
        yield Capture(page.name, address, when, b"", page.read(), "text/html")


def _saving(name: str, manifest: Manifest, seconds: float) -> list[str]:
    volumes = manifest.volumes
    pages = len(manifest.pages)
    return [
        name,
        f"{pages:,}",
        f"{volumes.pages / 1e6:,.1f}",
        f"{sum(page.folder == 'templates' for page in manifest.pages):,}",
        f"{len(manifest.fragments):,}",
        f"{sum(page.includes for page in manifest.pages) / pages:.1f}",
        f"{volumes.stored / 1e6:,.1f}",
        f"{100 * volumes.stored / volumes.pages:.1f} %",
        f"{volumes.moved / 1e6:,.1f}",
        f"{100 * volumes.moved / volumes.pages:.1f} %",
        f"{seconds:.1f}",
    ]


def _result(name: str, manifest: Manifest, found: Verification, seconds: float) -> list[str]:
    kept = Counter[str]()
    for page in manifest.pages:
        for hazard in page.hazards:
            kept[hazard.kind.value] += hazard.kept
    return [
        name,
        found.composer,
        f"{found.pages:,}",
        f"{found.equal:,}",
        f"{found.refused:,}",
        f"{found.unequal:,}",
        f"{kept.total():,}",
        f"{seconds:.1f}",
    ]
