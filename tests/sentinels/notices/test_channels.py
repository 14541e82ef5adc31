"""Messages reach webhooks and mail servers, and what these do wrong is a failure with a reason."""

from __future__ import annotations

import asyncio
import base64
import email
import email.policy
import hashlib
import hmac
import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from quire.errors import NoticeFailed, TargetError
from quire.sentinels.form.watch import Notify
from quire.sentinels.notices import (
    Channels,
    MailServer,
    MemoryOutbox,
    Retrying,
    Sender,
    compose,
    signing_key,
    webhook_gate,
)
from quire.sentinels.notices.channels.mail import write_mail
from quire.sentinels.notices.policy import Notice, Parcel, notice_id, pack
from quire.sources.gate import Gate, Limits, Politeness, Secret, parse_networks
from tests.sentinels.notices.events import HOSTILE, START, event, hostile_event
from tests.sentinels.notices.receivers import (
    Behaviour,
    Got,
    MailHost,
    Webhook,
    accept,
    answer,
    mail_host,
    webhook,
)

MASTER = Secret("the secret of the service")
LOOPBACK = parse_networks("127.0.0.0/8")
PATIENT = Limits(wire_bytes=10_000, whole_s=240, idle_s=240, connect_s=240, dns_s=240, wait_s=1.0)
# For webhooks that hang. A machine that is busy for longer than 5 s could be taken for one.
QUICK = replace(PATIENT, whole_s=0.5)
LONGER = replace(PATIENT, whole_s=5.0)
# Hosts may ask for long pauses; in these tests the sender alone obeys.
IMPOLITE = Politeness(connections=8, pause_s=0.0, most_retry_after_s=0.0)


def parcel(*numbers: int) -> Parcel:
    events = [event(number) for number in numbers]
    return pack([Notice(notice_id(each.id, "t"), each, START) for each in events])


def with_webhook(
    test: Callable[[Webhook, Channels], Awaitable[None]],
    behave: Behaviour = accept,
    politeness: Politeness = IMPOLITE,
    limits: Limits = PATIENT,
) -> Webhook:
    """Run a test with a webhook and with channels that may reach it."""

    async def main() -> Webhook:
        async with (
            webhook(behave) as seen,
            Gate(allow_networks=LOOPBACK, limits=limits, politeness=politeness) as gate,
        ):
            await test(seen, Channels(gate, master=MASTER, base_url="https://quire.example"))
            return seen

    return asyncio.run(main())


def failure(behave: Behaviour, path: str = "/hook", limits: Limits = PATIENT) -> NoticeFailed:
    """Return the failure of one send to a webhook."""
    found: list[NoticeFailed] = []

    async def test(seen: Webhook, channels: Channels) -> None:
        with pytest.raises(NoticeFailed) as caught:
            await channels.deliver(seen.url(path), parcel(1), "")
        found.append(caught.value)

    with_webhook(test, behave, limits=limits)
    return found[0]


def always(data: bytes | str) -> Behaviour:
    """Behave in the same way each time."""
    return lambda *_: data


# ------------------------------------------------------------ webhooks


def test_a_webhook_gets_signed_json_with_the_id_of_the_event() -> None:
    async def test(seen: Webhook, channels: Channels) -> None:
        await channels.deliver(seen.url(), parcel(1), "")

    seen = with_webhook(test)
    (got,) = seen.got
    key = signing_key(MASTER, seen.url()).reveal()
    signed = f"{got.fields['webhook-id']}.{got.fields['webhook-timestamp']}.".encode() + got.body
    expected = hmac.digest(base64.b64decode(key.removeprefix("whsec_")), signed, hashlib.sha256)

    assert got.events == [event(1).id]
    assert got.fields["idempotency-key"] == got.fields["webhook-id"] == event(1).id
    assert got.fields["webhook-signature"] == "v1," + base64.b64encode(expected).decode()
    assert abs(int(got.fields["webhook-timestamp"]) - datetime.now().timestamp()) < 600  # noqa: DTZ005 - a timestamp
    assert got.fields["content-type"] == "application/json; charset=utf-8"
    assert json.loads(got.body)["events"][0]["differences"]["entries"][0]["after"] == "Fish 8.60"


def test_every_address_has_its_own_key() -> None:
    keys = {
        signing_key(master, address).reveal()
        for master in (MASTER, Secret("another"))
        for address in ("https://a.example/", "https://a.example/x", "https://b.example/")
    }

    assert len(keys) == 6
    assert signing_key(MASTER, "HTTPS://A.example") == signing_key(MASTER, "https://a.example/")


