"""``quire fragments``: the group of commands, in the order of its help text."""

from __future__ import annotations

import typer

from quire.cli.common.help_group import HelpGroup
from quire.cli.fragments.esi import esi, plan
from quire.cli.fragments.lifetimes import lifetimes
from quire.cli.fragments.report import report
from quire.cli.fragments.shared import shared
from quire.cli.fragments.simulate import simulate
from quire.cli.fragments.strip import strip
from quire.cli.fragments.verify import verify

app: typer.Typer = typer.Typer(
    cls=HelpGroup,
    rich_markup_mode=None,
    help="""Find the parts that pages share, and cache each of them once.

    Start with the report. plan shows which parts would be cut out, esi writes the files
    for Varnish, and verify proves that every page can be composed again. If you give
    several captures of each page, or the same pages fetched by different users, quire
    works out how long each part may be cached and whether it is private.

    \b
    Examples:
      quire fragments report crawl/ -o report.html
      quire fragments shared crawl/ --engine spark://head:7077
      quire fragments plan crawl/
      quire fragments esi crawl.warc.gz -o composed/
      quire fragments verify composed/
      quire fragments strip crawl/ -o texts/ --as text
      quire fragments lifetimes versions/
      quire fragments simulate versions/ --rate 60
    """,
)

app.command("report", short_help="Write an HTML report: shared parts, savings, advice.")(report)
app.command("shared", short_help="List the parts that the pages of a crawl share.")(shared)
app.command("plan", short_help="Show what would be cut out, saved and cached.")(plan)
app.command("esi", short_help="Write ESI templates, fragments and VCL for Varnish.")(esi)
app.command("verify", short_help="Compose every page again and compare it.")(verify)
app.command("strip", short_help="Remove the blocks that most pages of a template share.")(strip)
app.command("lifetimes", short_help="Measure how long parts of pages stay the same.")(lifetimes)
app.command("simulate", short_help="Compare a cache of pages with one of fragments.")(simulate)
