"""Every error this package raises on purpose.

    QuireError
    ├── AccountError                   an account or a token cannot be made or changed like this
    ├── ArchiveError                   the archive cannot do this
    │   ├── ArchiveLocked              another process is writing to the archive
    │   ├── CodecError                 a stored page cannot be decoded
    │   ├── DamagedRecord              a record's bytes do not match its checksum
    │   └── PageNotFound               the archive does not have this page
    ├── CaptureTimeUnknown             a capture needs a time and does not have one
    ├── CompositionError               a page cannot be composed from its fragments
    ├── DigestFormatError              the bytes are not a digest this version can read
    ├── EngineError                    a cluster is missing, or batch work failed on it
    ├── ExtractorError                 the file is not an extractor, or is damaged
    ├── FetchFailed                    a page could not be fetched, or the gate refused to
    ├── InternalError                  a kernel failed: a bug in quire
    ├── MalformedSource                XML or JSON is not well-formed
    ├── MissingExtra                   an optional dependency is not installed
    ├── ModelError                     the file is not a model of templates, or is damaged
    ├── NodeNotFound                   the page has no node with this number
    ├── NoticeFailed                   a notice could not be sent
    ├── PatternError                   a regular expression is not valid
    ├── PlanError                      a folder of templates and fragments is damaged or incomplete
    ├── ProxyError                     the cache that composes pages is missing or did not start
    ├── RecordsNotFound                the page has no list of records
    ├── ScriptError                    an edit script is damaged, or made for another page
    ├── SelectorError                  a selector is not valid
    │   └── SelectorBudgetExceeded     a selector took too many steps
    ├── SketchError                    a sketch is damaged, or two sketches cannot be compared
    ├── SourceClash                    two pages of a collection have names with the same hash
    ├── SourceNotFound                 the file or folder does not exist, or has nothing to read
    ├── SourceTooLarge                 a source is longer than quire can handle
    ├── SourceUnreadable               a source exists, but cannot be read as pages
    ├── StaleClaim                     another worker has taken over the work
    ├── StorageFailed                  the disk failed while an archive was being written
    ├── StoreError                     the database of the service cannot be used
    │   ├── NameTaken                  another watch or account has this name
    │   ├── NotStored                  the database does not have this watch, page or version
    │   └── PageNotNamed               the watch has several pages, and none was named
    ├── TargetError                    notices cannot be sent to this target
    ├── TemplateDrift                  a page no longer fits an extractor
    ├── TreeError                      the columns do not describe a tree
    ├── VariantError                   pages of different users cannot be told apart
    ├── VersionOrderError              the versions of a page are not in order of time
    └── WatchError                     a field of a watch has a wrong value

Each class is also the built-in error a caller would expect, so ``except ValueError`` around
untrusted input keeps working. Kernels raise these classes by name: the first argument is the whole
message, and details follow as keyword arguments.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal


class QuireError(Exception):
    """The base of every error this package raises on purpose."""

    def __reduce__(self) -> tuple[object, ...]:
        # The default calls the class with `args` only and would lose the
        # keywords. Batch work sends errors between processes.
        return (_restore, (type(self), self.args), self.__dict__)


def _restore(cls: type[QuireError], args: tuple[object, ...]) -> QuireError:
    error = cls.__new__(cls, *args)
    error.args = args  # subclasses of OSError set this in __init__
    return error


class AccountError(QuireError, ValueError):
    """An account or a token cannot be made or changed like this.

    Attributes:
        field: the value at fault, such as ``password``.
    """

    def __init__(self, message: str, *, field: str) -> None:
        self.field: str = field
        super().__init__(message)


class ArchiveError(QuireError, ValueError):
    """The archive cannot do this: it is not an archive, is damaged, or is not open for it."""


class ArchiveLocked(ArchiveError):
    """Another process is writing to the archive."""


class CodecError(ArchiveError):
    """A stored page cannot be decoded, or decodes to the wrong length."""


class DamagedRecord(ArchiveError):
    """A record's bytes do not match its checksum.

    Attributes:
        file: the file that holds the record.
        offset: where the record starts in the file, in bytes.
    """

    def __init__(self, message: str, *, file: str, offset: int) -> None:
        self.file: str = file
        self.offset: int = offset
        super().__init__(message)


class PageNotFound(ArchiveError, KeyError):
    """The archive does not have this page.

    Attributes:
        url: the address that was looked up.
        near: similar addresses that the archive has.
    """

    def __init__(self, message: str, *, url: str, near: tuple[str, ...] = ()) -> None:
        self.url: str = url
        self.near: tuple[str, ...] = near
        super().__init__(message)

    def __str__(self) -> str:
        # KeyError puts its message in quotes.
        return str(self.args[0])


class CaptureTimeUnknown(QuireError, ValueError):
    """A version of a page needs a time, and this capture does not have one.

    Attributes:
        name: the name of the capture.
    """

    def __init__(self, message: str, *, name: str) -> None:
        self.name: str = name
        super().__init__(message)


class CompositionError(QuireError, ValueError):
    """A page cannot be composed: a fragment is missing, or a template has forbidden content.

    Attributes:
        file: the template or fragment with the problem.
    """

    def __init__(self, message: str, *, file: str) -> None:
        self.file: str = file
        super().__init__(message)


class DigestFormatError(QuireError, ValueError):
    """The bytes are not a digest this version can read.

    Attributes:
        found: the format of the digest, if it could be read.
        newest: the newest format this version reads, if the digest is newer.
    """

    def __init__(
        self, message: str, *, found: int | None = None, newest: int | None = None
    ) -> None:
        self.found: int | None = found
        self.newest: int | None = newest
        super().__init__(message)


class EngineError(QuireError, RuntimeError):
    """A cluster is missing or incomplete, or batch work failed on it."""


class ExtractorError(QuireError, ValueError):
    """The file is not an extractor, or is damaged."""


class FetchCause(StrEnum):
    """Why a page could not be fetched."""

    BAD_URL = "bad-url"
    """The address is not one that the gate fetches."""
    REFUSED_ADDRESS = "refused-address"
    """The host is on a private or special network that the operator has not allowed."""
    DNS = "dns"
    """The name of the host cannot be resolved."""
    CONNECT = "connect"
    """The host does not accept connections, or closed the connection before it answered."""
    PROXY = "proxy"
    """The proxy cannot be reached, or refused the request."""
    TLS = "tls"
    """The certificate is not valid, or the encrypted connection failed."""
    TIMEOUT = "timeout"
    """The host took longer than allowed."""
    TOO_LARGE = "too-large"
    """The answer is longer than allowed: header, body, decoded body, or ratio of the two."""
    TRUNCATED = "truncated"
    """The connection was closed before the end of the answer."""
    BAD_HTTP = "bad-http"
    """The answer is not valid HTTP."""
    BAD_ENCODING = "bad-encoding"
    """The body does not decode."""
    BAD_REDIRECT = "bad-redirect"
    """A redirect leads to an address that the gate does not fetch."""
    TOO_MANY_REDIRECTS = "too-many-redirects"
    """The redirects do not end."""
    ROBOTS = "robots"
    """The robots.txt of the site does not allow this page."""
    RETRY_LATER = "retry-later"
    """The host asked clients to wait."""
    HTTP_STATUS = "http-status"
    """The host answered with an error status."""
    BROWSER = "browser"
    """The browser is missing, crashed, or a step failed in it."""


class FetchFailed(QuireError, OSError):
    """A page could not be fetched, or the gate refused to fetch it.

    Attributes:
        url: the address at fault, without user name and password.
        cause: why.
        limit: the limit that was exceeded, by its name in ``Limits``; None for other causes.
        status: the status of the answer, if there was one.
        retry_after_s: how long the host asked clients to wait, in seconds; None if it did not.
    """

    def __init__(
        self,
        message: str,
        *,
        url: str,
        cause: FetchCause,
        limit: str | None = None,
        status: int | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        self.url: str = url
        self.cause: FetchCause = cause
        self.limit: str | None = limit
        self.status: int | None = status
        self.retry_after_s: float | None = retry_after_s
        super().__init__(message)


class InternalError(QuireError, RuntimeError):
    """A kernel failed unexpectedly. This is a bug in quire, whatever the page contains."""


class MalformedSource(QuireError, ValueError):
    """XML or JSON is not well-formed.

    Attributes:
        kind: ``xml`` or ``json``.
        line: line of the error, from 1.
        column: column of the error in bytes, from 1.
        offset: offset of the error in the source in bytes, from 0.
    """

    def __init__(self, message: str, *, kind: str, line: int, column: int, offset: int) -> None:
        self.kind: str = kind
        self.line: int = line
        self.column: int = column
        self.offset: int = offset
        super().__init__(message)


class MissingExtra(QuireError, ImportError):
    """An optional dependency is not installed; the message ends with the command to install it.

    >>> raise MissingExtra("lxml is not installed", extra="lxml")
    Traceback (most recent call last):
    quire.errors.MissingExtra: lxml is not installed; run: pip install 'quire[lxml]'

    Attributes:
        extra: the extra of quire that installs it.
    """

    def __init__(self, message: str, *, extra: str) -> None:
        self.extra: str = extra
        super().__init__(f"{message}; run: pip install 'quire[{extra}]'")


class ModelError(QuireError, ValueError):
    """The file is not a model of templates, or is damaged."""


class NodeNotFound(QuireError, IndexError):
    """The page has no node with this number.

    Attributes:
        node: the number that was looked up.
        n: how many nodes the page has; they are numbered 0 to n - 1.
    """

    def __init__(self, message: str, *, node: int, n: int) -> None:
        self.node: int = node
        self.n: int = n
        super().__init__(message)


class NoticeFailed(QuireError, OSError):
    """A notice could not be sent.

    Attributes:
        is_final: whether sending it again would fail in the same way.
        retry_after_s: how long the target asked clients to wait, in seconds; None if it did not.
    """

    def __init__(
        self, message: str, *, is_final: bool = False, retry_after_s: float | None = None
    ) -> None:
        self.is_final: bool = is_final
        self.retry_after_s: float | None = retry_after_s
        super().__init__(message)


class PatternError(QuireError, ValueError):
    """A regular expression is not valid, or needs too much memory.

    Attributes:
        pattern: the pattern.
        offset: position of the error in the pattern, from 0; None if it has no single position.
    """

    def __init__(self, message: str, *, pattern: str, offset: int | None = None) -> None:
        self.pattern: str = pattern
        self.offset: int | None = offset
        super().__init__(message)


class PlanError(QuireError, ValueError):
    """The manifest of a folder of templates and fragments is damaged or missing."""


class ProxyError(QuireError, RuntimeError):
    """The cache that composes pages is not installed, or did not start."""


class RecordsNotFound(QuireError, LookupError):
    """The page has no list of records."""


class ScriptError(QuireError, ValueError):
    """An edit script is not valid, is damaged, or was made for another page."""


class SelectorError(QuireError, ValueError):
    """A selector is not valid, or uses a feature that quire does not support.

    Attributes:
        selector: the selector.
        offset: position of the error in the selector, from 0; None if it has no single position.
    """

    def __init__(self, message: str, *, selector: str, offset: int | None = None) -> None:
        self.selector: str = selector
        self.offset: int | None = offset
        super().__init__(message)


class SelectorBudgetExceeded(SelectorError):
    """A selector took too many steps on this page.

    Attributes:
        steps: the limit that it exceeded.
    """

    def __init__(self, message: str, *, selector: str, steps: int) -> None:
        self.steps: int = steps
        super().__init__(message, selector=selector)


class SketchError(QuireError, ValueError):
    """A sketch is damaged, or two sketches cannot be compared."""


class SourceClash(QuireError, ValueError):
    """Two pages of a collection have names with the same hash, so they cannot be distinguished."""


class SourceNotFound(QuireError, FileNotFoundError):
    """The file, folder or address does not exist, or holds nothing that can be read.

    Attributes:
        name: the name that was looked up.
    """

    def __init__(self, message: str, *, name: str) -> None:
        self.name: str = name
        super().__init__(message)


class SourceTooLarge(QuireError, ValueError):
    """A source is longer than a digest can address, or than an archive stores.

    Attributes:
        found_bytes: the length of the source.
        max_bytes: the maximum length.
    """

    def __init__(self, message: str, *, found_bytes: int, max_bytes: int) -> None:
        self.found_bytes: int = found_bytes
        self.max_bytes: int = max_bytes
        super().__init__(message)


class SourceUnreadable(QuireError, OSError):
    """A source exists, but its content is damaged, too long or not a page.

    Attributes:
        name: the source.
    """

    def __init__(self, message: str, *, name: str) -> None:
        self.name: str = name
        super().__init__(message)


class StaleClaim(QuireError, RuntimeError):
    """The lease of a worker has expired, and another worker has taken over its work."""


class StorageFailed(QuireError, OSError):
    """The disk failed while an archive was being written: it is full or broken.

    Attributes:
        file: the file or folder.
        code: the operating system's error number, as in the module ``errno``.
        is_final: whether the disk failed to confirm data it had already accepted. That data may be
            lost, and a second attempt to confirm it may wrongly succeed.
    """

    def __init__(self, message: str, *, file: str, code: int | None, is_final: bool) -> None:
        self.file: str = file
        self.code: int | None = code
        self.is_final: bool = is_final
        super().__init__(message)


class StoreError(QuireError, ValueError):
    """The database of the service cannot be used: a wrong address, or another schema."""


class NameTaken(StoreError):
    """Another watch or account has this name."""


class NotStored(StoreError, LookupError):
    """The database does not have this watch, page, version, account or token."""


class PageNotNamed(StoreError):
    """The watch has several pages, and none was named."""


class TargetError(QuireError, ValueError):
    """Notices cannot be sent to this target: it is not valid, or the operator does not allow it."""


class TemplateDrift(QuireError, LookupError):
    """A page no longer fits an extractor, and its records cannot be found again for certain.

    Attributes:
        missing: the expected columns that were not found.
    """

    def __init__(self, message: str, *, missing: tuple[str, ...] = ()) -> None:
        self.missing: tuple[str, ...] = missing
        super().__init__(message)


class TreeError(QuireError, ValueError):
    """The columns do not describe a tree."""


VariantProblem = Literal["several-sources", "same-source", "no-requests"]


class VariantError(QuireError, ValueError):
    """The pages that different users got cannot be told apart.

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
    """The versions of a page are not in order of time.

    Attributes:
        version: the number of the first version that is not later than the one before it.
    """

    def __init__(self, message: str, *, version: int) -> None:
        self.version: int = version
        super().__init__(message)


class WatchError(QuireError, ValueError):
    """A field of a watch is missing, has a wrong value, or does not exist.

    Attributes:
        path: the field, such as ``when.all[1].number.below``; empty for the watch itself.
        file: the name of the file in which it was written; empty if there is none.
        line: the line in the file, from 1; None if it is not known.
    """

    def __init__(self, message: str, *, path: str, file: str = "", line: int | None = None) -> None:
        self.path: str = path
        self.file: str = file
        self.line: int | None = line
        super().__init__(message)
