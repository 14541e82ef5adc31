"""Drafts: a page is fetched once, and kept while someone chooses what to watch on it.

A draft is found by a key that cannot be guessed, and only by the account that made it. It is forgotten
after a day, and an account has only a few. A version of a watch serves as a draft to edit the watch.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from dataclasses import dataclass, field, replace
from time import time
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from quire.digest.page import Digest
from quire.errors import NotStored, WatchError
from quire.sentinels.parts.location import check_selector
from quire.sentinels.sending import shown_target
from quire.sentinels.service.base import Base
from quire.sentinels.store.results import load_body
from quire.sentinels.store.tables import draft, page
from quire.sentinels.store.tables import watch as watches
from quire.sentinels.store.watches import StoredWatch
from quire.sentinels.versions.page_reading import read_page

#: How long a draft is kept, and how many drafts an account has.
DRAFT_S = 86_400.0
MOST_DRAFTS = 20
#: The longest page that a person can point at. Browsers are slow with longer ones.
MOST_BYTES = 8_000_000
#: Elements and texts of such a page. The largest of 2,000 real pages has 24,000.
MOST_NODES = 100_000
#: Selectors that a person wrote, in one draft.
MOST_SELECTORS = 50
#: Watches whose targets are offered.
MOST_WATCHES = 500
MOST_TARGETS = 20

# A draft that stands for a version of a watch. Other keys are random.
_OF_WATCH = re.compile(r"watch-([0-9]{1,18})-([0-9]{1,9})")


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


def page_of(found: Draft) -> Digest:
    """Return the page of a draft.

    Raises:
        WatchError: it has too many elements to point at.
        QuireError: it cannot be read.
    """
    page = read_page(found.body, found.content_type)
    if page.n > MOST_NODES:
        raise WatchError(
            f"url: the page has {page.n:,} elements and texts; parts can be chosen on pages with up to "
            f"{MOST_NODES:,}",
            path="url",
        )
    return page


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
        """Return a draft of an account, or one that stands for a version of a watch.

        Raises:
            NotStored: there is none with this key, or not any more.
        """
        match = _OF_WATCH.fullmatch(key)
        if match is not None:
            return self._of_watch(int(match[1]), int(match[2]))
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

    def add_selector(self, key: str, account: int, selector: str) -> tuple[str, int]:
        """Add a selector that a person wrote to a draft.

        Returns:
            The key of the draft, which is another one if the draft stood for a version of a watch;
            and the place of the selector in its list.

        Raises:
            NotStored: there is no such draft.
            SelectorError: it is not valid.
            WatchError: there are too many.
        """
        check_selector(selector)
        found = self.draft(key, account)
        if selector in found.selectors:
            return key, found.selectors.index(selector)
        if len(found.selectors) >= MOST_SELECTORS:
            raise WatchError(f"where: expected at most {MOST_SELECTORS} selectors", path="where")
        new = (*found.selectors, selector)
        if _OF_WATCH.fullmatch(key):
            return self.add_draft(replace(found, selectors=new), account), len(new) - 1
        with self.database.write() as connection:
            mine = (draft.c.key == _hash(key)) & (draft.c.account == account)
            connection.execute(update(draft).where(mine).values(selectors=list(new)))
        return key, len(new) - 1

    def remove_draft(self, key: str, account: int) -> None:
        """Forget a draft."""
        with self.database.write() as connection:
            mine = (draft.c.key == _hash(key)) & (draft.c.account == account)
            connection.execute(delete(draft).where(mine))

    def draft_of(self, name: str | int) -> str:
        """Return the key of the draft that stands for the last version of a watch, to edit it.

        Nothing is stored for it: the version and the watch are there already.

        Raises:
            NotStored: the watch has no version yet.
        """
        found = self.find(name)
        with self._page(found.id, _only(found)) as (_, _, row):
            if row.latest < 0:
                raise NotStored(f"{row.url} was not checked so far; there is nothing to show")
            return f"watch-{found.id}-{row.latest}"

    def _of_watch(self, number: int, version: int) -> Draft:
        found = self.find(number)
        with self._page(number, _only(found)) as (connection, _, row):
            body, content_type = load_body(connection, row.id, row.url, version)
            url = row.url
        return Draft(
            url=url,
            body=body,
            final_url=url,
            content_type=content_type,
            fetch=dict(found.form.get("fetch") or {}),
            selectors=selectors_of(found),
            watch=number,
            key=f"watch-{number}-{version}",
        )

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


def selectors_of(found: StoredWatch) -> tuple[str, ...]:
    """Return the selectors of the parts of a watch, each once."""
    places = [part.location for part in found.watch.parts.values()]
    return tuple(dict.fromkeys(each for place in places for each in (*place.where, *place.without)))


def _only(found: StoredWatch) -> str | None:
    """Return the page to show, if a watch names several."""
    urls = found.watch.pages.urls
    return None if len(urls) == 1 or found.watch.pages.finder is not None else urls[0]


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
