import pytest

from rfbench import config

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
        return config.read(path, overrides, **keywords)

    return build
