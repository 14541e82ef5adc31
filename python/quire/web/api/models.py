"""The shapes of requests and answers, for checks and for the documents."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StringConstraints, WithJsonSchema

from quire.sentinels.accounts import Role, Scope

#: Stands for the schema of a watch, which ``openapi.py`` puts in its place.
FORM_MARK = "x-quire-form"
#: A form of a watch.
Form = Annotated[dict[str, Any], WithJsonSchema({"type": "object", FORM_MARK: True})]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Password = Annotated[str, StringConstraints(min_length=1, max_length=1000)]


class Given(BaseModel, extra="forbid", hide_input_in_errors=True):
    """A body of a request: names that do not exist are errors."""


class PauseGiven(Given):
    """Pause a watch, or let it continue."""

    paused: bool = Field(strict=True)


class ReplayGiven(Given):
    """A watch to run over the stored versions of a page."""

    form: Form
    watch: int | None = Field(
        None, ge=1, le=2**63 - 1, description="The watch whose secrets stand for `<secret>`."
    )
    url: str | None = Field(None, max_length=10_000, description="Which page (default: the first).")


class ResendGiven(Given):
    """Dead letters to send again."""

    ids: list[Annotated[str, StringConstraints(pattern="^[0-9a-f]{1,64}$")]] = Field(
        max_length=1000
    )


class AccountGiven(Given):
    """A new account."""

    name: Name
    password: Password
    role: Role
    one_time: bool = Field(
        default=True, strict=True, description="Whether it must be changed at the first log-in."
    )


class AccountChange(Given):
    """Changes of an account; fields that are left out stay."""

    role: Role | None = None
    password: Password | None = None
    disabled: bool | None = None


class TokenGiven(Given):
    """A new token."""

    name: Name
    scopes: list[Scope] = Field(min_length=1, max_length=4)


class AccountTokenGiven(TokenGiven):
    """A new token of any account."""

    account: int = Field(ge=1, le=2**63 - 1)


class PasswordChange(Given):
    """Another password for oneself."""

    old: Password
    new: Password


# ------------------------------------------------------------ answers


class WatchShown(BaseModel):
    """A watch. Secrets in its form read `<secret>`; send them back like that to keep them."""

    id: int
    name: str
    paused: bool
    tags: list[str]
    created: datetime
    updated: datetime
    form: dict[str, Any]


class WatchesShown(BaseModel):
    """Some watches. `next` is the value of `after` for those that follow."""

    watches: list[WatchShown]
    next: int | None


class PageShown(BaseModel):
    """How a watched page is doing."""

    id: int
    url: str
    state: str
    checked: datetime | None
    changed: datetime | None
    due: datetime | None
    versions: int
    error: str
    missing: bool
    fired: datetime | None


class EventShown(BaseModel):
    """Something that a watch reported."""

    id: str
    watch: int
    page: int
    kind: str
    time: datetime
    old: int | None
    new: int | None
    name: str
    added: list[str]
    removed: list[str]
    message: str
    body: dict[str, Any]


class EventsShown(BaseModel):
    """Some events, the newest first. `next` is the value of `after` for older ones."""

    events: list[EventShown]
    next: str | None


class VersionShown(BaseModel):
    """A stored version of a page."""

    number: int
    time: datetime
    status: int
    length: int


class StateShown(VersionShown):
    """What the watched parts said on a version."""

    text: dict[str, str]


class FindingShown(BaseModel):
    """The finding of a condition; `holds` is null if it is unknown."""

    condition: str
    holds: bool | None
    reason: str
    parts: list[FindingShown]


class FiringShown(BaseModel):
    """A version at which a watch would have fired."""

    time: datetime
    kind: str
    added: list[str]
    removed: list[str]
    message: str
    body: dict[str, Any]


class ReplayShown(BaseModel):
    """The result of a replay."""

    captures: int
    outcomes: dict[str, int]
    months: dict[str, int]
    firings: list[FiringShown]


class NoteShown(BaseModel):
    """Something that could not be carried over."""

    watch: str
    field: str
    text: str


class ImportShown(BaseModel):
    """The result of an import."""

    added: list[int]
    taken: list[str]
    notes: list[NoteShown]


class AccountShown(BaseModel):
    """An account."""

    id: int
    name: str
    role: str
    created: datetime
    must_change_password: bool
    disabled: bool


class TokenShown(BaseModel):
    """A token, without the token itself."""

    id: int
    account: int
    name: str
    scopes: list[str]
    created: datetime
    used: datetime | None


class NewTokenShown(BaseModel):
    """A new token. It is shown only here."""

    id: int
    token: str


class MeShown(BaseModel):
    """Who sends the request."""

    account: int
    name: str
    role: str
    level: str


class StatusShown(BaseModel):
    """How much there is, and how it is doing."""

    version: str
    database: Literal["sqlite", "postgresql"]
    watches: int
    paused: int
    pages: int
    due: int
    versions: int
    stored_bytes: int
    events: dict[str, int]
    notices: dict[str, int]
    checks: dict[str, int]


class LeftOutShown(BaseModel):
    """A part of a page that is left out, because it changes at every fetch."""

    url: str
    kind: str
    place: str
    name: str
    samples: list[str]
    since: datetime
    evidence: str


class ProposalShown(BaseModel):
    """A question about a part that is not where its selector looks."""

    url: str
    where: Literal["moved", "lost", "doubtful"]
    part: str
    selector: list[str]
    path: str
    score: float
    before: str
    after: str
    used: bool
    since: datetime


class ProblemShown(BaseModel):
    """A problem (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    field: str = ""
    line: int | None = None
    errors: list[dict[str, str]] = []
