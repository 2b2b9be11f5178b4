"""Features that are no real numbers: the trial is a row that says so, whoever made them."""

import pytest

from tests.support.trials import measured

from .conftest import SMALL

CODE = """
import numpy as np
from scipy import sparse
from sklearn.linear_model import Ridge
from rfbench.samplers import RKS
from rfbench.samplers.feature_map import FittedMap

class Rows:
    def fit(self, X, y=None):
        return self

class Scattered(Rows):
    def transform(self, X):
        return sparse.csr_array(np.exp(1j * X))

class Map(FittedMap):
    n_columns = 3
    def astype(self, dtype):
        return self
    def transform_into(self, rows, out):
        out[...] = np.exp(1j * rows)

class OwnMap(RKS):
    def _draw(self, X, targets, random):
        return Map()

class Predicts(Ridge):
    def predict(self, X):
        return super().predict(X) * (1 + 0j)

class Says(Ridge):
    def predict(self, X):
        return super().predict(X).astype(str)
"""
REAL = SMALL.replace("M: [4, 8]", "M: 3").replace("trials: 2", "trials: 1")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Scattered", "A transformer returned features of the type complex128"),
        ("OwnMap", "discards the imaginary part"),
    ],
)
def test_features_that_are_not_real_numbers_fail_the_trial(experiment_of, tmp_path, name, message):
    (tmp_path / "mine.py").write_text(CODE)
    own = f"- {{class: 'mine.py:{name}', label: mine}}"
    text = REAL.replace("- rks", own)
    rows = measured(experiment_of(text, allow_imports=True))
    # The method from elsewhere runs last, in a process of its own.
    assert [row["status"] for row in rows] == ["ok", "failed"]
    assert message in rows[1]["message"]


@pytest.mark.parametrize(("name", "kind"), [("Predicts", "complex128"), ("Says", "<U")])
def test_predictions_that_are_not_real_numbers_fail_the_trial(experiment_of, tmp_path, name, kind):
    (tmp_path / "mine.py").write_text(CODE)
    text = REAL.replace(
        "{name: ridge, alphas: [0.01, 1.0], selection: cv5}", "{class: 'mine.py:NAME'}"
    )
    rows = measured(experiment_of(text.replace("NAME", name), allow_imports=True))
    assert {row["status"] for row in rows} == {"failed"}
    assert all(f"predicted values of the type {kind}" in row["message"] for row in rows)
