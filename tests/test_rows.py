"""Rows on disk: any of them are those of the array they were written from."""

import pickle
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from rfbench.errors import MethodError
from rfbench.rows import select_rows
from rfbench.samplers import RKS
from rfbench.solvers import RidgeClassifier, RidgeRegressor
from tests.support.rows import source_of

X = np.random.default_rng(0).standard_normal((200, 3))
Y = X @ [1.0, -2.0, 0.5]


@pytest.fixture
def source(tmp_path):
    return source_of(tmp_path, X)


@pytest.mark.parametrize(
    "picked",
    [slice(1), slice(5, 9), slice(None), np.array([150, 3, 7, 7]), np.array([], int), X[:, 0] > 1],
    ids=["first", "within", "all", "any order", "none", "mask"],
)
def test_selected_rows_on_disk_equal_those_of_the_array(source, picked):
    assert_array_equal(source[picked], X[picked])
    some = source.select_rows(picked)
    assert some.shape == X[picked].shape
    assert_array_equal(some[:], X[picked])
    assert_array_equal(some.select_rows(slice(1, 3))[:], X[picked][1:3])


def test_preparation_steps_use_float64_before_casting(source):
    third = partial(np.multiply, 1 / 3)
    found = pickle.loads(pickle.dumps(source.map_blocks(third).astype("float32")))
    assert found.dtype == np.float32
    assert_array_equal(found[2:9], (X[2:9] * (1 / 3)).astype("float32"))


def test_array_operations_on_all_rows_on_disk_are_rejected(source):
    for reads_all in (np.asarray, np.mean, lambda rows: np.ones(200) @ rows):
        with pytest.raises(MethodError, match="`rows:`"):
            reads_all(source)


@pytest.mark.parametrize("selection", ["cv5", "validation", "test"])
@pytest.mark.parametrize("solver", [RidgeRegressor, RidgeClassifier])
def test_fits_on_rows_read_from_disk_equal_fits_in_memory(source, solver, selection):
    y = Y if solver is RidgeRegressor else Y > 0
    held = slice(0, 50)

    def fit(rows):
        features, evaluation = RKS(20, random_state=1).fit(rows), (select_rows(rows, held), y[held])
        made = solver([0.01, 0.1, 1.0], selection=selection, random_state=0)
        return made.fit(rows, y, features=features, evaluation=evaluation)

    in_memory, on_disk = fit(X), fit(source)
    assert_array_equal(on_disk.coef_, in_memory.coef_)
    assert_array_equal(on_disk.predict(source), in_memory.predict(X))
    assert on_disk.alpha_ == in_memory.alpha_
