"""Tables: with and without headers, layout tables, rows that belong together."""

from __future__ import annotations

from tests.extraction.list_pages.frames import Frame
from tests.extraction.list_pages.writing import Listing, Style

TABLES: list[Style] = [
    Style(
        "plain-table",
        "A table with a header row.",
        (
            Listing(
                item="<tr><td>{town}</td><td>{big}</td><td>{share} %</td><td>{date}</td></tr>",
                wrap="<table class='stats'><thead><tr><th>Town</th><th>People</th><th>Growth</th><th>Counted</th></tr></thead><tbody>{items}</tbody></table>",
                at="table.stats",
                records="table.stats tbody tr",
                fields={
                    "Town": "td:nth-child(1)",
                    "People": "td:nth-child(2)",
                    "Growth": "td:nth-child(3)",
                    "Counted": "td:nth-child(4)",
                },
                count=16,
            ),
        ),
    ),
    Style(
        "header-in-body",
        "The header row is an ordinary row with th; rows have alternating classes.",
        (
            Listing(
                item="<tr class={alt}><td><a href='/u/{id}'>{person}</a></td><td align=right>{count}</td><td align=right>{rate}</td></tr>",
                wrap="<table id=rank border=1>{items}</table>",
                at="#rank",
                records="#rank tr:has(td)",
                fields={
                    "Player": "#rank td:nth-child(1)",
                    "Games": "#rank td:nth-child(2)",
                    "Score": "#rank td:nth-child(3)",
                },
                head="<tr><th>Player</th><th>Games</th><th>Score</th></tr>\n",
                count=22,
            ),
        ),
        Frame.OLD,
    ),
    Style(
        "layout-grid-table",
        "A layout table with three products in each row.",
        (
            Listing(
                item='<td><img src="{id}.gif"><br><a href="{slug}.htm">{thing}</a><br><b>${price}</b></td>',
                wrap="<table class=goods cellpadding=5>{items}</table>",
                at="table.goods",
                records="table.goods td",
                fields={"name": ".goods td a", "price": ".goods td b"},
                count=12,
                per_row=3,
                row="<tr>{items}</tr>",
            ),
        ),
        Frame.OLD,
    ),
    Style(
        "row-pairs",
        "Two rows for each entry, as on an old link site, with a spacer row between entries.",
        (
            Listing(
                item='<tr class="athing"><td align="right">{n}.</td><td class="title"><a href="https://x.example/{id}">{headline}</a> <span class="site">(x.example)</span></td></tr>'
                '<tr><td></td><td class="subtext"><span class="score">{count} points</span> by <a class="user" href="/u/{user}">{user}</a> <span class="age">{ago}</span></td></tr>',
                wrap='<table class="itemlist">{items}</table>',
                at="table.itemlist",
                records="tr.athing",
                members=".itemlist tr:not(.spacer)",
                fields={"title": ".title > a", "score": ".score", "user": ".user", "age": ".age"},
                between='<tr class="spacer" style="height:5px"></tr>',
                count=15,
            ),
        ),
        Frame.OLD,
    ),
    Style(
        "row-pairs-no-class",
        "Two rows for each entry without any class: title, then details.",
        (
            Listing(
                item="<tr><td colspan=3><b><a href='{id}.html'>{thing}</a></b></td></tr><tr><td>{firm}</td><td>{date}</td><td>${price}</td></tr>",
                wrap="<table width='90%'>{items}</table>",
                at="table[width='90%']",
                records="table[width='90%'] tr:nth-child(odd)",
                members="table[width='90%'] tr",
                fields={
                    "name": "td[colspan] a",
                    "firm": "tr:nth-child(even) td:nth-child(1)",
                    "price": "tr:nth-child(even) td:nth-child(3)",
                },
                count=11,
            ),
        ),
        Frame.SEMANTIC,
    ),
    Style(
        "table-with-blanks",
        "A table with empty cells and a row of totals in its foot.",
        (
            Listing(
                item="<tr><td>{iso}</td><td>{person}</td><td>[[0.6:{price}]]</td><td>[[0.5:{tag}]]</td></tr>",
                wrap="<table class=ledger><tr><th>Date<th>Customer<th>Amount<th>Note</tr>{items}<tfoot><tr><td>Total</td><td></td><td>9,124.00</td><td></td></tr></tfoot></table>",
                at="table.ledger",
                records="table.ledger tbody tr:has(td)",
                fields={
                    "Date": "tbody td:nth-child(1)",
                    "Customer": "tbody td:nth-child(2)",
                    "Amount": "tbody td:nth-child(3)",
                    "Note": "tbody td:nth-child(4)",
                },
                count=18,
            ),
        ),
        Frame.DIVS,
    ),
    Style(
        "two-tables",
        "Two tables of the same form below each other: two lists.",
        (
            Listing(
                item="<tr><td>{firm}</td><td>{n}</td><td>{count}</td></tr>",
                wrap="<h3>North</h3><table class=north><tr><th>Club</th><th>Place</th><th>Points</th></tr>{items}</table>",
                at="table.north",
                records=".north tr:has(td)",
                fields={"Club": ".north td:nth-child(1)", "Points": ".north td:nth-child(3)"},
                count=8,
            ),
            Listing(
                item="<tr><td>{firm}</td><td>{n}</td><td>{count}</td></tr>",
                wrap="<h3>South</h3><table class=south><tr><th>Club</th><th>Place</th><th>Points</th></tr>{items}</table>",
                at="table.south",
                records=".south tr:has(td)",
                fields={"Club": ".south td:nth-child(1)", "Points": ".south td:nth-child(3)"},
                count=8,
            ),
        ),
        Frame.BARE,
    ),
    Style(
        "row-headers",
        "Each row begins with a th that names its subject.",
        (
            Listing(
                item="<tr><th scope=row>{thing}</th><td>{version}</td><td>{iso}</td><td><a href='/get/{id}.zip'>Download</a></td></tr>",
                wrap="<table class='releases table'><caption>Releases</caption><thead><tr><th>Package</th><th>Version</th><th>Released</th><th>File</th></tr></thead><tbody>{items}</tbody></table>",
                at="table.releases",
                records=".releases tbody tr",
                fields={
                    "Package": "th[scope=row]",
                    "Version": ".releases td:nth-child(2)",
                    "Released": ".releases td:nth-child(3)",
                },
                count=13,
            ),
        ),
        Frame.SEMANTIC,
    ),
    Style(
        "nested-layout-tables",
        "Results as one table each, inside a layout table.",
        (
            Listing(
                item="<table class=res width=100%><tr><td rowspan=2><img src={id}.jpg></td><td><font size=+1><a href={id}.html>{headline}</a></font></td></tr><tr><td>{short} <i>{date}</i></td></tr></table>",
                wrap="<div class=hits>{items}</div>",
                at="div.hits",
                records=".hits > table",
                fields={"title": ".res a", "date": ".res i"},
                between="<br>",
                count=10,
            ),
        ),
        Frame.OLD,
        pages=3,
    ),
    Style(
        "div-table",
        "A table of divs with a header row of the same class.",
        (
            Listing(
                item='<div class="tr" role="row"><div class="td" role="cell">{user}</div><div class="td" role="cell">{mail}</div><div class="td" role="cell">{us}</div><div class="td" role="cell">{rate}</div></div>',
                wrap='<div class="table" role="table"><div class="thead" role="rowgroup"><div class="tr" role="row"><div class="th" role="columnheader">User</div><div class="th" role="columnheader">Mail</div><div class="th" role="columnheader">Joined</div><div class="th" role="columnheader">Score</div></div></div><div class="tbody" role="rowgroup">{items}</div></div>',
                at=".tbody",
                records=".tbody > .tr",
                fields={
                    "User": ".tbody .td:nth-child(1)",
                    "Mail": ".tbody .td:nth-child(2)",
                    "Joined": ".tbody .td:nth-child(3)",
                },
                count=17,
            ),
        ),
        Frame.UTILITY,
    ),
    Style(
        "adverts-in-table",
        "Forum threads in a table; sponsored rows between them.",
        (
            Listing(
                item='<tr class="thread"><td class="icon"><img src="/read.png"></td><td class="topic"><a href="/t/{id}">{headline}</a><div class="starter">{user}</div></td><td class="replies">{count}</td><td class="last">{date} <a href="/u/{user}">{person}</a></td></tr>',
                wrap='<table class="forum"><tbody>{items}</tbody></table>',
                at="table.forum",
                records="tr.thread",
                fields={"topic": ".topic > a", "starter": ".starter", "replies": ".replies"},
                advert='<tr class="sponsored"><td colspan="4"><a href="https://ads.example/{id}">Sponsored: buy a {thing}</a></td></tr>',
                every=6,
                count=20,
            ),
        ),
        Frame.DIVS,
        pages=2,
    ),
    Style(
        "price-list",
        "A price list with a heading row before each group.",
        (
            Listing(
                item="<tr><td>{thing}</td><td>{size} cm</td><td class=num>{comma} €</td></tr>",
                wrap="<table class=prices>{items}</table>",
                at="table.prices",
                records=".prices tr:not(.group)",
                fields={
                    "name": ".prices td:nth-child(1)",
                    "size": ".prices td:nth-child(2)",
                    "price": ".num",
                },
                head="<tr class=group><th colspan=3>Indoor</th></tr>",
                advert="<tr class=group><th colspan=3>More {tag}</th></tr>",
                every=6,
                count=17,
            ),
        ),
        Frame.BARE,
    ),
]
