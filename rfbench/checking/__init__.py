"""What methods promise, as plain functions: call one in your own tests, or run `rfbench test`.

    from rfbench.checking import check_sampler

    def test_antithetic():
        check_sampler(Antithetic)

- `check_sampler`, of a subclass of `rfbench.samplers.RandomFeatures`.
- `check_solver`, of a subclass of `rfbench.solvers.Solver`.
- `check_transformer` and `check_predictor`, of classes from elsewhere with scikit-learn's
  interface, as far as a benchmark relies on them.
- `check_rows`, of a function that returns data.
- `promises_of`, of any of these: a `Promise` per check, kept or not, and nothing is raised.

Everything is imported when it is first asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rfbench.checking.promises import CheckFailed, NotApplicable, Promise
    from rfbench.checking.run import (
        check_predictor,
        check_rows,
        check_sampler,
        check_solver,
        check_transformer,
        promises_of,
    )

__all__ = [
    "CheckFailed",
    "NotApplicable",
    "Promise",
    "check_predictor",
    "check_rows",
    "check_sampler",
    "check_solver",
    "check_transformer",
    "promises_of",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(importlib.import_module("rfbench.checking.run"), name)
