"""Who may use which route: the only place where that is written.

A route without a row here, or a row without a route, stops the application when it starts.

* ``Open`` routes answer everyone.
* Other routes need a level: an account has the level of its role, a token that of its scopes.
* ``session`` routes accept only people who logged in, not tokens: a token must not be able to make
  another token, or to change a password.
* ``page`` routes are for people: they are sent to the log-in page instead of getting an error.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from quire.sentinels.accounts.rights import Level

Body: TypeAlias = Literal["none", "usual", "import"]
Route: TypeAlias = tuple[str, str]

#: Methods that change nothing.
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class Access:
    """The rights that a route needs, and its limits.

    Attributes:
        level: how much a client must be allowed to do; None for an open route.
        session: whether only a session is accepted.
        page: whether this is a page for people.
        feed: whether a token may be in the address or in Basic authentication.
        metrics: whether clients on this machine need no token.
        body: how long the body may be.
        heavy: whether it takes long, so that only a few run at once.
        before_password: whether it works before a one-time password was changed.
        home: whether people on this machine need no account, if the service is for this machine only.
    """

    level: Level | None
    session: bool = False
    page: bool = False
    feed: bool = False
    metrics: bool = False
    body: Body = "none"
    heavy: bool = False
    before_password: bool = False
    home: bool = False


_READ = Access(Level.READ)
_HEAVY = Access(Level.READ, heavy=True)
_RUN = Access(Level.WRITE)
_WRITE = Access(Level.WRITE, body="usual")
_ADMIN = Access(Level.ADMIN)
_ADMIN_WRITE = Access(Level.ADMIN, body="usual")
_MINE = Access(Level.READ, session=True)
_MINE_WRITE = Access(Level.READ, session=True, body="usual")
_HEAVY_PAGE = Access(Level.READ, page=True, heavy=True)
_CHANGE = Access(Level.WRITE, page=True, body="usual")
_CHOOSE = Access(Level.WRITE, page=True)
_PAGE = Access(Level.READ, page=True)
_MY_FORM = Access(Level.READ, session=True, page=True, body="usual")
_ADMIN_FORM = Access(Level.ADMIN, session=True, page=True, body="usual")
_V1 = "/api/v1"

ACCESS: dict[Route, Access] = {
    # Watches.
    ("GET", f"{_V1}/watches"): _READ,
    ("POST", f"{_V1}/watches"): _WRITE,
    ("GET", f"{_V1}/watches/{{watch}}"): _READ,
    ("PUT", f"{_V1}/watches/{{watch}}"): _WRITE,
    ("PATCH", f"{_V1}/watches/{{watch}}"): _WRITE,
    ("DELETE", f"{_V1}/watches/{{watch}}"): _RUN,
    ("POST", f"{_V1}/watches/{{watch}}/run"): _RUN,
    # What they found.
    ("GET", f"{_V1}/watches/{{watch}}/pages"): _READ,
    ("GET", f"{_V1}/watches/{{watch}}/events"): _READ,
    ("GET", f"{_V1}/watches/{{watch}}/versions"): _READ,
    ("GET", f"{_V1}/watches/{{watch}}/versions/{{number}}"): _READ,
    ("GET", f"{_V1}/watches/{{watch}}/history"): _HEAVY,
    ("GET", f"{_V1}/watches/{{watch}}/diff"): _HEAVY,
    ("GET", f"{_V1}/watches/{{watch}}/explain"): _HEAVY,
    ("GET", f"{_V1}/watches/{{watch}}/replay"): _HEAVY,
    ("POST", f"{_V1}/replay"): Access(Level.WRITE, body="usual", heavy=True),
    ("GET", f"{_V1}/events"): _READ,
    # Care of a watch.
    ("GET", f"{_V1}/watches/{{watch}}/noise"): _READ,
    ("GET", f"{_V1}/watches/{{watch}}/proposals"): _READ,
    ("POST", f"{_V1}/watches/{{watch}}/proposals/accept"): _RUN,
    ("POST", f"{_V1}/watches/{{watch}}/proposals/reject"): _RUN,
    ("GET", f"{_V1}/watches/{{watch}}/notices"): _READ,
    ("POST", f"{_V1}/watches/{{watch}}/prune"): Access(Level.WRITE, heavy=True),
    ("GET", f"{_V1}/watches/{{watch}}/versions-file"): _HEAVY,
    # Notices.
    ("GET", f"{_V1}/notices/dead"): _READ,
    ("POST", f"{_V1}/notices/resend"): _WRITE,
    ("POST", f"{_V1}/watches/{{watch}}/test-notice"): _RUN,
    ("GET", f"{_V1}/feed"): Access(Level.FEED, feed=True),
    # Files.
    ("GET", f"{_V1}/schema"): _READ,
    ("POST", f"{_V1}/import"): Access(Level.WRITE, body="import", heavy=True),
    ("GET", f"{_V1}/export"): _HEAVY,
    ("GET", f"{_V1}/export-with-secrets"): Access(Level.ADMIN, heavy=True),
    ("GET", f"{_V1}/backup"): Access(Level.ADMIN, heavy=True),
    # Accounts and tokens.
    ("GET", f"{_V1}/accounts"): _ADMIN,
    ("POST", f"{_V1}/accounts"): _ADMIN_WRITE,
    ("PATCH", f"{_V1}/accounts/{{account}}"): _ADMIN_WRITE,
    ("DELETE", f"{_V1}/accounts/{{account}}"): _ADMIN,
    ("GET", f"{_V1}/tokens"): _ADMIN,
    ("POST", f"{_V1}/tokens"): _ADMIN_WRITE,
    ("DELETE", f"{_V1}/tokens/{{token}}"): _ADMIN,
    ("GET", f"{_V1}/me"): _READ,
    ("POST", f"{_V1}/me/password"): Access(
        Level.READ, session=True, body="usual", before_password=True
    ),
    ("GET", f"{_V1}/me/tokens"): _MINE,
    ("POST", f"{_V1}/me/tokens"): _MINE_WRITE,
    ("DELETE", f"{_V1}/me/tokens/{{token}}"): _MINE,
    # The service itself.
    ("GET", f"{_V1}/status"): _READ,
    ("GET", f"{_V1}/settings"): _ADMIN,
    ("GET", "/api/openapi.json"): _READ,
    ("GET", "/healthz"): Access(None),
    ("GET", "/metrics"): Access(Level.READ, metrics=True),
    # Pages for people.
    ("GET", "/static/{name}"): Access(None),
    # Adding and editing a watch. Frames of pages have no cookies: what they load has a signature in
    # its address, and a click goes through a page that shows nothing but the way back.
    ("GET", "/watches/new"): _CHOOSE,
    ("POST", "/watches/new"): _CHANGE,
    ("GET", "/watches/new/{draft}"): _CHOOSE,
    ("GET", "/watches/new/{draft}/frame"): _CHOOSE,
    ("GET", "/watches/new/{draft}/at"): Access(None, page=True),
    ("POST", "/watches/new/{draft}/selector"): _CHANGE,
    ("GET", "/watches/new/{draft}/rules"): _CHOOSE,
    ("POST", "/watches/new/{draft}/rules"): _CHANGE,
    ("GET", "/watches/{watch}/edit"): _CHOOSE,
    ("GET", "/watches/{watch}/question"): _PAGE,
    ("GET", "/watches/{watch}/question/{side}"): _PAGE,
    ("POST", "/watches/{watch}/question"): _CHANGE,
    ("GET", "/resources/{name}"): Access(None),
    ("GET", "/"): _PAGE,
    ("GET", "/api/docs"): Access(Level.READ, page=True),
    # One watch.
    ("GET", "/watches/{watch}"): _PAGE,
    ("GET", "/watches/{watch}/diff"): _HEAVY_PAGE,
    ("GET", "/watches/{watch}/frame/{name}"): _HEAVY_PAGE,
    ("GET", "/watches/{watch}/why"): _HEAVY_PAGE,
    ("GET", "/watches/{watch}/history"): _HEAVY_PAGE,
    ("GET", "/watches/{watch}/noise"): _PAGE,
    ("POST", "/watches/{watch}/noise"): _CHANGE,
    ("GET", "/watches/{watch}/replay"): _HEAVY_PAGE,
    ("POST", "/watches/{watch}/replay"): Access(Level.WRITE, page=True, body="usual", heavy=True),
    ("GET", "/watches/{watch}/notices"): _PAGE,
    ("POST", "/watches/{watch}/test-notice"): _CHANGE,
    ("POST", "/watches/{watch}/resend"): _CHANGE,
    ("GET", "/watches/{watch}/form"): _PAGE,
    ("POST", "/watches/{watch}/form"): _CHANGE,
    ("GET", "/watches/{watch}/watch.yaml"): _PAGE,
    ("POST", "/watches/{watch}/check"): _CHANGE,
    ("POST", "/watches/{watch}/pause"): _CHANGE,
    ("POST", "/watches/{watch}/resume"): _CHANGE,
    ("GET", "/watches/{watch}/remove"): Access(Level.WRITE, page=True),
    ("POST", "/watches/{watch}/remove"): _CHANGE,
    ("POST", "/watches/{watch}/accept"): _CHANGE,
    ("POST", "/watches/{watch}/reject"): _CHANGE,
    ("GET", "/events/{event}"): _PAGE,
    # Comparing.
    ("GET", "/compare"): Access(Level.READ, page=True, home=True),
    ("POST", "/compare"): Access(Level.READ, page=True, body="import", heavy=True, home=True),
    ("GET", "/compare/{key}"): Access(Level.READ, page=True, heavy=True, home=True),
    ("GET", "/compare/{key}/frame/{name}"): Access(Level.READ, page=True, heavy=True, home=True),
    # Reports.
    ("GET", "/reports"): _PAGE,
    ("POST", "/reports"): Access(Level.WRITE, page=True, body="import"),
    ("GET", "/reports/{key}"): _PAGE,
    ("GET", "/reports/{key}/frame"): _PAGE,
    ("GET", "/reports/{key}/report.html"): _PAGE,
    # Archives. What a replayed page loads comes without cookies: its address has a secret part.
    ("GET", "/archives"): Access(Level.READ, page=True),
    ("GET", "/archives/address"): Access(Level.READ, page=True),
    ("GET", "/archives/compare"): Access(Level.READ, page=True, heavy=True),
    ("GET", "/archives/frame/{shown}"): Access(Level.READ, page=True, heavy=True),
    ("GET", "/web/{rest:path}"): Access(Level.READ, page=True),
    ("GET", "/replay/{key}/{rest:path}"): Access(None),
    ("GET", "/go/{rest:path}"): Access(None, page=True),
    ("GET", "/cdx"): _READ,
    ("GET", "/cdx/search/cdx"): _READ,
    ("GET", "/login"): Access(None, page=True),
    ("POST", "/login"): Access(None, page=True, body="usual"),
    ("POST", "/logout"): Access(Level.READ, session=True, page=True, before_password=True),
    ("GET", "/password"): Access(Level.READ, session=True, page=True, before_password=True),
    ("POST", "/password"): Access(
        Level.READ, session=True, page=True, body="usual", before_password=True
    ),
    # Lists of watches and of changes.
    ("GET", "/watches"): _PAGE,
    ("POST", "/bulk"): Access(Level.WRITE, page=True, body="usual"),
    ("GET", "/changes"): _PAGE,
    ("GET", "/live"): _MINE,
    # Settings. People change them here; programs use the API.
    ("GET", "/settings"): _PAGE,
    ("POST", "/settings/keep"): _ADMIN_FORM,
    ("GET", "/settings/accounts"): Access(Level.ADMIN, session=True, page=True),
    ("POST", "/settings/accounts"): _ADMIN_FORM,
    ("POST", "/settings/accounts/{account}"): _ADMIN_FORM,
    ("GET", "/settings/tokens"): Access(Level.READ, session=True, page=True),
    ("POST", "/settings/tokens"): _MY_FORM,
    ("POST", "/settings/tokens/{token}"): _MY_FORM,
    ("GET", "/settings/notices"): _PAGE,
    ("POST", "/settings/notices/test"): Access(Level.WRITE, page=True, body="usual"),
    ("POST", "/settings/notices/resend"): Access(Level.WRITE, page=True, body="usual"),
    ("GET", "/settings/import"): _PAGE,
    ("POST", "/settings/import"): Access(Level.WRITE, page=True, body="import", heavy=True),
    ("POST", "/settings/import/add"): Access(Level.WRITE, page=True, body="usual", heavy=True),
}


def unclassified(routes: Iterable[Route], access: dict[Route, Access]) -> list[str]:
    """Return routes without a row, and rows without a route, as messages.

    >>> unclassified([("GET", "/new")], {("GET", "/old"): Access(None)})
    ['GET /new has no row in the table of access', 'GET /old is in the table, and no route']
    """
    found = set(routes)
    missing = [
        f"{method} {path} has no row in the table of access"
        for method, path in found - access.keys()
    ]
    left = [
        f"{method} {path} is in the table, and no route" for method, path in access.keys() - found
    ]
    return sorted(missing) + sorted(left)
