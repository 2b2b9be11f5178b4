"""Settings of the whole suite."""

import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

from rfbench import figures, files
from rfbench.analysis.verification import Verification, verify_results
from rfbench.experiment import worker_process
from tests.support.forked import fork_workers
from tests.support.nightly import mark_nightly_tests
from tests.support.results import write

__all__ = ["write"]

# The same examples in every run; `pytest --hypothesis-profile=default` looks for new ones.
settings.register_profile("same", derandomize=True, database=None, deadline=None)
settings.load_profile("same")


if DATA := os.environ.get("RFBENCH_DATA"):  # tests change the folder
    os.environ["RFBENCH_DATA"] = os.path.abspath(DATA)

# What is remembered of files goes with the process.
CACHE = tempfile.TemporaryDirectory(prefix="rfbench-tests-")
os.environ["RFBENCH_CACHE"] = CACHE.name

fork_workers()

# Files whose runs find the idle workers of the run before: one process of pytest-xdist runs all
# files of a group. Choosing takes as long as all others together, so it is a group of its own.
# Tests of faults start their own workers; they take long, and begin first.
WITH_WORKERS = re.compile(
    r"tests/(experiment/(?!test_faults)|audit/)"
    r"|test_(api|cell|cli|documentation|invented|outside)\.py"
)
# Files that share the verification of all published rows, which takes seconds.
WITH_PUBLISHED = (
    "tests/analysis/test_verdict_counts.py",
    "tests/pages/test_contents.py",
    "tests/pages/test_paper.py",
)
LONG = re.compile(r"tests/(experiment/test_faults|choosing/)")


# Tests of ``tests/nightly.yaml`` that this process collected.
NIGHTLY_TESTS = pytest.StashKey[set[str]]()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Start with the tests that take longest, and mark the nightly tests."""
    config.stash[NIGHTLY_TESTS] = mark_nightly_tests(items)
    items.sort(key=lambda item: not LONG.search(item.nodeid))


def group_of(test: str) -> str:
    """Return what a test belongs to: its file, its method's form, or the files with workers."""
    file = test.partition("::")[0]
    if file.endswith("s/test_contract.py"):  # [FORM/CHECK]
        return test.rpartition("/")[0] if "[" in test else file
    if file in WITH_PUBLISHED:
        return "published"
    if file.startswith("tests/choosing/"):
        return "choosing"
    return "workers" if WITH_WORKERS.search(file) else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the tests of a group in one process: they share fixtures.

    Groups by marks, `--dist loadgroup`, are silently none with pytest 9.2 and pytest-xdist 3.8.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByGroup(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return group_of(nodeid)

    config.option.loadscopereorder = False
    return ByGroup(config, log)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name bytes by their number: an archive has the time in it, and processes must agree."""
    return f"{argname}-{len(val)}-bytes" if isinstance(val, bytes) else None


@pytest.fixture
def new_interpreters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start each worker anew: see `tests.support.forked`."""
    monkeypatch.setattr(worker_process, "subprocess", subprocess)


@pytest.fixture
def no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write empty figures, also of one method: what `tests/figures` does not test takes seconds."""
    monkeypatch.setattr(figures.curves, "explain_empty_figure", lambda *_: "")
    monkeypatch.setattr(figures, "save_figure", lambda _, file: files.replace(file, b""))


@pytest.fixture(scope="session")
def every_published() -> Verification:
    """All published rows, verified once; the files that use it are `WITH_PUBLISHED`."""
    return verify_results([Path(__file__).parents[1] / "results" / "published"])


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)
