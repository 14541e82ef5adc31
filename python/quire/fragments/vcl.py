"""VCL: what tells Varnish which files are templates, and how long each fragment may be kept.

Nothing of a page gets into it. It is made of the prefix, of names that are digests, of whole seconds and of names of headers, each of which
was checked against a list of what is allowed when it came in.

Above: ``esi``, ``varnish``. Below: ``manifest``, ``includes``, ``policies``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from quire.fragments.includes import NAME, checked_prefix
from quire.fragments.manifest import Manifest
from quire.fragments.policies import DEFAULT_TTL_S, Policy

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

sub vcl_backend_response {{
    set beresp.do_esi = false;
    if (beresp.status == 200 && bereq.url ~ "^{prefix}/templates/[0-9a-f]{{32}}[.]html$") {{
        set beresp.do_esi = true;
    }}
    if (bereq.url ~ "^{prefix}/(fragments|templates|whole)/") {{
        set beresp.ttl = {ttl_s}s;
    }}
{policies}}}
"""


def varnish_vcl(manifest: Manifest, *, host: str = "127.0.0.1", port: int = 8080) -> str:
    """Write the VCL of a composition.

    Args:
        manifest: what there is.
        host: the origin's address, a number.
        port: its port.
    """
    if not host or set(host) - set("0123456789abcdef.:"):
        raise ValueError(f"host {host!r}: expected the number of an address")
    return _VCL.format(
        prefix=checked_prefix(manifest.prefix),
        max_depth=manifest.max_depth,
        host=host,
        port=int(port),
        ttl_s=DEFAULT_TTL_S,
        policies="".join(_policies(manifest)),
    )


def _policies(manifest: Manifest) -> Iterator[str]:
    names: dict[Policy, list[str]] = defaultdict(list)
    for fragment in manifest.fragments:
        if fragment.policy != Policy() and NAME.fullmatch(fragment.file):
            names[fragment.policy].append(fragment.file)
    for policy, every in sorted(names.items()):
        for first in range(0, len(every), _NAMES_IN_A_PATTERN):
            some = "|".join(every[first : first + _NAMES_IN_A_PATTERN])
            yield f'    if (bereq.url ~ "^{manifest.prefix}/[a-z]+/({some})[.]html$") {{\n'
            yield f"        set beresp.ttl = {policy.ttl_s}s;\n"
            if policy.vary:
                yield f'        set beresp.http.Vary = "{", ".join(policy.vary)}";\n'
            yield "    }\n"
