"""Frames: finds where each record of a WARC or ARC file begins and ends, even in damaged files.

A record is accepted if its head can be read, its block is as long as the head says, a record or the
end of the file follows, and its compressed member decodes to the end. Anything else is a ``Fault``
with its place, and reading continues where the next record begins:

* after a damaged member, at the next member that decodes to a record;
* after a wrong length, at the next line ``WARC/1.x`` after the head, even inside the claimed block;
* after bytes that belong to no record, at the next such line.

Every byte is read once. Bytes are read again only in proportion to the bytes read before, so a file
in which every record has a wrong length costs no more than any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from quire.sources.heads import MOST_HEAD_BYTES, MOST_LINE_BYTES, Arc, BadHead, Head, Warc
from quire.sources.members import Damage, Feed, RecordOffset

# No record is shorter than 34 bytes, so a step crosses the boundary of a member at most once.
_STEP_BYTES = 32
_LONG_STEP_BYTES = 512
_SCAN_BYTES = 64 * 1024
_FEW_NEWLINES = 64
# Bytes that may be read again in any file, and for each byte that was read for the first time.
_FREE_BYTES = 1 << 20
_AGAIN = 16
_NEWLINES = (b"\r", b"\n")


@dataclass(frozen=True, slots=True)
class Frame:
    """A record.

    Attributes:
        place: Where it begins.
        data: Its head as stored.
        head: The parsed head.
        block: Everything after the head; empty if that is longer than requested.
    """

    place: RecordOffset
    data: bytes
    head: Head
    block: bytes


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is not a valid record.

    Attributes:
        place: Where it begins.
        reason: Description of the fault.
    """

    place: RecordOffset
    reason: str


class _Start(NamedTuple):
    """The start of something that may be a record.

    Attributes:
        data: Its first bytes, enough to recognize a record.
        place: Where they are.
        blank: The newlines before it, up to a limit.
    """

    data: bytes
    place: RecordOffset
    blank: bytes


