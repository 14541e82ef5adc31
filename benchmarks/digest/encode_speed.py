"""How fast page bytes become a digest, beside the parsers, with and without signatures.

``quire`` is ``quire.encode``: interning, the signatures of source, structure and tags, and the
verified round trip. ``quire, all signatures`` also asks for ``signatures``, which computes those
of attributes, content, links and images: the cost of a page that is stored or compared.

Two ways of measuring, because they answer different questions: *whole sample in turn* is what a
user's loop sees; *same page again* gives one ratio for each page and so the worst pages, but
flatters all libraries.

The ratio depends on the pages: quire works per node where others work per byte, so pages with long
texts and scripts gain more. A table has the ratio for each corpus.
"""

from collections.abc import Callable, Sequence

import quire
from benchmarks import measure, peers
from benchmarks.context import Context
from benchmarks.corpora import PAGES, TEMPLATES, VERSIONS, describe, html_pages
from benchmarks.peers.ours import outline
from benchmarks.peers.selectolax_lexbor import Outline, Selectolax
from benchmarks.report import Report, Right, Table, at_least

#: The row of a page that is stored or compared.
SIGNED = "quire, all signatures"
RIVALS = ("selectolax", "turbohtml", "resiliparse", "lxml.html")


def run(context: Context) -> Report:
    """Time encode against the parsers on a sample and on all real pages."""
    sample = context.pages(full=188, quick=40)
    everything = context.pages(full=None, quick=60)
    bodies = [page.read() for page in sample]
    all_bodies = [page.read() for page in everything]
    found, notes = peers.installed(RIVALS)
    parsers: dict[str, Callable[[bytes], object]] = {
        "quire": _encode,
        SIGNED: _sign,
        **{peer.name: peer.parse for peer in found},
    }
    report = Report(
        title="Encode: page bytes to a digest, one thread",
        inputs=f"{describe(sample)}; all: {describe(everything)}",
        method="interning and verification on; CPU time, rounds interleaved",
        notes=[
            (
                "`quire` leaves the signatures of attributes, content, links and images until they "
                "are asked for; `quire, all signatures` asks for them"
            ),
            "the parsers also build attribute objects and decode entities; quire does that on first access",
            *notes,
        ],
    )

    context.say("checking answers")
    report.right = _check(all_bodies)

    context.say(f"whole sample in turn, {len(bodies)} pages")
    turns = measure.interleaved(_loops(parsers, bodies), context.pick(13, 3))
    report.tables.append(_turn_table("all pages in turn, as a user would run them", turns, bodies))

    context.say("same page again")
    again = measure.best_for_each(bodies, parsers, context.pick(9, 3))
    report.tables.append(_again_table(again, bodies))

    context.say(f"all pages in turn, {len(all_bodies)} pages")
    few = {
        name: parse for name, parse in parsers.items() if name in ("quire", SIGNED, "selectolax")
    }
    all_turns = measure.interleaved(_loops(few, all_bodies), context.pick(5, 2))
    report.tables.append(_turn_table("all real pages in turn", all_turns, all_bodies))

    if "selectolax" in parsers:
        report.tables.append(_corpus_table(context, few))
        ratios = _page_ratios(again, "selectolax")
        total = measure.round_ratio(all_turns["selectolax"], all_turns["quire"])
        signed = measure.round_ratio(all_turns["selectolax"], all_turns[SIGNED])
        report.goals = [
            at_least("encode against selectolax, all signatures", signed, 1.65),
            at_least("encode against selectolax, signatures on demand", total, 2.1),
        ]
        report.data = {
            "ratio_sample": measure.round_ratio(turns["selectolax"], turns["quire"]),
            "ratio_all": total,
            "ratio_all_signed": signed,
            "page_ratio_p5": measure.percentile(ratios, 5),
            "page_ratio_median": measure.percentile(ratios, 50),
            "seconds": {name: samples.seconds for name, samples in turns.items()},
        }
    return report


def _encode(body: bytes) -> quire.Digest:
    # The parsers are not asked what the bytes are either.
    return quire.encode(body, kind="html")


