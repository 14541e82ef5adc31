"""A group of commands that prints its help if no command is given."""

from __future__ import annotations

import typer
from typer.core import TyperGroup

from quire.cli.common import terminal

# What asks for help. The first command passes it on to all others.
HELP_OPTIONS = ("-h", "--help")


class HelpGroup(TyperGroup):
    """Prints its help and exits with 0 if no command is given."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override] # the class of a context is not public
        """Read the arguments of the group; none at all stand for ``--help``."""
        if not args and not ctx.resilient_parsing:
            terminal.write_text(ctx.get_help() + "\n")
            ctx.exit()
        return super().parse_args(ctx, args)
