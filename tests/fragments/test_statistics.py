"""Statistics of fragments: what each saves, held against counting by hand; and access logs, garbage included."""

from __future__ import annotations

import gzip
import os
import threading
import time
import tracemalloc
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import quire
from quire.errors import SourceUnreadable
from quire.fragments.site.collection import Collection
from quire.fragments.study.access_log import MOST_LINE_BYTES, log_address, read_access_log
from quire.fragments.study.benefits import INCLUDE_BYTES, worth
from quire.fragments.study.exact_tier import exact_fragments
from quire.fragments.study.study import FragmentStudy, study_fragments
from quire.fragments.trees.af_tree import AfTree
from quire.sources.capture import Capture

MENU = "<nav>" + "".join(f"<a href=/{n}>Entry number {n} of it</a>" for n in range(30)) + "</nav>"
NEWS = "<ul>" + "".join(f"<li>Piece of news number {n}" for n in range(30)) + "</ul>"
START = datetime(2026, 5, 17, 11, tzinfo=UTC)


def capture(name: str, body: str, *, url: str = "", time: datetime | None = None) -> Capture:
    return Capture(name, url or name, time, b"", body.encode())


def small_site() -> list[Capture]:
    """Four pages with one menu, two of them with the same news."""
    return [
        capture(f"site/{n}.html", f"{MENU}{NEWS if n < 2 else ''}<h1>{n}</h1><p>{str(n) * 400}")
        for n in range(4)
    ]


def entry(address: str, *, second: int = 0, status: int = 200, method: str = "GET") -> str:
    time = (START + timedelta(seconds=second)).strftime("%d/%b/%Y:%H:%M:%S +0000")
    return (
        f'192.0.2.1 - - [{time}] "{method} {address} HTTP/1.1" {status} 512 "-" "a \\"browser\\""'
    )


def write_log(folder: Path, lines: list[str | bytes]) -> Path:
    target = folder / "access.log"
    data = [line if isinstance(line, bytes) else line.encode() for line in lines]
    target.write_bytes(b"\n".join(data) + b"\n")
    return target


def test_a_site_is_counted_as_by_hand() -> None:
    with Collection(small_site()) as site:
        found = study_fragments(site)

    menu, news = (one for one in found.facts if one.tier == "exact")
    assert (menu.source_bytes, menu.pages, menu.uses) == (len(MENU), 4, 4)
    assert menu.stored_saved == menu.stored_beyond == 3 * len(MENU) - 4 * INCLUDE_BYTES
    assert menu.moved_saved == 4 * (len(MENU) - INCLUDE_BYTES)
    assert (news.source_bytes, news.pages) == (len(NEWS), 2)
    assert found.totals.stored_saved == menu.stored_saved + news.stored_saved
    assert found.totals.page_bytes == sum(len(page.body) for page in small_site())
    assert menu.advice.startswith("Cut it out")


def test_what_is_inside_of_another_part_is_not_counted_twice() -> None:
    pages = [f"<div>{MENU}<p>{'and more ' * 60}</div><h1>{n}" for n in range(3)]
    pages += [f"{MENU}<h1>{n}" for n in range(3, 6)]
    digests = [quire.encode(page.encode()) for page in pages]
    found = exact_fragments(digests)
    outer, inner = sorted(found, key=lambda one: len(one.pages))

    saved = worth(found, [outer.number, inner.number], [1] * 6)

    assert (len(outer.pages), len(inner.pages)) == (3, 6)
    assert saved[inner.number].stored == 2 * len(MENU) - 3 * INCLUDE_BYTES
    # The other way round the larger one has an include where the menu was.
    saved = worth(found, [inner.number, outer.number], [1] * 6)
    own = int(outer.members.byte_end[0] - outer.members.byte_start[0]) - len(MENU) + INCLUDE_BYTES
    assert saved[inner.number].stored == 5 * len(MENU) - 6 * INCLUDE_BYTES
    assert saved[outer.number].stored == 2 * own - 3 * INCLUDE_BYTES


# Nested and repeated parts of few kinds, so that they meet, hold each other, and are pieces of others.
_leaves = st.sampled_from(["<p>Fish</p>", "<p>Chips</p>", "<b>Peas</b>"])
_parts = st.recursive(
    _leaves,
    lambda inner: st.lists(inner, min_size=1, max_size=3).map(lambda p: f"<div>{''.join(p)}</div>"),
    max_leaves=8,
)


