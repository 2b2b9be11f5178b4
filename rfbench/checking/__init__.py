"""Tests of feature maps: does a map have the kernel that it claims, and does it keep its promises?

A promise is a property such as equal features for equal seeds.

    from rfbench.checking import check_map

    def test_antithetic():
        check_map(Antithetic, kernel="gaussian")

- `check_map` raises `CheckFailedError` if a test fails. `check_feature_map` returns all
  findings. Both functions accept a sampler, a transformer with scikit-learn's interface, or a
  function ``f(X, M, seed)``.
- `rfbench test` prints the findings. `results/maps.md` lists the biased public feature maps.

The module `rfbench.checking.run` is imported on first use.
"""

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    return getattr(importlib.import_module("rfbench.checking.run"), name)
