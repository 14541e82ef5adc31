"""quire: web pages as flat columns, and back to the exact bytes.

>>> import quire
>>> page = quire.encode(b"<p>Fish &amp; chips")
>>> page.text(), page.decode()
('Fish & chips', b'<p>Fish &amp; chips')
"""

import importlib
import typing

from quire import _moved
from quire.errors import (
    ArchiveError,
    ArchiveLocked,
    CodecError,
    DamagedRecord,
    DigestFormatError,
    ExtractorError,
    InternalError,
    MalformedSource,
    MissingExtra,
    ModelError,
    NodeNotFound,
    PageNotFound,
    PatternError,
    QuireError,
    RecordsNotFound,
    ScriptError,
    SelectorBudgetExceeded,
    SelectorError,
    SketchError,
    SourceClash,
    SourceNotFound,
    SourceTooLarge,
    SourceUnreadable,
    TemplateDrift,
    TreeError,
    VersionOrderError,
)

if typing.TYPE_CHECKING:
    __version__: str

    from quire.archive import Archive
    from quire.digest import (
        ByteList,
        Digest,
        Encoder,
        Header,
        Image,
        Link,
        Node,
        Signatures,
        encode,
        from_bytes,
        load,
        peek,
    )
    from quire.extraction import (
        Applied,
        Column,
        Extractor,
        Records,
        Region,
        RegionSource,
        ValueType,
        details,
        records,
    )
    from quire.fragments import (
        AfTree,
        Lifetimes,
        LpFragment,
        PageVersion,
        SharedFragment,
        SharedFragments,
        lifetimes,
        shared_fragments,
    )
    from quire.reports import redline
    from quire.sdiff import (
        ALL_FACETS,
        Annotation,
        AttributeChange,
        Change,
        EditScript,
        Hunk,
        Row,
        Rules,
        Segment,
        SideRow,
        Status,
        Summary,
        TextChange,
        TextLine,
        UnifiedLine,
        annotate,
        edit_script,
        text_changes,
        text_rows,
        word_changes,
    )

    # These functions share their names with modules; in an import cycle, mypy mixes them up.
    from quire.sdiff.changed import changed, structure_changed
    from quire.sdiff.views.side_by_side import side_by_side
    from quire.sdiff.views.unified import unified
    from quire.similar import (
        Bag,
        Clusters,
        DifferingPart,
        Estimate,
        Group,
        KangLayer,
        Likeness,
        Sketch,
        Templates,
        kang,
        random_sampling,
        resemblance_matrix,
        resemblances,
        similarity,
        sketches_to_matrix,
        templates,
    )

__all__ = [
    "ALL_FACETS",
    "AfTree",
    "Annotation",
    "Applied",
    "Archive",
    "ArchiveError",
    "ArchiveLocked",
    "AttributeChange",
    "Bag",
    "ByteList",
    "Change",
    "Clusters",
    "CodecError",
    "Column",
    "DamagedRecord",
    "DifferingPart",
    "Digest",
    "DigestFormatError",
    "EditScript",
    "Encoder",
    "Estimate",
    "Extractor",
    "ExtractorError",
    "Group",
    "Header",
    "Hunk",
    "Image",
    "InternalError",
    "KangLayer",
    "Lifetimes",
    "Likeness",
    "Link",
    "LpFragment",
    "MalformedSource",
    "MissingExtra",
    "ModelError",
    "Node",
    "NodeNotFound",
    "PageNotFound",
    "PageVersion",
    "PatternError",
    "QuireError",
    "Records",
    "RecordsNotFound",
    "Region",
    "RegionSource",
    "Row",
    "Rules",
    "ScriptError",
    "Segment",
    "SelectorBudgetExceeded",
    "SelectorError",
    "SharedFragment",
    "SharedFragments",
    "SideRow",
    "Signatures",
    "Sketch",
    "SketchError",
    "SourceClash",
    "SourceNotFound",
    "SourceTooLarge",
    "SourceUnreadable",
    "Status",
    "Summary",
    "TemplateDrift",
    "Templates",
    "TextChange",
    "TextLine",
    "TreeError",
    "UnifiedLine",
    "ValueType",
    "VersionOrderError",
    "annotate",
    "changed",
    "details",
    "edit_script",
    "encode",
    "from_bytes",
    "kang",
    "lifetimes",
    "load",
    "peek",
    "random_sampling",
    "records",
    "redline",
    "resemblance_matrix",
    "resemblances",
    "shared_fragments",
    "side_by_side",
    "similarity",
    "sketches_to_matrix",
    "structure_changed",
    "templates",
    "text_changes",
    "text_rows",
    "unified",
    "word_changes",
]


# The packages that define the public names other than errors, from light to heavy. They are
# imported on first use: importing numpy and its users takes too long for `quire --help`.
_HOMES = (
    "quire.digest",
    "quire.sdiff",
    "quire.similar",
    "quire.extraction",
    "quire.fragments",
    "quire.archive",
    "quire.reports",
)


def __getattr__(name: str) -> object:
    if name in __all__:
        for home in map(importlib.import_module, _HOMES):
            if name in home.__all__:
                found = globals()[name] = getattr(home, name)
                return found
    if name == "__version__":
        return importlib.import_module("quire.version").version()
    if name == "report":
        return _moved.report()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})


_moved.install()
