"""Write the table of named character references that HTML knows.

The names come from ``html.entities.html5``, which holds the whole table of the
WHATWG standard. Run it from the root of the repository after a new name was
added there (none has been since 2011):

    python tools/entities.py > crates/quire-core/src/values/entities.rs

One entry is a name, a mark, the characters, and NUL. The mark is ``!`` where
the semicolon may be missing (``&copy``), ``;`` where it may not. Entries are
sorted by name, and a name is listed once, without its semicolon.
"""

from html.entities import html5

WIDTH = 96
# From here on characters may join the one before them, and are written as escapes.
COMBINING = 0x300

HEADER = """//! The named character references of HTML. Written by `tools/entities.py`; change it there.
//!
//! One entry is a name, `!` where the semicolon may be missing or `;` where it
//! may not, the characters it stands for, and NUL. Sorted by name.

/// How many names there are.
pub(super) const COUNT: usize = {count};
/// The length of the longest name.
pub(super) const LONGEST: usize = {longest};
/// The entries, one after the other.
pub(super) static TABLE: &str = "\\"""


def escaped(text: str) -> str:
    """Return the characters as a Rust string literal may hold them."""
    return "".join(
        c if c.isprintable() and c not in '"\\' and ord(c) < COMBINING else f"\\u{{{ord(c):x}}}"
        for c in text
    )


def entries() -> list[str]:
    """Return the entries of the table, escaped, in the order of their names."""
    names = sorted({name.removesuffix(";") for name in html5})
    return [
        f"{name}{'!' if name in html5 else ';'}{escaped(html5[name + ';'])}\\0" for name in names
    ]


def main() -> None:
    """Print the Rust file."""
    names = {name.removesuffix(";") for name in html5}
    print(HEADER.format(count=len(names), longest=max(map(len, names))))
    line = ""
    for entry in entries():
        if len(line) + len(entry) > WIDTH:
            print(line + "\\")
            line = ""
        line += entry
    print(line + '";')


if __name__ == "__main__":
    main()
