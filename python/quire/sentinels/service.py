"""The service: everything that people can do with watches, for command line, API and web pages.

These functions take and return plain values. They know nothing of terminals, requests or HTML.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path
from time import time
from typing import Any

from sqlalchemy import Connection, Row, and_, func, or_, select

from quire.digest.page import Digest
from quire.errors import NameTaken, NoticeFailed, NotStored, PageNotNamed, TargetError
from quire.sentinels.checking.flow import Fetcher
from quire.sentinels.checking.replay import Capture, Replay, replay
from quire.sentinels.checking.worker import Tally, Worker
from quire.sentinels.conditions.comparison import Circumstances, Comparison
from quire.sentinels.conditions.finding import Finding
from quire.sentinels.form.reading import read_watch
from quire.sentinels.form.watch import Watch
from quire.sentinels.notices.channels import signing_key
from quire.sentinels.notices.event import Event
from quire.sentinels.notices.feed import MOST_ENTRIES, tag_feed, watch_feed
from quire.sentinels.notices.sender import Tally as SenderTally
from quire.sentinels.notices.targets import read_target
from quire.sentinels.pages.noise import PageNoise
from quire.sentinels.parts.reading import PageReader, Reading
from quire.sentinels.sending import (
    NoticeOptions,
    check_targets,
    is_webhook,
    make_channels,
    make_sender,
    master_secret,
    shown_target,
)
from quire.sentinels.store import backup as backups
from quire.sentinels.store.counts import Counts, count_all
from quire.sentinels.store.database import Database
from quire.sentinels.store.exporting import export_versions
from quire.sentinels.store.outbox import StoredNotice, list_notices, resend
from quire.sentinels.store.plain import instant
from quire.sentinels.store.results import (
    load_body,
    load_page,
    version_numbers,
    version_reader,
)
from quire.sentinels.store.retention import Pruned, prune_page, set_keep
from quire.sentinels.store.tables import event, member, page, version
from quire.sentinels.store.tables import watch as watches
from quire.sentinels.store.watches import (
    StoredWatch,
    add_watch,
    edit_watch,
    find_watch,
    list_watches,
    refresh_pages,
    remove_watch,
)
from quire.sentinels.versions.retention import Keep
from quire.sources.gate import Gate

#: Watches that are added in one transaction.
CHUNK = 100


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
        is_list: whether it is a list in which the watch finds its pages.
        unlisted: since when its list does not have it any more; None if it does.
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
    is_list: bool = False
    unlisted: datetime | None = None


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
    """Something that a watch told about.

    Attributes:
        id: the event.
        watch: the number of the watch.
        page: the page.
        kind: what happened.
        time: when it was found.
        old: the number of the version before.
        new: the number of the version in which it was found.
        body: the event as plain values; see ``notices.Event``.
    """

    id: str
    watch: int
    page: int
    kind: str
    time: datetime
    old: int | None
    new: int | None
    body: dict[str, Any]

    @property
    def event(self) -> Event:
        """The event."""
        return Event.from_dict(self.body)


@dataclass(frozen=True, slots=True)
class ShownNotice:
    """A notice, as people see it.

    Attributes:
        id: the notice.
        state: ``waiting``, ``sent``, ``dead`` (it could not be sent) or ``dropped`` (its target was
            taken from the watch).
        watch: the number of the watch.
        name: the name of the watch when it was made.
        event: the event.
        kind: what happened.
        target: the target, without its secrets.
        made: when it was made.
        tries: how often sending it failed.
        not_before: when it is sent again, after a failure.
        ended: when it was sent, or given up.
        reason: why the last try failed; empty if none did.
    """

    id: str
    state: str
    watch: int
    name: str
    event: str
    kind: str
    target: str
    made: datetime
    tries: int
    not_before: datetime | None
    ended: datetime | None
    reason: str


@dataclass(frozen=True, slots=True)
class TestedTarget:
    """The result of a test message.

    Attributes:
        target: the target, without its secrets.
        error: why it was not sent; empty if it was.
        key: for webhooks, the key that messages to it are signed with.
    """

    target: str
    error: str
    key: str


@dataclass(frozen=True, slots=True)
class StoredState:
    """One version of a watched page, and what the watched parts said on it, if that was asked."""

    number: int
    time: datetime
    status: int
    length: int
    readings: dict[str, Reading]


@dataclass(frozen=True, slots=True)
class Added:
    """Watches that were added together.

    Attributes:
        watches: the watches.
        taken: names of watches that were left out, because their name is taken.
        notes: what was left out, for people.
    """

    watches: list[StoredWatch] = field(default_factory=list)
    taken: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Service:
    """Watches in a database.

    Args:
        database: the database.
        notices: what the operator set up for notices (default: from the environment).
    """

    def __init__(self, database: Database, notices: NoticeOptions | None = None) -> None:
        self.database: Database = database
        self.options: NoticeOptions = notices or NoticeOptions.from_environment()

    # ------------------------------------------------------------ watches

    def add(self, form: dict[str, Any], owner: int | None = None) -> StoredWatch:
        """Add a watch. Its pages are due at once.

        Raises:
            WatchError: the form is not valid, or has a target that is not allowed.
            StoreError: there is a watch with this name.
        """
        check_targets(form, read_watch(form).notify, self.options.rules)
        with self.database.write() as connection:
            return add_watch(connection, form, time(), owner)

    def add_all(self, forms: Iterable[dict[str, Any]], owner: int | None = None) -> Added:
        """Add watches that come from elsewhere, such as another tool.

        Those whose name is taken are left out, and so are targets that notices cannot be sent to.
        """
        found = Added()
        left = iter(forms)
        # Some at a time: others get their turn to write in between.
        while some := list(islice(left, CHUNK)):
            with self.database.write() as connection:
                for form in some:
                    try:
                        allowed = self._allowed(form, found.notes)
                        found.watches.append(add_watch(connection, allowed, time(), owner))
                    except NameTaken as error:
                        found.taken.append(str(form.get("name") or form.get("url")))
                        found.notes.append(str(error))
        return found

    def _allowed(self, form: dict[str, Any], notes: list[str]) -> dict[str, Any]:
        """Return a form without the targets that notices cannot be sent to."""
        notify = form.get("notify", {})
        refused = self.refused_targets(notify.get("to", []))
        if not refused:
            return form
        name = form.get("name")
        notes.extend(f"{name}: a target is left out: {why}" for why in refused.values())
        kept = [each for each in notify["to"] if each not in refused]
        return {**form, "notify": {**notify, "to": kept}}

    def edit(self, name: str | int, form: dict[str, Any]) -> StoredWatch:
        """Replace the form of a watch.

        Raises:
            WatchError: the form is not valid, or has a new target that is not allowed.
            StoreError: there is no such watch, or another one with this name.
        """
        new = read_watch(form).notify
        with self.database.write() as connection:
            found = find_watch(connection, name)
            check_targets(form, new, self.options.rules, found.watch.notify)
            return edit_watch(connection, found.id, form, time())

    def remove(self, name: str | int) -> None:
        """Remove a watch with its events, and pages that no other watch has."""
        with self.database.write() as connection:
            remove_watch(connection, find_watch(connection, name).id)

    def find(self, name: str | int) -> StoredWatch:
        """Return a watch by its name or number; an int is always a number."""
        with self.database.read() as connection:
            return find_watch(connection, name)

    def watches(
        self, *, after: int = 0, most: int = 100, text: str = "", tag: str = ""
    ) -> list[StoredWatch]:
        """Return watches, a page at a time; only those with a text in the name, or with a tag."""
        with self.database.read() as connection:
            return list_watches(connection, after=after, most=most, text=text, tag=tag)

    def make_due(self, name: str | int) -> None:
        """Let a watch be checked at once."""
        with self.database.write() as connection:
            found = find_watch(connection, name)
            now = time()
            connection.execute(member.update().where(member.c.watch == found.id).values(due=now))
            pages = connection.execute(select(member.c.page).where(member.c.watch == found.id))
            refresh_pages(connection, list(pages.scalars()))

    # ------------------------------------------------------------ looking

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
            query = select(event).order_by(event.c.time.desc(), event.c.id).limit(most)
            if name is not None:
                query = query.where(event.c.watch == find_watch(connection, name).id)
            if before is not None:
                query = query.where(event.c.time < before)
            if following is not None:
                last = select(event.c.time).where(event.c.id == following)
                at = connection.execute(last).scalar()
                if at is None:
                    raise NotStored(f"there is no event {following!r}")
                rest = and_(event.c.time == at, event.c.id > following)
                query = query.where(or_(event.c.time < at, rest))
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

    def body(self, name: str | int, url: str | None, number: int) -> tuple[bytes, str]:
        """Return the bytes of a version of a page, and the content type that they came with."""
        with self._page(name, url) as (connection, _, row):
            return load_body(connection, row.id, row.url, number)

    def explain(self, name: str | int, url: str | None = None) -> Finding:
        """Return, condition by condition, what a watch finds on the last two versions."""
        with self._page(name, url) as (connection, found, row):
            numbers = version_numbers(connection, row.id)
            if len(numbers) < 2:  # noqa: PLR2004 - two to compare
                raise NotStored(f"{row.url} has only one version so far; nothing to compare")
            noise = PageNoise.from_json(row.noise) if found.watch.learn_noise else None
            old, new = (
                PageReader(load_page(connection, row.id, row.url, number), noise)
                for number in numbers[-2:]
            )
            now = instant(time())
            about = Circumstances(now, instant(found.created), state=row.state)
            return found.watch.sentinel.condition.judge(
                Comparison(lambda: old, new, about), explain=True
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

    # ------------------------------------------------------------ running

    async def run_due(self, fetch: Fetcher) -> Tally:
        """Check everything that is due, once."""
        worker = Worker(self.database, fetch)
        try:
            await worker.run_due()
        finally:
            worker.close()
        return worker.tally

    # ------------------------------------------------------------ notices

    async def send_due(self, gate: Gate) -> SenderTally:
        """Send all notices that are due, once.

        Args:
            gate: the way to webhooks, open; see ``webhook_gate``.
        """
        sender = make_sender(self.database, gate, self.options)
        while await sender.run_once():
            pass
        return sender.tally

    def notices(
        self, *, state: str | None = None, name: str | int | None = None, most: int = 50
    ) -> list[ShownNotice]:
        """Return notices, the newest first.

        Args:
            state: only those that are ``waiting``, ``sent``, ``dead`` or ``dropped``.
            name: only those of this watch.
            most: how many at most.
        """
        with self.database.read() as connection:
            number = None if name is None else find_watch(connection, name).id
            found = list_notices(connection, state=state, watch_id=number, most=most)
        return [_shown(each) for each in found]

    def dead_letters(self, most: int = 50) -> list[ShownNotice]:
        """Return notices that could not be sent, the newest first."""
        return self.notices(state="dead", most=most)

    def resend(self, ids: Iterable[str]) -> int:
        """Let dead letters be sent again, by the ids of their notices; return how many."""
        with self.database.write() as connection:
            return resend(connection, ids)

    async def send_test(self, name: str, gate: Gate) -> list[TestedTarget]:
        """Send a test message to all targets of a watch, at once.

        Args:
            name: the watch.
            gate: the way to webhooks, open; see ``webhook_gate``.
        """
        targets = self.find(name).watch.notify.targets
        channels = make_channels(self.database, gate, self.options)
        master = master_secret(self.database)
        tested = []
        for target in targets:
            error = key = ""
            try:
                await channels.send_test(target, instant(time()))
            except NoticeFailed as failure:
                error = str(failure)
            if is_webhook(target):
                key = signing_key(master, target).reveal()
            tested.append(TestedTarget(shown_target(target), error, key))
        return tested

    def refused_targets(self, targets: Iterable[str]) -> dict[str, str]:
        """Return the targets that notices cannot be sent to, and why."""
        refused = {}
        for target in targets:
            try:
                read_target(target, self.options.rules)
            except TargetError as error:
                refused[target] = str(error)
        return refused

    def feed(self, watch: str | None = None, tag: str | None = None, feed_url: str = "") -> bytes:
        """Return the Atom feed of a watch, or of all watches with a tag.

        Args:
            watch: the name or number of a watch.
            tag: a tag, if no watch is given.
            feed_url: the address of the feed.

        Raises:
            StoreError: there is no such watch, or no watch with this tag.
        """
        base = self.options.base_url
        with self.database.read() as connection:
            if watch is not None:
                found = find_watch(connection, watch)
                events = _newest(connection, [found.id])
                return watch_feed(
                    str(found.id), found.watch.name, events, feed_url=feed_url, base_url=base
                )
            rows = connection.execute(select(watches.c.id, watches.c.form))
            tagged = [row.id for row in rows if tag in _tags(row.form)]
            if tag is None or not tagged:
                raise NotStored(f"there is no watch with the tag {tag!r}")
            events = _newest(connection, tagged)
            return tag_feed(tag, events, feed_url=feed_url, base_url=base)

    # ------------------------------------------------------------ versions

    def prune(
        self, names: Iterable[str | int] = (), keep: Keep | None = None, *, vacuum: bool = True
    ) -> Pruned:
        """Delete versions that no watch wants any more.

        Args:
            names: watches; all pages if there are none.
            keep: what to keep, in place of what watches and the service say.
            vacuum: give the room back to the disk.
        """
        with self.database.read() as connection:
            query = select(page.c.id).where(page.c.latest >= 0)
            chosen = [find_watch(connection, name).id for name in names]
            if chosen:
                on = select(member.c.page).where(member.c.watch.in_(chosen))
                query = query.where(page.c.id.in_(on))
            pages = list(connection.execute(query).scalars())
        versions = freed = 0
        for each in pages:  # one transaction each: workers go on meanwhile
            with self.database.write() as connection:
                policies = None if keep is None else [keep]
                found = prune_page(connection, each, time(), policies, is_claimed=False)
            versions, freed = versions + found.versions, freed + found.bytes
        if versions and vacuum:
            self.database.vacuum()
        return Pruned(versions, freed)

    def set_keep(self, value: dict[str, Any]) -> Keep:
        """Set what is kept for watches that do not say it, written as in a watch."""
        with self.database.write() as connection:
            return set_keep(connection, value)

    def export_versions(self, name: str | int, path: Path, url: str | None = None) -> int:
        """Write the versions of a watch to a new archive or WARC file; return how many.

        Raises:
            StoreError: the path exists, or the watch has no versions.
        """
        with self.database.read() as connection:
            found = find_watch(connection, name)
            return export_versions(connection, found.id, path, url)

    # ------------------------------------------------------------ copies

    def backup(self, path: Path) -> int:
        """Write everything to a new file; return the number of rows."""
        return backups.backup(self.database, path)

    def restore(self, path: Path) -> int:
        """Copy a backup into this database, which must be empty; return the number of rows."""
        return backups.restore(self.database, path)

    def counts(self) -> Counts:
        """Count everything. This reads whole tables: ask rarely."""
        with self.database.read() as connection:
            return count_all(connection, time())

    @contextmanager
    def _page(
        self, name: str | int, url: str | None
    ) -> Iterator[tuple[Connection, StoredWatch, Row[Any]]]:
        """Find a page of a watch: the only one, or the one with this address."""
        with self.database.read() as connection:
            found = find_watch(connection, name)
            query = select(page).join(member, member.c.page == page.c.id)
            query = query.where(member.c.watch == found.id, member.c.list_level.is_(None))
            if url is not None:
                query = query.where(page.c.url == url)
            rows = connection.execute(query.limit(2)).all()
            if not rows:
                raise NotStored(f"the watch {name!r} has no page {url or ''}".rstrip())
            if len(rows) > 1:
                raise PageNotNamed(f"the watch {name!r} has several pages; give the address of one")
            yield connection, found, rows[0]


def _shown(found: StoredNotice) -> ShownNotice:
    return ShownNotice(
        id=found.id,
        state="waiting" if found.state == "new" else found.state,
        watch=found.watch,
        name=found.event.name,
        event=found.event.id,
        kind=found.event.kind,
        target=shown_target(found.target),
        made=found.made,
        tries=found.tries,
        not_before=found.not_before,
        ended=found.ended,
        reason=found.reason,
    )


def _tags(form: dict[str, Any]) -> list[str]:
    tags = form.get("tags") or []
    return [tags] if isinstance(tags, str) else tags


def _newest(connection: Connection, numbers: list[int]) -> list[Event]:
    rows = connection.execute(
        select(event.c.body)
        .where(event.c.watch.in_(numbers))
        .order_by(event.c.time.desc())
        .limit(MOST_ENTRIES)
    )
    return [Event.from_dict(row.body) for row in rows]


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


__all__ = [
    "LeftOut",
    "PageStatus",
    "Proposal",
    "Service",
    "ShownNotice",
    "StoredEvent",
    "StoredState",
    "TestedTarget",
    "Watch",
]
