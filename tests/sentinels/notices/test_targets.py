"""Notices go to allowed targets only, and secrets in their addresses are not shown."""

from __future__ import annotations

import logging
import pickle
import subprocess
import sys
from collections.abc import Iterator
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

import apprise
import pytest
import requests

from quire.errors import NoticeFailed, TargetError
from quire.sentinels.notices import Target, TargetRules, compose, read_target
from quire.sentinels.notices.channels.services import PLUGINS, notify, open_service
from quire.sentinels.notices.targets import OPTIONS, SELF_HOSTED, SERVICES
from tests.sentinels.notices.events import HOSTILE, event, hostile_event
from tests.sentinels.notices.test_message import check_chat

MAIL = TargetRules(mail=True)
# A valid address of every service, with a token "hush" in it where its syntax has room for one.
ADDRESSES = {
    "discord": f"discord://{'1' * 18}/{'a' * 60}hush",
    "flock": f"flock://{'a' * 20}hush",
    "gchat": "gchat://workspace/key/hush",
    "groupme": "groupme://hush56789012345678901234567890",
    "ifttt": "ifttt://hush@event",
    "join": f"join://{'a' * 32}/{'b' * 32}",
    "line": f"line://{'a' * 60}hush=/U12345",
    "pagerduty": "pagerduty://hush@apikey/src/comp",
    "pbul": f"pbul://{'a' * 30}hush",
    "pover": f"pover://{'u' * 30}@{'a' * 26}hush",
    "prowl": f"prowl://{'a' * 40}",
    "slack": "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevhush/#general",
    "spush": "spush://hush567890",
    "tgram": "tgram://123456789:abcdefg_hijklmhush/12315544",
    "threema": "threema://*THEGWID@hush/ABCDEFGH",
    "twilio": f"twilio://AC{'a' * 32}:{'b' * 32}@12345678901/12345678901",
    "vonage": f"vonage://{'a' * 8}:{'b' * 12}hush@12345678901/12345678901",
    "webex": f"webex://{'a' * 76}hush",
    "wxteams": f"wxteams://{'a' * 76}hush",
}
OWN = {
    "gotifys": "gotifys://got.example.org/AbCdEfGhIjKhush",
    "mmosts": "mmosts://mm.example.org:8065/" + "a" * 20 + "hush",
    "ntfys": "ntfys://me:hush@ntfy.example.org/topic",
    "rockets": "rockets://me:hush@rc.example.org/#room",
}
ALLOWED = TargetRules(
    (
        "gotifys://got.example.org",
        "mmosts://mm.example.org:8065",
        "ntfys://ntfy.example.org",
        "rockets://rc.example.org",
    )
)


@pytest.fixture
def sent() -> Iterator[list[tuple[str, str]]]:
    """Catch what Apprise sends: addresses and bodies."""
    found: list[tuple[str, str]] = []
    answer = requests.Response()
    answer.status_code = 200
    answer._content = b"ok"

    def request(self: object, method: str, url: str, **given: Any) -> requests.Response:  # noqa: ANN401 - as requests
        del self, method
        found.append((url, f"{given.get('params')} {given.get('data')} {given.get('json')}"))
        return answer

    with mock.patch.object(requests.Session, "request", request):
        yield found


def host(url: str) -> str:
    return urlsplit(url).hostname or ""


# ------------------------------------------------------------ the allow-list


@pytest.mark.parametrize(
    ("text", "kind", "shown"),
    [
        ("https://example.org/hook/hush?token=hush", "webhook", "https://example.org/…"),
        ("HTTP://me:hush@Example.org:8080/x", "webhook", "http://example.org:8080/…"),
        ("mailto:me+fish@example.org", "mail", "mailto:me+fish@example.org"),
        ("MailTo:me@localhost", "mail", "mailto:me@localhost"),
        (" slack://T1/B2/hush ", "service", "slack://…"),
        ("Discord://1/hush?footer=yes&thread=5", "service", "discord://…"),
        ("ntfys://ntfy.sh/topic", "service", "ntfys://ntfy.sh/…"),
    ],
)
def test_an_allowed_target_is_accepted_and_shown_without_its_secrets(
    text: str, kind: str, shown: str
) -> None:
    target = read_target(text, MAIL)

    assert (target.kind, target.shown) == (kind, shown)
    assert "hush" not in repr(target)
    with pytest.raises(TypeError):
        pickle.dumps(target.address)


@pytest.mark.parametrize("scheme", SERVICES)
def test_every_listed_service_is_accepted(scheme: str) -> None:
    assert read_target(ADDRESSES[scheme], TargetRules()).scheme == scheme


