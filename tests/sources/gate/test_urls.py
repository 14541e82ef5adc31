"""The one parser of addresses: canonical forms, refusals, and agreement with the client's parts."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.errors import FetchCause, FetchFailed
from quire.sources.gate.client import _url
from quire.sources.gate.urls import (
    BLOCKED_PORTS,
    MOST_CHARACTERS,
    join,
    parse,
    without_credentials,
)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("http://example.org", "http://example.org/"),
        ("  https://Example.ORG:443/A?b#c ", "https://example.org/A?b"),
        ("HTTP://example.org:80", "http://example.org/"),
        ("http://example.org.:8080/", "http://example.org:8080/"),
        ("http://example.org:/", "http://example.org/"),
        ("http://example.org:0080/", "http://example.org/"),
        ("http://example.org?q", "http://example.org/?q"),
        ("http://example.org/?", "http://example.org/"),
        ("http://example.org/a/./b/../c/%2E%2e/d", "http://example.org/a/d"),
        ("http://example.org/a/..", "http://example.org/"),
        ("http://example.org/../../x/.", "http://example.org/x/"),
        ("http://example.org//a//b", "http://example.org//a//b"),
        ("http://example.org/ä ö?ü=<x>", "http://example.org/%C3%A4%20%C3%B6?%C3%BC=%3Cx%3E"),
        ("http://example.org/%2f%zz?a=%2F&b=%7e", "http://example.org/%2f%zz?a=%2F&b=%7e"),
        ("http://münchen.example/", "http://xn--mnchen-3ya.example/"),
        ("http://user:secret@example.org/", "http://example.org/"),
        ("http://a_b.example/", "http://a_b.example/"),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000/"),
        ("http://[2606:4700:0:0::1111]/", "http://[2606:4700::1111]/"),
        ("http://[::FFFF:127.0.0.1]:81/", "http://[::ffff:7f00:1]:81/"),
        ("http://public.example#@internal/", "http://public.example/"),
        ("http://public.example?@internal/", "http://public.example/?@internal/"),
        ("http://public.example/@internal/", "http://public.example/@internal/"),
    ],
)
def test_the_canonical_form_of_an_address(text: str, key: str) -> None:
    assert parse(text).key == key
    assert parse(key).key == key


REFUSED = [
    "", " ", "example.org", "/etc/passwd", "//example.org/", "http:", "http:/example.org/",
    "http:example.org", "http://", "http:///etc/passwd", "http://?", "http://@/", "http://:80/",
    "file:///etc/passwd", "file:/etc/passwd", "file:..", "source:file:///etc/passwd",
    "source:http://example.org/", "gopher://example.org/", "ftp://example.org/", "data:text/html,x",
    "javascript:alert(1)", "view-source:http://example.org/", "chrome://version/", "about:blank",
    "blob:http://example.org/x", "jar:http://example.org/!/", "dict://127.0.0.1:11211/stat",
    "ws://example.org/", "unix:///var/run/docker.sock", "http+unix://x/", "ldap://127.0.0.1/",
    r"http://internal\@public.example/", r"http://internal:80\@public.example/",
    r"http:\\internal/", r"http://public.example\@internal/", r"http:/\internal/",
    r"http://public.example/a\b", "http://a@b@c.example/", "http://a\tb.example/",
    "http://a\nb.example/", "http://a\r\nHost: internal/", "http://exa mple.org/", "http://a\x00b/",
    "http://a\x7fb/", "ht\ttp://a.example/", "http://a..b/", "http://.a/", "http://-a.example/",
    "http://a-.example/", "http://%31%32%37.0.0.1/", "http://a%2eb/", "http://a%00b/",
    "http://127.1/", "http://127.0.1/", "http://0177.0.0.1/", "http://0x7f.0.0.1/",
    "http://0x7f000001/", "http://2130706433/", "http://017700000001/", "http://0/", "http://0.0/",
    "http://00.0.0.0/", "http://127.0.0.01/", "http://127.0.0.1./", "http://127.0.0.256/",
    "http://1.2.3.4.5/", "http://1.2.3/", "http://0x/", "http://a.0x7f/", "http://a.1/",
    "http://①②⑦.⓪.⓪.①/", "http://１２７．０．０．１/", "http://127。0。0。1/", "http://１２７.1/",
    "http://[::1%25eth0]/", "http://[fe80::1%eth0]/", "http://[::1]x/", "http://[::1/", "http://::1/",
    "http://[]/", "http://[v1.x]/", "http://[127.0.0.1]/", "http://[::ffff:127.1]/",
    "http://a.example:99999/", "http://a.example:-1/", "http://a.example:8o/", "http://a.example:٣/",
    "http://a.example:+80/", "http://a.example:80:80/", "http://a.example:0/",
    "http://a.example:22/", "http://a.example:25/", "http://a.example:6667/",
    "http://a\u2044b.example:x/", "http://\u202ea.example/", "http://\ud800.example/",
    "http://" + "a" * 64 + ".example/", "http://" + "a." * 130 + "example/",
    "http://example.org/" + "a" * MOST_CHARACTERS,
]  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_an_address_that_programs_read_differently_is_refused(text: str) -> None:
    with pytest.raises(FetchFailed) as caught:
        parse(text)

    assert caught.value.cause is FetchCause.BAD_URL


@pytest.mark.parametrize("text", REFUSED)
def test_an_error_is_one_printable_line(text: str) -> None:
    with pytest.raises(FetchFailed) as caught:
        parse(text)

    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 500


def test_the_longest_address_is_accepted_and_one_more_is_not() -> None:
    start = "http://example.org/"
    longest = start + "a" * (MOST_CHARACTERS - len(start))

    assert parse(longest).key == longest
    with pytest.raises(FetchFailed, match="16,384"):
        parse(longest + "a")


def test_blocked_ports_are_those_of_other_protocols() -> None:
    assert {22, 25, 6000, 6667} < BLOCKED_PORTS
    assert not {80, 443, 8000, 8080, 8443, 3000, 5000} & BLOCKED_PORTS


def test_credentials_are_taken_out_of_the_address_and_hidden() -> None:
    address = parse("http://me:s%40cret@example.org/")

    assert (address.user, address.password and address.password.reveal()) == ("me", "s@cret")
    assert "cret" not in repr(address) + str(address)


@pytest.mark.parametrize(
    "text", ["http://me:secret@exa mple.org/", "http://me:secret@example.org:22/", "x://a:secret@b"]
)
def test_an_error_hides_credentials(text: str) -> None:
    with pytest.raises(FetchFailed) as caught:
        parse(text)

    assert "secret" not in str(caught.value) + caught.value.url
    assert "secret" not in without_credentials(text)


BASE = "https://example.org/a/b;c/d?q=1"


@pytest.mark.parametrize(
    "reference",
    ["", "x", "./x", "../x", "../../../x", "/x", "?y", "#z", "x?y", "//other.example/x", "x/./y/..",
     "http://other.example", "/a:b", "a/b:c", ".", ".."],
)  # fmt: skip
def test_relative_redirects_are_resolved_as_others_do(reference: str) -> None:
    expected = urlsplit(urljoin(BASE, reference))

    found = join(parse(BASE), reference)

    assert found.key == parse(expected._replace(fragment="").geturl()).key


def test_a_redirect_cannot_bring_credentials() -> None:
    found = join(parse(BASE), "https://me:secret@other.example/")

    assert (found.user, found.password, found.key) == (None, None, "https://other.example/")


@pytest.mark.parametrize("text", [text for text in REFUSED if ":" in text.split("/")[0]])
def test_a_redirect_to_a_refused_address_is_a_bad_redirect(text: str) -> None:
    with pytest.raises(FetchFailed) as caught:
        join(parse(BASE), text)

    assert caught.value.cause is FetchCause.BAD_REDIRECT


# Anything that a hostile page could put into a link, with the marks that split addresses.
hostile = st.text(st.sampled_from("http:/\\@?#[]%.0127axé①\t\n \u3002\udcff"), max_size=24)


@given(st.sampled_from(["", "http://", "https://", "http://a@", "//"]), hostile)
def test_the_client_gets_the_host_that_was_checked(start: str, rest: str) -> None:
    try:
        address = parse(start + rest)
    except FetchFailed:
        return

    url = _url(address)

    assert (url.scheme, url.raw_host, url.port) == (address.scheme, address.host, address.port)
    assert url.raw_path_qs == address.target
    assert (url.user, url.fragment) == (None, "")
    assert parse(address.key).key == address.key
    assert address.key.isascii()
