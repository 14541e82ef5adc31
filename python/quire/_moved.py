"""Old names: modules and functions that moved, kept working for one release.

``import quire.similarity.crawls`` gives a stand-in for ``quire.similar.crawl.templates`` and warns
with a ``DeprecationWarning`` that names the new module. Python asks this module only for names that
nothing else has, so that imports of today's names cost nothing.

When the release with old names is out, delete this module, its uses in ``quire/__init__.py`` and in
the packages of ``_NAMES``, and its tests.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

# Old module, new module. The commands (quire.cli) were never to be imported.
_MOVED: dict[str, str] = {
    "quire.similarity": "quire.similar",
    "quire.writing": "quire.display",
    "quire.archive.base_choice": "quire.archive.compact.choose_base",
    "quire.archive.bases": "quire.archive.format.base_record",
    "quire.archive.build_encoding": "quire.archive.build.encode",
    "quire.archive.build_plan": "quire.archive.build.plan",
    "quire.archive.build_reading": "quire.archive.build.read",
    "quire.archive.build_revisits": "quire.archive.build.revisits",
    "quire.archive.build_steps": "quire.archive.build.steps",
    "quire.archive.build_tables": "quire.archive.build.tables",
    "quire.archive.cdxj": "quire.archive.warc.cdxj",
    "quire.archive.cluster_writing": "quire.archive.compact.write_cluster",
    "quire.archive.clusters": "quire.archive.compact.clusters",
    "quire.archive.compaction": "quire.archive.compact.compaction",
    "quire.archive.export": "quire.archive.warc.export",
    "quire.archive.files": "quire.archive.format.stored_file",
    "quire.archive.findings": "quire.archive.damage",
    "quire.archive.guards": "quire.archive.format.parity",
    "quire.archive.index": "quire.archive.format.index",
    "quire.archive.ingest": "quire.archive.warc.ingest",
    "quire.archive.journal": "quire.archive.format.journal",
    "quire.archive.layout": "quire.archive.format.record",
    "quire.archive.locking": "quire.archive.disk.lock",
    "quire.archive.mark": "quire.archive.format.marker",
    "quire.archive.pages": "quire.archive.format.page_meta",
    "quire.archive.pipeline": "quire.archive.warc.pipeline",
    "quire.archive.reading": "quire.archive.reader",
    "quire.archive.revisits": "quire.archive.warc.revisits",
    "quire.archive.segment": "quire.archive.format.segment",
    "quire.archive.staging": "quire.archive.build.staging",
    "quire.archive.storage": "quire.archive.disk.storage",
    "quire.archive.stored": "quire.archive.results",
    "quire.archive.tiers": "quire.archive.compact.tiers",
    "quire.archive.warc_heads": "quire.archive.format.warc_head",
    "quire.engines.spark_session": "quire.engines.spark.session",
    "quire.engines.spark_tasks": "quire.engines.spark.tasks",
    "quire.engines.spark_types": "quire.engines.spark.types",
    "quire.engines.spark_watch": "quire.engines.spark.watch",
    "quire.fragments.access_logs": "quire.sources.access_log",
    "quire.fragments.advising": "quire.fragments.study.advice",
    "quire.fragments.arranging": "quire.fragments.lifetime.results_builder",
    "quire.fragments.cached_site": "quire.fragments.simulation.cached_site",
    "quire.fragments.candidates": "quire.fragments.cuts.candidates",
    "quire.fragments.choosing": "quire.fragments.cuts.select",
    "quire.fragments.collected": "quire.fragments.site.collection",
    "quire.fragments.compose": "quire.fragments.esi.compose",
    "quire.fragments.crawl_outputs": "quire.fragments.shared.crawl_output",
    "quire.fragments.crawl_steps": "quire.fragments.shared.crawl_steps",
    "quire.fragments.crawls": "quire.fragments.shared.crawl",
    "quire.fragments.cutting": "quire.fragments.cuts.cutting",
    "quire.fragments.dependencies": "quire.fragments.simulation.dependency_graph",
    "quire.fragments.differing": "quire.fragments.study.differences",
    "quire.fragments.element_index": "quire.fragments.caching.element_index",
    "quire.fragments.facts": "quire.fragments.study.facts",
    "quire.fragments.following": "quire.fragments.lifetime.tracking",
    "quire.fragments.hazards": "quire.fragments.cuts.hazards",
    "quire.fragments.histories": "quire.fragments.lifetime.lifetimes",
    "quire.fragments.includes": "quire.fragments.cuts.includes",
    "quire.fragments.keeping": "quire.fragments.caching.ttl",
    "quire.fragments.lives": "quire.fragments.lifetime.survival",
    "quire.fragments.lp": "quire.fragments.lifetime.algorithm_2",
    "quire.fragments.lp_results": "quire.fragments.lifetime.results",
    "quire.fragments.manifest": "quire.fragments.esi.manifest",
    "quire.fragments.matching": "quire.fragments.lifetime.matching",
    "quire.fragments.measuring": "quire.fragments.caching.measure",
    "quire.fragments.outlines": "quire.fragments.caching.outline",
    "quire.fragments.paces": "quire.fragments.caching.change_rate",
    "quire.fragments.page_histories": "quire.fragments.caching.region_history",
    "quire.fragments.parts": "quire.fragments.lifetime.version_parts",
    "quire.fragments.plain_files": "quire.safe_read",
    "quire.fragments.plan": "quire.fragments.caching.plan",
    "quire.fragments.policies": "quire.fragments.policy",
    "quire.fragments.reference": "quire.fragments.shared.algorithm_1",
    "quire.fragments.regions": "quire.fragments.caching.region",
    "quire.fragments.report": "quire.reports.fragments.report",
    "quire.fragments.restless": "quire.sdiff.volatile",
    "quire.fragments.rewriting": "quire.fragments.lifetime.byte_changes",
    "quire.fragments.rules": "quire.fragments.shared.rules",
    "quire.fragments.scanner": "quire.fragments.cuts.esi_scanner",
    "quire.fragments.setting_apart": "quire.fragments.caching.isolation",
    "quire.fragments.shingles": "quire.fragments.trees.shingles",
    "quire.fragments.simulator": "quire.fragments.simulation.simulator",
    "quire.fragments.site_plan": "quire.fragments.caching.site_plan",
    "quire.fragments.spans": "quire.digest.source_spans",
    "quire.fragments.spool": "quire.spool",
    "quire.fragments.statistics": "quire.fragments.study.study",
    "quire.fragments.strays": "quire.fragments.boilerplate.moved_text",
    "quire.fragments.strip": "quire.fragments.boilerplate.strip",
    "quire.fragments.varnish": "quire.fragments.esi.varnish",
    "quire.fragments.vcl": "quire.fragments.esi.vcl",
    "quire.fragments.verify": "quire.fragments.esi.verify",
    "quire.fragments.watching": "quire.fragments.site.site_lifetimes",
    "quire.fragments.report.curves": "quire.reports.fragments.curves",
    "quire.fragments.report.graphs": "quire.reports.fragments.graphs",
    "quire.fragments.report.graphs_drawing": "quire.reports.fragments.graphs_drawing",
    "quire.fragments.report.numbers": "quire.reports.fragments.numbers",
    "quire.fragments.report.painting": "quire.reports.fragments.painting",
    "quire.fragments.report.style": "quire.reports.fragments.style",
    "quire.fragments.report.tables": "quire.reports.fragments.tables",
    "quire.fragments.report.words": "quire.reports.fragments.words",
    "quire.sdiff.lines": "quire.sdiff.views.lines",
    "quire.sdiff.redline": "quire.reports.changes.redline",
    "quire.sdiff.report": "quire.sdiff.changes_dict",
    "quire.sdiff.safe": "quire.reports.changes.safe_markup",
    "quire.sdiff.side_by_side": "quire.sdiff.views.side_by_side",
    "quire.sdiff.unified": "quire.sdiff.views.unified",
    "quire.sdiff.words": "quire.sdiff.views.words",
    "quire.similarity.crawl_outputs": "quire.similar.crawl.output",
    "quire.similarity.crawl_steps": "quire.similar.crawl.steps",
    "quire.similarity.crawls": "quire.similar.crawl.templates",
    "quire.similarity.groups": "quire.similar.groups",
    "quire.similarity.kangs": "quire.similar.kangs",
    "quire.similarity.likeness": "quire.similar.likeness",
    "quire.similarity.measures": "quire.similar.measures",
    "quire.similarity.models": "quire.similar.models",
    "quire.similarity.report": "quire.reports.templates.report",
    "quire.similarity.sampling": "quire.similar.sampling",
    "quire.similarity.sketches": "quire.similar.sketches",
    "quire.similarity.report.cards": "quire.reports.templates.cards",
    "quire.similarity.report.drawings": "quire.reports.templates.drawings",
    "quire.similarity.report.exemplars": "quire.reports.templates.exemplars",
    "quire.similarity.report.frame": "quire.reports.frame",
    "quire.similarity.report.names": "quire.reports.names",
}

# Names that left a package, and where they are: some packages have the name of an old module.
_NAMES: dict[str, dict[str, str]] = {
    "quire.fragments": {
        "Place": "quire.fragments.ChangedAspect",
        "RestlessNode": "quire.fragments.VolatileNode",
        "Verdict": "quire.fragments.VersionVerdict",
    },
    "quire.fragments.esi": {
        "EsiFile": "quire.fragments.esi.write.EsiFile",
        "EsiFiles": "quire.fragments.esi.write.EsiFiles",
        "check_free": "quire.fragments.esi.write.check_free",
        "write_composition": "quire.fragments.esi.write.write_composition",
    },
    "quire.fragments.shared": {
        "Members": "quire.fragments.shared.find.Members",
        "SharedFragment": "quire.fragments.shared.find.SharedFragment",
        "SharedFragments": "quire.fragments.shared.find.SharedFragments",
        "fragments_of": "quire.fragments.shared.find.fragments_of",
        "shared_fragments": "quire.fragments.shared.find.shared_fragments",
    },
    "quire.fragments.trees": {
        "AfTree": "quire.fragments.trees.af_tree.AfTree",
        "FORMATTING": "quire.fragments.trees.af_tree.FORMATTING",
        "Pruned": "quire.fragments.trees.af_tree.Pruned",
    },
}

# Names that changed with their modules.
_RENAMED: dict[str, dict[str, str]] = {
    "quire.sdiff.report": {"report": "changes_dict"},
    "quire.writing": {
        "shortened": "shorten",
        "shown": "printable",
        "told_apart": "quote_pair",
        "told_seconds": "format_duration",
    },
}


def install() -> None:
    """Let Python find old names: after everything else, and once."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())