@pytest.mark.parametrize(
    "text",
    [
        "",
        "example.org/hook",
        "file:///etc/passwd",
        "syslog://",
        "dbus://",
        "windows://",
        "exec://touch%20x",
        "script://x",
        "json://127.0.0.1/",
        "jsons://example.org/",
        "xml://169.254.169.254/",
        "form://example.org/",
        "apprise://127.0.0.1/x",
        "mailtos://me:pw@example.org",
        "mailto://me:pw@example.org?smtp=127.0.0.1",
        "mailto:me@example.org?subject=x",
        "mailto:me@example.org,you@example.org",
        "mailto:me@example.org%0d%0aBcc:you@example.org",
        "mailto:me@example.org\r\nBcc: you@example.org",
        "mailto:<me@example.org>",
        "mailto:me@[127.0.0.1]",
        "mailto:me",
        "mailto:@example.org",
        'mailto:"a b"@example.org',
        "mqtt://127.0.0.1/x",
        "rsyslog://127.0.0.1",
        "smpp://x",
        "irc://example.org/x",
        "zulip://bot@evil.internal/" + "a" * 32,
        "vapid://x?keyfile=/etc/passwd",
        "nostr://x?relay=127.0.0.1",
        "ntfy://127.0.0.1/topic",
        "ntfys://ntfy.example.org/topic",
        "ntfys://ntfy.sh:8443/topic",
        "ntfys://ntfy.sh@127.0.0.1/topic",
        "ntfys://ntfy.sh%40127.0.0.1/topic",
        "ntfys://ntfy.sh\\@127.0.0.1/topic",
        "ntfys://ntfy.sh,ntfys://127.0.0.1/topic?mode=private",
        "gotify://127.0.0.1/x",
        "matrix://127.0.0.1/x",
        "slack://T1/B2/x?verify=no",
        "slack://T1/B2/x?footer=no&template=/etc/passwd",
        "slack://T1/B2/x?FOOTER=no&Template=/etc/passwd",
        "slack://T1/B2/x?footer=no;template=/etc/passwd",
        "slack://T1/B2/x/#c?template=/etc/passwd",
        "slack://T1/B2/x?footer=no?template=/etc/passwd",
        "slack://T1/B2/x?%74emplate=/etc/passwd",
        "slack://T1/B2/x?+X-Header=1",
        "slack://T1/B2/x?-x=1",
        "slack://T1/B2/x?:x=1",
        "slack://T1/B2/x, json://127.0.0.1/",
        "slack://T1/B2/x json://127.0.0.1/",
        "discord://1/2?avatar_url=http://127.0.0.1/",
        "ifttt://key@event?redirect=yes",
        "https:///nohost",
        "https://user@",
        "https://example.org:22/",
        "http://127.1/",
        "http://a b/",
        "https://example.org/\r\nX: y",
        "gopher://example.org/",
        "javascript:alert(1)",
        "x" * 3_000,
        "slack://" + "x" * 3_000,
    ],
)
def test_any_other_target_is_refused(text: str) -> None:
    with pytest.raises(TargetError):
        read_target(text, MAIL)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of plugins that quire does not load
def test_no_scheme_of_apprise_is_accepted_that_is_not_listed() -> None:
    details: Any = apprise.Apprise().details()
    schemes = {
        scheme
        for service in details["schemas"]
        for key in ("protocols", "secure_protocols")
        for scheme in (service[key] or ())
    }
    accepted = set()
    for scheme in schemes:
        for rest in ("//127.0.0.1/a/b", "//a:b@127.0.0.1:80/a/b"):
            try:
                accepted.add(read_target(f"{scheme}:{rest}", TargetRules()).scheme)
            except TargetError:
                continue

    assert len(schemes) > 150
    assert accepted == set(SERVICES)
    assert schemes >= SELF_HOSTED
    assert set(PLUGINS) == SELF_HOSTED | set(SERVICES)


def test_mail_needs_a_mail_server() -> None:
    with pytest.raises(TargetError, match="has not set up a mail server"):
        read_target("mailto:me@example.org", TargetRules())


def test_an_error_does_not_quote_the_secrets_of_an_address() -> None:
    for text in (
        "https://hush@hush.example:22/hush",
        "https://hush:hush@/hush",
        "slack://hush/hush?hush=hush",
        "ntfys://me:hush@ntfy.example.org/hush",
        "mailto:hush",
        "hush://hush hush",
    ):
        with pytest.raises(TargetError) as caught:
            read_target(text, MAIL)
        said = str(caught.value).removeprefix("hush:")  # the scheme itself
        assert "hush" not in said.replace("hush.example", "")


@pytest.mark.parametrize("wrong", ["file://x", "json://example.org", "ntfys:", "slack://x", ""])
def test_the_operator_can_allow_places_of_self_hosted_services_only(wrong: str) -> None:
    with pytest.raises(TargetError, match="not a place of a self-hosted service"):
        TargetRules((wrong,))


@pytest.mark.parametrize("scheme", OWN)
def test_a_self_hosted_service_is_accepted_where_the_operator_allows_it(scheme: str) -> None:
    address = OWN[scheme]

    assert read_target(address, ALLOWED).kind == "service"
    assert "hush" not in read_target(address, ALLOWED).shown
    with pytest.raises(TargetError, match="has not allowed"):
        read_target(address, TargetRules())
    with pytest.raises(TargetError, match="has not allowed"):
        read_target(address.replace(".example.org", ".example.net"), ALLOWED)
    with pytest.raises(TargetError, match="has not allowed"):
        read_target(address.replace("s://", "://", 1), ALLOWED)


