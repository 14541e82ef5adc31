"""Addresses from the root of a site are placed without parsing them, with the same answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.viewing.places import Places, Use

BASES = [
    "https://a.example/b/c",
    "http://a.example:8080/",
    "https://A.example/x",
    "https://user@a.example/",
    "https://a.example",
    "https://a.example?q/",
    "",
]
PARTS = [
    "a",
    "b.c",
    ".",
    "..",
    "/",
    "//",
    "-",
    "%20",
    "~",
    "?q",
    "#f",
    "x;y",
    ":",
    " ",
    "\\",
    "\n",
    "é",
]


def placed(url: str, use: Use) -> str:
    return f"{use.name} {url}"


@pytest.mark.parametrize("base", BASES)
@given(address=st.lists(st.sampled_from(PARTS), max_size=8).map("".join), use=st.sampled_from(Use))
def test_a_path_is_placed_as_if_it_were_parsed(base: str, address: str, use: Use) -> None:
    quick = Places(base, base, placed)
    parsed = Places(base, base, placed)
    object.__setattr__(parsed, "_origin", "")

    for one in (address, f"/{address}"):
        assert quick.find(one, use) == parsed.find(one, use)


def test_paths_from_the_root_are_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quire.viewing.places.resolve", lambda _base, _url: pytest.fail("parsed"))
    places = Places("https://a.example/b/c", "https://a.example/b/c", placed)

    assert places.find("/fish/cod-1.html", Use.LINK) == "LINK https://a.example/fish/cod-1.html"
    assert places.find("/", Use.LINK) == "LINK https://a.example/"
