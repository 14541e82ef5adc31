"""The service: everything that people can do with watches, for command line, API and web pages.

These functions take and return plain values. They know nothing of terminals, requests or HTML.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from time import time
from typing import Any

from sqlalchemy import Connection, Row, func, select

from quire.digest.page import Digest
from quire.errors import StoreError
from quire.sentinels.checking.replay import Capture, Replay, replay
from quire.sentinels.checking.worker import Fetcher, Tally, Worker
from quire.sentinels.conditions.comparison import Circumstances, Comparison
from quire.sentinels.conditions.finding import Finding
from quire.sentinels.form.reading import read_watch
from quire.sentinels.form.watch import Watch
from quire.sentinels.pages.noise import PageNoise
from quire.sentinels.parts.reading import PageReader, Reading
from quire.sentinels.store import backup as backups
from quire.sentinels.store.database import Database
from quire.sentinels.store.plain import instant
from quire.sentinels.store.results import load_page, version_reader
from quire.sentinels.store.tables import event, member, page, version
from quire.sentinels.store.watches import (
    StoredWatch,
    add_watch,
    edit_watch,
    find_watch,
    list_watches,
    refresh_pages,
    remove_watch,
)


@dataclass(frozen=True, slots=True)
class PageStatus:
    """How a watched page is doing.

    Attributes:
        id: the page.
        url: its address.
        state: what the last fetch found.
        checked: when it was fetched last; None for never.
        changed: when it changed last.
        due: when it is due.
        versions: how many versions are stored.
        error: why fetches fail; empty if they do not.
        missing: whether the watched part is not on the page.
        fired: when the watch last fired on it.
    """

    id: int
    url: str
    state: str
    checked: datetime | None
    changed: datetime | None
    due: datetime | None
    versions: int
    error: str
    missing: bool
    fired: datetime | None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A part of a page that is left out, because it changes at every fetch.

    Attributes:
        url: the page.
        kind: what it is: ``text``, ``links``, ``images``, ``attribute``, ``region`` (everything in
            an element), or ``order`` (of the children of an element).
        place: where it is.
        name: the name of the attribute.
        samples: two values that it had.
        since: when it was found.
        evidence: how: by a second fetch (``probe``), or by the ``history`` of the page.
    """

    url: str
    kind: str
    place: str
    name: str
    samples: tuple[str, ...]
    since: datetime
    evidence: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """A question about a part that is not where its selector looks.

    Attributes:
        url: the page.
        where: what became of the part: ``moved``, ``lost`` or ``doubtful``.
        part: the name of the part; empty if the watch has only one.
        selector: the selectors that used to find it.
        path: a selector for the place that is proposed; empty if there is none.
        score: how much that place is like the part, from 0 to 1.
        before: what the part said before.
        after: what the proposed place says.
        used: whether the part is watched there until you decide.
        since: when it was found.
    """

    url: str
    where: str
    part: str
    selector: tuple[str, ...]
    path: str
    score: float
    before: str
    after: str
    used: bool
    since: datetime


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """Something that a watch told about."""

    id: str
    watch: int
    page: int
    kind: str
    time: datetime
    old: int | None
    new: int | None
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class StoredState:
    """One version of a watched page, and what the watched parts said on it."""

    number: int
    time: datetime
    status: int
    length: int
    readings: dict[str, Reading]


