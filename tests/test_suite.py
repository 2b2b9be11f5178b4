"""The test command and the helpers of the tests."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.conftest import NIGHTLY_TESTS, WITH_PUBLISHED, group_of
from tests.support import nightly
from tests.support.runs import wait_until

ROOT = Path(__file__).parents[1]


def run_test_command(folder, words, fails="none"):
    """Run scripts/test with programs that say how they are called; `fails` names one that fails."""
    programs = folder / "venv" / "bin"
    programs.mkdir(parents=True)
    for name in ("python", "ruff", "mypy"):
        code = f'echo "{name}: night=$RFBENCH_NIGHTLY $*"\nexit {int(name == fails)}'
        (programs / name).write_text(f"#!/bin/sh\n{code}\n")
        (programs / name).chmod(0o755)
    (folder / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "test", folder / "scripts")
    (folder / "scripts" / "setup").write_text(f"set -euo pipefail\nvenv={folder / 'venv'}\n")
    return subprocess.run(
        ["bash", folder / "scripts" / "test", *words],
        env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "night= -m pytest -n 3"),
        (["tests/solvers", "-x"], "night= -m pytest -n 3 tests/solvers -x"),
        (["--all"], "night=1 -m pytest -n 3"),
        (["--all", "tests/solvers"], "night=1 -m pytest -n 3 tests/solvers"),
    ],
)
def test_all_option_adds_nightly_tests_and_passes_other_arguments_to_pytest(
    tmp_path, words, expected
):
    done = run_test_command(tmp_path, words)
    assert f"python: {expected}" in done.stdout.splitlines()
    assert done.returncode == 0


@pytest.mark.parametrize("program", ["ruff", "mypy", "python"])
def test_test_command_fails_if_a_program_fails_and_shows_mypy_output(tmp_path, program):
    done = run_test_command(tmp_path, [], program)
    assert done.returncode == 1
    assert ("mypy: " in done.stdout) == (program != "ruff")


def test_each_nightly_test_has_a_test_that_runs_by_day(request):
    """The test that an entry names exists and has cases by day, and the entry marks its cases."""
    entries = {entry.test: entry for entry in nightly.read_entries()}
    assert len(entries) == len(nightly.read_entries())
    for entry in entries.values():
        other = entry.test if entry.by_day == nightly.OTHER_CASES else entry.by_day
        for test in (entry.test, other):
            file, *_, name = test.split("::")
            assert f"def {name}(" in (ROOT / "tests" / file).read_text(), test
        assert entry.cases or entry.by_day != nightly.OTHER_CASES, entry
        assert other not in entries or entries[other].cases, f"{other} runs at night, too"
    collected = {nightly.find_test(item) for item in request.session.items}
    assert (entries.keys() & collected) - request.config.stash[NIGHTLY_TESTS] == set()


def test_nightly_test_keeps_its_other_cases(request):
    """No entry with a pattern of cases matches all cases of its test."""
    collected = {nightly.find_test(item) for item in request.session.items}
    by_day = {
        nightly.find_test(item)
        for item in request.session.items
        if not any(mark.kwargs == nightly.nightly.kwargs for mark in item.iter_markers("skipif"))
    }
    with_cases = {entry.test for entry in nightly.read_entries() if entry.cases}
    assert (with_cases & collected) - by_day == set()


def test_nightly_workflow_runs_all_tests():
    workflow = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())
    assert "schedule" in workflow["env"]["RFBENCH_NIGHTLY"]
    assert any("scripts/test" in line for line in (ROOT / ".ci/run").read_text().splitlines())


def test_wait_until_fails_when_the_child_process_has_ended():
    child = subprocess.Popen([sys.executable, "-S", "-c", "raise SystemExit(7)"])
    with pytest.raises(AssertionError, match="exit code 7"):
        wait_until(lambda: False, child)
    wait_until(lambda: True, child)  # it happened before the child ended


def test_tests_that_share_workers_or_a_fixture_run_in_one_xdist_group():
    groups = {
        folder: group_of(f"tests/{folder}/test_a.py::test_b") for folder in ("audit", "choosing")
    }
    assert groups == {"audit": "workers", "choosing": "choosing"}
    assert group_of("tests/experiment/test_faults.py::test_b") == "tests/experiment/test_faults.py"
    for file in ROOT.glob("tests/*/test_*.py"):
        uses = re.search(r"[(,]\s*every_published\b", file.read_text())
        assert bool(uses) == (str(file.relative_to(ROOT)) in WITH_PUBLISHED), file
    form = "tests/samplers/test_contract.py::test_promise[RKS/same_seed]"
    assert group_of(form) == "tests/samplers/test_contract.py::test_promise[RKS"