@given(st.lists(st.lists(_parts, max_size=4).map("".join), max_size=5))
def test_exact_fragments_are_all_parts_with_equal_bytes_but_for_pieces(pages: list[str]) -> None:
    digests = [quire.encode(page.encode()) for page in pages]
    places: dict[bytes, list[tuple[int, int]]] = {}
    trees = [AfTree.of(page) for page in digests]
    sources = [
        [page.encode()[s:e] for s, e in zip(tree.byte_start, tree.byte_end, strict=True)]
        for page, tree in zip(pages, trees, strict=True)
    ]
    for page, tree in enumerate(trees):
        for part in range(tree.n):
            if tree.value_bytes[part] >= 4:
                places.setdefault(sources[page][part], []).append((page, part))
    shared = {key: found for key, found in places.items() if len({page for page, _ in found}) > 1}

    def holder(page: int, part: int) -> bytes | None:
        part = int(trees[page].parent[part])
        while part >= 0 and sources[page][part] not in shared:
            part = int(trees[page].parent[part])
        return sources[page][part] if part >= 0 else None

    expected = {}
    for key, found in shared.items():
        holders = {holder(*place) for place in found}
        if len(holders) > 1 or holders <= {None, key}:
            expected[key] = found

    answer = {}
    for one in exact_fragments(digests, min_bytes=4):
        assert one.exact
        members = list(zip(one.members.page.tolist(), one.members.part.tolist(), strict=True))
        answer[sources[members[0][0]][members[0][1]]] = members

    assert answer == expected


def watched() -> FragmentStudy:
    """Two pages with a menu that never changes, and weather that does so every two hours."""
    captures = [
        capture(
            f"{page}-{hour}",
            f"{MENU}<main><h1>Page {page}</h1><p>{'of its own ' * 20}{page}</p>"
            f"<div>Weather at {hour // 2 * 2}: {'rain and ' * (20 + hour // 2)} wind</div></main>",
            url=f"https://a.example/{page}",
            time=START + timedelta(hours=hour),
        )
        for hour in range(9)
        for page in "ab"
    ]
    with Collection(reversed(captures)) as site:
        return study_fragments(site, min_bytes=30)


def test_versions_tell_how_long_parts_live() -> None:
    found = watched()

    menu = next(one for one in found.facts if one.source_bytes == len(MENU))
    weather = next(one for one in found.facts if one.tier == "own pace")
    assert (found.totals.pages, found.totals.versions) == (2, 18)
    assert (menu.pace.changes, menu.pace.watched_s, menu.pace.ttl_s) == (0, 8 * 3600, None)
    assert "keep it for 1 h: no change in 8 h" in menu.advice
    assert weather.sample.startswith("Weather at 8")
    assert (weather.pace.changes, weather.pace.life_p50_s) == (4, 7200)
    assert weather.pace.changes_per_day == pytest.approx(12)


def test_what_is_most_of_its_page_or_not_on_its_newest_capture_is_told_so() -> None:
    def page(hour: int) -> str:
        news = f"<div>{new_words(99, 300)} {new_words(hour, 30)}</div>"
        return f"{MENU}<main><h1>Front</h1><p>{new_words(98, 20)}</p>{news}</main>"

    captures = [
        capture("", page(hour), url="https://a.example/", time=START + timedelta(hours=hour))
        for hour in range(9)
    ]
    with Collection(captures) as site:
        (news,) = [one for one in study_fragments(site).facts if one.tier == "own pace"]
    error = capture(
        "",
        "<h1>Error 503</h1><p>Please wait",
        url="https://a.example/",
        time=START + timedelta(days=1),
    )
    with Collection([*captures, error]) as site:
        (gone,) = [one for one in study_fragments(site).facts if one.tier == "own pace"]

    assert news.page_share > 0.5
    assert news.advice.startswith(f"Leave it: it is {100 * news.page_share:.0f} % of its page")
    assert "another kind of page, without it" in gone.advice


def new_words(day: int, count: int) -> str:
    """Words that no other day has."""
    return " ".join(f"word{day}x{n}" for n in range(count))


