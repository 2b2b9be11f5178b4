"""Moment-matched random Fourier features."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from rfbench.arrays import Array, Rows
from rfbench.errors import MethodError
from rfbench.kernels import Gaussian
from rfbench.samplers.base import RandomFeatures, Streams
from rfbench.samplers.declaration import GAUSSIAN, sampler
from rfbench.samplers.feature_map import OFFSET, FeatureMap


@sampler(
    "moment-matching",
    position=5,
    kernels=GAUSSIAN,
    about=(
        "the frequencies of rks, whitened: their covariance is exactly that of the spectral measure"
    ),
    verified="""
        closed form: second moments of the frequencies, and their mean in the offset map
          tolerance: 1e-12
          tests/samplers/test_moment_matching.py::test_second_moments_are_exact
        brute force: the draw times the inverse root of its second moments (scipy's sqrtm)
          tolerance: 1e-10
          tests/samplers/test_moment_matching.py::test_is_the_whitening_of_the_draw
        closed form: bias of the kernel estimate, O(d/M), seen at M = 10 and less than a 16th at M =
            640
          tolerance: mean of 400 draws
          tests/samplers/test_moment_matching.py::test_bias_is_of_the_order_d_over_m
        """,
    contract={"small_components": 40, "sizes": (6, 7, 16), "refuses": "cannot match the moments"},
)
class MomentMatching(RandomFeatures):
    r"""Gaussian frequencies, whitened to have exactly the covariance of the spectral measure.

    :math:`\tilde W = W (W^\top W / M)^{-1/2}`, so that :math:`\tilde W^\top \tilde W / M = I`, for
    W of M i.i.d. rows N(0, I); the frequencies are :math:`\sigma \tilde W` with :math:`\sigma` the
    standard deviation of a coordinate, 1/s for the Gaussian kernel. In the offset map the mean of
    the rows of W is subtracted first; the paired map has mean 0 by its signs. The kernel estimate
    has a bias of O(d/M). Costs O(M d^2).

    Parameters
    ----------
    n_components : int
        M, at least 5d/4 (rounded down) and d + 1: W'W is singular below d.

    References
    ----------
    Shen, Yang and Wang, Random Features for Shift-Invariant Kernels with Moment Matching, AAAI
    2017; Liu, Huang, Chen and Suykens, Random Features for Kernel Approximation: A Survey, TPAMI
    2022, for the whitening.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import MomentMatching
    >>> X = np.random.default_rng(0).standard_normal((20, 3))
    >>> W = MomentMatching(50, bandwidth=2.0, random_state=0).fit(X).feature_map_.frequencies
    >>> bool(np.allclose(W @ W.T / 50, np.eye(3) / 4)), bool(np.allclose(W.mean(axis=1), 0))
    (True, True)
    """

    has_torch_form: ClassVar[bool] = True
    kernels_served: ClassVar[Any] = Gaussian
    unbiased: ClassVar[bool] = False

    def least_components(self, d: int) -> int:
        """Return 5d/4, rounded down, or d + 1."""
        return max(d + 1, 5 * d // 4)

    def _draw(self, X: Rows, targets: Array | None, random: Streams) -> FeatureMap:
        assert isinstance(self.kernel_, Gaussian)
        d, m = X.shape[1], self.n_components
        least = self.least_components(d)
        if m < least:
            raise MethodError(
                f"{m} frequencies cannot match the moments in {d} dimensions.",
                "The covariance of fewer frequencies than dimensions is singular.",
                f"Raise n_components to {least} or more, or take the sampler orf.",
            )
        drawn = random.frequencies.standard_normal((m, d))
        if self.feature_map == OFFSET:
            drawn -= drawn.mean(axis=0)
        left, _, right = np.linalg.svd(drawn, full_matrices=False)
        frequencies = (left @ right) * (m**0.5 * self.kernel_.spread)
        return self.unit_map(frequencies, random).times(m**-0.5)
