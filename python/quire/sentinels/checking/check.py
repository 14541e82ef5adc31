"""A check of one page: what the fetch brought goes in, everything to write down comes out.

There is no input or output here besides reading old versions, so a check can be replayed: over a
stored history, an archive, or in a test. The order of work, cheapest first:

1. The fetch failed: the page keeps its state, and its watches learn of it once.
2. Not modified, or the same bytes as last time: nothing changed. The page is not even parsed, unless
   a sentinel that is due now was not due when the page last changed.
3. The page is not itself (gone, blocked, empty, half): its state is recorded. Parts are not
   compared, so no watch reports that "everything was removed".
4. The page is fine: the sentinels that are due are evaluated as a group.

Noise is left out (see ``quire.sentinels.pages.noise``). If a change would be announced that could be
noise, ``run`` asks for a probe: fetch the page once more, and call ``resume`` with the answer.
Nothing that the check was given has been altered until then.

A version is stored if a sentinel of the page sees a change, due or not, or if the text, the links or
the images of the page changed, so that sentinels made later can be replayed on it. Pages whose bytes
differ only in invisible parts (tokens, scripts) leave no version.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from quire.digest.page import Digest
from quire.sentinels.checking.answers import Fetched, FetchProblem, source_hash
from quire.sentinels.checking.judging import Judging, Readers
from quire.sentinels.checking.whereabouts import Follower, Whereabouts
from quire.sentinels.conditions.comparison import PageState
from quire.sentinels.groups.group import Group, Member, Version
from quire.sentinels.groups.outcome import Outcome
from quire.sentinels.notices.event import EventKind
from quire.sentinels.pages.learning import learn, learn_from_history
from quire.sentinels.pages.noise import PageNoise
from quire.sentinels.pages.state import PageFacts, page_state
from quire.sentinels.parts.part import CONTENT, Aspect, Part
from quire.sentinels.parts.reading import PageReader
from quire.sentinels.schedule import next_check
from quire.sentinels.sentinel import Sentinel, relocated
from quire.sentinels.store.plain import (
    facts_from_json,
    facts_to_json,
    instant,
    signatures_to_bytes,
)
from quire.sentinels.store.results import CheckResult, NewVersion, PageMember
from quire.sentinels.versions.deltas import best_base, pack
from quire.sentinels.versions.page_reading import read_page

_CONTENT = Part(watch=CONTENT)
#: Kinds of pages that have places, so that noise can be learned.
_LEARNED = frozenset({"html", "xml", "json"})
#: Bytes of the signature of the text, before those of links and images.
_TEXT_BYTES = 16


@dataclass(slots=True)
class _Trial:
    """An evaluation that is not written down yet.

    Attributes:
        readers: the new version.
        outcomes: the outcomes.
        signatures: of the versions that members saw last, read anew because other noise is left
            out now; by the names of members.
    """

    readers: Readers
    outcomes: list[Outcome]
    signatures: dict[str, tuple[tuple[bytes, ...], ...]]


@dataclass(slots=True)
class _Pending:
    """A page that is fine, before its result is settled.

    Attributes:
        answer: what the fetch brought.
        result: what to write down.
        version: the new version.
        page: its page.
        noted: the known noise, with stale noise still in it.
        trial: the evaluation.
        astray: parts that are not where their selectors look, by the names of members.
    """

    answer: Fetched
    result: CheckResult
    version: Version
    page: Digest
    noted: PageNoise
    trial: _Trial
    astray: dict[str, Whereabouts] = field(default_factory=dict)


class Check(Judging):
    """One check of one page; see ``Judging`` for its arguments."""

    _pending: _Pending | None = None

    @cached_property
    def known(self) -> PageNoise:
        """The noise that earlier checks learned."""
        return PageNoise.from_json(self.claimed.noise)

    @cached_property
    def learns(self) -> bool:
        """Whether a watch of the page leaves noise out."""
        return any(each.watch.learn_noise for each in self.found.members.values())

    def run(self, answer: Fetched | FetchProblem, *, may_probe: bool = False) -> CheckResult:
        """Return what to write down.

        Args:
            answer: what the fetch brought.
            may_probe: whether the result may ask for a probe (``wants_probe``) instead.
        """
        if isinstance(answer, FetchProblem):
            result = self._failed(answer)
        elif answer.not_modified or (self._is_same_source(answer) and not self.known.has_stale):
            result = self._unchanged(answer)
        else:
            result = self._fetched(answer, may_probe=may_probe)
        return result if result.wants_probe else self._end(result)

    def resume(self, probe: Fetched | FetchProblem) -> CheckResult:
        """Return what to write down, after ``run`` asked for a probe."""
        pending = self._pending
        if pending is None:
            raise RuntimeError("no probe was asked for")
        return self._end(self._settle(pending, probe))

    def _end(self, result: CheckResult) -> CheckResult:
        if self.claimed.error_since is not None and result.page.get("state") == "fine":
            for name in self.found.members:
                self._tell(result, name, "recovered", reason="the page can be fetched again")
        self._reschedule(result)
        return result

    @property
    def first_answer(self) -> Fetched | None:
        """What the first fetch brought, while a probe is awaited."""
        return None if self._pending is None else self._pending.answer

    # ------------------------------------------------------------ the four cases

    def _failed(self, problem: FetchProblem) -> CheckResult:
        result = CheckResult(self.now, "failed", problem.seconds, detail=problem.message)
        is_first = self.claimed.error_since is None
        result.page = {
            "checked": self.now,
            "error": problem.message,
            "error_since": self.now if is_first else self.claimed.error_since,
        }
        if is_first:
            for name in self.found.members:
                self._tell(result, name, "error", reason=problem.message)
        return result

    def _unchanged(self, answer: Fetched) -> CheckResult:
        result = self._begin(answer, "same", "fine" if self.claimed.latest >= 0 else self.state)
        result.page["quiet_checks"] = self.claimed.quiet_checks + 1
        if self.known.entries:
            noise = self.known.still()
            result.page["noise"] = noise.to_json()
            if noise.has_stale:  # the next check needs the page itself
                result.page["etag"] = result.page["last_modified"] = None
        self._install_on_last(result)
        behind = [name for name in self.due if self._is_behind(name)]
        self._judge_timely(result, "fine", behind)
        return result

    def _fetched(self, answer: Fetched, *, may_probe: bool) -> CheckResult:
        page = read_page(answer.body, answer.content_type)
        facts = PageFacts.of(page)
        last_good = facts_from_json(self.claimed.facts)
        state = page_state(answer.status, facts, last_good, was_cut=answer.was_cut)
        result = self._begin(answer, state, state)
        if state != "fine":
            self._judge_timely(result, state)
            return result
        result.page["facts"] = facts_to_json(facts)
        result.page["source"] = source_hash(answer.body)
        version = Version(self.claimed.latest + 1, page.signatures)
        noted = self.known.seen(page)
        trial = self._try(version, page, noted.without_stale())
        pending = _Pending(answer, result, version, page, noted, trial)
        self._learn_from_history(pending)
        self._follow(pending)
        if may_probe and self._needs_probe(pending):
            self._pending = pending
            result.wants_probe = True
            return result
        return self._settle(pending, None)

    def _settle(self, pending: _Pending, probe: Fetched | FetchProblem | None) -> CheckResult:
        result, version = pending.result, pending.version
        result.wants_probe = False
        if probe is not None:
            result.bytes += probe.wire_bytes if isinstance(probe, Fetched) else 0
            self._learn(pending, probe)
            self._confirm(pending, probe)
        trial, astray = pending.trial, pending.astray
        readers = trial.readers
        away = {name for name, found in astray.items() if found.is_away}
        outcomes = [each for each in trial.outcomes if each.sentinel not in away]
        for name, signatures in trial.signatures.items():
            self.found.group.members[name].signatures = signatures
            result.members.add(name)
        self._note(result, version, readers, outcomes, "fine")
        self._note_astray(result, version, readers, astray)
        self._note_found(result, outcomes)
        noise = readers.noise
        if probe is None and any(outcome.fired for outcome in outcomes):
            noise = noise.announced()
        if noise != self.known:
            result.page["noise"] = noise.to_json()
        content = self._content(readers)
        asks = any(not found.is_told for found in astray.values())
        if (
            self._content_changed(trial)
            or asks
            or any(each.changed for each in outcomes)
            or self._others_see_change(readers)
        ):
            result.page["quiet_checks"] = 0
            self._keep(result, pending.answer, version, readers, outcomes)
            result.outcome = "changed" if version.number else "first"
        else:
            result.page["quiet_checks"] = self.claimed.quiet_checks + 1
            result.outcome = "same"
            self._install_on_last(result)
        result.page["content"] = content
        return result

    # ------------------------------------------------------------ noise

    def _learn_from_history(self, pending: _Pending) -> None:
        """Learn links, images and attributes that changed at every capture so far."""
        trial = pending.trial
        if self.claimed.latest < 0 or not self.learns or pending.page.kind not in _LEARNED:
            return
        before = self._content_before(trial)
        addresses = self._content(trial.readers)[_TEXT_BYTES:]
        if (
            before is not None
            and before[_TEXT_BYTES:] == addresses
            and not any("attributes" in outcome.changed for outcome in trial.outcomes)
        ):
            return
        noise = learn_from_history(
            trial.readers.noise,
            self._last(),
            pending.page,
            captures=self.claimed.quiet_checks + 1,
            now=self.now,
            aspects=self._aspects(),
        )
        pending.noted = replace(pending.noted, counted=noise.counted)
        self._try_again(pending, noise)

    def _needs_probe(self, pending: _Pending) -> bool:
        """Tell whether a second fetch could show that a change is noise, or that a part is there."""
        trial = pending.trial
        if any(not found.is_told and found.is_away for found in pending.astray.values()):
            return True
        if self.claimed.latest < 0 or not self.learns or pending.page.kind not in _LEARNED:
            return False
        if trial.readers.noise.pause and not pending.noted.has_stale:
            return False
        changed = [
            outcome
            for outcome in trial.outcomes
            if outcome.changed and outcome.sentinel not in pending.astray
        ]
        if not changed:
            return self._content_changed(trial)
        return any(
            outcome.fired
            and self.found.members[outcome.sentinel].watch.learn_noise
            and self._can_have_noise(self._sentinel(outcome.sentinel), trial.readers.learned)
            for outcome in changed
        )

    def _can_have_noise(self, sentinel: Sentinel, reader: PageReader) -> bool:
        """Tell whether there are elements below those that a user chose."""
        page = reader.page
        for part in sentinel.parts:
            if part.location.is_whole:
                return True
            for root in reader.roots(part.location).tolist():
                tags = page.tag[root + 1 : root + int(page.size[root])]
                if any(not str(page.tags[tag]).startswith("#") for tag in set(tags.tolist())):
                    return True
        return False

    def _learn(self, pending: _Pending, probe: Fetched | FetchProblem) -> None:
        """Learn what differs between two fetches in a row."""
        if not isinstance(probe, Fetched) or probe.status != pending.answer.status:
            return
        noted = pending.noted
        if probe.body != pending.answer.body:
            other = read_page(probe.body, probe.content_type)
            last_good = PageFacts.of(pending.page)
            state = page_state(probe.status, PageFacts.of(other), last_good, was_cut=probe.was_cut)
            if state != "fine" or other.kind != pending.page.kind:
                return
            noted = noted.with_found(learn(pending.page, other, self.now, self._aspects()))
        noise = noted.without_stale()
        is_new = noise.left_out != pending.trial.readers.noise.left_out
        self._try_again(pending, noise.probed(found=is_new))

    def _try_again(self, pending: _Pending, noise: PageNoise) -> None:
        trial = pending.trial
        if noise.left_out == trial.readers.noise.left_out:
            trial.readers.noise = noise
        else:
            pending.trial = self._try(pending.version, pending.page, noise)

    def _try(self, version: Version, page: Digest, noise: PageNoise) -> _Trial:
        """Evaluate the sentinels that are due; nothing is altered."""
        readers = Readers(page, noise)
        signatures = self._signatures(noise) if noise.left_out != self.known.left_out else {}
        group = self.found.group
        if signatures:
            members = {
                name: replace(member, signatures=signatures.get(name, member.signatures))
                for name, member in group.members.items()
            }
            group = Group(group.load, group.versions, members)
        outcomes = self._judge(group, version, readers, self._seen_before(), "fine")
        return _Trial(readers, outcomes, signatures)

    def _signatures(self, noise: PageNoise) -> dict[str, tuple[tuple[bytes, ...], ...]]:
        """Read again what members saw last, with other noise left out."""
        found: dict[str, tuple[tuple[bytes, ...], ...]] = {}
        readers: dict[int, PageReader] = {}
        for name, member in self.found.group.members.items():
            if member.base < 0 or not member.signatures:
                continue
            if not self.found.members[name].watch.learn_noise:
                continue
            reader = readers.get(member.base)
            if reader is None:
                page = self.found.group.load(member.base)
                reader = readers[member.base] = PageReader(page, noise)
            found[name] = tuple(reader.signatures(part) for part in member.sentinel.parts)
        return found

    def _aspects(self) -> set[Aspect]:
        """Return the aspects that sentinels watch which leave noise out."""
        return {
            aspect
            for name, member in self.found.members.items()
            if member.watch.learn_noise
            for part in self._sentinel(name).parts
            for aspect in part.watch
        }

    def _content(self, readers: Readers) -> bytes:
        reader = readers.learned if self.learns else readers.all
        return b"".join(reader.signatures(_CONTENT))

    def _content_before(self, trial: _Trial) -> bytes | None:
        """Return the signature of the last version, with the same noise left out."""
        noise = trial.readers.noise
        if noise.left_out == self.known.left_out or self.claimed.latest < 0 or not self.learns:
            return self.claimed.content
        return b"".join(PageReader(self._last(), noise).signatures(_CONTENT))

    def _content_changed(self, trial: _Trial) -> bool:
        return self._content(trial.readers) != self._content_before(trial)

    # ------------------------------------------------------------ following

    def _follow(self, pending: _Pending) -> None:
        """Look for parts that are not where their selectors look."""
        trial, group = pending.trial, self.found.group
        if self.claimed.latest < 0 or pending.page.kind != "html":
            return
        is_new = self._content_changed(trial)
        follower = Follower(
            pending.version,
            trial.readers.all,
            group.load,
            lambda number: group.versions[number].signatures,
        )
        for outcome in trial.outcomes:
            name = outcome.sentinel
            known = self.found.members[name]
            if outcome.fired and outcome.missing and self._sentinel(name).when is not None:
                continue  # its condition is about a part that goes away
            asked = known.proposal
            if asked is not None and not asked["used"] and outcome.missing and not is_new:
                pending.astray[name] = Whereabouts.from_proposal(asked)
            elif is_new or outcome.changed:
                found = follower.look(group.members[name], known)
                if found is not None:
                    is_told = asked is not None and _is_asked(asked, found)
                    pending.astray[name] = replace(found, is_told=is_told)

    def _confirm(self, pending: _Pending, probe: Fetched | FetchProblem) -> None:
        """Wait with parts that a second fetch has: a page can be half of itself for a moment."""
        if not isinstance(probe, Fetched) or probe.body == pending.answer.body:
            return
        page = PageReader(read_page(probe.body, probe.content_type))
        for name, found in list(pending.astray.items()):
            part = self._sentinel(name).parts[found.part]
            if found.is_away and not page.lacks(part):
                here = pending.trial.readers.all.lacks(part)
                pending.astray[name] = replace(found, is_told=found.is_told or here)

    def _note_astray(
        self,
        result: CheckResult,
        version: Version,
        readers: Readers,
        astray: dict[str, Whereabouts],
    ) -> None:
        """Store what became of parts, and ask about it once."""
        for name, found in astray.items():
            if found.is_told:
                continue
            core, known = self.found.group.members[name], self.found.members[name]
            base = core.base
            rejected = [] if known.proposal is None else known.proposal.get("rejected", [])
            known.proposal = {**found.to_proposal(self.now), "rejected": rejected}
            known.fingerprint = known.proposal["fingerprint"] if found.is_away else None
            result.members.add(name)
            if found.is_used:
                self._move(core, known, found, version, readers)
            elif found.is_away:
                core.missing = True
            kind: EventKind = "moved" if found.where == "moved" else "lost"
            self._tell(result, name, kind, old=base, new=version.number, reason=found.message)

    def _note_found(self, result: CheckResult, outcomes: list[Outcome]) -> None:
        """Forget questions about parts that are where their selectors look again."""
        for outcome in outcomes:
            known = self.found.members[outcome.sentinel]
            asked = known.proposal
            is_answered = asked is not None and not asked["used"] and asked["where"] != "doubtful"
            if is_answered and not outcome.missing:
                known.proposal = known.fingerprint = None
                result.members.add(outcome.sentinel)

    def _move(
        self,
        core: Member,
        known: PageMember,
        found: Whereabouts,
        version: Version,
        readers: Readers,
    ) -> None:
        """Watch a part at the place that is proposed, from this version on."""
        core.sentinel = relocated(core.sentinel, found.part, found.path)
        core.base, core.missing = version.number, False
        reader = readers.of(known)
        core.signatures = tuple(reader.signatures(part) for part in core.sentinel.parts)
        self.found.group.versions[version.number] = version
        known.fingerprint = None

    # ------------------------------------------------------------ sentinels

    def _seen_before(self) -> list[str]:
        """Return the members that are due and have a base to be compared with."""
        return [name for name in self.due if self.found.group.members[name].base >= 0]

    def _is_behind(self, name: str) -> bool:
        """Tell whether a member was not due when the last version was stored."""
        member = self.found.group.members[name]
        return 0 <= member.base < self.claimed.latest and not self._is_away(name)

    def _is_away(self, name: str) -> bool:
        """Tell whether a question about the part of a member is open."""
        asked = self.found.members[name].proposal
        return asked is not None and not asked["used"]

    def _others_see_change(self, readers: Readers) -> bool:
        """Tell whether a member that is not due would see a change since the last version.

        When it is due, the same bytes may come again, or none: then the last version is all there is.
        """
        last: Readers | None = None
        for name in self.found.members.keys() - self.due:
            member, known = self.found.group.members[name], self.found.members[name]
            if member.base < 0 or self._is_away(name):
                continue
            before = member.signatures
            if not before or member.base != self.claimed.latest:
                last = last or Readers(self._last(), readers.noise)
                reader = last.of(known)
                before = tuple(reader.signatures(part) for part in member.sentinel.parts)
            reader = readers.of(known)
            if before != tuple(reader.signatures(part) for part in member.sentinel.parts):
                return True
        return False

    def _judge_timely(
        self, result: CheckResult, state: PageState, behind: Sequence[str] = ()
    ) -> None:
        """Judge, on the last version, conditions that can hold although no watched part changed.

        Args:
            result: what to write down.
            state: the state of the page.
            behind: members that have not seen the last version, which are judged too.
        """
        names = [name for name in self.due if name in behind or self._sentinel(name).is_timely]
        if not names or self.claimed.latest < 0:
            return
        last = self._last()
        version = Version(self.claimed.latest, last.signatures)
        readers = Readers(last, self.known)
        outcomes = self._judge(self.found.group, version, readers, names, state)
        self._note(result, version, readers, outcomes, state)
        if behind:
            self.found.group.accept(version, [each for each in outcomes if each.sentinel in behind])
            result.members.update(behind)

    def _keep(
        self,
        result: CheckResult,
        answer: Fetched,
        version: Version,
        readers: Readers,
        outcomes: list[Outcome],
    ) -> None:
        base = best_base(version.number, set(self.numbers()))
        old = b"" if base is None else self.read(base)
        result.version = NewVersion(
            pack(version.number, answer.body, base, old),
            signatures_to_bytes(version.signatures),
            answer.status,
            answer.content_type,
            answer.headers,
        )
        result.page["latest"] = version.number
        for part, seen in self.found.seen.items():
            self._remember(seen, part, readers.all)
        if version.number:
            result.page["changed"] = self.now
        group = self.found.group
        group.accept(version, outcomes)
        result.members.update(each.sentinel for each in outcomes)
        self._install_new(result, version, readers)

    def _install_on_last(self, result: CheckResult) -> None:
        """Let new members begin with the last version, because this check stores none."""
        is_new = any(member.base < 0 for member in self.found.group.members.values())
        if is_new and self.claimed.latest >= 0:
            last = self._last()
            version = Version(self.claimed.latest, last.signatures)
            self._install_new(result, version, Readers(last, self.known))

    # ------------------------------------------------------------ writing down

    def _begin(self, answer: Fetched, outcome: str, state: PageState) -> CheckResult:
        result = CheckResult(self.now, outcome, answer.seconds, answer.wire_bytes)
        result.page = {"checked": self.now, "state": state, "error": None, "error_since": None}
        if not answer.not_modified:
            result.page["etag"] = answer.etag
            result.page["last_modified"] = answer.last_modified
        return result

    def _reschedule(self, result: CheckResult) -> None:
        """Set when the members that were due are due again."""
        changed = {event.watch for event in result.events if event.event.kind == "change"}
        for name in self.due:
            member = self.found.members[name]
            member.quiet_checks = 0 if member.id in changed else member.quiet_checks + 1
            due = next_check(
                member.watch.schedule, instant(self.now), member.quiet_checks, self.chance
            )
            member.due = due.timestamp()
            member.checked = self.now
            result.members.add(name)

    def _is_same_source(self, answer: Fetched) -> bool:
        return self.claimed.source is not None and self.claimed.source == source_hash(answer.body)


def _is_asked(proposal: dict[str, Any], found: Whereabouts) -> bool:
    """Tell whether the user was asked about a place before, or said that it is not the part."""
    if found.path and found.path in proposal.get("rejected", ()):
        return True
    if found.where == "lost" and not proposal["used"]:
        return True  # a question about this part is open
    return bool((proposal["where"], proposal["path"]) == (found.where, found.path))
