"""The plan behind ``quire fragments plan``, ``esi`` and ``report``: options and making."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.common import terminal
from quire.cli.common.step_progress import progress_bars
from quire.cli.common.terminal import Refusal, printable
from quire.cli.fragments.captures import Captures, Variants
from quire.progress import Progress

if TYPE_CHECKING:
    from quire.fragments import FragmentPlan, Manifest, PlanRules, Policy
    from quire.fragments.caching.plan import Keeping
    from quire.fragments.site.collection import Collection

#: The same as that of policies, which are heavy to import.
LONGEST_TTL_S = 10 * 365 * 24 * 3600

MinSourceOption = Annotated[
    int,
    typer.Option(
        "--min-source-bytes",
        min=1,
        metavar="N",
        help="Minimum length of a part that is cut out, in bytes of its source.",
    ),
]
MinPagesOption = Annotated[
    int,
    typer.Option(min=2, metavar="N", help="Minimum number of different pages that have a part."),
]
DepthOption = Annotated[
    int, typer.Option(min=1, max=5, metavar="N", help="How deep includes may nest.")
]
PrefixOption = Annotated[
    str, typer.Option(metavar="PATH", help="Begin the addresses in includes with this: /quire.")
]
AnyStartOption = Annotated[
    bool,
    typer.Option(
        "--any-start",
        help="Also cut pages that do not begin with a tag; Varnish needs "
        "-p feature=+esi_disable_xml_check.",
    ),
]
ApartOption = Annotated[
    bool,
    typer.Option(
        "--apart/--no-apart",
        help="Also cut out parts of one page that no cache may keep, so that the rest can be kept.",
    ),
]
PaceOption = Annotated[
    bool,
    typer.Option(
        "--pace/--no-pace",
        help="Also cut out parts of one page that change at another pace than the rest, so that "
        "only what changed is fetched again. Needs several captures of the page.",
    ),
]
TtlOption = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=LONGEST_TTL_S,
        metavar="SECONDS",
        help="Cache everything for this long, instead of measuring; 0 disables caching.",
    ),
]
MostTtlOption = Annotated[
    int,
    typer.Option(
        min=1,
        max=LONGEST_TTL_S,
        metavar="SECONDS",
        help="Longest TTL, however seldom a part changes.",
    ),
]
PoliciesOption = Annotated[
    str | None,
    typer.Option(
        metavar="JSON",
        help='File with policies of fragments: {"NAME": {"ttl_s": 60, "vary": ["Cookie"]}}. '
        "They replace all others.",
    ),
]

_MOST_NAMED = 5
_SET_BY_NAME = "the policy for this fragment"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The values of the options."""

    sources: list[str]
    min_source_bytes: int
    min_pages: int
    depth: int
    prefix: str
    any_start: bool
    by_folder: bool
    variants: Variants
    apart: bool
    pace: bool
    ttl_s: int | None
    most_ttl_s: int
    policies: str | None
    most_bytes: int

    def rules(self) -> PlanRules:
        """Return the rules of the plan.

        Raises:
            Refusal: one is out of range.
        """
        from quire.fragments import PlanRules  # noqa: PLC0415 - heavy

        try:
            return PlanRules(
                min_bytes=self.min_source_bytes,
                min_pages=self.min_pages,
                max_depth=self.depth,
                prefix=self.prefix,
                xml_check=not self.any_start,
            )
        except ValueError as error:
            raise Refusal(str(error)) from None

    def keeping(self) -> Keeping:
        """Return how long files are cached, with the policies of the file.

        Raises:
            Refusal: the file has something else in it.
        """
        from quire.fragments.caching.plan import Keeping  # noqa: PLC0415 - heavy

        return Keeping(
            ttl_s=self.ttl_s,
            most_ttl_s=self.most_ttl_s,
            apart=self.apart,
            pace=self.pace,
            vary=self.variants.vary,
            given={} if self.policies is None else read_policies(Path(self.policies)),
        )


@dataclasses.dataclass(frozen=True, slots=True)
class Planner:
    """The pages that were asked for, and how to plan them."""

    site: Collection
    rules: PlanRules
    keeping: Keeping
    progress: Progress

    def plan(self, after: Path | None = None) -> FragmentPlan:
        """Make the plan; one that follows an earlier composition keeps its cuts if it can."""
        from quire.fragments.caching.site_plan import plan_site  # noqa: PLC0415 - heavy
        from quire.fragments.esi.continued import continued_parts  # noqa: PLC0415 - heavy

        return plan_site(
            self.site,
            rules=self.rules,
            keeping=self.keeping,
            continued=(
                continued_parts(after, self.site, self.progress) if after is not None else None
            ),
            progress=self.progress,
        )

    def note_strangers(self, manifest: Manifest) -> None:
        """Name the given policies that match no fragment: those of another plan, or misspelt."""
        files = {fragment.file for fragment in manifest.fragments}
        strangers = sorted(self.keeping.given.keys() - files)
        for name in strangers[:_MOST_NAMED]:
            terminal.note(f"--policies: {printable(name)} is not a fragment of this plan")
        more = len(strangers) - _MOST_NAMED
        if more > 0:
            terminal.note(f"--policies: {more:,} more are not fragments of this plan")


@contextmanager
def planning(asked: Asked) -> Iterator[Planner]:
    """Read the pages that were asked for, with progress bars."""
    from quire.fragments.site.collection import Collection  # noqa: PLC0415 - heavy

    rules, keeping = asked.rules(), asked.keeping()
    with progress_bars() as progress:
        captures = Captures(
            asked.sources,
            asked.most_bytes,
            progress,
            by_folder=asked.by_folder,
            variants=asked.variants,
        )
        with Collection(captures) as site:
            yield Planner(site, rules, keeping, progress)
    captures.complain()


def read_policies(path: Path) -> dict[str, Policy]:
    """Read the policies of fragments from a file.

    Raises:
        Refusal: the file has something else in it.
    """
    from quire.fragments import Policy  # noqa: PLC0415 - heavy

    expected = 'expected {"NAME": {"ttl_s": 60, "vary": ["Cookie"], "sharing": "shared"}}'

    def policy(name: str, one: object) -> Policy:
        if not isinstance(one, dict) or one.keys() - {"ttl_s", "vary", "sharing"}:
            raise ValueError(f"{name[:40]}: not a policy")
        if not isinstance(one.get("vary", []), list):
            raise TypeError(f"{name[:40]}: vary: expected a list of header names")
        ttl_s, vary = int(one.get("ttl_s", Policy().ttl_s)), map(str, one.get("vary", ()))
        return Policy(ttl_s, tuple(vary), one.get("sharing", "unknown"), "given", _SET_BY_NAME)

    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(told, dict):
            raise Refusal(f"{path}: not an object of policies by name", hint=expected)
        return {str(name): policy(str(name), one) for name, one in told.items()}
    except (OverflowError, RecursionError, TypeError, ValueError) as error:
        raise Refusal(f"{path}: {error}", hint=expected) from None
