"""What a wheel has in it, without building one."""

import runpy
import tomllib
from pathlib import Path

import pytest
import yaml

import rfbench
from rfbench import papers, samplers, shipped, solvers

PACKAGE = Path(rfbench.__file__).parent
TOP = PACKAGE.parent
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text())


def test_every_file_of_the_package_is_in_the_wheel():
    patterns = PROJECT["tool"]["setuptools"]["package-data"]["rfbench"]
    listed = {file for pattern in patterns for file in PACKAGE.glob(pattern)}
    files = {file for file in PACKAGE.rglob("*") if file.is_file() and file.suffix != ".py"}
    assert {file for file in files if "__pycache__" not in file.parts} - listed == set()
    for pattern in patterns:
        assert list(PACKAGE.glob(pattern)), pattern


def test_every_folder_of_code_is_a_package():
    for file in set(PACKAGE.rglob("*.py")) - set(PACKAGE.glob("papers/*/claims.py")):
        assert (file.parent / "__init__.py").exists(), file


def test_the_wheel_has_the_configurations(tmp_path, monkeypatch):
    setuptools = pytest.importorskip("setuptools")
    command = runpy.run_path(str(TOP / "scripts" / "packaging.py"))["BuildWithConfigs"]
    monkeypatch.chdir(TOP)
    build = command(setuptools.Distribution({"packages": []}))
    build.build_lib = str(tmp_path)
    build.ensure_finalized()
    build.run()
    inside = tmp_path / "rfbench" / "configs"
    assert sorted(p.name for p in inside.iterdir()) == [path.name for path in shipped.every()]
    for room in (samplers, solvers):  # editors know what is imported when it is asked for
        text = (tmp_path.joinpath(*room.__name__.split(".")) / "__init__.pyi").read_text()
        names = {}
        exec(text, names)
        assert set(room.__all__) <= set(names)
        assert {name for name in room.__all__ if names[name] is not getattr(room, name)} == {"make"}


def test_an_installed_package_finds_its_own_configurations(tmp_path, monkeypatch):
    site = tmp_path / "site-packages"
    (site / "configs").mkdir(parents=True)
    (site / "configs" / "somebody_elses.yaml").touch()
    monkeypatch.setattr(shipped, "__file__", str(site / "rfbench" / "shipped.py"))
    assert shipped.every() == []
    (site / "rfbench" / "configs").mkdir(parents=True)
    (site / "rfbench" / "configs" / "quickstart.yaml").touch()
    assert shipped.locate("quickstart").parent.parent.name == "rfbench"


def test_the_citation_names_this_version_and_every_paper():
    cited = yaml.safe_load((TOP / "CITATION.cff").read_text())
    assert PROJECT["project"]["version"] == rfbench.__version__ == cited["version"]
    titles = {papers.paper(name).title for name in papers.papers()}
    assert {one["title"] for one in cited["references"]} == titles
