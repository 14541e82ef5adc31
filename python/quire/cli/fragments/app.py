"""``quire fragments``: the group of commands, in the order of its help text."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand

from quire.cli.common import terminal
from quire.cli.common.help_group import HelpGroup
from quire.cli.fragments.changed import changed
from quire.cli.fragments.esi import esi, plan
from quire.cli.fragments.lifetimes import lifetimes
from quire.cli.fragments.report import report
from quire.cli.fragments.shared import shared
from quire.cli.fragments.simulate import simulate
from quire.cli.fragments.strip import strip
from quire.cli.fragments.verify import verify

_OLD = "--min-bytes"


class _Command(TyperCommand):
    """A command that still takes ``--min-bytes``, for one release, without listing it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - typer's own copy of click
        known = {name for option in self.params for name in option.opts}
        new = next((o for o in ("--min-text-bytes", "--min-source-bytes") if o in known), None)
        end = args.index("--") if "--" in args else len(args)
        for place, given in enumerate(args[:end]):
            name, equals, value = given.partition("=")
            if new is not None and name == _OLD:
                args[place] = f"{new}{equals}{value}"
                terminal.note(f"{_OLD} is deprecated and will be removed; use {new}")
        return super().parse_args(ctx, args)


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
      quire fragments changed composed/ next/
      quire fragments strip crawl/ -o texts/ --as markdown
      quire fragments lifetimes versions/
      quire fragments simulate versions/ --rate 60
    """,
)

app.command("report", short_help="Write an HTML report: shared parts, savings, advice.")(report)
app.command("shared", short_help="List the parts that the pages of a crawl share.")(shared)
app.command("plan", short_help="Show what would be cut out, saved and cached.")(plan)
app.command("esi", short_help="Write ESI templates, fragments and VCL for Varnish.")(esi)
app.command("verify", short_help="Compose every page again and compare it.")(verify)
app.command("changed", short_help="List the files to purge from a cache after pages changed.")(
    changed
)
app.command("strip", short_help="Remove the blocks that most pages of a template share.")(strip)
app.command("lifetimes", short_help="Measure how long parts of pages stay the same.")(lifetimes)
app.command("simulate", short_help="Compare a cache of pages with one of fragments.")(simulate)
for _info in app.registered_commands:
    _info.cls = _Command
