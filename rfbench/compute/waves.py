"""Functions that compute cosine and arc-cosine features from projections of rows, in place.

A projection is the product w'x of a frequency w and a row x. The compiled loops are in
`rfbench.compute.wave_kernels`.
"""

from __future__ import annotations

import functools

import numpy as np

from rfbench.arrays import FloatArray
from rfbench.compute import wave_kernels as kernels
from rfbench.compute.blocks import is_float_matrix


def cos_inplace(phase: FloatArray, offsets: FloatArray | None, scale: float) -> None:
    """Replace each value x of an array by the random Fourier feature scale * cos(x + b).

    Parameters
    ----------
    phase : ndarray, shape (n, M), float64 or float32, C-contiguous
        The values x in radians, which are overwritten with the features.
    offsets : ndarray, shape (M,), or None
        One offset b per column, in radians. None means no offsets.
    scale : float
        Factor of every feature, sqrt(2 / M) for the offset map.

    Raises
    ------
    ValueError
        If the array has a different type or layout, or the offsets do not match its columns.

    Notes
    -----
    The sum x + b is rounded to the type of `phase`. Before scaling, the cosine of the rounded sum
    has an absolute error below 1e-15 (2e-7 in float32), for every finite x + b. NaN and infinity
    give NaN, without a warning.
    """
    flat = _flat(phase)
    dtype = phase.dtype
    shifts = np.zeros(1, dtype) if offsets is None else np.require(offsets, dtype, ["C", "W"])
    if offsets is not None and shifts.shape != phase.shape[1:]:
        raise ValueError(
            f"offsets have the shape {shifts.shape}, which does not fit phases of "
            f"shape {phase.shape}"
        )
    if flat.size == 0:
        return
    # `kernels.cos` computes features in place. The first pass does not change phases of at least
    # LARGEST_PHASE, and a second pass recognizes these phases by their size. All features must
    # therefore be smaller than LARGEST_PHASE. With a larger scale, features are computed with the
    # scale 1 and then multiplied by the scale.
    factor = dtype.type(scale)
    small = abs(factor) < kernels.LARGEST_PHASE
    kernels.cos(flat, shifts, factor if small else dtype.type(1))
    if not small:
        flat *= scale


def cos_sin(phase: FloatArray, scale: float, out: FloatArray) -> None:
    """Write scale * cos(x) and scale * sin(x) of the values x of an array to `out`.

    Parameters
    ----------
    phase : ndarray, shape (n, M), float64 or float32, C-contiguous
        The values x in radians, which are not changed.
    scale : float
        Factor of every feature, sqrt(1 / M) for the paired map.
    out : ndarray, shape (n, 2 M), the type of `phase`
        Array for the M cosines, followed by the M sines, C-contiguous. It must not overlap `phase`.

    Raises
    ------
    ValueError
        If an array has a different type, shape or layout.

    Notes
    -----
    The accuracy and the treatment of NaN and infinity are the same as in `cos_inplace`.
    """
    flat = _flat(phase)
    n, width = phase.shape
    if not is_float_matrix(out) or (out.shape, out.dtype) != ((n, 2 * width), phase.dtype):
        raise ValueError(
            f"the output is not a writeable, C-contiguous {phase.dtype} array of shape "
            f"({n}, {2 * width})"
        )
    if flat.size:
        kernels.cos_sin(flat, phase.dtype.type(scale), out.reshape(-1), width)


def arc_cosine_inplace(phase: FloatArray, order: int, scale: float) -> None:
    """Replace each value x of an array by the arc-cosine feature scale * x^order * H(x).

    The step function H is 0 below 0, 1/2 at 0, and 1 above 0.

    Parameters
    ----------
    phase : ndarray, shape (n, M), float64 or float32, C-contiguous
        The values x, products of frequencies and rows, which are overwritten with the features.
    order : {0, 1, 2}
        0 gives a step, 1 a ramp, and 2 half a parabola.
    scale : float
        Factor of every feature.

    Raises
    ------
    ValueError
        If the array has a different type or layout, or the order is not supported.

    References
    ----------
    Cho & Saul 2009, Kernel methods for deep learning, section 2.
    """
    if order not in (0, 1, 2):
        raise ValueError(f"arc-cosine features of order {order} are not supported")
    kernels.arc_cosine(_flat(phase), order, phase.dtype.type(scale))


@functools.cache
def warm_up() -> None:
    """Compile all functions of `rfbench.compute`, or load their compiled code from the cache.

    Call the function before a measurement of time. The compilation needs about 8 s the first time
    on a machine. Later calls need a fraction of a second.
    """
    from rfbench.compute.gram import accumulate_normal_equations
    from rfbench.compute.hadamard import fwht_inplace

    for dtype in (np.float64, np.float32):
        phase: FloatArray = np.zeros((2, 2), dtype)
        cos_inplace(phase, None, 1.0)
        cos_sin(phase, 1.0, np.empty((2, 4), dtype))
        arc_cosine_inplace(phase, 1, 1.0)
        fwht_inplace(phase, 0)
        fwht_inplace(phase, 1)
        accumulate_normal_equations(np.positive, phase, phase, 2, dtype=dtype)


def _flat(phase: FloatArray) -> FloatArray:
    if not is_float_matrix(phase):
        raise ValueError("phases must be a writeable, C-contiguous matrix of float64 or float32")
    return phase.reshape(-1)
