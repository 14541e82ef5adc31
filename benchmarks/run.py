"""Run benchmarks, print them, and keep their results.

    python benchmarks/run.py                      everything, full size
    python benchmarks/run.py --quick              everything, small samples, kept apart
    python benchmarks/run.py --quick --papers     only the experiments of the papers
    python benchmarks/run.py encode load --corpus versions-news
    python benchmarks/run.py --list               what is stored: commit, duration, up to date or not
    python benchmarks/run.py --outdated           only what was measured with other code than this
    python benchmarks/run.py --pages-only         measure nothing, only write the pages

Results go to ``benchmarks/results`` as text, JSON and SVG. After a full run, ``docs/benchmarks.md``
and the pages below ``docs/benchmarks`` are written again from all stored results, and the figures in
``docs/papers.md`` filled in. A quick run writes to ``results/quick``, its pages to
``results/quick/pages``. Neither that nor a run with another ``--results`` touches the documentation.
Progress goes to standard error.

Everything in full size takes two hours. A run that was interrupted goes on with ``--outdated``: it
skips results that were measured with the same code, which is the kernels and the modules that a
benchmark imports (``dependencies``).
"""

import argparse
import importlib
import json
import sys
import time
import traceback
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
RESULTS = REPOSITORY / "benchmarks" / "results"
# Started as a file, not as a module: let `benchmarks` be found from the repository.
sys.path.insert(0, str(REPOSITORY))

from benchmarks import pagewriter  # noqa: E402
from benchmarks.context import Context  # noqa: E402
from benchmarks.dependencies import files_of  # noqa: E402
from benchmarks.pagewriter import Mode  # noqa: E402
from benchmarks.provenance import Provenance, provenance  # noqa: E402
from benchmarks.report import Report, Table  # noqa: E402

