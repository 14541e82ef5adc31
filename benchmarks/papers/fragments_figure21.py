"""Figure 21 of paper 004: nodes of a page before and after pruning.

The paper removes formatting tags alone: 14, 18 and 20.5 % of the nodes of three pages. Ours also have no nodes without text and no chains;
the table tells one from the other.
"""

import statistics
from itertools import pairwise

import numpy as np

import quire
from benchmarks.context import Context
from benchmarks.corpora import html_pages
from benchmarks.plot import Series, line_chart
from benchmarks.report import Goal, Report, Right, Table, every
from quire import Digest
from quire.fragments import FORMATTING, INLINE, AfTree

CORPORA = (
    *("pages-trafilatura", "pages-readability", "templates-types", "templates-docs"),
    *("templates-helsingborg", "templates-swde", "versions-news", "versions-terms"),
)
MOST = 300
#: Pages of the paper: nodes before and after.
PAPERS = (("IBM", 478, 409), ("Internet News", 1_416, 1_152), ("Slashdot", 1_750, 1_390))


def run(context: Context) -> Report:
    """Fill figure 21."""
    report = Report(
        title="Paper 004, figure 21: nodes in DOM and AF trees",
        inputs=", ".join(context.corpora or CORPORA) + f"; at most {MOST} pages of each",
        method="nodes of a page and of its AF tree, chains merged; shares are of all nodes of a corpus; formatting tags and nodes without text are counted again from the columns of the digest, and compared page by page",
    )
    rows, drawn = [], []
    added_up = total = 0
    for corpus in context.corpora or CORPORA:
        pages = [
            quire.encode(page.read(), kind="html")
            for page in html_pages((corpus,), context.pick(MOST, 20))
        ]
        trees = [AfTree.of(page) for page in pages]
        inline = sum(AfTree.of(page, formatting=INLINE).n for page in pages)
        nodes = sum(page.n for page in pages)
        gone = [tree.pruned for tree in trees]
        columns = [
            sum(getattr(one, name) for one in gone)
            for name in ("formatting", "joined", "blank", "chained")
        ]
        added_up += sum(
            is_accounted_for(page, tree) for page, tree in zip(pages, trees, strict=True)
        )
        total += len(pages)
        left = sum(tree.n for tree in trees)
        rows.append(
            [
                corpus,
                f"{len(pages):,}",
                f"{statistics.median(page.n for page in pages):,.0f}",
                f"{statistics.median(tree.n for tree in trees):,.0f}",
                *(f"{column / nodes:.1%}" for column in columns),
                f"{left / nodes:.1%}",
                f"{inline / nodes:.1%}",
            ]
        )
        drawn += [
            (page.n, page.n - one.formatting - one.joined, tree.n)
            for page, tree, one in zip(pages, trees, gone, strict=True)
        ]
        context.say(corpus)
    headings = [
        *("corpus", "pages", "nodes, median", "AF nodes, median", "formatting", "texts joined"),
        *("without text", "chains", "left", "left, all inline tags removed"),
    ]
    report.tables.append(Table(headings, rows))
    report.tables.append(
        Table(
            ["page of the paper", "nodes", "after pruning", "removed"],
            [[name, f"{n:,}", f"{m:,}", f"{1 - m / n:.1%}"] for name, n, m in PAPERS],
        )
    )
    drawn.sort()
    by_size = _by_size(drawn)
    report.tables.append(by_size)
    step = max(len(drawn) // 40, 1)
    chosen = drawn[step // 2 :: step]
    report.figures["nodes"] = line_chart(
        "Paper 004, figure 21: nodes before and after",
        [
            Series(name, [row[0] for row in chosen], [row[which] for row in chosen])
            for which, name in enumerate(("DOM", "formatting removed", "AF tree"))
        ],
        "nodes of the page",
        "nodes",
        log_x=True,
        log_y=True,
    )
    report.right = [
        Right(
            "quire",
            added_up,
            total,
            "pages with as many formatting tags, nodes without text and nodes left as counted from the columns",
        )
    ]
    report.goals = [every("nodes accounted for", added_up, total)]
    for column, what in ((2, "formatting tags"), (3, "all removed nodes")):
        shares = [row[column] for row in by_size.rows]
        numbers = [float(share.removesuffix("%")) for share in shares]
        report.goals.append(
            Goal(
                f"claim: the share of removed nodes grows with the page, {what}",
                "with every quarter of the pages, smaller ones first",
                ", ".join(shares),
                met=all(one < other for one, other in pairwise(numbers)),
            )
        )
    report.notes = [
        "the paper's pages are from 2002, when most texts were inside a font tag; today style sheets do that, so there is little to remove",
        "in the paper the share of removed nodes grows with the size of its three pages",
        "most nodes have no text: white space between tags, images, empty elements, comments",
    ]
    return report


def is_accounted_for(page: Digest, tree: AfTree) -> bool:
    """Tell whether the nodes left out of an AF tree are those counted from the columns of the page.

    The kernel computes its nodes without text as a difference, so adding up its own counts would
    prove nothing. What is left after all counts must be the nodes of the tree.
    """
    formatting, blank = removed_nodes(page)
    left = page.n - formatting - blank - tree.pruned.joined - tree.pruned.chained
    return (tree.pruned.formatting, tree.pruned.blank, tree.n) == (formatting, blank, left)


def removed_nodes(page: Digest) -> tuple[int, int]:
    """Count the formatting tags of a page, and its other nodes without any text in them."""
    tags = [str(name) for name in page.tags]
    of_tag = np.array([name == "#text" for name in tags])[page.tag]
    full = np.zeros(page.n, np.int64)
    for node in np.flatnonzero(of_tag).tolist():
        full[node] = bool(page.text(node).strip(" \t\n\f\r"))
    before = np.concatenate([[0], np.cumsum(full)])
    nodes = np.arange(page.n)
    has_text = before[nodes + page.size] > before[nodes]
    has_text[0] = True  # the document is always a node
    formatting = np.array([name in FORMATTING for name in page.tag_names])[page.tag]
    return int(formatting.sum()), int((~has_text & ~formatting).sum())


def _by_size(drawn: list[tuple[int, int, int]]) -> Table:
    """What is removed from a quarter of the pages, smaller ones first: the paper's share grows with the page."""
    rows = []
    for quarter in range(4):
        some = drawn[quarter * len(drawn) // 4 : (quarter + 1) * len(drawn) // 4]
        nodes = sum(row[0] for row in some)
        rows.append(
            [
                f"{some[0][0]:,} to {some[-1][0]:,}",
                f"{len(some):,}",
                f"{1 - sum(row[1] for row in some) / nodes:.1%}",
                f"{1 - sum(row[2] for row in some) / nodes:.1%}",
            ]
        )
    return Table(["nodes", "pages", "removed: formatting, texts joined", "removed: all"], rows)
