"""VCL: tells Varnish which files are templates, how long each file may be cached, and for whom.

No text of a page gets into it. It consists of the prefix, names that are digests, whole seconds and
header names, each of which was checked against a grammar when it came in.

By default, Varnish caches nothing for requests with cookies, whatever the response says. So the VCL
distinguishes users first: files that are the same for all lose the cookies of the request, files
that vary by cookie are looked up with them, and files that are private or always change bypass the
cache. For files of which nothing is known, the built-in rules of Varnish apply.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from textwrap import indent

from quire.fragments.cuts.includes import NAME, checked_prefix
from quire.fragments.esi.manifest import Manifest
from quire.fragments.policy import DEFAULT_TTL_S, Policy

VCL_NAME = "varnish.vcl"
# A few long expressions are faster than one for each name, and one of all names is too long.
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
    # Names are digests: a query after them means nothing, and would bypass the rules below.
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
    # An error is not a page: it is not cached in its place.
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
# The built-in rules for cookies would undo this, so they are skipped; those for passwords apply.
_BY_COOKIE = "if (!req.http.Authorization) { return (hash); }"
_FOR_ALL = "unset req.http.Cookie;"
_FOR_NOBODY_ELSE = 'set resp.http.Cache-Control = "private, no-store";'


def varnish_vcl(manifest: Manifest, *, host: str = "127.0.0.1", port: int = 8080) -> str:
    """Write the VCL of a composition.

    Args:
        manifest: the files and their policies.
        host: the IP address of the origin.
        port: its port.
    """
    if not host or set(host) - set("0123456789abcdef.:"):
        raise ValueError(f"host {host!r}: expected an IP address")
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
    """The rules for all files, grouped by rule."""

    def __init__(self, manifest: Manifest) -> None:
        self._prefix = manifest.prefix
        self._pages = manifest.pages
        # A fragment may also be a page, with the same name: the more careful policy applies.
        self._policies: dict[str, Policy] = {}
        files = [(page.file, page.policy) for page in manifest.pages]
        files += [(fragment.file, fragment.policy) for fragment in manifest.fragments]
        for name, policy in files:
            self._policies[name] = min(self._policies.get(name, policy), policy, key=_care)

    def requests(self) -> Iterator[str]:
        """Rules for requests."""
        groups: dict[str, list[str]] = defaultdict(list)
        for name, policy in self._policies.items():
            if not policy.is_cached:
                groups[_PAST_THE_CACHE].append(name)
            elif "cookie" in {header.lower() for header in policy.vary}:
                groups[_BY_COOKIE].append(name)
            elif policy.sharing == "shared":
                groups[_FOR_ALL].append(name)
        for command in (_PAST_THE_CACHE, _BY_COOKIE, _FOR_ALL):
            yield from self._for(groups[command], "req", command)

    def answers(self) -> Iterator[str]:
        """Rules for responses: how long they are cached."""
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
        """Rules for caches behind this one: they must not keep pages of one user."""
        own = {name for name, policy in self._policies.items() if policy.sharing == "private"}
        personal = {page.file for page in self._pages if page.is_personal}
        yield from self._for(own | personal, "req", _FOR_NOBODY_ELSE)

    def _for(self, names: Iterable[str], request: str, command: str) -> Iterator[str]:
        every = sorted({name for name in names if NAME.fullmatch(name)})
        for first in range(0, len(every), _NAMES_IN_A_PATTERN):
            some = "|".join(every[first : first + _NAMES_IN_A_PATTERN])
            yield f'    if ({request}.url ~ "^{self._prefix}/[a-z]+/({some})[.]html$") {{\n'
            yield f"        {command}\n    }}\n"


def _care(policy: Policy) -> tuple[bool, int, bool]:
    """Order: private first, then shorter TTLs, then those not known to be shared."""
    return policy.sharing != "private", policy.ttl_s, policy.sharing == "shared"
