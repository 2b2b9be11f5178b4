"""Course: the exercises have a bias, the solutions have none, and the features have their kernel.

The features of the assignment are compared with the Gaussian kernel, which they approximate, and
its committed verdicts with its published numbers.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rfbench import papers
from rfbench.checking.bias import KernelClaim, measure_bias
from rfbench.kernels import Gaussian
from scripts.examples.course import exercises, solutions
from scripts.examples.course.npfl129 import assignment

COURSE = Path(exercises.__file__).parent


@pytest.mark.parametrize("name", solutions.FAULTS)
def test_course_exercise_is_biased_and_its_solution_is_unbiased(name):
    found, corrected = (
        measure_bias(KernelClaim("", getattr(module, name), Gaussian(1.0)), most=600)
        for module in (exercises, solutions)
    )
    assert found.biased
    assert not corrected.biased
    assert corrected.is_error_decreasing


@pytest.mark.parametrize(
    ("features", "error"), [(assignment.Waves(4000), 0.06), (assignment.Landmarks(40), 1e-6)]
)
def test_features_of_the_assignment_approximate_the_kernel(features, error, monkeypatch):
    images = np.random.default_rng(0).uniform(size=(40, 8))
    monkeypatch.setattr(assignment, "load_images", lambda: (images, None))
    Z = features.fit_transform(np.arange(40.0)[:, None])
    exact = np.exp(-assignment.GAMMA * ((images[:, None] - images) ** 2).sum(axis=2))
    assert np.abs(Z @ Z.T - exact).max() < error


def test_course_verdict_file_contains_the_published_accuracies():
    with papers.include_external_papers([COURSE / "npfl129"]) as problems:
        assert problems == []
        ours = [each for each in papers.list_published_numbers() if each.paper == "npfl129"]
    printed = {(each.method, each.M): each.value for each in ours}
    found = pd.read_csv(COURSE / "npfl129_verdicts.csv", dtype={"M": str}, keep_default_na=False)
    assert set(found["verdict"]) == {"agrees"}
    assert {(row.method, row.M): row.published for row in found.itertuples()} == printed
    assert np.allclose(found["measured"].astype(float), found["published"], atol=0.005)
    assert len(printed) == len(found) == 6
