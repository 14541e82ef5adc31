"""VCL: what tells Varnish which files are templates, how long each file may be kept, and for whom.

Nothing of a page gets into it. It is made of the prefix, of names that are digests, of whole seconds and of names of headers, each of which
was checked against a list of what is allowed when it came in.

Left to itself, Varnish keeps nothing for requests that have cookies, whatever an answer says. So readers are told apart before it looks: what is the same
for all loses its cookies, what varies by them is looked up with them, and what is private or changes all the time goes past the cache. Of what is not
known, Varnish decides as it always does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from textwrap import indent

from quire.fragments.cuts.includes import NAME, checked_prefix
from quire.fragments.esi.manifest import Manifest
from quire.fragments.policy import DEFAULT_TTL_S, Policy

VCL_NAME = "varnish.vcl"
# Expressions are compiled: a few long ones are quicker than one for each name, and one of all names is too long.
_NAMES_IN_A_PATTERN = 200

_VCL = """\
# Written by `quire fragments esi`. Addresses under {prefix}/templates/ are composed, no others are.
# Varnish composes {max_depth} deep here; its limit is the parameter max_esi_depth.
vcl 4.1;

backend default {{
    .host = "{host}";
    .port = "{port}";
}}

sub vcl_recv {{
    # Names are of bytes: what is asked behind them says nothing, and would go around the rules for them.
    if (req.url ~ "^{prefix}/(fragments|templates|whole)/") {{
        set req.url = regsub(req.url, "[?].*$", "");
        if (req.url !~ "^{prefix}/[a-z]+/[0-9a-f]{{32}}[.]html$") {{
            return (pass);
        }}
    }}
    if (req.method == "GET" || req.method == "HEAD") {{
{requests}    }}
}}

sub vcl_backend_response {{
    set beresp.do_esi = false;
    if (beresp.status == 200 && bereq.url ~ "^{prefix}/templates/[0-9a-f]{{32}}[.]html$") {{
        set beresp.do_esi = true;
    }}
    # What went wrong is no page and no part of one: it is asked for again, and not kept in their place.
    if (beresp.status != 200 && bereq.url ~ "^{prefix}/(fragments|templates|whole)/") {{
        set beresp.uncacheable = true;
        set beresp.ttl = 0s;
        set beresp.grace = 0s;
        return (deliver);
    }}
    if (bereq.url ~ "^{prefix}/(fragments|templates|whole)/") {{
        set beresp.ttl = {ttl_s}s;
        set beresp.grace = 0s;
    }}
{answers}}}

sub vcl_deliver {{
{deliveries}}}
"""

_PAST_THE_CACHE = "return (pass);"
# What follows the built-in rules for cookies would undo this, so they are not asked; those for passwords are.
_BY_COOKIE = "if (!req.http.Authorization) { return (hash); }"
_FOR_ALL = "unset req.http.Cookie;"
_FOR_NOBODY_ELSE = 'set resp.http.Cache-Control = "private, no-store";'


def varnish_vcl(manifest: Manifest, *, host: str = "127.0.0.1", port: int = 8080) -> str:
    """Write the VCL of a composition.

    Args:
        manifest: what there is.
        host: the origin's address, a number.
        port: its port.
    """
    if not host or set(host) - set("0123456789abcdef.:"):
        raise ValueError(f"host {host!r}: expected the number of an address")
    rules = _Rules(manifest)
    return _VCL.format(
        prefix=checked_prefix(manifest.prefix),
        max_depth=manifest.max_depth,
        host=host,
        port=int(port),
        ttl_s=DEFAULT_TTL_S,
        requests=indent("".join(rules.requests()), "    "),
        answers="".join(rules.answers()),
        deliveries="".join(rules.deliveries()),
    )


class _Rules:
    """The rules for some files, each kind of rule for as many files at once as there are."""

    def __init__(self, manifest: Manifest) -> None:
        self._prefix = manifest.prefix
        self._pages = manifest.pages
        # A fragment may be a page of its own, with the same name: its rules are those of the more careful one.
        self._policies: dict[str, Policy] = {}
        files = [(page.file, page.policy) for page in manifest.pages]
        files += [(fragment.file, fragment.policy) for fragment in manifest.fragments]
        for name, policy in files:
            self._policies[name] = min(self._policies.get(name, policy), policy, key=_care)

    def requests(self) -> Iterator[str]:
        """What becomes of a request."""
        asked: list[tuple[str, Callable[[Policy], bool]]] = [
            (_PAST_THE_CACHE, lambda one: not one.is_cached),
            (_BY_COOKIE, lambda one: one.is_cached and _differs_by_cookie(one)),
            (
                _FOR_ALL,
                lambda one: (
                    one.is_cached and one.sharing == "shared" and not _differs_by_cookie(one)
                ),
            ),
        ]
        for command, applies in asked:
            yield from self._for(self._names(applies), "req", command)

    def answers(self) -> Iterator[str]:
        """How long an answer is kept."""
        groups: dict[tuple[int, tuple[str, ...], bool], list[str]] = defaultdict(list)
        for name, policy in self._policies.items():
            groups[policy.ttl_s, policy.vary, policy.is_cached].append(name)
        for (ttl_s, vary, is_cached), names in sorted(groups.items()):
            commands = [f"set beresp.ttl = {ttl_s}s;"] if ttl_s != DEFAULT_TTL_S else []
            if vary:
                commands.append(f'set beresp.http.Vary = "{", ".join(vary)}";')
            if not is_cached:
                commands.append("set beresp.uncacheable = true;")
            if commands:
                yield from self._for(names, "bereq", "\n        ".join(commands))

    def deliveries(self) -> Iterator[str]:
        """What caches behind this one are told: of pages for one reader, to keep nothing."""
        own = self._names(lambda one: one.sharing == "private")
        yield from self._for(
            {*own, *(page.file for page in self._pages if page.is_personal)},
            "req",
            _FOR_NOBODY_ELSE,
        )

    def _names(self, applies: Callable[[Policy], bool]) -> list[str]:
        return [name for name, policy in self._policies.items() if applies(policy)]

    def _for(self, names: Iterable[str], request: str, command: str) -> Iterator[str]:
        every = sorted({name for name in names if NAME.fullmatch(name)})
        for first in range(0, len(every), _NAMES_IN_A_PATTERN):
            some = "|".join(every[first : first + _NAMES_IN_A_PATTERN])
            yield f'    if ({request}.url ~ "^{self._prefix}/[a-z]+/({some})[.]html$") {{\n'
            yield f"        {command}\n    }}\n"


def _differs_by_cookie(policy: Policy) -> bool:
    return "cookie" in {header.lower() for header in policy.vary}


def _care(policy: Policy) -> tuple[bool, int, bool]:
    """What is private comes first, then what is kept for less, then what is not known to be shared."""
    return policy.sharing != "private", policy.ttl_s, policy.sharing == "shared"
