"""Operating: targets in use, retention, and the health of the service."""

from __future__ import annotations

import shutil
from pathlib import Path
from time import time

from sqlalchemy import Connection, case, func, select

from quire.errors import NoticeFailed, NotStored
from quire.sentinels.sending import make_channels, shown_target
from quire.sentinels.service.base import Base
from quire.sentinels.service.views import Health, TargetInUse, TestedTarget
from quire.sentinels.store.plain import instant
from quire.sentinels.store.retention import keep_setting
from quire.sentinels.store.tables import notice, page, queue
from quire.sentinels.versions.retention import Keep
from quire.sources.gate import Gate

#: Targets that are listed.
MOST_TARGETS = 200


class Operating(Base):
    """Shows the operator how the service is doing."""

    def targets(self, most: int = MOST_TARGETS) -> list[TargetInUse]:
        """Return the targets that notices are or were sent to, those of most watches first."""
        waiting = notice.c.state.in_(("new", "waiting"))
        query = (
            select(
                queue.c.target,
                func.min(queue.c.key).label("key"),
                func.count(queue.c.watch.distinct()).label("watches"),
                func.count(case((waiting, 1))).label("waiting"),
                func.count(case((notice.c.state == "dead", 1))).label("dead"),
                func.max(case((notice.c.state == "sent", notice.c.ended))).label("sent"),
            )
            .select_from(queue)
            .outerjoin(notice, notice.c.queue == queue.c.id)
            .group_by(queue.c.target)
            .order_by(func.count(queue.c.watch.distinct()).desc(), func.min(queue.c.key))
            .limit(most)
        )
        with self.database.read() as connection:
            return [
                TargetInUse(
                    row.key,
                    shown_target(row.target),
                    row.watches,
                    row.waiting,
                    row.dead,
                    None if row.sent is None else instant(row.sent),
                )
                for row in connection.execute(query)
            ]

    async def test_target(self, key: str, gate: Gate) -> TestedTarget:
        """Send a test message to a target.

        Args:
            key: the key of the target.
            gate: the way to webhooks, open; see ``webhook_gate``.

        Raises:
            NotStored: the target is not in use.
        """
        with self.database.read() as connection:
            found = connection.execute(select(queue.c.target).where(queue.c.key == key)).scalar()
        if found is None:
            raise NotStored("this target is not in use any more")
        try:
            channels = make_channels(self.database, gate, self.options)
            await channels.send_test(found, instant(time()))
        except NoticeFailed as failure:
            return TestedTarget(shown_target(found), str(failure), "")
        return TestedTarget(shown_target(found), "", "")

    def keep(self) -> Keep:
        """Return which versions are kept for watches without limits of their own."""
        with self.database.read() as connection:
            return keep_setting(connection)

    def health(self) -> Health:
        """Return how the service is doing. This is quick, unlike ``counts``."""
        now = time()
        with self.database.read() as connection:
            claimed = page.c.lease_until > now
            workers, checking, checked = connection.execute(
                select(
                    func.count(case((claimed, page.c.lease_owner)).distinct()),
                    func.count(case((claimed, 1))),
                    func.max(page.c.checked),
                )
            ).one()
            soonest = connection.execute(select(func.min(page.c.due))).scalar()
            states = select(notice.c.state, func.count()).where(
                notice.c.state.in_(("new", "waiting", "dead"))
            )
            rows = connection.execute(states.group_by(notice.c.state))
            notices = {str(state): int(count) for state, count in rows}
            length, free = _room(connection)
        return Health(
            database_bytes=length,
            free_bytes=free,
            workers=workers,
            checking=checking,
            checked=None if checked is None else instant(checked),
            overdue=instant(soonest) if soonest is not None and soonest < now else None,
            waiting=notices.get("new", 0) + notices.get("waiting", 0),
            dead=notices.get("dead", 0),
        )


def _room(connection: Connection) -> tuple[int, int | None]:
    """Return how long the database is, and how much room its disk has, if that is known."""
    if connection.dialect.name != "sqlite":
        size = connection.exec_driver_sql("SELECT pg_database_size(current_database())")
        return int(size.scalar_one()), None
    name = connection.engine.url.database
    if not name or name == ":memory:":
        return 0, None
    path = Path(name)
    files = [path, path.with_name(f"{path.name}-wal")]
    length = sum(each.stat().st_size for each in files if each.exists())
    return length, shutil.disk_usage(path.parent).free
