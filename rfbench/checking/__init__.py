"""Tests of feature maps: a test of the kernel that a map approximates, and tests of promises.

A promise is a property such as equal features for equal seeds.

    from rfbench.checking import check_map

    def test_antithetic():
        check_map(Antithetic, kernel="gaussian")

- `check_map` raises `CheckFailedError` if a test fails. `check_feature_map` returns all
  findings. Both functions accept a sampler, a transformer with scikit-learn's interface, or a
  function ``f(X, M, seed)``.
- The command `rfbench test` prints the findings. The page `results/maps.md` lists public feature
  maps whose kernel estimates are biased.
"""

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    return getattr(importlib.import_module("rfbench.checking.run"), name)
