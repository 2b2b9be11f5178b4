"""Plant faults in feature maps, and count the faults that `rfbench test` finds.

    python -m scripts.foreign.planted
    python -m scripts.foreign.planted --power

The kinds are listed below. A generator with a fixed seed draws the size of each fault, the kernel,
the bandwidth and the form of the features. The bias of each fault is computed from `TRUTH` other
seeds, in errors of one draw, so that the verdict is compared with a number that the test does not
know. The same maps without a fault give the rate of false alarms. With `--power`, faults whose bias
has a closed form are planted with the biases `BIASES`, and the rate of detection is written.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import optimize, stats

from rfbench.checking.bias import (
    N_SEEDS,
    POWER,
    SEEN,
    TESTED,
    KernelClaim,
    Measurement,
    choose_row_pairs,
    measure_bias,
)
from rfbench.checking.closed_forms import find_kernel_by_name

FOLDER = Path("results/published/maps")
TRUTH = 40_000
KERNELS = ("gaussian", "laplacian", "laplacian-l2", "cauchy", "matern32", "matern52")
FORMS = ("offset", "paired")
RIGHT_MAPS = 60
# Largest bias in errors of one draw, and number of maps for each bias and kind.
BIASES = (0.03, 0.05, 0.1, 0.2, 0.4)
MAPS_OF_BIAS = 20
# Number of frequencies for the error of one draw, which then has a relative error of 1 %.
FREQUENCIES = 10_000


class Drawn(NamedTuple):
    """Frequencies of shape (m, d), offsets, and a weight for each column."""

    W: Any
    offsets: Any
    weights: Any


def change_length_scale(drawn, size, generator, X, unit):
    """Draw for a bandwidth that is wrong by a factor of 1 + size."""
    return drawn._replace(W=drawn.W / (1 + size))


def share_signs(drawn, size, generator, X, unit):
    """Give two coordinates of a frequency the same sign, with probability `size`."""
    W = drawn.W.copy()
    chosen = generator.uniform(size=len(W)) < size
    W[chosen, 1] = np.abs(W[chosen, 1]) * np.sign(W[chosen, 0])
    return drawn._replace(W=W)


def scale_wrong_axis(drawn, size, generator, X, unit):
    """Scale the coordinates in place of the frequencies by random lengths, for a share of them."""
    W = drawn.W.copy()
    d = W.shape[1]
    Q, R = np.linalg.qr(generator.standard_normal((d, d)))
    rows = (Q * np.sign(np.diag(R))) * np.sqrt(generator.chisquare(d, d))[None, :]
    chosen = generator.uniform(size=len(W)) < size
    W[chosen] = unit * rows[np.arange(len(W)) % d][chosen]
    return drawn._replace(W=W)


def forget_weights(drawn, size, generator, X, unit):
    """Draw heavier tails, of 1 / size degrees of freedom, without the weights that correct them."""
    freedom = 1 / size
    chi = generator.chisquare(freedom, size=(len(drawn.W), 1)) / freedom
    return drawn._replace(W=drawn.W / np.sqrt(chi))


def reuse_seed(drawn, size, generator, X, unit):
    """Derive the offsets of a share of the columns from the random numbers of the frequencies."""
    uniform = stats.norm.cdf(drawn.W[:, 0] / unit)
    chosen = generator.uniform(size=len(uniform)) < size
    return drawn._replace(offsets=np.where(chosen, 2 * np.pi * uniform, drawn.offsets))


def narrow_offsets(drawn, size, generator, X, unit):
    """Draw the offsets from a part of the circle."""
    return drawn._replace(offsets=drawn.offsets * (1 - size))


def correlate_offsets(drawn, size, generator, X, unit):
    """Use one offset, 0, for a share of the columns."""
    chosen = generator.uniform(size=len(drawn.offsets)) < size
    return drawn._replace(offsets=np.where(chosen, 0.0, drawn.offsets))


def ignore_column(drawn, size, generator, X, unit):
    """Multiply the first coordinate of all frequencies by 1 - size."""
    W = drawn.W.copy()
    W[:, 0] *= 1 - size
    return drawn._replace(W=W)


def divide_by_less(drawn, size, generator, X, unit):
    """Divide by m - 8 size in place of m, which is a bias that falls with M."""
    m = len(drawn.W)
    return drawn._replace(weights=drawn.weights * math.sqrt(m / (m - 8 * size)))


def round_frequencies(drawn, size, generator, X, unit):
    """Round the frequencies to a grid: the products are periodic, which is wrong far out only."""
    step = 3 * size * unit
    return drawn._replace(W=step * np.round(drawn.W / step))


def clip_lengths(drawn, size, generator, X, unit):
    """Shorten the longest frequencies, which is wrong at short distances."""
    lengths = np.linalg.norm(drawn.W, axis=1, keepdims=True)
    longest = unit * math.sqrt(drawn.W.shape[1]) * (2 - size)
    return drawn._replace(W=drawn.W * np.minimum(1.0, longest / lengths))


def fix_lengths(drawn, size, generator, X, unit):
    """Give a share of the frequencies the root mean square length."""
    lengths = np.linalg.norm(drawn.W, axis=1, keepdims=True)
    fixed = drawn.W / lengths * unit * math.sqrt(drawn.W.shape[1])
    chosen = generator.uniform(size=(len(drawn.W), 1)) < size
    return drawn._replace(W=np.where(chosen, fixed, drawn.W))


def shift_frequencies(drawn, size, generator, X, unit):
    """Move the mean of the frequencies away from 0."""
    return drawn._replace(W=drawn.W + size * unit)


def lose_columns(drawn, size, generator, X, unit):
    """Return a share of the columns as zeros."""
    kept = generator.uniform(size=len(drawn.W)) >= size
    return drawn._replace(weights=drawn.weights * kept)


def swap_coordinates(drawn, size, generator, X, unit):
    """Use the first coordinate of the frequency for the second column too, for a share of them."""
    W = drawn.W.copy()
    chosen = generator.uniform(size=len(W)) < size
    W[chosen, 1] = W[chosen, 0]
    return drawn._replace(W=W)


KINDS: tuple[Callable[..., Drawn], ...] = (
    change_length_scale, share_signs, scale_wrong_axis, forget_weights, reuse_seed, narrow_offsets,
    correlate_offsets, ignore_column, divide_by_less, round_frequencies, clip_lengths, fix_lengths,
    shift_frequencies, lose_columns, swap_coordinates,
)  # fmt: skip
OFFSETS = (reuse_seed, narrow_offsets, correlate_offsets)


class Planted(NamedTuple):
    """A feature map with a fault of one kind, or without a fault if `kind` is None."""

    kind: Callable[..., Drawn] | None
    size: float
    kernel: str
    bandwidth: float
    form: str
    number: int

    def __call__(self, X: Any, M: int, seed: int) -> Any:
        """Return M columns of features."""
        generator = np.random.default_rng([self.number, seed])
        kernel = find_kernel_by_name(self.kernel, self.bandwidth)
        m, unit = (M if self.form == "offset" else M // 2), 1 / self.bandwidth
        W = kernel.frequencies(generator, X.shape[1], m)
        drawn = Drawn(W, generator.uniform(0, 2 * np.pi, m), np.full(m, m**-0.5))
        if self.kind is not None:
            drawn = self.kind(drawn, self.size, generator, X, unit)
        phases = X @ drawn.W.T
        if self.form == "offset":
            return math.sqrt(2) * drawn.weights * np.cos(phases + drawn.offsets)
        return np.hstack([drawn.weights * np.cos(phases), drawn.weights * np.sin(phases)])

    @property
    def claim(self) -> KernelClaim:
        """The kernel that the map claims."""
        return KernelClaim(self.form, self, find_kernel_by_name(self.kernel, self.bandwidth))

    @property
    def words(self) -> dict[str, Any]:
        """Columns that describe the map."""
        name = self.kind.__name__ if self.kind else "none"
        return {
            "kind": name.replace("_", " "),
            "size": self.size,
            "kernel": self.kernel,
            "bandwidth": self.bandwidth,
            "form": self.form,
        }


def plant(seed: int = 72) -> list[Planted]:
    """Return two faults of each kind, with random sizes, kernels, bandwidths and forms."""
    generator = np.random.default_rng(seed)
    made = []
    for number, kind in enumerate((*KINDS, *KINDS)):
        size = float(np.exp(generator.uniform(np.log(0.05), np.log(0.8))))
        form = "offset" if kind in OFFSETS else str(generator.choice(FORMS))
        made.append(_place(generator, kind, size, form, number))
    return made


def plant_none(seed: int = 60) -> list[Planted]:
    """Return maps without a fault."""
    generator = np.random.default_rng(seed)
    return [
        _place(generator, None, 0.0, str(generator.choice(FORMS)), 1000 + number)
        for number in range(RIGHT_MAPS)
    ]


def _place(generator: Any, kind: Any, size: float, form: str, number: int) -> Planted:
    bandwidth = float(np.exp(generator.uniform(np.log(0.3), np.log(5))))
    return Planted(kind, size, str(generator.choice(KERNELS)), bandwidth, form, number)


def compute_truth(planted: Planted, seeds: int = TRUTH) -> tuple[float, str]:
    """Return the largest bias in errors of one draw, and its pair of rows, from other seeds."""
    _, draw, kernel, sizes = planted.claim
    pairs = choose_row_pairs(kernel.bandwidth)
    n = len(pairs.names)
    rows = np.vstack([pairs.left, pairs.right])
    estimates = np.empty((seeds, n))
    for seed in range(seeds):
        Z = draw(rows, sizes[0], 1_000_000 + seed)
        estimates[seed] = (Z[:n] * Z[n:]).sum(axis=1)
    found = Measurement(kernel, sizes[0], sizes[0], pairs, estimates)
    share = (np.abs(found.bias) / found.spread)[TESTED]
    # Without this, a bias of a constant product would be infinite.
    share[np.abs(found.bias[TESTED]) < 1e-6] = 0.0
    return float(min(share.max(), 99.0)), pairs.names[int(share.argmax())]


def find_bias(planted: Planted, pairs: Any) -> Any:
    """Return the bias at each pair in closed form, for the kinds in `CLOSED_FORMS`."""
    kernel, size = find_kernel_by_name(planted.kernel, planted.bandwidth), planted.size
    exact = pairs.compute_kernel(kernel)
    if planted.kind is change_length_scale:
        wider = find_kernel_by_name(planted.kernel, planted.bandwidth * (1 + size))
        return pairs.compute_kernel(wider) - exact
    if planted.kind is ignore_column:
        scale = np.ones(pairs.left.shape[1])
        scale[0] -= size
        scaled = pairs._replace(left=pairs.left * scale, right=pairs.right * scale)
        return scaled.compute_kernel(kernel) - exact
    # 2 cos(w'x) cos(w'y) has the mean k(x, y) + k(x, -y)
    return size * pairs._replace(right=-pairs.right).compute_kernel(kernel)


CLOSED_FORMS = (change_length_scale, ignore_column, correlate_offsets)


def multiply(planted: Planted, frequencies: int, seed: int) -> Any:
    """Return the products of features for each frequency, shape (pairs, frequencies).

    For the kinds in `CLOSED_FORMS` the frequencies are independent, so the products of m of them
    form one draw.
    """
    pairs, offset = choose_row_pairs(planted.bandwidth), planted.form == "offset"
    n, columns = len(pairs.names), frequencies if offset else 2 * frequencies
    Z = planted(np.vstack([pairs.left, pairs.right]), columns, seed)
    products = Z[:n] * Z[n:] * frequencies
    return products if offset else products[:, :frequencies] + products[:, frequencies:]


def find_relative_bias(planted: Planted) -> float:
    """Return the largest bias of a map in errors of one draw."""
    pairs, M = choose_row_pairs(planted.bandwidth), planted.claim.sizes[0]
    m = M if planted.form == "offset" else M // 2
    products = multiply(planted, FREQUENCIES, 1)
    spread = np.maximum(products.std(axis=1), 1e-6) / math.sqrt(m)
    return float((np.abs(find_bias(planted, pairs)) / spread)[TESTED].max())


def plant_bias(planted: Planted, bias: float) -> Planted:
    """Return the map with the size at which its largest bias is `bias` errors of one draw."""
    found = optimize.brentq(
        lambda size: find_relative_bias(planted._replace(size=size)) - bias, 0.0, 1.0, xtol=1e-5
    )
    return planted._replace(size=found)


def measure_at_once(planted: Planted) -> Measurement:
    """Return the measurement of `N_SEEDS` draws, which are computed together."""
    kernel, M = find_kernel_by_name(planted.kernel, planted.bandwidth), planted.claim.sizes[0]
    m = M if planted.form == "offset" else M // 2
    products = multiply(planted, N_SEEDS * m, 2)
    estimates = products.reshape(len(products), N_SEEDS, m).mean(axis=2).T
    return Measurement(kernel, M, M, choose_row_pairs(planted.bandwidth), estimates)


def find_power(seed: int = 5) -> pd.DataFrame:
    """Return the number of maps that the t tests of `rfbench test` reject, by bias and kind."""
    generator, made = np.random.default_rng(seed), []
    for bias in BIASES:
        for kind in CLOSED_FORMS:
            found = 0
            for number in range(MAPS_OF_BIAS):
                form = "offset" if kind in OFFSETS else str(generator.choice(FORMS))
                placed = _place(generator, kind, 0.0, form, 2000 + len(made) * 100 + number)
                found += measure_at_once(plant_bias(placed, bias)).biased
            name = kind.__name__.replace("_", " ")
            made.append({"kind": name, "bias": bias, "maps": MAPS_OF_BIAS, "found": found})
            print(made[-1], flush=True)
    return pd.DataFrame(made)


def rows(faults: Iterator[Planted] | list[Planted], truth: int) -> pd.DataFrame:
    """Measure maps, and return a row per map."""
    made = []
    for planted in faults:
        bias, at = compute_truth(planted, truth) if planted.kind else (0.0, "")
        found = measure_bias(planted.claim, seconds=600.0)
        made.append(
            planted.words
            | {"bias": bias, "at": at, "seeds": found.seeds, "z": found.largest_z}
            | {"limit": found.limit, "found": found.biased or not found.is_error_decreasing}
        )
        print(made[-1], flush=True)
    return pd.DataFrame(made)


def main() -> None:
    """Write the rows of faults and of right maps, and print both rates."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--truth", type=int, default=TRUTH, help="seeds for the true bias")
    parser.add_argument("--power", action="store_true", help="measure power against bias")
    words = parser.parse_args()
    if words.power:
        find_power().to_csv(FOLDER / "power.csv", index=False)
        return
    faults, right = rows(plant(), words.truth), rows(plant_none(), words.truth)
    for name, table in (("planted", faults), ("planted_none", right)):
        table.to_csv(FOLDER / f"{name}.csv", index=False, float_format="%.6g")
    large = faults[faults["bias"] > SEEN]
    print(f"{large['found'].sum()} of {len(large)} faults with a bias above {SEEN} were found")
    print(f"{faults['found'].sum() - large['found'].sum()} of {len(faults) - len(large)} others")
    wrong = int(right["found"].sum())
    interval = stats.binomtest(wrong, len(right)).proportion_ci(0.95)
    print(f"{wrong} false alarms in {len(right)}: {interval.low:.3f} to {interval.high:.3f}")
    print(f"{N_SEEDS} seeds; power {POWER} at a bias of {SEEN}")


if __name__ == "__main__":
    main()
