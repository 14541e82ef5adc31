"""Makes a report: templates and fragments of a crawl, records of a page.

Each is the report that the command line writes, with its default options.
"""

from __future__ import annotations

from enum import Enum

from quire.captures import Captures, find, read_newest, read_one
from quire.digest import encode
from quire.display import escape, format_bytes
from quire.engines.local import LocalEngine
from quire.errors import QuireError
from quire.extraction import records
from quire.fragments import PlanRules
from quire.fragments.caching.plan import Keeping
from quire.fragments.caching.site_plan import plan_site
from quire.fragments.site.collection import Collection
from quire.fragments.study.page_requests import PageRequests
from quire.fragments.study.study import study_fragments
from quire.progress import Progress
from quire.reports.fragments.report import fragment_report, graph_of
from quire.reports.records.report import report as record_report
from quire.reports.templates.report import template_report
from quire.similar.crawl.templates import crawl_templates

#: Longer pages are left out.
MOST_PAGE = 8_000_000
#: The longest report that a browser shows well.
MOST_REPORT = 30_000_000


class ReportKind(Enum):
    """What a report is about."""

    TEMPLATES = "templates"
    FRAGMENTS = "fragments"
    RECORDS = "records"


class ReportError(Exception):
    """A report cannot be made of this source."""


def make_report(kind: ReportKind, source: str, title: str, progress: Progress) -> str:
    """Make a report, as one HTML document in which nothing runs or loads.

    Args:
        kind: what it is about.
        source: a path: a page, a crawl or an archive.
        title: what people call the source.
        progress: called with the step, the amount done and the total.

    Raises:
        ReportError: the source has nothing to report, or cannot be read.
    """
    makers = {
        ReportKind.TEMPLATES: _templates,
        ReportKind.FRAGMENTS: _fragments,
        ReportKind.RECORDS: _records,
    }
    try:
        drawn = makers[kind](source, title, progress)
    except (QuireError, OSError, ValueError) as error:
        raise ReportError(str(error).replace(source, title)) from None
    drawn = drawn.replace(escape(source), escape(title))  # where it is concerns the operator only
    if len(drawn) > MOST_REPORT:
        raise ReportError(
            f"{title}: the report has {format_bytes(len(drawn))}; expected at most "
            f"{format_bytes(MOST_REPORT)}; make it with `quire {kind.value}` instead"
        )
    return drawn


def _templates(source: str, title: str, progress: Progress) -> str:
    progress("read pages", 0, 1)
    with LocalEngine(progress=progress) as engine:
        crawl = crawl_templates(
            find([source]), engine=engine, most_bytes=MOST_PAGE, reader=read_newest
        )
    if not len(crawl.pages):
        raise ReportError(f"{title}: there are no pages in it")
    return template_report(crawl, title=title, most_bytes=MOST_PAGE, progress=progress)


def _fragments(source: str, title: str, progress: Progress) -> str:
    captures = Captures([source], most_bytes=MOST_PAGE, progress=progress)
    with Collection(captures) as site:
        if not site.pages:
            raise ReportError(f"{title}: there are no pages in it")
        plan = plan_site(site, rules=PlanRules(), keeping=Keeping(), progress=progress)
        study = study_fragments(plan, asked=PageRequests.once(site), progress=progress)
        graph = graph_of(study, progress=progress)
        return fragment_report(study, graph, title=title)


def _records(source: str, title: str, progress: Progress) -> str:
    progress("find records", 0, 1)
    capture = read_one(source, most_bytes=MOST_PAGE)
    page = encode(capture.body, content_type=capture.content_type, recover=True)
    return record_report(page, records(page), name=title)
