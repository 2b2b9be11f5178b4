r"""The fast Walsh-Hadamard transform, computed in place.

The Hadamard matrices are H_1 = 1 and H_2p = [[H_p, H_p], [H_p, -H_p]]. The transform has log2 p
stages. Stage k computes sums and differences of elements at the distance 2^(k - 1). Two stages are
combined at a time.
"""

from __future__ import annotations

from typing import Any

from rfbench.arrays import FloatArray
from rfbench.compute import compile_function
from rfbench.compute.blocks import is_float_matrix

# Size in bytes of a strip of columns, which stays in the L2 cache during all stages of the
# transform. Measured CPU time, as a multiple of the time with this value: 0.96 with half the value,
# and 0.95 with twice the value (`python -m scripts.bench.doubled`).
_STRIP_BYTES = 2**18


def fwht_inplace(a: FloatArray, axis: int) -> None:
    """Multiply an array by the Hadamard matrix H in place: H a for axis 0, or a H for axis 1.

    Parameters
    ----------
    a : ndarray, shape (n, m), float64 or float32, C-contiguous
        The array, which is overwritten with the product. Its length p along `axis` has to be a
        power of two. H is the unnormalized p x p matrix of `scipy.linalg.hadamard`. Divide the
        result by sqrt(p) for the orthonormal transform.
    axis : {0, 1}
        Axis along which the transform is computed.

    Raises
    ------
    ValueError
        If the array has a different type or layout, or a length that is not a power of two.
    """
    if not is_float_matrix(a) or axis not in (0, 1):
        raise ValueError("expected a writeable C-contiguous matrix of floats, and axis 0 or 1")
    length = a.shape[axis]
    if length < 1 or length & (length - 1):
        raise ValueError(f"the length {length} is not a power of two")
    if a.size == 0 or length == 1:
        return
    if axis == 1:
        _along_rows(a)
    else:
        _along_columns(a, max(64, _STRIP_BYTES // (length * a.itemsize)))


def compute_padded_length(size: int) -> int:
    """Return the smallest power of two that is at least `size`."""
    return 1 << (size - 1).bit_length()


@compile_function
def _butterflies(flat: Any, h: int) -> None:
    """Apply the stages h, 2h, 4h, ... of the Walsh-Hadamard transform to a vector in place.

    Stage h replaces pairs of elements at the distance h by their sum and their difference.
    """
    while 4 * h <= flat.size:
        for start in range(0, flat.size, 4 * h):
            a = flat[start : start + h]
            b = flat[start + h : start + 2 * h]
            c = flat[start + 2 * h : start + 3 * h]
            d = flat[start + 3 * h : start + 4 * h]
            for j in range(h):
                p, q, r, s = a[j] + b[j], a[j] - b[j], c[j] + d[j], c[j] - d[j]
                a[j], b[j], c[j], d[j] = p + r, q + s, p - r, q - s
        h *= 4
    if 2 * h <= flat.size:
        a, b = flat[:h], flat[h:]
        for j in range(h):
            a[j], b[j] = a[j] + b[j], a[j] - b[j]


@compile_function
def _along_rows(a: Any) -> None:
    for i in range(a.shape[0]):
        row = a[i]
        if row.size < 8:
            _butterflies(row, 1)
            continue
        for j in range(row.size // 8):
            v = row[8 * j : 8 * j + 8]
            p0, p1, p2, p3 = v[0] + v[1], v[0] - v[1], v[2] + v[3], v[2] - v[3]
            p4, p5, p6, p7 = v[4] + v[5], v[4] - v[5], v[6] + v[7], v[6] - v[7]
            q0, q1, q2, q3 = p0 + p2, p1 + p3, p0 - p2, p1 - p3
            q4, q5, q6, q7 = p4 + p6, p5 + p7, p4 - p6, p5 - p7
            v[0], v[1], v[2], v[3] = q0 + q4, q1 + q5, q2 + q6, q3 + q7
            v[4], v[5], v[6], v[7] = q0 - q4, q1 - q5, q2 - q6, q3 - q7
        _butterflies(row, 8)


@compile_function
def _along_columns(a: Any, strip: int) -> None:
    """Compute the Walsh-Hadamard transform of an array along its first axis in place.

    The columns are processed in groups of `strip` columns, which fit into the L2 cache.
    """
    length = a.shape[0]
    for left in range(0, a.shape[1], strip):
        right = min(left + strip, a.shape[1])
        h = 1
        while 4 * h <= length:
            for start in range(0, length, 4 * h):
                for i in range(start, start + h):
                    v0, v1 = a[i, left:right], a[i + h, left:right]
                    v2, v3 = a[i + 2 * h, left:right], a[i + 3 * h, left:right]
                    for j in range(right - left):
                        p, q = v0[j] + v1[j], v0[j] - v1[j]
                        r, s = v2[j] + v3[j], v2[j] - v3[j]
                        v0[j], v1[j], v2[j], v3[j] = p + r, q + s, p - r, q - s
            h *= 4
        if 2 * h <= length:
            for i in range(h):
                v0, v1 = a[i, left:right], a[i + h, left:right]
                for j in range(right - left):
                    v0[j], v1[j] = v0[j] + v1[j], v0[j] - v1[j]
