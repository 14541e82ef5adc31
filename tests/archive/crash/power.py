"""A disk that loses power: it logs every call, and returns states that are possible after a cut.

Synced data is kept. Any part of later writes may be there, torn at sectors and in any order; gaps
hold zeros or whatever was on the disk before, and the file may be as long as any of these writes
made it. Each name that was created, changed or removed since its folder was synced may be in its
new or old state.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from quire.archive.disk.storage import Disk

SECTOR = 512

#: Names and contents; a folder has none.
State = dict[str, bytes | None]
NameOp = tuple[Literal["set", "move", "remove"], str, str, int]


@dataclass(slots=True)
class File:
    """A file on the disk, and the writes since its last sync."""

    safe: bytes = b""
    writes: list[tuple[int, bytes]] = field(default_factory=list)

    @property
    def length(self) -> int:
        """Length as a program sees it."""
        return max([len(self.safe), *(at + len(data) for at, data in self.writes)])

    def whole(self) -> bytes:
        """Content as a program sees it, with all writes done."""
        content = bytearray(self.safe)
        for at, data in self.writes:
            content[at : at + len(data)] = data
        return bytes(content)

    def torn(self, rng: random.Random) -> bytes:
        """A possible content after a cut."""
        ends = [len(self.safe), *(at + len(data) for at, data in self.writes)]
        length = rng.choice([ends[-1], rng.choice(ends)])
        fill = bytes(length) if rng.random() < 0.7 else rng.randbytes(length)
        content = bytearray(self.safe.ljust(length, b"\0"))
        content[len(self.safe) :] = fill[len(self.safe) :]
        keep = rng.choice([0.0, 0.3, 0.7, 0.95, 1.0])
        for at, data in self.writes:
            for start, end in sectors(at, at + len(data)):
                if rng.random() < keep:
                    content[start:end] = data[start - at : end - at]
        return bytes(content[:length])


def sectors(start: int, end: int) -> Iterable[tuple[int, int]]:
    """Split a stretch of a file at sector boundaries."""
    while start < end:
        stop = min(end, (start // SECTOR + 1) * SECTOR)
        yield start, stop
        start = stop


@dataclass(slots=True)
class Folder:
    """The names in a folder, and their changes since its last sync."""

    safe: dict[str, int] = field(default_factory=dict)
    changes: list[NameOp] = field(default_factory=list)

    def names(self, is_there: Callable[[], bool]) -> dict[str, int]:
        """Return the names, with some of the changes applied."""
        names = dict(self.safe)
        for kind, name, new, number in self.changes:
            if not is_there():
                continue
            if kind == "set":
                names[name] = number
            else:
                names.pop(name, None)
                if kind == "move":
                    names[new] = number
        return names


class PowerDisk(Disk):
    """A real disk that logs every call."""

    def __init__(self) -> None:
        self.log: list[tuple[str, tuple[object, ...]]] = []
        self._numbers: dict[int, int] = {}
        self._by_name: dict[Path, int] = {}
        self._ends: dict[int, int] = {}
        self._made = 0

    def _tell(self, kind: str, *about: object) -> None:
        self.log.append((kind, about))

    def acknowledge(self, pages: int) -> None:
        """Log that pages were acknowledged."""
        self._tell("acknowledge", pages)

    def create(self, path: Path) -> int:
        """Log a new name."""
        file = super().create(path)
        self._made += 1
        self._numbers[file] = self._by_name[path] = self._made
        self._ends[self._made] = 0
        self._tell("create", path, self._made)
        return file

    def append(self, file: int, parts: Iterable[bytes]) -> int:
        """Log a write."""
        data = b"".join(parts)
        number = self._numbers[file]
        self._tell("write", number, self._ends[number], data)
        self._ends[number] += len(data)
        return super().append(file, [data])

    def sync(self, file: int) -> None:
        """Log that a file is safe; the real disk need not wait."""
        self._tell("sync", self._numbers[file])

    def make_folder(self, path: Path) -> None:
        """Log new folders."""
        for folder in reversed([path, *path.parents]):
            if not folder.exists():
                folder.mkdir()
                self._tell("mkdir", folder)
                self.sync_folder(folder.parent)

    def sync_folder(self, path: Path) -> None:
        """Log that names are safe."""
        self._tell("sync_folder", path)

    def rename(self, old: Path, new: Path) -> None:
        """Log a rename."""
        super().rename(old, new)
        number = -1 if new.is_dir() else self._by_name.pop(old)
        self._by_name[new] = number
        self._tell("rename", old, new, number)

    def remove(self, path: Path) -> None:
        """Log a removal."""
        if path.exists():
            self._tell("remove", path)
        super().remove(path)


class Cut:
    """The disk at one moment: data that is safe, and data in flight.

    Args:
        log: Calls of a ``PowerDisk`` up to this moment.
        root: Top folder, which is safe.
        before: Content that was safe before the first call.
    """

    def __init__(
        self,
        log: Iterable[tuple[str, tuple[object, ...]]],
        root: Path,
        before: State | None = None,
    ) -> None:
        self.root = root
        self.files: dict[int, File] = {}
        self.folders: dict[Path, Folder] = {root: Folder()}
        self.acknowledged = 0
        for number, (name, content) in enumerate((before or {}).items(), 1_000_000):
            path = root / name
            if content is None:
                self.folders[path] = Folder()
            else:
                self.files[number] = File(content)
            self.folders[path.parent].safe[path.name] = -1 if content is None else number
        for kind, about in log:
            getattr(self, f"_{kind}")(*about)

    def _acknowledge(self, pages: int) -> None:
        self.acknowledged = pages

    def _create(self, path: Path, number: int) -> None:
        self.files[number] = File()
        self.folders[path.parent].changes.append(("set", path.name, "", number))

    def _write(self, number: int, at: int, data: bytes) -> None:
        self.files[number].writes.append((at, data))

    def _sync(self, number: int) -> None:
        self.files[number] = File(self.files[number].whole())

    def _mkdir(self, path: Path) -> None:
        self.folders[path] = Folder()
        self.folders[path.parent].changes.append(("set", path.name, "", -1))

    def _sync_folder(self, path: Path) -> None:
        folder = self.folders[path]
        self.folders[path] = Folder(folder.names(lambda: True))

    def _rename(self, old: Path, new: Path, number: int) -> None:
        self.folders[old.parent].changes.append(("move", old.name, new.name, number))
        if old in self.folders:  # the content of a folder follows its name
            self.folders[new] = self.folders[old]

    def _remove(self, path: Path) -> None:
        self.folders[path.parent].changes.append(("remove", path.name, "", 0))

    def state(self, rng: random.Random | None) -> State:
        """Return names and contents as they may be after a cut, or without one."""
        found: State = {}
        keep = 1.0 if rng is None else rng.choice([0.0, 0.5, 0.9, 1.0])

        def is_there() -> bool:
            return rng is None or rng.random() < keep

        def walk(path: Path) -> None:
            for name, number in self.folders[path].names(is_there).items():
                below = path / name
                if number < 0:
                    found[str(below.relative_to(self.root))] = None
                    walk(below)
                else:
                    file = self.files[number]
                    content = file.whole() if rng is None else file.torn(rng)
                    found[str(below.relative_to(self.root))] = content

        walk(self.root)
        return found


def lay_out(state: State, root: Path) -> None:
    """Write a state to the real disk."""
    for name, content in state.items():
        if content is None:
            (root / name).mkdir()
        else:
            (root / name).write_bytes(content)
