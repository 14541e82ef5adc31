"""The frame of all pages of settings: a line of sections, and the result of the last action."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import Response

from quire.sentinels.accounts import Identity, Level
from quire.web.pages.page import page


@dataclass(frozen=True, slots=True)
class Section:
    """A section: its name, its address, and who may see it."""

    name: str
    path: str
    level: Level = Level.READ


GLANCE = Section("At a glance", "/settings")
ACCOUNTS = Section("Accounts", "/settings/accounts", Level.ADMIN)
TOKENS = Section("Tokens", "/settings/tokens")
NOTICES = Section("Notices", "/settings/notices")
IMPORT = Section("Import and export", "/settings/import")
SECTIONS = (GLANCE, ACCOUNTS, TOKENS, NOTICES, IMPORT)


def section_page(
    section: Section,
    template: str,
    client: Identity,
    *,
    done: str = "",
    wrong: str = "",
    **values: object,
) -> Response:
    """Return a page of settings.

    Args:
        section: the section that it belongs to.
        template: the name of its template.
        client: who looks at it.
        done: the result of the last action, for people.
        wrong: why the last action failed, for people.
        values: the values that the template shows.
    """
    return page(
        f"settings/{template}",
        422 if wrong else 200,
        person=client.name,
        here="Settings",
        section=section,
        sections=[each for each in SECTIONS if client.level >= each.level],
        may_edit=client.level >= Level.WRITE,
        may_administer=client.level >= Level.ADMIN,
        done=done,
        wrong=wrong,
        **values,
    )
