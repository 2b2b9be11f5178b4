"""Made-up trials of two methods, and the verdict on a claim about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rfbench.analysis.claims import judge_claim
from rfbench.analysis.outcomes import Outcome
from rfbench.papers.models import Claim, Part
from rfbench.results import Results
from tests.support.frames import selection

SIZES = (14, 28, 56, 112, 224)
METHODS = ("rks", "surrogate-leverage")
PAPER = {"paper": "liu2020", "item": "table3"}
Mean = Callable[[str, int], float]


def rows(
    mean: Mean,
    methods: tuple[str, ...],
    n: int,
    *,
    sizes: tuple[int, ...] = SIZES,
    metric: str = "accuracy",
    noise: float = 0.1,
    **changes: Any,
) -> list[dict[str, Any]]:
    """Rows whose trials share half of their noise, as paired trials do."""
    rng = np.random.default_rng(0)
    base = {"dataset": "eeg", "n_train": 7490, "n_test": 7490, "protocol": "matched", "error": ""}
    made = []
    for t in range(n):
        shared = rng.normal()
        for M in sizes:
            for method in methods:
                value = mean(method, M) + noise * (shared + rng.normal())
                row = {**base, "sampler": method, "M": M, "trial": t, metric: value}
                made.append(row | changes)
    return made


def verdict(claim: Claim, *every: Results) -> Outcome:
    """Return the only outcome of a claim."""
    (outcome,) = judge_claim(claim, selection(*every))
    return outcome


def bounded(low: float | None = 0, high: float | None = None) -> Claim:
    """Return a claim with a single part whose effect has these bounds."""
    part = Part(
        says="", items=[], datasets=["EEG"], metric="error", method="a", against=["b"], at="each",
        low=low, high=high,
    )  # fmt: skip
    return Claim(id="X1", paper="liu2020", where="", claim="", source="", parts=[part])
