"""Files of watches: reading, writing, secrets, and errors that name the line."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from quire.errors import WatchError
from quire.sentinels.form import (
    keep_secrets,
    read_watch,
    read_watch_file,
    read_watches,
    watch_to_dict,
    watches_to_text,
)
from quire.sentinels.form.files import write_yaml
from quire.sentinels.form.plain_data import MAX_BYTES, Format, read_plain_data
from tests.sentinels.forms import Form, defaults, forms

URL = "https://example.org/"
FORMATS = pytest.mark.parametrize("file_format", ["yaml", "json"])


@given(forms())
def test_a_watch_that_is_written_is_read_as_the_same_watch(form: Form) -> None:
    watch = read_watch(form)
    written = watch_to_dict(watch, secrets=True)

    assert read_watch(written) == watch
    assert watch_to_dict(read_watch(written), secrets=True) == written


@given(forms(), st.sampled_from(["yaml", "json"]))
def test_a_text_that_is_written_is_read_as_the_same_watches(
    form: Form, file_format: Format
) -> None:
    watch = read_watch(form)
    text = watches_to_text([watch], file_format, secrets=True)

    assert read_watches(text, format=file_format) == [watch]
    assert read_watches(text) == [watch]


@given(forms())
def test_a_shown_watch_gets_its_secrets_back_when_it_is_stored(form: Form) -> None:
    watch = read_watch(form)
    shown, stored = watch_to_dict(watch), watch_to_dict(watch, secrets=True)

    if shown != stored:
        with pytest.raises(WatchError, match="the secret itself, not its placeholder"):
            read_watch(shown)
    assert read_watch(keep_secrets(shown, shown, stored)) == watch


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inside, max_size=3)
    ),
    max_leaves=8,
)


@given(plain)
@example("a\x85b\u2028\u2029\r\n c\t\x7f\ufeff\U0001f600 ")
@example(["1e5", "0x1f", "1_0", "~", "=", "<<", "?", "- a", "\\"])
def test_plain_data_survives_yaml(data: object) -> None:
    assert read_plain_data(write_yaml({"a": data}), format="yaml").data == {"a": data}


SECRETS = {
    "url": "https://example.org/",
    "fetch": {
        "headers": {"Authorization": "header-secret", "Accept-Language": "de"},
        "cookies": {"session": "cookie-secret"},
        "user": "me",
        "password": "password-secret",
        "proxy": "http://me:proxy-secret@proxy.example:3128",
    },
    "notify": ["tgram://target-secret/1", "tgram://other-secret/2"],
}
# The browser sends no private headers, and uses no proxies.
TYPED = {
    "url": "https://example.org/in",
    "fetch": {
        "steps": [{"type": "#password", "text": "typed-secret"}, {"type": "#q", "text": "fish"}],
    },
}


@FORMATS
def test_secrets_are_hidden_unless_asked_for(file_format: Format) -> None:
    watches = [read_watch(SECRETS), read_watch(TYPED)]

    shown = watches_to_text(watches, file_format)
    assert "-secret" not in shown
    assert "proxy.example:3128" in shown
    assert "Accept-Language" in shown
    assert watches_to_text(watches, file_format, secrets=True).count("-secret") == 7


def edited(**changes: object) -> object:
    watch = read_watch(SECRETS)
    shown = watch_to_dict(watch)
    return keep_secrets({**shown, **changes}, shown, watch_to_dict(watch, secrets=True))


def test_hidden_targets_stay_with_their_number() -> None:
    watch = read_watch(edited(notify=["tgram:<secret 2>", "mailto:me@example.org"]))

    assert watch.notify.targets == ("tgram://other-secret/2", "mailto:me@example.org")


@pytest.mark.parametrize(
    "changes",
    [
        {"url": "https://evil.example/"},
        {"url": "http://example.org/"},
        {"url": "https://example.org:8443/"},
        {"url": None, "urls": ["https://example.org/", "https://evil.example/"]},
        {"fetch": {"headers": {"Authorization": "<secret>"}, "proxy": "http://evil.example"}},
        {"fetch": {"headers": {"Authorization": "<secret>"}, "verify_tls": False}},
        {
            "fetch": {
                "password": "<secret>",
                "proxy": "http://<secret>@proxy.example:3128",
                "steps": [{"open": "https://evil.example/"}],
            }
        },
    ],
)
def test_hidden_secrets_are_not_sent_elsewhere(changes: dict[str, object]) -> None:
    with pytest.raises(WatchError) as caught:
        read_watch(edited(**changes))

    assert caught.value.path == "fetch"


def test_a_watch_with_hidden_secrets_can_be_edited_otherwise() -> None:
    watch = read_watch(edited(url="https://example.org/other", where="#a"))

    assert watch.fetching == read_watch(SECRETS).fetching


DEFAULTS = """\
defaults:
  every: 30 min
  fetch:
    robots: false
    headers: {Accept-Language: de}
  notify: mailto:me@example.org
