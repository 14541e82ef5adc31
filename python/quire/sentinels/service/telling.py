"""Telling: notices that wait or failed, test messages, and feeds."""

from __future__ import annotations

from collections.abc import Iterable
from time import time

from sqlalchemy import Connection, Select, select

from quire.errors import NoticeFailed, NotStored, TargetError
from quire.sentinels.notices.channels import signing_key
from quire.sentinels.notices.event import Event
from quire.sentinels.notices.feed import MOST_ENTRIES, tag_feed, watch_feed
from quire.sentinels.notices.sender import Tally as SenderTally
from quire.sentinels.notices.targets import read_target
from quire.sentinels.sending import (
    is_webhook,
    make_channels,
    make_sender,
    master_secret,
    shown_target,
)
from quire.sentinels.service.base import Base
from quire.sentinels.service.views import (
    ShownNotice,
    TestedTarget,
)
from quire.sentinels.store.outbox import StoredNotice, list_notices, resend
from quire.sentinels.store.overview.tags import tagged
from quire.sentinels.store.plain import instant
from quire.sentinels.store.tables import event
from quire.sentinels.store.watches import (
    find_watch,
)
from quire.sources.gate import Gate


class Telling(Base):
    """Sends notices, and shows what became of them."""

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
        return await self.test_targets(self.find(name).watch.notify.targets, gate)

    async def test_targets(self, targets: Iterable[str], gate: Gate) -> list[TestedTarget]:
        """Send a test message to targets, at once.

        Args:
            targets: the targets, each allowed by ``refused_targets``.
            gate: the way to webhooks, open; see ``webhook_gate``.
        """
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
            is_known = tag is not None and connection.execute(tagged(tag).limit(1)).first()
            if tag is None or not is_known:
                raise NotStored(f"there is no watch with the tag {tag!r}")
            events = _newest(connection, tagged(tag))
            return tag_feed(tag, events, feed_url=feed_url, base_url=base)


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


def _newest(connection: Connection, numbers: list[int] | Select[tuple[int]]) -> list[Event]:
    rows = connection.execute(
        select(event.c.body)
        .where(event.c.watch.in_(numbers))
        .order_by(event.c.time.desc())
        .limit(MOST_ENTRIES)
    )
    return [Event.from_dict(row.body) for row in rows]
