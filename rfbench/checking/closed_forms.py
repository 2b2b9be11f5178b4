"""Kernels of feature maps in other packages that rfbench's samplers do not support."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Rows
from rfbench.errors import make_unknown_error
from rfbench.kernels import Kernel, make, to_float64
from rfbench.registry import KERNELS


class Matern(Kernel):
    """Matern kernels of order nu; frequencies are multivariate t with 2 nu degrees of freedom."""

    nu: float

    def __call__(self, X: Rows, Y: Rows) -> NDArray[np.float64]:
        """Return the kernel matrix."""
        from sklearn.gaussian_process import kernels  # importing this module takes a second

        return np.asarray(kernels.Matern(self.bandwidth, nu=self.nu)(to_float64(X), to_float64(Y)))

    def frequencies(self, generator: np.random.Generator, d: int, m: int) -> NDArray[np.float64]:
        """Draw m frequencies, shape (m, d)."""
        chi = generator.chisquare(2 * self.nu, size=(m, 1))
        return self._scaled(generator.standard_normal((m, d)) * np.sqrt(2 * self.nu / chi))


class Matern32(Matern):
    """Matern kernel of order 3/2: (1 + r) exp(-r), r = sqrt(3) |x - y| / s."""

    name = "matern32"
    nu = 1.5


class Matern52(Matern):
    """Matern kernel of order 5/2: (1 + r + r^2 / 3) exp(-r), r = sqrt(5) |x - y| / s."""

    name = "matern52"
    nu = 2.5


class Softmax(Kernel):
    """Softmax kernel exp(x'y / s^2): attention without its denominator."""

    name = "softmax"

    def __call__(self, X: Rows, Y: Rows) -> NDArray[np.float64]:
        """Return the kernel matrix."""
        return np.asarray(np.exp(to_float64(X) @ to_float64(Y).T / self.bandwidth**2))

    def frequencies(self, generator: np.random.Generator, d: int, m: int) -> NDArray[np.float64]:
        """Draw m frequencies of positive features, shape (m, d)."""
        return generator.standard_normal((m, d)) / self.bandwidth


class SoftmaxRegularised(Softmax):
    """Softmax kernel with frequencies of length sqrt(d), called SMREG in Performers.

    exp(-(|x|^2 + |y|^2) / 2) E exp(w'(x + y)) for w uniform on the sphere of radius sqrt(d), with x
    and y in bandwidths. The mean of exp(w'(x + y)) is 0F1(d / 2; d |x + y|^2 / 4).
    """

    name = "softmax-regularised"

    def __call__(self, X: Rows, Y: Rows) -> NDArray[np.float64]:
        """Return the kernel matrix."""
        return self.of_length(X, Y, 1.0)

    def of_length(self, X: Rows, Y: Rows, factor: float) -> NDArray[np.float64]:
        """Return the kernel matrix that results if all frequencies are divided by `factor`."""
        from scipy.special import hyp0f1

        left, right = to_float64(X) / self.bandwidth, to_float64(Y) / self.bandwidth
        squares = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1)
        d, sums = left.shape[1], squares + 2 * left @ right.T
        return np.asarray(np.exp(-squares / 2) * hyp0f1(d / 2, d * sums / (2 * factor) ** 2))

    def frequencies(self, generator: np.random.Generator, d: int, m: int) -> NDArray[np.float64]:
        """Draw m frequencies of positive features, shape (m, d)."""
        W = generator.standard_normal((m, d))
        lengths = np.linalg.norm(W, axis=1, keepdims=True)
        return np.asarray(np.sqrt(d) * W / lengths / self.bandwidth)


@dataclass(frozen=True)
class Polynomial(Kernel):
    """Polynomial kernel (gamma x'y + coef0)^degree, with scikit-learn's names and defaults."""

    gamma: float = 1.0
    degree: int = 2
    coef0: float = 0.0

    name = "polynomial"
    has_bandwidth = False

    def __call__(self, X: Rows, Y: Rows) -> NDArray[np.float64]:
        """Return the kernel matrix."""
        return np.asarray(
            (self.gamma * (to_float64(X) @ to_float64(Y).T) + self.coef0) ** self.degree
        )


_ALL = (Matern32, Matern52, Softmax, SoftmaxRegularised, Polynomial)
OTHERS: dict[str, type[Kernel]] = {kernel.name: kernel for kernel in _ALL}


def find_kernel(name: str, bandwidth: float, **parameters: float) -> Kernel:
    """Return a kernel of rfbench or of this module by name.

    The keyword arguments `parameters` are parameters of the polynomial kernel.
    """
    name = KERNELS.published(name)
    if name in KERNELS:
        return make(name, bandwidth)
    if name not in OTHERS:
        raise make_unknown_error("kernel", name, [*KERNELS, *OTHERS])
    return OTHERS[name](bandwidth if OTHERS[name].has_bandwidth else 1.0, **parameters)
