"""Cards and grids: shops, news, events, as today's sites write them."""

from __future__ import annotations

from tests.extraction.list_pages.frames import Frame
from tests.extraction.list_pages.writing import Listing, Style

CARDS: list[Style] = [
    Style(
        "product-cards",
        "Twelve products as cards; some have no old price.",
        (
            Listing(
                item='<li class="product"><a href="/p/{slug}"><img src="/i/{id}.jpg" alt="{thing}"></a>'
                '<h3 class="name"><a href="/p/{slug}">{thing}</a></h3>'
                '<p class="price">€ {price}</p>[[0.5:<p class="old">€ {old}</p>]]'
                "<button>Add to basket</button></li>",
                wrap='<ul class="products">{items}</ul>',
                at="ul.products",
                records="ul.products > li",
                fields={"name": "li.product h3", "price": "li.product .price", "old": ".old"},
            ),
        ),
        pages=1,
    ),
    Style(
        "bootstrap-rows",
        "Four products in a row, in rows of a grid.",
        (
            Listing(
                item='<div class="col-md-3"><div class="thumbnail"><img src="{id}.png">'
                '<div class="caption"><h4><a href="/{slug}">{thing}</a></h4>'
                '<p class="rating">{rate} stars</p><p>{short}</p><span class="amount">${price}</span></div></div></div>',
                wrap='<div class="shop">{items}</div>',
                at="div.shop",
                records="div.shop > .row > .col-md-3",
                fields={"title": ".thumbnail h4", "rating": ".rating", "price": ".amount"},
                count=15,
                per_row=4,
                row='<div class="row">{items}</div>',
            ),
        ),
        Frame.DIVS,
        pages=2,
    ),
    Style(
        "news-articles",
        "Articles with a picture, a teaser and a date; an advertisement after every fourth.",
        (
            Listing(
                item='<article class="teaser"><a href="/a/{id}"><img src="/t/{id}.webp" alt=""></a>'
                '<h2><a href="/a/{id}">{headline}</a></h2><p class="lead">{text}</p>'
                '<footer><span class="author">{person}</span> <time datetime="{iso}">{date}</time></footer></article>',
                wrap='<section class="stream">{items}</section>',
                at="section.stream",
                records="section.stream > article",
                fields={
                    "title": "article h2",
                    "text": ".lead",
                    "author": ".author",
                    "date": "article time",
                },
                advert='<div class="ad-slot"><span>Advertisement</span><a href="https://ads.example/{id}"><img src="/ad.gif"></a></div>',
                every=4,
            ),
        ),
        Frame.DENSE,
    ),
    Style(
        "utility-classes",
        "Cards whose classes say nothing about the data.",
        (
            Listing(
                item='<a class="flex flex-col rounded border p-4 hover:shadow" href="/x/{id}">'
                '<div class="flex justify-between"><span class="font-bold">{thing}</span><span class="text-gray-500">{count}</span></div>'
                '<p class="mt-2 text-sm">{short}</p><div class="mt-auto text-xs">{tag}</div></a>',
                wrap='<div class="grid grid-cols-1 gap-5 md:grid-cols-3">{items}</div>',
                at="div.gap-5",
                records="div.gap-5 > a",
                fields={
                    "name": "a .font-bold",
                    "count": "a .text-gray-500",
                    "text": "a p.mt-2",
                    "tag": "a .mt-auto",
                },
                count=18,
            ),
        ),
        Frame.UTILITY,
    ),
    Style(
        "jobs",
        "Job offers; a third have no salary.",
        (
            Listing(
                item='<div class="job-listing" data-id="{id}"><h3 class="job-title"><a href="/job/{id}">{thing} fitter</a></h3>'
                '<div class="company">{firm}</div><div class="place">{town}</div>'
                '[[0.66:<div class="salary">£{salary} a year</div>]]'
                '<ul class="perks"><li>{tag}</li><li>{tag2}</li></ul><span class="posted">{ago}</span></div>',
                wrap='<div id="results">{items}</div>',
                at="#results",
                records="#results > .job-listing",
                fields={
                    "title": ".job-title",
                    "company": ".company",
                    "place": ".place",
                    "salary": ".salary",
                    "posted": ".posted",
                },
                count=20,
            ),
        ),
        pages=2,
    ),
    Style(
        "events-calendar",
        "Events with a day, a month and a place.",
        (
            Listing(
                item='<div class="event {alt}"><div class="when"><span class="day">{n}</span><span class="month">May</span></div>'
                '<div class="what"><a href="/e/{id}">{headline}</a><p>{short}</p>[[0.7:<p class="place">{town} hall, {time}</p>]]</div></div>',
                wrap='<div class="events-list"><h2>May</h2>{items}</div>',
                at="div.events-list",
                records=".events-list > .event",
                fields={"day": ".day", "title": ".what > a", "place": ".event .place"},
                count=9,
            ),
        ),
        Frame.DIVS,
    ),
    Style(
        "two-regions",
        "Offers on top, articles below: two lists of different things.",
        (
            Listing(
                item='<div class="deal"><img src="{id}.jpg"><b>{thing}</b><span>{comma} €</span></div>',
                wrap='<div class="deals">{items}</div>',
                at="div.deals",
                records=".deals > .deal",
                fields={"name": ".deal b", "price": ".deal > span"},
                count=6,
            ),
            Listing(
                item='<div class="post"><h3><a href="/b/{id}">{headline}</a></h3><p>{text}</p><small>{date}</small></div>',
                wrap='<h2>Blog</h2><div class="posts">{items}</div>',
                at="div.posts",
                records=".posts > .post",
                fields={"title": ".post h3", "text": ".post > p", "date": ".post small"},
                count=7,
            ),
        ),
    ),
    Style(
        "houses",
        "Flats to rent, with facts as short texts and nested wrappers around every card.",
        (
            Listing(
                item='<li><div class="outer"><div class="inner"><div class="pic"><img src="{id}.jpg" alt="Flat"></div>'
                '<div class="info"><a class="addr" href="/flat/{id}">{town}, {n} Mill Road</a><div class="facts">'
                "<span>{rooms} rooms</span><span>{size} m²</span>[[0.6:<span>balcony</span>]]</div>"
                '<div class="rent">{salary} €</div></div></div></div></li>',
                wrap='<ol class="flats">{items}</ol>',
                at="ol.flats",
                records="ol.flats > li",
                fields={"address": ".addr", "rent": ".rent"},
                count=10,
            ),
        ),
        Frame.UTILITY,
        pages=1,
    ),
    Style(
        "recipes-microdata",
        "Recipes with microdata.",
        (
            Listing(
                item='<div itemscope itemtype="https://schema.org/Recipe"><h2 itemprop="name">{thing} soup</h2>'
                '<img itemprop="image" src="{id}.jpg"><p itemprop="description">{text}</p>'
                'by <span itemprop="author">{person}</span>, <meta itemprop="datePublished" content="{iso}"><span>{date}</span></div>',
                wrap='<div class="recipes">{items}</div>',
                at="div.recipes",
                records=".recipes > div",
                fields={
                    "name": "[itemprop=name]",
                    "description": "[itemprop=description]",
                    "author": "[itemprop=author]",
                },
                count=8,
            ),
        ),
        Frame.DENSE,
    ),
    Style(
        "people",
        "A team page: faces, names and addresses.",
        (
            Listing(
                item='<figure class="person"><img src="/faces/{id}.jpg" alt="{person}"><figcaption><strong>{person}</strong>'
                '<em>{tag} desk</em>[[0.7:<a href="mailto:{mail}">{mail}</a>]][[0.5:<span class="tel">{phone}</span>]]</figcaption></figure>',
                wrap='<div class="team">{items}</div>',
                at="div.team",
                records=".team > figure",
                fields={
                    "name": "figure strong",
                    "desk": "figure em",
                    "mail": "figcaption a",
                    "phone": ".tel",
                },
                count=14,
            ),
        ),
        Frame.SEMANTIC,
    ),
    Style(
        "carousel-and-grid",
        "A carousel of four stories above a grid of stories; a second product list in the sidebar.",
        (
            Listing(
                item='<div class="slide"><img src="{id}.jpg"><div class="cap"><h2>{headline}</h2><p>{short}</p></div></div>',
                wrap='<div class="carousel"><div class="track">{items}</div></div>',
                at=".track",
                records=".track > .slide",
                fields={"title": ".slide h2", "text": ".slide p"},
                count=4,
            ),
            Listing(
                item='<div class="story"><a href="/s/{id}"><h3>{headline}</h3></a><p class="by">{person}</p><p class="sum">{text}</p></div>',
                wrap='<div class="stories">{items}</div>',
                at=".stories",
                records=".stories > .story",
                fields={"title": ".story h3", "author": ".by", "text": ".sum"},
                count=9,
            ),
        ),
        Frame.DIVS,
    ),
    Style(
        "sections-of-cards",
        "Three sections, each with a heading and a grid of four products: one list of twelve.",
        (
            Listing(
                item='<div class="card"><img src="{id}.jpg" alt=""><a class="t" href="/{slug}">{thing}</a><div class="p">{price} USD</div><div class="s">{rate}</div></div>',
                wrap='<div class="catalogue">{items}</div>',
                at=".catalogue",
                records=".catalogue .card",
                fields={"title": ".card .t", "price": ".card .p", "score": ".card .s"},
                count=12,
                per_row=4,
                row='<section><h2>Our choice</h2><div class="cards">{items}</div></section>',
            ),
        ),
        Frame.SEMANTIC,
    ),
]
