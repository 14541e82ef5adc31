"""Find the files a command reads, and write the files it makes.

Two promises: an existing file is never replaced without ``--force``, and files are written
atomically (under a temporary name, then renamed).
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
from quire.cli.common.fetched import check_not_web_address
from quire.cli.common.terminal import Refusal
from quire.sources.places import fill_in, walk

STANDARD_INPUT = "-"
DIGEST_SUFFIX = ".qd"


@dataclass(frozen=True, slots=True)
class Found:
    """A file to read, and its place below an output folder."""

    path: Path
    below: PurePath


def find(arguments: Sequence[str], suffixes: Iterable[str]) -> list[Found]:
    """List the files for arguments that can be files, folders or patterns.

    A file may have any name. In folders and their subfolders, files with one of the suffixes are
    found; hidden files are skipped. Patterns that the shell did not expand are expanded here. No
    file is listed twice.

    Raises:
        Refusal: a folder has nothing to read, no file matches a pattern, or an argument is a web
            address.
    """
    wanted = frozenset(suffixes)
    found: dict[Path, Found] = {}
    for argument in arguments:
        check_not_web_address(argument)
        if os.path.isdir(argument):  # noqa: PTH112 - one test for any argument
            below = [
                Found(Path(name), Path(name).relative_to(argument))
                for name in walk(argument, lambda name: PurePath(name).suffix.lower() in wanted)
            ]
            if not below:
                raise Refusal(
                    f"{argument}: nothing to read in this folder",
                    hint=f"looked for {' '.join(sorted(wanted)).strip()}; give other files by name",
                )
        elif glob.has_magic(argument) and not os.path.lexists(argument):
            below = [Found(Path(name), PurePath(PurePath(name).name)) for name in fill_in(argument)]
            if not below:
                raise Refusal(f"{argument}: no file matches this pattern")
        else:
            below = [Found(Path(argument), PurePath(PurePath(argument).name))]
        for file in below:
            found.setdefault(file.path, file)
    return list(found.values())


def targets(files: Sequence[Found], folder: Path | None, suffix: str) -> list[Path]:
    """Choose the output path for each file: next to it, or below a folder.

    ``a.html`` becomes ``a.qd``. If that would give two files the same name (``a.html``,
    ``a.json``), they keep their full names: ``a.html.qd``.

    Raises:
        Refusal: two files would still get the same name.
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
                hint="give their common folder instead, so that subfolders are kept",
            )
    return chosen


def _alone(paths: Sequence[Path]) -> list[bool]:
    copies: dict[Path, int] = defaultdict(int)
    for path in paths:
        copies[path] += 1
    return [copies[path] == 1 for path in paths]


def check_free(target: Path, *, force: bool) -> None:
    """Check that a file can be written without replacing anything.

    Raises:
        Refusal: it is a folder, or it exists and ``force`` is not set.
    """
    if target.is_dir():
        raise Refusal(f"{target}: is a folder", hint="give a file name in it")
    if not force and os.path.lexists(target) and not is_stream(target):
        raise Refusal(
            f"{target}: already exists", hint="use --force to replace it, or choose another name"
        )


def output_folder(output: str, sources: Iterable[str]) -> Path:
    """Check an output folder: it needs a name, and must not be inside a source.

    Files written inside a source would be read as its pages the next time.

    Raises:
        Refusal: the name is empty, or the folder is inside a source.
    """
    if not output:
        raise Refusal("-o: empty name", hint="give a folder, such as -o out")
    target = Path(output)
    for source in sources:
        if Path(source).is_dir() and target.resolve().is_relative_to(Path(source).resolve()):
            raise Refusal(
                f"{output}: is inside the source {source}, so the next run would read it as pages",
                hint=f"choose a folder outside of {source}",
            )
    return target


def check_suffix(output: str, suffixes: Sequence[str]) -> None:
    """Check that a file name ends with one of the extensions, which choose its format.

    Raises:
        Refusal: it does not.
    """
    if Path(output).suffix.lower() not in suffixes:
        raise Refusal(
            f"{output}: cannot tell the format from this name",
            hint=f"use one of these extensions: {' '.join(suffixes)}",
        )


def write_whole(target: Path, data: bytes, *, force: bool) -> None:
    """Write a file atomically: completely or not at all. Make the folders above it.

    Raises:
        Refusal: the file exists and ``force`` is not set.
    """
    check_free(target, force=force)
    if not is_stream(target):
        Path(os.path.realpath(target)).parent.mkdir(parents=True, exist_ok=True)
    try:
        write_atomic(target, data, replace=force or is_stream(target))
    except FileExistsError:  # created since the check
        check_free(target, force=force)
        raise


def read_standard_input() -> bytes:
    """Read all of standard input.

    Raises:
        Refusal: it is a terminal, so there is nothing to read.
    """
    if sys.stdin.isatty():
        raise Refusal("standard input is a terminal", hint="pipe a page in, or give a file")
    return sys.stdin.buffer.read()
