"""The number of threads that the BLAS libraries use for a computation."""

from __future__ import annotations

import functools
import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from threadpoolctl import ThreadpoolController


@functools.lru_cache(maxsize=1)
def find_thread_pools(modules: int) -> ThreadpoolController:
    """Return the loaded libraries that have thread pools.

    The search takes milliseconds, so its result is cached. `modules` is the number of imported
    modules. If it changes, the search is repeated, because an import may load another library.
    """
    return ThreadpoolController()


def limit_to_one_thread(wanted: bool) -> AbstractContextManager[Any]:
    """Return a context in which BLAS uses one thread if `wanted` is True."""
    if not wanted:
        return nullcontext()
    pools = find_thread_pools(len(sys.modules))
    # If BLAS already uses one thread, nothing is changed. Setting the number of threads needs 0.1
    # ms, which is a hundredth of the time of a small fit.
    if all(pool.num_threads == 1 for pool in pools.lib_controllers if pool.user_api == "blas"):
        return nullcontext()
    limit: AbstractContextManager[Any] = pools.limit(limits=1, user_api="blas")
    return limit
