"""A file is written whole or not at all, whatever happens in between."""

from __future__ import annotations

import errno
import os
import random
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from quire.atomic import open_atomic, write_atomic

# Longer than any buffer on the way.
LONG = 3 << 20


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def write_late(target: Path) -> None:
    """Write a file under a name that is taken in the meantime."""
    with open_atomic(target, replace=False) as (stream,):
        stream.write(b"late")
        target.write_bytes(b"first")


def write_part(error: type[BaseException], *targets: Path) -> None:
    """Write so much that some of it is in the files, and fail."""
    with open_atomic(*targets) as streams:
        for stream in streams:
            stream.write(b"x" * LONG)
        raise error


def test_a_file_is_written_and_nothing_else_is_left(tmp_path: Path) -> None:
    write_atomic(tmp_path / "a", b"new")

    assert (tmp_path / "a").read_bytes() == b"new"
    assert names(tmp_path) == ["a"]


def test_a_file_that_is_there_is_replaced_only_if_asked_for(tmp_path: Path) -> None:
    target = tmp_path / "a"
    write_atomic(target, b"old")

    with pytest.raises(FileExistsError) as caught:
        write_atomic(target, b"new", replace=False)
    assert caught.value.filename == str(target)
    assert target.read_bytes() == b"old"
    write_atomic(target, b"new")

    assert target.read_bytes() == b"new"
    assert names(tmp_path) == ["a"]


def test_a_file_that_comes_while_another_is_written_is_not_replaced(tmp_path: Path) -> None:
    target = tmp_path / "a"

    with pytest.raises(FileExistsError, match=str(target)):
        write_late(target)

    assert target.read_bytes() == b"first"
    assert names(tmp_path) == ["a"]


def test_file_systems_without_hard_links_refuse_a_taken_name_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "no hard links here")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    write_atomic(tmp_path / "a", b"new", replace=False)
    with pytest.raises(FileExistsError):
        write_late(tmp_path / "b")

    assert (tmp_path / "a").read_bytes() == b"new"
    assert (tmp_path / "b").read_bytes() == b"first"
    assert names(tmp_path) == ["a", "b"]


def test_a_block_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "a"
    target.write_bytes(b"old")

    with pytest.raises(KeyboardInterrupt):
        write_part(KeyboardInterrupt, target)

    assert target.read_bytes() == b"old"
    assert names(tmp_path) == ["a"]


