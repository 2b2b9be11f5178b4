"""Tables of thousands of columns: work per column, and what is left out of them."""

import sys

import numpy as np
import pandas as pd
import pytest

from rfbench.choosing import table
from rfbench.datasets.preparation import Preparation


def count_calls(work):
    """Return how many Python functions are called by some work, in whatever module."""
    counted = 0

    def count(frame, event, argument):
        nonlocal counted
        counted += event == "call"

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return counted


def numbers(d, n=60):
    """A table of numbers with gaps, as a file is read, and a target."""
    random = np.random.default_rng(0)
    X = random.standard_normal((n, d))
    X[random.random((n, d)) < 0.02] = np.nan
    return pd.DataFrame(X, columns=[f"v{at}" for at in range(d)]), X[:, 0] + 1.0


@pytest.mark.parametrize(
    ("work", "most"),
    [
        (lambda X: table.make_table(X, np.arange(len(X)) * 1.0), 25),
        (lambda X: Preparation().fit(X), 25),
        (lambda X: Preparation().fit(X).transform(X), 25),
        (lambda X: Preparation().fit(X).differences(X.fillna(0.0)), 25),
    ],
    ids=["make_table", "fit", "transform", "differences"],
)
def test_a_column_of_numbers_takes_a_few_calls(work, most):
    calls = [count_calls(lambda d=d: work(numbers(d)[0])) for d in (300, 600)]
    assert (calls[1] - calls[0]) / 300 < most


@pytest.mark.parametrize("kind", ["numbers", "classes"])
@pytest.mark.parametrize("seed", range(20))
def test_columns_that_tell_the_target_are_those_of_each_by_itself(kind, seed):
    """Of columns with repeated values, gaps, one order or the other, and infinite values."""
    random = np.random.default_rng(seed)
    y = random.standard_normal(120).round(random.integers(0, 3))
    target = y if kind == "numbers" else pd.factorize(y > 0.2, sort=True)[0].astype(np.int64)
    X = pd.DataFrame({f"n{at}": random.standard_normal(120).round(1) for at in range(5)})
    X["rises"], X["falls"], X["steps"] = y, -(y**3), np.floor(y)
    X["far"] = np.where(y > 0, np.inf, y)
    X["few gaps"], X["many gaps"] = X["rises"].where(random.random(120) > 0.02), y
    X.loc[:30, "many gaps"] = np.nan
    X["codes"], X["one"], X["off"] = pd.factorize(target)[0], 1.0, y + (np.arange(120) == 7)
    alone = [column for column in X if table._tells(column, X[column], target)]
    said = [sentence.split(" determines")[0] for sentence in table.find_leaky_columns(X, target)]
    assert said == [f"Column {column}" for column in alone]
    assert {"rises", "falls"} <= {*alone} if kind == "numbers" else {"codes"} <= {*alone}
