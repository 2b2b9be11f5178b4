"""What methods promise, as classes of tests: inherit one in your own tests, or run `rfbench test`.

    from rfbench.testing import SamplerContract

    class TestAntithetic(SamplerContract):
        sampler = Antithetic

- `SamplerContract`, of a subclass of `rfbench.samplers.RandomFeatures`.
- `SolverContract`, of a subclass of `rfbench.solvers.Solver`.
- `TransformerContract` and `EstimatorContract`, of classes from elsewhere with scikit-learn's
  interface, as far as a benchmark relies on them.
- `RowsContract`, of a function that returns data.
- `check_class`: the contract that fits, run against one of them, and a `Promise` per promise.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from rfbench.testing.foreign import EstimatorContract, RowsContract, TransformerContract
    from rfbench.testing.run import Promise, check_class
    from rfbench.testing.samplers import SamplerContract
    from rfbench.testing.solvers import SolverContract

__all__ = [
    "EstimatorContract",
    "Promise",
    "RowsContract",
    "SamplerContract",
    "SolverContract",
    "TransformerContract",
    "check_class",
]

# Imported when they are asked for: only what pytest itself imports says what an assertion got.
_PLACES = {
    "Promise": "run",
    "EstimatorContract": "foreign",
    "RowsContract": "foreign",
    "SamplerContract": "samplers",
    "SolverContract": "solvers",
    "TransformerContract": "foreign",
    "check_class": "run",
}
REWRITTEN = tuple(f"{__name__}.{module}" for module in sorted({*_PLACES.values()} - {"run"}))
pytest.register_assert_rewrite(*REWRITTEN)


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