def _sign(body: bytes) -> object:
    return _encode(body).signatures


def _loops(
    parsers: dict[str, Callable[[bytes], object]], bodies: Sequence[bytes]
) -> dict[str, Callable[[], object]]:
    def loop(parse: Callable[[bytes], object]) -> Callable[[], object]:
        def over_all() -> None:
            for body in bodies:
                parse(body)

        return over_all

    return {name: loop(parse) for name, parse in parsers.items()}


def _check(bodies: Sequence[bytes]) -> list[Right]:
    selectolax = Selectolax()
    exact = same = 0
    for body in bodies:
        exact += _encode(body).decode() == body
        ours = outline(quire.encode(body, kind="html", scripting=False))
        same += _names(ours) == _names(selectolax.outline(selectolax.parse(body)))
    return [
        Right("quire", exact, len(bodies), "decode gives back the page"),
        Right(
            "quire",
            same,
            len(bodies),
            "element names in pre-order equal selectolax; `tree` explains the rest",
        ),
    ]


def _names(nodes: Outline) -> list[str]:
    return [name.lower() for name, _ in nodes if not name.startswith("#")]


def _turn_table(caption: str, turns: dict[str, measure.Samples], bodies: Sequence[bytes]) -> Table:
    total_bytes = sum(map(len, bodies))
    reference = turns.get("selectolax", turns["quire"])
    rows = [
        [
            name,
            f"{total_bytes / samples.best / 1e6:,.0f}",
            samples.spread(1e6 / len(bodies), 0),
            f"{measure.round_ratio(reference, samples):.2f}x",
            f"{reference.best / samples.best:.2f}x",
        ]
        for name, samples in turns.items()
    ]
    headings = [
        "library",
        "MB/s, best",
        "us a page, median ± IQR",
        "x selectolax, median of rounds",
        "x selectolax, best of",
    ]
    return Table(headings, rows, caption)


def _corpus_table(context: Context, parsers: dict[str, Callable[[bytes], object]]) -> Table:
    """How the ratio depends on the pages."""
    rows = []
    for corpus in context.corpora or (*PAGES, *TEMPLATES, *VERSIONS):
        context.say(corpus)
        bodies = [page.read() for page in html_pages((corpus,), context.pick(40, 6))]
        turns = measure.interleaved(_loops(parsers, bodies), context.pick(9, 2))
        total_bytes = sum(map(len, bodies))
        nodes = sum(_encode(body).n for body in bodies)
        rows.append(
            [
                corpus,
                f"{total_bytes / len(bodies) / 1e3:,.0f}",
                f"{total_bytes / nodes:.0f}",
                *(
                    f"{measure.round_ratio(turns['selectolax'], turns[name]):.2f}x"
                    for name in ("quire", SIGNED)
                ),
            ]
        )
    headings = ["corpus", "kB a page", "bytes a node", "quire", SIGNED]
    return Table(headings, rows, "x selectolax by corpus, all pages in turn; median of rounds")


def _page_ratios(again: dict[str, list[float]], rival: str) -> list[float]:
    return [theirs / ours for theirs, ours in zip(again[rival], again["quire"], strict=True)]


def _again_table(again: dict[str, list[float]], bodies: Sequence[bytes]) -> Table:
    total_bytes = sum(map(len, bodies))
    rows = []
    for name, seconds in again.items():
        ratios = _page_ratios(again, name)
        rows.append(
            [
                name,
                f"{total_bytes / sum(seconds) / 1e6:,.0f}",
                f"{sum(seconds) / len(bodies) * 1e6:,.0f}",
                f"{sum(seconds) / sum(again['quire']):.2f}x",
                f"{min(ratios):.2f}x",
                f"{measure.percentile(ratios, 5):.2f}x",
                f"{measure.percentile(ratios, 50):.2f}x",
            ]
        )
    headings = [
        "library",
        "MB/s",
        "us a page",
        "its time / quire's",
        "worst page",
        "5th percentile",
        "median page",
    ]
    return Table(headings, rows, "same page again (smallest of the rounds for each page)")
