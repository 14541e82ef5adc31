"""Lists: search results, definition lists, comments, and texts split by separators."""

from __future__ import annotations

from random import Random

from tests.extraction.list_pages.frames import Frame
from tests.extraction.list_pages.writing import Listing, Style, filled


def _thread(random: Random, item: str, reply: str, depths: tuple[int, ...]) -> str:
    """Comments below each other: `reply` wraps the answers to a comment."""
    closing: list[str] = []
    parts: list[str] = []
    before, after = reply.split("{items}")
    level = 0
    for number, depth in enumerate(depths, 1):
        while level >= depth and closing:
            parts.append(closing.pop())
            level -= 1
        if depth > level and number > 1:
            parts.append(before)
            level = depth
        head, tail = filled(item, random, number).split("@replies@")
        parts.append(head)
        closing.append(tail + (after if depth else ""))
    parts += reversed(closing)
    return "".join(parts)


def _comments(random: Random) -> str:
    item = (
        '<li class="comment"><div class="body"><b class="who">{person}</b> <time>{date}</time>'
        "<p>{text}</p></div>@replies@</li>"
    )
    threads = [(0, 1, 2), (0,), (0, 1), (0, 1, 2, 3), (0,)]
    found = [
        _thread(random, item, '<ul class="children">{items}</ul>', depths) for depths in threads
    ]
    return '<ol class="comments">' + "".join(found) + "</ol>"


def _discussion(random: Random) -> str:
    item = (
        '<div class="cmt"><div class="meta"><a href="/u/{user}">{user}</a> <span>{ago}</span>'
        ' <span class="pts">{count} points</span></div><div class="txt">{short}</div>@replies@</div>'
    )
    threads = [(0, 1), (0, 1, 2), (0,), (0,), (0, 1, 2)]
    found = [_thread(random, item, '<div class="kids">{items}</div>', depths) for depths in threads]
    return '<div class="discussion">' + "".join(found) + "</div>"


