"""The machine's own limit for random features with ridge regression."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import blas

from rfbench.compute import wave_kernels
from rfbench.compute.blocks import choose_block_rows
from scripts.bench.timing import rate

IN_CACHE = 2**15

DEFINITION = (
    "The limit is the smallest possible time of a case. The limit is computed from the number "
    "of operations and from the measured rate of each kind of operation. The projections need "
    "2 n' d M GEMM flops, with n' = n + n/5 rows, and the predictions with a penalties need 2 "
    "(n/5) M a GEMM flops. The Gram matrix needs n M (M + 1) SYRK flops. The Cholesky "
    "factorizations for the a penalties need a M^3 / 3 flops, at the rate of SYRK. The "
    "features need n' M cosines. Each rate is measured in the same run, on one thread, just "
    "before the case. The rates of GEMM and SYRK are measured on a block of rows that is in "
    "the cache. The rate of cosines is measured on 2^15 elements in the cache."
)


class Limit:
    """Smallest time for features, Gram matrix, a penalties and the prediction of new rows.

    Parameters
    ----------
    n, n_new : int
        Numbers of training rows and of new rows.
    d, M : int
        Numbers of columns and features.
    penalties : int
        Number a of penalties.
    """

    def __init__(self, n: int, n_new: int, d: int, M: int, penalties: int) -> None:
        self.n, self.n_new, self.d, self.M, self.penalties = n, n_new, d, M, penalties
        self.rows = choose_block_rows(M)
        self.rates = dict.fromkeys(("project", "gram", "predict", "cosine"), math.inf)

    def measure(self) -> None:
        """Measure the rates; the fastest of all calls counts."""
        generator = np.random.default_rng(0)
        block = generator.standard_normal((self.rows, self.d))
        frequencies = generator.standard_normal((self.d, self.M))
        coefficients = generator.standard_normal((self.M, self.penalties))
        features = np.empty((self.rows, self.M))
        gram = np.zeros((self.M, self.M), order="F")
        phases, offsets = generator.standard_normal(IN_CACHE), np.ones(self.M)
        works = {
            "project": lambda: np.matmul(block, frequencies, out=features),
            "gram": lambda: blas.dsyrk(1.0, features.T, 1.0, gram, overwrite_c=1),
            "predict": lambda: features @ coefficients,
            "cosine": lambda: wave_kernels.cos(phases, offsets, 1.0),
        }
        flops = self._work(self.rows, self.rows, self.rows) | {"cosine": float(IN_CACHE)}
        for name, work in works.items():
            self.rates[name] = min(self.rates[name], rate(work) / flops[name])

    def _work(self, projected: int, multiplied: int, predicted: int) -> dict[str, float]:
        """Return the flops for numbers of rows that are projected, multiplied and predicted."""
        return {
            "project": 2.0 * projected * self.d * self.M,
            "gram": 1.0 * multiplied * self.M * (self.M + 1),
            "predict": 2.0 * predicted * self.M * self.penalties,
            "cosine": 1.0 * projected * self.M,
        }

    @property
    def seconds(self) -> float:
        """The limit in seconds."""
        work = self._work(self.n + self.n_new, self.n, self.n_new)
        work["gram"] += self.penalties * self.M**3 / 3
        return sum(work[name] * self.rates[name] for name in work)

    def __str__(self) -> str:
        gigaflops = {name: 1e-9 / seconds for name, seconds in self.rates.items()}
        return (
            f"GEMM {gigaflops['project']:.0f}, SYRK {gigaflops['gram']:.0f} GFLOPS at blocks of "
            f"{self.rows} rows; cosine {1e9 * self.rates['cosine']:.2f} ns"
        )
