"""Files in and out: what a command is to read, and where it may write.

Two promises: a file that is there is never replaced without ``--force``, and a
file that is written is written whole (under another name, then renamed).
"""

from __future__ import annotations

import glob
import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from quire.atomic import is_stream, write_atomic
from quire.cli.common.terminal import Refusal
from quire.sources.places import fill_in, walk

STANDARD_INPUT = "-"
DIGEST_SUFFIX = ".qd"


@dataclass(frozen=True, slots=True)
class Found:
    """A file to read, and where it belongs below an output folder."""

    path: Path
    below: PurePath


def find(arguments: Sequence[str], suffixes: Iterable[str]) -> list[Found]:
    """List the files that arguments name: files, folders, patterns.

    A file is taken whatever it is called. A folder is searched to any depth for
    files with one of the suffixes; hidden ones are passed over. A pattern that
    the shell left alone is filled in. No file is listed twice.

    Raises:
        Refusal: a folder holds nothing to read, or a pattern fits nothing.
    """
    wanted = frozenset(suffixes)
    found: dict[Path, Found] = {}
    for argument in arguments:
        if os.path.isdir(argument):  # noqa: PTH112 - one test for any argument
            below = [
                Found(Path(name), Path(name).relative_to(argument))
                for name in walk(argument, lambda name: PurePath(name).suffix.lower() in wanted)
            ]
            if not below:
                raise Refusal(
                    f"{argument}: nothing to read in this folder",
                    hint=f"looked for {' '.join(sorted(wanted)).strip()}; others can be named",
                )
        elif glob.has_magic(argument) and not os.path.lexists(argument):
            below = [Found(Path(name), PurePath(PurePath(name).name)) for name in fill_in(argument)]
            if not below:
                raise Refusal(f"{argument}: no file fits this pattern")
        else:
            below = [Found(Path(argument), PurePath(PurePath(argument).name))]
        for file in below:
            found.setdefault(file.path, file)
    return list(found.values())


def targets(files: Sequence[Found], folder: Path | None, suffix: str) -> list[Path]:
    """Choose where the result for each file goes: beside it, or below a folder.

    ``a.html`` becomes ``a.qd``. Where that would be one name for two files
    (``a.html``, ``a.json``), they keep all of theirs: ``a.html.qd``.

    Raises:
        Refusal: two files would still get one name.
    """
    places = [file.path if folder is None else folder / file.below for file in files]
    short = [place.with_suffix(suffix) for place in places]
    chosen = [
        place if alone else full.with_name(full.name + suffix)
        for place, full, alone in zip(short, places, _alone(short), strict=True)
    ]
    for index, alone in enumerate(_alone(chosen)):
        if not alone:
            first = chosen.index(chosen[index])
            other = first if first != index else chosen.index(chosen[index], index + 1)
            raise Refusal(
                f"{files[index].path} and {files[other].path} would both become {chosen[index]}",
                hint="name their folder instead: what is below it keeps its place",
            )
    return chosen


def _alone(paths: Sequence[Path]) -> list[bool]:
    copies: dict[Path, int] = defaultdict(int)
    for path in paths:
        copies[path] += 1
    return [copies[path] == 1 for path in paths]


def check_free(target: Path, *, force: bool) -> None:
    """Refuse to replace what is there.

    Raises:
        Refusal: a file of this name exists and nobody said ``--force``, or a folder.
    """
    if target.is_dir():
        raise Refusal(f"{target}: a folder, not a file", hint="name a file in it")
    if not force and os.path.lexists(target) and not is_stream(target):
        raise Refusal(f"{target}: exists", hint="--force replaces it; or choose another name")


def output_folder(output: str, sources: Iterable[str]) -> Path:
    """Take a folder that files go to: one with a name, and none that is read from.

    What lies inside a source would be read as pages of it the next time.

    Raises:
        Refusal: it has no name, or is in a folder that is read.
    """
    if not output:
        raise Refusal("-o: an empty name", hint="name a folder, such as -o out")
    target = Path(output)
    for source in sources:
        if Path(source).is_dir() and target.resolve().is_relative_to(Path(source).resolve()):
            raise Refusal(
                f"{output}: in {source}, which is read: the next time it would be pages of it",
                hint="name a folder outside",
            )
    return target


def check_suffix(output: str, suffixes: Sequence[str]) -> None:
    """Refuse a name that does not say the form of the file.

    Raises:
        Refusal: it ends otherwise.
    """
    if Path(output).suffix.lower() not in suffixes:
        raise Refusal(
            f"{output}: the name says the form, and this says none",
            hint=f"end it with one of {' '.join(suffixes)}",
        )


def write_whole(target: Path, data: bytes, *, force: bool) -> None:
    """Write a file whole or not at all; make the folders above it.

    Raises:
        Refusal: a file of this name exists and ``--force`` was not given.
    """
    check_free(target, force=force)
    if not is_stream(target):
        Path(os.path.realpath(target)).parent.mkdir(parents=True, exist_ok=True)
    try:
        write_atomic(target, data, replace=force or is_stream(target))
    except FileExistsError:  # since it was checked
        check_free(target, force=force)
        raise


def read_standard_input() -> bytes:
    """Read all of standard input.

    Raises:
        Refusal: it is a terminal: a person who waits, not a page.
    """
    if sys.stdin.isatty():
        raise Refusal("standard input is a terminal", hint="pipe a page in, or name a file")
    return sys.stdin.buffer.read()
