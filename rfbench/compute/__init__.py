"""Fast numerical loops: cosines of arrays, normal equations, and Walsh-Hadamard transforms.

The functions are in `rfbench.compute.waves`, `rfbench.compute.gram` and
`rfbench.compute.hadamard`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

from rfbench import home
from rfbench.errors import ConfigError

log = logging.getLogger(__name__)

NUMBA_SETTINGS = ".numba_config.yaml"

_P = ParamSpec("_P")
_R = TypeVar("_R")


def check_numba_settings() -> None:
    """Raise ConfigError if numba would load settings or compiled code from the current folder.

    A settings file in the current folder may name a folder of compiled functions, which numba loads
    as pickles. Pickles from an unknown source can run arbitrary code. ConfigError is also raised if
    an environment variable places the user's cache of compiled functions in the current folder.
    """
    home.check_cache_folder()
    if os.path.lexists(NUMBA_SETTINGS):
        raise ConfigError(
            f"The current folder contains {NUMBA_SETTINGS}.",
            "numba would read this file, which may name a folder of compiled functions to run.",
            "Start rfbench in another folder, or move the file to another folder.",
        )


def compile_function(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Return a function that numba compiles at its first call and stores on disk.

    Parameters
    ----------
    function : callable
        A function that numba can compile in nopython mode.

    Returns
    -------
    callable
        The compiled function. A product and a sum may be computed by one fused multiply-add. No
        other algebraic transformation is allowed, so that NaN, infinity and signed zero keep their
        meaning. A division by zero gives infinity, as in numpy.

    Notes
    -----
    The cache is stored next to the source file, or in the user's cache folder if the folder of the
    source file is read-only. If both folders are read-only, each process compiles the function in
    memory.
    """
    check_numba_settings()
    import numba

    options: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}}
    try:
        return cast(Callable[_P, _R], numba.njit(cache=True, **options)(function))
    except RuntimeError:  # numba raises RuntimeError if it cannot cache a function
        log.info(
            "There is no folder for the machine code of %s, so each process compiles it.",
            function.__name__,
        )
        return cast(Callable[_P, _R], numba.njit(**options)(function))


def compile_for_types(function: Callable[_P, _R]) -> Callable[..., Any]:
    """Return a decorator that defines how numba compiles `function`, depending on argument types.

    The decorated function gets the numba types of the arguments, and returns the implementation for
    these types. The decorator is `numba.extending.overload(function)`.
    """
    check_numba_settings()
    from numba.extending import overload

    return cast(Callable[..., Any], overload(function))
