import numpy as np
import pytest

from rfbench.experiment.kernel_error import LANCZOS_FROM, kernel_errors, spectral_norm


@pytest.mark.parametrize("n", [5, LANCZOS_FROM + 50])
def test_spectral_norm_is_the_largest_absolute_eigenvalue(n):
    generator = np.random.default_rng(0)
    matrix = generator.standard_normal((n, n))
    symmetric = matrix + matrix.T - 3 * np.eye(n)
    expected = np.linalg.norm(symmetric, 2)
    assert spectral_norm(symmetric) == pytest.approx(expected, rel=1e-5)


def test_kernel_errors_by_hand():
    exact = np.diag([4.0, 3.0])
    features = np.array([[1.0], [0.0]])
    found = kernel_errors(exact, features, spectral_norm(exact))
    assert found["kernel_error_spectral"] == pytest.approx(3 / 4)
    assert found["kernel_error_frobenius"] == pytest.approx(np.sqrt(9 + 9) / 5)
