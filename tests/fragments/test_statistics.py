"""The study of fragments: what each saves, held against counting by hand; and access logs, garbage included."""

from __future__ import annotations

import gzip
import os
import threading
import time
import tracemalloc
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from quire.errors import SourceUnreadable
from quire.fragments import PlanRules
from quire.fragments.caching.site_plan import plan_site
from quire.fragments.site.collection import Collection
from quire.fragments.study.facts import FragmentFacts
from quire.fragments.study.page_requests import PageRequests
from quire.fragments.study.study import FragmentStudy, study_fragments
from quire.sources.access_log import MOST_LINE_BYTES, log_address, read_access_log
from quire.sources.capture import Capture

INCLUDE_BYTES = PlanRules().include_bytes

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


def studied(
    captures: Iterable[Capture],
    *,
    log: Path | None = None,
    rules: PlanRules | None = None,
    min_bytes: int = 200,
) -> FragmentStudy:
    """Plan a site and study the plan."""
    with Collection(captures) as site:
        asked = PageRequests.once(site) if log is None else PageRequests.read(site, log)
        return study_fragments(plan_site(site, rules=rules), asked=asked, min_bytes=min_bytes)


def test_a_site_is_counted_as_by_hand() -> None:
    found = studied(small_site())

    menu, news = (one for one in found.facts if one.tier == "exact")
    assert (menu.source_bytes, menu.pages, menu.uses) == (len(MENU), 4, 4)
    assert menu.stored_saved == 3 * len(MENU) - 4 * INCLUDE_BYTES
    assert menu.moved_saved == 4 * (len(MENU) - INCLUDE_BYTES)
    assert (news.source_bytes, news.pages) == (len(NEWS), 2)
    assert found.totals.stored_saved == menu.stored_saved + news.stored_saved
    assert found.totals.page_bytes == sum(len(page.body) for page in small_site())
    assert menu.advice.startswith("Cut it out")


@pytest.mark.parametrize("depth", [1, 2])
def test_what_is_inside_of_another_part_is_not_counted_twice(depth: int) -> None:
    pages = [f"<div>{MENU}<p>{'and more ' * 60}</div><h1>{n}" for n in range(3)]
    pages += [f"{MENU}<h1>{n}" for n in range(3, 6)]
    captures = [capture(f"{n}.html", page) for n, page in enumerate(pages)]
    found = studied(captures, rules=PlanRules(max_depth=depth))

    exact = [one for one in found.facts if one.tier == "exact"]
    assert sum(one.stored_saved for one in exact) == found.totals.stored_saved
    assert sum(one.moved_saved for one in exact) == found.totals.moved_saved
    volumes = found.composition.manifest.volumes
    assert found.totals.stored_saved == volumes.pages - volumes.stored
    assert found.totals.moved_saved == volumes.pages - volumes.moved


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
    return studied(reversed(captures), min_bytes=30)


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


def test_a_part_that_is_most_of_its_page_is_left_and_one_not_on_the_newest_capture_is_not_listed() -> (
    None
):
    def page(hour: int) -> str:
        news = f"<div>{new_words(99, 300)} {new_words(hour, 30)}</div>"
        return f"{MENU}<main><h1>Front</h1><p>{new_words(98, 20)}</p>{news}</main>"

    captures = [
        capture("", page(hour), url="https://a.example/", time=START + timedelta(hours=hour))
        for hour in range(9)
    ]
    (news,) = [one for one in studied(captures).facts if one.tier == "own pace"]
    error = capture(
        "",
        "<h1>Error 503</h1><p>Please wait",
        url="https://a.example/",
        time=START + timedelta(days=1),
    )
    later = studied([*captures, error])

    assert news.page_share > 0.5
    assert news.advice.startswith(f"Leave it: it is {100 * news.page_share:.0f} % of its page")
    assert not [one for one in later.facts if one.tier == "own pace"]
    assert later.totals.own_pace == 0


def new_words(day: int, count: int) -> str:
    """Words that no other day has."""
    return " ".join(f"word{day}x{n}" for n in range(count))


# Most of the page is new each day; the shared part is most of it, and as new.
@pytest.mark.parametrize(
    "body",
    [
        "<h1>Section {page}</h1><div>{words}</div><p>Imprint of section {page}</p>",
        f"<div>{MENU}<p>{{words}}</div><p>{{page}}",
    ],
)
def test_a_part_that_is_new_at_every_capture_is_seen_to_change(body: str) -> None:
    captures = [
        capture(
            f"{page}-{day}",
            body.format(page=page, day=day, words=new_words(day, 200)),
            url=f"https://a.example/{page}",
            time=START + timedelta(days=day),
        )
        for day in range(7)
        for page in range(3)
    ]
    found = studied(captures)

    shared = next(one for one in found.facts if "word6x7" in one.sample or one.pace.changes)
    assert shared.tier == "exact"
    assert (shared.pages, shared.pace.changes, shared.pace.changes_per_day) == (3, 18, 1)
    assert (shared.pace.watched_s, shared.pace.page_s) == (6 * 86_400, 18 * 86_400)
    assert (shared.pace.ttl_s, shared.pace.life_p50_s) == (0, 86_400)
    assert "do not cache it" in shared.advice


