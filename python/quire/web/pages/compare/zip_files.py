"""Names in zip files of strangers, and the errors of damaged ones."""

from __future__ import annotations

import re
import zipfile
import zlib
from pathlib import PurePosixPath
from typing import Final

#: What the standard library raises for a damaged zip file.
FAULTS: Final = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)

_STEP = re.compile(r"[^\w.~%=+@,&()-]+")
_LONGEST_STEP = 100


def clean_steps(name: str) -> list[str]:
    r"""Return the steps of a path, without roots, drives and steps upwards.

    >>> clean_steps("../../etc/pass wd.html"), clean_steps("C:\\site\\a.html")
    (['etc', 'pass_wd.html'], ['C_', 'site', 'a.html'])
    """
    steps = PurePosixPath(name.replace("\\", "/")).parts
    cleaned = [_STEP.sub("_", each)[-_LONGEST_STEP:] for each in steps]
    return [each for each in cleaned if each.strip("._")]
