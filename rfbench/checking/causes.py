"""Search for the cause of a biased kernel estimate among usual faults of feature maps.

The signature of a fault is the expected kernel estimate of a map with this fault, at each measured
pair of rows. The fault whose signature fits the measured bias best is reported. The signature has a
closed form if only the length of the frequencies is wrong. If the distribution of the frequencies
is wrong, the signature is simulated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy import stats

from rfbench.arrays import Array
from rfbench.checking.bias import TESTED, Measurement
from rfbench.checking.closed_forms import SoftmaxRegularized, find_kernel_by_name
from rfbench.kernels import ArcCosine, GaussianMeasure

# A possible cause of a bias is reported if the share of the bias that it does not explain is below
# this value. The value was chosen without a measurement. With twice this value, a wrong cause may
# be reported. With half this value, the right cause may be missed because of the noise of the
# seeds. The folder tests/checking contains a faulty map for each cause.
EXPLAINED = 0.15
# Number of frequencies that are simulated to compute the bias of a faulty map. The mean of their
# cosines has a standard error of 1 / sqrt(2 * 12,000), which is below 1 % and small compared with
# EXPLAINED. If this number is halved, the standard error is 1.4 times as large.
SIMULATED = 12_000


class Cause(NamedTuple):
    """A fault of a feature map, advice for its correction, and the kernel estimates that it causes.

    `what` describes the fault, and `mend` is the advice. `mean` is the expected kernel estimate at
    each pair of rows, shape (pairs,).
    """

    what: str
    mend: str
    mean: Array


CONSTANT_SEED = (
    "a constant seed: the features are the same for every seed",
    ("Draw from the given seed. If the method does not draw anything, this bias is its own."),
)


def _draw_on_wrong_axis(generator: np.random.Generator, d: int, m: int, times: int) -> Array:
    """Draw orthogonal frequencies with a fault: random lengths scale coordinates, not frequencies.

    The result has the shape (times, m, d), for m frequencies with d coordinates.
    """
    Q = _directions(generator, d, m, times)
    lengths = np.sqrt(generator.chisquare(d, size=(times, Q.shape[1], 1, d)))
    return (Q * lengths).reshape(times, -1, d)[:, :m]


def _draw_unsigned(generator: np.random.Generator, d: int, m: int, times: int) -> Array:
    """Draw orthogonal frequencies with a fault: the signs of the QR decomposition are not random.

    The result has the shape (times, m, d), for m frequencies with d coordinates.
    """
    Q = _directions(generator, d, m, times, signs=False).reshape(times, -1, d)[:, :m]
    return np.asarray(Q * np.sqrt(generator.chisquare(d, size=(times, m, 1))))


def _draw_transposed(generator: np.random.Generator, d: int, m: int, times: int) -> Array:
    """Draw quasi-random frequencies with a fault: the matrix of the points is transposed.

    The result has the shape (times, m, d), for m frequencies with d coordinates.
    """
    points = 1 << (d - 1).bit_length()  # Sobol points are balanced in powers of 2
    engines = (stats.qmc.Sobol(m, scramble=True, rng=generator) for _ in range(times))
    draws = [engine.random(points)[:d].T for engine in engines]
    return np.asarray(stats.norm.ppf(np.clip(draws, 1e-9, 1 - 1e-9)))


def _draw_whitened(generator: np.random.Generator, d: int, m: int, times: int) -> Array:
    """Draw frequencies with a fault: they are shifted and whitened.

    The m frequencies of a draw have exactly the mean 0 and the identity as covariance. The result
    has the shape (times, m, d).
    """
    W = generator.standard_normal((times, m, d))
    W -= W.mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(W.transpose(0, 2, 1) @ W / m)
    return np.asarray(W @ (vectors / np.sqrt(values)[:, None]) @ vectors.transpose(0, 2, 1))


def _directions(
    generator: np.random.Generator, d: int, m: int, times: int, signs: bool = True
) -> Array:
    Q, R = np.linalg.qr(generator.standard_normal((times, -(-m // d), d, d)))
    if signs:
        Q = Q * np.sign(np.diagonal(R, axis1=-2, axis2=-1))[..., None, :]
    return np.asarray(Q)


LAWS: dict[Callable[..., Array], tuple[str, str]] = {
    _draw_on_wrong_axis: (
        "lengths on the wrong axis: they scale coordinates instead of frequencies",
        "Multiply the rows that are frequencies, not the columns, by the lengths.",
    ),
    _draw_unsigned: (
        ("signs of the QR decomposition missing: its first entries always have the same sign"),
        "Multiply Q by the signs of the diagonal of R, or by random signs.",
    ),
    _draw_transposed: (
        "quasi-random points transposed: a frequency has the coordinates of several points",
        "Draw M points with d coordinates, not d points with M coordinates.",
    ),
    _draw_whitened: (
        "moments matched: the frequencies of a draw are shifted or whitened",
        "Declare that the method is biased, or draw without matching.",
    ),
}


def find_cause_of_bias(measurement: Measurement) -> Cause | None:
    """Return the fault that explains the measured bias of a feature map best.

    A fault explains the bias if the kernel estimates that it causes are close to the measured
    estimates. The result is None if the map is not biased, or if no known fault explains the bias.
    """
    # A small remaining bias is accepted, and a larger remaining bias if the noise of the seeds can
    # explain it.
    if not measurement.varies and measurement.wrong:
        return Cause(*CONSTANT_SEED, measurement.estimates.mean(axis=0))
    if not measurement.biased:
        return None
    bias, error = measurement.bias[TESTED], measurement.error[TESTED]
    for signatures in (_closed_forms(measurement), _simulated(measurement)):
        fitting = []
        for cause in signatures:
            left = (measurement.exact + measurement.bias - cause.mean)[TESTED]
            share = float(np.sqrt((left**2).sum() / (bias**2).sum()))
            if share < EXPLAINED or (share < 0.5 and (np.abs(left) < 4 * error).all()):
                fitting.append((share, cause))
        if fitting:
            return min(fitting, key=lambda each: each[0])[1]
    return None


def _sizes(found: Measurement) -> list[int]:
    """Return the possible numbers of frequencies of a measured map, in decreasing order."""
    return sorted({found.M, found.columns, found.columns // 2} - {0}, reverse=True)


def _closed_forms(found: Measurement) -> Iterator[Cause]:
    """Yield possible faults that scale the kernel or change its bandwidth.

    The kernel estimates that these faults cause have closed forms.
    """
    kernel, pairs, exact, sizes = found.kernel, found.pairs, found.exact, _sizes(found)
    s, d = kernel.bandwidth, pairs.rows.shape[1]
    factor = float(((exact + found.bias) @ exact) / (exact @ exact))
    forgotten = any(abs(np.log(abs(factor) / m)) < 0.1 for m in sizes)
    yield Cause(
        "M forgotten: the features are not divided by its root"
        if forgotten
        else f"the features are scaled by the root of {factor:.3g}",
        "Divide the features by the root of the number of frequencies, so that "
        "the mean of z(x)'z(x) is k(x, x).",
        factor * exact,
    )
    lengths = {
        s: "bandwidth squared: the frequencies are divided by its square",
        1 / s: "bandwidth ignored: the frequencies are drawn for bandwidth 1",
        0.5**0.5: (
            "a different convention, exp(-|x - y|^2 / s^2), with bandwidth s / "
            f"sqrt(2). Test it with --bandwidth {s * 0.5**0.5:.4g}"
        ),
        **{
            (m / d) ** 0.5: f"frequencies too short by sqrt(d / M), d = {d}, M = {m}" for m in sizes
        },
    }
    mend = "Draw frequencies with the standard deviation of the kernel, 1 / bandwidth."
    for factor, what in lengths.items() if kernel.has_bandwidth else ():
        if abs(np.log(factor)) > 0.05:
            yield Cause(
                what, mend, pairs.compute_kernel(find_kernel_by_name(kernel.name, s * factor))
            )
            if isinstance(kernel, SoftmaxRegularized):
                yield Cause(
                    what,
                    mend,
                    np.diag(
                        kernel.compute_with_shorter_frequencies(pairs.left, pairs.right, factor)
                    ),
                )
            elif kernel.name in ("gaussian", "softmax"):  # kernels with positive features
                squares = ((pairs.left + pairs.right) ** 2).sum(axis=1) / s**2
                yield Cause(what, mend, exact * np.exp((factor**-2 - 1) * squares / 2))


def _simulated(found: Measurement) -> Iterator[Cause]:
    """Yield possible faults in the distribution of the frequencies.

    The kernel estimates that these faults cause are simulated.
    """
    kernel, pairs, sizes = found.kernel, found.pairs, _sizes(found)
    softmax, d = kernel.name == "softmax", pairs.rows.shape[1]
    if not softmax and (not isinstance(kernel, GaussianMeasure) or isinstance(kernel, ArcCosine)):
        return
    gaps, sums = pairs.left - pairs.right, pairs.left + pairs.right
    for law, words in LAWS.items():
        for m in sizes[-1:] if sizes[-1] == found.M else sizes:
            W = law(np.random.default_rng(3), d, m, SIMULATED // m).reshape(-1, d)
            W *= getattr(kernel, "spread", 1.0 / kernel.bandwidth)
            if not softmax:
                yield Cause(*words, np.cos(gaps @ W.T).mean(axis=1))
            positive = np.exp(sums @ W.T).mean(axis=1)
            yield Cause(
                *words, found.exact * positive / np.exp((sums**2).sum(axis=1) * W.var() / 2)
            )