def warn(old: str, new: str, *, stacklevel: int = 3) -> None:
    """Warn that a name is old."""
    warnings.warn(
        f"{old} is deprecated: use {new}",
        DeprecationWarning,
        stacklevel=stacklevel,
    )


def report() -> Callable[..., dict[str, object]]:
    """Give the function that ``quire.report`` was."""
    warn("quire.report(annotation)", "annotation.to_dict()", stacklevel=4)
    found: Callable[..., dict[str, object]] = importlib.import_module(
        "quire.sdiff.changes_dict"
    ).changes_dict
    return found


def renamed(old: str, new: str) -> property:
    """Make a property that leads from the old name of an attribute to the new one.

    Args:
        old: class and old name, such as ``Lifetimes.restless``.
        new: class and new name.
    """

    def get(owner: object) -> object:
        warn(old, new)
        return getattr(owner, new.rpartition(".")[2])

    return property(get, doc=f"Deprecated: use ``{new}``.")


def old_names(package: str) -> Callable[[str], object]:
    """Make the ``__getattr__`` of a package that names have left."""
    names = _NAMES[package]

    def get(name: str) -> object:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        warn(f"{package}.{name}", names[name])
        home, _, new = names[name].rpartition(".")
        return getattr(importlib.import_module(home), new)

    return get


class _Finder:
    """Finds modules by their old names."""

    def find_spec(
        self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        # A package, so that old names below it are looked for; its path is empty.
        if name not in _MOVED:
            return None
        return ModuleSpec(name, _Loader(), is_package=True)  # type: ignore[arg-type]  # has all that is called


class _Loader:
    """Loads a stand-in."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Moved(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        warn(name, _MOVED[name])
        real = vars(module)["_module"] = importlib.import_module(_MOVED[name])
        module.__doc__ = real.__doc__


class _Moved(ModuleType):
    """A stand-in for a module under its old name.

    It can be called: ``quire.similarity`` and ``quire.archive.export`` were functions with the
    names of modules, and an import of the module must not break a call of the function.
    """

    _module: ModuleType

    def __getattr__(self, name: str) -> object:
        module = vars(self).get("_module")
        if module is None:  # not loaded yet
            raise AttributeError(name)
        if name == "__all__" and not hasattr(module, name):
            return [name for name in vars(module) if not name.startswith("_")]
        return getattr(module, _RENAMED.get(self.__name__, {}).get(name, name))

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._module)})

    def __call__(self, *args: object, **options: object) -> object:
        function = getattr(self, self.__name__.rpartition(".")[2])
        return function(*args, **options)
