"""Claims as they are shipped, on made-up results."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rfbench import papers
from rfbench.analysis.outcomes import Outcome
from rfbench.papers import Claim
from tests.support.claims import PAPER, verdict
from tests.support.frames import results


def shipped(name: str) -> Claim:
    return next(claim for claim in papers.claims() if claim.id == name)


def test_l1_the_kept_features() -> None:
    def sphere(kept: int, n: int, name: str) -> Outcome:
        made = [
            {"dataset": "sphere", "d": d, "n_train": 10000, "n_test": 1000, "split": "given",
             "protocol": "printed", "sampler": "lkrf", "M": kept + t, "kept": kept + t, "trial": t}
            for d in range(2, 16)
            for t in range(n)
        ]  # fmt: skip
        config = {"paper": "lkrf2016", "item": "figure1b", "M": {"kept_by": "lkrf"}}
        return verdict(shipped("L1"), results(made, name=name, **config))

    assert sphere(150, 10, "holds").verdict == "holds"
    assert sphere(300, 10, "fails").verdict == "fails"
    assert sphere(150, 3, "few").verdict == "inconclusive"


def test_l3_reads_the_kept_features(tmp_path: Path) -> None:
    def near(corner: float, name: str) -> Outcome:
        made = [
            {"dataset": "sphere", "d": 2, "n_train": 10000, "n_test": 1000, "split": "given",
             "protocol": "printed", "sampler": "lkrf", "M": 100, "trial": t, "trial_id": f"t{t}"}
            for t in range(6)
        ]  # fmt: skip
        folder = tmp_path / name
        folder.mkdir()
        found = results(made, name, folder, paper="lkrf2016", item="figure1a")
        # A line of an earlier configuration, whose trial counts no more.
        kept = [{"trial_id": "old", "w1": 9, "w2": 9, "b": 2, "weight": 99}]
        kept += [
            {"trial_id": f"t{t}", "w1": corner, "w2": corner, "b": math.pi - 0.01, "weight": 1.0}
            for t in range(6)
        ]
        pd.DataFrame(kept).to_csv(folder / "kept.csv", index=False)
        return verdict(shipped("L3"), found)

    assert near(-1.1, "near").verdict == "holds"
    assert near(3.0, "far").verdict == "fails"


def table3(flip: int, n: int = 10) -> list[dict[str, Any]]:
    """Rows in which all cells come out as marked, but for the first few of EEG."""
    rng = np.random.default_rng(0)
    sources = papers.sources()["liu2020"]
    cells = [c for c in papers.published() if c.paper == "liu2020" and c.metric == "accuracy"]
    made, flipped = [], 0
    for c in cells:
        better = c.mark == "significant"
        if c.method not in ("rks", "qmc") and flipped < flip:
            better, flipped = not better, flipped + 1
        source = sources[c.dataset]
        for t in range(n):
            tilt = 0.3 if c.method not in ("rks", "qmc") else 0.0
            noise = 0.01 * rng.normal()
            made.append({
                "dataset": source.dataset, "n_train": source.n_train, "n_test": source.n_test,
                "protocol": "matched", "sampler": c.method, "M": c.size, "trial": t,
                "error": "", "accuracy": 80 + (2 if better else -tilt) + noise,
            })  # fmt: skip
    return made


@pytest.mark.parametrize(
    ("flip", "n", "expected"),
    [(0, 10, "holds"), (3, 10, "inconclusive"), (7, 10, "fails"), (0, 9, "inconclusive")],
)
def test_s1_the_marks(flip: int, n: int, expected: str) -> None:
    outcome = verdict(shipped("S1"), results(table3(flip, n), **PAPER))
    assert outcome.verdict == expected
    if n == 10:
        assert outcome.compared == 58
        assert outcome.held == 58 - flip


def test_s5_fails_where_one_of_the_two_is_better() -> None:
    """A cell that is marked for one of them alone lies 2.3 points apart, beyond 1.5."""
    outcome = verdict(shipped("S5"), results(table3(0), **PAPER))
    assert outcome.verdict == "fails"
    assert not outcome.gaps
    alike = [row | {"accuracy": 80 + 0.01 * (row["trial"] % 3)} for row in table3(0)]
    assert verdict(shipped("S5"), results(alike, **PAPER)).verdict == "holds"