class Service:
    """Watches in a database.

    Args:
        database: the database.
    """

    def __init__(self, database: Database) -> None:
        self.database: Database = database

    # ------------------------------------------------------------ watches

    def add(self, form: dict[str, Any], owner: int | None = None) -> StoredWatch:
        """Add a watch. Its pages are due at once."""
        with self.database.write() as connection:
            return add_watch(connection, form, time(), owner)

    def edit(self, name: str, form: dict[str, Any]) -> StoredWatch:
        """Replace the form of a watch."""
        with self.database.write() as connection:
            return edit_watch(connection, find_watch(connection, name).id, form, time())

    def remove(self, name: str) -> None:
        """Remove a watch with its events, and pages that no other watch has."""
        with self.database.write() as connection:
            remove_watch(connection, find_watch(connection, name).id)

    def find(self, name: str) -> StoredWatch:
        """Return a watch by its name or number."""
        with self.database.read() as connection:
            return find_watch(connection, name)

    def watches(self, *, after: int = 0, most: int = 100, text: str = "") -> list[StoredWatch]:
        """Return watches, a page at a time."""
        with self.database.read() as connection:
            return list_watches(connection, after=after, most=most, text=text)

    def make_due(self, name: str) -> None:
        """Let a watch be checked at once."""
        with self.database.write() as connection:
            found = find_watch(connection, name)
            now = time()
            connection.execute(member.update().where(member.c.watch == found.id).values(due=now))
            pages = connection.execute(select(member.c.page).where(member.c.watch == found.id))
            refresh_pages(connection, list(pages.scalars()))

    # ------------------------------------------------------------ looking

    def pages(self, name: str) -> list[PageStatus]:
        """Return how the pages of a watch are doing."""
        with self.database.read() as connection:
            found = find_watch(connection, name)
            count = (
                select(func.count())
                .select_from(version)
                .where(version.c.page == page.c.id)
                .scalar_subquery()
            )
            rows = connection.execute(
                select(page, member.c.missing, member.c.fired, count.label("versions"))
                .join(member, member.c.page == page.c.id)
                .where(member.c.watch == found.id)
                .order_by(page.c.url)
            )
            return [_status(row) for row in rows]

    def noise(self, name: str) -> list[LeftOut]:
        """Return what is left out of the pages of a watch; nothing if it learns no noise."""
        with self.database.read() as connection:
            found = find_watch(connection, name)
            if not found.watch.learn_noise:
                return []
            rows = connection.execute(
                select(page.c.url, page.c.noise)
                .join(member, member.c.page == page.c.id)
                .where(member.c.watch == found.id)
                .order_by(page.c.url)
            )
            return [
                LeftOut(
                    row.url,
                    noise.kind,
                    str(noise.place),
                    noise.name,
                    noise.samples,
                    instant(noise.since),
                    noise.evidence,
                )
                for row in rows
                for noise in PageNoise.from_json(row.noise)
            ]

    # ------------------------------------------------------------ parts that moved

    def proposals(self, name: str) -> list[Proposal]:
        """Return the questions about parts that are not where their selectors look."""
        with self.database.read() as connection:
            found = find_watch(connection, name)
            return [_proposal(found, row) for row in _asked(connection, found.id, None)]

    def accept(self, name: str, url: str | None = None) -> Proposal:
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
                raise StoreError(
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

    def reject(self, name: str, url: str | None = None) -> Proposal:
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

    def events(
        self, name: str | None = None, *, before: float | None = None, most: int = 50
    ) -> list[StoredEvent]:
        """Return what watches told about, the newest first."""
        with self.database.read() as connection:
            query = select(event).order_by(event.c.time.desc(), event.c.id).limit(most)
            if name is not None:
                query = query.where(event.c.watch == find_watch(connection, name).id)
            if before is not None:
                query = query.where(event.c.time < before)
            return [
                StoredEvent(
                    row.id,
                    row.watch,
                    row.page,
                    row.kind,
                    instant(row.time),
                    row.old,
                    row.new,
                    row.body,
                )
                for row in connection.execute(query)
            ]

    def history(self, name: str, url: str | None = None, most: int = 100) -> list[StoredState]:
        """Return what the watched parts said on each stored version, the oldest first."""
        with self._page(name, url) as (connection, found, row):
            rows = connection.execute(
                select(version)
                .where(version.c.page == row.id)
                .order_by(version.c.number.desc())
                .limit(most)
            ).all()
            states = []
            for each in reversed(rows):
                reader = PageReader(load_page(connection, row.id, row.url, each.number))
                readings = {part: reader.read(what) for part, what in found.watch.parts.items()}
                states.append(
                    StoredState(each.number, instant(each.time), each.status, each.length, readings)
                )
            return states

    def versions(
        self, name: str, url: str | None, old: int | None, new: int | None
    ) -> tuple[Digest, Digest]:
        """Return two versions of a page; the last two by default.

        Raises:
            StoreError: there are not that many versions.
        """
        with self._page(name, url) as (connection, _, row):
            last = row.latest
            after = last if new is None else new
            before = after - 1 if old is None else old
            for number in (before, after):
                if not 0 <= number <= last:
                    raise StoreError(
                        f"{row.url} has no version {number}; its versions are 0 to {last}"
                    )
            one = load_page(connection, row.id, row.url, before)
            return one, load_page(connection, row.id, row.url, after)

    def explain(self, name: str, url: str | None = None) -> Finding:
        """Return, condition by condition, what a watch finds on the last two versions."""
        with self._page(name, url) as (connection, found, row):
            if row.latest < 1:
                raise StoreError(f"{row.url} has only one version so far; nothing to compare")
            noise = PageNoise.from_json(row.noise) if found.watch.learn_noise else None
            old, new = (
                PageReader(load_page(connection, row.id, row.url, number), noise)
                for number in (row.latest - 1, row.latest)
            )
            now = instant(time())
            about = Circumstances(now, instant(found.created), state=row.state)
            return found.watch.sentinel.condition.judge(
                Comparison(lambda: old, new, about), explain=True
            )

    def replay(self, form: dict[str, Any] | str, url: str | None = None) -> Replay:
        """Run a watch, stored or not, over the stored history of a page."""
        watch = self.find(form).watch if isinstance(form, str) else read_watch(form)
        with self.database.read() as connection:
            address = url or watch.pages.urls[0]
            found = connection.execute(
                select(page.c.id, page.c.noise)
                .where(page.c.url == address)
                .order_by(page.c.latest.desc())
                .limit(1)
            ).one_or_none()
            if found is None:
                raise StoreError(f"there are no versions of {address}")
            captures = _captures(connection, found.id, address)
            return replay(watch, captures, address, noise=PageNoise.from_json(found.noise))

    # ------------------------------------------------------------ running

    async def run_due(self, fetch: Fetcher) -> Tally:
        """Check everything that is due, once."""
        worker = Worker(self.database, fetch)
        try:
            await worker.run_due()
        finally:
            worker.close()
        return worker.tally

    def backup(self, path: Path) -> int:
        """Write everything to a new file; return the number of rows."""
        return backups.backup(self.database, path)

    def restore(self, path: Path) -> int:
        """Copy a backup into this database, which must be empty; return the number of rows."""
        return backups.restore(self.database, path)

    @contextmanager
    def _page(
        self, name: str, url: str | None
    ) -> Iterator[tuple[Connection, StoredWatch, Row[Any]]]:
        """Find a page of a watch: the only one, or the one with this address."""
        with self.database.read() as connection:
            found = find_watch(connection, name)
            query = select(page).join(member, member.c.page == page.c.id)
            query = query.where(member.c.watch == found.id)
            if url is not None:
                query = query.where(page.c.url == url)
            rows = connection.execute(query.limit(2)).all()
            if not rows:
                raise StoreError(f"the watch {name!r} has no page {url or ''}".rstrip())
            if len(rows) > 1:
                raise StoreError(f"the watch {name!r} has several pages; give the address of one")
            yield connection, found, rows[0]


def _status(row: Row[Any]) -> PageStatus:
    return PageStatus(
        id=row.id,
        url=row.url,
        state=row.state,
        checked=_time(row.checked),
        changed=_time(row.changed),
        due=_time(row.due),
        versions=row.versions,
        error=row.error or "",
        missing=bool(row.missing),
        fired=_time(row.fired),
    )


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
        raise StoreError(f"there is no question about the watch {found.watch.name!r}")
    if len(rows) > 1:
        raise StoreError(
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


def _time(value: float | None) -> datetime | None:
    return None if value is None else instant(value)


def _captures(connection: Connection, page_id: int, name: str) -> Iterator[Capture]:
    reader = version_reader(connection, page_id, name)
    rows = connection.execute(
        select(version.c.number, version.c.time, version.c.content_type, version.c.status)
        .where(version.c.page == page_id)
        .order_by(version.c.number)
    ).all()
    for row in rows:
        yield Capture(instant(row.time), reader.read(row.number), row.content_type, row.status)


__all__ = ["LeftOut", "PageStatus", "Proposal", "Service", "StoredEvent", "StoredState", "Watch"]
