"""All channels: a message goes to its target, whichever kind it is."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

from quire.errors import NoticeFailed, TargetError
from quire.sentinels.notices.channels.mail import Mail, MailServer
from quire.sentinels.notices.channels.services import Services
from quire.sentinels.notices.channels.webhook import Webhooks
from quire.sentinels.notices.event import Event
from quire.sentinels.notices.message import Message, compose
from quire.sentinels.notices.policy import Parcel
from quire.sentinels.notices.targets import TargetRules, read_target
from quire.sources.gate import Gate, Secret

#: Messages that are sent by mail and services at the same time.
MOST_THREADS = 8


class Channels:
    """Sends messages to targets of any kind.

    Args:
        gate: the way to webhooks; see ``webhook_gate``. It should be another one than that for
            pages, since the pauses between pages of a host would hold up notices.
        master: the secret of the service, from which the keys of webhooks are made.
        mail: the mail server; None to send no mail.
        allowed: places of self-hosted services; see ``TargetRules``.
        base_url: the address of the service, for links.
    """

    def __init__(
        self,
        gate: Gate,
        *,
        master: Secret,
        mail: MailServer | None = None,
        allowed: Sequence[str] = (),
        base_url: str = "",
    ) -> None:
        self.rules: TargetRules = TargetRules(tuple(allowed), mail=mail is not None)
        self._base_url = base_url
        self._webhooks = Webhooks(gate, master)
        # Not the threads of the event loop: services that hang must not hold up lookups of names.
        threads = ThreadPoolExecutor(MOST_THREADS, "notices")
        self._mail = None if mail is None else Mail(mail, threads)
        self._services = Services(threads)

    async def deliver(self, target: str, parcel: Parcel, text: str) -> None:
        """Send a parcel.

        Args:
            target: the address of the target.
            parcel: what to send.
            text: the text of the user, with placeholders; empty for the default.

        Raises:
            NoticeFailed: it was not sent. The message does not show secrets.
        """
        message = compose(parcel.events, ident=parcel.id, text=text, base_url=self._base_url)
        await self._send(target, message)

    async def send_test(self, target: str, now: datetime) -> None:
        """Send a test message, at once.

        Raises:
            NoticeFailed: it was not sent.
        """
        event = Event(
            id=f"test-{secrets.token_hex(8)}",
            kind="test",
            watch="",
            name="quire",
            url=self._base_url,
            time=now,
            reason="This is a test. Notices of quire reach this target.",
        )
        await self._send(target, compose([event], base_url=self._base_url))

    async def _send(self, address: str, message: Message) -> None:
        try:
            target = read_target(address, self.rules)  # rules can change while notices wait
        except TargetError as error:
            raise NoticeFailed(str(error), is_final=True) from None
        if target.kind == "webhook":
            await self._webhooks.send(target, message)
        elif target.kind == "service":
            await self._services.send(target, message)
        elif self._mail is not None:
            await self._mail.send(target, message)
