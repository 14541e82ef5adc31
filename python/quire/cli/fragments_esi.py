"""``quire fragments plan`` and ``quire fragments esi``: which parts are cut out of which pages, and the files of it."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli import terminal
from quire.cli.archive_options import told_bytes
from quire.cli.archive_progress import telling
from quire.cli.fragments_pages import Pages, SourcesArgument
from quire.cli.options import Format, FormatOption
from quire.cli.templates_tables import counted
from quire.cli.terminal import Refusal, reports_errors, shown
from quire.sources.capture import MOST_BYTES
from quire.writing import shortened

if TYPE_CHECKING:
    from quire.fragments import FragmentPlan, Manifest, Policy

_MOST_NAME = 60
_MOST_HAZARDS = 10

MinBytesOption = Annotated[
    int, typer.Option(min=1, metavar="N", help="Bytes that a part has, at least.")
]
MinPagesOption = Annotated[
    int, typer.Option(min=2, metavar="N", help="Different pages that have it, at least.")
]
DepthOption = Annotated[
    int, typer.Option(min=1, max=5, metavar="N", help="How deep includes may nest.")
]
PrefixOption = Annotated[
    str, typer.Option(metavar="PATH", help="What addresses in includes begin with: /quire.")
]
AnyStartOption = Annotated[
    bool,
    typer.Option(
        "--any-start",
        help="Also cut pages that begin with no tag; Varnish needs -p feature=+esi_disable_xml_check.",
    ),
]
PoliciesOption = Annotated[
    str | None,
    typer.Option(
        metavar="JSON",
        help='How long fragments may be kept, by their names: {"NAME": {"ttl_s": 60, "vary": ["Cookie"]}}.',
    ),
]
MostBytesOption = Annotated[
    int, typer.Option(min=1, metavar="N", help="A longer page is not read.")
]


@reports_errors
def plan(
    *,
    sources: SourcesArgument,
    min_bytes: MinBytesOption = 500,
    min_pages: MinPagesOption = 2,
    depth: DepthOption = 1,
    prefix: PrefixOption = "",
    any_start: AnyStartOption = False,
    top: Annotated[int, typer.Option(min=0, metavar="N", help="Fragments that are listed.")] = 20,
    most_bytes: MostBytesOption = MOST_BYTES,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Show which parts of pages would be cut out, and what that saves.

    Only parts with the same bytes are cut out, where an include costs less than it
    saves. Pages that a cache would not compose as they are, are named with the place
    and left whole. Of an archive the newest version of each page is taken.

    \b
    Examples:
      quire fragments plan crawl/
      quire fragments plan crawl.warc.gz --min-bytes 200 --depth 2
      quire fragments plan site.quire --format json | jq .volumes

    Exit code: 0 done, 2 error, which is also that nothing could be read.
    """
    from quire.fragments import EsiFiles  # noqa: PLC0415 - heavy

    rules = _Rules(min_bytes, min_pages, depth, prefix, any_start=any_start)
    with _planned(sources, rules, most_bytes, None) as (made, tell):
        files = EsiFiles(made)
        done, of = 0, len(made.spool)
        for file in files:
            done += file.is_page
            tell("cut", done, of)
        manifest = files.manifest
    if format is Format.json:
        terminal.write_json(_as_json(manifest))
    else:
        _print(manifest, top)