def test_several_events_are_one_request_with_an_id_of_their_own() -> None:
    async def test(seen: Webhook, channels: Channels) -> None:
        await channels.deliver(seen.url(), parcel(1, 2, 3), "")

    (got,) = with_webhook(test).got

    assert got.events == [event(n).id for n in (1, 2, 3)]
    assert got.fields["idempotency-key"] == parcel(1, 2, 3).id != event(1).id


@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_adds_no_header_field_to_a_webhook(hostile: str) -> None:
    async def test(seen: Webhook, channels: Channels) -> None:
        made = hostile_event(hostile)
        notice = Notice("n", made, START)
        await channels.deliver(seen.url(), Parcel(made.id, (notice,)), "{name}")

    (got,) = with_webhook(test).got

    assert set(got.fields) == {
        "host", "content-type", "accept", "accept-encoding", "user-agent", "content-length",
        "idempotency-key", "webhook-id", "webhook-timestamp", "webhook-signature",
    }  # fmt: skip
    json.loads(got.body)


@pytest.mark.parametrize(
    ("does", "is_final", "said"),
    [
        (answer("500 Oops"), False, "status 500"),
        (answer("502 Bad", body=b"<b>no"), False, "status 502"),
        (answer("401 Who"), False, "status 401"),
        (answer("404 Not here"), False, "status 404"),
        (answer("400 Bad"), True, "status 400"),
        (answer("410 Gone"), True, "status 410"),
        (answer("413 Large"), True, "status 413"),
        (answer("302 Found", "Location: http://127.0.0.1:1/"), True, "redirect (status 302)"),
        (answer("308 Moved", "Location: /elsewhere"), True, "redirect (status 308)"),
        (b"not HTTP at all\r\n\r\n", False, "not a valid HTTP answer"),
        (answer(body=b"x" * 20_000), False, "limit wire_bytes"),
        ("hang", False, "after 0.5 s"),
        ("drip", False, "after 0.5 s"),
        ("reset", False, "closed the connection"),
    ],
    ids=lambda value: str(value)[:24],
)
def test_what_a_webhook_does_wrong_is_a_failure_with_a_reason(
    does: bytes | str, *, is_final: bool, said: str
) -> None:
    limits = QUICK if does in ("hang", "drip") else PATIENT
    found = failure(always(does), "/hook/hush?token=hush", limits)

    assert said in str(found)
    assert found.is_final == is_final
    assert "hush" not in str(found)


@pytest.mark.parametrize("status", ["429 Slow down", "503 Away"])
def test_a_webhook_that_asks_for_a_pause_gets_it(status: str) -> None:
    assert failure(always(answer(status, "Retry-After: 77"))).retry_after_s == 77
    assert failure(always(answer(status, "Retry-After: soon"))).retry_after_s is None


def test_a_host_that_asked_for_a_pause_is_left_alone_by_other_queues_too() -> None:
    async def test(seen: Webhook, channels: Channels) -> None:
        for path in ("/a", "/b"):
            with pytest.raises(NoticeFailed) as caught:
                await channels.deliver(seen.url(path), parcel(1), "")
            assert caught.value.retry_after_s is not None
            assert caught.value.retry_after_s > 60

    behave = always(answer("429 Slow down", "Retry-After: 77"))
    seen = with_webhook(test, behave, Politeness(pause_s=0.0))

    assert [got.path for got in seen.got] == ["/a"]


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:{port}/",
        "http://localhost:{port}/",
        "http://[::ffff:127.0.0.1]:{port}/",
        "http://169.254.169.254/latest/meta-data/",
        "http://10.0.0.1/",
        "http://[::1]:{port}/",
        "http://0.0.0.0:{port}/",
    ],
)
def test_a_webhook_on_a_private_network_is_refused_unless_it_is_allowed(address: str) -> None:
    async def main() -> None:
        async with webhook() as seen, webhook_gate() as gate:
            channels = Channels(gate, master=MASTER)
            with pytest.raises(NoticeFailed) as caught:
                await channels.deliver(address.format(port=seen.port), parcel(1), "")
            assert caught.value.is_final
            assert "not a public address" in str(caught.value)
            assert seen.got == []

    asyncio.run(main())


