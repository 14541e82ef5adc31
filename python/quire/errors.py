"""Every error this package raises on purpose.

    QuireError
    ├── ArchiveError                   an archive cannot do what was asked
    │   ├── ArchiveLocked              another writer holds it
    │   ├── CodecError                 a stored page does not decode
    │   ├── DamagedRecord              a record's bytes are not what was written
    │   └── PageNotFound               an archive has no such page
    ├── CaptureTimeUnknown             versions of a page are needed, and a capture has no time
    ├── CompositionError               a page cannot be composed of its fragments
    ├── DigestFormatError              bytes are not a digest this version reads
    ├── EngineError                    a cluster is not there, or batch work failed on it
    ├── InternalError                  a kernel failed where it must not: a bug in quire
    ├── MalformedSource                XML or JSON is not well-formed
    ├── MissingExtra                   an optional dependency is not installed
    ├── ModelError                     a model of templates is damaged, or none
    ├── NodeNotFound                   a page has no node of that number
    ├── PatternError                   a regular expression cannot be read
    ├── PlanError                      a folder of templates and fragments is damaged, or none
    ├── ProxyError                     a cache that is to compose pages is not there, or did not start
    ├── ScriptError                    an edit script is damaged, or for another page
    ├── SelectorError                  a selector cannot be read
    │   └── SelectorBudgetExceeded     a selector took more steps than it may
    ├── SketchError                    a sketch is damaged, or compared with one of something else
    ├── SourceClash                    two pages of a collection cannot be told apart
    ├── SourceNotFound                 there is no such file, or nothing to read in a folder
    ├── SourceTooLarge                 a source is longer than offsets can reach, or than an archive keeps
    ├── SourceUnreadable               a source is there and damaged, too long or no page
    ├── StorageFailed                  the disk did not take what an archive wrote
    ├── TreeError                      columns do not describe a tree
    ├── VariantError                   users cannot be told apart as asked
    └── VersionOrderError              versions of a page do not ascend in time

Each is also the built-in error a caller would think of, so ``except ValueError``
around foreign input keeps working. Kernels raise these classes by name: the
first argument is the whole message, what was found follows as keywords.
"""

from __future__ import annotations

from typing import Literal


class QuireError(Exception):
    """The base of every error this package raises on purpose."""

    def __reduce__(self) -> tuple[object, ...]:
        # The default calls the class with `args` alone and would miss the
        # keywords; errors cross process boundaries in batch work.
        return (_restore, (type(self), self.args), self.__dict__)


def _restore(cls: type[QuireError], args: tuple[object, ...]) -> QuireError:
    error = cls.__new__(cls, *args)
    error.args = args  # those that are an OSError do this in __init__
    return error


class ArchiveError(QuireError, ValueError):
    """An archive cannot do what was asked: it is none, damaged, or not in a state for it."""


class ArchiveLocked(ArchiveError):
    """Another writer holds the archive."""


class CodecError(ArchiveError):
    """A stored page does not decode, or not to the length that was promised."""


class DamagedRecord(ArchiveError):
    """A record's bytes are not what was written.

    Attributes:
        file: the file it is in.
        offset: where in the file the record begins.
    """

    def __init__(self, message: str, *, file: str, offset: int) -> None:
        self.file: str = file
        self.offset: int = offset
        super().__init__(message)


class PageNotFound(ArchiveError, KeyError):
    """An archive has no such page.

    Attributes:
        url: the address asked for.
    """

    def __init__(self, message: str, *, url: str) -> None:
        self.url: str = url
        super().__init__(message)

    def __str__(self) -> str:
        # A KeyError would show its message in quotes.
        return str(self.args[0])


class CaptureTimeUnknown(QuireError, ValueError):
    """Versions of a page are needed, and it is not known when a capture was made.

    Attributes:
        name: the name of the capture.
    """

    def __init__(self, message: str, *, name: str) -> None:
        self.name: str = name
        super().__init__(message)


class CompositionError(QuireError, ValueError):
    """A page cannot be composed: a fragment is missing, or a template holds what it must not.

    Attributes:
        file: the template or fragment at fault.
    """

    def __init__(self, message: str, *, file: str) -> None:
        self.file: str = file
        super().__init__(message)


class DigestFormatError(QuireError, ValueError):
    """Bytes are not a digest this version can read.

    Attributes:
        found: the format the digest is in, where it says so.
        newest: the newest format this version reads, where that is the trouble.
    """

    def __init__(
        self, message: str, *, found: int | None = None, newest: int | None = None
    ) -> None:
        self.found: int | None = found
        self.newest: int | None = newest
        super().__init__(message)


class EngineError(QuireError, RuntimeError):
    """A cluster that is not there or lacks something, or work that failed on it."""


class InternalError(QuireError, RuntimeError):
    """A kernel failed where it must not. A bug in quire, never in the page."""


class MalformedSource(QuireError, ValueError):
    """XML or JSON that is not well-formed.

    Attributes:
        kind: ``xml`` or ``json``.
        line: line of the fault, from 1.
        column: its column in bytes, from 1.
        offset: its offset in the source in bytes, from 0.
    """

    def __init__(self, message: str, *, kind: str, line: int, column: int, offset: int) -> None:
        self.kind: str = kind
        self.line: int = line
        self.column: int = column
        self.offset: int = offset
        super().__init__(message)