@reports_errors
def esi(
    *,
    sources: SourcesArgument,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="DIR", help="The folder that is made.")
    ],
    min_bytes: MinBytesOption = 500,
    min_pages: MinPagesOption = 2,
    depth: DepthOption = 1,
    prefix: PrefixOption = "",
    any_start: AnyStartOption = False,
    policies: PoliciesOption = None,
    most_bytes: MostBytesOption = MOST_BYTES,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a folder that this command has made.")
    ] = False,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Write pages as ESI templates and fragments, with VCL for Varnish.

    DIR gets templates/, fragments/, whole/ (pages that are left as they are),
    varnish.vcl and manifest.json, which says what comes of each file. Files are named
    by digests. `quire fragments verify DIR` proves that every page comes out again.

    \b
    Examples:
      quire fragments esi crawl/ -o composed
      quire fragments esi site.quire -o composed --prefix /quire --depth 2 --force
      quire fragments esi crawl/ -o composed --format json | jq '.refused'

    Exit code: 0 done, 2 error, which is also that nothing could be read.
    """
    from quire.fragments.esi import check_free, write_composition  # noqa: PLC0415 - heavy

    target = Path(output)
    check_free(target, force=force)
    rules = _Rules(min_bytes, min_pages, depth, prefix, any_start=any_start)
    with _planned(sources, rules, most_bytes, policies) as (made, tell):
        manifest = write_composition(
            made, target, force=force, tell=lambda done, of: tell("cut", done, of)
        )
    if format is Format.json:
        terminal.write_json(_as_json(manifest))
    else:
        _print(manifest, 0)
    terminal.note(f"{output}: written; `quire fragments verify {shown(output)}` composes it")


@dataclasses.dataclass(frozen=True, slots=True)
class _Rules:
    """What the options say."""

    min_bytes: int
    min_pages: int
    depth: int
    prefix: str
    any_start: bool = dataclasses.field(kw_only=True)


@contextmanager
def _planned(
    sources: list[str], rules: _Rules, most_bytes: int, policies: str | None
) -> Iterator[tuple[FragmentPlan, Callable[[str, int, int], None]]]:
    from quire.fragments import PlanRules, plan_fragments  # noqa: PLC0415 - heavy

    try:
        checked = PlanRules(
            min_bytes=rules.min_bytes,
            min_pages=rules.min_pages,
            max_depth=rules.depth,
            prefix=rules.prefix,
            xml_check=not rules.any_start,
        )
    except ValueError as error:
        raise Refusal(str(error)) from None
    known = {} if policies is None else read_policies(Path(policies))
    with telling() as tell:
        pages = Pages(sources, most_bytes, tell)
        with plan_fragments(pages, rules=checked, policies=known) as made:
            yield made, tell
    pages.complain()


def read_policies(path: Path) -> dict[str, Policy]:
    """Read how long fragments may be kept.

    Raises:
        Refusal: the file says something else.
    """
    from quire.fragments import Policy  # noqa: PLC0415 - heavy

    expected = 'expected {"NAME": {"ttl_s": 60, "vary": ["Cookie"]}}'
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        return {
            str(name): Policy(int(one.get("ttl_s", Policy().ttl_s)), tuple(one.get("vary", ())))
            for name, one in told.items()
        }
    except (AttributeError, RecursionError, TypeError, ValueError) as error:
        raise Refusal(f"{path}: {error}", hint=expected) from None


def _as_json(manifest: Manifest) -> dict[str, object]:
    folders = Counter(page.folder for page in manifest.pages)
    return {
        "pages": len(manifest.pages),
        "composed": folders["templates"],
        "whole": folders["whole"],
        "refused": sum(page.is_refused for page in manifest.pages),
        "includes": sum(page.includes for page in manifest.pages),
        "volumes": {**dataclasses.asdict(manifest.volumes), "stored": manifest.volumes.stored},
        "fragments": [dataclasses.asdict(fragment) for fragment in manifest.fragments],
        "hazards": [
            {"page": page.name, **dataclasses.asdict(hazard)}
            for page in manifest.pages
            for hazard in page.hazards
        ],
    }


def _print(manifest: Manifest, top: int) -> None:
    if top and manifest.fragments:
        terminal.write_text(f"{'bytes':>9}  {'pages':>6}  {'uses':>6}  {'saved':>9}  where first\n")
    for fragment in manifest.fragments[:top]:
        saved = (fragment.uses - 1) * fragment.length
        first = manifest.pages[fragment.first_page].name
        terminal.write_text(
            f"{fragment.length:>9,}  {fragment.pages:>6,}  {fragment.uses:>6,}  {told_bytes(saved):>9}  "
            f"{shown(shortened(first, _MOST_NAME))} at {fragment.first_offset:,}\n"
        )
    beyond = len(manifest.fragments) - top
    if top and beyond > 0:
        terminal.write_text(f"… and {beyond:,} more\n")
    volumes = manifest.volumes
    refused = sum(page.is_refused for page in manifest.pages)
    composed = sum(page.folder == "templates" for page in manifest.pages)
    whole = len(manifest.pages) - composed - refused
    terminal.write_text(
        f"{counted(len(manifest.pages), 'page')}: {composed:,} composed of "
        f"{counted(len(manifest.fragments), 'fragment')}, {whole:,} with nothing to cut out, {refused:,} refused\n"
        f"stored: {told_bytes(volumes.pages)} as pages, {told_bytes(volumes.stored)} as templates and fragments"
        f"{_share(volumes.stored, volumes.pages)}\n"
        f"moved:  {told_bytes(volumes.moved)} when every page is fetched again and fragments are fresh"
        f"{_share(volumes.moved, volumes.pages)}\n"
    )
    _print_hazards(manifest)


def _share(part: int, whole: int) -> str:
    return f" ({100 * part / whole:.1f} %)" if whole else ""


def _print_hazards(manifest: Manifest) -> None:
    from quire.fragments.hazards import MEANINGS, HazardKind  # noqa: PLC0415 - heavy

    found = [(page.name, hazard) for page in manifest.pages for hazard in page.hazards]
    for name, hazard in found[:_MOST_HAZARDS]:
        stays = "stays" if hazard.kept == 1 else "stay"
        kept = f"; {counted(hazard.kept, 'part')} {stays}" if hazard.kept else ""
        terminal.write_text(
            f"hazard: {shown(shortened(name, _MOST_NAME))} at {hazard.offset:,}: {MEANINGS[hazard.kind]}{kept}\n"
        )
    if len(found) > _MOST_HAZARDS:
        terminal.write_text(f"{len(found) - _MOST_HAZARDS:,} more hazards; --format json has all\n")
    starts = {HazardKind.byte_order_mark, HazardKind.no_leading_tag}
    if any(hazard.kind in starts for _, hazard in found):
        terminal.note("--any-start cuts pages that begin with no tag; see its help")