# Most of the page is new each day; nothing but a few bytes is; the shared part is all that there is.
@pytest.mark.parametrize(
    "body",
    [
        "<h1>Section {page}</h1><div>{words}</div><p>Imprint of section {page}</p>",
        f"<h1>Section {{page}}</h1><div>{MENU}<p>Day {{day}}</div><p>Imprint of section {{page}}</p>",
        f"{MENU}<p>Day {{day}}</p>",
    ],
)
def test_a_part_that_is_new_at_every_capture_is_seen_to_change(body: str) -> None:
    captures = [
        capture(
            f"{page}-{day}",
            body.format(page=page, day=day, words=new_words(day, 60)),
            url=f"https://a.example/{page}",
            time=START + timedelta(days=day),
        )
        for day in range(7)
        for page in range(3)
    ]
    with Collection(captures) as site:
        found = study_fragments(site, min_bytes=30)

    shared = next(one for one in found.facts if one.tier == "exact" and one.rank == 1)
    assert (shared.pages, shared.pace.changes, shared.pace.changes_per_day) == (3, 18, 1)
    assert (shared.pace.watched_s, shared.pace.page_s) == (6 * 86_400, 18 * 86_400)
    assert (shared.pace.ttl_s, shared.pace.life_p50_s) == (0, 86_400)
    assert "go past the cache" in shared.advice


# Words come from a few, so that texts stay, come back, and are new by turns; the page around may change as a whole.
_few = st.lists(st.sampled_from(["fish", "chips", "peas"]), min_size=2, max_size=6)


@given(words=_few, drastic=st.booleans())
def test_the_changes_of_a_shared_part_are_those_of_its_text(
    *, words: list[str], drastic: bool
) -> None:
    captures = [
        capture(
            f"{page}-{day}",
            f"<h1>Section {page}</h1><div><p>{f'All about {word} and no more. ' * 4}</div>"
            f"<p>{new_words(day if drastic else 0, 60)} {page}",
            url=f"https://a.example/{page}",
            time=START + timedelta(days=day),
        )
        for day, word in enumerate(words)
        for page in range(2)
    ]
    with Collection(captures) as site:
        found = study_fragments(site, min_bytes=80)

    shared = next(one for one in found.facts if "All about" in one.sample and one.tier == "exact")
    changes = sum(one != other for one, other in pairwise(words))
    assert shared.pace.changes == 2 * changes


def test_parts_that_are_alike_say_what_differs() -> None:
    text = " ".join(f"word{n}" for n in range(200))
    pages = [f"<p>{text} <p>The {fish} of the day<h1>{fish * 9}" for fish in ("cod", "hake", "eel")]
    with Collection(capture(str(n), page) for n, page in enumerate(pages)) as site:
        found = study_fragments(site)

    one = next(one for one in found.facts if one.tier == "approximate")
    assert "The cod of the day" in one.differs[0].first
    assert {"The hake of the day", "The eel of the day"} <= {
        line for each in one.differs for line in each.other
    }
    assert "cannot be cut out" in one.advice


def test_parts_with_the_same_text_say_where_their_sources_differ() -> None:
    pages = [MENU.replace("<nav>", f"<nav class=c{n}>") + f"<h1>{str(n) * 300}" for n in range(3)]
    with Collection(capture(str(n), page) for n, page in enumerate(pages)) as site:
        found = study_fragments(site)

    one = next(one for one in found.facts if one.tier == "approximate" and one.same_text)
    assert one.differs[0].is_source
    assert one.differs[0].other[0].startswith("<nav class=c1>")


@pytest.mark.parametrize("count", [0, 1])
def test_no_page_or_one_shares_nothing(count: int) -> None:
    with Collection(small_site()[:count]) as site:
        found = study_fragments(site)

    assert (found.facts, found.totals.pages, found.totals.stored_saved) == ((), count, 0)


def test_a_log_says_how_often_pages_are_asked_for(tmp_path: Path) -> None:
    lines: list[str | bytes] = [entry("/0.html", second=n) for n in range(10)]
    lines += [entry("/3.html", second=86_400), entry("/1.html", status=404), "garbage"]
    with Collection(small_site()) as site:
        found = study_fragments(site, log=write_log(tmp_path, lines))

    menu = found.facts[0]
    assert found.requests == (10, 0, 0, 1)
    assert (menu.requests, menu.requests_per_day) == (11, 11)
    assert menu.moved_saved == 11 * (len(MENU) - INCLUDE_BYTES)
    assert found.log is not None
    assert (found.log.lines, found.log.skipped, found.log.others) == (13, 1, 1)


