"""A check of a list of pages: the pages that it names are added to its watches.

A list is a page like any other: workers claim it when it is due and fetch it through the gate. It
leaves no versions, because its pages are in the database. A list that cannot be read changes
nothing: its watches keep the pages that they have, and learn of the error once.
"""

from __future__ import annotations

from sqlalchemy import Connection

from quire.display import format_count
from quire.sentinels.checking.answers import Fetched, FetchProblem, source_hash
from quire.sentinels.checking.judging import SLACK_SECONDS
from quire.sentinels.form.watch import Pages
from quire.sentinels.listings import NotAListing, Sorted, read_listing, sort_addresses
from quire.sentinels.notices.differences import NO_DIFFERENCES, Difference, Differences, limited
from quire.sentinels.notices.event import Event, EventKind, event_id
from quire.sentinels.pages.state import FIRST_ERROR
from quire.sentinels.schedule import next_check
from quire.sentinels.store.claims import ClaimedPage
from quire.sentinels.store.listed_pages import ListChange, told_gone, update_listed
from quire.sentinels.store.plain import instant
from quire.sentinels.store.results import CheckResult, NewEvent, PageGroup, PageMember


class ListCheck:
    """One check of one list, for all watches that have it.

    Args:
        connection: in a transaction for writing.
        claimed: the page that is the list.
        found: its members.
        now: the time, in seconds since 1970.
    """

    def __init__(
        self, connection: Connection, claimed: ClaimedPage, found: PageGroup, now: float
    ) -> None:
        self.connection = connection
        self.claimed = claimed
        self.found = found
        self.now = now

    def run(self, answer: Fetched | FetchProblem, result: CheckResult | None) -> CheckResult:
        """Return what to write down.

        Args:
            answer: what the fetch brought.
            result: the result of the check of the same page for watches that watch it; None if
                there are none.
        """
        is_alone = result is None
        if result is None:
            result = self._begin(answer)
        due = [
            (name, known)
            for name, known in self.found.lists.items()
            if known.due <= self.now + SLACK_SECONDS or not known.checked
        ]
        problems = []
        for name, known in due:
            problem = self._read(known, answer, result)
            if problem:
                problems.append(problem)
                self._tell_problem(known, problem, result)
            else:
                known.checked = self.now
            self._reschedule(known)
            result.members.add(name)
        if is_alone and problems:
            self._note_problem(problems[0], result)
        return result

    # ------------------------------------------------------------ one watch

    def _read(self, known: PageMember, answer: Fetched | FetchProblem, result: CheckResult) -> str:
        """Add the pages of the list to a watch; return why the list cannot be read."""
        if isinstance(answer, FetchProblem):
            return answer.message
        if answer.not_modified or self.claimed.source == source_hash(answer.body):
            gone = told_gone(
                self.connection, known.id, known.watch, list_id=self.claimed.id, now=self.now
            )
            self._tell(known, ListChange(gone=gone), result)
            return ""
        try:
            found = self._addresses(known.watch.pages, answer)
        except NotAListing as error:
            return str(error)
        change = update_listed(
            self.connection,
            known.id,
            known.watch,
            list_id=self.claimed.id,
            found=found,
            now=self.now,
            level=known.list_level or 0,
            is_first=known.checked is None,
        )
        details = [format_count(len(found.own) + len(found.foreign), "page")]
        if found.left_out:
            details.append(f"{found.left_out:,} of other sites left out")
        if change.left_over:
            most = known.watch.pages.most
            details.append(f"{change.left_over:,} more than the limit of {most:,}")
        result.detail = result.detail or ", ".join(details)
        self._tell(known, change, result)
        return ""

    def _addresses(self, pages: Pages, answer: Fetched) -> Sorted:
        """Return the addresses of the list, if it is one, whole, and has some."""
        if answer.status >= FIRST_ERROR:
            raise NotAListing(f"the list was answered with status {answer.status}")
        if answer.was_cut or pages.finder is None:
            raise NotAListing("the list ends early")
        listing = read_listing(pages.finder, answer.body, answer.content_type)
        found = sort_addresses(listing, answer.url or self.claimed.url, pages)
        if not (found.own or found.foreign or found.lists):
            said = "that match" if listing.pages else "in it"
            raise NotAListing(f"the list has no pages {said}")
        return found

    def _tell(self, known: PageMember, change: ListChange, result: CheckResult) -> None:
        pages = known.watch.pages
        new = change.new if "new" in pages.tell and known.checked is not None else ()
        gone = change.gone if "gone" in pages.tell else ()
        said = [
            format_count(len(new), "new page") if new else "",
            f"{format_count(len(gone), 'page')} no longer listed" if gone else "",
        ]
        if new or gone:
            entries = [Difference("inserted", "", "links", None, url) for url in new]
            entries += [Difference("deleted", "", "links", url, None) for url in gone]
            # Since the last reading: a check that is repeated after a crash gives the same event.
            occurrence = f"{known.checked}\0{new}\0{gone}"
            words = ", ".join(filter(None, said))
            self._event(
                result,
                known,
                "change",
                occurrence=occurrence,
                reason=words,
                differences=limited(entries),
            )

    def _tell_problem(self, known: PageMember, problem: str, result: CheckResult) -> None:
        if self.claimed.error_since is None:
            self._event(result, known, "error", occurrence=str(self.now), reason=problem)

    def _event(
        self,
        result: CheckResult,
        known: PageMember,
        kind: EventKind,
        *,
        occurrence: str,
        reason: str,
        differences: Differences = NO_DIFFERENCES,
    ) -> None:
        watch = known.watch
        ident = event_id(
            str(known.id),
            self.claimed.url,
            f"list {known.installed!r}",
            old_version=None,
            new_version=None,
            occurrence=f"{kind} {occurrence}",
        )
        event = Event(
            id=ident,
            kind=kind,
            watch=str(known.id),
            name=watch.name,
            url=self.claimed.url,
            time=instant(self.now),
            reason=reason,
            differences=differences,
            tags=watch.tags,
        )
        result.events.append(NewEvent(known.id, event, watch.notify))

    def _reschedule(self, known: PageMember) -> None:
        every = known.watch.pages.every
        if every is not None:
            known.due = self.now + every.total_seconds()
        else:
            known.due = next_check(known.watch.schedule, instant(self.now), 0).timestamp()

    # ------------------------------------------------------------ the page of the list

    def _begin(self, answer: Fetched | FetchProblem) -> CheckResult:
        if isinstance(answer, FetchProblem):
            result = CheckResult(self.now, "failed", answer.seconds)
            result.page = {"checked": self.now}
            return result
        is_same = answer.not_modified or self.claimed.source == source_hash(answer.body)
        outcome = "same" if is_same else "list"
        result = CheckResult(self.now, outcome, answer.seconds, answer.wire_bytes)
        result.page = {"checked": self.now, "state": "fine", "error": None, "error_since": None}
        if not answer.not_modified:
            result.page["etag"] = answer.etag
            result.page["last_modified"] = answer.last_modified
            result.page["source"] = source_hash(answer.body)
        return result

    def _note_problem(self, problem: str, result: CheckResult) -> None:
        """Write an error down, and forget the body, so that it is read again next time."""
        result.outcome = "failed"
        result.detail = problem
        since = self.claimed.error_since
        result.page["error"] = problem
        result.page["error_since"] = self.now if since is None else since
        result.page["etag"] = result.page["last_modified"] = result.page["source"] = None
