"""Trials for the papers' tables, with means that are known."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from rfbench import papers
from rfbench.papers.reader import read_papers

EEG = {"dataset": "eeg", "n_train": 7490, "n_test": 7490, "protocol": "matched", "M": 14}
A9A = {"dataset": "a9a", "n_train": 32561, "n_test": 16281, "protocol": "printed"}
PAPER = {"paper": "liu2020", "item": "table3, figure1"}


@contextmanager
def read_from(root: Path) -> Iterator[None]:
    """Let the papers be those whose folders lie in `root`, for the time of a ``with``."""
    with mock.patch.object(papers, "read_known_papers", return_value=read_papers(root)):
        yield


def trials(mean: float, sd: float = 0.5, n: int = 10, **changes: Any) -> list[dict[str, Any]]:
    """Rows with exactly this mean and standard deviation of the accuracy."""
    values = np.linspace(-1, 1, n)
    values = mean + (sd * values / values.std(ddof=1) if n > 1 else 0 * values)
    return [
        {**EEG, "trial": t, "accuracy": v, "error": 100 - v, **changes}
        for t, v in enumerate(values)
    ]


def eeg(**means: float) -> list[dict[str, Any]]:
    """Rows of Table 3 of liu2020 at s = 14, by method (``_`` for ``-``)."""
    made: list[dict[str, Any]] = []
    for method, mean in means.items():
        made += trials(mean, sampler=method.replace("_", "-"))
    return made


def tuned() -> list[dict[str, Any]]:
    """Rows of three methods on three data sets, for the page on methods."""
    return [
        {"protocol": "tuned", "dataset": data, "sampler": sampler, "trial": t, "error": error + t}
        for data in ("digits", "letter", "magic04")
        for sampler, error in {"rks": 10.0, "qmc": 9.0, "orf": 9.5}.items()
        for t in range(3)
    ]
