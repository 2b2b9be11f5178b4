"""Kernels for tests of feature maps in other packages. The samplers of rfbench do not have them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Rows
from rfbench.errors import make_unknown_error
from rfbench.kernels import Kernel, Matern, Softmax, make, to_float64
from rfbench.parameters import has_bracketed_parameters
from rfbench.registry import KERNELS


class Matern32(Matern):
    """Matern kernel of order 3/2: (1 + r) exp(-r).

    r is sqrt(3) |x - y| / s for rows x and y and the bandwidth s.
    """

    name = "matern32"
    nu = 1.5


class Matern52(Matern):
    """Matern kernel of order 5/2: (1 + r + r^2 / 3) exp(-r).

    r is sqrt(5) |x - y| / s for rows x and y and the bandwidth s.
    """

    name = "matern52"
    nu = 2.5


class SoftmaxRegularized(Softmax):
    """Regularized softmax kernel of Performers, whose frequencies have the length sqrt(d).

    The kernel is exp(-(|x|^2 + |y|^2) / 2) times the mean of exp(w'(x + y)). Here x and y are rows
    with d columns, divided by the bandwidth. The frequency w is uniform on the sphere of radius
    sqrt(d). The mean is the hypergeometric function 0F1(d / 2; d |x + y|^2 / 4).
    """

    name = "softmax-regularised"

    def __call__(self, X: Rows, Y: Rows) -> NDArray[np.float64]:
        """Return the kernel matrix of the rows of X and the rows of Y."""
        return self.compute_with_shorter_frequencies(X, Y, 1.0)

    def compute_with_shorter_frequencies(
        self, X: Rows, Y: Rows, factor: float
    ) -> NDArray[np.float64]:
        """Return the kernel matrix of X and Y if all frequencies are divided by `factor`."""
        from scipy.special import hyp0f1

        left, right = to_float64(X) / self.bandwidth, to_float64(Y) / self.bandwidth
        squares = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1)
        d, sums = left.shape[1], squares + 2 * left @ right.T
        return np.asarray(np.exp(-squares / 2) * hyp0f1(d / 2, d * sums / (2 * factor) ** 2))

    def frequencies(self, generator: np.random.Generator, d: int, m: int) -> NDArray[np.float64]:
        """Draw m random frequencies with d coordinates, for positive features; shape (m, d)."""
        W = generator.standard_normal((m, d))
        lengths = np.linalg.norm(W, axis=1, keepdims=True)
        return np.asarray(np.sqrt(d) * W / lengths / self.bandwidth)


_ALL = (Matern32, Matern52, SoftmaxRegularized)
OTHERS: dict[str, type[Kernel]] = {kernel.name: kernel for kernel in _ALL}


def find_kernel_by_name(
    name: str, bandwidth: float, gamma: float = 1.0, degree: int = 2, coef0: float = 0.0
) -> Kernel:
    """Return the kernel with the given name and bandwidth.

    `gamma`, `degree` and `coef0` are used only for the polynomial kernel (gamma x'y +
    coef0)^degree of rows x and y, as in scikit-learn.
    """
    name = KERNELS.find_published_name(name)
    if name == "polynomial":
        return make(f"polynomial[degree={degree}, bias={coef0!r}]", bandwidth * gamma**-0.5)
    if name in KERNELS or has_bracketed_parameters(name):
        return make(name, bandwidth)
    if name not in OTHERS:
        raise make_unknown_error("kernel", name, [*KERNELS, *OTHERS])
    return OTHERS[name](bandwidth)
