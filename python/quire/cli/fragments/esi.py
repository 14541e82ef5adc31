"""``quire fragments plan`` and ``quire fragments esi``: show the cuts, and write the files."""

from __future__ import annotations

import dataclasses
import ipaddress
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.common import files, terminal
from quire.cli.common.options import Format, FormatOption, MostBytesOption
from quire.cli.common.terminal import Refusal, printable, reports_errors
from quire.cli.fragments.captures import (
    ByFolderOption,
    VariantCookieOption,
    VariantOption,
    VariantQueryOption,
    Variants,
)
from quire.cli.fragments.pages import SourcesArgument
from quire.cli.fragments.plan_options import (
    AnyStartOption,
    ApartOption,
    Asked,
    DepthOption,
    MinPagesOption,
    MinSourceOption,
    MostTtlOption,
    PaceOption,
    PoliciesOption,
    PrefixOption,
    TtlOption,
    planning,
)
from quire.display import format_bytes, format_count, format_duration, shorten
from quire.sources.capture import MOST_BYTES

if TYPE_CHECKING:
    from quire.fragments import Manifest, Policy
    from quire.fragments.esi.addresses import Unserved
    from quire.fragments.study.facts import FragmentFacts

_MOST_NAME = 60
_WIDTH = 13
_MOST_HAZARDS = 10
_MOST_POLICIES = 3
_MOST_UNSERVED = 5
_DAY_S = 86_400
_UNSERVED: dict[Unserved, str] = {
    "taken": "another page has the same address",
    "status": "captured as an error or redirect",
    "long": "its address is longer than 4,096 bytes",
    "host": "a file without a host, and there are several hosts",
    "form": "not an http or https address",
}


