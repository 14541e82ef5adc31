"""What ``quire fragments plan`` and ``quire fragments esi`` have in common: their options, and the plan that comes of them."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.common import terminal
from quire.cli.common.step_progress import telling
from quire.cli.common.terminal import Refusal, printable
from quire.cli.fragments.captures import Captures, Variants

if TYPE_CHECKING:
    from quire.fragments import FragmentPlan, Manifest, PlanRules, Policy

#: That of policies, which are heavy to import.
LONGEST_TTL_S = 10 * 365 * 24 * 3600

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
ApartOption = Annotated[
    bool,
    typer.Option(
        "--apart/--no-apart",
        help="Also cut out parts of one page that no cache may keep, so that the rest of it can be kept.",
    ),
]
TtlOption = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=LONGEST_TTL_S,
        metavar="SECONDS",
        help="How long everything is kept, whatever versions tell; 0 is not at all.",
    ),
]
MostTtlOption = Annotated[
    int,
    typer.Option(
        min=1,
        max=LONGEST_TTL_S,
        metavar="SECONDS",
        help="Nothing is kept longer, however long it lives.",
    ),
]
PoliciesOption = Annotated[
    str | None,
    typer.Option(
        metavar="JSON",
        help='How long fragments are kept, by their names: {"NAME": {"ttl_s": 60, "vary": ["Cookie"]}}. Goes before all else.',
    ),
]

_MOST_NAMED = 5
_SET_BY_NAME = "the policy for this fragment"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the options say."""

    sources: list[str]
    min_bytes: int
    min_pages: int
    depth: int
    prefix: str
    any_start: bool
    by_folder: bool
    variants: Variants
    apart: bool
    ttl_s: int | None
    most_ttl_s: int
    policies: str | None
    most_bytes: int

    def rules(self) -> PlanRules:
        """What is cut out.

        Raises:
            Refusal: it is out of range.
        """
        from quire.fragments import PlanRules  # noqa: PLC0415 - heavy

        try:
            return PlanRules(
                min_bytes=self.min_bytes,
                min_pages=self.min_pages,
                max_depth=self.depth,
                prefix=self.prefix,
                xml_check=not self.any_start,
            )
        except ValueError as error:
            raise Refusal(str(error)) from None


@contextmanager
def planned(asked: Asked) -> Iterator[tuple[FragmentPlan, Callable[[str, int, int], None]]]:
    """Make a plan of what was asked, with policies, and give it with what draws bars."""
    from quire.fragments.caching.site_plan import Keeping, plan_site  # noqa: PLC0415 - heavy
    from quire.fragments.site.collection import Collection  # noqa: PLC0415 - heavy

    rules = asked.rules()
    known = {} if asked.policies is None else read_policies(Path(asked.policies))
    keeping = Keeping(
        ttl_s=asked.ttl_s,
        most_ttl_s=asked.most_ttl_s,
        apart=asked.apart,
        vary=asked.variants.vary,
    )
    with telling() as tell:
        captures = Captures(
            asked.sources,
            asked.most_bytes,
            tell,
            by_folder=asked.by_folder,
            variants=asked.variants,
        )
        with (
            Collection(captures) as site,
            plan_site(site, rules=rules, keeping=keeping, tell=tell) as made,
        ):
            made.policies = {**made.policies, **known}
            yield made, tell
    captures.complain()


def note_strangers(plan: FragmentPlan, manifest: Manifest) -> None:
    """Name the policies that are for no fragment: those of another plan, or misspelt."""
    files = {fragment.file for fragment in manifest.fragments}
    strangers = sorted(
        name
        for name, policy in plan.policies.items()
        if policy.source == "given" and name not in files
    )
    for name in strangers[:_MOST_NAMED]:
        terminal.note(f"--policies: {printable(name)} is no fragment of this plan")
    if len(strangers) > _MOST_NAMED:
        terminal.note(f"--policies: {len(strangers) - _MOST_NAMED:,} more are no fragments of it")


def read_policies(path: Path) -> dict[str, Policy]:
    """Read how long fragments may be kept.

    Raises:
        Refusal: the file says something else.
    """
    from quire.fragments import Policy  # noqa: PLC0415 - heavy

    expected = 'expected {"NAME": {"ttl_s": 60, "vary": ["Cookie"], "sharing": "shared"}}'

    def policy(name: str, one: object) -> Policy:
        if not isinstance(one, dict) or one.keys() - {"ttl_s", "vary", "sharing"}:
            raise ValueError(f"{name[:40]}: no policy")
        if not isinstance(one.get("vary", []), list):
            raise TypeError(f"{name[:40]}: vary is a list of names of headers")
        ttl_s, vary = int(one.get("ttl_s", Policy().ttl_s)), map(str, one.get("vary", ()))
        return Policy(ttl_s, tuple(vary), one.get("sharing", "unknown"), "given", _SET_BY_NAME)

    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(told, dict):
            raise Refusal(f"{path}: no policies by name", hint=expected)
        return {str(name): policy(str(name), one) for name, one in told.items()}
    except (OverflowError, RecursionError, TypeError, ValueError) as error:
        raise Refusal(f"{path}: {error}", hint=expected) from None
