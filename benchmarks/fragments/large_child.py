"""The process that ``shared-large`` measures: made pages in, one JSON object out.

``large_child COUNT SEED driver`` groups on the driver (``crawl_fragments``); any other word is the address of an engine that groups
(``write_crawl_fragments``). Pages are made from their numbers by the tasks that read them: no page is ever a file.
"""

import hashlib
import json
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.fragments.growth_child import peak_bytes
from quire.engines import open_engine
from quire.fragments.shared.crawl import crawl_fragments
from quire.fragments.shared.crawl_output import as_table
from quire.fragments.shared.large.crawl import write_crawl_fragments
from quire.sources import Capture, Trouble

_WORDS = ["rain", "cod", "harbour", "nine", "open", "late", "ferry", "price", "table", "tower"]
_TEMPLATES, _PAGES_A_TEASER, _PAGES_A_PATH = 20, 10, 1_000


@cache
def _sentences(seed: int) -> list[str]:
    """Texts with a ``#`` in every third word, for a number: so texts with different numbers share nothing."""
    draw = random.Random(seed)
    return [
        " ".join(
            draw.choice(_WORDS) + ("#" if n % 3 == 0 else str(draw.randint(0, 99)))
            for n in range(32)
        )
        for _ in range(512)
    ]


def made(seed: int, count: int, number: int) -> bytes:
    """One page of a site: menu and footer of its template, teasers that other pages have too (some edited), and texts of its own."""
    texts = _sentences(seed)
    draw = random.Random(seed * count + number)
    frame = draw.randrange(_TEMPLATES)
    menu = "".join(
        f"<li><a href=/{n}>{texts[frame + n].replace('#', str(frame))[:40]}</a>" for n in range(12)
    )
    footer = "".join(f"<p>{texts[n].replace('#', str(-frame))}</p>" for n in range(3))
    side = []
    for _ in range(3):
        teaser = draw.randrange(max(count // _PAGES_A_TEASER, 30))
        text = texts[teaser % 512].replace("#", f"t{teaser}")
        if draw.random() < 0.2:
            text = text.replace("rain", f"snow{number}", 1)
        side.append(f"<div class=teaser><h3>Teaser {teaser}</h3><p>{text}</p></div>")
    own = "".join(
        f"<p>{texts[draw.randrange(512)].replace('#', f'{number}n{n}')}</p>"
        for n in range(draw.randint(2, 4))
    )
    return (
        f"<!doctype html><title>{number}</title><nav><ul>{menu}</ul></nav><main><h1>{number}</h1>{own}</main>"
        f"<aside>{''.join(side)}</aside><footer>{footer}</footer>"
    ).encode()


def read_made(path: str, /, *, most_bytes: int) -> Iterator[Capture | Trouble]:
    """Make the pages of a range."""
    seed, count, first, end = map(int, path.split())
    for number in range(first, end):
        body = made(seed, count, number)
        if len(body) <= most_bytes:
            yield Capture(f"{number}.html", f"https://a.example/{number}", None, b"", body)


def _checksum(places: pa.Table) -> str:
    """The answer in few digits: every place of every fragment, all of its columns, in order."""
    told = hashlib.sha256()
    for name in sorted(places.column_names):
        column = places[name].combine_chunks()
        if pa.types.is_string(column.type):
            told.update("\n".join(map(str, column.to_pylist())).encode())
        else:
            told.update(np.ascontiguousarray(column.fill_null(0).to_numpy()).tobytes())
    return told.hexdigest()


def main(count: int, seed: int, way: str) -> None:
    """Find the fragments, and print time and memory."""
    paths = [
        f"{seed} {count} {first} {min(first + _PAGES_A_PATH, count)}"
        for first in range(0, count, _PAGES_A_PATH)
    ]
    total = sum(len(made(seed, count, number)) for number in range(0, count, max(count // 100, 1)))
    wall, cpu = time.perf_counter(), time.process_time()
    answer: dict[str, Any] = {
        "pages": count,
        "page_bytes": total / len(range(0, count, max(count // 100, 1))),
    }
    if way == "driver":
        found = crawl_fragments(paths, reader=read_made)
        answer |= {"fragments": len(found.fragments), "members": len(found.fragments.members)}
        answer |= {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
        answer["peak"] = peak_bytes()
        places = as_table(found).drop(["name", "url"])
        answer["checksum"] = _checksum(
            places.append_column("page", pa.array(found.fragments.members.page))
        )
    else:
        with (
            tempfile.TemporaryDirectory(prefix="quire-large-") as folder,
            open_engine(way) as engine,
        ):
            written = write_crawl_fragments(paths, folder, engine=engine, reader=read_made)
            answer |= {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
            answer["peak"] = peak_bytes()
            answer |= {
                "fragments": written.n_fragments,
                "texts": written.n_texts,
                "members": sum(pq.read_metadata(file).num_rows for file in written.places),
            }
            # Only for answers that are compared: all places pass through memory.
            answer["checksum"] = _checksum(written.table()) if count <= 100_000 else ""
    print(json.dumps(answer))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
