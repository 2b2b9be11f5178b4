import shutil

import pytest

from rfbench.api import read_config
from rfbench.experiment import runner
from rfbench.experiment.run_plan import plan_run

SMALL = """\
dataset: {sphere: {d: 3, n_train: 120, n_test: 60}}
scaling: none
bandwidth: 1.0
M: [4, 8]
samplers:
  - rks
  - eerf: {pool_size: 40, score_rows: 1.0}
solver: {name: ridge, alphas: [0.01, 1.0], selection: cv5}
trials: 2
"""


@pytest.fixture
def experiment_of(tmp_path):
    """Return a function that reads a configuration text (default: a tiny one)."""

    def build(text=SMALL, *overrides, name="tiny", **keywords):
        path = tmp_path / f"{name}.yaml"
        path.write_text(text)
        return read_config(path, overrides, **keywords)

    return build


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """Return the folder of a finished run of the tiny experiment, to read."""
    top = tmp_path_factory.mktemp("finished")
    (top / "tiny.yaml").write_text(SMALL)
    summary = runner.run_plan(plan_run([read_config(top / "tiny.yaml")], top / "tiny"))
    assert (summary.done, summary.found, summary.failed) == (8, 0, 0)
    return top / "tiny"


@pytest.fixture
def folder(finished, tmp_path):
    """Return a copy of it, to change."""
    return shutil.copytree(finished, tmp_path / "tiny")
