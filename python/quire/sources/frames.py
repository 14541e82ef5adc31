"""Frames: where each record of a WARC or ARC file begins and ends, in whatever state the file is.

A record is believed when its head can be read, its block is as long as the head says, a record or the end of the file
comes next, and the member it is in decodes to its end. Anything else is a ``Fault`` with its place, and reading goes on
where the next record begins:

* in a damaged member, at the next member that decodes to a record;
* after a wrong length, at the next line ``WARC/1.x`` behind the head, also in what the block would have swallowed;
* after bytes that belong to no record, at the next such line.

Every byte is read once, and again only while what is read again stays in proportion to what was read well: a file in which
every record lies about its length costs as much as any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from quire.sources.heads import MOST_HEAD_BYTES, MOST_LINE_BYTES, Arc, BadHead, Head, Warc
from quire.sources.members import Damage, Feed, RecordOffset

# No record is shorter than 34 bytes, so that a step crosses the edge of a member at most once.
_STEP_BYTES = 32
_SCAN_BYTES = 64 * 1024
_FEW_NEWLINES = 64
_NEWLINES = (b"\r", b"\n")


@dataclass(frozen=True, slots=True)
class Frame:
    """A record.

    Attributes:
        place: where it begins.
        data: its head as stored.
        head: what that says.
        block: all that follows the head; empty where that is longer than was asked for.
    """

    place: RecordOffset
    data: bytes
    head: Head
    block: bytes


@dataclass(frozen=True, slots=True)
class Fault:
    """Something in the place of a record.

    Attributes:
        place: where it begins.
        reason: what was found.
    """

    place: RecordOffset
    reason: str


class _Start(NamedTuple):
    """Where something begins.

    Attributes:
        data: its first bytes, enough to see whether it is a record.
        place: where they are.
        blank: the newlines that came before it, the first few of them.
    """

    data: bytes
    place: RecordOffset
    blank: bytes


class Frames:
    """The records of a file, from where its feed is."""

    def __init__(self, feed: Feed, most_bytes: int, *, arc: bool) -> None:
        self._feed = feed
        self._most_bytes = most_bytes
        self._credit = 2 * most_bytes  # bytes that may be read again
        self._dialect: type[Warc | Arc] = Arc if arc else Warc
        self._found: list[Frame | Fault] = []
        self._faulty: RecordOffset | None = None  # the last place that was found so

    def read(self) -> Iterator[Frame | Fault]:
        """Give every record, and every fault between them."""
        start = self._begin()
        while True:
            yield from self._found
            self._found.clear()
            if start is None:
                return
            start = self._one(start)

    def _begin(self) -> _Start | None:
        place = self._feed.place
        try:
            data = self._feed.take_all(len(b"filedesc:"))
            if not data:
                self._fault(place, "empty: 0 bytes")
            if Warc.is_start(data):  # whatever it is called
                self._dialect = Warc
            elif data == b"filedesc:":
                self._dialect = Arc
            self._feed.hand_back(data, place)
            return self._start()
        except Damage as damage:
            return self._after(damage)

    def _start(self) -> _Start | None:
        # Go to what comes after newlines. None at the end of the file.
        blank = b""
        while True:
            byte, place = self._feed.first()
            if byte not in _NEWLINES:
                break
            blank += byte
            if len(blank) > _FEW_NEWLINES:
                self._skip_newlines()
        if not byte:
            return None
        if self._dialect is Arc:
            data = self._up_to_end(byte, _STEP_BYTES)
        else:
            data = byte + self._feed.take_all(4) if byte == b"W" else byte
        return _Start(data, place, blank)

    def _skip_newlines(self) -> None:
        while True:
            place = self._feed.place
            data = self._feed.take(_SCAN_BYTES)
            rest = data.lstrip(b"\r\n")
            if rest or not data:
                self._feed.hand_back(rest, self._feed.ahead(place, len(data) - len(rest)))
                return

    def _one(self, start: _Start) -> _Start | None:
        # Read a record, and see how the next begins.
        dialect = self._dialect
        if not dialect.is_start(start.data):
            self._fault(start.place, f"{start.data[:20]!r} where {dialect.name} should begin")
            return self._scan()
        data = b""
        try:
            data = self._head_data(start)
            head = dialect.parse(data)
            after_head = self._feed.place
            keep = head.length <= self._most_bytes
            block = self._feed.take_all(head.length) if keep else b""
            length = len(block) if keep else self._feed.skip(head.length)
        except BadHead as bad:
            self._fault(start.place, f"{dialect.name} that {bad}")
            if dialect is Arc:
                return self._scan()
            # What looked like its head may have been garbage before another.
            return self._back(self._feed.ahead(start.place, 1), data[1:], len(data))
        except Damage as damage:
            self._fault(start.place, f"damaged: {damage}")
            return self._after(damage, said=True)
        if length == head.length:
            return self._next(Frame(start.place, data, head, block), after_head)
        self._fault(start.place, f"breaks off after {length} of {head.length} bytes")
        return self._back(after_head, block if keep else None, length)

    def _next(self, frame: Frame, after_head: RecordOffset) -> _Start | None:
        # See how the next record begins, and believe this one or not.
        last, length = self._feed.frame, frame.head.length
        try:
            start = self._start()
        except Damage as damage:
            own = damage.member == last
            if own:
                self._fault(frame.place, f"damaged: {damage}")
            else:
                self._found.append(frame)
            return self._after(damage, said=own)
        if start is None or self._follows(start, frame.block):
            self._credit += length
            self._found.append(frame)
            return start
        found = f"{start.blank + start.data[:20]!r} comes after them"
        self._fault(frame.place, f"says that it has {length} bytes, but {found}")
        swallowed = None
        if length <= self._most_bytes:
            swallowed = frame.block + start.blank + start.data
        return self._back(after_head, swallowed, length)

    def _follows(self, start: _Start, block: bytes) -> bool:
        between = self._dialect.between
        if len(start.blank) < len(between) and (block[-4:] + start.blank).endswith(between):
            return False  # the block has taken some of the newlines that are not its own
        # Empty lines, or the edge of a member, say that a record ended here, whatever comes next.
        edge = bool(self._feed.coding) and start.place.within == 0
        apart = start.blank.startswith((between, b"\n\n"))
        return apart or edge or self._dialect.is_start(start.data)

    def _head_data(self, start: _Start) -> bytes:
        feed = self._feed
        member = feed.frame
        single = bool(feed.coding) and start.place.within == 0
        try:
            data = self._up_to_end(start.data, _STEP_BYTES)
            if not single or feed.frame == member:
                return data
        except Damage as damage:
            if not single or damage.member == member:
                raise
        # A step went into the next member, and hides where that begins, or met damage there that is
        # not this record's: once more, byte by byte.
        feed.go_to(start.place)
        feed.first()
        return self._up_to_end(start.data[:1], 1)

    def _up_to_end(self, data: bytes, step: int) -> bytes:
        # Take bytes up to the end of the head, and hand back what was taken beyond.
        searched = 0
        while not (end := self._dialect.end(data, searched)):
            searched = max(0, len(data) - 3)
            more = self._feed.take(step)
            if not more or len(data) > MOST_HEAD_BYTES:
                return data
            data += more
        if end < len(data):
            place = self._feed.ahead(self._feed.place, end - len(data))
            self._feed.hand_back(data[end:], place)
        return data[:end]

    def _back(self, place: RecordOffset, data: bytes | None, cost: int) -> _Start | None:
        # Look for records in what a wrong length swallowed, as long as that is not the rule.
        if cost + place.within <= self._credit:
            self._credit -= cost + place.within
            if data is not None:
                self._feed.hand_back(data, place)
            else:
                try:
                    self._feed.go_to(place)
                except Damage as damage:
                    return self._after(damage)
        return self._scan()

    def _scan(self) -> _Start | None:
        # Find the next line that begins a record.
        feed = self._feed
        window, place = b"", feed.place
        size = _STEP_BYTES  # and more each time: what is handed back is copied, and faults can be close together
        try:
            while piece := feed.take(size):
                window += piece
                size = min(2 * size, _SCAN_BYTES)
                at = self._dialect.search(window)
                if at >= 0:
                    feed.hand_back(window[at:], feed.ahead(place, at))
                    return self._start()
                # A line may be cut by the edge of the window.
                gone = max(0, len(window) - MOST_LINE_BYTES)
                window, place = window[gone:], feed.ahead(place, gone)
        except Damage as damage:
            return self._after(damage)
        return None

    def _after(self, damage: Damage, *, said: bool = False) -> _Start | None:
        # Go on with the next member that decodes to the beginning of a record. Some before the damaged one may be
        # whole: a scan reads several at once, and gets none of them when one is damaged.
        feed = self._feed
        while True:
            last = damage.member if feed.frame is None else feed.frame
            member = feed.member_after(last + 1, self._dialect.is_start)
            if not said and (member is None or member > damage.member):
                self._fault(RecordOffset(damage.member, 0), f"damaged: {damage}")
            if member is None:
                return None
            feed.go_to(RecordOffset(member, 0))
            try:
                return self._start()
            except Damage as again:
                damage, said = again, False

    def _fault(self, place: RecordOffset, reason: str) -> None:
        # Long members decode to something wrong first, and say only at their end that they are damaged.
        if place != self._faulty:
            self._found.append(Fault(place, reason))
        self._faulty = place
