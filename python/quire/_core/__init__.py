"""The one door between Python and the kernels.

Everything compiled is imported from here and from nowhere else; it is typed in
``_native.pyi``. Kernels raise the classes of ``quire.errors``; a panic in one arrives
as ``InternalError``.

Above: ``digest``, ``sdiff``, ``similarity``, ``fragments``. Below: ``errors``, which the kernels import when they raise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from quire._core._native import (
    AfTree,
    Bag,
    Bags,
    Base,
    DenseBase,
    Digest,
    Encoder,
    Floats,
    FragmentPool,
    Navigation,
    PartPacker,
    Script,
    Sketch,
    TbcReference,
    all_resemblances,
    annotate,
    choose_base,
    compress,
    edit_script,
    encode,
    from_bytes,
    from_columns,
    from_file,
    hash64,
    hubs,
    kang,
    likeness,
    merge_groups,
    most_met,
    pair_alike,
    peek,
    random_sampling,
    resemblances,
    sample_groups,
    script_from_json,
    script_of_pairs,
    similarity,
    sketch,
    sketch_from_bytes,
    source_spans,
    stars,
    tbc_apply,
    tbc_delta,
    text_rows,
    token_bins,
    window_hashes,
    word_changes,
)

__all__ = [
    "AfTree",
    "Bag",
    "Bags",
    "Base",
    "DenseBase",
    "Digest",
    "Encoder",
    "Floats",
    "FragmentPool",
    "Navigation",
    "PartPacker",
    "Script",
    "Sketch",
    "TbcReference",
    "all_resemblances",
    "annotate",
    "choose_base",
    "compress",
    "edit_script",
    "encode",
    "from_bytes",
    "from_columns",
    "from_file",
    "hash64",
    "hubs",
    "kang",
    "likeness",
    "merge_groups",
    "most_met",
    "pair_alike",
    "peek",
    "random_sampling",
    "resemblances",
    "sample_groups",
    "script_from_json",
    "script_of_pairs",
    "similarity",
    "sketch",
    "sketch_from_bytes",
    "source_spans",
    "stars",
    "tbc_apply",
    "tbc_delta",
    "text_rows",
    "token_bins",
    "view",
    "window_hashes",
    "word_changes",
]

# Look at the memory of a digest, of a derived column or of what a kernel made; it stays while it is looked at. A type
# checker can see that an object is a buffer from Python 3.12 on.
view = cast("Callable[[Digest | Floats | Navigation], memoryview]", memoryview)