def test_a_redirect_of_a_webhook_leads_nowhere() -> None:
    async def main() -> None:
        async with webhook() as canary:
            found: list[str] = []

            async def test(seen: Webhook, channels: Channels) -> None:
                with pytest.raises(NoticeFailed, match="not followed"):
                    await channels.deliver(seen.url(), parcel(1), "")
                found.append(seen.url())

            async with (
                webhook(always(answer("307 Go", f"Location: {canary.url()}"))) as seen,
                Gate(allow_networks=LOOPBACK, limits=PATIENT) as gate,
            ):
                await test(seen, Channels(gate, master=MASTER))
            assert found
            assert canary.got == []

    asyncio.run(main())


# ------------------------------------------------------------ through the outbox


def test_a_webhook_that_fails_in_every_way_gets_everything_in_order_in_the_end() -> None:
    wrong: list[bytes | str] = [
        answer("500 Oops"),
        "reset",
        answer("429 Slow down", "Retry-After: 700"),
        "hang",
        answer("503 Away"),
    ]

    def behave(got: Got, number: int) -> bytes | str:
        del got
        return wrong[number // 2] if number % 2 == 0 and number // 2 < len(wrong) else answer()

    store = MemoryOutbox()
    now = [START]

    async def test(seen: Webhook, channels: Channels) -> None:
        for number in range(8):
            store.add(event(number), Notify(targets=(seen.url(),)), START)
        sender = Sender(store, channels.deliver, clock=lambda: now[0])
        while (due := store.next_due()) is not None:
            now[0] = max(now[0], due)
            await sender.run_once()
        assert sender.tally.failed == 5
        assert sender.tally.sent == 8

    seen = with_webhook(test, behave, limits=LONGER)
    accepted = [got.events for number, got in enumerate(seen.got) if number % 2 or number >= 10]

    assert accepted == [[event(n).id] for n in range(8)]
    assert now[0] >= START + timedelta(seconds=700)
    repeats = {got.fields["idempotency-key"]: got.body for got in seen.got}
    assert all(repeats[got.fields["idempotency-key"]] == got.body for got in seen.got)


def test_a_webhook_that_never_accepts_ends_as_a_dead_letter_without_secrets(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = MemoryOutbox()
    now = [START]

    async def test(seen: Webhook, channels: Channels) -> None:
        store.add(event(1), Notify(targets=(seen.url("/hook/hush"),)), START)
        sender = Sender(store, channels.deliver, clock=lambda: now[0], retrying=Retrying(tries=4))
        while (due := store.next_due()) is not None:
            now[0] = max(now[0], due)
            await sender.run_once()

    with caplog.at_level(logging.DEBUG):
        seen = with_webhook(test, always(answer("500 Oops")))
    (letter,) = asyncio.run(store.dead_letters(5))

    assert len(seen.got) == 4
    assert "status 500" in letter.reason
    assert "hush" not in letter.reason + caplog.text
    assert "is a dead letter" in caplog.text


def test_a_target_that_is_no_longer_allowed_becomes_a_dead_letter() -> None:
    store = MemoryOutbox()
    store.add(event(1), Notify(targets=("ntfys://was.example.org/hush",)), START)

    async def test(seen: Webhook, channels: Channels) -> None:
        del seen
        await Sender(store, channels.deliver, clock=lambda: START).run_once()

    with_webhook(test)
    (letter,) = asyncio.run(store.dead_letters(5))

    assert "has not allowed ntfys://was.example.org" in letter.reason
    assert "hush" not in letter.reason


# ------------------------------------------------------------ mail


def with_mail_host(
    test: Callable[[MailHost, Channels], Awaitable[None]],
    answers: dict[str, str] | None = None,
    user: str = "",
) -> MailHost:
    """Run a test with a mail server and with channels that use it."""

    async def main() -> MailHost:
        async with mail_host(answers) as seen, webhook_gate() as gate:
            server = MailServer(
                "127.0.0.1",
                "quire@example.net",
                port=seen.port,
                security="none",
                user=user,
                password=Secret("hush"),
                timeout_s=240,
            )
            await test(seen, Channels(gate, master=MASTER, mail=server))
            return seen

    return asyncio.run(main())


def test_a_mail_has_the_id_of_the_event_and_both_texts() -> None:
    async def test(seen: MailHost, channels: Channels) -> None:
        del seen
        await channels.deliver("mailto:me@example.org", parcel(1), "")

    seen = with_mail_host(test)
    (data,) = seen.mails
    mail = email.message_from_bytes(data, policy=email.policy.default)
    text, html = (mail.get_body((kind,)) for kind in ("plain", "html"))

    assert seen.recipients == ["me@example.org"]
    assert mail["Message-ID"] == f"<{event(1).id}@example.net>"
    assert mail["Subject"] == "Price of fish changed"
    assert mail["Auto-Submitted"] == "auto-generated"
    assert text is not None
    assert "+ Fish 8.60" in text.get_content()
    assert html is not None
    assert "<ins>Fish 8.60</ins>" in html.get_content()


@pytest.mark.parametrize(
    ("answers", "is_final", "said"),
    [
        ({"RCPT": "550 unknown"}, True, "code 550"),
        ({"RCPT": "450 later"}, False, "code 450"),
        ({"MAIL": "421 away"}, False, "code 421"),
        ({"DATA": "554 no"}, True, "code 554"),
        ({".": "552 large"}, True, "code 552"),
        ({".": "451 later"}, False, "code 451"),
    ],
    ids=str,
)
def test_what_a_mail_server_refuses_is_a_failure_with_its_code(
    answers: dict[str, str], *, is_final: bool, said: str
) -> None:
    async def test(seen: MailHost, channels: Channels) -> None:
        del seen
        with pytest.raises(NoticeFailed) as caught:
            await channels.deliver("mailto:me@example.org", parcel(1), "")
        assert said in str(caught.value)
        assert caught.value.is_final == is_final

    assert with_mail_host(test, answers).mails == []


def test_a_wrong_password_of_the_operator_loses_no_notice() -> None:
    async def test(seen: MailHost, channels: Channels) -> None:
        del seen
        with pytest.raises(NoticeFailed, match="does not accept the password") as caught:
            await channels.deliver("mailto:me@example.org", parcel(1), "")
        assert not caught.value.is_final
        assert "hush" not in str(caught.value)

    answers = {"EHLO": "250-here\r\n250 AUTH PLAIN LOGIN", "AUTH": "535 no"}
    with_mail_host(test, answers, user="quire")


def test_a_mail_server_that_is_away_is_a_failure_that_can_go_away() -> None:
    async def main() -> None:
        async with mail_host() as seen:
            port = seen.port
        async with webhook_gate() as gate:
            server = MailServer("127.0.0.1", "q@example.net", port=port, security="none")
            channels = Channels(gate, master=MASTER, mail=server)
            with pytest.raises(NoticeFailed, match="cannot be reached") as caught:
                await channels.deliver("mailto:me@example.org", parcel(1), "")
            assert not caught.value.is_final

    asyncio.run(main())


def test_a_mail_server_without_encryption_gets_no_mail_if_encryption_is_asked_for() -> None:
    async def main() -> None:
        async with mail_host() as seen, webhook_gate() as gate:
            server = MailServer("127.0.0.1", "q@example.net", port=seen.port, timeout_s=240)
            channels = Channels(gate, master=MASTER, mail=server)
            with pytest.raises(NoticeFailed):
                await channels.deliver("mailto:me@example.org", parcel(1), "")
            assert seen.mails == []

    asyncio.run(main())


@pytest.mark.parametrize(
    "sender", ["", "quire", "a@b.example\r\nBcc: c@d.example", "<a b@c.example>"]
)
def test_a_sender_that_is_not_a_mail_address_is_refused(sender: str) -> None:
    with pytest.raises(TargetError, match="not a sender of mails"):
        MailServer("127.0.0.1", sender)


def test_a_sender_can_have_a_name() -> None:
    server = MailServer("127.0.0.1", "Quire <quire@example.net>")
    mail = write_mail(compose([event()]), server.sender, "me@example.org", START)

    assert mail["Message-ID"] == f"<{event().id}@example.net>"


# ------------------------------------------------------------ the test button


def test_the_test_button_sends_a_message_that_says_so() -> None:
    async def test(seen: Webhook, channels: Channels) -> None:
        await channels.send_test(seen.url(), START)
        await channels.send_test(seen.url(), START)

    got = with_webhook(test).got
    first = json.loads(got[0].body)["events"][0]

    assert first["kind"] == "test"
    assert "This is a test" in first["reason"]
    assert first["link"] is None
    assert got[0].events != got[1].events  # not taken for a repeat


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("file:///etc/passwd", "notices are not sent to such targets"),
        ("mailto:me@example.org", "has not set up a mail server"),
        ("http://10.0.0.1/hush", "not a public address"),
        ("pover://hush", "not one of this service"),
    ],
)
def test_the_test_button_says_why_a_target_cannot_be_reached(target: str, said: str) -> None:
    async def test(seen: Webhook, channels: Channels) -> None:
        del seen
        with pytest.raises(NoticeFailed, match=said) as caught:
            await channels.send_test(target, START)
        assert "hush" not in str(caught.value)

    with_webhook(test)