class Frames:
    """Reads the records of a file, from the current place of its feed."""

    def __init__(self, feed: Feed, most_bytes: int, *, arc: bool) -> None:
        self._feed = feed
        self._most_bytes = most_bytes
        self._again = 0  # bytes that were read again
        self._decoded_again = 0  # those of them that had to be decoded again
        self._dialect: type[Warc | Arc] = Arc if arc else Warc
        self._found: list[Frame | Fault] = []
        self._faulty: RecordOffset | None = None  # place of the last fault

    def read(self) -> Iterator[Frame | Fault]:
        """Yield every record, and every fault between them."""
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
            if Warc.is_start(data):  # whatever the file name says
                self._dialect = Warc
            elif data == b"filedesc:":
                self._dialect = Arc
            self._feed.hand_back(data, place)
            return self._start()
        except Damage as damage:
            return self._after(damage)

    def _start(self) -> _Start | None:
        # Skip newlines and read the first bytes after them. None at the end of the file.
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
        # Read a record, and the start of the next.
        dialect = self._dialect
        if not dialect.is_start(start.data):
            self._fault(start.place, f"expected {dialect.name}, found {start.data[:20]!r}")
            return self._scan()
        data = b""
        try:
            data = self._head_data(start)
            head = dialect.parse(data)
            after_head = self._feed.place
            keep = head.length <= self._most_bytes
            block, length = b"", self._feed.remaining
            if length is None or length >= head.length:
                block = self._feed.take_all(head.length) if keep else b""
                length = len(block) if keep else self._feed.skip(head.length)
            else:  # known to be cut off, so it need not be read
                keep = True
        except BadHead as bad:
            self._fault(start.place, f"{dialect.name} that {bad}")
            if dialect is Arc:
                return self._scan()
            # The supposed head may have been garbage in front of a real one.
            return self._back(self._feed.ahead(start.place, 1), data[1:], len(data))
        except Damage as damage:
            self._fault(start.place, f"damaged: {damage}")
            return self._after(damage, is_reported=True)
        if length == head.length:
            return self._next(Frame(start.place, data, head, block), after_head)
        self._fault(start.place, f"truncated after {length} of {head.length} bytes")
        return self._back(after_head, block if keep else None, len(block) if keep else length)

    def _next(self, frame: Frame, after_head: RecordOffset) -> _Start | None:
        # Read the start of the next record, and then decide whether to accept this one.
        last, length = self._feed.frame, frame.head.length
        try:
            start = self._start()
        except Damage as damage:
            own = damage.member == last
            if own:
                self._fault(frame.place, f"damaged: {damage}")
            else:
                self._found.append(frame)
            return self._after(damage, is_reported=own)
        if start is None or self._follows(start, frame.block):
            self._found.append(frame)
            return start
        found = f"{start.blank + start.data[:20]!r} follows"
        self._fault(frame.place, f"its head says {length} bytes, but after these {found}")
        swallowed = None
        if length <= self._most_bytes:
            swallowed = frame.block + start.blank + start.data
        return self._back(after_head, swallowed, length)

    def _follows(self, start: _Start, block: bytes) -> bool:
        between = self._dialect.between
        if len(start.blank) < len(between) and (block[-4:] + start.blank).endswith(between):
            return False  # the block includes newlines that belong to the separator
        # Empty lines or a member boundary show that a record ended, whatever comes next.
        edge = bool(self._feed.coding) and start.place.within == 0
        apart = start.blank.startswith((between, b"\n\n"))
        return apart or edge or self._dialect.is_start(start.data)

    def _head_data(self, start: _Start) -> bytes:
        feed = self._feed
        member = feed.frame
        single = bool(feed.coding) and start.place.within == 0
        before = feed.decoded
        try:
            data = self._up_to_end(start.data, _STEP_BYTES)
            if not single or feed.frame == member:
                return data
        except Damage as damage:
            if not single or damage.member == member:
                raise
        # A step read into the next member and hid where that begins, or met damage there that does
        # not belong to this record: read again, byte by byte.
        self._decoded_again += feed.decoded - before
        feed.go_to(start.place)
        feed.first()
        return self._up_to_end(start.data[:1], 1)

    def _up_to_end(self, start: bytes, step: int) -> bytes:
        # Read up to the end of the head, and hand back everything beyond.
        data = bytearray(start)  # grows in place: a head is many steps long
        searched = 0
        while not (end := self._dialect.end(data, searched)):
            searched = max(0, len(data) - 3)
            # Bytes that were handed back, or that are not compressed, hide no start of a member.
            size = _LONG_STEP_BYTES if self._feed.is_without_members else step
            if len(data) > MOST_HEAD_BYTES or not (more := self._feed.take(size)):
                return bytes(data)
            data += more
        if end < len(data):
            place = self._feed.ahead(self._feed.place, end - len(data))
            self._feed.hand_back(bytes(data[end:]), place)
        return bytes(data[:end])

    def _back(self, place: RecordOffset, data: bytes | None, cost: int) -> _Start | None:
        # Search for records inside a block with a wrong length, unless too much was read again.
        if data is None:
            cost += place.within
        first_time = self._feed.decoded - self._decoded_again
        if self._again + cost <= _FREE_BYTES + _AGAIN * first_time:
            self._again += cost
            if data is not None:
                self._feed.hand_back(data, place)
            else:
                self._decoded_again += cost
                try:
                    self._feed.go_to(place)
                except Damage as damage:
                    return self._after(damage)
        return self._scan()

    def _scan(self) -> _Start | None:
        # Find the next line that begins a record.
        feed = self._feed
        window, place = b"", feed.place
        # Growing steps: bytes handed back are copied, and faults can be close together.
        size = _STEP_BYTES
        try:
            while piece := feed.take(size):
                window += piece
                size = min(2 * size, _SCAN_BYTES)
                at = self._dialect.search(window)
                if at >= 0:
                    feed.hand_back(window[at:], feed.ahead(place, at))
                    return self._start()
                # A line may cross the edge of the window.
                gone = max(0, len(window) - MOST_LINE_BYTES)
                window, place = window[gone:], feed.ahead(place, gone)
        except Damage as damage:
            return self._after(damage)
        return None

    def _after(self, damage: Damage, *, is_reported: bool = False) -> _Start | None:
        # Continue with the next member that decodes to the start of a record. Members before the
        # damaged one may be intact: a scan reads several at once, and returns none of them when
        # one is damaged.
        feed = self._feed
        while True:
            last = damage.member if feed.frame is None else feed.frame
            member = feed.member_after(last + 1, self._dialect.is_start)
            if not is_reported and (member is None or member > damage.member):
                self._fault(RecordOffset(damage.member, 0), f"damaged: {damage}")
            if member is None:
                return None
            feed.go_to(RecordOffset(member, 0))
            try:
                return self._start()
            except Damage as again:
                damage, is_reported = again, False

    def _fault(self, place: RecordOffset, reason: str) -> None:
        # Long members first decode to wrong bytes, and only report the damage at their end.
        if place != self._faulty:
            self._found.append(Fault(place, reason))
        self._faulty = place
