"""Questions about parts that are not where their selectors look."""

from __future__ import annotations

from dataclasses import dataclass
from time import time
from typing import Any

from sqlalchemy import Connection, select

from quire.errors import NotStored, PageNotNamed
from quire.sentinels.service.base import Base
from quire.sentinels.service.views import (
    Proposal,
)
from quire.sentinels.store.plain import instant
from quire.sentinels.store.tables import member, page
from quire.sentinels.store.watches import (
    StoredWatch,
    edit_watch,
    find_watch,
    refresh_pages,
)


class Questions(Base):
    """Asks people about parts that moved, and takes their answers."""

    def proposals(self, name: str | int) -> list[Proposal]:
        """Return the questions about parts that are not where their selectors look."""
        with self.database.read() as connection:
            found = find_watch(connection, name)
            return [_proposal(found, row) for row in _asked(connection, found.id, None)]

    def accept(self, name: str | int, url: str | None = None) -> Proposal:
        """Watch a part at the place that is proposed. This changes the form of the watch.

        A watch with several pages keeps its old selectors and gets a new one.

        Raises:
            StoreError: no place is proposed.
        """
        with self.database.write() as connection:
            found = find_watch(connection, name)
            row = _only(connection, found, url)
            proposal = _proposal(found, row)
            if proposal.where == "doubtful":
                _answer(connection, found.id, row.page, proposal=None)
                return proposal
            if not proposal.path:
                raise NotStored(
                    f"nothing is proposed for {row.url}; edit 'where' of the watch instead"
                )
            form = dict(found.form)
            inside = form
            if proposal.part:
                form["parts"] = dict(form["parts"])
                inside = form["parts"][proposal.part] = dict(form["parts"][proposal.part])
            several = len(found.watch.pages.urls) > 1 or found.watch.pages.finder is not None
            kept = [each for each in proposal.selector if several and each != proposal.path]
            inside["where"] = [*kept, proposal.path] if kept else proposal.path
            edit_watch(connection, found.id, form, time())
            # What the part says there now is what the next check compares with.
            latest = select(page.c.latest).where(page.c.id == row.page).scalar_subquery()
            _answer(connection, found.id, row.page, proposal=None, base=latest)
            return proposal

    def reject(self, name: str | int, url: str | None = None) -> Proposal:
        """Say that the proposed place is not the part.

        The watch looks where its selectors look, and waits if there is nothing. The same place is
        not proposed again.

        Raises:
            StoreError: there is no question.
        """
        with self.database.write() as connection:
            found = find_watch(connection, name)
            row = _only(connection, found, url)
            proposal = _proposal(found, row)
            if proposal.where == "doubtful":
                _answer(connection, found.id, row.page, proposal=None)
                return proposal
            rejected = [*row.proposal.get("rejected", ()), proposal.path]
            stored = {
                **row.proposal,
                "where": "lost",
                "path": "",
                "used": False,
                "rejected": [each for each in rejected if each],
            }
            values = {"proposal": stored, "fingerprint": stored["fingerprint"], "missing": True}
            _answer(connection, found.id, row.page, signatures=None, **values)
            return proposal


@dataclass(frozen=True, slots=True)
class _Asked:
    """A member with a question."""

    url: str
    page: int
    proposal: dict[str, Any]


def _asked(connection: Connection, watch: int, url: str | None) -> list[_Asked]:
    """Return the members of a watch with a question."""
    query = (
        select(page.c.url, member.c.page, member.c.proposal)
        .join(member, member.c.page == page.c.id)
        .where(member.c.watch == watch)
        .order_by(page.c.url)
    )
    if url is not None:
        query = query.where(page.c.url == url)
    rows = connection.execute(query)
    return [_Asked(row.url, row.page, row.proposal) for row in rows if row.proposal is not None]


def _only(connection: Connection, found: StoredWatch, url: str | None) -> _Asked:
    """Return the only member with a question."""
    rows = _asked(connection, found.id, url)
    if not rows:
        raise NotStored(f"there is no question about the watch {found.watch.name!r}")
    if len(rows) > 1:
        raise PageNotNamed(
            f"there are questions about several pages of {found.watch.name!r}; give the address of one"
        )
    return rows[0]


def _proposal(found: StoredWatch, row: _Asked) -> Proposal:
    data = row.proposal
    return Proposal(
        url=row.url,
        where=data["where"],
        part=list(found.watch.parts)[data["part"]],
        selector=tuple(data["selector"]),
        path=data["path"],
        score=data["score"],
        before=data["before"],
        after=data["after"],
        used=data["used"],
        since=instant(data["since"]),
    )


def _answer(connection: Connection, watch: int, page_id: int, **values: Any) -> None:  # noqa: ANN401
    """Set columns of a member, and let workers read it again."""
    connection.execute(
        member.update().where(member.c.watch == watch, member.c.page == page_id).values(**values)
    )
    refresh_pages(connection, [page_id])
