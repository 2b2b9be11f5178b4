"""Functions that return arrays of torch or JAX, replaced by an object with the array protocol."""

import numpy as np

from rfbench.checking.run import check_feature_map


class Tensor:
    """Array of another library: numpy reads it by `__array__`, and it has no other interface."""

    def __init__(self, values):
        self._values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self._values, dtype=dtype)


class Trained(Tensor):
    """Array that cannot be read, such as a tensor that requires a gradient."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("Use tensor.detach().numpy() instead")


def waves(X, M, seed, kind=Tensor, scale=1.0):
    W = np.random.default_rng(seed).standard_normal((M // 2, X.shape[1]))
    phases = (scale * X @ W.T).astype(np.float32)
    return kind(np.hstack([np.cos(phases), np.sin(phases)]) / np.float32((M // 2) ** 0.5))


def test_function_that_returns_another_librarys_array_is_measured():
    found = check_feature_map(waves, "gaussian", 1.0)
    assert not found.broken_promises
    assert not found.wrong_kernels
    assert found.measured
    wrong = check_feature_map(lambda X, M, seed: waves(X, M, seed, scale=1.3), "gaussian", 1.0)
    assert wrong.wrong_kernels


def test_array_that_cannot_be_converted_shows_the_error_of_its_library():
    (first, *_) = check_feature_map(
        lambda X, M, seed: waves(X, M, seed, Trained), "gaussian"
    ).broken_promises
    assert "detach()" in str(first)
