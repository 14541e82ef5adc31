"""The state of a fetched page: is this the page, or something that came in its place?

An error page, a captcha or half a page must not be announced as "everything was removed". A page is
judged by its status, its own text, and how much of the last good version is left. The rules, in
order; the first that applies decides:

1. Status 404 or 410: ``gone``. Status 401, 403, 429 or 503: ``blocked``. Any other status from
   400: ``error``.
2. No text and no images, although the last version had some: ``empty``.
3. Little text, and it is that of a wall ("enable JavaScript and cookies to continue", "are you a
   robot"), which the last good version did not have: ``blocked``.
4. The document ends before its end tag although the last good version had one, or the transfer was
   cut: ``half``.
5. Otherwise ``fine``.

Texts of walls are short phrases that the large providers use. A page that merely mentions one of
them is not blocked: it has more text than a wall has.
"""

from __future__ import annotations

from dataclasses import dataclass

from quire.digest.page import Digest
from quire.sentinels.conditions.comparison import PageState

#: Words of the longest page that can be a wall. Real ones have fewer than 150.
WALL_WORDS = 250
#: Statuses that walls are sent with.
REFUSED = frozenset({401, 403, 429, 503})
GONE = frozenset({404, 410})
FIRST_ERROR = 400

#: Phrases of walls, in lower case.
WALLS = (
    "are you a robot",
    "are you human",
    "verify you are human",
    "verifying you are human",
    "confirm you are human",
    "prove you are human",
    "i'm not a robot",
    "unusual traffic",
    "complete the security check",
    "checking your browser",
    "checking if the site connection is secure",
    "enable javascript and cookies to continue",
    "access denied",
    "access to this page has been denied",
    "you have been blocked",
    "request unsuccessful",
    "captcha",
    "rate limit exceeded",
    "too many requests",
    "ddos protection by",
    "attention required!",
    "please stand by, while we are checking",
)


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What is remembered of the last good version, to judge the next one.

    Attributes:
        words: the number of words of its text.
        images: the number of its images.
        is_closed: whether its source ends with the end tag of the document.
        is_wall: whether its own text reads like a wall.
    """

    words: int
    images: int
    is_closed: bool
    is_wall: bool

    @classmethod
    def of(cls, page: Digest) -> PageFacts:
        """Return the facts of a page.

        >>> import quire
        >>> PageFacts.of(quire.encode(b"<html><p>Fish and chips</html>"))
        PageFacts(words=3, images=0, is_closed=True, is_wall=False)
        """
        text = page.text()
        words = len(text.split())
        tail = page.decode()[-2000:].rstrip().lower() if page.kind == "html" else b"</html>"
        return cls(
            words=words,
            images=len(page.images()) if page.kind == "html" else 0,
            is_closed=b"</html" in tail or b"</body" in tail,
            is_wall=words <= WALL_WORDS and _is_wall(text),
        )


def page_state(
    status: int, facts: PageFacts, last_good: PageFacts | None, *, was_cut: bool = False
) -> PageState:
    """Return the state of a page that was just fetched.

    >>> facts = PageFacts(words=900, images=3, is_closed=True, is_wall=False)
    >>> page_state(200, facts, None), page_state(503, facts, facts)
    ('fine', 'blocked')

    Args:
        status: the status of the response.
        facts: the facts of the page.
        last_good: the facts of the last version in state ``fine``; None for the first one.
        was_cut: whether the transfer ended early.
    """
    if status >= FIRST_ERROR:
        return "gone" if status in GONE else "blocked" if status in REFUSED else "error"
    if not facts.words and not facts.images and (last_good is None or last_good.words):
        return "empty"
    if facts.is_wall and not (last_good is not None and last_good.is_wall):
        return "blocked"
    if was_cut or (last_good is not None and last_good.is_closed and not facts.is_closed):
        return "half"
    return "fine"


def _is_wall(text: str) -> bool:
    folded = " ".join(text.lower().replace("’", "'").split())
    return any(phrase in folded for phrase in WALLS)
