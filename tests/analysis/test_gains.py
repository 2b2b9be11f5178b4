"""What a method gains over another: means by hand."""

import math
from typing import Any

import pandas as pd
import pytest

from rfbench.analysis.findings import tabulate_published_gains
from rfbench.results import Results
from tests.support.claims import PAPER
from tests.support.frames import results, selection

SIZES = (14, 28, 56, 112, 224, 448, 896, 1792)


def rows(protocol: str, better: float, **changes: Any) -> list[dict[str, Any]]:
    """Plain features and leverage ones; the gain is `better` -1, 0, +1 by trial, + M / 1792."""
    base = {"dataset": "eeg", "n_train": 7490, "n_test": 7490, "protocol": protocol, "error": ""}
    return [
        base
        | {"sampler": method, "M": M, "trial": t}
        | {"accuracy": 70 + (better + t - 1 + M / 1792 if method == "leverage-rff" else 0)}
        | changes
        for method in ("rks", "leverage-rff")
        for M in SIZES
        for t in range(3)
    ]


def lines(*every: Results) -> list[pd.Series]:
    return [line for _, line in tabulate_published_gains(selection(*every)).iterrows()]


def test_accuracy_gain_is_the_mean_over_feature_counts_and_trials() -> None:
    """The sizes add (1 + 1/2 + ... + 1/128) / 8 = 0.249; the spread is 1, and t(2) 2.92."""
    made = {"printed": 2, "matched": -3, "tuned": 5}
    every = lines(*(results(rows(name, gain), name, **PAPER) for name, gain in made.items()))
    for line, protocol, mean in zip(every, made, (2.249, -2.751), strict=False):
        assert (line["dataset"], line["protocol"]) == ("EEG", protocol)
        assert (line["method"], line["other"]) == ("leverage-rff", "rks")
        assert line["published"] == pytest.approx(6.13, abs=0.01)  # by hand from Table 3
        assert line["mean"] == pytest.approx(mean, abs=1e-3)
        assert line["high"] - line["low"] == pytest.approx(2 * 2.92 / math.sqrt(3), rel=1e-3)
    assert len(every) == 2  # tuned measures something else than the paper did


def test_trial_with_a_missing_feature_count_is_left_out_of_the_gain() -> None:
    made = [row for row in rows("printed", 2) if (row["M"], row["trial"]) != (56, 2)]
    (line,) = lines(results(made, **PAPER))
    assert line["mean"] == pytest.approx(1.749, abs=1e-3)


def test_accuracy_gain_is_not_computed_on_substitute_data() -> None:
    assert lines(results(rows("printed", 2, n_train=1000, n_test=1000), **PAPER)) == []


def test_accuracy_gain_requires_rows_of_two_methods() -> None:
    made = [row for row in rows("printed", 2) if row["sampler"] == "rks"]
    assert lines(results(made, **PAPER)) == []


@pytest.mark.parametrize("metric", ["error", "relative_squared_error"])
def test_gain_in_error_has_the_opposite_sign(metric: str) -> None:
    base = {"dataset": "a9a", "n_train": 32561, "n_test": 16281, "protocol": "printed", "error": ""}
    scale = 1 if metric == "error" else 100
    made = [
        base | {"sampler": method, "M": 100, "trial": t, metric: (20 + t - less) / scale}
        for method, less in (("rks", 0), ("eerf", 1.5))
        for t in range(2)
    ]
    (line,) = lines(results(made, paper="eerf2018", item="table3"))
    assert (line["mean"], line["published"]) == (pytest.approx(1.5), pytest.approx(1.21))


@pytest.mark.parametrize(("accuracy", "found"), [(55.6, 0), (57.0, 1)])
def test_accuracy_gain_is_not_computed_at_chance_level(accuracy: float, found: int) -> None:
    """Of the EEG rows 55.1 % are of the larger class; a point above it counts as learning."""
    made = [row | {"accuracy": accuracy} for row in rows("printed", 0)]
    assert len(lines(results(made, **PAPER))) == found
