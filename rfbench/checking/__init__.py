"""What methods promise, as plain functions: call one in your own tests, or run `rfbench test`.

    from rfbench.checking import check_sampler

    def test_antithetic():
        check_sampler(Antithetic)

- `check_sampler`, of a subclass of `rfbench.samplers.RandomFeatures`.
- `check_solver`, of a subclass of `rfbench.solvers.Solver`.
- `check_foreign`, of a transformer, classifier or regressor from elsewhere with scikit-learn's
  interface, or a function that returns data, as far as a benchmark relies on them.
- `promises_of`, of any of these: a `Promise` per check, kept or not, and nothing is raised.

They raise `CheckFailed`. Everything is imported when it is first asked for.
"""

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    return getattr(importlib.import_module("rfbench.checking.run"), name)
