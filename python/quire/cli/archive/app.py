"""``quire archive``: registers the commands in the order in which help lists them."""

from __future__ import annotations

import typer

from quire.cli.archive.build import build
from quire.cli.archive.check import repair, verify
from quire.cli.archive.export import export
from quire.cli.archive.fill import add, compact, create
from quire.cli.archive.lookup import diff, get, ls, versions
from quire.cli.archive.serve import serve
from quire.cli.archive.stats import stats
from quire.cli.common.help_group import HelpGroup

app: typer.Typer = typer.Typer(
    cls=HelpGroup,
    rich_markup_mode=None,
    help="""Store crawls compactly and get any page back byte for byte.

    An archive is a folder. Pages are safely on disk when `add` returns. `compact` makes the
    archive small.

    \b
    Examples:
      quire archive add site.quire crawl.warc.gz --create
      quire archive compact site.quire
      quire archive get site.quire https://example.org/ > page.html
    """,
)

for _name, _command in (
    ("create", create),
    ("add", add),
    ("build", build),
    ("ls", ls),
    ("get", get),
    ("versions", versions),
    ("diff", diff),
    ("stats", stats),
    ("verify", verify),
    ("repair", repair),
    ("compact", compact),
    ("export", export),
    ("serve", serve),
):
    app.command(_name)(_command)