@reports_errors
def plan(
    *,
    sources: SourcesArgument,
    min_source_bytes: MinSourceOption = 500,
    min_pages: MinPagesOption = 2,
    depth: DepthOption = 1,
    prefix: PrefixOption = "",
    any_start: AnyStartOption = False,
    by_folder: ByFolderOption = False,
    variant: VariantOption = None,
    variant_query: VariantQueryOption = None,
    variant_cookie: VariantCookieOption = None,
    apart: ApartOption = True,
    pace: PaceOption = True,
    ttl: TtlOption = None,
    most_ttl: MostTtlOption = _DAY_S,
    policies: PoliciesOption = None,
    top: Annotated[int, typer.Option(min=0, metavar="N", help="Number of fragments to list.")] = 20,
    most_bytes: MostBytesOption = MOST_BYTES,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Show which parts would be cut out, how much that saves, and how long each may be cached.

    Only parts with the same bytes are cut out, and only if an include costs less than it
    saves. Pages that a cache would not compose correctly are listed with the place and
    left whole. Captures of one address are versions of one page: the newest is cut, the
    others show how long its parts stay unchanged.

    \b
    Examples:
      quire fragments plan crawl/
      quire fragments plan crawl.warc.gz --min-source-bytes 200 --depth 2
      quire fragments plan anonymous/ --variant mary/ --variant bob/
      quire fragments plan site.quire --format json | jq '.fragments[].policy'

    Exit codes: 0 on success, 2 on error (including when no input could be read).
    """
    from quire.fragments.esi.composition import Composition  # noqa: PLC0415 - heavy
    from quire.fragments.study.study import planned_fragments  # noqa: PLC0415 - heavy

    asked = Asked(
        sources=sources,
        min_source_bytes=min_source_bytes,
        min_pages=min_pages,
        depth=depth,
        prefix=prefix,
        any_start=any_start,
        by_folder=by_folder,
        variants=Variants.told(variant, variant_query, variant_cookie),
        apart=apart,
        pace=pace,
        ttl_s=ttl,
        most_ttl_s=most_ttl,
        policies=policies,
        most_bytes=most_bytes,
    )
    with planning(asked) as planner:
        made = planner.plan()
        manifest = Composition.of(made).manifest
        facts = planned_fragments(made, progress=planner.progress)
        planner.note_strangers(manifest)
    if format is Format.json:
        terminal.write_json(_as_json(manifest, facts))
    else:
        _print_fragments(manifest, facts, top)
        _print(manifest)


@reports_errors
def esi(
    *,
    sources: SourcesArgument,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="DIR", help="The folder to create.")
    ],
    min_source_bytes: MinSourceOption = 500,
    min_pages: MinPagesOption = 2,
    depth: DepthOption = 1,
    prefix: PrefixOption = "",
    any_start: AnyStartOption = False,
    by_folder: ByFolderOption = False,
    variant: VariantOption = None,
    variant_query: VariantQueryOption = None,
    variant_cookie: VariantCookieOption = None,
    apart: ApartOption = True,
    pace: PaceOption = True,
    ttl: TtlOption = None,
    most_ttl: MostTtlOption = _DAY_S,
    policies: PoliciesOption = None,
    most_bytes: MostBytesOption = MOST_BYTES,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a folder that this command wrote before.")
    ] = False,
    origin: Annotated[
        str,
        typer.Option(
            metavar="IP:PORT", help="The server that will serve DIR to Varnish, for varnish.vcl."
        ),
    ] = "127.0.0.1:8080",
    after: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Earlier composition of the same pages: parts stay cut out as they were, and a part "
            "that changed keeps its name, so that it is purged and not replaced. "
            "`quire fragments changed` lists them.",
        ),
    ] = None,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Write pages as ESI templates and fragments, with VCL for Varnish.

    DIR gets templates/, fragments/, whole/ (pages without cuts), varnish.vcl and
    manifest.json, which lists for each file the hash of its content, how long it may be
    cached and why. Files are named by digests, or keep the names they had in the
    composition given by --after. With varnish.vcl, Varnish serves every page
    at its own address, and files below a folder at their path. `quire fragments verify DIR`
    checks that every page can be composed again.

    \b
    Examples:
      quire fragments esi crawl/ -o composed
      quire fragments esi site.quire -o composed --prefix /quire --depth 2 --force
      quire fragments esi crawl.warc.gz -o composed --variant-cookie session
      quire fragments esi crawl/ -o composed --ttl 300 --format json | jq '.refused'
      quire fragments esi crawl/ -o next --after composed

    Exit codes: 0 on success, 2 on error (including when no input could be read).
    """
    from quire.fragments.esi.write import check_free, write_composition  # noqa: PLC0415 - heavy

    target = files.output_folder(output, [*sources, *(variant or [])])
    check_free(target, force=force)
    server = _server(origin)
    asked = Asked(
        sources=sources,
        min_source_bytes=min_source_bytes,
        min_pages=min_pages,
        depth=depth,
        prefix=prefix,
        any_start=any_start,
        by_folder=by_folder,
        variants=Variants.told(variant, variant_query, variant_cookie),
        apart=apart,
        pace=pace,
        ttl_s=ttl,
        most_ttl_s=most_ttl,
        policies=policies,
        most_bytes=most_bytes,
    )
    earlier = Path(after) if after is not None else None
    with planning(asked) as planner:
        manifest = write_composition(
            planner.plan(earlier),
            target,
            force=force,
            origin=server,
            after=earlier,
            progress=planner.progress,
        )
        planner.note_strangers(manifest)
    if format is Format.json:
        terminal.write_json(_as_json(manifest))
    else:
        _print(manifest)
    _note_unserved(manifest)
    terminal.note(f"{output}: written; `quire fragments verify {printable(output)}` composes it")


def _server(origin: str) -> tuple[str, int]:
    """Read the value of --origin.

    Raises:
        Refusal: it is something else than an IP address and a port.
    """
    host, _, port = origin.rpartition(":")
    try:
        address = ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
        if port.isascii() and port.isdecimal() and 0 < int(port) < 1 << 16:
            return str(address), int(port)
    except ValueError:
        pass
    raise Refusal(
        f"--origin {printable(origin)}: expected an IP address and a port",
        hint="for example 127.0.0.1:8080 or [::1]:8080",
    )


def _note_unserved(manifest: Manifest) -> None:
    """Name the first pages that have no address of their own, and count the rest."""
    unserved = [page for page in manifest.pages if page.unserved]
    for page in unserved[:_MOST_UNSERVED]:
        name = printable(shorten(page.url, _MOST_NAME))
        terminal.note(f"{name}: not served: {_UNSERVED[page.unserved]}")
    more = len(unserved) - _MOST_UNSERVED
    if more > 0:
        terminal.note(f"{format_count(more, 'more page')} not served; --format json lists them")


def _as_json(manifest: Manifest, facts: Sequence[FragmentFacts] = ()) -> dict[str, object]:
    known = {one.name: one for one in facts}
    folders = Counter(page.folder for page in manifest.pages)
    return {
        "pages": len(manifest.pages),
        "composed": folders["templates"],
        "whole": folders["whole"],
        "refused": sum(page.is_refused for page in manifest.pages),
        "includes": sum(page.includes for page in manifest.pages),
        "volumes": {**dataclasses.asdict(manifest.volumes), "stored": manifest.volumes.stored},
        "fragments": [
            {
                **dataclasses.asdict(fragment),
                "saved": fragment.saved(manifest.include_bytes),
                **(_figures(known[fragment.file]) if fragment.file in known else {}),
            }
            for fragment in manifest.fragments
        ],
        "page_policies": [
            {"page": page.name, "is_personal": page.is_personal, **dataclasses.asdict(page.policy)}
            for page in manifest.pages
        ],
        "unserved": [
            {"page": page.name, "url": page.url, "reason": page.unserved}
            for page in manifest.pages
            if page.unserved
        ],
        "hazards": [
            {"page": page.name, **dataclasses.asdict(hazard)}
            for page in manifest.pages
            for hazard in page.hazards
        ],
    }


def _figures(one: FragmentFacts) -> dict[str, object]:
    """The figures that the report has too, by the same names."""
    from quire.fragments.study.columns import COLUMNS  # noqa: PLC0415 - heavy

    names = {"label": printable(one.label), "path": printable(one.path), "rank": one.rank}
    return {column.key: getattr(one, column.key) for column in COLUMNS} | names


def _print_fragments(manifest: Manifest, facts: Sequence[FragmentFacts], top: int) -> None:
    """Print the fragments that save the most, with the columns of the report."""
    from quire.fragments.study.columns import COLUMNS  # noqa: PLC0415 - heavy
    from quire.fragments.study.facts import figure  # noqa: PLC0415 - heavy

    if top and facts:
        heads = "".join(f"{one.heading:>{_WIDTH}}" for one in COLUMNS)
        terminal.write_text(f"{heads}{'kept':>9}  part, and where it is first\n")
    for one in facts[:top]:
        cells = "".join(f"{figure(one, column.key):>{_WIDTH}}" for column in COLUMNS)
        first = printable(shorten(manifest.pages[one.page].name, _MOST_NAME))
        label = printable(shorten(one.label, _MOST_NAME))
        kept = _kept(one.policy) if one.policy is not None else ""
        terminal.write_text(f"{cells}{kept:>9}  {label}: {first} at {one.offset:,}\n")
    beyond = len(manifest.fragments) - top
    if top and beyond > 0:
        terminal.write_text(f"… and {beyond:,} more\n")


def _print(manifest: Manifest) -> None:
    volumes = manifest.volumes
    refused = sum(page.is_refused for page in manifest.pages)
    composed = sum(page.folder == "templates" for page in manifest.pages)
    whole = len(manifest.pages) - composed - refused
    terminal.write_text(
        f"{format_count(len(manifest.pages), 'page')}: {composed:,} composed of "
        f"{format_count(len(manifest.fragments), 'fragment')}, "
        f"{whole:,} with nothing to cut out, {refused:,} refused\n"
        f"stored: {format_bytes(volumes.pages)} as pages, {format_bytes(volumes.stored)} as templates "
        f"and fragments{_share(volumes.stored, volumes.pages)}\n"
        f"moved:  {format_bytes(volumes.moved)} when every page is fetched again and fragments "
        f"are fresh{_share(volumes.moved, volumes.pages)}\n"
    )
    _print_policies(manifest)
    _print_hazards(manifest)
    if len(manifest.pages) == 1 and not manifest.fragments:
        terminal.note(
            "one page shares nothing with others; name more pages, or several captures of it"
        )
    elif not manifest.fragments and not refused:
        terminal.note("no part is worth cutting out; try a lower --min-source-bytes")


def _kept(policy: Policy) -> str:
    """How long something is cached, in a word."""
    if policy.sharing == "private":
        return "private"
    return format_duration(policy.ttl_s) if policy.ttl_s else "never"


def _print_policies(manifest: Manifest) -> None:
    """Print how long files are cached, and the most frequent reasons."""
    fragments = Counter((_kept(one.policy), one.policy.why) for one in manifest.fragments)
    pages = Counter((_kept(one.policy), one.policy.why) for one in manifest.pages)
    if len(fragments | pages) == 1:
        ((kept, reason),) = fragments | pages
        terminal.write_text(f"kept:   {kept} ({reason})\n")
        return
    page = ("page without its fragments", "pages without their fragments")
    for found, word, words in (
        (fragments, "fragment", "fragments"),
        (pages, *(page if fragments else ("page", "pages"))),
    ):
        for (kept, reason), count in found.most_common(_MOST_POLICIES):
            terminal.write_text(f"kept:   {kept}: {format_count(count, word, words)} ({reason})\n")
        more = len(found) - _MOST_POLICIES
        if more > 0:
            terminal.write_text(f"        {format_count(more, 'more reason')} in --format json\n")


def _share(part: int, whole: int) -> str:
    return f" ({100 * part / whole:.1f} %)" if whole else ""


def _print_hazards(manifest: Manifest) -> None:
    from quire.fragments.cuts.hazards import MEANINGS, HazardKind  # noqa: PLC0415 - heavy

    found = [(page.name, hazard) for page in manifest.pages for hazard in page.hazards]
    for name, hazard in found[:_MOST_HAZARDS]:
        stays = "stays" if hazard.kept == 1 else "stay"
        kept = f"; {format_count(hazard.kept, 'part')} {stays}" if hazard.kept else ""
        terminal.write_text(
            f"hazard: {printable(shorten(name, _MOST_NAME))} at {hazard.offset:,}: "
            f"{MEANINGS[hazard.kind]}{kept}\n"
        )
    if len(found) > _MOST_HAZARDS:
        terminal.write_text(f"{len(found) - _MOST_HAZARDS:,} more hazards; --format json has all\n")
    starts = {HazardKind.byte_order_mark, HazardKind.no_leading_tag}
    if any(hazard.kind in starts for _, hazard in found):
        terminal.note("--any-start also cuts pages that do not begin with a tag; see its help")