def test_with_a_log_parts_that_are_asked_for_come_first(tmp_path: Path) -> None:
    """The news is on two pages that everybody reads, the menu on two that hardly anybody does; it is longer."""
    pages = [NEWS, NEWS, MENU + MENU, MENU + MENU]
    site_pages = [capture(f"site/{n}.html", f"{one}<p>{n}") for n, one in enumerate(pages)]
    often = [entry("/0.html", second=60 * n) for n in range(1440)]
    with Collection(site_pages) as site:
        plain = study_fragments(site)
        logged = study_fragments(site, log=write_log(tmp_path, [*often, entry("/2.html")]))

    assert [one.source_bytes for one in plain.facts[:2]] == [len(MENU), len(NEWS)]
    assert [one.source_bytes for one in logged.facts[:2]] == [len(NEWS), len(MENU)]
    assert logged.facts[0].advice.endswith("Its pages are asked for 1,441 times a day.")
    assert logged.facts[1].advice.endswith("Its pages are asked for once a day.")
    assert "asked" not in plain.facts[0].advice


def test_what_nobody_asks_for_is_left(tmp_path: Path) -> None:
    with Collection(small_site()) as site:
        found = study_fragments(site, log=write_log(tmp_path, [entry("/elsewhere")]))

    assert found.facts[0].advice.startswith("Leave it for now: nobody asked")


@pytest.mark.parametrize(
    ("starts", "words"),
    [
        (["", "", ""], ""),
        (["<esi:vars>", "", ""], " 1 of its 3 pages keeps it: an ESI tag"),
        (["<!-- x --->", "<!-- x --->", ""], " 2 of its 3 pages keep it: a comment that caches"),
        (["x", "x", "x"], " But none of its pages can be composed as it is: does not begin"),
    ],
)
def test_parts_say_on_how_many_pages_a_cache_would_not_compose_them(
    starts: list[str], words: str
) -> None:
    pages = [capture(str(n), f"{start}{MENU}<p>{n}") for n, start in enumerate(starts)]
    with Collection(pages) as site:
        found = study_fragments(site)

    menu = found.facts[0]
    assert menu.pages == len(starts)
    assert words in menu.advice
    assert sum(one.pages for one in menu.hazards) == sum(map(bool, starts))


def test_the_advice_is_what_a_plan_would_do() -> None:
    """A token that nobody sees is a change to a cache."""
    captures = [
        capture(f"{n} {hour}", f"<div data-t={hour}>{MENU}</div><p>{n}</p>", url=str(n), time=at)
        for hour in range(6)
        for n in range(3)
        for at in [START + timedelta(hours=hour)]
    ]
    with Collection(captures) as site:
        found = study_fragments(site)

    assert found.facts[0].policy is not None
    assert found.facts[0].policy.ttl_s == 0
    assert "go past the cache" in found.facts[0].advice


GARBAGE = [
    b"",
    b'\x00\xff\xfe[] "',
    b'1.1.1.1 - - [31/Feb/2026:10:00:00 +0000] "GET /a HTTP/1.1" 200 1',
    b'1.1.1.1 - - [17/May/2026:10:00:00 +9900] "GET /a HTTP/1.1" 200 1',
    b'1.1.1.1 - - [17/May/2026:10:00:00 +0000] "GET /a HTTP/1.1 200 1',
    b'1.1.1.1 - - [17/May/2026:10:00:00 +0000] "GET /a HTTP/1.1" 2000 1',
    b'1.1.1.1 - - [17/Mai/2026:10:00:00 +0000] "GET /a HTTP/1.1" 200 1',
    b'1.1.1.1 - - "GET /a HTTP/1.1" 200 1',
    b'1.1.1.1 - - [17/May/2026:10:00:00 +0000] "' + b"\\" * 999,
    b' [17/May/2026:10:00:00 +0000] "' * 2000,
    b"x" * (3 * MOST_LINE_BYTES),
]


def test_lines_that_are_no_entries_are_skipped_and_counted(tmp_path: Path) -> None:
    lines = [part for line in GARBAGE for part in (line, entry("/a").encode())]

    log = read_access_log(write_log(tmp_path, [*lines]), ["/a"])

    assert (log.requests, log.lines, log.skipped, log.others) == (
        {"/a": len(GARBAGE)},
        2 * len(GARBAGE),
        len(GARBAGE),
        0,
    )


@given(st.binary(max_size=300).filter(lambda line: not line.startswith(b"\x1f\x8b\x08")))
@example(b"\x1f\x8b")
def test_whatever_a_line_is_the_next_one_is_read(
    tmp_path_factory: pytest.TempPathFactory, line: bytes
) -> None:
    folder = tmp_path_factory.mktemp("log")

    log = read_access_log(write_log(folder, [line, entry("/a")]), ["/a"])

    assert log.requests["/a"] >= 1
    assert log.lines == log.skipped + log.others + sum(log.requests.values())


