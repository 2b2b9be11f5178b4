"""The hot loops: cosines of a projection, streamed normal equations, Walsh-Hadamard transforms.

Nothing heavy is imported here: take what you need from `rfbench.compute.waves`,
`rfbench.compute.gram` and `rfbench.compute.hadamard`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

_P = ParamSpec("_P")
_R = TypeVar("_R")


def compiled(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Compile a function with numba at its first call and keep the machine code on disk.

    Parameters
    ----------
    function : callable
        A function that numba can compile in nopython mode.

    Returns
    -------
    callable
        The same function, typed as it was. Products and sums may be contracted to fused
        multiply-adds; no other algebraic freedom is given, so NaN, infinity and signed zero
        keep their meaning. A division by zero gives infinity, as in numpy.

    Notes
    -----
    The cache lies beside the source file, or in the user's cache folder where that is read-only.
    """
    import numba

    decorator = numba.njit(cache=True, error_model="numpy", fastmath={"contract"})
    return cast(Callable[_P, _R], decorator(function))
