"""Limit of threads in the libraries that an imported method loads."""

import shutil
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info

from rfbench.experiment import runner
from rfbench.experiment.run_plan import plan_run
from rfbench.results import reader

TEXT = """\
dataset: {sphere: {d: 3, n_train: 60, n_test: 20}}
scaling: none
bandwidth: 1.0
M: 4
samplers: [rks]
solver: {name: ridge, alphas: 1.0}
trials: 1
"""
# The import of this module loads a BLAS library that was not loaded before, with two threads.
LOADING = """\
import ctypes
from threadpoolctl import ThreadpoolController

LIBRARY = {library!r}
ctypes.CDLL(LIBRARY)


def own():
    (found,) = ThreadpoolController().select(filepath=LIBRARY).lib_controllers
    return found


own().set_num_threads(2)
"""
SAMPLER = """
def sample(X, M, seed):
    if own().num_threads != 1:
        raise ValueError(f"{own().num_threads} threads")
    return X @ np.random.default_rng(seed).standard_normal((X.shape[1], M))
"""
SOLVER = """
class Mine(RidgeClassifier):
    def fit(self, X, y):
        if own().num_threads != 1:
            raise ValueError(f"{own().num_threads} threads")
        return super().fit(X, y)
"""


@pytest.mark.parametrize(
    ("code", "override"),
    [
        (f"import numpy as np\n{LOADING}{SAMPLER}", "samplers=[{{class: '{path}:sample'}}]"),
        (
            f"from sklearn.linear_model import RidgeClassifier\n{LOADING}{SOLVER}",
            "solver={{class: '{path}:Mine'}}",
        ),
    ],
    ids=["sampler", "solver"],
)
def test_library_loaded_by_user_code_uses_the_threads_of_the_trial(
    experiment_of, tmp_path: Path, code: str, override: str
) -> None:
    loaded = next(each for each in threadpool_info() if each["internal_api"] == "openblas")
    library = tmp_path / "libopenblas_other.so"
    shutil.copy(loaded["filepath"], library)
    path = tmp_path / "loading.py"
    path.write_text(code.replace("{library!r}", repr(str(library))))
    experiment = experiment_of(TEXT, override.format(path=path), allow_imports=True)
    # The worker loads the library in its first trial, because no earlier trial needs the method.
    runner.run_plan(plan_run([experiment], tmp_path / "tiny"), n_jobs=1)
    (row,) = reader.read_results_folder(tmp_path / "tiny").rows.to_dict("records")
    assert row["status"] == "ok", row["message"]
    assert "threads" not in row["message"]
