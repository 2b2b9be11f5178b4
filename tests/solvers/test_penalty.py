"""The factor of each solver's penalty is the one that its docstring states."""

import re
from pathlib import Path

import numpy as np
import pytest

from rfbench.kernels import make as make_kernel
from rfbench.registry import SOLVERS
from rfbench.solvers import make

ALPHA, BANDWIDTH = 0.7, 1.5

LOSSES = {
    "squared": lambda f, y: ((y - f) ** 2).sum(),
    "logistic": lambda f, y: np.logaddexp(0.0, -y * f).sum(),
    "hinge": lambda f, y: np.maximum(0.0, 1.0 - y * f).sum(),
    "squared-hinge": lambda f, y: (np.maximum(0.0, 1.0 - y * f) ** 2).sum(),
}
CASES = [
    ("ridge", "squared", 1.0, {}),
    ("kernel-ridge", "squared", 1.0, {"bandwidth": BANDWIDTH}),
    ("logistic", "logistic", 0.5, {}),
    ("svm", "squared-hinge", 0.5, {"loss": "squared-hinge", "intercept": False, "tol": 1e-8}),
    ("kernel-svm", "hinge", 0.5, {"bandwidth": BANDWIDTH, "tol": 1e-8}),
]

# Solvers whose objective has another form, with the test of their penalty.
OTHER_TESTS = {"joint": ("test_joint.py", "test_optimum_equals_that_of_a_general_convex_solver")}


def test_each_solver_has_a_test_of_its_penalty():
    missing = set(SOLVERS) - {case[0] for case in CASES} - set(OTHER_TESTS)
    assert not missing, "Add a case to CASES, or the file of the solver's own test to OTHER_TESTS."
    for file, test in OTHER_TESTS.values():
        assert f"def {test}(" in (Path(__file__).parent / file).read_text()


@pytest.mark.parametrize("convention", ["absolute", "per-sample"])
@pytest.mark.parametrize(("name", "loss", "factor", "words"), CASES)
def test_fit_minimizes_the_documented_objective(binary, name, loss, factor, words, convention):
    X, y = binary
    signs, per_sample = 2.0 * y - 1, convention == "per-sample"
    alpha = ALPHA / len(X) if per_sample else ALPHA
    solver = make(name, alphas=alpha, alpha_convention=convention, **words).fit(X, y)
    fitted = solver.compute_decisions(X)[:, 0] - solver.intercept_[0]
    if solver.uses_features:
        norm = (solver.coef_**2).sum()
    else:
        norm = solver.dual_coef_[:, 0] @ fitted
        K = make_kernel("gaussian", BANDWIDTH)(X, X)
        np.testing.assert_allclose(K @ solver.dual_coef_[:, 0], fitted, atol=1e-9)

    def objective(scale, factor):
        penalty = factor * ALPHA * scale**2 * norm
        return LOSSES[loss](scale * fitted + solver.intercept_[0], signs) + penalty

    best = objective(1.0, factor)
    scales = (0.9, 0.99, 0.999, 1.001, 1.01, 1.1)
    assert min(objective(scale, factor) for scale in scales) >= best * (1 - 1e-7)
    for wrong in (factor / 2, factor * 2):
        assert min(objective(scale, wrong) for scale in scales) < objective(1.0, wrong) * (1 - 1e-7)


def test_documentation_states_the_penalty_of_each_solver():
    text = (Path(__file__).parents[2] / "configs" / "README.md").read_text()
    section = text.partition("### `alpha_convention`\n")[2].partition("\n### ")[0]
    assert set(SOLVERS) <= set(re.findall(r"[\w-]+", section))


def test_scale_free_penalty_is_equal_for_absolute_and_per_sample_alphas():
    """It is the absolute penalty over the mean squared norm of a row, not the value per sample."""
    X, y = np.random.default_rng(0).standard_normal((40, 3)) + 1.0, np.arange(40) % 2
    norm = (X**2).sum(axis=1).mean()
    for name in ("ridge", "logistic"):
        absolute = make(name, alphas=ALPHA, intercept=False).fit(X, y)
        per_sample = make(
            name, alphas=ALPHA / 40, alpha_convention="per-sample", intercept=False
        ).fit(X, y)
        assert absolute.alpha_scale_free_ == pytest.approx(ALPHA / norm)
        assert per_sample.alpha_scale_free_ == pytest.approx(ALPHA / norm)
        assert per_sample.alpha_ == pytest.approx(ALPHA / 40)
