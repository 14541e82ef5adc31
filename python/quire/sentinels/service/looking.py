"""Looking: pages, events, versions, and why a watch fired or not."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from time import time
from typing import Any

from sqlalchemy import Connection, Row, func, select

from quire.digest.page import Digest
from quire.errors import NotStored
from quire.sentinels.checking.replay import Capture, Replay, replay
from quire.sentinels.conditions.comparison import Circumstances, Comparison
from quire.sentinels.conditions.finding import Finding
from quire.sentinels.form.reading import read_watch
from quire.sentinels.pages.noise import Noise, PageNoise
from quire.sentinels.pages.places import Map
from quire.sentinels.pages.quiet import QuietNodes, quiet_nodes
from quire.sentinels.parts.reading import PageReader
from quire.sentinels.service.base import Base
from quire.sentinels.service.views import (
    LeftOut,
    PageStatus,
    StoredEvent,
    StoredState,
    stored_event,
)
from quire.sentinels.store.overview.event_rows import WantedEvents, list_events
from quire.sentinels.store.plain import instant
from quire.sentinels.store.results import (
    load_body,
    load_page,
    version_numbers,
    version_reader,
)
from quire.sentinels.store.tables import event, member, page, version
from quire.sentinels.store.watches import (
    find_watch,
)


class Looking(Base):
    """Shows what watches found."""

    def pages(self, name: str | int) -> list[PageStatus]:
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
                select(
                    page,
                    member.c.missing,
                    member.c.fired,
                    member.c.list_level,
                    member.c.unlisted,
                    count.label("versions"),
                )
                .join(member, member.c.page == page.c.id)
                .where(member.c.watch == found.id)
                .order_by(page.c.url)
            )
            return [_status(row) for row in rows]

    def noise(self, name: str | int) -> list[LeftOut]:
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
                _left_out(row.url, noise)
                for row in rows
                for noise in PageNoise.from_json(row.noise)
            ]

    def noisy_page(
        self, name: str | int, url: str | None = None
    ) -> tuple[Digest, dict[int, LeftOut]]:
        """Return the last version of a page, and the elements of it that are left out.

        A text that is left out stands for the element around it.
        """
        with self._page(name, url) as (connection, found, row):
            number = find_version(connection, row, row.latest)
            digest = load_page(connection, row.id, row.url, number)
            entries = PageNoise.from_json(row.noise).entries if found.watch.learn_noise else ()
        at = Map(digest)
        nodes: dict[int, LeftOut] = {}
        for each in entries:
            for node in at.find(each.place):
                is_text = not at.is_element(node)
                nodes[int(digest.parent[node]) if is_text else node] = _left_out(row.url, each)
        return digest, nodes

    def events(
        self,
        name: str | int | None = None,
        *,
        before: float | None = None,
        following: str | None = None,
        most: int = 50,
    ) -> list[StoredEvent]:
        """Return what watches told about, the newest first.

        Args:
            name: only events of this watch.
            before: only events before this time.
            following: only events that follow this one in the list, by its id.
            most: the most events to return.

        Raises:
            NotStored: there is no such watch, or no such event.
        """
        with self.database.read() as connection:
            number = None if name is None else find_watch(connection, name).id
            wanted = WantedEvents(watch=number, before=before)
            rows = list_events(connection, wanted, following=following or "", most=most)
            return [stored_event(row) for row in rows]

    def event(self, ident: str) -> StoredEvent:
        """Return an event by its id.

        Raises:
            NotStored: there is none, or its watch was removed.
        """
        with self.database.read() as connection:
            row = connection.execute(select(event).where(event.c.id == ident)).one_or_none()
            if row is None:
                raise NotStored(f"the event {ident!r} is not stored, or its watch was removed")
            return stored_event(row)

    def history(
        self,
        name: str | int,
        url: str | None = None,
        most: int = 100,
        *,
        before: int | None = None,
        read: bool = True,
    ) -> list[StoredState]:
        """Return what the watched parts said on each stored version, the oldest first.

        Args:
            name: the watch.
            url: the page, if the watch has several.
            most: the most versions to return: the last ones.
            before: only versions before this one.
            read: read the parts; without, versions are only listed.
        """
        with self._page(name, url) as (connection, found, row):
            query = select(version.c.number, version.c.time, version.c.status, version.c.length)
            query = query.where(version.c.page == row.id)
            if before is not None:
                query = query.where(version.c.number < before)
            rows = connection.execute(query.order_by(version.c.number.desc()).limit(most)).all()
            states = []
            for each in reversed(rows):
                readings = {}
                if read:
                    reader = PageReader(load_page(connection, row.id, row.url, each.number))
                    readings = {part: reader.read(what) for part, what in found.watch.parts.items()}
                states.append(
                    StoredState(each.number, instant(each.time), each.status, each.length, readings)
                )
            return states

    def versions(
        self,
        name: str | int,
        url: str | None,
        old: int | datetime | None,
        new: int | datetime | None,
    ) -> tuple[Digest, Digest]:
        """Return two versions of a page, by number or by time; the last two by default.

        Raises:
            NotStored: there are not that many versions.
        """
        with self._page(name, url) as (connection, _, row):
            after = find_version(connection, row, row.latest if new is None else new)
            before = _before(connection, row, after) if old is None else old
            before = find_version(connection, row, before)
            one = load_page(connection, row.id, row.url, before)
            return one, load_page(connection, row.id, row.url, after)

    def quiet_nodes(self, name: str | int, url: str | None, old: Digest, new: Digest) -> QuietNodes:
        """Find the nodes of two versions in which only noise differs, as it is known by now."""
        with self._page(name, url) as (_, found, row):
            noise = PageNoise.from_json(row.noise) if found.watch.learn_noise else PageNoise()
        return quiet_nodes(noise, old, new)

    def body(self, name: str | int, url: str | None, number: int) -> tuple[bytes, str]:
        """Return the bytes of a version of a page, and the content type that they came with."""
        with self._page(name, url) as (connection, _, row):
            return load_body(connection, row.id, row.url, number)

    def explain(
        self,
        name: str | int,
        url: str | None = None,
        old: int | None = None,
        new: int | None = None,
    ) -> Finding:
        """Judge two versions, the last by default, and return the findings of all conditions.

        Args:
            name: the watch.
            url: the page, if the watch has several.
            old: the number of the old version (default: the one before the new one).
            new: the number of the new version (default: the last one).

        Raises:
            NotStored: a version is not stored, or there is only one.
        """
        with self._page(name, url) as (connection, found, row):
            if row.latest < 0 or len(version_numbers(connection, row.id)) < 2:  # noqa: PLR2004
                raise NotStored(f"{row.url} has only one version so far; nothing to compare")
            after = find_version(connection, row, row.latest if new is None else new)
            before = _before(connection, row, after) if old is None else old
            numbers = find_version(connection, row, before), after
            noise = PageNoise.from_json(row.noise) if found.watch.learn_noise else None
            one, two = (
                PageReader(load_page(connection, row.id, row.url, number), noise)
                for number in numbers
            )
            now = instant(time())
            about = Circumstances(now, instant(found.created), state=row.state)
            return found.watch.sentinel.condition.judge(
                Comparison(lambda: one, two, about), explain=True
            )

    def replay(self, form: dict[str, Any] | str | int, url: str | None = None) -> Replay:
        """Run a watch, stored or not, over the stored history of a page."""
        watch = self.find(form).watch if isinstance(form, str | int) else read_watch(form)
        with self.database.read() as connection:
            address = url or watch.pages.urls[0]
            found = connection.execute(
                select(page.c.id, page.c.noise)
                .where(page.c.url == address)
                .order_by(page.c.latest.desc())
                .limit(1)
            ).one_or_none()
            if found is None:
                raise NotStored(f"there are no versions of {address}")
            captures = _captures(connection, found.id, address)
            return replay(watch, captures, address, noise=PageNoise.from_json(found.noise))


def find_version(connection: Connection, row: Row[Any], wanted: int | datetime) -> int:
    """Return the number of a version of a page: this one, or the one at this time.

    Raises:
        NotStored: it is not stored.
    """
    numbers = version_numbers(connection, row.id)
    if isinstance(wanted, datetime):
        found = connection.execute(
            select(func.max(version.c.number)).where(
                version.c.page == row.id, version.c.time <= wanted.timestamp()
            )
        ).scalar()
        if found is None:
            raise NotStored(f"{row.url} has no version from {wanted:%Y-%m-%d %H:%M} or before")
        return int(found)
    if wanted not in numbers:
        first, last = (numbers[0], numbers[-1]) if numbers else (0, -1)
        missing = last - first + 1 - len(numbers)
        gaps = f", {missing:,} of them deleted" if missing else ""
        raise NotStored(
            f"{row.url} has no version {wanted}; its versions are {first} to {last}{gaps}"
        )
    return wanted


def _before(connection: Connection, row: Row[Any], number: int) -> int:
    older = [each for each in version_numbers(connection, row.id) if each < number]
    return older[-1] if older else number - 1


def _left_out(url: str, noise: Noise) -> LeftOut:
    return LeftOut(
        url,
        noise.kind,
        str(noise.place),
        noise.name,
        noise.samples,
        instant(noise.since),
        noise.evidence,
    )


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
        is_list=row.list_level is not None,
        unlisted=_time(row.unlisted),
    )


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
