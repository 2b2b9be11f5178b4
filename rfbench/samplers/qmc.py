"""Quasi-Monte Carlo features: frequencies from low-discrepancy sequences."""

from __future__ import annotations

import logging
from typing import ClassVar

import numpy as np
from scipy.stats import qmc

from rfbench.arrays import Array, Rows
from rfbench.errors import MethodError
from rfbench.kernels import Kernel
from rfbench.parameters import BOOLEAN, one_of, parameter
from rfbench.samplers.base import RandomFeatures, RandomStreams
from rfbench.samplers.declaration import MIXTURES, PRODUCT, CheckCase, sampler
from rfbench.samplers.feature_map import FeatureMap

logger = logging.getLogger(__name__)

# Maximum number of dimensions of Halton points without scrambling. In high dimensions, the last
# coordinates of these points are correlated. Measured mean absolute correlation of the last ten
# coordinates of 999 points: 0.02 with 20 dimensions, 0.14 with 40, and 0.62 with 80.
HALTON_LIMIT = 40
# Coordinates of points are limited to the interval from _EDGE to 1 - _EDGE, because the normal
# quantile of 0 is -infinity. Coordinates of the Sobol points of scipy are multiples of 2^-30, so
# only the value 0 is changed. The value was chosen without a measurement. With half or twice the
# value, too, only the value 0 would be changed.
_EDGE = 2.0**-31


@sampler(
    "qmc",
    kernels=(*PRODUCT, *MIXTURES),
    about="frequencies from a low-discrepancy sequence instead of independent draws",
    forms=(
        CheckCase(),
        CheckCase({"sequence": "halton"}),
        CheckCase({"sequence": "generalized-halton"}, {"unbiased": False}),
        # Points that are not scrambled are not random, so the kernel estimate is biased.
        CheckCase({"scramble": False}, {"unbiased": False}),
    ),
)
class QMC(RandomFeatures):
    r"""Quasi-Monte Carlo features: frequencies from a low-discrepancy sequence.

    The points t of the sequence fill the unit cube more evenly than independent random points. Each
    coordinate of a frequency is :math:`w = F^{-1}(t)`, where F is the distribution function of a
    coordinate of the spectral measure. By default, the points are scrambled at random. Every single
    point then has a uniform distribution, so the kernel estimate is unbiased (randomized QMC).

    Parameters
    ----------
    n_components : int, default=100
        M, the number of frequencies. A frequency has one column, or two in the paired map.
    kernel : str, default='gaussian'
        Name of a kernel in `rfbench.registry.KERNELS`.
    bandwidth : float or {'median', 'knn50', 'knn50-sample'}, default='median'
        Bandwidth (length scale) of the kernel, or the rule that computes the bandwidth from the
        training set.
    feature_map : {'offset', 'paired'}, default='offset'
        'offset': the columns are sqrt(2/M) cos(w'x + b) for frequencies w and random offsets b.
        'paired': the columns are the pairs sqrt(1/M) [cos w'x, sin w'x]. Ignored for arc-cosine and
        linear kernels.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Random seed or generator. None uses a new seed in every fit.
    sequence : {'sobol', 'halton', 'generalized-halton'}, default='sobol'
        Sobol (direction numbers of Joe and Kuo, at most 21201 dimensions), Halton, or generalized
        Halton. Generalized Halton permutes the digits of the Halton points. It has one random
        permutation per base, which keeps 0 fixed and is the same for all digits, as in the package
        ghalton. The points of generalized Halton are not uniform, so the estimate has a bias.
    scramble : bool, default=True
        Random scrambling: Sobol by a random linear matrix and a digital shift, Halton by random
        permutations of the digits. Without scrambling the frequencies are the same for all seeds,
        and for d above about 40 the coordinates of Halton points are nearly equal (a warning is
        logged). Use False only to repeat published numbers.

    Notes
    -----
    The supported kernels have a product measure: all kernels except the linear and the Euclidean
    Laplacian kernel. The offsets of the offset map are independent instead of quasi-random, which
    is our choice. Without scrambling, the first point of a Sobol or Halton sequence is 0. The first
    point is then skipped, because :math:`F^{-1}(0)` is minus infinity. Coordinates of points are
    limited to the interval from 2^-31 to 1 - 2^-31. With scrambled Sobol points, arXiv 2503.06041
    (2025) calls the result RQMC features.

    References
    ----------
    Yang, Sindhwani, Avron and Mahoney, Quasi-Monte Carlo Feature Maps for Shift-Invariant Kernels,
    ICML 2014; Avron, Sindhwani, Yang and Mahoney, JMLR 17 (2016).

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import QMC
    >>> X = np.random.default_rng(0).standard_normal((20, 3))
    >>> QMC(50, sequence="halton", bandwidth=2.0, random_state=0).fit(X).transform(X).shape
    (20, 50)
    """

    features_served: ClassVar[tuple[str, ...]] = ("wave", "arc-cosine")

    @classmethod
    def serves(cls, kernel: type[Kernel]) -> bool:
        """Return True if the sampler supports the given class of kernels.

        The coordinates of a frequency of the kernel have to be independent.
        """
        return super().serves(kernel) and kernel.coordinate is not None

    sequence: str = parameter("sobol", one_of("sobol", "halton", "generalized-halton"))
    scramble: bool = parameter(True, BOOLEAN)

    def _draw(self, X: Rows, targets: Array | None, random: RandomStreams) -> FeatureMap:
        d, m = X.shape[1], self.n_components
        draw = {"sobol": _sobol, "halton": _halton, "generalized-halton": _generalized_halton}[
            self.sequence
        ]
        if draw is not _sobol and not self.scramble and d > HALTON_LIMIT:
            logger.warning(
                "Unscrambled Halton points in %d dimensions have nearly equal coordinates from "
                "about the %dth on. Set scramble to true, or use the Sobol sequence.",
                d,
                HALTON_LIMIT,
            )
        points = draw(d, m, self.scramble, random.frequencies)
        frequencies = self.kernel_.quantile(np.clip(points, _EDGE, 1.0 - _EDGE))
        return self.unit_map(frequencies, random).times(m**-0.5)


