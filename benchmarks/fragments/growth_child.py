"""The process that ``shared-growth`` measures: pages in, one JSON object out.

``growth_child corpus NAME COUNT`` takes real pages, ``growth_child made COUNT SEED`` makes them. Files are read, or pages made, before the clock
starts; encoding and finding are timed.
"""

import json
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import quire
from benchmarks.corpora import html_pages

_WORDS = ["rain", "cod", "harbour", "nine", "open", "late", "ferry", "price", "table", "tower"]
#: Templates of the made site, entries of its menus, and teasers that its pages choose from, one for so many pages.
_TEMPLATES, _ENTRIES, _PAGES_A_TEASER = 20, 60, 10


def _text(draw: random.Random, words: int) -> str:
    return " ".join(f"{draw.choice(_WORDS)}{draw.randint(0, 999)}" for _ in range(words))


def made(count: int, seed: int) -> Iterator[bytes]:
    """Pages of a site: menu and footer of the template, teasers that others have too (some edited), and a text of their own."""
    draw = random.Random(seed)
    frames = [
        (
            "".join(f"<li><a href=/{n}>{_text(draw, 3)}</a>" for n in range(_ENTRIES)),
            "".join(f"<p>{_text(draw, 20)}</p>" for _ in range(6)),
        )
        for _ in range(_TEMPLATES)
    ]
    teasers = [
        f"<h3>{_text(draw, 6)}</h3><p>{_text(draw, 30)}</p>"
        for _ in range(max(count // _PAGES_A_TEASER, 30))
    ]
    for number in range(count):
        menu, footer = draw.choice(frames)
        chosen = [
            one if draw.random() < 0.8 else one.replace("rain", f"snow{number}", 1)
            for one in draw.sample(teasers, 8)
        ]
        side = "".join(f"<div class=teaser>{one}</div>" for one in chosen)
        own = "".join(f"<p>{_text(draw, 60)}</p>" for _ in range(draw.randint(2, 12)))
        yield (
            f"<!doctype html><title>{number}</title><nav><ul>{menu}</ul></nav>"
            f"<main><h1>{_text(draw, 5)}</h1>{own}</main><aside>{side}</aside><footer>{footer}</footer>"
        ).encode()


def peak_bytes() -> int:
    """Resident memory at its peak, in bytes. Not that of getrusage, which begins with what the parent had."""
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def main(arguments: list[str]) -> None:
    """Find the fragments, and print what it took."""
    if arguments[0] == "corpus":
        sources = [page.read() for page in html_pages((arguments[1],), int(arguments[2]))]
    else:
        sources = list(made(int(arguments[1]), int(arguments[2])))
    before = peak_bytes()
    wall, cpu = time.perf_counter(), time.process_time()
    found = quire.shared_fragments(quire.encode(source) for source in sources)
    answer = {
        "pages": len(sources),
        "bytes": sum(map(len, sources)),
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "peak": peak_bytes() - before,
        "fragments": len(found),
        "members": len(found.members),
        "exact": sum(fragment.exact for fragment in found),
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main(sys.argv[1:])
