"""On real rows: the loss that chose tells the test error, and a leak decides nothing."""

import os

import numpy as np
import pytest

from rfbench import datasets, samplers
from rfbench.registry import SAMPLERS
from rfbench.solvers import RidgeClassifier
from tests.support.nightly import NIGHTLY, at_night

SHARED = os.path.abspath(os.environ.get("RFBENCH_DATA") or os.devnull)
SETS = ["digits", "magic04", "letter", "cod-rna-train", "a9a"] if NIGHTLY else ["digits"]
LOOKING = [name for name, cls in SAMPLERS.items() if cls.needs_target]
ALPHAS = [10.0**power for power in range(-4, 3)]
SEEDS = 3 if NIGHTLY else 2
BY_DAY = ["eerf", "greedy"]


@pytest.fixture(scope="module")
def rows():
    """Return, by data set that is there, splits of 1,000 training and up to 3,000 test rows."""
    with pytest.MonkeyPatch.context() as patch:
        if os.path.isdir(SHARED):
            patch.setenv("RFBENCH_DATA", SHARED)
        there = [name for name in SETS if name == "digits" or datasets.on_disk(name)]
        return {name: [prepared(name, seed) for seed in range(SEEDS)] for name in there}


def prepared(name, seed):
    small = None if name == "digits" else 1000
    generator = np.random.default_rng(seed)
    split = {"test_size": 0.4}
    found = datasets.prepare(
        datasets.load(name), split=split, scaling="standard", generator=generator, rows=small
    )
    return found.X_train[:1000], found.y_train[:1000], found.X_test[:3000], found.y_test[:3000]


def errors(rows, name):
    """Return, by data set, what the loss says more than the test error, and that; in points."""
    keywords = {"n_components": 30}
    if "score_rows" in SAMPLERS[name]().get_params():
        keywords["score_rows"] = 1.0
    if "pool_size" in SAMPLERS[name]().get_params() and name != "surrogate-leverage":
        keywords["pool_size"] = 120
    found = {}
    for data, splits in rows.items():
        measured = []
        for seed, (X, y, X_test, y_test) in enumerate(splits):
            features = samplers.make(name, random_state=seed, **keywords).fit(X, y)
            solver = RidgeClassifier(ALPHAS, selection="cv5", random_state=seed)
            solver.fit(X, y, features=features)
            error = np.mean(solver.predict(X_test) != y_test)
            measured.append((solver.selection_loss_ - error, error))
        found[data] = 100 * np.mean(measured, axis=0)
    return np.array(list(found.values())).T


@pytest.fixture(scope="module")
def plain(rows):
    return errors(rows, "rks")


@pytest.mark.parametrize("name", [*BY_DAY, *at_night(*sorted({*LOOKING} - {*BY_DAY}))])
def test_the_loss_tells_the_test_error_as_that_of_plain_features_does(rows, plain, name):
    apart, error = errors(rows, name)
    assert np.abs(apart).mean() <= np.abs(plain[0]).mean() + 1
    if name == "greedy":
        assert np.exp(np.mean(np.log(error / plain[1]))) <= 1.02
