"""Edit scripts: turn one page into another, byte for byte, and back.

A script has three layers. The actions are the changes a reader would see; only they are counted.
The layout is white space between elements and different spellings of the same markup. The residual
is everything that belongs to no node. ``docs/edit-script.md`` describes all three as JSON.

Two choices worth knowing before changing this file:

* A script lives in the kernel. Actions become Python values only when you access them.
* A script made from two pages keeps them, so that it can be composed and can give the paths of its
  nodes. A script read from JSON, or unpickled, does not have them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, cast, final

from quire import _core
from quire.digest import Digest
from quire.digest.arguments import check_page
from quire.errors import ScriptError
from quire.sdiff.actions import Action, Rename, Update, action_of

if TYPE_CHECKING:
    from quire.sdiff.annotation import Granularity

# The kernel counts steps with 63 bits, enough for five hundred years.
_MOST_STEPS = 2**63 - 1


@dataclass(frozen=True, slots=True)
class PageHead:
    """The facts by which a script recognises a page.

    Attributes:
        signature: the signature of its source.
        n: the number of its nodes.
        kind: its kind.
        source_bytes: the length of its source in bytes.
    """

    signature: int
    n: int
    kind: str
    source_bytes: int


@final
class EditScript:
    """Turns one page into another, and back. Immutable; made by ``quire.edit_script``.

    >>> import quire
    >>> old = quire.encode(b"<ul><li>Fish<li>Chips</ul>")
    >>> new = quire.encode(b"<ul><li>Fish<li>Peas</ul>")
    >>> script = quire.edit_script(old, new)
    >>> len(script), str(script.actions[0])
    (1, "update #text 8: 'Chips' to 'Peas'")
    >>> script.apply(old).decode()
    b'<ul><li>Fish<li>Peas</ul>'
    >>> script.invert().apply(new) == old
    True
    """

    __slots__ = ("_native", "_new", "_old", "_read")

    def __init__(
        self, native: _core.Script, old: Digest | None = None, new: Digest | None = None
    ) -> None:
        self._native = native
        self._old = old
        self._new = new
        self._read: tuple[Action, ...] | None = None

    # ------------------------------------------------------------ making

    @classmethod
    def of_pairs(
        cls,
        old: Digest,
        new: Digest,
        pairs: Iterable[tuple[int, int]],
        *,
        nodewise: bool = False,
        invertible: bool = True,
    ) -> Self:
        """Make a script from your own pairing of nodes.

        Every pairing gives an exact script; a better pairing gives a shorter one.

        >>> import quire
        >>> old, new = quire.encode(b"<p>a"), quire.encode(b"<p>b")
        >>> pairs = [(0, 0), (1, 1), (2, 2), (3, 3)]  # document, html, head, body
        >>> [str(action) for action in EditScript.of_pairs(old, new, pairs)]
        ["insert p 4 'b' (2 nodes) in 3, first", "delete p 4 'a' (2 nodes) in 3, first"]

        Args:
            old: the old page.
            new: the new page.
            pairs: node numbers of the old and the new page, one to one, including (0, 0).
            nodewise: make each inserted, deleted and relabelled node an action of its own.
            invertible: keep the data that ``invert`` needs.

        Raises:
            ScriptError: the pairs are not one to one, or do not pair the roots.
        """
        check_page("old", old)
        check_page("new", new)
        native = _core.script_of_pairs(old._native, new._native, list(pairs), nodewise, invertible)
        return cls(native, old, new)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a script from JSON. ``apply`` checks whether it fits a page.

        Raises:
            ScriptError: the text is not an edit script this version can read.
        """
        return cls(_core.script_from_json(text))

    # ------------------------------------------------------------ facts

    def __len__(self) -> int:
        return len(self._native)

    def __iter__(self) -> Iterator[Action]:
        return iter(self.actions)

    @property
    def actions(self) -> tuple[Action, ...]:
        """Insertions, moves and updates in the order of the new page, then deletions."""
        if self._read is None:
            self._read = tuple(map(action_of, self._data()["actions"]))
        return self._read

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of actions of each kind."""
        return self._native.counts()

    @property
    def layout(self) -> tuple[Mapping[str, Any], ...]:
        """Changes that are not visible, as in the JSON: white space and spelling of markup."""
        return tuple(self._data()["layout"])

    @property
    def residual(self) -> Mapping[str, Any]:
        """The rest, as in the JSON: bytes that belong to no node, and facts about whole pages."""
        return cast("Mapping[str, Any]", self._data()["residual"])

    @property
    def old(self) -> PageHead:
        """The page the script is for."""
        return PageHead(*self._native.heads[0])

    @property
    def new(self) -> PageHead:
        """The page the script makes."""
        return PageHead(*self._native.heads[1])

    @property
    def exact_tree(self) -> bool:
        """Whether the layers alone produce the new source; if not, a byte patch completes it."""
        return self._native.exact_tree

    @property
    def invertible(self) -> bool:
        """Whether the script can be inverted."""
        return self._native.invertible

    @property
    def node_edits(self) -> int | None:
        """Number of inserted, deleted or relabelled nodes; None if they were not counted."""
        return self._native.node_edits

    @property
    def proven_minimal(self) -> bool:
        """Whether it is proven that no script without moves has fewer node edits."""
        return self._native.proven_minimal

    @property
    def coarse(self) -> tuple[tuple[int | None, int | None], ...]:
        """Old and new nodes where the pairing hit a limit, so that there may be fewer changes."""
        return tuple(self._native.coarse)

    def where(self, action: Action) -> str | None:
        """Return the path of an action's element; None if the script does not have its pages.

        The path is on the new page; for a deletion, on the old page.

        >>> import quire
        >>> old, new = quire.encode(b"<p>a<p>b"), quire.encode(b"<p>a<p>c")
        >>> script = quire.edit_script(old, new)
        >>> script.where(script.actions[0])
        'html > body > p:nth-of-type(2)'
        """
        node = action.node if isinstance(action, Update | Rename) else action.nodes[0].node
        page, number = (self._old, node.old) if node.new is None else (self._new, node.new)
        if page is None or number is None:
            return None
        return page.path(number)

    # ------------------------------------------------------------ using

    def apply(self, old: Digest) -> Digest:
        """Turn the old page into the new one, byte for byte.

        The result is parsed like the new page was: with its kind, character set, scripting and
        fragment.

        Raises:
            ScriptError: the script was made for another page, or is damaged.
        """
        return Digest(self._native.apply(check_page("old", old)._native))

    def invert(self) -> EditScript:
        """Make the script that undoes this one.

        Raises:
            ScriptError: the script was made with ``invertible=False``.
        """
        return EditScript(self._native.invert(), self._new, self._old)

    def compose(self, following: EditScript, *, base: Digest | None = None) -> EditScript:
        """Combine this script and the next one into a single script.

        Changes that the second script undoes disappear; a part that moved twice moves once.

        >>> import quire
        >>> a, b, c = (quire.encode(text) for text in (b"<p>a", b"<p>b", b"<p>c"))
        >>> both = quire.edit_script(a, b).compose(quire.edit_script(b, c))
        >>> [str(action) for action in both]
        ["update #text 5: 'a' to 'c'"]

        Args:
            following: the script for the page that this one produces.
            base: the old page, if this script does not have its pages.

        Raises:
            ScriptError: the second script was made for another page than the first one produces, or
                a page is missing.
        """
        old = base or self._old
        if old is None:
            message = "a script from JSON does not include its pages; pass the old page as base"
            raise ScriptError(message)
        between = self._new or following._old or self.apply(old)
        new = following._new or following.apply(between)
        native = self._native.compose(following._native, old._native, between._native, new._native)
        return EditScript(native, old, new)

    def __or__(self, following: EditScript) -> EditScript:
        return self.compose(following)

    def to_json(self) -> str:
        """Return the script as JSON; see ``docs/edit-script.md``."""
        return self._native.to_json()

    # ------------------------------------------------------------ being a value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EditScript):
            return NotImplemented
        return self._native == other._native

    def __hash__(self) -> int:
        return hash((self._native.heads[0][0], self._native.heads[1][0], len(self)))

    def __reduce__(self) -> tuple[Any, ...]:
        return EditScript.from_json, (self.to_json(),)

    def __repr__(self) -> str:
        found = ", ".join(f"{count} {name}" for name, count in self.counts.items() if count)
        patched = "" if self.exact_tree else ", patched"
        return f"<EditScript {len(self)} actions{found and ': '}{found}{patched}>"

    def _data(self) -> dict[str, Any]:
        return cast("dict[str, Any]", json.loads(self.to_json()))


def edit_script(
    old: Digest,
    new: Digest,
    *,
    exact: bool = False,
    granularity: Granularity = "normal",
    invertible: bool = True,
    max_steps: int | None = None,
) -> EditScript:
    """Make the script that turns one page into another.

    ``len`` of a script is the number of its actions. ``script.apply(old)`` always has exactly the
    source of ``new``: each script is applied once, as a check, when it is made.

    >>> import quire
    >>> old = quire.encode(b"<h1>Menu</h1><p>Fish</p>")
    >>> new = quire.encode(b"<h1>Menu</h1><section><p>Fish</p></section>")
    >>> len(edit_script(old, new)), len(edit_script(old, old))
    (1, 0)

    With ``exact``, you get the tree edit distance, within a budget of steps:

    >>> script = edit_script(old, new, exact=True)
    >>> len(script), script.node_edits, script.proven_minimal
    (1, 1, True)

    Args:
        old: the old page.
        new: the new page.
        exact: find the fewest actions without moves; each inserted, deleted and relabelled node is
            one action. ``proven_minimal`` says whether the result is certainly the smallest.
        granularity: ``brief`` for short scripts, ``fine`` to preserve the identity of nodes.
        invertible: keep old values and deleted parts, which ``invert`` needs.
        max_steps: limit for the search of ``exact``, in steps of about two nanoseconds (default:
            200 million). At the limit, you get the smallest script found so far.

    Raises:
        DigestFormatError: the texts of a stored digest are damaged.
        ValueError: the granularity does not exist, or ``max_steps`` is negative.
    """
    check_page("old", old)
    check_page("new", new)
    if max_steps is not None:
        if max_steps < 0:
            raise ValueError(f"max_steps is {max_steps}; expected 0 or more")
        max_steps = min(max_steps, _MOST_STEPS)
    native = _core.edit_script(old._native, new._native, exact, granularity, invertible, max_steps)
    return EditScript(native, old, new)
