"""The process that compares hostile pairs for ``hostile``: it may be ended, so it says each figure at once.

    python -m benchmarks.sdiff.hostile_child PAIR ROUNDS N [N ...]

prints one JSON object a line for each ``n``: nodes, CPU seconds of annotating and of making a script (best of the
rounds), actions, whether either says that it is coarse, and whether apply and inverse are exact.
"""

import json
import sys
from functools import partial

import quire
from benchmarks.measure import best_of
from benchmarks.sdiff.hostile_pairs import BY_NAME


def main(name: str, rounds: int, sizes: list[int]) -> None:
    """Compare one pair, from small to large."""
    pair = BY_NAME[name]
    for n in sizes:
        sources = pair.make(n)
        old, new = (quire.encode(source, kind=pair.kind) for source in sources)
        annotation = quire.annotate(old, new)
        script = quire.edit_script(old, new)
        answer = {
            "n": n,
            "nodes": max(old.n, new.n),
            "actions": len(script),
            "coarse": bool(script.coarse),
            "annotation_coarse": bool(annotation.coarse),
            "patched": not script.exact_tree,
            "exact": script.apply(old).decode() == sources[1]
            and script.invert().apply(new).decode() == sources[0],
            "annotate_s": best_of(partial(quire.annotate, old, new), rounds),
            "script_s": best_of(partial(quire.edit_script, old, new), rounds),
        }
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), [int(word) for word in sys.argv[3:]])