# ------------------------------------------------------------ Apprise


@pytest.mark.parametrize("scheme", ADDRESSES)
def test_a_listed_service_talks_to_its_own_hosts_only(
    scheme: str, sent: list[tuple[str, str]]
) -> None:
    notify(read_target(ADDRESSES[scheme], TargetRules()), compose([event()]))

    assert sent
    assert {host(url) for url, _ in sent} <= SERVICES[scheme]
    assert all(url.startswith("https://") for url, _ in sent)


@pytest.mark.parametrize("scheme", ["gotifys", "mmosts", "ntfys"])
def test_a_self_hosted_service_talks_to_the_allowed_host_only(
    scheme: str, sent: list[tuple[str, str]]
) -> None:
    target = read_target(OWN[scheme], ALLOWED)
    notify(target, compose([event()]))

    assert sent
    assert target.place is not None
    assert {host(url) for url, _ in sent} == {target.place[0]}


@pytest.mark.parametrize("scheme", ["discord", "slack", "gchat", "mmosts", "ntfys", "webex"])
@pytest.mark.parametrize("hostile", HOSTILE[12:15], ids=["mentions", "links", "markup"])
def test_page_text_is_no_markup_and_no_mention_in_a_chat(
    scheme: str, hostile: str, sent: list[tuple[str, str]]
) -> None:
    message = compose([hostile_event(hostile)], text="{name} {changes}")
    check_chat(message.chat)
    notify(read_target({**ADDRESSES, **OWN}[scheme], ALLOWED), message)
    (body,) = [body for _, body in sent]

    for unwanted in ("@everyone", "@here", "@channel", "!channel>", "](http", "|good>", "**bold"):
        assert unwanted not in body.encode().decode("unicode_escape")


def test_options_that_apprise_reads_and_we_did_not_see_are_refused() -> None:
    address = ADDRESSES["slack"]
    target = read_target(address, TargetRules())
    secret = type(target.address)
    sneaky = Target("service", "slack", secret(address + "?verify=no"), "slack://…")
    other = Target("service", "slack", secret("json://127.0.0.1/"), "slack://…")
    moved = Target(
        "service", "ntfys", secret("ntfys://127.0.0.1/t"), "ntfys://…", ("ntfy.sh", None)
    )

    assert open_service(target) is not None
    for wrong in (sneaky, other, moved):
        with pytest.raises(NoticeFailed, match="not one of this service") as caught:
            open_service(wrong)
        assert caught.value.is_final


@pytest.mark.parametrize(("status", "is_final"), [(500, False), (429, False), (404, True)])
def test_a_service_that_refuses_is_a_failure_with_its_status_and_without_secrets(
    status: int, *, is_final: bool, caplog: pytest.LogCaptureFixture
) -> None:
    answer = requests.Response()
    answer.status_code = status
    answer._content = b"no"
    target = read_target(ADDRESSES["discord"], TargetRules())
    with (
        caplog.at_level(logging.DEBUG),
        mock.patch.object(requests.Session, "request", return_value=answer),
        pytest.raises(NoticeFailed) as caught,
    ):
        notify(target, compose([event()]))

    assert (
        str(caught.value)
        == f"discord://…: the service did not accept the message (status {status})"
    )
    assert caught.value.is_final == is_final
    assert f"error={status}" in caplog.text  # Apprise does log
    assert "hush" not in caplog.text
    assert not logging.getLogger("urllib3.connectionpool").isEnabledFor(logging.DEBUG)


def test_an_address_that_a_service_does_not_know_is_a_final_failure() -> None:
    target = read_target("pover://too-short", TargetRules())

    with pytest.raises(NoticeFailed, match="not one of this service") as caught:
        notify(target, compose([event()]))
    assert caught.value.is_final


def test_apprise_is_not_imported_until_it_is_used() -> None:
    code = "import sys, quire.sentinels.notices; print('apprise' in sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert result.stdout == "False\n"


def test_only_the_plugin_of_a_target_is_loaded() -> None:
    code = (
        "import sys\n"
        "from quire.sentinels.notices import TargetRules, read_target\n"
        "from quire.sentinels.notices.channels.services import open_service\n"
        f"open_service(read_target({ADDRESSES['discord']!r}, TargetRules()))\n"
        "print(sorted(n for n in sys.modules if n.startswith('apprise.plugins.')))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert result.stdout == "['apprise.plugins.base', 'apprise.plugins.discord']\n"


def test_the_allowed_options_name_no_files_and_no_hosts() -> None:
    assert not OPTIONS & {
        "attach", "avatar_url", "cto", "format", "href", "image_url", "keyfile", "overflow",
        "redirect", "relay", "rto", "smtp", "store", "template", "url", "verify",
    }  # fmt: skip
