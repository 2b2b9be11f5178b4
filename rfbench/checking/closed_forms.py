"""Kernels that feature maps of other packages have, and that rfbench's samplers do not support."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Rows
from rfbench.errors import make_unknown_error
from rfbench.kernels import Kernel, Matern, Softmax, make, to_float64
from rfbench.parameters import has_bracketed_parameters
from rfbench.registry import KERNELS


class Matern32(Matern):
    """Matern kernel of order 3/2: (1 + r) exp(-r), r = sqrt(3) |x - y| / s."""

    name = "matern32"
    nu = 1.5


class Matern52(Matern):
    """Matern kernel of order 5/2: (1 + r + r^2 / 3) exp(-r), r = sqrt(5) |x - y| / s."""

    name = "matern52"
    nu = 2.5


class SoftmaxRegularized(Softmax):
    """Softmax kernel with frequencies of length sqrt(d), called SMREG in Performers.

    The kernel is exp(-(|x|^2 + |y|^2) / 2) E exp(w'(x + y)). Here w is uniform on the sphere of
    radius sqrt(d), and x and y are rows divided by the bandwidth. The mean of exp(w'(x + y)) is
    0F1(d / 2; d |x + y|^2 / 4).
    """

    name = "softmax-regularised"

    def __call__(self, X: Rows, Y: Rows) -> NDArray[np.float64]:
        """Return the kernel matrix."""
        return self.compute_with_shorter_frequencies(X, Y, 1.0)

    def compute_with_shorter_frequencies(
        self, X: Rows, Y: Rows, factor: float
    ) -> NDArray[np.float64]:
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


_ALL = (Matern32, Matern52, SoftmaxRegularized)
OTHERS: dict[str, type[Kernel]] = {kernel.name: kernel for kernel in _ALL}


def find_kernel_by_name(
    name: str, bandwidth: float, gamma: float = 1.0, degree: int = 2, coef0: float = 0.0
) -> Kernel:
    """Return a kernel of rfbench or of this module.

    `gamma`, `degree` and `coef0` are used only for the polynomial kernel (gamma x'y +
    coef0)^degree. Their names and defaults follow scikit-learn.
    """
    name = KERNELS.find_published_name(name)
    if name == "polynomial":
        return make(f"polynomial[degree={degree}, bias={coef0!r}]", bandwidth * gamma**-0.5)
    if name in KERNELS or has_bracketed_parameters(name):
        return make(name, bandwidth)
    if name not in OTHERS:
        raise make_unknown_error("kernel", name, [*KERNELS, *OTHERS])
    return OTHERS[name](bandwidth)