#: Name on the command line, and the module that defines ``run(context) -> Report``.
BENCHMARKS = {
    "roundtrip": "digest.roundtrip",
    "tree": "digest.tree_equality",
    "encode": "digest.encode_speed",
    "load": "digest.load_speed",
    "tag-count": "digest.tag_count",
    "decode": "digest.decode_speed",
    "memory": "digest.memory",
    "size": "digest.size",
    "hostile": "digest.hostile",
    "threads": "digest.threads",
    "identity": "sdiff.identity",
    "script-exact": "sdiff.script_exact",
    "one-edit": "sdiff.one_edit",
    "script-length": "sdiff.script_length",
    "minimality": "sdiff.minimality",
    "verdict": "sdiff.verdict",
    "annotate": "sdiff.annotate",
    "sdiff-hostile": "sdiff.hostile",
    "redline-paint": "sdiff.redline_paint",
    "similar-auc": "similarity.similar_auc",
    "sketch-speed": "similarity.sketch_speed",
    "pair-speed": "similarity.pair_speed",
    "grouping-growth": "similarity.grouping_growth",
    "spark-templates": "similarity.spark_templates",
    "records-accuracy": "records.accuracy",
    "records-details": "records.details",
    "records-phases": "records.experiment_2",
    "records-crawl": "records.crawl",
    "shared-equality": "fragments.shared_equality",
    "shared-growth": "fragments.shared_growth",
    "shared-crawls": "fragments.shared_crawls",
    "shared-large": "fragments.shared_large",
    "composition": "fragments.composition",
    "lifetimes-terms": "fragments.lifetimes_terms",
    "overlap-threshold": "fragments.overlap_threshold",
    "detector-growth": "fragments.detector_growth",
    "invalidation": "fragments.invalidation",
    "archive-ratios": "archive.ratios",
    "archive-speed": "archive.speed",
    "archive-growth": "archive.growth",
    "archive-labels": "archive.labels",
    "archive-small-histories": "archive.small_histories",
    "archive-exact": "archive.exact",
    "archive-hostile": "archive.hostile_files",
    "noise-sites": "watching.noise_sites",
    "noise-terms": "watching.noise_terms",
    "following-news": "watching.following_news",
    "kang": "papers.kang_table",
    "figure3": "papers.figure3_templates",
    "figure4": "papers.tbc_figure4_threshold",
    "figure5": "papers.tbc_figure5_window",
    "table1": "papers.tbc_table1_gzip",
    "tbc-delta": "papers.tbc_delta_rivals",
    "tbc-crawl": "papers.tbc_crawl_scale",
    "figure9": "papers.fragments_table1_figures9_11",
    "figure12": "papers.fragments_table2_figures12_13",
    "figure14": "papers.fragments_figure14",
    "figure15": "papers.fragments_figures15_18",
    "figure19": "papers.fragments_figures19_20",
    "figure21": "papers.fragments_figure21",
    "monitor-systems": "sentinels.experiment1_systems",
    "monitor-zipf": "sentinels.experiment2_zipf",
    "monitor-grouping": "sentinels.experiment3_grouping",
    "monitor-dom": "sentinels.experiment4_dom",
    "monitor-parameters": "sentinels.parameters",
    "monitor-shortcuts": "sentinels.shortcuts",
    "monitor-scale": "sentinels.scale",
    "monitor-workers": "sentinels.workers",
    "monitor-rivals": "sentinels.rivals",
    "web-lists": "web.lists",
    "web-pages": "web.pages",
    "experiment1": "papers.experiment1_traversal",
    "experiment3": "papers.experiment3_size",
    "experiment4": "papers.experiment4_convert_load",
    "experiment5": "papers.experiment5_change_detection",
    "experiment6": "papers.experiment6_gnu_diff",
}


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmarks named on the command line; 0 if all ran, 2 if one failed."""
    options = _parser().parse_args(arguments)
    unknown = [name for name in options.names if name not in BENCHMARKS]
    if unknown:
        print(f"error: no benchmark named {unknown[0]}", file=sys.stderr)
        print(f"hint: choose from {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    results = Path(options.results) / "quick" if options.quick else Path(options.results)
    if options.list:
        print("\n".join(_listed(results).lines()))
        return 0
    if options.pages_only:
        pagewriter.write(Path(options.results), REPOSITORY / "docs", BENCHMARKS)
        return 0
    try:
        importlib.import_module("quire")
    except ImportError as error:
        print(f"error: quire cannot be imported: {error}", file=sys.stderr)
        print("hint: build it first with `make build`", file=sys.stderr)
        return 2
    context = Context(quick=options.quick, corpora=tuple(options.corpus), seed=options.seed)
    names = options.names or (of_papers() if options.papers else BENCHMARKS)
    if options.outdated:
        names = [name for name in names if not is_current(name, results)]
    start = time.monotonic()
    failed = [name for name in names if not _run_one(name, context, results)]
    if options.quick:
        pagewriter.write(results, results / "pages", BENCHMARKS, Mode.SHORT)
    # Other folders hold some of the results, and the pages need all of them.
    elif results.resolve() == RESULTS:
        pagewriter.write(results, REPOSITORY / "docs", BENCHMARKS)
    print(f"all: {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    if failed:
        print(f"error: could not run {', '.join(failed)}", file=sys.stderr)
    return 2 if failed else 0


def of_papers() -> list[str]:
    """The experiments of the papers: those on their pages, and those that ``docs/papers.md`` needs.

    Experiment 2 of paper 000 is on the page of records, the choice of OvlpThrshld on that of fragments.
    """
    wanted = {
        name
        for page in pagewriter.PAGES
        if page.name.startswith("paper-")
        for name in page.benchmarks
    }
    wanted |= {"records-phases", "overlap-threshold"}
    return [name for name in BENCHMARKS if name in wanted]


def origin_of(name: str, results: Path) -> Provenance | None:
    """Where and when the stored result of a benchmark was measured; None if it cannot be read."""
    try:
        return Provenance(**json.loads((results / f"{name}.json").read_text())["provenance"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def is_current(name: str, results: Path) -> bool:
    """Whether the stored result of a benchmark was measured with the code that is here now."""
    origin = origin_of(name, results)
    return origin is not None and origin.is_current(_code_of(name))


def _code_of(name: str) -> list[str]:
    return files_of(f"benchmarks.{BENCHMARKS[name]}", REPOSITORY)


def _listed(results: Path) -> Table:
    rows = []
    for name in BENCHMARKS:
        origin = origin_of(name, results)
        if origin is None:
            rows.append([name, "-", "-", "-", "not measured"])
            continue
        took = "-" if origin.seconds is None else f"{origin.seconds:,.0f}"
        state = "up to date" if origin.is_current(_code_of(name)) else "other code"
        rows.append([name, origin.date, origin.commit, took, state])
    return Table(["benchmark", "measured", "commit", "seconds", "state"], rows)


def _run_one(name: str, context: Context, results: Path) -> bool:
    """Run, print and store one benchmark; if it fails, the others still run."""
    print(f"{name} ...", file=sys.stderr, flush=True)
    start = time.monotonic()
    try:
        module = importlib.import_module(f"benchmarks.{BENCHMARKS[name]}")
        report: Report = module.run(context)
    except Exception:  # noqa: BLE001  the error is printed, and the exit code shows it
        traceback.print_exc()
        return False
    command = "python benchmarks/run.py " + " ".join([name, *_settings(context)])
    seconds = round(time.monotonic() - start, 1)
    origin = provenance(seconds)
    print(report.text(origin, command), flush=True)
    results.mkdir(parents=True, exist_ok=True)
    (results / f"{name}.txt").write_text(report.text(origin, command))
    for figure, svg in report.figures.items():
        (results / f"{name}-{figure}.svg").write_text(svg)
    # Last, and whole or not at all: `--outdated` skips a benchmark that has this file.
    unnamed = results / f".{name}.json"
    unnamed.write_text(report.json(origin, command))
    unnamed.replace(results / f"{name}.json")
    print(f"{name}: {seconds:.0f} s", file=sys.stderr, flush=True)
    return True


def _settings(context: Context) -> list[str]:
    words = ["--quick"] if context.quick else []
    for corpus in context.corpora:
        words += ["--corpus", corpus]
    if context.seed != Context().seed:
        words += ["--seed", str(context.seed)]
    return words


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Measure quire and its rivals, and check their answers.",
        epilog="benchmarks: " + ", ".join(BENCHMARKS),
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks to run (default: all)")
    parser.add_argument(
        "--pages-only", action="store_true", help="write the pages in docs from stored results"
    )
    parser.add_argument(
        "--list",
        action="store_true",
        help="print when and at which commit each stored result was measured, and how long it took",
    )
    parser.add_argument(
        "--outdated",
        action="store_true",
        help="skip benchmarks whose stored result was measured with the code that is here now",
    )
    parser.add_argument(
        "--quick", action="store_true", help="use small samples; takes minutes instead of hours"
    )
    parser.add_argument(
        "--papers",
        action="store_true",
        help="run only the experiments of the papers, if no benchmark is named",
    )
    parser.add_argument(
        "--corpus",
        action="append",
        default=[],
        metavar="NAME",
        help="use only pages of this corpus; can be repeated",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=Context().seed,
        help="random seed; the same seed generates the same inputs",
    )
    parser.add_argument(
        "--results",
        default=str(RESULTS),
        help="folder for results",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
