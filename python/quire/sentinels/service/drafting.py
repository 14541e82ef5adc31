"""Drafts: a page is fetched once, and kept while someone chooses what to watch on it.

A draft is found by a key that cannot be guessed, and only by the account that made it. It is forgotten
after a day, and an account has only a few.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import time
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from quire.errors import NotStored, WatchError
from quire.sentinels.parts.location import check_selector
from quire.sentinels.sending import shown_target
from quire.sentinels.service.base import Base
from quire.sentinels.store.results import load_body
from quire.sentinels.store.tables import draft, page
from quire.sentinels.store.tables import watch as watches

#: How long a draft is kept, and how many drafts an account has.
DRAFT_S = 86_400.0
MOST_DRAFTS = 20
#: The longest page that a person can point at. Browsers are slow with longer ones.
MOST_BYTES = 8_000_000
#: Selectors that a person wrote, in one draft.
MOST_SELECTORS = 50
#: Watches whose targets are offered.
MOST_WATCHES = 500
MOST_TARGETS = 20


@dataclass(frozen=True, slots=True)
class Draft:
    """A page that a watch is being made for.

    Attributes:
        url: its address, as the user gave it.
        final_url: the address that answered.
        fetch: how it was fetched, as in the form of a watch.
        status: the status of the response.
        content_type: its content type.
        body: its bytes.
        selectors: selectors that someone wrote, or that the watch has.
        watch: the number of the watch that is edited; None for a new one.
        key: what finds the draft again.
    """

    url: str
    body: bytes = field(repr=False)
    final_url: str = ""
    fetch: dict[str, Any] = field(default_factory=dict, repr=False)
    status: int = 200
    content_type: str = ""
    selectors: tuple[str, ...] = ()
    watch: int | None = None
    key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class KnownTarget:
    """A target that another watch has.

    Attributes:
        key: stands for it in forms: pages must not show its secrets.
        shown: the target without its secrets.
        target: the target.
    """

    key: str
    shown: str
    target: str = field(repr=False)


class Drafting(Base):
    """Keeps pages while watches are made for them."""

    def add_draft(self, made: Draft, account: int) -> str:
        """Keep a draft; return the key that finds it.

        Raises:
            WatchError: the page is too long.
        """
        if len(made.body) > MOST_BYTES:
            raise WatchError(
                f"url: the page has {len(made.body):,} bytes; parts can be chosen on pages of up to "
                f"{MOST_BYTES:,}",
                path="url",
            )
        key = secrets.token_urlsafe(24)
        now = time()
        with self.database.write() as connection:
            connection.execute(delete(draft).where(draft.c.made < now - DRAFT_S))
            mine = select(draft.c.key).where(draft.c.account == account)
            older = connection.execute(mine.order_by(draft.c.made.desc()).offset(MOST_DRAFTS - 1))
            connection.execute(delete(draft).where(draft.c.key.in_(older.scalars().all())))
            connection.execute(
                insert(draft).values(
                    key=_hash(key),
                    account=account,
                    watch=made.watch,
                    made=now,
                    url=made.url,
                    final_url=made.final_url or made.url,
                    fetch=made.fetch,
                    status=made.status,
                    content_type=made.content_type,
                    body=made.body,
                    selectors=list(made.selectors),
                )
            )
        return key

    def draft(self, key: str, account: int) -> Draft:
        """Return a draft of an account.

        Raises:
            NotStored: there is none with this key, or not any more.
        """
        with self.database.read() as connection:
            row = _row(connection, key, account)
        return Draft(
            url=row.url,
            body=row.body,
            final_url=row.final_url,
            fetch=row.fetch,
            status=row.status,
            content_type=row.content_type,
            selectors=tuple(row.selectors),
            watch=row.watch,
            key=key,
        )

    def add_selector(self, key: str, account: int, selector: str) -> int:
        """Add a selector that a person wrote to a draft; return its place in the list.

        Raises:
            SelectorError: it is not valid.
            WatchError: there are too many.
        """
        check_selector(selector)
        with self.database.write() as connection:
            found = list(_row(connection, key, account).selectors)
            if selector in found:
                return found.index(selector)
            if len(found) >= MOST_SELECTORS:
                raise WatchError(
                    f"where: expected at most {MOST_SELECTORS} selectors", path="where"
                )
            values = {"selectors": [*found, selector]}
            mine = draft.c.key == _hash(key)
            connection.execute(update(draft).where(mine).values(**values))
            return len(found)

    def remove_draft(self, key: str, account: int) -> None:
        """Forget a draft."""
        with self.database.write() as connection:
            mine = (draft.c.key == _hash(key)) & (draft.c.account == account)
            connection.execute(delete(draft).where(mine))

    def draft_of(self, name: str | int, account: int, selectors: Sequence[str]) -> str:
        """Make a draft from the last version of a watch, to edit it; return its key.

        Args:
            name: the watch.
            account: the account that edits it.
            selectors: the selectors of the watch.

        Raises:
            NotStored: the watch has no version yet.
        """
        found = self.find(name)
        url = found.watch.pages.urls[0]
        with self._page(name, None if len(found.watch.pages.urls) == 1 else url) as (
            connection,
            _,
            row,
        ):
            if row.latest < 0:
                raise NotStored(f"{url} was not checked so far; there is nothing to show")
            body, content_type = load_body(connection, row.id, row.url, row.latest)
        made = Draft(
            url=url,
            body=body,
            content_type=content_type,
            fetch=dict(found.form.get("fetch") or {}),
            selectors=tuple(selectors),
            watch=found.id,
        )
        return self.add_draft(made, account)

    def is_stored(self, url: str) -> bool:
        """Tell whether there are versions of a page."""
        query = select(page.c.id).where(page.c.url == url, page.c.latest >= 0).limit(1)
        with self.database.read() as connection:
            return connection.execute(query).scalar() is not None

    def known_targets(self) -> list[KnownTarget]:
        """Return the targets that the newest watches have, each once."""
        query = select(watches.c.form).order_by(watches.c.updated.desc()).limit(MOST_WATCHES)
        found: dict[str, KnownTarget] = {}
        with self.database.read() as connection:
            for form in connection.execute(query).scalars():
                for target in _targets(form):
                    if len(found) < MOST_TARGETS:
                        found.setdefault(
                            target, KnownTarget(_hash(target)[:16], shown_target(target), target)
                        )
        return list(found.values())


def _row(connection: Connection, key: str, account: int) -> Any:  # noqa: ANN401 - a row
    mine = (draft.c.key == _hash(key)) & (draft.c.account == account)
    row = connection.execute(select(draft).where(mine)).one_or_none()
    if row is None or row.made < time() - DRAFT_S:
        raise NotStored("this page is not kept any more; fetch it again")
    return row


def _targets(form: dict[str, Any]) -> list[str]:
    notify = form.get("notify") or []
    targets = notify.get("to") or [] if isinstance(notify, dict) else notify
    found = [targets] if isinstance(targets, str) else targets
    return [each for each in found if isinstance(each, str)]


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()