def test_a_part_that_no_cache_may_keep_is_isolated_and_the_menu_around_it_kept() -> None:
    captures = [
        capture(
            f"{page}-{day}",
            f"<h1>Section {page}</h1><div>{MENU}<p>Day {day}</div><p>Imprint of section {page}</p>",
            url=f"https://a.example/{page}",
            time=START + timedelta(days=day),
        )
        for day in range(7)
        for page in range(3)
    ]
    found = studied(captures)

    menu, day = (one for one in found.facts if one.tier == "exact")
    assert (menu.source_bytes, menu.planned, menu.action) == (len(MENU), "cut", "cut")
    assert (day.sample, day.planned, day.action, day.pages) == ("Day 6", "isolated", "isolate", 3)
    own = [one for one in found.facts if one.tier == "own pace"]
    # The row of the plan is the advice.
    assert {(one.planned, one.action) for one in own} == {("isolated", "leave")}
    assert {one.advice for one in own} == {"Covered: the plan isolates it."}
    assert found.totals.isolated == 1


# Words come from a few, so that texts stay, come back, and are new by turns; the page around may change as a whole.
_few = st.lists(st.sampled_from(["fish", "chips", "peas"]), min_size=2, max_size=6)


@given(words=_few, drastic=st.booleans())
def test_the_changes_of_a_shared_part_are_those_of_its_text(
    *, words: list[str], drastic: bool
) -> None:
    captures = [
        capture(
            f"{page}-{day}",
            f"<h1>Section {page}</h1><div><p>{f'All about {word} and no more. ' * 20}</div>"
            f"<p>{new_words(day if drastic else 0, 60)} {page}",
            url=f"https://a.example/{page}",
            time=START + timedelta(days=day),
        )
        for day, word in enumerate(words)
        for page in range(2)
    ]
    found = studied(captures, rules=PlanRules(min_bytes=80))

    shared = next(one for one in found.facts if "All about" in one.sample and one.tier == "exact")
    changes = sum(one != other for one, other in pairwise(words))
    assert shared.pace.changes == 2 * changes


def test_parts_that_are_alike_say_what_differs() -> None:
    text = " ".join(f"word{n}" for n in range(200))
    pages = [f"<p>{text} <p>The {fish} of the day<h1>{fish * 9}" for fish in ("cod", "hake", "eel")]
    found = studied(capture(str(n), page) for n, page in enumerate(pages))

    one = next(one for one in found.facts if one.tier == "approximate")
    assert "The cod of the day" in one.differs[0].first
    assert {"The hake of the day", "The eel of the day"} <= {
        line for each in one.differs for line in each.other
    }
    assert "cannot be cut out" in one.advice


def places_of(found: FragmentStudy, one: FragmentFacts) -> list[tuple[int, int, int]]:
    """Where the part of a row is: pages with the first byte and the end."""
    if one.tier == "exact":
        return [
            (page, start, end)
            for page in range(len(found.site.pages))
            for part, start, end in found.parts_on(page)
            if part.name == one.name
        ]
    if one.tier == "approximate":
        members = found.alike[one.number].members
        rows = zip(members.page, members.byte_start, members.byte_end, strict=True)
        return [(int(page), int(start), int(end)) for page, start, end in rows]
    return [(one.page, one.offset, one.offset + one.source_bytes)]


# Parts in parts: a section that changes, with a list in it that does so more often, for two users.
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=2, max_size=6),
    st.integers(1, 3),
)
@settings(max_examples=25)
def test_advice_is_ranked_by_bytes_and_never_about_a_part_and_a_part_of_it(
    days: list[tuple[int, int]], pages: int
) -> None:
    captures = [
        capture(
            f"{page}-{day}",
            f"{MENU}<main id=news><h1>Page {page}</h1><section><h2>News</h2><p>{new_words(one, 30)}</p>"
            f"<ul><li>{new_words(two, 30)}<li>{new_words(90, 20)}</ul></section>"
            f"<p>{new_words(50, 60)} {page}</p></main>",
            url=f"https://a.example/{page}",
            time=START + timedelta(days=day),
        )
        for day, (one, two) in enumerate(days)
        for page in range(pages)
    ]
    found = studied(captures, min_bytes=30)

    assert all(one.label for one in found.facts)
    saved = [one.moved_saved for one in found.advised]
    assert saved == sorted(saved, reverse=True)
    advised = [(one, place) for one in found.advised for place in places_of(found, one)]
    for (one, place), (other, beside) in combinations(advised, 2):
        if one is not other and place[0] == beside[0]:
            assert place[2] <= beside[1] or beside[2] <= place[1], (one.label, other.label)
    for one, (page, start, end) in advised:
        assert 0 <= start < end <= found.site.pages[page].source_bytes, one.label


