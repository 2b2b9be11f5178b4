"""The configurations plan the same trials, and the seeds draw the same numbers, as ever.

See `tests.golden.numbers` for when the stored values may be written anew.
"""

import json

import numpy as np

from . import numbers


def test_trial_identities_equal_the_stored_ones():
    assert numbers.identities() == json.loads(numbers.IDENTITIES.read_text())


def test_seeded_features_equal_the_stored_ones():
    found, expected = numbers.features(), json.loads(numbers.FEATURES.read_text())
    # A sampler that is newer than the stored numbers has none.
    assert found.keys() >= expected.keys(), "a sampler was taken away or renamed"
    for name, sums in expected.items():
        assert not numbers.differ(found[name], sums), name
        assert np.isfinite(found[name]).all()


def test_solver_solutions_equal_the_stored_ones():
    """Of iterative solvers, which end at a gap of 1e-4 or less: the digits beyond may move."""
    found, expected = numbers.solutions(), json.loads(numbers.SOLUTIONS.read_text())
    assert found.keys() >= expected.keys(), "a solver was taken away or renamed"
    for name, sums in expected.items():
        assert not numbers.differ(found[name], sums, numbers.SOLUTION_TOLERANCE), name
        assert np.isfinite(found[name]).all()


def test_updating_stored_values_ignores_rounding_differences():
    stored = {"same": [-12.0, 3.0], "moved": [1.0, 1.0], "longer": [1.0]}
    found = {"same": [-11.999999999999996, 3.0], "moved": [1.1, 1.0], "longer": [1.0, 2.0]}
    found["new"] = [5.0]
    assert numbers.keep_equal(found, stored) == found | {"same": [-12.0, 3.0]}


def test_update_keeps_solutions_that_the_test_accepts():
    """With the tolerance of features, the update changed a solution that its test accepts."""
    stored, found = {"svm": [36.38003]}, {"svm": [36.38028]}
    assert numbers.keep_equal(found, stored) == found
    assert numbers.keep_equal(found, stored, numbers.SOLUTION_TOLERANCE) == stored
