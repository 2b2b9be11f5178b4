"""Which Python the scripts take, and which versions the lowest ones are."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
# Answers as much as scripts/setup asks: whether it is new enough, its version, an environment, pip.
PYTHON = """#!/bin/bash
case "$*" in
    *version_info\\ \\<*) exit {old} ;;
    *version_info*) echo {version} ;;
    --version) echo Python {version} ;;
    "-m venv "*) mkdir -p "$3/bin"; cp "$0" "$3/bin/python" ;;
    "-m pip "*) echo "installed by {version}: $*"; cp "$0" "${{0%python}}rfbench" ;;
esac
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a folder with the script, and three Pythons in `bin`, of which the first is active."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "setup", tmp_path / "scripts")
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "constraints.txt").touch()
    (tmp_path / "bin").mkdir()
    for name, version, old in (
        ("python3", "3.13", 0), ("python3.12", "3.12", 0), ("python3.9", "3.9", 1)
    ):  # fmt: skip
        file = tmp_path / "bin" / name
        file.write_text(PYTHON.format(version=version, old=old))
        file.chmod(0o755)
    return tmp_path


def set_up(checkout: Path, python: str = "", code: int = 0) -> str:
    done = subprocess.run(
        ["bash", "-c", ". scripts/setup test"],
        cwd=checkout,
        env={"PATH": f"{checkout / 'bin'}:{os.environ['PATH']}", "PYTHON": python},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


def test_active_python_is_used_and_a_second_call_does_nothing(checkout: Path) -> None:
    first = set_up(checkout)
    assert "== creating .venv with Python 3.13" in first
    assert "installed by 3.13: -m pip install" in first
    assert "--constraint constraints.txt --editable .[test]" in first
    assert set_up(checkout) == "== .venv is up to date\n"
    (checkout / "constraints.txt").write_text("numpy==2\n")
    assert "installed by 3.13" in set_up(checkout)


def test_named_python_is_preferred_to_the_active_one(checkout: Path) -> None:
    assert "installed by 3.12" in set_up(checkout, "python3.12")
    text = set_up(checkout, "python3", code=1)
    assert ".venv has Python 3.12, PYTHON is 3.13" in text
    assert "Remove the folder" in text
    assert "up to date" in set_up(checkout)


@pytest.mark.parametrize("python", ["python3.9", "no-such-python"])
def test_unsuitable_named_python_raises_error(checkout: Path, python: str) -> None:
    text = set_up(checkout, python, code=1)
    assert f"error: {python} does not exist, or is older than 3.11." in text
    assert not (checkout / ".venv").exists()


def test_active_python_that_is_too_old_is_skipped(checkout: Path) -> None:
    shutil.copy(checkout / "bin" / "python3.9", checkout / "bin" / "python3")
    shutil.copy(checkout / "bin" / "python3.9", checkout / "bin" / "python")
    shutil.copy(checkout / "bin" / "python3.9", checkout / "bin" / "python3.11")
    assert "installed by 3.12" in set_up(checkout)


def test_each_requirement_has_a_minimum_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for name in [*project["dependencies"], *project["optional-dependencies"]["test"]]:
        _, sign, version = name.partition(">=")
        assert sign, name
        assert all(part.isdecimal() for part in version.split(".")), name


def test_ci_workflow_runs_the_same_steps_as_the_scripts() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())["jobs"]
    lines = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    scripts = {line.removeprefix("PYTHON=python ").split()[0] for line in lines}
    own = {f"scripts/{name}" for name in ("extras", "lowest", "quickstart", "test", "wheel")}
    assert scripts == {".ci/run", *own}
    assert all(os.access(ROOT / script, os.X_OK) for script in scripts)
    assert all(line.startswith("PYTHON=python ") for line in lines)  # the one of the matrix


def test_extras_enable_each_test_skipped_without_them() -> None:
    skips = re.compile(r"importorskip\(\"(gpytorch|torch)\"\)")
    files = ROOT.glob("tests/**/test_*.py")
    need = {str(file.relative_to(ROOT)) for file in files if skips.search(file.read_text())}
    text = (ROOT / "scripts" / "extras").read_text()
    assert set(re.findall(r"tests/\S+\.py", text)) == need
