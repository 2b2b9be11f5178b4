"""Does a map of random features have the kernel that it claims, and keep what it promises?

    from rfbench.checking import check_map

    def test_antithetic():
        check_map(Antithetic, kernel="gaussian")

- `check_map` raises `CheckFailed` if not; `check` returns all that was found. They take a sampler,
  a transformer of scikit-learn's interface, or a function ``f(X, M, seed)``.
- `rfbench test` prints it; `results/maps.md` has the public feature maps that are biased.

Everything is imported when it is first asked for.
"""

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    return getattr(importlib.import_module("rfbench.checking.run"), name)
