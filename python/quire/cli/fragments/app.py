"""``quire fragments``: the group of commands, in the order that help lists them."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand

from quire.cli.common import terminal
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
    no_args_is_help=True,
    rich_markup_mode=None,
    help="""Find the parts that pages share, and keep each once.

    Look at the report first; plan shows the cuts, esi writes them for Varnish, and
    verify proves that every page comes out again. With versions of pages, or pages of
    several readers, each part is kept for as long as it lives, and for whom it is.

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

app.command("report", short_help="What pages share and what to do about it, as a page.")(report)
app.command("shared", short_help="The parts that the pages of a whole crawl share.")(shared)
app.command("plan", short_help="What would be cut out, saved, and kept for how long.")(plan)
app.command("esi", short_help="Write templates and fragments, with VCL for Varnish.")(esi)
app.command("verify", short_help="Compose every page again, and compare it.")(verify)
app.command("strip", short_help="Pages without what most of their template have.")(strip)
app.command("lifetimes", short_help="How long the parts of pages live, and for whom.")(lifetimes)
app.command("simulate", short_help="A cache of pages against one of fragments.")(simulate)
for _info in app.registered_commands:
    _info.cls = _Command
