"""Jobs: reports that are being made in the background, with how far they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic

from quire.progress import Progress
from quire.web.pages.compare.crawls import Folder
from quire.web.pages.reports.making import ReportError, ReportKind, make_report

#: A report that takes longer is given up: a small file can hold a crawl without an end.
MOST_SECONDS = 600


class _Forgotten(Exception):
    pass


@dataclass(slots=True)
class Job:
    """A report in the making. One thread writes it, others read.

    Attributes:
        kind: what the report is about.
        title: what people call the source.
        source: the path of the source.
        folder: the uploaded file; None for an archive.
        step: what is being done.
        done: how much of it is done.
        total: how much there is.
        document: the report, once it is made.
        error: why there is none.
        is_forgotten: whether it is not held any more, so that it may end.
        began: when it was started, by the monotonic clock.
    """

    kind: ReportKind
    title: str
    source: str
    folder: Folder | None = None
    step: str = "waiting for its turn"
    done: int = 0
    total: int = 0
    document: bytes = b""
    error: str = ""
    is_forgotten: bool = False
    began: float = field(default_factory=monotonic)

    @property
    def is_done(self) -> bool:
        """Whether the report is made, or cannot be."""
        return bool(self.document or self.error)

    @property
    def seconds(self) -> int:
        """How long it has taken so far."""
        return int(monotonic() - self.began)

    def run(self) -> None:
        """Make the report."""
        try:
            drawn = make_report(self.kind, self.source, self.title, self._progress())
            self.document = drawn.encode("utf-8", "replace")
        except ReportError as error:
            self.error = str(error)
        except _Forgotten:
            self.error = "it was forgotten"
        except Exception:
            self.error = "the report could not be made; the log of the service says more"
            raise
        finally:
            if self.folder is not None:
                self.folder.delete()

    def forget(self) -> None:
        """End the job soon, if it is still running."""
        self.is_forgotten = True

    def _progress(self) -> Progress:
        def note(step: str, done: int, total: int, /) -> None:
            if self.is_forgotten:
                raise _Forgotten
            if self.seconds > MOST_SECONDS:
                raise ReportError(
                    f"{self.title}: not done after {MOST_SECONDS} s; make it with "
                    f"`quire {self.kind.value}` instead"
                )
            self.step, self.done, self.total = step, done, total

        return note
