"""The version of quire: that of the installed package, or of the checkout the code runs from."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def version() -> str:
    """Return the version, such as ``0.1.0``.

    Code that was never installed has no metadata. Then it is the version in the checkout's
    ``pyproject.toml`` with ``+checkout``, and ``0+unknown`` without a checkout.

    >>> version().partition(".")[0]
    '0'
    """
    from importlib import metadata  # noqa: PLC0415 - heavy, and rarely needed

    try:
        return metadata.version("quire")
    except metadata.PackageNotFoundError:
        return _checkout_version(Path(__file__).parents[2] / "pyproject.toml")


def _checkout_version(path: Path) -> str:
    import tomllib  # noqa: PLC0415 - rarely needed

    try:
        project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
        return f"{project['version']}+checkout" if project["name"] == "quire" else "0+unknown"
    except (OSError, ValueError, KeyError):
        return "0+unknown"
