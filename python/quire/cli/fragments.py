"""``quire fragments``: what pages share, cut out of them, composed again, or left out.

One file for each kind of work: ``fragments_esi`` plans and writes, ``fragments_verify`` composes, ``fragments_strip`` leaves out;
``fragments_report`` is a page to look at; ``fragments_shared`` lists what a whole crawl shares, on any engine; ``fragments_lifetimes`` looks at versions of a page, ``fragments_simulate`` at what a cache would save.
"""

from __future__ import annotations

import typer

from quire.cli.fragments_esi import esi, plan
from quire.cli.fragments_lifetimes import lifetimes
from quire.cli.fragments_report import report
from quire.cli.fragments_shared import shared
from quire.cli.fragments_simulate import simulate
from quire.cli.fragments_strip import strip
from quire.cli.fragments_verify import verify

app: typer.Typer = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="""Find the parts that pages share, and keep each once.

    \b
    Examples:
      quire fragments report crawl/ -o report.html
      quire fragments shared crawl/ --engine spark://head:7077
      quire fragments plan crawl/
      quire fragments esi crawl.warc.gz -o composed/
      quire fragments verify composed/
      quire fragments strip crawl/ -o texts/ --as text
      quire fragments lifetimes versions/
    """,
)

app.command("report")(report)
app.command("shared")(shared)
app.command("plan")(plan)
app.command("esi")(esi)
app.command("verify")(verify)
app.command("strip")(strip)
app.command("lifetimes")(lifetimes)
app.command("simulate")(simulate)
