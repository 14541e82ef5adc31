"""``quire watch``: registers the commands in the order in which help lists them."""

from __future__ import annotations

import typer

from quire.cli.common.help_group import HelpGroup
from quire.cli.watch.change import accept, add, edit, reject, rm
from quire.cli.watch.keep import backup, export, import_, prune, restore, schema
from quire.cli.watch.look import diff, explain, history, ls, show
from quire.cli.watch.notices import notices, try_targets
from quire.cli.watch.run import replay, run

app: typer.Typer = typer.Typer(
    cls=HelpGroup,
    rich_markup_mode=None,
    help="""Watch pages, and hear only about the changes that matter.

    Watches are stored in one file in your data folder. `quire watch run` checks what is due, once.

    \b
    Examples:
      quire watch add https://example.org/kettle --where "#price" --preset "price drop"
      quire watch run
      quire watch history kettle
    """,
)

for _name, _command in (
    ("add", add),
    ("ls", ls),
    ("show", show),
    ("edit", edit),
    ("accept", accept),
    ("reject", reject),
    ("rm", rm),
    ("run", run),
    ("explain", explain),
    ("replay", replay),
    ("history", history),
    ("diff", diff),
    ("notices", notices),
    ("test", try_targets),
    ("import", import_),
    ("export", export),
    ("schema", schema),
    ("prune", prune),
    ("backup", backup),
    ("restore", restore),
):
    app.command(_name)(_command)
