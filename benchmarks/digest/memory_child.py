"""The process that holds pages for ``memory``: paths on standard input, one JSON object out."""

import ctypes
import ctypes.util
import gc
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks import peers

PAGE_BYTES = 4096


def main(library: str) -> None:
    """Parse every page, keep the trees, and say by how much the process grew."""
    peer = peers.load(library)
    paths = [Path(line) for line in sys.stdin.read().splitlines()]
    # Code and tables that a library loads on first use are not the pages' memory.
    peer.parse(paths[0].read_bytes())
    before = _resident_bytes()
    held: list[Any] = [peer.parse(path.read_bytes()) for path in paths]
    grown = _resident_bytes() - before
    answer: dict[str, Any] = {"grown": grown, "nbytes": 0}
    if library == "quire":
        answer["nbytes"] = sum(page.nbytes for page in held)
        answer["right"] = sum(
            page.decode() == path.read_bytes() for page, path in zip(held, paths, strict=True)
        )
        answer["check"] = "held digest decodes to the page"
    else:
        answer["right"] = sum(bool(peer.count_by_walk(tree)) for tree in held)
        answer["check"] = "held tree has elements"
    print(json.dumps(answer))


def _resident_bytes() -> int:
    """Resident memory after the allocator has handed back what is free."""
    gc.collect()
    library = ctypes.util.find_library("c")
    if library:
        trim = getattr(ctypes.CDLL(library), "malloc_trim", None)
        if trim is not None:
            trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES


if __name__ == "__main__":
    main(sys.argv[1])
