"""A hub that says which open pages it has read for, so that tests need not guess."""

from __future__ import annotations

from collections.abc import Iterable

from quire.web.pages.live.hub import Hub, _Client


class CountingHub(Hub):
    """A hub whose readings can be waited for.

    A change after the first reading for a page is news for it. A change before it is not, so tests
    about news have to wait for that reading.
    """

    _served: frozenset[_Client] = frozenset()

    async def _read_once(self, *, is_first: bool) -> None:
        before = frozenset(self._clients)
        await super()._read_once(is_first=is_first)
        self._served |= before

    def has_read_for(self, watches: Iterable[int]) -> bool:
        """Tell whether there was a reading for an open page that shows these watches."""
        wanted = set(watches)
        # A copy: the loop of the server may add a page meanwhile.
        return any(set(each.marks) == wanted for each in self._served & frozenset(self._clients))
