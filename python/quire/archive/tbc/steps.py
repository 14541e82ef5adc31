"""The steps of TBC over a crawl, as functions of record batches that any engine can run.

Each is pure and deterministic. A page is identified by a 64-bit hash of its name. Chance is a
number as well: the *ticket* of a page, a mixture of its hash and the seed. Pages are drawn in the
order of their tickets, so every engine draws the same ones, wherever they are.

Columns:

| table | columns |
| --- | --- |
| pages | name, page (hash of the name), bytes, sketch, body, trouble |
| candidates | ticket, page, sketch: pages that may become templates |
| left | page, sketch, template: without a sketch once a page has joined a template |
| members | page, template |
| references | page, body |
| stored | name, page, bytes, reference (none: stored whole), plain (length before packing), frame, packed (length of the frame) |

A row of ``pages`` is a page or a trouble: then only name and trouble are set, and page is 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quire import _core
from quire.archive.tbc.pages import Packing, pack
from quire.digest.files import encode
from quire.errors import MissingExtra, QuireError
from quire.similar.sampling import token_sketches
from quire.sources import Capture, Trouble
from quire.sources.reading import PathReader

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError:
    raise MissingExtra("pyarrow is not installed", extra="archive") from None

from quire.engines.arrow import MOST_ROWS, as_text, in_batches, paths_of, schema_of
from quire.engines.tables import read_groups, read_table
from quire.similar.crawl.steps import page_number

PAGES = schema_of(
    name=pa.string(),
    page=pa.uint64(),
    bytes=pa.int64(),
    sketch=pa.binary(),
    body=pa.large_binary(),
    trouble=pa.string(),
)
CANDIDATES = schema_of(ticket=pa.uint64(), page=pa.uint64(), sketch=pa.binary())
LEFT = schema_of(page=pa.uint64(), sketch=pa.binary(), template=pa.uint64())
MEMBERS = schema_of(page=pa.uint64(), template=pa.uint64())
REFERENCES = schema_of(page=pa.uint64(), body=pa.large_binary())
STORED = schema_of(
    name=pa.string(),
    page=pa.uint64(),
    bytes=pa.int64(),
    reference=pa.uint64(),
    plain=pa.int64(),
    frame=pa.large_binary(),
    packed=pa.int64(),
)

#: References that a task keeps cut into tokens.
_MOST_CUT = 256

#: Templates as they travel to tasks: their hashes and their sketches, as bytes.
Templates = tuple[bytes, bytes]


def sketch_pages(
    paths: pa.RecordBatch, *, m: int, w: int, most_bytes: int, reader: PathReader
) -> Iterator[pa.RecordBatch]:
    """Turn paths into rows of ``pages``."""
    rows = (
        _page_row(found, m, w) if isinstance(found, Capture) else _trouble_row(found)
        for path in paths_of(paths)
        for found in reader(path, most_bytes=most_bytes)
    )
    yield from in_batches(rows, PAGES, heavy="body")


def _page_row(capture: Capture, m: int, w: int) -> dict[str, Any]:
    name = as_text(capture.name)
    try:
        page = encode(capture.body, content_type=capture.content_type)
    except (QuireError, ValueError) as error:
        return _trouble_row(Trouble(name, str(error)))
    return {
        "name": name,
        "page": page_number(name),
        "bytes": len(capture.body),
        "sketch": token_sketches([page], m=m, w=w).tobytes(),
        "body": capture.body,
    }


def _trouble_row(trouble: Trouble) -> dict[str, Any]:
    return {"name": as_text(trouble.name), "page": 0, "trouble": as_text(trouble.reason)}


def tickets(pages: NDArray[np.uint64], seed: int) -> NDArray[np.uint64]:
    """Return the ticket of every page: SplitMix64 of its hash and the seed.

    The mixture is one to one, so two pages never have the same ticket.

    >>> tickets(np.array([1, 2], np.uint64), 0).tolist()
    [10451216379200822465, 10905525725756348110]
    """
    z = pages + np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def candidates(
    paths: pa.RecordBatch,
    *,
    seed: int,
    after: int | None,
    most: int,
    drawn: bytes,
    m: int,
    sim: float,
) -> Iterator[pa.RecordBatch]:
    """Turn files of ``pages`` or ``left`` into rows of ``candidates``: the lowest tickets.

    Args:
        paths: the files.
        seed: random seed.
        after: only tickets above this one; None for all.
        most: number of rows for each portion of files.
        drawn: sketches of templates that are drawn already; pages like them are left out.
        m: values in a sketch.
        sim: similarity from which pages are alike.
    """
    best: list[tuple[int, int, bytes]] = []
    for path in paths_of(paths):
        pages, matrix = _sketched(path, m)
        ticket = tickets(pages, seed)
        fine = np.ones(len(pages), np.bool_) if after is None else ticket > np.uint64(after)
        for template in np.frombuffer(drawn, "<u4").reshape(-1, m):
            fine[fine] = _alike(template, matrix[fine]) < np.float32(sim)
        places = np.flatnonzero(fine)
        places = places[np.argsort(ticket[places])[:most]]
        best += [(int(ticket[at]), int(pages[at]), matrix[at].tobytes()) for at in places]
        best = sorted(best)[:most]
    columns = list(zip(*best, strict=True)) or [(), (), ()]
    yield pa.RecordBatch.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, CANDIDATES, strict=True)],
        schema=CANDIDATES,
    )


def join(
    paths: pa.RecordBatch, *, templates: Templates, m: int, sim: float
) -> Iterator[pa.RecordBatch]:
    """Turn files of ``pages`` or ``left`` into ``left``: pages join the first template like them.

    Templates, and pages that joined one before, are left out.
    """
    ids = np.frombuffer(templates[0], "<u8")
    for path in paths_of(paths):
        pages, matrix = _sketched(path, m)
        fine = ~np.isin(pages, ids)
        pages, matrix = pages[fine], matrix[fine]
        of = np.full(len(pages), -1, np.int64)
        for number, template in enumerate(np.frombuffer(templates[1], "<u4").reshape(-1, m)):
            places = np.flatnonzero(of < 0)
            of[places[_alike(template, matrix[places]) > np.float32(sim)]] = number
        joined = of >= 0
        for start in range(0, len(pages), MOST_ROWS):
            some = slice(start, start + MOST_ROWS)
            found = np.where(joined[some], ids[of[some]], 0) if len(ids) else of[some]
            yield pa.RecordBatch.from_arrays(
                [
                    pa.array(pages[some]),
                    pa.array(
                        [
                            None if has else row.tobytes()
                            for has, row in zip(joined[some], matrix[some], strict=True)
                        ],
                        pa.binary(),
                    ),
                    pa.array(found.astype(np.uint64), mask=~joined[some]),
                ],
                schema=LEFT,
            )


def pick(paths: pa.RecordBatch, *, wanted: bytes) -> Iterator[pa.RecordBatch]:
    """Turn files of ``pages`` into the ``references`` among them, given by their hashes."""
    numbers = pa.array(np.frombuffer(wanted, "<u8"))
    for path in paths_of(paths):
        for table in read_groups(path, REFERENCES.names):
            chosen = table.filter(pc.is_in(table["page"], numbers)).cast(REFERENCES)
            yield from chosen.to_batches()


def store(
    paths: pa.RecordBatch,
    *,
    members: dict[str, str],
    references: Sequence[str],
    window: int,
    packing: Packing | None,
) -> Iterator[pa.RecordBatch]:
    """Turn files of ``pages`` into rows of ``stored``.

    Args:
        paths: the files.
        members: for each file, the file with its ``members``, if it has any.
        references: files with the ``references``.
        window: window of the filter, in tokens.
        packing: compression of each page.
    """
    for path in paths_of(paths):
        template_of = _template_of(members.get(path))
        held = _bodies(references, set(template_of.values()))
        cut: dict[int, _core.TbcReference] = {}
        for table in read_groups(path, ["name", "page", "bytes", "body", "trouble"]):
            rows = []
            for row in table.filter(pc.is_null(table["trouble"])).to_pylist():
                body = row.pop("body")
                template = template_of.get(row["page"])
                if template is None or template == row["page"]:
                    plain, reference = body, None
                else:
                    if template not in cut:
                        if len(cut) == _MOST_CUT:
                            del cut[next(iter(cut))]
                        cut[template] = _core.TbcReference(held[template], window)
                    plain, reference = cut[template].delta(body)[0], template
                frame = pack(plain, packing)
                row |= {"reference": reference, "plain": len(plain), "frame": frame}
                rows.append({**row, "packed": len(frame)})
            yield pa.RecordBatch.from_pylist(rows, STORED)


def values(column: pa.ChunkedArray[Any]) -> list[Any]:
    """Return the values of a column as Python objects."""
    found: list[Any] = column.to_pylist()
    return found


def _template_of(path: str | None) -> dict[int, int]:
    if path is None:
        return {}
    table = read_table(path, MEMBERS.names)
    return dict(zip(values(table["page"]), values(table["template"]), strict=True))


def _bodies(files: Sequence[str], wanted: set[int]) -> dict[int, bytes]:
    """Read the references that a file of pages needs."""
    numbers = pa.array(sorted(wanted), pa.uint64())
    found: dict[int, bytes] = {}
    for path in files if wanted else ():
        for group in read_groups(path, REFERENCES.names):
            table = group.filter(pc.is_in(group["page"], numbers))
            found |= dict(zip(values(table["page"]), values(table["body"]), strict=True))
    return found


def _sketched(path: str, m: int) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """Read the pages of a file that have a sketch, and their sketches as a matrix."""
    table = read_table(path, ["page", "sketch"])
    table = table.filter(pc.is_valid(table["sketch"]))
    rows = b"".join(values(table["sketch"]))
    pages: NDArray[np.uint64] = table["page"].to_numpy()
    return pages, np.frombuffer(rows, "<u4").reshape(-1, m)


def _alike(template: NDArray[np.uint32], matrix: NDArray[np.uint32]) -> NDArray[np.float32]:
    if not len(matrix):
        return np.empty(0, np.float32)
    return np.frombuffer(_core.view(_core.resemblances(template, matrix)), np.float32)
