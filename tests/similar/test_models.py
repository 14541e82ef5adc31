"""Models of templates: later pages, drift, and files that are not to be trusted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import quire
from quire.errors import ModelError
from quire.similar import TemplateModel
from quire.similar.crawl.templates import crawl_templates
from tests.similar.test_templates import page, sites


def named(pages: list[quire.Digest], prefix: str = "p") -> list[tuple[str, quire.Digest]]:
    return [(f"{prefix}{i}", one) for i, one in enumerate(pages)]


@pytest.fixture(scope="module")
def model() -> TemplateModel:
    pages, _ = sites([20, 12, 1])
    return TemplateModel.of_pages(named(pages))


def test_later_pages_of_a_template_fit_and_others_do_not(model: TemplateModel) -> None:
    for kind in (0, 1):
        for rows in (1, 5, 40, 59):
            fit = model.fit(quire.encode(page(kind, rows, odd=2)))
            assert (fit.fits, fit.group) == (True, kind)
            assert fit.contained >= model.threshold
    moved = model.fit(quire.encode(page(7, 20)))
    assert not moved.fits
    assert moved.group in {0, 1}, "the nearest is named all the same"
    assert moved.representative == model.groups[moved.group or 0].representative


def test_what_differs_is_explained(model: TemplateModel) -> None:
    found = model.explain(quire.encode(page(0, 20, odd=1)))

    assert found is not None
    assert any("odd1-0" in part.text for part in found.parts)


def test_a_stored_model_answers_as_before(model: TemplateModel, tmp_path: Path) -> None:
    file = tmp_path / "model.json"
    model.save(file)
    again = TemplateModel.load(file)

    assert again.to_json() == model.to_json()
    for kind in (0, 1, 2, 7):
        one = quire.encode(page(kind, 9))
        assert again.fit(one) == model.fit(one)
    assert [path.name for path in tmp_path.iterdir()] == ["model.json"]


def test_later_pages_are_counted_and_new_templates_found(model: TemplateModel) -> None:
    later = [page(0, 7), page(0, 8), page(1, 9)] + [page(5, rows) for rows in (3, 9, 27)]

    updated = model.update(named([quire.encode(body) for body in later], "later"))

    assert [group.size for group in updated.groups] == [22, 13, 3]
    assert [group.number for group in updated.groups] == [0, 1, 2]
    assert updated.groups[2].representative.startswith("later")
    assert updated.fit(quire.encode(page(5, 12))).group == 2
    # A page that was alone finds its like.
    again = updated.update([("like", quire.encode(page(2, 14)))])
    assert len(updated.loose) == 1
    assert [group.size for group in again.groups] == [22, 13, 3, 2]
    assert again.loose == ()


def test_a_model_without_templates_fits_nothing() -> None:
    empty = TemplateModel.of_pages([])

    fit = empty.fit(quire.encode(b"<p>"))

    assert (fit.fits, fit.group, fit.representative) == (False, None, None)
    assert empty.explain(quire.encode(b"<p>")) is None
    assert TemplateModel.from_json(empty.to_json()).groups == ()


def test_the_model_of_a_crawl_reads_its_pages_again(tmp_path: Path) -> None:
    paths = []
    for i in range(8):
        paths.append(str(tmp_path / f"{i}.html"))
        Path(paths[-1]).write_bytes(page(1, 3 * i + 1))

    model = TemplateModel.of(crawl_templates(paths))

    assert [group.size for group in model.groups] == [8]
    assert model.groups[0].representative in paths
    assert model.fit(quire.encode(page(1, 100))).fits


def changed(stored: str, change: Callable[[dict[str, Any]], object]) -> str:
    data = json.loads(stored)
    change(data)
    return json.dumps(data)


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.update(format="other"),
        lambda data: data.update(version=2),
        lambda data: data.update(on="kang"),
        lambda data: data.update(threshold=3),
        lambda data: data.update(threshold="much"),
        lambda data: data.update(groups=7),
        lambda data: data.pop("loose"),
        lambda data: data["groups"][0].update(size=0),
        lambda data: data["groups"][0].update(size="many"),
        lambda data: data["groups"][0].update(exemplars=[]),
        lambda data: data["groups"][0].update(exemplars=["AAAA"]),
        lambda data: data["groups"][0].update(exemplars=["???"]),
        lambda data: data["groups"][0].update(exemplars=[5]),
        lambda data: data["groups"][0]["representative"].update(digest="AAAA"),
        lambda data: data["loose"].append(None),
    ],
)
def test_a_damaged_model_is_refused(
    model: TemplateModel, change: Callable[[dict[str, Any]], object]
) -> None:
    with pytest.raises(ModelError):
        TemplateModel.from_json(changed(model.to_json(), change))


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_model_is_refused_with_its_name(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "model.json"
    file.write_bytes(data)

    with pytest.raises(ModelError, match=r"model\.json: "):
        TemplateModel.load(file)