def _sobol(d: int, m: int, scramble: bool, generator: np.random.Generator) -> Array:
    if d > qmc.Sobol.MAXDIM:
        raise MethodError(
            f"There are no Sobol points in {d} dimensions.",
            f"scipy has direction numbers for at most {qmc.Sobol.MAXDIM} dimensions.",
            "Set sequence to halton, or use the sampler rks.",
        )
    engine = qmc.Sobol(d, scramble=scramble, seed=generator)
    # The number of drawn points is rounded up to a power of two, because scipy warns about all
    # other numbers of Sobol points. Only the first m points are returned.
    skipped = 0 if scramble else 1
    points = engine.random_base2((m + skipped - 1).bit_length())
    return np.asarray(points[skipped : m + skipped])


def _halton(d: int, m: int, scramble: bool, generator: np.random.Generator) -> Array:
    engine = qmc.Halton(d, scramble=scramble, seed=generator)
    if not scramble:
        engine.fast_forward(1)
    return np.asarray(engine.random(m))


def _generalized_halton(d: int, m: int, scramble: bool, generator: np.random.Generator) -> Array:
    """Return the first m points of a generalized Halton sequence in d dimensions, without point 0.

    A coordinate of a point is computed from the digits of the point's index in base b, where b is
    a different prime number for each coordinate. The digits are permuted and their order reversed.
    """
    points = np.zeros((m, d))
    for j, base in enumerate(_primes(d)):
        mapped = np.arange(base)
        if scramble:
            mapped[1:] = generator.permutation(mapped[1:])
        index, digit = np.arange(1, m + 1), 1.0 / base
        while index.any():
            points[:, j] += digit * mapped[index % base]
            index, digit = index // base, digit / base
    return points


def _primes(count: int) -> list[int]:
    primes: list[int] = []
    candidate = 2
    while len(primes) < count:
        if all(candidate % prime for prime in primes if prime * prime <= candidate):
            primes.append(candidate)
        candidate += 1
    return primes
