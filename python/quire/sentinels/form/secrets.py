"""Secrets in forms: hidden when a watch is shown, and kept when it is edited.

Shown forms have ``<secret>`` in place of headers that can hold credentials, cookies, passwords,
texts that are typed into pages, credentials of proxies, and targets of notices, which usually
hold a token. A form with such a placeholder is refused when it is read, unless ``keep_secrets`` put
the stored secret back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from quire.errors import WatchError

#: Stands for a secret. In lists there is a number, such as ``<secret 2>``.
HIDDEN = "<secret>"

#: Headers without secrets. All others are hidden.
SHOWN_HEADERS = frozenset(
    {"accept", "accept-encoding", "accept-language", "cache-control", "dnt", "pragma", "user-agent"}
)
_HIDDEN = re.compile(r"<secret(?: [0-9]+)?>")
_CREDENTIALS = re.compile(r"(//)[^/?#\s]*@")


def has_credentials(address: str) -> bool:
    """Tell whether an address has a user name or a password.

    >>> has_credentials("https://me@example.org/"), has_credentials("https://example.org/@me")
    (True, False)
    """
    return _CREDENTIALS.search(address) is not None


def hide_credentials(address: str) -> str:
    """Return an address with its user name and password hidden.

    >>> hide_credentials("https://me:pw@example.org/a@b")
    'https://<secret>@example.org/a@b'
    """
    return _CREDENTIALS.sub(rf"\1{HIDDEN}@", address, count=1)


def hidden(number: int) -> str:
    """Return the placeholder of a secret in a list."""
    return f"<secret {number}>"


def has_hidden(text: str) -> bool:
    """Tell whether a text has a placeholder of a secret.

    >>> has_hidden("mailto:<secret 1>"), has_hidden("secret")
    (True, False)
    """
    return _HIDDEN.search(text) is not None


def hide_target(target: str, number: int) -> str:
    """Return a target of notices with everything behind its scheme hidden.

    >>> hide_target("mailto://me:pw@example.org", 1)
    'mailto:<secret 1>'
    """
    return f"{target.partition(':')[0]}:{hidden(number)}"


def hide_header(name: str, value: str) -> str:
    """Return the value of a header, hidden if it can be secret.

    >>> hide_header("Accept-Language", "de"), hide_header("Authorization", "Bearer x")
    ('de', '<secret>')
    """
    return value if name.lower() in SHOWN_HEADERS else HIDDEN


def keep_secrets(form: object, shown: object, stored: object) -> object:
    """Return an edited form with the stored secrets in place of placeholders.

    Secrets for fetching are kept only if the form has the pages, the proxy and the check of
    certificates that they were stored for: someone who may edit a watch, but not see its secrets,
    cannot send them elsewhere.

    Args:
        form: the edited form.
        shown: the stored form as it was shown, with placeholders.
        stored: the stored form with its secrets.

    Raises:
        WatchError: the form would send a hidden secret to another address.
    """
    pairs = zip(_texts(shown), _texts(stored), strict=True)
    secrets = {seen: secret for seen, (_, secret) in pairs if seen[1] != secret}
    if _fetches(form, secrets) and not _goes_the_same_way(form, shown):
        raise WatchError(
            "fetch: the addresses, the proxy or 'verify_tls' changed; write its secrets again",
            path="fetch",
        )
    return _filled(form, "", secrets)


#: Fields that can be written in two places.
_SAME = {".urls": ".url", ".notify": ".notify.to"}


def _texts(data: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Return all texts with their paths, in which the items of a list have the path of the list."""
    if isinstance(data, str):
        yield _SAME.get(path, path), data
    elif isinstance(data, dict):
        for name, value in data.items():
            yield from _texts(value, f"{path}.{name}")
    elif isinstance(data, list):
        for value in data:
            yield from _texts(value, path)


def _fetches(form: object, secrets: dict[tuple[str, str], str]) -> bool:
    return any(each in secrets and each[0].startswith(".fetch") for each in _texts(form))


def _goes_the_same_way(form: object, shown: object) -> bool:
    origins, *route = _way(form)
    shown_origins, *shown_route = _way(shown)
    return origins <= shown_origins and route == shown_route


def _way(form: object) -> tuple[set[tuple[str, str]], object, object]:
    """Return all that decides where secrets for fetching go."""
    if not isinstance(form, dict):
        return set(), None, None
    fetch = form.get("fetch")
    fetch = fetch if isinstance(fetch, dict) else {}
    steps = fetch.get("steps")
    opened = (
        [step["open"] for step in steps or [] if isinstance(step, dict) and step.get("open")]
        if isinstance(steps, list)
        else []
    )
    urls = form.get("urls")
    addresses = [form.get("url"), *(urls if isinstance(urls, list) else []), *opened]
    origins = {_origin(each) for each in addresses if isinstance(each, str)}
    return origins, fetch.get("proxy"), fetch.get("verify_tls", True)


def _origin(address: str) -> tuple[str, str]:
    try:
        split = urlsplit(address.strip())
    except ValueError:
        return "", address
    return split.scheme, split.netloc.lower()


def _filled(data: object, path: str, secrets: dict[tuple[str, str], str]) -> object:
    if isinstance(data, str):
        return secrets.get((_SAME.get(path, path), data), data)
    if isinstance(data, dict):
        return {name: _filled(value, f"{path}.{name}", secrets) for name, value in data.items()}
    if isinstance(data, list):
        return [_filled(value, path, secrets) for value in data]
    return data
