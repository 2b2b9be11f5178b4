"""Fastfood: Gaussian frequencies from Hadamard transforms and three diagonals."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from rfbench.parameters import estimator
from rfbench.samplers.structured import Block, HadamardFeatures


@estimator
class Fastfood(HadamardFeatures):
    r"""Frequencies that are products of Hadamard matrices, a permutation and diagonals.

    Each block is :math:`V = \frac{\sigma}{\sqrt p} S H G \Pi H B` with
    :math:`p = 2^{\lceil \log_2 d \rceil}` (rows are padded with zeros), H the unnormalised
    Walsh-Hadamard matrix, B signs, :math:`\Pi` a permutation, G standard Gaussian,
    :math:`S_{ii} = \chi_p / |G|_F` and :math:`\sigma` the standard deviation of a coordinate, 1/s
    for the Gaussian kernel; stacked and cut to exactly M. Every single frequency is exactly
    N(0, sigma^2 I), so the kernel estimate is unbiased, but frequencies of a block depend on each
    other and the variance is larger than that of i.i.d. ones. Costs O(M log d) a row.

    Parameters
    ----------
    n_components, kernel, bandwidth, feature_map, random_state
        See `rfbench.samplers.base.RandomFeatures`. The kernels are those with an isotropic
        Gaussian measure: the Gaussian ones, and arc-cosine (beyond the paper, a choice).

    Attributes
    ----------
    frequencies_ : array of shape (M, d)
        Written out at every access; `transform` does not need them.

    References
    ----------
    Le, Sarlos and Smola, Fastfood: Approximating Kernel Expansions in Loglinear Time, ICML 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import Fastfood
    >>> X = np.random.default_rng(0).standard_normal((20, 10))
    >>> Fastfood(50, bandwidth=4.0, random_state=0).fit(X).transform(X).shape
    (20, 50)
    """

    has_prefixes: ClassVar[bool] = True

    def _draw_block(self, generator: np.random.Generator, p: int, spread: float) -> Block:
        signs = generator.choice([-1.0, 1.0], size=p)
        shuffle = generator.permutation(p)
        gaussian = generator.standard_normal(p)
        lengths = np.sqrt(generator.chisquare(p, size=p)) / np.linalg.norm(gaussian)
        return Block(np.stack([signs, gaussian]), lengths * (spread / np.sqrt(p)), shuffle)
