"""Limits on the number of threads that the BLAS libraries use."""

from __future__ import annotations

import functools
import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from threadpoolctl import ThreadpoolController


@functools.lru_cache(maxsize=1)
def find_thread_pools(modules: int) -> ThreadpoolController:
    """Return an object that controls the threads of all loaded libraries, such as BLAS.

    The result is cached for each value of `modules`, the number of imported Python modules. If this
    number changes, the loaded libraries are searched again.
    """
    # The search takes milliseconds. An import may load a further library.
    return ThreadpoolController()


def limit_to_one_thread(wanted: bool) -> AbstractContextManager[Any]:
    """Return a context manager within which BLAS uses only one thread.

    If `wanted` is False, the context manager has no effect.
    """
    if not wanted:
        return nullcontext()
    pools = find_thread_pools(len(sys.modules))
    # If BLAS already uses one thread, nothing is changed. Setting the number of threads needs 0.1
    # ms, which is a hundredth of the time of a small fit.
    if all(pool.num_threads == 1 for pool in pools.lib_controllers if pool.user_api == "blas"):
        return nullcontext()
    limit: AbstractContextManager[Any] = pools.limit(limits=1, user_api="blas")
    return limit