def test_parts_with_the_same_text_say_where_their_sources_differ() -> None:
    pages = [MENU.replace("<nav>", f"<nav class=c{n}>") + f"<h1>{str(n) * 300}" for n in range(3)]
    found = studied(capture(str(n), page) for n, page in enumerate(pages))

    one = next(one for one in found.facts if one.tier == "approximate" and one.same_text)
    assert one.differs[0].is_source
    assert one.differs[0].other[0].startswith("<nav class=c1>")


@pytest.mark.parametrize("count", [0, 1])
def test_no_page_or_one_shares_nothing(count: int) -> None:
    found = studied(small_site()[:count])

    assert (found.facts, found.totals.pages, found.totals.stored_saved) == ((), count, 0)


def test_a_log_says_how_often_pages_are_asked_for(tmp_path: Path) -> None:
    lines: list[str | bytes] = [entry("/0.html", second=n) for n in range(10)]
    lines += [entry("/3.html", second=86_400), entry("/1.html", status=404), "garbage"]
    found = studied(small_site(), log=write_log(tmp_path, lines))

    menu = found.facts[0]
    assert found.asked.pages == (10, 0, 0, 1)
    assert (menu.requests, menu.requests_per_day) == (11, 11)
    assert menu.moved_saved == 11 * (len(MENU) - INCLUDE_BYTES)
    assert found.log is not None
    assert (found.log.lines, found.log.skipped, found.log.others) == (13, 1, 1)


def test_with_a_log_parts_that_are_asked_for_come_first(tmp_path: Path) -> None:
    """The news is on two pages that everybody reads, the menu on two that hardly anybody does; it is longer."""
    pages = [NEWS, NEWS, MENU + MENU, MENU + MENU]
    site_pages = [capture(f"site/{n}.html", f"{one}<p>{n}") for n, one in enumerate(pages)]
    often = [entry("/0.html", second=60 * n) for n in range(1440)]
    plain = studied(site_pages)
    logged = studied(site_pages, log=write_log(tmp_path, [*often, entry("/2.html")]))

    assert [one.source_bytes for one in plain.facts[:2]] == [len(MENU), len(NEWS)]
    assert [one.source_bytes for one in logged.facts[:2]] == [len(NEWS), len(MENU)]
    assert logged.facts[0].advice.endswith("Its pages are requested 1,441 times a day.")
    assert logged.facts[1].advice.endswith("Its pages are requested once a day.")
    assert "requested" not in plain.facts[0].advice


def test_a_part_that_nobody_requested_says_so(tmp_path: Path) -> None:
    found = studied(small_site(), log=write_log(tmp_path, [entry("/elsewhere")]))

    assert found.facts[0].advice.endswith("Its pages were not requested while the log was written.")
    assert found.totals.moved_saved == found.totals.moved_bytes == 0


@pytest.mark.parametrize(
    ("starts", "words"),
    [
        (["", "", ""], ""),
        (["<esi:vars>", "", ""], " 1 more page keeps it: an ESI tag"),
        (["<!-- x --->", "<!-- x --->", "", ""], " 2 more pages keep it: a comment that caches"),
    ],
)
def test_parts_say_on_how_many_pages_a_cache_would_not_compose_them(
    starts: list[str], words: str
) -> None:
    found = studied(capture(str(n), f"{start}{MENU}<p>{n}") for n, start in enumerate(starts))

    menu = found.facts[0]
    assert menu.pages == starts.count("")
    assert words in menu.advice
    assert sum(one.pages for one in menu.hazards) == sum(map(bool, starts)) == found.totals.refused


def test_pages_that_no_cache_would_compose_are_counted() -> None:
    found = studied(capture(str(n), f"x{MENU}<p>{n}") for n in range(3))

    assert [one for one in found.facts if one.tier == "exact"] == []
    assert (found.totals.refused, found.totals.worth_it) == (3, 0)


def test_the_advice_is_what_a_plan_would_do() -> None:
    """A token that nobody sees is a change to a cache."""
    captures = [
        capture(f"{n} {hour}", f"<div data-t={hour}>{MENU}</div><p>{n}</p>", url=str(n), time=at)
        for hour in range(6)
        for n in range(3)
        for at in [START + timedelta(hours=hour)]
    ]
    found = studied(captures)

    assert found.facts[0].policy is not None
    assert found.facts[0].policy.ttl_s == 0
    assert "do not cache it" in found.facts[0].advice


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
