"""VCL: which page is at which address, how long each file may be cached, for whom, and its key.

No text of a page gets into it. It consists of the prefix, names that are digests, whole seconds,
header names, and the addresses and content types of pages, each of which was checked against a
grammar when it came in.

By default, Varnish caches nothing for requests with cookies, whatever the response says. So the VCL
distinguishes users first: files that are the same for all lose the cookies of the request, files
that vary by cookie are looked up with them, and files that are private or always change bypass the
cache. For files of which nothing is known, the built-in rules of Varnish apply.

Every file is an object of its own, whose header ``Surrogate-Key`` has two keys: its folder and its
name. A page that includes a fragment does not have the key of the fragment. So purging a fragment
fetches one file, and every page shows it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from quire.fragments.cuts.includes import NAME, checked_prefix
from quire.fragments.esi.manifest import Manifest
from quire.fragments.esi.vcl_map import AddressMap
from quire.fragments.policy import DEFAULT_TTL_S, Policy

VCL_NAME = "varnish.vcl"
#: The server of the files, unless another is named: IP address and port.
ORIGIN = ("127.0.0.1", 8080)
# A few long expressions are faster than one for each name, and one of all names is too long.
_NAMES_IN_A_PATTERN = 200

_VCL = """\
# Written by `quire fragments esi`. Every page is served at its own address.
# Varnish composes {max_depth} deep here; its limit is the parameter max_esi_depth.
vcl 4.1;

import std;

# The server of the files in this folder: any static server. With .host_header you can set the name
# that it is asked for; without it, that is .host.
backend default {{
    .host = "{host}";
    .port = "{port}";
}}

# Who may purge. If a proxy on this machine forwards requests to Varnish, everybody seems to be
# here: then refuse PURGE in the proxy.
acl quire_purgers {{
    "127.0.0.1";
    "::1";
}}

{map}
sub quire_purge {{
    if (client.ip !~ quire_purgers || req.http.X-Forwarded-For ~ ",") {{
        return (synth(403, "Not allowed to purge"));
    }}
    # Without keys, the page or file at this address is purged.
    if (!req.http.Surrogate-Key && req.url ~ "^{prefix}/[a-z]+/[0-9a-f]{{32}}[.]html$") {{
        set req.http.Surrogate-Key = regsub(req.url, "^.*/([0-9a-f]{{32}})[.]html$", "\\1");
    }}
    if (!req.http.Surrogate-Key) {{
        return (synth(404, "Not found"));
    }}
    if (req.http.Surrogate-Key !~ "^[0-9A-Za-z_-]{{1,64}}( [0-9A-Za-z_-]{{1,64}}){{0,99}}$") {{
        return (synth(400, "Surrogate-Key: expected names, separated by spaces"));
    }}
    if (!std.ban("obj.http.Surrogate-Key ~ (^|\\s)(" +
        regsuball(req.http.Surrogate-Key, " ", "|") + ")(\\s|$)")) {{
        return (synth(500, "Not purged"));
    }}
    return (synth(200, "Purged"));
}}

sub vcl_recv {{
    unset req.http.quire-file;
    unset req.http.quire-type;
    if (req.url !~ "^/[!-~]*$") {{
        return (synth(400, "Bad address"));
    }}
    # Only clients ask for addresses of pages; includes name files.
    if (req.esi_level == 0) {{
{address}        call quire_find;
        unset req.http.quire-address;
        unset req.http.quire-map;
        if (req.http.quire-file) {{
            set req.url = "{prefix}/" + req.http.quire-file + ".html";
        }}
    }}
    # Names are digests: a query after them means nothing, and would bypass the rules below.
    if (req.url ~ "^{prefix}/(fragments|templates|whole)/") {{
        set req.url = regsub(req.url, "[?].*$", "");
    }}
    if (req.method == "PURGE") {{
        call quire_purge;
    }}
    if (req.url !~ "^{prefix}/(fragments|templates|whole)/[0-9a-f]{{32}}[.]html$") {{
        # To serve style sheets and images from the same origin, write instead: return (hash);
        return (synth(404, "Not found"));
    }}
    if (req.method != "GET" && req.method != "HEAD") {{
        return (synth(405, "Method not allowed"));
    }}
    # A template may be the same as before while a fragment in it is not: it is always sent whole.
    if (req.url ~ "^{prefix}/templates/") {{
        unset req.http.If-None-Match;
        unset req.http.If-Modified-Since;
        unset req.http.Range;
    }}
{requests}}}

