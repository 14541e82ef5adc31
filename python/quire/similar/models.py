"""A model of templates: find the template of a later page, and check whether it still fits.

A model stores the result of a grouping in little space. For every group it has the representative
(as a digest, so that differences can be explained) and the bags of up to eight exemplars, chosen
across the range of lengths from the shortest page to the longest. A page *fits* a template if it
matches one of the exemplars, by the same rule as in the grouping. When you monitor a site, a page
that does not fit, or no longer fits, is worth a look.

``update`` adds later pages. Pages that fit are counted. Pages that do not fit are grouped with each
other and with earlier pages that did not fit, and become new templates.

The file is JSON: ``format``, ``version``, ``on``, ``threshold``, ``groups`` (``size``, ``fit``,
``representative`` with ``name`` and ``digest``, ``exemplars``) and ``loose`` (``name``,
``digest``). Digests are compressed and bags are packed (``docs/format.md``), both in base64. A
model is untrusted input like a page, and is checked like one.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from quire import _core, sources
from quire.atomic import write_atomic
from quire.digest import encode, from_bytes
from quire.digest.page import Digest
from quire.errors import ModelError, QuireError
from quire.similar.groups import (
    Templates,
    check_threshold,
    exemplars_of,
    frame_of,
    likenesses,
    matching,
    packed_bags,
    sizes_of,
    templates,
)
from quire.similar.likeness import Likeness
from quire.similar.measures import BAG_MEASURES, BagMeasure, similarity
from quire.sources import MOST_BYTES
from quire.sources.reading import NameReader

if TYPE_CHECKING:
    from quire.similar.crawl.templates import CrawlTemplates

FORMAT = "quire template model"
VERSION = 1

#: Maximum number of recent pages without a template to keep; later pages may join them.
MOST_LOOSE = 64


@dataclass(frozen=True, slots=True)
class Fit:
    """How a page fits the templates of a model.

    Attributes:
        fits: whether it matches an exemplar of a template.
        group: the number of that template, or of the nearest one; None if the model is empty.
        contained: how much of the smaller of page and exemplar is in the larger one.
        resemblance: the share of all their parts that both have.
        representative: the name of the page that represents the template.
    """

    fits: bool
    group: int | None
    contained: float
    resemblance: float
    representative: str | None


@dataclass(frozen=True, slots=True, eq=False)
class ModelGroup:
    """A template of a model.

    Attributes:
        number: its number, from 0.
        size: the number of pages found with this template.
        fit: how well its median page fits it; see ``Templates.fits``.
        representative: the name of the page that represents it.
        page: that page.
        exemplars: packed bags of pages of all lengths; the first is that of the representative.
    """

    number: int
    size: int
    fit: float
    representative: str
    page: Digest
    exemplars: tuple[bytes, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TemplateModel:
    """Templates to compare later pages with.

    >>> import quire
    >>> rows = [f"<h1>Fish</h1><table>{'<tr><td>Cod<td>9' * i}</table>" for i in range(3, 9)]
    >>> pages = [(f"{i}.html", quire.encode(row.encode())) for i, row in enumerate(rows)]
    >>> model = TemplateModel.of_pages(pages)
    >>> same = quire.encode(b"<h1>Meat</h1><table><tr><td>Ham<td>7<tr><td>Pie<td>5</table>")
    >>> model.fit(same).fits
    True
    >>> model.fit(quire.encode(b"<article><h2>We have moved</h2><p>See you there</article>")).fits
    False

    Attributes:
        on: the measure.
        threshold: minimum share of the smaller of two pages that is in the larger one.
        groups: the templates.
        loose: pages without a template, with their names.
    """

    on: BagMeasure
    threshold: float
    groups: tuple[ModelGroup, ...]
    loose: tuple[tuple[str, Digest], ...] = ()

    @classmethod
    def of(
        cls,
        crawl: CrawlTemplates,
        *,
        most_bytes: int = MOST_BYTES,
        read_one: NameReader = sources.read_one,
    ) -> Self:
        """Make the model of a grouped crawl; reads the pages that stand for groups again.

        Args:
            crawl: what ``crawl_templates`` found.
            most_bytes: as it was for ``crawl_templates``.
            read_one: reads a page by its name; ``quire.captures.read_one`` also reads archives.

        Raises:
            SourceNotFound: a page no longer exists.
        """

        def page(number: int) -> Digest:
            capture = read_one(crawl.name(number), most_bytes=most_bytes)
            return encode(capture.body, content_type=capture.content_type)

        return cls._of(crawl.templates, crawl.name, page, crawl.pages["nodes"].to_numpy().tolist())

    @classmethod
    def of_pages(cls, pages: Iterable[tuple[str, Digest]], found: Templates | None = None) -> Self:
        """Make the model of named pages.

        Args:
            pages: names and pages.
            found: the templates of the pages, if you have them already (default: find them).
        """
        named = list(pages)
        found = found or templates(page for _, page in named)
        sizes = [page.n for _, page in named]
        return cls._of(found, lambda i: named[i][0], lambda i: named[i][1], sizes)

    @classmethod
    def _of(
        cls,
        found: Templates,
        name: Callable[[int], str],
        page: Callable[[int], Digest],
        sizes: Sequence[int],
    ) -> Self:
        groups = []
        for group in found.groups:
            by_size = sorted(group.pages.tolist(), key=lambda i: (sizes[i], i))
            digests = [page(i) for i in exemplars_of(group.representative, by_size)]
            bags = _core.Bags.of_pages([digest._native for digest in digests], found.on)
            packed = dict.fromkeys(bags.packed(at) for at in range(len(bags)))
            groups.append(
                ModelGroup(
                    number=group.number,
                    size=group.size,
                    fit=group.fit,
                    representative=name(group.representative),
                    page=digests[0],
                    exemplars=tuple(packed),
                )
            )
        loose = tuple((name(int(i)), page(int(i))) for i in found.singles[-MOST_LOOSE:])
        return cls(on=found.on, threshold=found.threshold, groups=tuple(groups), loose=loose)

    def fit(self, page: Digest) -> Fit:
        """Find the template that a page fits, or the nearest one."""
        return self._fits([page])[0]

    def explain(self, page: Digest) -> Likeness | None:
        """Explain how a page differs from the representative of the nearest template.

        Returns None if the model has no templates.
        """
        group = self.fit(page).group
        if group is None:
            return None
        return similarity(self.groups[group].page, page, self.on, explain=True)

    def update(self, pages: Iterable[tuple[str, Digest]]) -> TemplateModel:
        """Add later pages: count the ones that fit, find new templates among the others.

        Existing templates keep their numbers; new ones follow.

        Args:
            pages: names and pages.
        """
        named = list(pages)
        sizes = [group.size for group in self.groups]
        outside = list(self.loose)
        for (name, page), fit in zip(named, self._fits([page for _, page in named]), strict=True):
            if fit.fits and fit.group is not None:
                sizes[fit.group] += 1
            else:
                outside.append((name, page))
        found = templates((page for _, page in outside), on=self.on, threshold=self.threshold)
        new = TemplateModel.of_pages(outside, found)
        groups = [replace(group, size=size) for group, size in zip(self.groups, sizes, strict=True)]
        groups += [replace(group, number=len(groups) + group.number) for group in new.groups]
        return replace(self, groups=tuple(groups), loose=new.loose)

    def _fits(self, pages: list[Digest]) -> list[Fit]:
        exemplars = [bag for group in self.groups for bag in group.exemplars]
        if not exemplars:
            return [Fit(False, None, 0.0, 0.0, None) for _ in pages]  # noqa: FBT003 - in order
        owner = np.repeat(
            np.arange(len(self.groups)), [len(group.exemplars) for group in self.groups]
        )
        known = packed_bags(exemplars)
        places = np.arange(len(exemplars), dtype=np.uint32)
        sizes = sizes_of(known)
        # Exemplars are bags without pages; pages of one template have about the same frame.
        frames = np.array([frame_of(group.page, self.on) for group in self.groups], np.uint32)
        frames = np.minimum(frames[owner], sizes)
        found = []
        for page in pages:
            bags = _core.Bags.of_pages([page._native], self.on)
            contained, resemblance = likenesses(np.zeros_like(places), bags, places, known)
            ours = (
                np.full_like(sizes, sizes_of(bags)[0]),
                np.full_like(sizes, frame_of(page, self.on)),
            )
            holds = matching(
                contained, resemblance, (ours[0], sizes), (ours[1], frames), self.threshold
            )
            # Matches come first, by `contained`; without a match, the largest resemblance wins.
            first = np.where(holds, contained, resemblance)
            best = int(np.lexsort((-places.astype(np.int64), resemblance, first, holds))[-1])
            group = self.groups[int(owner[best])]
            found.append(
                Fit(
                    fits=bool(holds[best]),
                    group=group.number,
                    contained=float(contained[best]),
                    resemblance=float(resemblance[best]),
                    representative=group.representative,
                )
            )
        return found

    def to_json(self) -> str:
        """Return the model as JSON."""
        return json.dumps(
            {
                "format": FORMAT,
                "version": VERSION,
                "on": self.on,
                "threshold": self.threshold,
                "groups": [
                    {
                        "size": group.size,
                        "fit": round(group.fit, 6),
                        "representative": _stored(group.representative, group.page),
                        "exemplars": [_base64(bag) for bag in group.exemplars],
                    }
                    for group in self.groups
                ],
                "loose": [_stored(name, page) for name, page in self.loose],
            },
            indent=1,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file atomically."""
        write_atomic(path, self.to_json().encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model from a file.

        Raises:
            ModelError: the file is not a model, or is damaged.
            OSError: the file cannot be read.
        """
        try:
            return cls.from_json(Path(path).read_bytes())
        except ModelError as error:
            raise ModelError(f"{os.fspath(path)}: {error}") from None

    @classmethod
    def from_json(cls, data: str | bytes) -> Self:
        """Read a model from JSON.

        Raises:
            ModelError: the data is not a model, or is damaged.
        """
        try:
            stored = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise ModelError(f"not a model of templates: not valid JSON: {error}") from None
        if not isinstance(stored, dict) or stored.get("format") != FORMAT:
            raise ModelError(f"not a model of templates: its format is not {FORMAT!r}")
        if stored.get("version") != VERSION:
            raise ModelError(
                f"model version {stored.get('version')!r}, but this quire reads {VERSION}"
            )
        try:
            on = _measure(stored["on"])
            threshold = float(stored["threshold"])
            check_threshold(threshold)
            groups = tuple(_group(number, group) for number, group in enumerate(stored["groups"]))
            loose = tuple(_page(page) for page in stored["loose"])
        except ModelError:
            raise
        except (KeyError, TypeError, ValueError, QuireError) as error:
            raise ModelError(f"damaged model of templates: {error!r}") from None
        return cls(on=on, threshold=threshold, groups=groups, loose=loose)

    def __repr__(self) -> str:
        pages = sum(group.size for group in self.groups)
        return f"<TemplateModel: {len(self.groups):,} templates of {pages:,} pages, on {self.on}>"


def _measure(name: object) -> BagMeasure:
    for known in BAG_MEASURES:
        if name == known:
            return known
    raise ModelError(f"unknown measure {name!r}; expected {', '.join(BAG_MEASURES)}")


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _unbase64(text: object) -> bytes:
    if not isinstance(text, str):
        raise ModelError(f"a digest or bag must be a base64 string, found {type(text).__name__}")
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ModelError(f"a digest or bag is not valid base64: {error}") from None


def _stored(name: str, page: Digest) -> dict[str, str]:
    return {"name": name, "digest": _base64(page.to_bytes(compress=True))}


def _page(stored: Mapping[str, Any]) -> tuple[str, Digest]:
    return str(stored["name"]), from_bytes(_unbase64(stored["digest"]))


def _group(number: int, stored: Mapping[str, Any]) -> ModelGroup:
    name, page = _page(stored["representative"])
    exemplars = tuple(_unbase64(bag) for bag in stored["exemplars"])
    packed_bags(exemplars)  # raises if they are damaged
    size = stored["size"]
    if not isinstance(size, int) or size < 1 or not exemplars:
        raise ModelError(f"group {number}: expected pages and exemplars, found {size!r} pages")
    return ModelGroup(
        number=number,
        size=size,
        fit=float(stored["fit"]),
        representative=name,
        page=page,
        exemplars=exemplars,
    )
