"""Notification services, through Apprise, which is imported when it is first used.

Apprise gets one address at a time, of which ``targets`` has checked the scheme and the options. Its
own reading of the address is checked again before anything is sent: plugin, host, options.
"""

from __future__ import annotations

import asyncio
import logging
import re
import threading
from typing import Any

from quire.errors import MissingExtra, NoticeFailed
from quire.sentinels.notices.escaping import chat
from quire.sentinels.notices.message import Message
from quire.sentinels.notices.targets import OPTIONS, Target

# Apprise gives the status of a failed request only in its log.
_STATUS = re.compile(r"\berror=([45][0-9]{2})\b")
_FINAL_STATUSES = frozenset({"400", "404", "410", "413", "422"})


class Services:
    """Sends messages to notification services."""

    async def send(self, target: Target, message: Message) -> None:
        """Send a message.

        Raises:
            NoticeFailed: the service did not accept it.
        """
        await asyncio.to_thread(notify, target, message)


def notify(target: Target, message: Message) -> None:
    """Send a message, and wait for it. Raises the same errors as ``Services.send``."""
    apprise = _apprise()
    plugin = open_service(target)
    statuses = _Statuses()
    logger = logging.getLogger("apprise")
    logger.addHandler(statuses)
    try:
        sender = apprise.Apprise(asset=plugin.asset)
        sender.add(plugin)
        is_sent = bool(
            sender.notify(
                title=chat(message.subject),
                body=message.chat,
                body_format=apprise.NotifyFormat.TEXT,
            )
        )
    finally:
        logger.removeHandler(statuses)
    if not is_sent:
        status = statuses.last
        raise NoticeFailed(
            f"{target.shown}: the service did not accept the message"
            + (f" (status {status})" if status else ""),
            is_final=status in _FINAL_STATUSES,
        )


def open_service(target: Target) -> Any:  # noqa: ANN401 - the plugins of Apprise have no types
    """Return the plugin for a target, if Apprise reads the address as ``targets`` does.

    Raises:
        NoticeFailed: the address is not one of the service.
    """
    apprise = _apprise()
    address = target.address.reveal()
    asset = apprise.AppriseAsset(
        app_id="quire",
        app_desc="quire",
        async_mode=False,
        interpret_emojis=False,
        secure_logging=True,
        storage_mode=apprise.PersistentStoreMode.MEMORY,
    )
    # Not Apprise.add: it takes several addresses in one text.
    plugin: Any = apprise.Apprise.instantiate(address, asset=asset, suppress_exceptions=True)
    read = _reading(address)
    names = {
        str(name).lower()
        for key in ("qsd", "qsd+", "qsd-", "qsd:")
        for name in (read.get(key) or {})
    }
    if (
        plugin is None
        or read.get("schema") != target.scheme
        or not names <= OPTIONS
        or not plugin.verify_certificate
        or (target.place is not None and (str(plugin.host).lower(), plugin.port) != target.place)
    ):
        raise NoticeFailed(
            f"{target.shown}: the address is not one of this service; see its page in the "
            "documentation of Apprise",
            is_final=True,
        )
    plugin.overflow_mode = apprise.OverflowMode.TRUNCATE
    return plugin


def _reading(address: str) -> dict[str, Any]:
    """Return how Apprise reads an address."""
    from apprise.plugins import url_to_dict  # noqa: PLC0415 - an extra

    found = url_to_dict(address, secure_logging=True)  # type: ignore[no-untyped-call] # Apprise's
    return found or {}


def _apprise() -> Any:  # noqa: ANN401 - a module
    try:
        import apprise  # noqa: PLC0415 - an extra, which takes long to import
    except ImportError:
        raise MissingExtra("notification services need apprise", extra="serve") from None
    return apprise


class _Statuses(logging.Handler):
    """Notes the status that Apprise logs on this thread."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.last = ""
        self._thread = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        if record.thread == self._thread:
            found = _STATUS.search(record.getMessage())
            if found:
                self.last = found[1]
