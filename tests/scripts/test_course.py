"""Course: the exercises have a bias, the solutions have none, and the features have their kernel.

The features of the assignment are compared with the Gaussian kernel, which they approximate.
"""

import numpy as np
import pytest

from rfbench.checking.bias import KernelClaim, measure
from rfbench.kernels import Gaussian
from scripts.examples.course import accuracies, exercises, solutions


@pytest.mark.parametrize("name", solutions.FAULTS)
def test_exercise_has_a_bias_and_its_solution_has_none(name):
    found, corrected = (
        measure(KernelClaim("", getattr(module, name), Gaussian(1.0)), most=600)
        for module in (exercises, solutions)
    )
    assert found.biased
    assert not corrected.biased
    assert corrected.is_decreasing


@pytest.mark.parametrize(("kind", "error"), [("rff", 0.06), ("nystroem", 1e-6)])
def test_features_of_the_assignment_approximate_the_kernel(kind, error):
    rows = np.random.default_rng(0).uniform(size=(40, 8))
    Z = accuracies.make_features(kind, 40 if kind == "nystroem" else 4000, rows, rows)
    exact = np.exp(-accuracies.GAMMA * ((rows[:, None] - rows) ** 2).sum(axis=2))
    assert np.abs(Z @ Z.T - exact).max() < error
