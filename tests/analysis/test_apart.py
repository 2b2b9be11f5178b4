"""Splits by groups or blocks beside random ones, on an invented data set."""

from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from rfbench.analysis.findings import compare_errors_of_two_splits
from rfbench.analysis.frame import build_collection
from rfbench.results import Results
from tests.support.frames import results

BLOCKS, RANDOM = {"blocks": 10, "test_size": 0.3}, {"test_size": 0.3}
LOW, HIGH = [10.0, 12.0, 17.0], [40.0, 47.0, 51.0, 44.0]


def folder(split: dict[str, Any], errors: list[float], name: str, **changes: Any) -> Results:
    """Results of rks, and of orf at 1 point less."""
    same = {"protocol": "tuned", "dataset": "eeg[100 rows]", "n_train": 70, "n_test": 30}
    rows = [
        {**same, "sampler": method, "trial": t, "error": error - less, **changes}
        for method, less in (("rks", 0.0), ("orf", 1.0))
        for t, error in enumerate(errors)
    ]
    return results(rows, name, split=split, title="T", description=name, M=[100])


def test_error_difference_of_two_splits_has_a_welch_interval() -> None:
    table = compare_errors_of_two_splits(
        build_collection([folder(RANDOM, LOW, "random"), folder(BLOCKS, HIGH, "blocks")])
    )
    assert list(table["method"]) == ["rks", "orf"]
    line = table.iloc[0]
    assert line["difference"] == 32.5
    ends = stats.ttest_ind(HIGH, LOW, equal_var=False).confidence_interval(0.95)
    assert line["half"] == pytest.approx((ends.high - ends.low) / 2)


def test_methods_are_compared_unpaired_only_on_different_splits() -> None:
    other = folder(RANDOM, LOW, "other")
    other.manifest["config"]["M"] = [200]
    smoke = Results(Path("s"), "s", other.rows, other.manifest | {"smoke": True})
    blocks = folder(BLOCKS, HIGH, "blocks")
    for every in ([other, blocks], [blocks], [other], [smoke, blocks], []):
        assert compare_errors_of_two_splits(build_collection(every)).empty