watches:
  - url: https://a.example/
  - url: https://b.example/
    cron: 0 9 * * *
    fetch: {browser: true}
    notify: {bundle: daily}
  - url: https://c.example/
    notify: https://hook.example/
"""


def test_defaults_fill_in_and_the_watch_wins() -> None:
    one, two, three = read_watches(DEFAULTS)

    assert str(one.schedule.every) == "0:30:00"
    assert (two.schedule.cron, two.schedule.every) == ("0 9 * * *", None)
    assert (two.fetching.browser, two.fetching.robots) == (True, False)
    assert (two.notify.targets, two.notify.bundle) == (("mailto:me@example.org",), "daily")
    assert three.notify.targets == ("https://hook.example/",)


@given(defaults(), forms())
@example({"fetch": {"steps": [{"wait": 1}]}}, {"url": URL, "fetch": {"browser": False}})
@example({"fetch": {"browser": False}}, {"url": URL, "fetch": {"steps": [{"wait": 1}]}})
def test_a_watch_with_defaults_says_what_it_said_without(given_: Form, form: Form) -> None:
    text = json.dumps({"defaults": given_, "watches": [form]})

    read = watch_to_dict(read_watches(text)[0], secrets=True)
    alone = watch_to_dict(read_watch(form), secrets=True)
    for name in ("url", "urls", "where", "parts", "when", "watch"):
        assert read.get(name) == alone.get(name)


YAML_WRONG = [
    ("", "", None, "empty"),
    ("- url: [\n", "[0].url[0]", 2, "not YAML"),
    ("a: 1", "", 1, "expected a watch with 'url'"),
    ("watches: 3", "watches", 1, "a list of watches"),
    ("watches: []\nwatch: []", "watch", 2, "only 'watches' and 'defaults'"),
    ("url: https://a.example/\nevery: soon", "every", 2, "a duration"),
    ("- url: https://a.example/\n- url: ftp://b", "[1].url", 2, "starts with http"),
    ("- 7", "[0]", 1, "a mapping"),
    (
        "watches:\n- url: https://a.example/\n  when:\n    all:\n    - text: x\n    - number:\n        below: a",
        "watches[0].when.all[1].number.below",
        7,
        "a number",
    ),
    ("url: https://a.example/\nurl: https://b.example/", "url", 2, "occurs twice"),
    ("url: https://a.example/\nfetch: {headers: {a: x, a: y}}", "fetch.headers.a", 2, "twice"),
    ("url: &a https://a.example/", "url", 1, "anchors"),
    ("watches:\n- url: *a", "watches[0].url", 2, "aliases"),
    ("url: !!python/name:os.system x", "url", 1, "tags"),
    ("- !!set {a}", "[0]", 1, "tags"),
    ("? [a]\n: 1", "", 1, "a name"),
    ("url: https://a.example/\n---\nurl: https://b.example/", "", 2, "more documents"),
    ("defaults: {url: https://a.example/}\nwatches: []", "defaults.url", 1, "one of every"),
    ("watches: []\ndefaults:\n  every: x", "defaults.every", 3, "a duration"),
    ("defaults: 3\nwatches: []", "defaults", 1, "a mapping"),
    (
        "- url: https://a.example/\n\n- url: https://a.example/",
        "[1].name",
        3,
        "is also the name of [0]",
    ),
    ("url: https://a.example/\nname: \x01", "", None, "not YAML"),
]


@pytest.mark.parametrize(("text", "path", "line", "message"), YAML_WRONG)
def test_an_error_in_yaml_names_file_line_and_field(
    text: str, path: str, line: int | None, message: str
) -> None:
    with pytest.raises(WatchError) as caught:
        read_watches(text.encode(), "watches.yaml")

    assert (caught.value.path, caught.value.file) == (path, "watches.yaml")
    if line is not None:
        assert caught.value.line == line
        assert str(caught.value).startswith(f"watches.yaml, line {line}: ")
    assert message in str(caught.value)


JSON_WRONG = [
    ('[\n{"url": }]', "", 2, "not JSON"),
    ('[{"url": "https://a.example/"},\n\t{"url": "x"}]', "[1].url", 2, "starts with http"),
    ('{"url": "https://a.example/",\n "url": "x"}', "url", 2, "occurs twice"),
    ('{"url": "https://a.example/", "jitter": NaN}', "", None, "NaN"),
    ('{"url": "https://a.example/", "jitter": ' + "9" * 5000 + "}", "", None, "not JSON"),
    ('{"url": "https://a.example/", "jitter": 1e999}', "jitter", 1, "a number"),
]


@pytest.mark.parametrize(("text", "path", "line", "message"), JSON_WRONG)
def test_an_error_in_json_names_file_line_and_field(
    text: str, path: str, line: int | None, message: str
) -> None:
    with pytest.raises(WatchError) as caught:
        read_watches(text, "watches.json")

    assert (caught.value.path, caught.value.line) == (path, line)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 1_000_000, "nested more than 200 deep"),
        ("{a: " * 1_000_000, "nested more than 200 deep"),
        ("- " * 1_000_000, "nested more than 200 deep"),
        ('[{"a":' * 201 + "1" + "}]" * 201, "nested more than 200 deep"),
        ("x" * (MAX_BYTES + 1), "longer than"),
        (b"url: \xff", "not UTF-8"),
        ("? " + "k" * 1_000_000 + "\n: [" + "1," * 100_000 + "1]", "expected a watch"),
        ('{"' + "k" * 1_000 + '": [' + "1," * 100_000 + "1]}", "expected a watch"),
        ("- a\n" * 1_000_000, "more than 300,000 values"),
        ("a: &a [x]\nb: &b [*a, *a]\n", "anchors"),
    ],
    ids=range(10),
)
@FORMATS
def test_hostile_texts_are_refused(text: str | bytes, message: str, file_format: Format) -> None:
    with pytest.raises(WatchError) as caught:
        read_watches(text, format=file_format)

    assert message in str(caught.value) or (
        file_format == "json" and "not JSON" in str(caught.value)
    )


def test_words_of_old_yaml_are_texts() -> None:
    watch = read_watches(
        "url: https://a.example/\nname: no\nwindows: {from: 9:30, to: 24:00}\nwhen: {text: {has: on}}"
    )[0]

    assert watch.name == "no"
    assert watch.schedule.windows[0].start.hour == 9


@given(st.text(st.sampled_from("aurl:/-[]{}&*!?|>'\"#%@`\n\t ,\\0.\x00é\u2028~<="), max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(WatchError):
        read_watches(text)


def test_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("\ufeffurl: https://a.example/", "utf-8")
    (tmp_path / "a.json").write_text('{"watches": [{"url": "https://a.example/"}]}', "utf-8")

    assert read_watch_file(tmp_path / "a.yaml") == read_watch_file(tmp_path / "a.json")
