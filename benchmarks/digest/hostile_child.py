"""The process that meets hostile pages for ``hostile``: it may be killed, so it says each figure at once.

    python -m benchmarks.digest.hostile_child LIBRARY SHAPE ROUNDS N [N ...]

prints one JSON object a line: ``{"n": ..., "seconds": ..., "right": ...}``, then ``{"n": ...,
"elements": ...}`` with the size of the tree, or ``{"n": ..., "refused": ...}`` when the
library refuses the page with an exception.
"""

import json
import sys
from collections.abc import Callable
from functools import partial

from benchmarks.digest.shapes import BY_NAME, Kind
from benchmarks.measure import best_of


def main(library: str, shape_name: str, rounds: int, sizes: list[int]) -> None:
    """Time one library on one shape, from small to large."""
    shape = BY_NAME[shape_name]
    parse = _parser(library, shape.kind)
    for n in sizes:
        body = shape.make(n)
        try:
            answer: dict[str, object] = {
                "n": n,
                "bytes": len(body),
                "right": _is_right(library, shape.kind, body),
            }
            answer["seconds"] = best_of(partial(parse, body), rounds)
        except (Exception, RecursionError) as error:  # noqa: BLE001  any refusal is an answer here
            answer = {"n": n, "refused": f"{type(error).__name__}: {str(error)[:80]}"}
        print(json.dumps(answer), flush=True)
        if library != "json" and shape.kind in ("html", "xml") and "seconds" in answer:
            # Said apart, because counting may be what runs out of time.
            print(json.dumps({"n": n, "elements": _elements(library, parse(body))}), flush=True)


def _elements(library: str, tree: object) -> int:
    from benchmarks import peers  # noqa: PLC0415  the json process does not need them
    from benchmarks.peers.ours import elements_only  # noqa: PLC0415

    peer = peers.load(library)
    counts = peer.count_by_walk(tree) if library == "quire" else peer.count_by_query(tree)
    return elements_only(counts).total()


def _is_right(library: str, kind: Kind, body: bytes) -> bool:
    """Whether the page comes back; rivals keep no bytes, so for them only that they gave an answer."""
    if library != "quire":
        return True
    import quire  # noqa: PLC0415  the rivals' processes do not need it

    return quire.encode(body, kind=kind).decode() == body


def _parser(library: str, kind: Kind) -> Callable[[bytes], object]:
    if library == "quire":
        import quire  # noqa: PLC0415

        return lambda body: quire.encode(body, kind=kind)
    if library == "json":
        return json.loads
    from benchmarks import peers  # noqa: PLC0415

    return peers.load(library).parse


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), [int(word) for word in sys.argv[4:]])
