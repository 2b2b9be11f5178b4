"""The hot loops: cosines of a projection, streamed normal equations, Walsh-Hadamard transforms.

Nothing heavy is imported here: take what you need from `rfbench.compute.waves`,
`rfbench.compute.gram` and `rfbench.compute.hadamard`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

log = logging.getLogger(__name__)

CPU, CUDA, TORCH_CPU = "cpu", "cuda", "torch-cpu"
# `cpu` is numpy, without torch; `torch-cpu` is for tests: what a GPU does, by torch on the CPU.
DEVICES = (CPU, CUDA, TORCH_CPU)

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
    Where both are, each process compiles anew, in memory.
    """
    import numba

    options: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}}
    try:
        return cast(Callable[_P, _R], numba.njit(cache=True, **options)(function))
    except RuntimeError:  # numba: cannot cache function
        log.info("No folder for the machine code of %s: it is compiled anew.", function.__name__)
        return cast(Callable[_P, _R], numba.njit(**options)(function))
