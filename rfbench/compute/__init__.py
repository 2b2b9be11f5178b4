"""The hot loops: cosines of a projection, streamed normal equations, Walsh-Hadamard transforms.

Nothing heavy is imported here: take what you need from `rfbench.compute.waves`,
`rfbench.compute.gram` and `rfbench.compute.hadamard`.
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


def check_folder() -> None:
    """Refuse to start where numba would take settings from the current folder.

    Such a file may name a folder of compiled functions, which numba loads as pickles: that runs any
    code that somebody put there. It is looked at before numba is imported.

    Raises ConfigError; also if a variable puts the caches of the user into the current folder.
    """
    home.check()
    if os.path.lexists(NUMBA_SETTINGS):
        raise ConfigError(
            f"The current folder holds {NUMBA_SETTINGS}.",
            "numba would obey it, and it may name a folder whose compiled functions are run.",
            "Start rfbench in another folder, or move the file away.",
        )


def compile_function(function: Callable[_P, _R]) -> Callable[_P, _R]:
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
    check_folder()
    import numba

    options: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}}
    try:
        return cast(Callable[_P, _R], numba.njit(cache=True, **options)(function))
    except RuntimeError:  # numba: cannot cache function
        log.info("No folder for the machine code of %s: it is compiled anew.", function.__name__)
        return cast(Callable[_P, _R], numba.njit(**options)(function))


def overload(function: Callable[_P, _R]) -> Callable[..., Any]:
    """Return the decorator of what makes the compiled form of a function for given types."""
    check_folder()
    from numba.extending import overload

    return cast(Callable[..., Any], overload(function))