LISTS: list[Style] = [
    Style(
        "search-results",
        "Ten results of a search engine, with an advertisement on top.",
        (
            Listing(
                item='<div class="g"><h3><a href="https://site{n}.example/{slug}">{headline}</a></h3><cite>site{n}.example</cite><span class="st">{date} — {text}</span></div>',
                wrap='<div id="ads"><div class="ad"><a href="https://ads.example">Buy a lamp</a></div></div><div id="rso">{items}</div>',
                at="#rso",
                records="#rso > .g",
                fields={"title": ".g h3", "site": ".g cite", "text": ".st"},
                count=10,
            ),
        ),
        Frame.DIVS,
        pages=1,
    ),
    Style(
        "definition-list",
        "A glossary as a definition list: a term and its explanation belong together.",
        (
            Listing(
                item="<dt>{thing}</dt><dd>{text}</dd>",
                wrap='<dl class="glossary">{items}</dl>',
                at="dl.glossary",
                records="dl.glossary > dt",
                members="dl.glossary > dt, dl.glossary > dd",
                fields={"term": "dl.glossary > dt", "meaning": "dl.glossary > dd"},
                count=12,
            ),
        ),
        Frame.SEMANTIC,
    ),
    Style(
        "definition-list-many",
        "A definition list in which some terms have two explanations.",
        (
            Listing(
                item="<dt><a id='{id}'></a><code>--{slug}</code></dt><dd><p>{text}</p></dd>[[0.3:<dd>Default: {tag}</dd>]]",
                wrap="<dl>{items}</dl>",
                at="dl",
                records="dl > dt",
                members="dl > dt, dl > dd",
                fields={"option": "dt code", "text": "dd p"},
                count=14,
            ),
        ),
        Frame.BARE,
    ),
    Style(
        "heading-and-paragraphs",
        "News as a heading, a paragraph and a date, without any wrapper.",
        (
            Listing(
                item='<h2><a href="{id}.html">{headline}</a></h2><p>{text}</p><p class="date">{date}</p>',
                wrap='<div class="flat">{items}</div>',
                at="div.flat",
                records="div.flat > h2",
                members="div.flat > h2, div.flat > p",
                fields={"title": "div.flat > h2", "date": ".flat > .date"},
                count=9,
            ),
        ),
        Frame.DENSE,
    ),
    Style(
        "nested-comments",
        "Comments with answers below them: every comment is a record, wherever it is.",
        (
            Listing(
                item="",
                wrap="",
                at="ol.comments",
                records="li.comment",
                fields={"author": ".who", "text": ".comment .body p", "date": ".comment time"},
            ),
        ),
        Frame.SEMANTIC,
        body=_comments,
    ),
    Style(
        "nested-discussion",
        "A discussion of divs in divs.",
        (
            Listing(
                item="",
                wrap="",
                at=".discussion",
                records=".cmt",
                fields={"user": ".meta a", "points": ".pts", "text": ".txt"},
            ),
        ),
        Frame.DIVS,
        body=_discussion,
    ),
    Style(
        "reviews",
        "Reviews of a product, with stars; a summary of the same look comes first.",
        (
            Listing(
                item='<div class="review"><div class="stars" title="{rate} of 5"></div><strong>{tag} and {tag2}</strong><p>{long}</p><div class="sig"><span class="nick">{user}</span>, <span class="when">{date}</span></div>[[0.4:<div class="owner"><b>Answer of the shop</b><p>{short}</p></div>]]</div>',
                wrap='<div class="reviews"><div class="summary"><b>4.3</b> of 5 from 128 reviews</div>{items}</div>',
                at=".reviews",
                records=".reviews > .review",
                fields={
                    "title": ".review > strong",
                    "text": ".review > p",
                    "nick": ".nick",
                    "date": ".when",
                },
                count=8,
            ),
        ),
        Frame.DENSE,
    ),
    Style(
        "plain-links-with-text",
        "A list of publications: a link, then a text in the same item.",
        (
            Listing(
                item='<li><a href="/paper/{id}.pdf">{headline}</a>. {person}, <i>Journal of {tag}</i>, {n}.</li>',
                wrap='<ul class="pubs">{items}</ul>',
                at="ul.pubs",
                records="ul.pubs > li",
                fields={"title": ".pubs a", "journal": ".pubs i"},
                count=14,
            ),
        ),
        Frame.BARE,
        title="Publications",
    ),
    Style(
        "hr-separated",
        "Entries of a guest book divided by rules, with paragraphs as in the nineties.",
        (
            Listing(
                item="<p><b>{person}</b> from {town} wrote on {us}:</p><blockquote>{text}</blockquote>",
                wrap="<div id=book>{items}</div>",
                at="#book",
                records="#book > p",
                members="#book > p, #book > blockquote",
                fields={"who": "#book p b", "text": "#book blockquote"},
                between="<hr>",
                count=10,
            ),
        ),
        Frame.OLD,
    ),
    Style(
        "changelog",
        "Releases: a heading, a date and a list of changes for each.",
        (
            Listing(
                item='<section class="release"><h2>Version {version}</h2><time datetime="{iso}">{date}</time><ul><li>{short}</li><li>{short}</li>[[0.5:<li>{short}</li>]]</ul></section>',
                wrap='<div class="changelog">{items}</div>',
                at=".changelog",
                records=".changelog > section",
                fields={"version": ".release h2", "date": ".release time"},
                count=9,
            ),
        ),
        Frame.SEMANTIC,
    ),
    Style(
        "two-columns",
        "One list of books in two columns, so in two lists.",
        (
            Listing(
                item='<li class="book"><cite>{headline}</cite> <span class="by">{person}</span> <span class="yr">{n}</span></li>',
                wrap='<div class="cols">{items}</div>',
                at=".cols",
                records=".cols .book",
                fields={"title": ".book cite", "author": ".book .by"},
                count=14,
                per_row=7,
                row='<ul class="half">{items}</ul>',
            ),
        ),
        Frame.UTILITY,
    ),
    Style(
        "podcast",
        "Episodes with a length and a download link; the newest is larger but the same.",
        (
            Listing(
                item='<article id="ep-{id}" class="episode"><span class="no">#{n}</span><h3>{headline}</h3><audio src="/{id}.mp3"></audio><p class="notes">{text}</p><p class="meta"><span class="len">{time}</span> <a href="/{id}.mp3">Download</a> [[0.3:<em class="badge">new</em>]]</p></article>',
                wrap="{items}",
                at="main",
                records="article.episode",
                fields={"number": ".no", "title": ".episode h3", "length": ".len"},
                count=7,
            ),
        ),
        Frame.SEMANTIC,
    ),
]
