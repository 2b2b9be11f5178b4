"""What a wheel has in it, without building one."""

import ast
import runpy
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import rfbench
from rfbench import papers, samplers, shipped, solvers
from scripts import stubs

PACKAGE = Path(rfbench.__file__).parent
TOP = PACKAGE.parent
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text())


def test_each_file_of_the_package_is_in_the_wheel():
    patterns = PROJECT["tool"]["setuptools"]["package-data"]["rfbench"]
    listed = {file for pattern in patterns for file in PACKAGE.glob(pattern)}
    files = {file for file in PACKAGE.rglob("*") if file.is_file() and file.suffix != ".py"}
    assert {file for file in files if "__pycache__" not in file.parts} - listed == set()
    for pattern in patterns:
        assert list(PACKAGE.glob(pattern)), pattern


def test_each_folder_of_code_is_a_package():
    for file in set(PACKAGE.rglob("*.py")) - set(PACKAGE.glob("papers/*/claims.py")):
        assert (file.parent / "__init__.py").exists(), file


def test_build_copies_configurations_and_leaderboard_rows(tmp_path, monkeypatch):
    setuptools = pytest.importorskip("setuptools")
    command = runpy.run_path(str(TOP / "scripts" / "packaging.py"))["BuildWithData"]
    monkeypatch.chdir(TOP)
    build = command(setuptools.Distribution({"packages": []}))
    build.build_lib = str(tmp_path)
    build.ensure_finalized()
    build.run()
    inside = tmp_path / "rfbench" / "configs"
    assert sorted(p.name for p in inside.iterdir()) == [
        path.name for path in shipped.list_configurations()
    ]
    monkeypatch.setattr(shipped, "__file__", str(tmp_path / "rfbench" / "shipped.py"))
    rows = shipped.find_published_folder()
    assert rows == tmp_path / "rfbench" / "published"
    assert (rows / "leaderboard_regression" / "trials.csv").is_file()
    assert all(path.name.startswith("leaderboard") for path in rows.iterdir())


def test_build_imports_only_setuptools():
    tree = ast.parse((TOP / "scripts" / "packaging.py").read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    modules = {
        node.module if isinstance(node, ast.ImportFrom) else alias.name
        for node in imports
        for alias in node.names
    }
    allowed = {*sys.stdlib_module_names, "setuptools"}
    assert {str(module).partition(".")[0] for module in modules} <= allowed


@pytest.mark.parametrize("package", [samplers, solvers])
def test_stub_names_each_class_of_the_registry(package):
    name = package.__name__.rpartition(".")[2]
    text = stubs.stub_path(name).read_text()
    assert text == stubs.make_stub(name), "Run `python -m scripts.stubs` and commit the result."
    names = {}
    exec(text, names)
    assert set(package.__all__) <= set(names)
    different = {each for each in package.__all__ if names[each] is not getattr(package, each)}
    assert different == {"make"}


def test_installed_package_finds_its_configurations(tmp_path, monkeypatch):
    site = tmp_path / "site-packages"
    (site / "configs").mkdir(parents=True)
    (site / "configs" / "somebody_elses.yaml").touch()
    monkeypatch.setattr(shipped, "__file__", str(site / "rfbench" / "shipped.py"))
    assert shipped.list_configurations() == []
    (site / "rfbench" / "configs").mkdir(parents=True)
    (site / "rfbench" / "configs" / "quickstart.yaml").touch()
    assert shipped.locate_configuration("quickstart").parent.parent.name == "rfbench"


def test_citation_names_this_version_and_each_paper():
    cited = yaml.safe_load((TOP / "CITATION.cff").read_text())
    assert PROJECT["project"]["version"] == rfbench.__version__ == cited["version"]
    titles = {papers.find_paper(name).title for name in papers.list_papers()}
    assert {one["title"] for one in cited["references"]} == titles
