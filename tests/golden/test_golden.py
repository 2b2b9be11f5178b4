"""The published rows give the same numbers, the configurations the same trials, as ever.

See `tests.golden.numbers` for when the stored values may be written anew.
"""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from . import numbers


def assert_same(found, path):
    expected = pd.read_csv(path, low_memory=False)
    assert list(found.columns) == list(expected.columns)
    assert len(found) == len(expected)
    for column in expected:
        if expected[column].dtype.kind == "f":
            assert_allclose(
                found[column].to_numpy(float), expected[column], rtol=1e-12, atol=0, err_msg=column
            )
        else:
            pd.testing.assert_series_equal(found[column], expected[column])


@pytest.mark.parametrize("what", ["verify", "claims", "table"])
def test_numbers(what):
    assert_same(getattr(numbers, what)(), numbers.HERE / f"{what}.csv")


def test_identities():
    assert numbers.identities() == json.loads(numbers.IDENTITIES.read_text())


def test_seeded_features():
    found, expected = numbers.features(), json.loads(numbers.FEATURES.read_text())
    # A sampler that is newer than the stored numbers has none.
    assert found.keys() >= expected.keys(), "a sampler was taken away or renamed"
    for name, sums in expected.items():
        assert not numbers.differ(found[name], sums), name
        assert np.isfinite(found[name]).all()


def test_solutions():
    """Of iterative solvers, which end at a gap of 1e-4 or less: the digits beyond may move."""
    found, expected = numbers.solutions(), json.loads(numbers.SOLUTIONS.read_text())
    assert found.keys() >= expected.keys(), "a solver was taken away or renamed"
    for name, sums in expected.items():
        assert not numbers.differ(found[name], sums, 1e-5), name
        assert np.isfinite(found[name]).all()
