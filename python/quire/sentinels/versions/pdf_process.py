"""The process that reads a PDF: bytes on standard input, text on standard output.

It imports nothing of quire. Limits are set before the first byte of the file is looked at.
"""

from __future__ import annotations

import io
import logging
import resource
import sys

UNREADABLE = 3


def main(cpu_seconds: int, memory_bytes: int, most_characters: int) -> int:
    """Read a PDF; return the exit code."""
    from pypdf import PdfReader  # noqa: PLC0415 - before the limits: its own imports are trusted

    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))
    logging.disable(logging.CRITICAL)
    left = most_characters
    try:
        reader = PdfReader(io.BytesIO(sys.stdin.buffer.read()))
        if reader.is_encrypted and not reader.decrypt(""):
            raise ValueError("it has a password")  # noqa: TRY301 - told as the others are
        for page in reader.pages:
            text = page.extract_text()[:left]
            left -= len(text)
            sys.stdout.buffer.write(text.encode("utf-8", "replace") + b"\n")
            if not left:
                break
        sys.stdout.buffer.flush()
    except MemoryError:
        return 1
    except Exception as error:  # noqa: BLE001 - a hostile file can raise anything
        sys.stderr.write(f"{type(error).__name__}: {error}"[:500])
        return UNREADABLE
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:4])))
