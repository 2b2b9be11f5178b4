import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import linalg
from scipy.sparse.linalg import ArpackNoConvergence

from rfbench.experiment import kernel_error
from rfbench.experiment.kernel_error import LANCZOS_FROM, CrossKernel, ExactKernel
from rfbench.kernels import Gaussian

D1, D2 = "kernel_error_delta1", "kernel_error_delta2"


def kernel_of(n, penalty, d=4):
    rows = np.random.default_rng(0).standard_normal((n, d))
    return ExactKernel.from_matrix(Gaussian(2.0)(rows, rows), penalty)


@pytest.mark.parametrize("n", [5, LANCZOS_FROM + 50])
def test_spectral_norm_is_the_largest_absolute_eigenvalue(n):
    generator = np.random.default_rng(0)
    matrix = generator.standard_normal((n, n))
    symmetric = matrix + matrix.T - 3 * np.eye(n)
    expected = np.linalg.norm(symmetric, 2)
    assert abs(kernel_error._largest(symmetric)) == pytest.approx(expected, rel=1e-5)


def test_number_of_lanczos_iterations_is_bounded(monkeypatch):
    """Features of fewer columns than rows put the eigenvalue of delta1 into a cluster."""
    n, calls = LANCZOS_FROM + 50, []

    def recorded(matrix, k, **settings):
        calls.append(settings["maxiter"])
        return linalg_eigsh(matrix, k, **settings)

    linalg_eigsh = kernel_error.eigsh
    exact = kernel_of(n, 1e-3)
    monkeypatch.setattr(kernel_error, "eigsh", recorded)
    rows = np.random.default_rng(0).standard_normal((n, 4))
    random = np.random.default_rng(1)
    frequencies, offsets = random.standard_normal((4, 40)) / 2, random.uniform(0, 6.28, 40)
    features = np.sqrt(2 / 40) * np.cos(rows @ frequencies + offsets)
    found = exact.compute_errors(features)
    assert calls == [kernel_error.RESTARTS] * 2  # the spectral error and delta2
    shift = 1e-3 * np.eye(n)
    least = linalg.eigh(features @ features.T + shift, exact.matrix + shift, eigvals_only=True)[0]
    assert found[D1] == pytest.approx(1 - least, abs=1e-8)


def test_dense_solver_replaces_lanczos_iterations_that_do_not_converge(monkeypatch):
    def stopped(*_, **settings):
        raise ArpackNoConvergence("no convergence", np.empty(0), np.empty((0, 0)))

    n = LANCZOS_FROM + 1
    matrix = np.random.default_rng(0).standard_normal((n, n))
    matrix += matrix.T - 3 * np.eye(n)
    monkeypatch.setattr(kernel_error, "eigsh", stopped)
    eigenvalues = np.linalg.eigvalsh(matrix)
    assert kernel_error._largest(matrix, "LA") == pytest.approx(eigenvalues[-1], rel=1e-12)
    assert abs(kernel_error._largest(matrix)) == pytest.approx(np.abs(eigenvalues).max(), rel=1e-12)


def test_kernel_errors_equal_manual_computation():
    features = np.array([[1.0], [0.0]])
    found = ExactKernel.from_matrix(np.diag([4.0, 3.0]), 1.0).compute_errors(features)
    assert found["kernel_error_spectral"] == pytest.approx(3 / 4)
    assert found["kernel_error_frobenius"] == pytest.approx(np.sqrt(9 + 9) / 5)
    assert found[D1] == pytest.approx(3 / 4)  # of 1 - 2/5 and 1 - 1/4
    assert found[D2] == 0.0


def test_kernel_error_between_two_samples_of_rows_equals_direct_sum():
    X, Y = np.random.default_rng(0).standard_normal((2, 30, 4))
    K, features = Gaussian(2.0)(X, Y), np.random.default_rng(1).standard_normal((60, 7))
    total = sum(
        (features[i] @ features[30 + j] - 0.2 - K[i, j]) ** 2 for i in range(30) for j in range(30)
    )
    errors = CrossKernel(K).compute_errors(features, -0.2)
    assert errors == {"kernel_error_frobenius": pytest.approx((total / (K**2).sum()) ** 0.5)}


@pytest.mark.parametrize("n", [60, LANCZOS_FROM + 50])
@pytest.mark.parametrize("penalty", [1e-4, 0.3, 20.0])
def test_spectral_approximation_deltas_are_extreme_generalized_eigenvalues(n, penalty):
    exact = kernel_of(n, penalty)
    features = np.random.default_rng(1).standard_normal((n, 30)) / 5
    shift, constant = penalty * np.eye(n), -0.01
    approximate = features @ features.T + constant + shift
    ends = linalg.eigh(approximate, exact.matrix + shift, eigvals_only=True)[[0, -1]]
    found = exact.compute_errors(features, constant)
    assert_allclose([found[D1], found[D2]], [1 - ends[0], ends[1] - 1], rtol=1e-4, atol=1e-5)


def test_spectral_approximation_deltas_require_positive_penalty_and_few_rows(monkeypatch):
    assert np.isfinite(list(kernel_of(60, 0.0).compute_errors(np.ones((60, 1))).values())).all()
    monkeypatch.setattr(kernel_error, "DELTA_ROWS", 59)
    assert {D1, D2}.isdisjoint(kernel_of(60, 0.5).compute_errors(np.ones((60, 1))))


# What `delta_approximation` of HazyResearch/lp_rffs@089c764 gives for the matrices below.
REFERENCE = {
    1e-3: (24.866621536713428, 0.9997318772535173),
    0.1: (11.165885805321743, 0.9738893303738334),
    5.0: (0.6607475577314754, 0.42922126494043755),
}


@pytest.mark.parametrize("penalty", REFERENCE)
def test_spectral_approximation_deltas_equal_the_results_of_the_authors(penalty):
    grid = np.arange(12.0)[:, None]
    exact = ExactKernel.from_matrix(Gaussian(3.0)(grid, grid), penalty)
    features = np.cos(grid * [0.1, 0.4, 0.9] + [0.0, 1.0, 2.0]) * np.sqrt(2 / 3)
    found = exact.compute_errors(features)
    assert_allclose([found[D2], found[D1]], REFERENCE[penalty], rtol=1e-9)
