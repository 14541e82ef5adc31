"""Webhooks: the message as JSON in a signed POST request, through the gate.

Signatures follow the Standard Webhooks specification, so receivers can use its libraries:
``Webhook-Signature`` holds an HMAC-SHA256 of id, time and body. Every address has a key of its own,
made from the secret of the service, so one receiver cannot forge notices to another.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from collections.abc import Callable, Sequence

from quire.errors import FetchCause, FetchFailed, NoticeFailed
from quire.sentinels.notices.message import Message
from quire.sentinels.notices.targets import Target
from quire.sources.gate import Gate, Limits, Politeness, Proxy, Request, Secret, parse
from quire.sources.gate.addresses import Network
from quire.sources.gate.answers import retry_after_s

#: Limits of the gate for webhooks. Receivers answer with a few bytes. A host that asked for a pause
#: is not waited for: the notice goes back into its queue.
LIMITS = Limits(wire_bytes=1_000_000, decoded_bytes=1_000_000, whole_s=30.0, wait_s=10.0)
POLITENESS = Politeness(connections=4, pause_s=0.0)

KEY_PREFIX = "whsec_"

_MULTIPLE_CHOICES = 300
_BAD_REQUEST = 400
# The receiver does not want this message, or none at all; it would give the same answer again.
_FINAL_STATUSES = frozenset({400, 410, 413, 422})
# The gate would refuse it again.
_FINAL_CAUSES = frozenset({FetchCause.BAD_URL, FetchCause.REFUSED_ADDRESS})


def webhook_gate(*, allow_networks: Sequence[Network] = (), proxy: Proxy | None = None) -> Gate:
    """Make a gate for webhooks: with short limits, and without pauses between requests.

    Args:
        allow_networks: private networks that webhooks may be on.
        proxy: the proxy for all requests.
    """
    return Gate(allow_networks=allow_networks, limits=LIMITS, politeness=POLITENESS, proxy=proxy)


def signing_key(master: Secret, address: str) -> Secret:
    """Return the key of one address, for the settings of its receiver.

    >>> signing_key(Secret("master"), "https://example.org/hook").reveal()
    'whsec_thHahkjiYp6xUHzbHzCHmogAiWawELHb5AyqtOLhnac='

    Args:
        master: the secret of the service.
        address: the address of the webhook.
    """
    data = b"webhook\n" + parse(address).key.encode("utf-8")
    key = hmac.digest(master.reveal().encode("utf-8"), data, hashlib.sha256)
    return Secret(KEY_PREFIX + base64.b64encode(key).decode("ascii"))


def signature(key: Secret, ident: str, timestamp: int, body: bytes) -> str:
    """Return the value of ``Webhook-Signature``."""
    secret = base64.b64decode(key.reveal().removeprefix(KEY_PREFIX))
    signed = f"{ident}.{timestamp}.".encode("ascii") + body
    return "v1," + base64.b64encode(hmac.digest(secret, signed, hashlib.sha256)).decode("ascii")


class Webhooks:
    """Sends messages to webhooks.

    Args:
        gate: the way to the network.
        master: the secret of the service, from which keys are made.
        clock: seconds since 1970, for tests.
    """

    def __init__(self, gate: Gate, master: Secret, clock: Callable[[], float] = time.time) -> None:
        self._gate = gate
        self._master = master
        self._clock = clock

    async def send(self, target: Target, message: Message) -> None:
        """Send a message.

        Raises:
            NoticeFailed: the receiver did not confirm it.
        """
        address = target.address.reveal()
        body = message.json()
        timestamp = int(self._clock())
        key = signing_key(self._master, address)
        request = Request(
            address,
            method="POST",
            headers={
                "Content-Type": "application/json; charset=utf-8",
                "Accept": "*/*",
                "Idempotency-Key": message.id,
                "Webhook-Id": message.id,
                "Webhook-Timestamp": str(timestamp),
                "Webhook-Signature": Secret(signature(key, message.id, timestamp, body)),
            },
            body=body,
            obey_robots=False,
        )
        try:
            response = await self._gate.fetch(request)
        except FetchFailed as error:
            # The address can hold a token, so it does not go into the message.
            finding = str(error).replace(parse(address).key, target.shown)
            raise NoticeFailed(
                finding,
                is_final=error.cause in _FINAL_CAUSES,
                retry_after_s=error.retry_after_s,
            ) from None
        status = response.status
        if _MULTIPLE_CHOICES <= status < _BAD_REQUEST:
            raise NoticeFailed(
                f"{target.shown}: the webhook answered with a redirect (status {status}), which is "
                "not followed; give the address it leads to",
                is_final=True,
            )
        if status >= _BAD_REQUEST:
            raise NoticeFailed(
                f"{target.shown}: the webhook answered with status {status}; expected 200 to 299",
                is_final=status in _FINAL_STATUSES,
                retry_after_s=retry_after_s(response.header("Retry-After")),
            )