def test_a_packed_line_of_any_length_is_skipped_in_little_memory(tmp_path: Path) -> None:
    target = tmp_path / "access.log.gz"
    with gzip.open(target, "wb", compresslevel=1) as file:
        for _ in range(300):
            file.write(b"x" * 1_000_000)
        file.write(b"\n" + entry("/a").encode() + b"\n")
    tracemalloc.start()
    try:
        log = read_access_log(target, ["/a"])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert (log.lines, log.skipped, log.requests) == (2, 1, {"/a": 1})
    assert peak < 5_000_000


def test_other_entries_are_not_requests_of_a_page(tmp_path: Path) -> None:
    lines: list[str | bytes] = [
        entry("/a"),
        entry("/a", status=304),
        entry("http://a.example/a#top"),
        entry("/a", method="HEAD"),
        entry("/a", status=500),
        entry("/a?b"),
        entry("http://[/a"),
        entry("/a b"),
        entry("/a").replace(" - - ", " - Mary Ann Smith "),
    ]

    log = read_access_log(write_log(tmp_path, lines), ["/a"])

    assert (log.requests, log.skipped, log.others) == ({"/a": 4}, 0, 5)


def test_a_packed_log_that_ends_early_counts_as_far_as_it_goes(tmp_path: Path) -> None:
    text = "".join(f"{entry('/a', second=n)}\n" for n in range(5000)).encode()
    (tmp_path / "whole.gz").write_bytes(gzip.compress(text))
    (tmp_path / "cut.gz").write_bytes(gzip.compress(text)[:-2000])

    whole = read_access_log(tmp_path / "whole.gz", ["/a"])
    cut = read_access_log(tmp_path / "cut.gz", ["/a"])

    assert (whole.requests["/a"], whole.damaged, whole.seconds) == (5000, False, 4999)
    assert cut.damaged
    assert 0 < cut.requests["/a"] < 5000


@pytest.mark.parametrize(
    "data",
    [
        b"\x1f\x8b\x08" + bytes(range(200)),
        gzip.compress(b"\xff\xd8" * 999)[:-12],
        b"\x89PNG\r\n\x1a\n" * 9,
        b"GET /a HTTP/1.1\n",
    ],
)
def test_what_is_no_log_is_refused_by_name(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "photo.log").write_bytes(data)

    with pytest.raises(SourceUnreadable, match=r"photo\.log: .*; expected an access log"):
        read_access_log(tmp_path / "photo.log", ["/a"])


def test_a_log_without_a_line_is_one_of_no_requests(tmp_path: Path) -> None:
    (tmp_path / "access.log").touch()
    (tmp_path / "access.log.gz").write_bytes(gzip.compress(b""))

    for name in ("access.log", "access.log.gz"):
        assert read_access_log(tmp_path / name, ["/a"]).lines == 0


@pytest.mark.parametrize("packed", [False, True])
def test_a_log_may_be_a_pipe_that_gives_a_byte_at_a_time(tmp_path: Path, *, packed: bool) -> None:
    text = "".join(f"{entry('/a', second=n)}\n" for n in range(500)).encode()
    os.mkfifo(tmp_path / "pipe")

    def write() -> None:
        with (tmp_path / "pipe").open("wb", buffering=0) as pipe:
            data = gzip.compress(text) if packed else text
            for place in range(4):
                pipe.write(data[place : place + 1])
                time.sleep(0.01)
            pipe.write(data[4:])

    writer = threading.Thread(target=write)
    writer.start()
    log = read_access_log(tmp_path / "pipe", ["/a"])
    writer.join()

    assert (log.requests, log.damaged) == ({"/a": 500}, False)


def test_a_path_of_two_slashes_has_no_host(tmp_path: Path) -> None:
    log = read_access_log(
        write_log(
            tmp_path,
            [
                entry(one)
                for one in ("//wp-login.php", "//x/fish", "/", "http://a.example/fish", "/fish?")
            ],
        ),
        ["/", "/fish"],
    )

    assert (log.requests, log.others) == ({"/": 1, "/fish": 2}, 2)


def test_an_address_that_cannot_be_read_is_none() -> None:
    assert log_address("http://[/a") == ""
