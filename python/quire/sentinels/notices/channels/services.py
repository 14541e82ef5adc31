"""Notification services, through Apprise, which is imported when it is first used.

``targets`` has checked the scheme and the options of an address. Only the plugin of this scheme is
imported, by its name: the many that could write files, run programs or reach any host are not even
loaded (36 MB of memory instead of 54). Apprise's own reading of the address is checked again before
anything is sent: scheme, host, options.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import re
import threading
from concurrent.futures import Executor
from typing import Any

from quire.errors import MissingExtra, NoticeFailed
from quire.sentinels.notices.escaping import chat
from quire.sentinels.notices.message import Message
from quire.sentinels.notices.targets import OPTIONS, Target

#: The plugin of each scheme: its module, and its class.
PLUGINS = {
    "discord": ("discord", "NotifyDiscord"),
    "flock": ("flock", "NotifyFlock"),
    "gchat": ("google_chat", "NotifyGoogleChat"),
    "groupme": ("groupme", "NotifyGroupMe"),
    "ifttt": ("ifttt", "NotifyIFTTT"),
    "join": ("join", "NotifyJoin"),
    "line": ("line", "NotifyLine"),
    "pagerduty": ("pagerduty", "NotifyPagerDuty"),
    "pbul": ("pushbullet", "NotifyPushBullet"),
    "pover": ("pushover", "NotifyPushover"),
    "prowl": ("prowl", "NotifyProwl"),
    "slack": ("slack", "NotifySlack"),
    "spush": ("simplepush", "NotifySimplePush"),
    "tgram": ("telegram", "NotifyTelegram"),
    "threema": ("threema", "NotifyThreema"),
    "twilio": ("twilio", "NotifyTwilio"),
    "vonage": ("vonage", "NotifyVonage"),
    **dict.fromkeys(("webex", "wxteams"), ("webexteams", "NotifyWebexTeams")),
    **dict.fromkeys(("gotify", "gotifys"), ("gotify", "NotifyGotify")),
    **dict.fromkeys(("hassio", "hassios"), ("home_assistant", "NotifyHomeAssistant")),
    **dict.fromkeys(("matrix", "matrixs"), ("matrix", "NotifyMatrix")),
    **dict.fromkeys(("mmost", "mmosts"), ("mattermost", "NotifyMattermost")),
    **dict.fromkeys(("nctalk", "nctalks"), ("nextcloudtalk", "NotifyNextcloudTalk")),
    **dict.fromkeys(("ntfy", "ntfys"), ("ntfy", "NotifyNtfy")),
    **dict.fromkeys(("rocket", "rockets"), ("rocketchat", "NotifyRocketChat")),
    **dict.fromkeys(("signal", "signals"), ("signal_api", "NotifySignalAPI")),
}

# Apprise gives the status of a failed request only in its log.
_STATUS = re.compile(r"\berror=([45][0-9]{2})\b")
_FINAL_STATUSES = frozenset({"400", "404", "410", "413", "422"})


class Services:
    """Sends messages to notification services.

    Args:
        threads: where Apprise runs, since it is not asynchronous.
    """

    def __init__(self, threads: Executor) -> None:
        self._threads = threads

    async def send(self, target: Target, message: Message) -> None:
        """Send a message.

        Raises:
            NoticeFailed: the service did not accept it.
        """
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._threads, notify, target, message)


def notify(target: Target, message: Message) -> None:
    """Send a message, and wait for it. Raises the same errors as ``Services.send``."""
    apprise = _apprise()
    plugin = open_service(target)
    statuses = _Statuses()
    logger = logging.getLogger("apprise")
    logger.addHandler(statuses)
    try:
        is_sent = plugin.notify(
            title=chat(message.subject),
            body=message.chat,
            notify_type=apprise.NotifyType.INFO,
            body_format=apprise.NotifyFormat.TEXT,
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
    module, name = PLUGINS[target.scheme]
    kind = getattr(importlib.import_module(f"apprise.plugins.{module}"), name)
    # A channel such as #general is not a fragment.
    read = kind.parse_url(target.address.reveal().replace("/#", "/%23"))
    if not read or not _is_as_checked(read, target):
        raise _unknown(target)
    read["asset"] = apprise.AppriseAsset(
        app_id="quire",
        app_desc="quire",
        async_mode=False,
        interpret_emojis=False,
        secure_logging=True,
        storage_mode=apprise.PersistentStoreMode.MEMORY,
    )
    try:
        plugin = kind(**read)
    except TypeError:  # how plugins refuse an address
        raise _unknown(target) from None
    if not plugin.verify_certificate:
        raise _unknown(target)
    if target.place is not None and (str(plugin.host).lower(), plugin.port) != target.place:
        raise _unknown(target)
    plugin.overflow_mode = apprise.OverflowMode.TRUNCATE
    return plugin


def _is_as_checked(read: dict[str, Any], target: Target) -> bool:
    options = {
        str(name).lower()
        for key in ("qsd", "qsd+", "qsd-", "qsd:")
        for name in (read.get(key) or {})
    }
    return read.get("schema") == target.scheme and options <= OPTIONS


def _unknown(target: Target) -> NoticeFailed:
    return NoticeFailed(
        f"{target.shown}: the address is not one of this service; see its page in the "
        "documentation of Apprise",
        is_final=True,
    )


def _apprise() -> Any:  # noqa: ANN401 - a module
    try:
        import apprise  # noqa: PLC0415 - an extra, which takes long to import
    except ImportError:
        raise MissingExtra("notification services need apprise", extra="serve") from None
    # Below this level both log addresses with their tokens.
    for name in ("apprise", "urllib3"):
        logging.getLogger(name).setLevel(logging.WARNING)
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
