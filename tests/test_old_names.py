"""Old names work for one release, and say what to use instead."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import quire
from quire import _moved

NOTHING = "pass"

# Each as a user of the first version would have written it.
OLD = {
    "quire.report": "import quire; a = quire.encode(b'<p>a'); assert quire.report(quire.annotate(a, a))['changed'] is False",
    "from quire import report": "from quire import report; assert callable(report)",
    "quire.sdiff.report": "from quire.sdiff import report; import quire; a = quire.encode(b'<p>a'); assert report(quire.annotate(a, a))['changes'] == []",
    "quire.similarity": "from quire.similarity import TemplateModel, token_sketches",
    "quire.similarity.crawls": "from quire.similarity.crawls import crawl_templates",
    "quire.similarity.report": "from quire.similarity.report import template_report",
    "quire.sdiff.redline": "from quire.sdiff.redline import redline",
    "redline of quire.sdiff": "from quire.sdiff import redline; import quire; a = quire.encode(b'<p>a'); assert redline(quire.annotate(a, a))",
    "quire.fragments.statistics": "from quire.fragments.statistics import study_fragments",
    "quire.fragments.collected": "from quire.fragments.collected import Collection",
    "quire.fragments.crawls": "from quire.fragments.crawls import crawl_fragments",
    "quire.fragments.site_plan": "from quire.fragments.site_plan import plan_site",
    "quire.fragments.report": "from quire.fragments.report import as_json, fragment_report, graph_of",
    "names of quire.fragments": "from quire.fragments import RestlessNode, VolatileNode; assert RestlessNode is VolatileNode",
    "quire.archive.export": "import quire.archive.export; assert quire.archive.export.index_path",
    "everything": "from quire.similarity.crawls import *; assert crawl_templates",
}


def run(code: str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *options, "-c", code], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("code", OLD.values(), ids=OLD.keys())
def test_an_old_name_works_and_warns(code: str) -> None:
    quiet = run(code, "-W", "ignore::DeprecationWarning")
    strict = run(code, "-W", "error::DeprecationWarning")

    assert (quiet.returncode, quiet.stderr) == (0, "")
    assert strict.returncode == 1
    assert "DeprecationWarning: quire." in strict.stderr


def test_the_warning_names_the_new_module_and_points_at_the_import() -> None:
    found = run("\n\nfrom quire.fragments.site_plan import plan_site", "-W", "default")

    assert found.stderr.startswith(
        "<string>:3: DeprecationWarning: quire.fragments.site_plan is deprecated: "
        "use quire.fragments.caching.site_plan"
    )


def test_the_names_of_today_do_not_warn() -> None:
    code = """
import quire, quire.similar, quire.sdiff, quire.reports, quire.archive, quire.fragments
from quire.archive.build import build_archive, encode
from quire.fragments.esi import write
for name in quire.__all__:
    getattr(quire, name)
a = quire.encode(b"<p>a")
assert quire.similarity(a, a) == 1.0
assert quire.annotate(a, a).to_dict()["changed"] is False
"""
    found = run(code, "-W", "error")

    assert (found.returncode, found.stderr) == (0, "")


@pytest.mark.parametrize(
    "first", [NOTHING, "quire.similarity(a, a)", "import quire.similarity.crawls"]
)
@pytest.mark.parametrize("then", ["import quire.similarity", "from quire.similarity import groups"])
def test_an_import_of_the_old_package_does_not_break_the_function(first: str, then: str) -> None:
    code = f"import quire; a = quire.encode(b'<p>a'); {first}; {then}; assert quire.similarity(a, a) == 1.0"
    found = run(code, "-W", "ignore::DeprecationWarning")

    assert (found.returncode, found.stderr) == (0, "")


def test_an_import_of_an_old_module_does_not_break_the_function_of_its_name() -> None:
    code = """
import quire.archive.export, quire.archive.ingest, tempfile
from quire.archive import Archive, export, ingest
with tempfile.TemporaryDirectory() as folder, Archive.create(folder + "/a") as archive:
    open(folder + "/a.html", "wb").write(b"<p>Open")
    assert ingest(archive, [folder + "/a.html"]).pages == 1
    assert export(archive, folder + "/a.warc.gz").pages == 1
"""
    found = run(code, "-W", "ignore::DeprecationWarning")

    assert (found.returncode, found.stderr) == (0, "")


def test_an_old_module_is_the_new_one() -> None:
    code = """
import quire.similarity.crawls as old, quire.similar.crawl.templates as new
assert old.crawl_templates is new.crawl_templates
assert "crawl_templates" in dir(old)
assert old.__doc__ == new.__doc__
assert not hasattr(old, "nothing")
"""
    found = run(code, "-W", "ignore::DeprecationWarning")

    assert (found.returncode, found.stderr) == (0, "")


def test_every_old_name_leads_somewhere() -> None:
    package = Path(quire.__file__ or "").parent
    for old, new in _moved._MOVED.items():
        assert importlib.util.find_spec(new) is not None, f"{old} is now {new}, which is not there"
        path = package.joinpath(*old.split(".")[1:])
        assert not path.exists(), f"{old} is a module again"
        assert not path.with_suffix(".py").exists(), f"{old} is a module again"


def test_every_name_that_left_a_package_is_somewhere() -> None:
    for names in _moved._NAMES.values():
        for new in names.values():
            home, _, name = new.rpartition(".")
            assert hasattr(importlib.import_module(home), name), new


def test_nothing_in_the_package_uses_an_old_name() -> None:
    for path in Path(quire.__file__ or "").parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
            assert not set(names) & _moved._MOVED.keys(), path


# ------------------------------------------------------------ the version


def test_the_version_is_that_of_the_package() -> None:
    code = "import quire; from importlib import metadata; assert quire.__version__ == metadata.version('quire')"

    assert run(code).returncode == 0
    assert "__version__" in dir(quire)


def test_a_checkout_without_metadata_has_a_version_too(tmp_path: Path) -> None:
    code = """
from importlib import metadata
def missing(name):
    raise metadata.PackageNotFoundError(name)
metadata.version = missing
import quire
print(quire.__version__)
"""
    assert run(code).stdout.strip().endswith("+checkout")

    from quire.version import _checkout_version  # noqa: PLC0415 - the inside of it

    assert _checkout_version(tmp_path / "pyproject.toml") == "0+unknown"
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "other"\nversion = "3"\n')
    assert _checkout_version(tmp_path / "pyproject.toml") == "0+unknown"


def test_the_version_is_not_looked_up_at_import() -> None:
    code = "import sys, quire; print({'importlib.metadata', 'numpy', 'tomllib'} & set(sys.modules))"

    assert run(code).stdout.strip() == "set()"
