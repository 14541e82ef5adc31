"""Sending: the outbox of a database and the channels, put together.

The operator sets up in the environment what cannot be in the form of a watch:

    QUIRE_MAIL_SERVER     smtp://user:password@host:587, or smtps:// for TLS from the start;
                          add ?security=none for a server on this machine
    QUIRE_MAIL_SENDER     the address that mails come from
    QUIRE_NOTICE_PLACES   self-hosted services, such as ntfys://ntfy.example.org; several with spaces
    QUIRE_BASE_URL        the address of the service, for links in notices
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite

from quire.errors import TargetError, WatchError
from quire.sentinels.form.watch import Notify
from quire.sentinels.notices.channels import Channels, MailServer
from quire.sentinels.notices.channels.mail import Security
from quire.sentinels.notices.sender import Sender
from quire.sentinels.notices.targets import TargetRules, read_target
from quire.sentinels.store.database import Database
from quire.sentinels.store.outbox import SqlOutbox
from quire.sentinels.store.tables import setting
from quire.sources.gate import Gate, Secret

_SECRET = "notice-secret"  # noqa: S105 - the name of a setting


@dataclass(frozen=True, slots=True)
class NoticeOptions:
    """What the operator set up for notices.

    Attributes:
        mail: the mail server; None to send no mail.
        places: places of self-hosted services that may be reached.
        base_url: the address of the service, for links; empty to leave them out.
    """

    mail: MailServer | None = None
    places: tuple[str, ...] = ()
    base_url: str = ""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> NoticeOptions:
        """Read the options from environment variables.

        >>> NoticeOptions.from_environment({"QUIRE_NOTICE_PLACES": "ntfys://ntfy.example.org"})
        NoticeOptions(mail=None, places=('ntfys://ntfy.example.org',), base_url='')

        Raises:
            TargetError: a variable has a wrong value.
        """
        return cls(
            _mail_server(
                environment.get("QUIRE_MAIL_SERVER", ""), environment.get("QUIRE_MAIL_SENDER", "")
            ),
            tuple(environment.get("QUIRE_NOTICE_PLACES", "").split()),
            environment.get("QUIRE_BASE_URL", ""),
        )

    @property
    def rules(self) -> TargetRules:
        """Which targets are allowed."""
        return TargetRules(self.places, mail=self.mail is not None)


def _mail_server(address: str, sender: str) -> MailServer | None:
    if not address:
        return None
    wrong = TargetError(
        "QUIRE_MAIL_SERVER: expected an address such as smtp://user:password@mail.example.org:587"
    )
    try:
        found = urlsplit(address)
        port = found.port
    except ValueError:
        raise wrong from None
    if found.scheme not in ("smtp", "smtps") or not found.hostname:
        raise wrong
    if not sender:
        raise TargetError("QUIRE_MAIL_SENDER: expected the address that mails come from")
    is_plain = parse_qs(found.query).get("security") == ["none"]
    security: Security = "none" if is_plain else "starttls"
    if found.scheme == "smtps":
        security = "tls"
    return MailServer(
        found.hostname,
        sender,
        port or (465 if security == "tls" else 587),
        security,
        unquote(found.username or ""),
        Secret(unquote(found.password or "")),
    )


def make_channels(database: Database, gate: Gate, options: NoticeOptions | None = None) -> Channels:
    """Make the channels of a database.

    Args:
        database: the database, which has the secret that webhooks are signed with.
        gate: the way to webhooks; see ``webhook_gate``. Open it before anything is sent.
        options: what the operator set up (default: from the environment).
    """
    chosen = options or NoticeOptions.from_environment()
    return Channels(
        gate,
        master=master_secret(database),
        mail=chosen.mail,
        allowed=chosen.places,
        base_url=chosen.base_url,
    )


def make_sender(
    database: Database,
    gate: Gate,
    options: NoticeOptions | None = None,
    **given: Any,  # noqa: ANN401 - arguments of Sender
) -> Sender:
    """Make a sender for the notices of a database. Any number of processes can have one.

    Args:
        database: the database.
        gate: the way to webhooks; see ``webhook_gate``. Open it before anything is sent.
        options: what the operator set up (default: from the environment).
        given: other arguments of ``Sender``.
    """
    channels = make_channels(database, gate, options)
    return Sender(SqlOutbox(database), channels.deliver, **given)


def master_secret(database: Database) -> Secret:
    """Return the secret that the keys of webhooks are made from; make it if there is none."""
    with database.read() as connection:
        query = select(setting.c.value).where(setting.c.name == _SECRET)
        found = connection.execute(query).scalar()
    if found is None:
        dialect = sqlite if database.is_sqlite else postgresql
        with database.write() as connection:
            connection.execute(
                dialect.insert(setting)
                .values(name=_SECRET, value=secrets.token_hex(32))
                .on_conflict_do_nothing()  # another process may have been faster
            )
            found = connection.execute(query).scalar_one()
    return Secret(str(found))


def check_targets(
    form: Mapping[str, Any], notify: Notify, rules: TargetRules, known: Notify | None = None
) -> None:
    """Refuse a form with a target that notices cannot be sent to.

    Args:
        form: the form, as the user wrote it.
        notify: whom to tell, as read from it.
        rules: what the operator allows.
        known: the targets before an edit; those stay, though the rules may have changed.

    Raises:
        WatchError: a target is not valid, or not allowed. ``path`` names its field.
    """
    for place, target in enumerate(notify.targets):
        if known is not None and target in known.targets:
            continue
        try:
            read_target(target, rules)
        except TargetError as error:
            path = _target_path(form.get("notify"), place)
            raise WatchError(f"{path}: {error}", path=path) from None


def _target_path(notify: object, place: int) -> str:
    path = "notify"
    if isinstance(notify, dict):
        path, notify = "notify.to", notify.get("to")
    return f"{path}[{place}]" if isinstance(notify, list) else path


def shown_target(target: str) -> str:
    """Return a target without its secrets, for people.

    >>> shown_target("https://hooks.example/token"), shown_target("gotify://host/token")
    ('https://hooks.example/…', 'gotify:…')
    """
    try:
        return read_target(target, TargetRules(mail=True)).shown
    except TargetError:
        return f"{target.partition(':')[0]}:…"


def is_webhook(target: str) -> bool:
    """Tell whether a target is the address of a webhook."""
    try:
        return read_target(target, TargetRules()).kind == "webhook"
    except TargetError:
        return False
