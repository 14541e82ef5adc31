"""Records of WARC files, of every type, as quire and as warcio read them."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

from quire.sources.warc import Record, read_records


@dataclass(frozen=True, slots=True)
class Found:
    """A record: where and when the page was fetched, what its record and its server said, and its bytes."""

    url: str
    date: str
    head: bytes
    payload: bytes
    kind: str

    def words(self) -> str:
        """By what it is found again."""
        return f"{self.url} of {self.date}, {len(self.payload):,} bytes"


class Records:
    """Records that were seen before, each as often as it was there."""

    def __init__(self) -> None:
        self._count: Counter[Found] = Counter()

    def __len__(self) -> int:
        return self._count.total()

    @property
    def size(self) -> int:
        """Bytes of their payloads."""
        return sum(len(one.payload) * count for one, count in self._count.items())

    def add(self, records: Iterable[Found]) -> None:
        """See some more."""
        self._count.update(records)

    def found_in(self, others: Iterable[Found]) -> int:
        """How many of them are among others."""
        return (self._count & Counter(others)).total()

    def missing(self, others: Iterable[Found], who: str) -> list[str]:
        """Name those that are not among others."""
        return [
            f"not in the export ({who}): {one.words()}" for one in self._count - Counter(others)
        ]


def told_apart(records: Iterable[Found], sound: Iterable[Found]) -> tuple[list[Found], list[Found]]:
    """Records whose pages are among the sound ones, and the others: one reader passes over what the other refuses."""
    known = {_key(one) for one in sound}
    parts: tuple[list[Found], list[Found]] = ([], [])
    for one in records:
        parts[_key(one) not in known].append(one)
    return parts


def _key(one: Found) -> tuple[str, str, bytes]:
    """A page, however it is read: warcio writes spaces in addresses as %20, and a revisit has a head only."""
    is_revisit = one.kind == "revisit"
    return one.url.replace(" ", "%20"), one.kind, b"" if is_revisit else one.payload


def by_quire(path: str, *, with_heads: bool = True) -> Iterator[Found]:
    """Read the sound records, with the heads of the records to the byte, or of their servers only."""
    for one in read_records(path, kinds=None, faulty=True):
        if isinstance(one, Record):
            head = one.warc_head + one.head if with_heads else one.head
            # The description of an ARC file has an address, that of a WARC file has none.
            url = one.target if one.kind != "warcinfo" else ""
            yield Found(url, str(one.time), head, one.payload, one.kind)


def by_warcio(path: str) -> Iterator[Found]:
    """Read what warcio reads, up to the first record that it cannot."""
    with open(path, "rb") as file:  # noqa: PTH123 - a name out of a list of sources
        try:
            for one in ArchiveIterator(file):
                said = f"{one.rec_headers}\n{one.http_headers or ''}"
                fields = one.rec_headers
                url, date = (
                    str(fields.get_header(name) or "") for name in ("WARC-Target-URI", "WARC-Date")
                )
                yield Found(url, date, said.encode(), one.raw_stream.read(), str(one.rec_type))
        except (ArchiveLoadFailed, EOFError, OSError, ValueError):
            return
