"""Groups of alike pages, against a grouping that compares all with all; and the same groups whatever the way."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quire
from quire.similar import Bag, TemplateModel, Templates, templates
from quire.similar.crawl.templates import crawl_templates
from quire.sources import find


def page(kind: int, rows: int, odd: int = 0) -> bytes:
    """A page of a site: a head and a foot of its own kind, and as many rows as there are things to tell."""
    head = "".join(
        f'<div class="h{kind}-{i}"><a class="n{kind}" href="/">x</a></div>' for i in range(8)
    )
    body = "".join(f'<tr class="r{kind}"><td>{i}<td class="p{kind}">9</tr>' for i in range(rows))
    own = "".join(f'<aside class="odd{odd}-{i}"></aside>' for i in range(odd))
    return f"<body>{head}<table>{body}</table>{own}<footer class=f{kind}><p>end".encode()


def sites(counts: Sequence[int], seed: int = 0) -> tuple[list[quire.Digest], list[int]]:
    """Pages of several sites in an order by chance, and the site of each."""
    draw = random.Random(seed)
    labels = [kind for kind, count in enumerate(counts) for _ in range(count)]
    draw.shuffle(labels)
    return [
        quire.encode(page(kind, draw.randrange(1, 60), draw.randrange(3))) for kind in labels
    ], labels


def sets(found: Templates) -> set[frozenset[int]]:
    return {frozenset(group.pages.tolist()) for group in found.groups}


def partition(labels: Sequence[int]) -> set[frozenset[int]]:
    return {
        frozenset(i for i, label in enumerate(labels) if label == kind)
        for kind in set(labels)
        if labels.count(kind) > 1
    }


def test_pages_of_one_site_are_one_group_however_many_rows_they_have() -> None:
    pages, labels = sites([30, 20, 9, 1])

    found = templates(pages)

    assert sets(found) == partition(labels)
    assert [group.size for group in found.groups] == [30, 20, 9]
    assert [labels[i] for i in found.singles] == [3]
    assert found.coverage == 59 / 60
    for group in found.groups:
        assert group.representative in group.pages
        assert (found.group_of[group.pages] == group.number).all()


def test_groups_are_those_of_comparing_all_with_all() -> None:
    """With links between all pages that hold, the groups are what is connected."""
    pages, labels = sites([12, 11, 7, 6, 2, 1, 1], seed=4)
    bags = [Bag.of(one, "structure+class") for one in pages]
    connected = list(range(len(pages)))
    for i, a in enumerate(bags):
        for j, b in enumerate(bags[:i]):
            alike = a.similarity(b)
            shared = alike * (a.total + b.total) / (1 + alike)
            if shared / min(a.total, b.total) >= 0.8 and alike >= 0.1:
                old, new = connected[i], connected[j]
                connected = [new if label == old else label for label in connected]

    assert sets(templates(pages)) == partition(connected) == partition(labels)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=5), st.randoms(use_true_random=False))
@settings(max_examples=25)
def test_the_order_of_pages_is_no_matter(counts: list[int], draw: random.Random) -> None:
    pages, _ = sites(counts, seed=7)
    order = list(range(len(pages)))
    draw.shuffle(order)

    straight = sets(templates(pages))
    mixed = sets(templates([pages[i] for i in order]))

    assert {frozenset(order[i] for i in group) for group in mixed} == straight


def test_few_pages_and_pages_without_anything_are_no_trouble() -> None:
    assert templates([]).groups == ()
    assert templates([]).coverage == 1.0
    assert templates([quire.encode(b"<p>")]).singles.tolist() == [0]
    alike = templates([quire.encode(b"", kind="text")] * 3 + [quire.encode(b"<p>")])
    assert len(alike.group_of) == 4


def test_an_outlier_is_named_worst_first() -> None:
    pages = [quire.encode(page(1, 30)) for _ in range(12)]
    pages += [quire.encode(page(1, 30, odd=40)), quire.encode(page(1, 30, odd=70))]

    (group,) = templates(pages).groups

    assert group.outliers.tolist() == [13, 12]


STUBS = [
    b"<!doctype html><title>Moved</title><meta http-equiv=refresh content='0;url=/new'>",
    b"<title>301 Moved</title><h1>Moved</h1><p>The document has moved <a href=/new>here</a>.</p>",
    b"<title>302 Found</title><center><h1>302 Found</h1></center><hr><center>nginx</center>",
    b"<meta charset=utf-8><script>location='/new'</script><p>Redirecting to <a href=/new>new</a>",
]


def plain_page(rows: int) -> bytes:
    """A page of an old site: no classes, little around the text, nothing that a stub does not have."""
    text = "".join(f"<p>{i} <a href=/{i}>more</a></p>" for i in range(rows))
    return f"<title>Notes</title><meta charset=utf-8><h1>Notes</h1>{text}<hr>".encode()


@pytest.mark.parametrize("stub", STUBS)
@pytest.mark.parametrize("count", [3, 30])
def test_redirects_are_no_pages_of_the_template(stub: bytes, count: int) -> None:
    real = [quire.encode(plain_page(rows)) for rows in range(6, 40)]
    stubs = [quire.encode(stub.replace(b"new", b"page%d" % i)) for i in range(count)]

    found = templates([*real, *stubs])

    expected = {frozenset(range(len(real))), frozenset(range(len(real), len(real) + count))}
    assert sets(found) == expected
    model = TemplateModel.of_pages((str(i), page) for i, page in enumerate(real))
    assert all(model.fit(page).fits for page in real)
    assert not model.fit(stubs[0]).fits


def test_long_and_short_pages_of_one_template_fit_it() -> None:
    """Fit is judged as pages are grouped; resemblance would be 0.04."""
    pages = [quire.encode(page(1, rows)) for rows in (1, 2, 5, 10, 25, 60, 150, 400, 1_000)]

    (group,) = (found := templates(pages)).groups

    assert group.size == 9
    assert group.fit > 0.9
    assert found.fits.min() > 0.9
    assert found.resemblances.min() < 0.1
    assert found.loose == ()


def test_a_threshold_that_is_no_share_is_refused() -> None:
    with pytest.raises(ValueError, match=r"threshold is 1\.5"):
        templates([], threshold=1.5)
    with pytest.raises(ValueError, match='measure "kang"'):
        templates([quire.encode(b"<p>")], on="kang")  # type: ignore[arg-type]


def write(folder: Path, pages: list[tuple[str, bytes]]) -> list[str]:
    for name, body in pages:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
    return find([str(folder)])


def test_a_crawl_has_the_groups_of_its_pages(tmp_path: Path) -> None:
    draw = random.Random(3)
    pages = [
        (f"site{kind}/{i:03}.html", page(kind, draw.randrange(1, 50)))
        for kind in range(5)
        for i in range(3 + 6 * kind)
    ]
    pages.append(("site9/alone.html", page(9, 12)))

    found = crawl_templates(write(tmp_path, pages))

    table = found.table().to_pylist()
    assert [row["name"] for row in table] == sorted(str(tmp_path / name) for name, _ in pages)
    by_group: dict[int, set[str]] = {}
    for row in table:
        by_group.setdefault(row["group"], set()).add(Path(row["name"]).parent.name)
    assert by_group == {
        0: {"site4"},
        1: {"site3"},
        2: {"site2"},
        3: {"site1"},
        4: {"site0"},
        -1: {"site9"},
    }
    assert sum(row["role"] == "representative" for row in table) == 5
    assert [row["role"] for row in table if row["group"] == -1] == ["single"]
    assert found.troubles == ()


def test_a_crawl_and_a_list_of_pages_have_the_same_groups(
    corpus_files: Callable[[str], list[Path]],
) -> None:
    files = [str(path) for path in corpus_files("templates-types")]

    crawl = crawl_templates(files).templates
    listed = templates(quire.encode(Path(path).read_bytes()) for path in sorted(files))

    assert sets(crawl) == sets(listed)
    assert np.array_equal(crawl.group_of, listed.group_of)
    assert len(crawl.groups) == 5


def test_what_cannot_be_read_is_named_and_the_rest_is_grouped(tmp_path: Path) -> None:
    pages = [(f"{i}.html", page(1, i + 3)) for i in range(6)]
    paths = write(
        tmp_path,
        [
            *pages,
            ("empty.html", b""),
            ("long.html", b"x" * 50_000),
            ("bad.xml", b"<?xml version='1.0'?><a>"),
        ],
    )
    paths.append(str(tmp_path / "gone.html"))
    paths.append(str(tmp_path / os.fsdecode(b"\xff.html")))

    found = crawl_templates(paths, most_bytes=20_000)

    assert [group.size for group in found.templates.groups] == [6]
    reasons = {Path(trouble.name).name: trouble.reason for trouble in found.troubles}
    assert set(reasons) == {"empty.html", "long.html", "bad.xml", "gone.html", "\\udcff.html"}
    assert reasons["\\udcff.html"] == "its name is not UTF-8, and cannot be handed to a task"
    assert "0 bytes" in reasons["empty.html"]
    assert "50000 bytes" in reasons["long.html"]
    assert "not well-formed" in reasons["bad.xml"]


def test_the_folder_for_the_work_holds_it_and_is_not_used_twice(tmp_path: Path) -> None:
    paths = write(tmp_path / "pages", [(f"{i}.html", page(1, i)) for i in range(4)])
    work = tmp_path / "work"

    crawl_templates(paths, work=str(work))

    assert list((work / "pages").glob("*.parquet"))
    with pytest.raises(FileExistsError, match="work"):
        crawl_templates(paths, work=str(work))
