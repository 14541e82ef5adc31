"""Stripping leaves out what most pages of a template have, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quire
from quire.fragments.boilerplate.strip import Form, StrippedPage, strip
from quire.fragments.trees.af_tree import AfTree
from tests.fragments.hostile import bodies, pages_of

ENTRIES = ["Start", "Fish of the day", "Chips and more", "Where to find us", "Opening hours"]
FOOT = "<footer><p>Written by hand</p><p>in a small harbour town</p></footer>"


def page(number: int, *, price: str = "Price", words: str = "") -> bytes:
    # The menu marks the page one is on, so that no two pages have the same menu.
    menu = "".join(
        f"<li class=on><b>{entry}</b></li>" if place == number % 5 else f"<li>{entry}</li>"
        for place, entry in enumerate(ENTRIES)
    )
    own = words or f"Caught {number} miles off the coast at {number} fathoms"
    return (
        f"<!doctype html><title>Day {number}</title><nav><ul>{menu}</ul></nav><main><h1>Catch number {number}</h1>"
        f"<dl><dt>{price}</dt><dd>{number * 7} pounds</dd></dl><p>{own}</p></main>{FOOT}"
    ).encode()


def stripped(sources: list[bytes], form: Form = "text", **rules: float) -> list[StrippedPage]:
    return list(strip(pages_of(sources), form=form, **rules))  # type: ignore[arg-type] # share or min_bytes


def test_menus_and_footers_go_and_labels_stay() -> None:
    found = stripped([page(number) for number in range(6)])

    assert [one.template for one in found] == [0] * 6
    assert found[4].data.decode().splitlines() == [
        "Day 4",
        "Catch number 4",
        "Price",
        "28 pounds",
        "Caught 4 miles off the coast at 4 fathoms",
    ]
    assert found[4].kept_bytes == len(found[4].data) < found[4].text_bytes


def article(number: int, own: str) -> bytes:
    menu = "".join(f'<a href="/{entry}">{entry}</a> ' for entry in ENTRIES)
    return (
        f"<!doctype html><title>Day {number}</title><nav>{menu}</nav><h1>Catch <i>number</i> {number}</h1>"
        f'<p>We caught {number} <a href="/cod">cod and a great many haddock on the way</a> {own}. '
        f"See <em>the other pages about our boats</em> for more.</p><footer>{FOOT}</footer>"
    ).encode()


def test_a_sentence_stays_or_goes_as_a_whole() -> None:
    # The words of the link and of the emphasis are on every page, and long enough for a block.
    found = stripped([article(number, f"at {number} fathoms") for number in range(6)])

    assert found[4].data.decode() == (
        "Day 4\nCatch number 4\nWe caught 4 cod and a great many haddock on the way at 4 fathoms. "
        "See the other pages about our boats for more.\n"
    )


def test_preformatted_text_stays_or_goes_as_a_whole() -> None:
    code = "<b>#include &lt;stdio.h></b>\n<i>int main(int argc, char **argv)</i>\n"
    found = stripped(
        [f"<h1>Example {n}</h1><pre>{code}{{ return {n}; }}</pre>{FOOT}".encode() for n in range(6)]
    )

    assert found[2].data.decode() == (
        "Example 2\n#include <stdio.h>\nint main(int argc, char **argv)\n{ return 2; }\n"
    )


def test_as_markdown_the_rest_keeps_its_links_and_emphasis() -> None:
    found = stripped([article(number, f"at {number} fathoms") for number in range(6)], "markdown")

    assert found[4].data.decode() == (
        "Day 4\n\n# Catch *number* 4\n\nWe caught 4 "
        "[cod and a great many haddock on the way](/cod) at 4 fathoms. "
        "See *the other pages about our boats* for more.\n"
    )
    assert (
        found[4].kept_bytes
        == stripped([article(number, f"at {number} fathoms") for number in range(6)])[4].kept_bytes
    )


def test_as_html_the_rest_is_the_page_byte_for_byte() -> None:
    sources = [page(number) for number in range(6)]
    found = stripped(sources, "html")

    for source, one in zip(sources, found, strict=True):
        nav = source[source.index(b"<nav>") : source.index(b"<main>")]
        assert one.data == source.replace(nav, b"").replace(FOOT.encode(), b"")


def test_a_text_that_half_of_the_pages_have_is_not_on_most() -> None:
    same = "The weather was fine and the sea was calm all day"
    half = [page(number, words=same if number < 3 else "") for number in range(6)]
    most = [page(number, words=same if number < 4 else "") for number in range(6)]

    assert same.encode() in stripped(half)[0].data
    assert same.encode() not in stripped(most)[0].data
    assert same.encode() in stripped(most, share=0.9)[0].data


PLAIN = "<p>Plain words</p>"
UNREAD = [
    "<script>var x = 1</script>",
    "<div> <script>var x = 1</script> </div>",
    "<style>p { color: red }</style>",
    "<noscript><p>Turn on scripts</noscript>",
    "<template><p>Later</template>",
    "<datalist><option>Cod</datalist>",
    "<div><!-- nothing --><iframe>Old browsers</iframe></div>",
]


@pytest.mark.parametrize("hidden", UNREAD)
def test_what_is_for_no_reader_is_no_text(hidden: str) -> None:
    found = stripped([f"<h1>Fish</h1>{hidden}{PLAIN}".encode()])

    assert found[0].data == b"Fish\nPlain words\n"


def test_text_beside_an_empty_script_is_text() -> None:
    found = stripped([b"<h1>Fish</h1><p>Plain words<script> </script><noscript></noscript></p>"])

    assert found[0].data == b"Fish\nPlain words\n"


def test_a_script_goes_with_the_block_it_stands_in() -> None:
    with_script = [
        page(n).replace(b"</nav>", b"<script>var day = %d</script></nav>" % n) for n in range(6)
    ]
    plain = [page(n) for n in range(6)]

    for one, other in zip(stripped(with_script, "html"), stripped(plain, "html"), strict=True):
        assert one.data == other.data


@pytest.mark.parametrize("form", ["text", "html"])
def test_two_pages_one_page_and_equal_pages_stay_as_they_are(form: Form) -> None:
    for sources in ([page(1)], [page(1), page(2)], [page(1)] * 9, [page(1)] * 5 + [page(2)] * 5):
        for source, one in zip(sources, stripped(sources, form), strict=True):
            assert one.kept_bytes == one.text_bytes
            if form == "html":
                assert one.data == source


def test_no_pages_give_none() -> None:
    assert stripped([]) == []


def test_a_share_is_between_0_and_1() -> None:
    with pytest.raises(ValueError, match=r"share 1\.5"):
        strip([], share=1.5)


@settings(max_examples=40)
@given(bodies, st.sampled_from([0.0, 0.5]), st.sampled_from(["text", "html"]))
def test_whatever_the_bytes_are_what_stays_was_there(
    sources: list[bytes], share: float, form: Form
) -> None:
    for source, one in zip(sources, stripped(sources, form, share=share, min_bytes=1), strict=True):
        assert one.kept_bytes <= one.text_bytes
        if form == "html":
            left = iter(source)
            assert all(byte in left for byte in one.data), "a subsequence of the page"


def fostering(own: str) -> str:
    rows = "<tr><td>Footer cell that is common to all of the pages</td></tr>"
    return f"<h1>Headline {own}</h1><div><table>{rows}<p>{own}</p>{rows}</table></div><p>end {own}"


def test_a_text_that_a_browser_moves_out_of_a_table_stays() -> None:
    sources = [fostering(f"Only page {n} says this").encode() for n in range(6)]
    found = stripped(sources, "html")

    for number, one in enumerate(found):
        # The rows go by themselves.
        own = f"Only page {number} says this"
        assert one.data.decode() == (
            f"<h1>Headline {own}</h1><div><table><p>{own}</p></table></div><p>end {own}"
        )
        assert one.kept_bytes == stripped(sources)[number].kept_bytes


def test_a_common_text_that_cannot_be_cut_out_counts_as_kept() -> None:
    moved = "Common to all, and between the rows of a table"
    sources = [
        f"<h1>Number {n}</h1><table><tr><td>Row {n}</td></tr>{moved}</table>".encode()
        for n in range(6)
    ]

    for one in stripped(sources, "html"):
        assert moved.encode() in one.data
        assert one.kept_bytes == one.text_bytes
    assert all(moved.encode() not in one.data for one in stripped(sources))


# What browsers move or close by themselves, with texts of all pages and of one ({n}).
_tags = "table tr td caption select option form b a p div ul li svg h1 button template body".split()  # noqa: SIM905 - read at a glance
COMMON = "As many words as are needed for a block "
_pieces = st.one_of(
    st.sampled_from([f"<{slash}{tag}>" for tag in _tags for slash in ("", "/")]),
    st.sampled_from(["own1of{n} ", "own2of{n} ", COMMON, f"<tr><td>{COMMON}</td></tr>"]),
)


@given(st.lists(_pieces, max_size=16).map("".join))
def test_as_html_every_text_stays_that_stays_as_text(body: str) -> None:
    sources = [
        f"<h1>Head {n}</h1><table><tr><td>{COMMON}</td></tr>{body.format(n=n)}".encode()
        for n in range(4)
    ]

    for text, html in zip(stripped(sources), stripped(sources, "html"), strict=True):
        left = quire.encode(html.data, kind="html")
        there = AfTree.of(left).text
        assert all(word in there for word in text.data.split() if b"own" in word)
        assert text.kept_bytes <= html.kept_bytes <= html.text_bytes


def lines_of(data: bytes) -> bytes:
    text = quire.encode(data, kind="html").text()
    return f"{text}\n".encode() if text else b""


@pytest.mark.parametrize("make", [page, lambda n: article(n, f"at {n} fathoms")])
def test_the_text_is_that_of_the_page_that_is_left(make: Callable[[int], bytes]) -> None:
    sources = [make(number) for number in range(6)]

    for text, html in zip(stripped(sources), stripped(sources, "html"), strict=True):
        assert text.kept_bytes < text.text_bytes
        assert text.data == lines_of(html.data)


@pytest.mark.parametrize("corpus", ["templates-docs", "templates-swde-sites"])
def test_the_text_of_real_pages_is_that_of_the_pages_that_are_left(
    corpus: str, corpus_files: Callable[[str], list[Path]]
) -> None:
    folders: dict[Path, list[Path]] = {}
    for file in corpus_files(corpus):
        if file.suffix in {".html", ".htm"}:
            folders.setdefault(file.parent, []).append(file)
    compared = 0
    for files in list(folders.values())[:40]:
        sources = [file.read_bytes() for file in files[:12]]
        for text, html in zip(stripped(sources), stripped(sources, "html"), strict=True):
            if text.template >= 0:
                compared += 1
                assert text.data == lines_of(html.data), text.name
    assert compared > 30


def test_real_pages_lose_their_menus(corpus_files: Callable[[str], list[Path]]) -> None:
    files = [file for file in corpus_files("templates-docs") if "cppreference" in str(file)][:40]
    found = stripped([file.read_bytes() for file in files])

    grouped = [one for one in found if one.template >= 0]
    assert len(grouped) > 10
    assert sum(one.kept_bytes for one in grouped) < 0.95 * sum(one.text_bytes for one in grouped)
    assert sum(b"Standard library headers" in one.data for one in grouped) < len(grouped) / 4