sub vcl_hash {{
    # A file is the same for all addresses and hosts.
    if (req.url ~ "^{prefix}/(fragments|templates|whole)/") {{
        hash_data(req.url);
        return (lookup);
    }}
}}

sub vcl_backend_fetch {{
    unset bereq.http.quire-file;
    unset bereq.http.quire-type;
    # The response is cached for all clients, so none of them may choose the host.
    if (!bereq.uncacheable && bereq.url ~ "^{prefix}/(fragments|templates|whole)/") {{
        unset bereq.http.Host;
    }}
}}

sub vcl_backend_response {{
    set beresp.do_esi = false;
    if (beresp.status == 200 && bereq.url ~ "^{prefix}/templates/[0-9a-f]{{32}}[.]html$") {{
        set beresp.do_esi = true;
        unset beresp.http.ETag;
        unset beresp.http.Last-Modified;
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
        set beresp.http.Surrogate-Key =
            regsub(bereq.url, "^{prefix}/([a-z]+)/([0-9a-f]{{32}})[.]html$", "\\1 \\2");
    }}
{answers}}}

sub vcl_deliver {{
    if (req.http.quire-type && resp.status == 200) {{
        set resp.http.Content-Type = req.http.quire-type;
    }}
    # Browsers ask every time, so that a purge reaches everybody.
    if (req.url ~ "^{prefix}/(fragments|templates|whole)/") {{
        set resp.http.Cache-Control = "no-cache";
    }}
{deliveries}}}

sub vcl_synth {{
    if (resp.status == 405) {{
        set resp.http.Allow = "GET, HEAD";
    }}
}}
"""

_ADDRESS = """\
        set req.http.quire-address = req.url;
"""
# Ports that clients leave out are left out here too.
_ADDRESS_WITH_HOST = """\
        set req.http.quire-address = std.tolower(regsub(req.http.Host, ":(80|443)$", ""));
        if (req.http.quire-address !~ "^[][0-9a-z_.:-]+$") {
            return (synth(404, "Not found"));
        }
        set req.http.quire-address = req.http.quire-address + req.url;
"""

_PAST_THE_CACHE = "return (pass);"
# The built-in rules for cookies would undo this, so they are skipped; those for passwords apply.
_BY_COOKIE = "if (!req.http.Authorization) { return (hash); }"
_FOR_ALL = "unset req.http.Cookie;"
_FOR_NOBODY_ELSE = 'set resp.http.Cache-Control = "private, no-store";'


def varnish_vcl(manifest: Manifest, *, host: str = ORIGIN[0], port: int = ORIGIN[1]) -> str:
    """Write the VCL of a composition.

    Args:
        manifest: the files and their policies.
        host: the IP address of the origin.
        port: its port.
    """
    if not host or set(host) - set("0123456789abcdef.:"):
        raise ValueError(f"host {host!r}: expected an IP address")
    rules, addresses = _Rules(manifest), AddressMap.of(manifest)
    return _VCL.format(
        map=addresses.vcl(),
        address=_ADDRESS_WITH_HOST if addresses.has_hosts else _ADDRESS,
        prefix=checked_prefix(manifest.prefix),
        max_depth=manifest.max_depth,
        host=host,
        port=int(port),
        ttl_s=DEFAULT_TTL_S,
        requests="".join(rules.requests()),
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