def test_an_error_of_the_block_keeps_its_own_name(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught, open_atomic(tmp_path / "a"):
        (tmp_path / "source").read_bytes()

    assert caught.value.filename == str(tmp_path / "source")
    assert names(tmp_path) == []


def test_of_two_files_neither_appears_if_the_block_fails(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        write_part(RuntimeError, tmp_path / "a", tmp_path / "b")

    assert names(tmp_path) == []


def test_data_is_on_the_disk_before_its_name_and_the_name_before_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def told_fsync(file: int) -> None:
        calls.append("folder" if os.path.isdir(f"/proc/self/fd/{file}") else "file")  # noqa: PTH112
        fsync(file)

    def told_replace(old: Path, new: Path) -> Path:
        calls.append("rename")
        return replace(old, new)

    monkeypatch.setattr(os, "fsync", told_fsync)
    monkeypatch.setattr(Path, "replace", told_replace)
    with open_atomic(tmp_path / "a", tmp_path / "b") as (first, second):
        first.write(b"a")
        second.write(b"b")

    assert calls == ["file", "file", "rename", "rename", "folder"]


def test_a_folder_that_cannot_be_flushed_is_not_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync = os.fsync

    def refuse_folders(file: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{file}"):  # noqa: PTH112
            raise OSError(errno.EINVAL, "not a file")
        fsync(file)

    monkeypatch.setattr(os, "fsync", refuse_folders)
    write_atomic(tmp_path / "a", b"new")

    assert (tmp_path / "a").read_bytes() == b"new"


# ------------------------------------------------------------ permissions and links


def test_a_new_file_has_the_rights_of_any_new_file(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomic(tmp_path / "a", b"new")
    finally:
        os.umask(before)

    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("mode", [0o600, 0o666, 0o444])
def test_a_replaced_file_keeps_its_rights(tmp_path: Path, mode: int) -> None:
    target = tmp_path / "a"
    target.write_bytes(b"old")
    target.chmod(mode)

    with open_atomic(target) as (stream,):
        stream.write(b"new")
        (part,) = set(names(tmp_path)) - {"a"}
        assert (tmp_path / part).stat().st_mode & 0o777 == mode

    assert target.stat().st_mode & 0o777 == mode


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    real = tmp_path / "elsewhere" / "a"
    real.write_bytes(b"old")
    (tmp_path / "link").symlink_to(real)

    write_atomic(tmp_path / "link", b"new")

    assert (tmp_path / "link").is_symlink()
    assert real.read_bytes() == b"new"
    assert names(tmp_path / "elsewhere") == ["a"]


def test_a_link_is_in_the_way_of_a_new_file_wherever_it_leads(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")

    with pytest.raises(FileExistsError):
        write_atomic(tmp_path / "link", b"new", replace=False)

    assert names(tmp_path) == ["link"]


def test_a_link_under_the_temporary_name_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    monkeypatch.setattr(secrets, "token_hex", lambda _: "guessed")
    (tmp_path / ".a.guessed.part").symlink_to(victim)

    with pytest.raises(FileExistsError):
        write_atomic(tmp_path / "a", b"new")

    assert victim.read_bytes() == b"precious"
    assert names(tmp_path) == [".a.guessed.part", "victim"]


def test_temporary_names_are_never_the_same_twice(tmp_path: Path) -> None:
    with open_atomic(tmp_path / "a"), open_atomic(tmp_path / "a"):
        assert len(names(tmp_path)) == 2


def test_the_longest_names_can_be_written(tmp_path: Path) -> None:
    for name in ("n" * 255, "ü" * 127, "📰" * 63):
        write_atomic(tmp_path / name, b"new")
        assert (tmp_path / name).read_bytes() == b"new"


# ------------------------------------------------------------ disks and processes


def test_a_folder_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError) as caught:
        write_atomic(tmp_path, b"new")

    assert caught.value.filename == str(tmp_path)
    assert names(tmp_path) == []


def test_a_missing_folder_is_named_by_the_target(tmp_path: Path) -> None:
    target = tmp_path / "missing" / "a"

    with pytest.raises(FileNotFoundError) as caught:
        write_atomic(target, b"new")

    assert caught.value.filename == str(target)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full to write to")
def test_a_full_device_is_an_error_that_names_it() -> None:
    with pytest.raises(OSError, match="No space left") as caught:
        write_atomic("/dev/full", b"new")

    assert caught.value.filename == "/dev/full"


def test_a_pipe_is_written_directly(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        write_atomic(pipe, b"new")
        assert reader.communicate(timeout=240)[0] == b"new"

    assert names(tmp_path) == ["pipe"]


FULL = """
import resource, signal, sys
from quire.atomic import write_atomic
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    write_atomic(sys.argv[1], bytes(1_000_000))
except OSError as error:
    print(error.filename)
"""


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "a"
    target.write_bytes(b"old")

    done = subprocess.run(
        [sys.executable, "-c", FULL, target], capture_output=True, text=True, check=True
    )

    assert done.stdout == f"{target}\n"
    assert target.read_bytes() == b"old"
    assert names(tmp_path) == ["a"]


WRITER = f"""
import itertools, sys
from quire.atomic import write_atomic
print("ready", flush=True)
for letter in itertools.cycle([b"a", b"b"]):
    write_atomic(sys.argv[1], letter * {LONG})
"""


@pytest.mark.parametrize("seed", range(6))
def test_a_killed_process_leaves_a_whole_file(tmp_path: Path, seed: int) -> None:
    target = tmp_path / "a"
    target.write_bytes(b"a" * LONG)

    with subprocess.Popen([sys.executable, "-c", WRITER, target], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(random.Random(seed).uniform(0, 0.1))
        writer.send_signal(signal.SIGKILL)

    assert target.read_bytes() in {b"a" * LONG, b"b" * LONG}
    assert all(name == "a" or name.endswith(".part") for name in names(tmp_path))
