"""The service itself: watches are added, edited, run and removed here."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from time import time
from typing import Any

from sqlalchemy import select

from quire.errors import NameTaken
from quire.sentinels.checking.flow import Fetcher
from quire.sentinels.checking.worker import Tally, Worker
from quire.sentinels.form.reading import read_watch
from quire.sentinels.resources import Resources
from quire.sentinels.sending import (
    check_targets,
)
from quire.sentinels.service.drafting import Drafting
from quire.sentinels.service.listing import Listing
from quire.sentinels.service.looking import Looking
from quire.sentinels.service.operating import Operating
from quire.sentinels.service.questions import Questions
from quire.sentinels.service.telling import Telling
from quire.sentinels.service.views import (
    Added,
)
from quire.sentinels.store import backup as backups
from quire.sentinels.store.counts import Counts, count_all
from quire.sentinels.store.exporting import export_versions
from quire.sentinels.store.retention import Pruned, prune_page, set_keep
from quire.sentinels.store.tables import member, page
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

#: Watches that are added in one transaction.
CHUNK = 100


class Service(Looking, Listing, Questions, Telling, Operating, Drafting):
    """Watches in a database.

    Args:
        database: the database.
        notices: what the operator set up for notices (default: from the environment).
    """

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

    # ------------------------------------------------------------ running

    async def run_due(self, fetch: Fetcher) -> Tally:
        """Check everything that is due, once."""
        worker = Worker(self.database, fetch)
        try:
            await worker.run_due()
        finally:
            worker.close()
        return worker.tally

    # ------------------------------------------------------------ versions

    def prune(
        self, names: Iterable[str | int] = (), keep: Keep | None = None, *, vacuum: bool = True
    ) -> Pruned:
        """Delete versions that no watch wants any more.

        If no watches are named, resources that no page needs any more go too.

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
        if not chosen:
            freed += Resources(self.database).prune(time())
        if freed and vacuum:
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