class MissingExtra(QuireError, ImportError):
    """An optional dependency is not installed; the message ends with the command that does it.

    >>> raise MissingExtra("lxml is not installed", extra="lxml")
    Traceback (most recent call last):
    quire.errors.MissingExtra: lxml is not installed; run: pip install 'quire[lxml]'

    Attributes:
        extra: the extra of quire that brings it.
    """

    def __init__(self, message: str, *, extra: str) -> None:
        self.extra: str = extra
        super().__init__(f"{message}; run: pip install 'quire[{extra}]'")


class ModelError(QuireError, ValueError):
    """A model of templates that cannot be read."""


class NodeNotFound(QuireError, IndexError):
    """A page has no node of that number.

    Attributes:
        node: the number asked for.
        n: how many nodes the page has; its nodes are 0 to n - 1.
    """

    def __init__(self, message: str, *, node: int, n: int) -> None:
        self.node: int = node
        self.n: int = n
        super().__init__(message)


class PatternError(QuireError, ValueError):
    """A regular expression that cannot be read, or takes more memory than it may.

    Attributes:
        pattern: the pattern.
        offset: where in it the fault is, from 0; None where it is the whole.
    """

    def __init__(self, message: str, *, pattern: str, offset: int | None = None) -> None:
        self.pattern: str = pattern
        self.offset: int | None = offset
        super().__init__(message)


class PlanError(QuireError, ValueError):
    """A folder of templates and fragments whose manifest is damaged, or missing."""


class ProxyError(QuireError, RuntimeError):
    """A cache that is to compose pages is not installed, or did not start."""


class ScriptError(QuireError, ValueError):
    """An edit script that cannot be read, is damaged, or is not for this page."""


class SelectorError(QuireError, ValueError):
    """A selector that cannot be read, or asks for what is not supported.

    Attributes:
        selector: the selector.
        offset: where in it the fault is, from 0; None where it is the whole.
    """

    def __init__(self, message: str, *, selector: str, offset: int | None = None) -> None:
        self.selector: str = selector
        self.offset: int | None = offset
        super().__init__(message)


class SelectorBudgetExceeded(SelectorError):
    """A selector took more steps on this page than it may.

    Attributes:
        steps: the budget it ran past.
    """

    def __init__(self, message: str, *, selector: str, steps: int) -> None:
        self.steps: int = steps
        super().__init__(message, selector=selector)


class SketchError(QuireError, ValueError):
    """A sketch that cannot be read, or two that cannot be compared."""


class SourceClash(QuireError, ValueError):
    """Two pages of a collection cannot be told apart: their names have the same hash."""


class SourceNotFound(QuireError, FileNotFoundError):
    """There is no file, folder or address of that name, or nothing in it that can be read.

    Attributes:
        name: what was looked for.
    """

    def __init__(self, message: str, *, name: str) -> None:
        self.name: str = name
        super().__init__(message)


class SourceTooLarge(QuireError, ValueError):
    """A source is longer than offsets can reach, or than an archive keeps.

    Attributes:
        found_bytes: its length.
        max_bytes: the longest that is taken.
    """

    def __init__(self, message: str, *, found_bytes: int, max_bytes: int) -> None:
        self.found_bytes: int = found_bytes
        self.max_bytes: int = max_bytes
        super().__init__(message)


class SourceUnreadable(QuireError, OSError):
    """A source is there, but what was found in it is damaged, too long or no page.

    Attributes:
        name: the source.
    """

    def __init__(self, message: str, *, name: str) -> None:
        self.name: str = name
        super().__init__(message)


class StorageFailed(QuireError, OSError):
    """The disk did not take what an archive wrote: it is full, or broken.

    Attributes:
        file: the file or folder.
        code: the system's number of the error, as in the module ``errno``.
        is_final: whether it failed to confirm what it had taken. That may be lost, and asking again may say otherwise.
    """

    def __init__(self, message: str, *, file: str, code: int | None, is_final: bool) -> None:
        self.file: str = file
        self.code: int | None = code
        self.is_final: bool = is_final
        super().__init__(message)


class TreeError(QuireError, ValueError):
    """Columns that do not describe a tree."""


VariantProblem = Literal["several-sources", "same-source", "no-requests"]


class VariantError(QuireError, ValueError):
    """What different users got cannot be told apart as asked.

    Attributes:
        problem: ``several-sources``: there are sources of other users and several main sources;
            ``same-source``: one source is named for two users; ``no-requests``: cookies tell users
            apart, and a source has no requests in it.
        source: the source at fault.
    """

    def __init__(self, message: str, *, problem: VariantProblem, source: str) -> None:
        self.problem: VariantProblem = problem
        self.source: str = source
        super().__init__(message)


class VersionOrderError(QuireError, ValueError):
    """Versions of a page do not ascend in time.

    Attributes:
        version: the number of the one that is not later than the one before it.
    """

    def __init__(self, message: str, *, version: int) -> None:
        self.version: int = version
        super().__init__(message)
