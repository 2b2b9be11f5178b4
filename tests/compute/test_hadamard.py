import numpy as np
import pytest
from scipy.linalg import hadamard

from rfbench.compute.hadamard import fwht_inplace

TYPES = pytest.mark.parametrize("dtype", [np.float64, np.float32])


@TYPES
@pytest.mark.parametrize("p", [2**k for k in range(11)])
@pytest.mark.parametrize("other", [1, 3, 70])
def test_transform_equals_the_matrix_product_on_both_axes(p, other, dtype, rng):
    matrix = hadamard(p).astype(float)
    bound = p * np.finfo(dtype).eps * 8
    a = rng.standard_normal((p, other)).astype(dtype)
    result = a.copy()
    fwht_inplace(result, 0)
    np.testing.assert_allclose(result, matrix @ a, atol=bound)
    b = np.ascontiguousarray(a.T)
    result = b.copy()
    fwht_inplace(result, 1)
    np.testing.assert_allclose(result, b @ matrix, atol=bound)


def test_matrix_with_1000_columns_is_transformed(rng):
    a = rng.integers(-9, 10, (512, 1000)).astype(float)
    result = a.copy()
    fwht_inplace(result, 0)
    np.testing.assert_array_equal(result, hadamard(512) @ a)


@pytest.mark.parametrize("shape", [(0, 4), (4, 0)])
def test_empty_array_is_accepted(shape):
    fwht_inplace(np.empty(shape), 0 if shape[0] else 1)


@pytest.mark.parametrize("length", [0, 3, 12, 1000])
def test_length_that_is_not_a_power_of_two_is_rejected(length):
    with pytest.raises(ValueError, match="power of two"):
        fwht_inplace(np.zeros((2, length)), 1)
    with pytest.raises(ValueError, match="power of two"):
        fwht_inplace(np.zeros((length, 2)), 0)
