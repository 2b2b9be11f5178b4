"""Tests of feature maps: of the kernel that a map claims, and of the promises of every map.

    from rfbench.checking import check_map

    def test_antithetic():
        check_map(Antithetic, kernel="gaussian")

- `check_map` raises `CheckFailed` if a test fails. `check` returns all findings. Both accept a
  sampler, a transformer with scikit-learn's interface, or a function ``f(X, M, seed)``.
- `rfbench test` prints the findings. `results/maps.md` lists the biased public feature maps.

The module `run` is imported on first use.
"""

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    return getattr(importlib.import_module("rfbench.checking.run"), name)
