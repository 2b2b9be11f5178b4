"""Random features rounded to a few bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array, FloatArray, Rows
from rfbench.kernels import to_dense
from rfbench.parameters import one_of, parameter
from rfbench.samplers.base import RandomFeatures, RandomStreams
from rfbench.samplers.declaration import WAVES, CheckCase, sampler
from rfbench.samplers.feature_map import FeatureMap

# Number of rows whose random numbers are computed in one block. Measured CPU time, as a multiple of
# the time with this value: 1.01 with half the value, and 1.02 with twice the value (`python -m
# scripts.bench.doubled`).
_KEY_ROWS = 1024


@dataclass(frozen=True)
class RoundedMap(FeatureMap):
    """Cosine features that are rounded to one of 2^bits equally spaced levels.

    Each feature is rounded up or down at random, such that its mean does not change. The levels are
    between -scale and scale.

    Attributes
    ----------
    bits : int
        Number of bits per feature.
    key : int
        Seed of the random numbers for the rounding. The random numbers depend only on the key, the
        column and the values of the row, so that equal rows have equal features.
    """

    bits: int = 8
    key: int = 0

    def bytes_per_row(self, itemsize: int) -> int:
        """Return the number of bytes of a row's features, with `bits` bits per feature.

        `itemsize` is ignored.
        """
        return -(-self.n_columns * self.bits // 8)

    def transform_into(self, rows: Rows, out: FloatArray) -> None:
        """Compute the features of the n rows, and write them into `out`, shape (n, n_columns)."""
        super().transform_into(rows, out)
        step = 2.0 * abs(self.scale) / (2**self.bits - 1)
        numbers = 2 * np.arange(self.n_frequencies, dtype=np.uint64)
        numbers = np.concatenate([numbers, numbers + np.uint64(1)])[: self.n_columns]
        streams = _split_mix(numbers + np.uint64(self.key))
        for start in range(0, rows.shape[0], _KEY_ROWS):
            part = out[start : start + _KEY_ROWS]
            keys = _row_keys(to_dense(rows[start : start + _KEY_ROWS]))
            uniform = (_split_mix(keys[:, None] ^ streams) >> np.uint64(11)) * 2.0**-53
            levels = np.floor((part + abs(self.scale)) / step + uniform)
            part[...] = np.clip(levels, 0, 2**self.bits - 1) * step - abs(self.scale)


def _split_mix(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return a pseudorandom 64-bit number for each given number.

    The function is one step of the generator SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
    """
    z = numbers + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _row_keys(rows: Any) -> NDArray[np.uint64]:
    """Return a 64-bit hash of the values of each row, shape (n,). 0 and -0 are equal values."""
    bits = np.ascontiguousarray(rows + 0.0, dtype=np.float64).view(np.uint64)
    places = _split_mix(np.arange(rows.shape[1], dtype=np.uint64))
    return _split_mix(_split_mix(bits ^ places).sum(axis=1, dtype=np.uint64))


@sampler(
    "low-precision",
    kernels=WAVES,
    about="the features of rks, rounded to a few bits without bias",
    # The rounding to 8 bits is random, and its random numbers depend on the bits of the row.
    # Features of float32 and float64 rows may therefore differ by one step of 1/255.
    contract={"float32_tolerance": 1.01 / 255},
    forms=(CheckCase({"bits": 8}),),
)
class LowPrecision(RandomFeatures):
    r"""Random Fourier features (random kitchen sinks) that are rounded to b bits, without bias.

    A feature has values between -c and c, where c is :math:`\sqrt{2/M}` or, for the paired map,
    :math:`\sqrt{1/M}`. Each value is rounded at random to one of :math:`2^b` levels, which have the
    distance :math:`h = 2c / (2^b - 1)`. A feature z becomes :math:`h \lfloor (z + c)/h + u \rfloor
    - c`, with u uniform on [0, 1). The kernel estimate stays unbiased for pairs of different rows.
    Test rows are rounded, too.

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
    bits : {1, 2, 4, 8}, default=4
        Number b of bits per column.

    Notes
    -----
    u is a function of the seed, the column and the values of the row, so equal rows are rounded
    equally. In the offset map, the estimate of k(x, x) increases by at most :math:`M h^2 / 4 = 2 /
    (2^b - 1)^2`. Rounded features are stored as floating-point numbers. The column `feature_bytes`
    of the results counts b bits per feature, and does not count the M d numbers of the frequencies.
    The paper uses circulant frequencies, which need about 2M numbers.

    References
    ----------
    Zhang, May, Dao and Re, Low-Precision Random Fourier Features for Memory-Constrained Kernel
    Approximation, AISTATS 2019, section 4.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import LowPrecision
    >>> X = np.random.default_rng(0).standard_normal((20, 3))
    >>> Z = LowPrecision(50, bits=2, bandwidth=2.0, random_state=0).fit_transform(X)
    >>> np.unique((Z * 15).round(6))
    array([-3., -1.,  1.,  3.])
    """

    features_served: ClassVar[tuple[str, ...]] = ("wave",)

    bits: int = parameter(4, one_of(1, 2, 4, 8))

    def _draw(self, X: Rows, targets: Array | None, random: RandomStreams) -> FeatureMap:
        unit = self.draw_unit_map(random, X.shape[1], self.n_components)
        key = int(random.rows.integers(2**62))
        return RoundedMap(**vars(unit.times(self.n_components**-0.5)), bits=self.bits, key=key)
