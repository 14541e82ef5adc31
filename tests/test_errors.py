"""The exception tree: drawn as it is, usable as built-ins, able to travel."""

from __future__ import annotations

import copy
import pickle
import re

import pytest

from quire import errors
from quire.errors import (
    AccountError,
    ArchiveError,
    ArchiveLocked,
    CaptureTimeUnknown,
    CodecError,
    CompositionError,
    DamagedRecord,
    DigestFormatError,
    EngineError,
    ExtractorError,
    FetchCause,
    FetchFailed,
    InternalError,
    MalformedSource,
    MissingExtra,
    ModelError,
    NameTaken,
    NodeNotFound,
    NoticeFailed,
    NotStored,
    PageNotFound,
    PageNotNamed,
    PatternError,
    PlanError,
    ProxyError,
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
    StaleClaim,
    StorageFailed,
    StoreError,
    TargetError,
    TemplateDrift,
    TreeError,
    VariantError,
    VersionOrderError,
    WatchError,
)

EXAMPLES: list[tuple[QuireError, type[Exception]]] = [
    (AccountError("m", field="password"), ValueError),
    (ArchiveError("m"), ValueError),
    (ArchiveLocked("m"), ArchiveError),
    (CodecError("m"), ValueError),
    (DamagedRecord("m", file="a", offset=3), ValueError),
    (PageNotFound("m", url="a"), KeyError),
    (CaptureTimeUnknown("m", name="a"), ValueError),
    (CompositionError("m", file="a"), ValueError),
    (DigestFormatError("m", found=4, newest=3), ValueError),
    (EngineError("m"), RuntimeError),
    (FetchFailed("m", url="a", cause=FetchCause.TIMEOUT, limit="whole_s"), OSError),
    (InternalError("m"), RuntimeError),
    (MalformedSource("m", kind="xml", line=2, column=7, offset=31), ValueError),
    (MissingExtra("m", extra="lxml"), ImportError),
    (ModelError("m"), ValueError),
    (NodeNotFound("m", node=9, n=9), IndexError),
    (NoticeFailed("m", is_final=True, retry_after_s=30.0), OSError),
    (PatternError("m", pattern="a(", offset=1), ValueError),
    (PlanError("m"), ValueError),
    (ProxyError("m"), RuntimeError),
    (RecordsNotFound("m"), LookupError),
    (ExtractorError("m"), ValueError),
    (TemplateDrift("m", missing=("price",)), LookupError),
    (ScriptError("m"), ValueError),
    (SelectorError("m", selector="p >", offset=3), ValueError),
    (SelectorBudgetExceeded("m", selector="* *", steps=1000), SelectorError),
    (SketchError("m"), ValueError),
    (SourceClash("m"), ValueError),
    (SourceNotFound("m", name="a"), FileNotFoundError),
    (SourceTooLarge("m", found_bytes=2**31, max_bytes=2**31 - 1), ValueError),
    (SourceUnreadable("m", name="a"), OSError),
    (StaleClaim("m"), RuntimeError),
    (StorageFailed("m", file="a", code=28, is_final=False), OSError),
    (TargetError("m"), ValueError),
    (StoreError("m"), ValueError),
    (NameTaken("m"), StoreError),
    (NotStored("m"), LookupError),
    (PageNotNamed("m"), StoreError),
    (TreeError("m"), ValueError),
    (VariantError("m", problem="same-source", source="a"), ValueError),
    (VersionOrderError("m", version=3), ValueError),
    (WatchError("m", path="when.text", file="a.yaml", line=3), ValueError),
]
BY_NAME = pytest.mark.parametrize(
    ("error", "builtin"), EXAMPLES, ids=[type(error).__name__ for error, _ in EXAMPLES]
)


def test_the_drawing_shows_every_class_and_nothing_else() -> None:
    drawn = re.findall(r"^ *(?:[│├└─ ]*)([A-Z]\w+)(?:  |$)", errors.__doc__ or "", re.MULTILINE)
    defined = [
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, QuireError)
    ]

    assert drawn == defined
    assert {type(error).__name__ for error, _ in EXAMPLES} == set(defined) - {"QuireError"}


@BY_NAME
def test_an_error_is_also_the_builtin_a_caller_would_catch(
    error: QuireError, builtin: type[Exception]
) -> None:
    assert isinstance(error, builtin)
    assert isinstance(error, QuireError)


@BY_NAME
def test_an_error_survives_pickling_and_copying(
    error: QuireError, builtin: type[Exception]
) -> None:
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):  # noqa: S301 - our own bytes
        assert type(other) is type(error)
        assert isinstance(other, builtin)
        assert str(other) == str(error)
        assert vars(other) == vars(error)
