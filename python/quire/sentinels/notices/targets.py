"""Targets: where notices may be sent. An allow-list; whatever is not on it is refused.

* ``https://`` and ``http://``: webhooks, sent through the gate, which checks their host.
* ``mailto:me@example.org``: mail, sent by the mail server of the operator.
* Services with a fixed public host, by their scheme in the notation of Apprise: ``slack://``.
* Services that people run themselves: only on hosts that the operator allows, such as
  ``ntfys://ntfy.example.org``.

Apprise can do more: write files, run programs, talk to the desktop, to any host. Its other schemes,
and all options that are not listed here, are refused. Addresses of targets hold tokens and
passwords, so they are secrets; ``Target.shown`` is for people and logs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from quire.errors import FetchFailed, TargetError
from quire.sources.gate import Secret, parse

TargetKind: TypeAlias = Literal["webhook", "mail", "service"]

#: Services whose plugins talk to fixed public hosts only, and these hosts. A test compares both.
SERVICES: dict[str, frozenset[str]] = {
    "discord": frozenset({"discord.com"}),
    "flock": frozenset({"api.flock.com", "api.flock.co"}),
    "gchat": frozenset({"chat.googleapis.com"}),
    "groupme": frozenset({"api.groupme.com"}),
    "ifttt": frozenset({"maker.ifttt.com"}),
    "join": frozenset({"joinjoaomgcd.appspot.com"}),
    "line": frozenset({"api.line.me"}),
    "pagerduty": frozenset({"events.pagerduty.com", "events.eu.pagerduty.com"}),
    "pbul": frozenset({"api.pushbullet.com"}),
    "pover": frozenset({"api.pushover.net"}),
    "prowl": frozenset({"api.prowlapp.com"}),
    "slack": frozenset({"hooks.slack.com", "hooks.slack-gov.com", "slack.com"}),
    "spush": frozenset({"api.simplepu.sh"}),
    "tgram": frozenset({"api.telegram.org"}),
    "threema": frozenset({"msgapi.threema.ch"}),
    "twilio": frozenset({"api.twilio.com"}),
    "vonage": frozenset({"rest.nexmo.com"}),
    "webex": frozenset({"api.ciscospark.com", "webexapis.com"}),
    "wxteams": frozenset({"api.ciscospark.com", "webexapis.com"}),
}
#: Services that people run themselves.
SELF_HOSTED = frozenset(
    {
        "gotify", "gotifys", "hassio", "hassios", "matrix", "matrixs", "mmost", "mmosts", "nctalk",
        "nctalks", "ntfy", "ntfys", "rocket", "rockets", "signal", "signals",
    }
)  # fmt: skip
#: Hosts of such services that everybody may use.
PUBLIC_HOSTS = ("ntfys://ntfy.sh",)
#: Options behind the question mark. Others name files, hosts, headers, or turn checks off.
OPTIONS = frozenset(
    {
        "avatar",
        "footer",
        "image",
        "preview",
        "priority",
        "silent",
        "sound",
        "thread",
        "topic",
        "tts",
    }
)

MOST_CHARACTERS = 2_000

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_UNPRINTABLE = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029\ud800-\udfff]")
_MAIL = re.compile(
    r"[A-Za-z0-9.#$&'*+/=?^_`{|}~-]{1,64}@(?=.{1,253}$)"
    r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
    r"(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*"
)
_PLACE = re.compile(
    r"(?P<scheme>[a-z]+)://(?:[^/?#@]*@)?(?P<host>[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])"
    r"(?::(?P<port>[0-9]{1,5}))?(?:[/?].*)?"
)


@dataclass(frozen=True, slots=True)
class TargetRules:
    """What the operator allows.

    Attributes:
        allowed: places of self-hosted services, such as ``ntfys://ntfy.example.org:8443``.
        mail: whether there is a mail server.
    """

    allowed: tuple[str, ...] = ()
    mail: bool = False

    def __post_init__(self) -> None:
        for each in self.allowed:
            place = _place(each)
            if place is None or place[0] not in SELF_HOSTED:
                known = ", ".join(sorted(SELF_HOSTED))
                raise TargetError(
                    f"{each}: not a place of a self-hosted service; expected one such as "
                    f"ntfys://ntfy.example.org, with one of the schemes {known}"
                )

    def allows(self, place: tuple[str, str, int | None]) -> bool:
        """Tell whether a service may be reached: its scheme, host and port."""
        return place in {_place(each) for each in (*PUBLIC_HOSTS, *self.allowed)}


@dataclass(frozen=True, slots=True)
class Target:
    """A checked target.

    Attributes:
        kind: how it is reached.
        scheme: its scheme, in lower case.
        address: its address, with tokens and passwords; for mail, the address of the recipient.
        shown: what people and logs see.
        place: host and port of a self-hosted service.
    """

    kind: TargetKind
    scheme: str
    address: Secret
    shown: str
    place: tuple[str, int | None] | None = field(default=None, repr=False)


def read_target(text: str, rules: TargetRules) -> Target:
    """Check the address of a target.

    >>> read_target("slack://T1/B2/secret", TargetRules())
    Target(kind='service', scheme='slack', address=Secret(…), shown='slack://…')
    >>> read_target("file:///etc/passwd", TargetRules())
    Traceback (most recent call last):
    quire.errors.TargetError: file: notices are not sent to such targets; expected https, http,
    mailto, ...

    Raises:
        TargetError: it is not valid, or not allowed. The message does not quote secrets.
    """
    text = text.strip(" ")
    found = _SCHEME.match(text)
    if found is None:
        raise TargetError(
            "a target has no scheme; expected one such as mailto:me@example.org or "
            "https://example.org/hook"
        )
    scheme = found[1].lower()
    if len(text) > MOST_CHARACTERS:
        raise TargetError(
            f"{scheme}: the address has {len(text):,} characters; expected at most "
            f"{MOST_CHARACTERS:,}"
        )
    if _UNPRINTABLE.search(text):
        raise TargetError(f"{scheme}: the address has a space or a control character")
    if scheme in {"http", "https"}:
        return _webhook(scheme, text)
    if scheme == "mailto":
        return _mail(text[found.end() :], rules)
    if scheme in SERVICES or scheme in SELF_HOSTED:
        return _service(scheme, scheme + text[found.end() - 1 :], rules)
    known = ", ".join(["https", "http", "mailto", *sorted({*SERVICES, *SELF_HOSTED})])
    raise TargetError(f"{scheme}: notices are not sent to such targets; expected {known}")


def _webhook(scheme: str, text: str) -> Target:
    try:
        address = parse(text)
    except FetchFailed as error:
        # The path can be a secret, so only the finding is quoted.
        finding = str(error).removeprefix(error.url).removeprefix(": ")
        raise TargetError(f"{scheme}: not the address of a webhook: {finding}") from None
    return Target("webhook", scheme, Secret(text), f"{scheme}://{address.authority}/…")


def is_mail_address(text: str) -> bool:
    """Tell whether a text is one mail address and nothing else."""
    return _MAIL.fullmatch(text) is not None


def _mail(address: str, rules: TargetRules) -> Target:
    if not is_mail_address(address):
        raise TargetError(
            "mailto: expected one address and nothing else, as in mailto:me@example.org; the mail "
            "server is set up by the operator"
        )
    if not rules.mail:
        raise TargetError("mailto: the operator of this service has not set up a mail server")
    return Target("mail", "mailto", Secret(address), f"mailto:{address}")


def _service(scheme: str, text: str, rules: TargetRules) -> Target:
    _, _, query = text.partition("?")
    if ";" in query or "?" in query:
        raise TargetError(f"{scheme}: the options behind the question mark are not valid")
    for option in filter(None, re.split("[&#]", query)):
        name = option.partition("=")[0]
        if name.lower() not in OPTIONS:
            raise TargetError(
                f"{scheme}: the address has an option that is not allowed; expected one of "
                f"{', '.join(sorted(OPTIONS))}"
            )
    if scheme in SERVICES:
        return Target("service", scheme, Secret(text), f"{scheme}://…")
    place = _place(text)
    if place is None:
        raise TargetError(f"{scheme}: expected a host, as in {scheme}://{scheme}.example.org/…")
    if not rules.allows(place):
        raise TargetError(
            f"{scheme}: the operator of this service has not allowed {scheme}://{place[1]}"
            + (f":{place[2]}" if place[2] is not None else "")
        )
    port = "" if place[2] is None else f":{place[2]}"
    shown = f"{scheme}://{place[1]}{port}/…"
    return Target("service", scheme, Secret(text), shown, (place[1], place[2]))


def _place(text: str) -> tuple[str, str, int | None] | None:
    found = _PLACE.fullmatch(text)
    if found is None:
        return None
    port = None if found["port"] is None else int(found["port"])
    return found["scheme"], found["host"].lower(), port
