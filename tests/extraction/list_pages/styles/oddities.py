"""Pages that are hard or without records: bad HTML, lonely navigation, articles, forms, short lists."""

from __future__ import annotations

from random import Random

from tests.extraction.list_pages.frames import Frame
from tests.extraction.list_pages.words import sentences
from tests.extraction.list_pages.writing import Listing, Style


def _article(random: Random) -> str:
    parts = "".join(f"<p>{sentences(random, 3, 6)}</p>" for _ in range(9))
    return f'<article class="text"><p class="by">By a writer</p>{parts}</article>'


def _chapters(random: Random) -> str:
    toc = "".join(f'<li><a href="#c{n}">Chapter {n}</a></li>' for n in range(1, 7))
    return (
        f'<div class="toc"><ul>{toc}</ul></div><div class="prose">'
        + "".join(f'<p id="c{n}">{sentences(random, 4, 9)}</p>' for n in range(1, 9))
        + "</div>"
    )


def _form(_: Random) -> str:
    rows = "".join(
        f'<div class="form-group"><label for="f{n}">{name}</label><input id="f{n}" class="form-control"></div>'
        for n, name in enumerate(("First name", "Last name", "Street", "Town", "Code", "Phone"))
    )
    return f'<form method="post">{rows}<button>Send</button></form>'


ODDITIES: list[Style] = [
    Style(
        "unclosed",
        "Items without end tags, unquoted attributes, and a stray end tag.",
        (
            Listing(
                item="<li class=entry><a href=/{id}>{thing}</a> <b>{price}</b> <i>{town}</i> {short}",
                wrap="<ul class=sloppy>{items}</div></ul>",
                at="ul.sloppy",
                records="ul.sloppy > li",
                fields={"name": ".entry a", "price": ".entry b", "town": ".entry i"},
                count=13,
            ),
        ),
        Frame.OLD,
    ),
    Style(
        "misnested",
        "Formatting that is closed in the wrong order, inside rows without end tags.",
        (
            Listing(
                item="<tr><td><b><a href={id}.html>{thing}</b></a><td><i>{firm}</i><td>{comma} EUR",
                wrap="<table class=bad>{items}</table>",
                at="table.bad",
                records=".bad tr",
                fields={
                    "name": ".bad td:nth-child(1)",
                    "firm": ".bad td:nth-child(2)",
                    "price": ".bad td:nth-child(3)",
                },
                count=12,
            ),
        ),
        Frame.OLD,
        pages=3,
    ),
    Style(
        "article",
        "An article of nine paragraphs: text, not records.",
        (),
        Frame.SEMANTIC,
        title="How the river got its bridge",
        body=_article,
    ),
    Style(
        "chapters",
        "A long text with a table of contents: no records.",
        (),
        Frame.DENSE,
        title="The long walk",
        body=_chapters,
    ),
    Style(
        "form",
        "A form: its fields are not records.",
        (),
        Frame.UTILITY,
        title="Sign up",
        body=_form,
    ),
    Style(
        "landing",
        "Only navigation and a picture: no records.",
        (),
        Frame.DIVS,
        title="Welcome",
        body=lambda _: (
            '<img src="/hero.jpg" alt="A harbour"><p>Open daily from 9 to 5.</p><p><a href="/visit">Plan a visit</a></p>'
        ),
    ),
    Style(
        "three-records",
        "A list of only three offers.",
        (
            Listing(
                item='<div class="plan"><h3>{thing}</h3><p class="cost">{price} € a month</p><p>{short}</p><a href="/buy/{id}">Choose</a></div>',
                wrap='<div class="plans">{items}</div>',
                at=".plans",
                records=".plans > .plan",
                fields={"name": ".plan h3", "cost": ".cost"},
                count=3,
            ),
        ),
        Frame.SEMANTIC,
        title="Plans",
    ),
    Style(
        "table-in-cards",
        "Cards that hold a small table of facts each.",
        (
            Listing(
                item='<div class="unit"><h4>{thing}</h4><table><tr><th>Maker</th><td>{firm}</td></tr><tr><th>Weight</th><td>{size} g</td></tr><tr><th>Price</th><td>{price} €</td></tr></table></div>',
                wrap='<div class="units">{items}</div>',
                at=".units",
                records=".units > .unit",
                fields={
                    "name": ".unit h4",
                    "maker": ".unit tr:nth-child(1) td",
                    "price": ".unit tr:nth-child(3) td",
                },
                count=8,
            ),
        ),
        Frame.DENSE,
    ),
    Style(
        "mixed-adverts",
        "Advertisements that look almost like the records between which they stand.",
        (
            Listing(
                item='<div class="tile"><a href="/w/{id}"><img src="{id}.jpg"></a><div class="cap"><a href="/w/{id}">{headline}</a></div><div class="src">{firm}</div><div class="at">{ago}</div></div>',
                wrap='<div class="wall">{items}</div>',
                at=".wall",
                records=".wall > .tile",
                fields={"title": ".cap", "source": ".src", "at": ".at"},
                advert='<div class="promo"><a href="https://ads.example/{id}"><img src="ad{id}.jpg"></a><div class="sponsor">Promoted by {firm}</div></div>',
                every=3,
                count=12,
            ),
        ),
        Frame.UTILITY,
    ),
    Style(
        "custom-elements",
        "Web components: records are custom elements.",
        (
            Listing(
                item='<x-card data-id="{id}"><x-title slot="t">{thing}</x-title><x-price currency="EUR">{price}</x-price>[[0.7:<x-note>{short}</x-note>]]</x-card>',
                wrap="<x-list>{items}</x-list>",
                at="x-list",
                records="x-list > x-card",
                fields={"title": "x-title", "price": "x-price", "note": "x-note"},
                count=11,
            ),
        ),
        Frame.UTILITY,
    ),
    Style(
        "timeline",
        "Entries of a timeline that differ much in length.",
        (
            Listing(
                item='<li><span class="t">{date}</span><div class="e"><h5>{headline}</h5>[[0.5:<p>{text}</p>]][[0.4:<p>{text}</p><p>{text}</p>]][[0.3:<img src="{id}.jpg">]]</div></li>',
                wrap='<ul class="timeline">{items}</ul>',
                at=".timeline",
                records=".timeline > li",
                fields={"date": ".timeline .t", "title": ".timeline h5"},
                count=12,
            ),
        ),
        Frame.SEMANTIC,
    ),
    Style(
        "grid-without-rows",
        "A flat list in which every fourth item starts a row by its class.",
        (
            Listing(
                item='<div class="prod col-{n}"><a href="/{slug}" title="{thing}"><span class="img"></span><span class="nm">{thing}</span></a><span class="pr">{price}</span><span class="st">in stock</span></div>',
                wrap='<div class="list clearfix">{items}<div class="clear"></div></div>',
                at=".list",
                records=".list > .prod",
                fields={"name": ".nm", "price": ".pr"},
                count=16,
            ),
        ),
        Frame.DIVS,
        pages=2,
    ),
]
