"""Claims as they are shipped, on made-up results."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rfbench import papers
from rfbench.analysis.outcomes import Outcome
from rfbench.papers.models import Claim
from tests.support.claims import PAPER, verdict
from tests.support.frames import results


def shipped(name: str) -> Claim:
    return next(claim for claim in papers.list_claims() if claim.id == name)


def test_claim_l1_uses_the_share_of_draws_instead_of_their_mean() -> None:
    def sphere(reaching: int, n: int) -> Outcome:
        """Keep 150 features but in so many draws at d = 15, whose mean stays below 250."""
        made = [
            {"dataset": "sphere", "d": d, "n_train": 10000, "n_test": 1000, "split": "given",
             "protocol": "printed", "sampler": "lkrf", "M": 150, "trial": t,
             "kept": 250 if d == 15 and t < reaching else 150}
            for d in range(2, 16)
            for t in range(n)
        ]  # fmt: skip
        config = {"paper": "lkrf2016", "item": "figure1b", "M": {"kept_by": "lkrf"}}
        return verdict(shipped("L1"), results(made, name=f"{reaching}-{n}", **config))

    assert sphere(3, 10).label == "fails, not varied"  # draws are no setting
    assert sphere(3, 10).effect == pytest.approx(0.3)
    assert sphere(0, 59).verdict == "holds"  # 0.95 ** 59 < .05
    assert sphere(0, 58).verdict == "not clear"
    assert sphere(1, 10).verdict == "not clear"


def test_claim_l3_uses_the_kept_features(tmp_path: Path) -> None:
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

    for corner, share in ((-1.1, 1), (3.0, 0)):
        outcome = near(corner, str(share))
        assert outcome.verdict == "shown"
        assert [one.effect for one in outcome.comparisons] == [share, 1]


BASELINES = ("rks", "qmc")


def table3(flip: int, n: int = 10) -> list[dict[str, Any]]:
    """Rows in which all cells come out as marked, but for the first few marked ones of EEG."""
    rng = np.random.default_rng(0)
    sources = papers.list_data_sets_of_papers()["liu2020"]
    cells = [
        c
        for c in papers.list_published_numbers()
        if c.paper == "liu2020" and c.metric == "accuracy"
    ]
    made, flipped = [], 0
    for c in cells:
        better = c.mark == "significant"
        if c.method not in BASELINES and c.mark and flipped < flip:
            better, flipped = not better, flipped + 1
        source = sources[c.dataset]
        for t in range(n):
            tilt = 0.3 if c.method not in BASELINES else 0.0
            noise = 0.01 * rng.normal()
            made.append({
                "dataset": source.dataset, "n_train": source.n_train, "n_test": source.n_test,
                "protocol": "matched", "sampler": c.method, "M": c.size, "trial": t,
                "error": "", "accuracy": 80 + (2 if better else -tilt) + noise,
            })  # fmt: skip
    return made


def test_claim_s1_is_judged_on_the_marked_cells() -> None:
    """Each of the 33 against both baselines; those that are not marked come out better too."""
    marked = (
        papers.find_paper("liu2020"),
        sum(one.mark != "" for one in papers.list_published_numbers()),
    )
    outcome = verdict(shipped("S1"), results(table3(0), **PAPER))
    assert outcome.verdict == "holds"
    assert len(outcome.comparisons) == 2 * marked[1] == 66
    made = [row | {"accuracy": 90} if row["sampler"] not in BASELINES else row for row in table3(0)]
    assert verdict(shipped("S1"), results(made, **PAPER)).verdict == "holds"
    assert verdict(shipped("S1"), results(table3(1), **PAPER)).verdict == "fails in part"
    short = [row for row in table3(0) if row["M"] != 56]
    found = verdict(shipped("S1"), results(short, **PAPER))
    assert (found.verdict, found.tested, found.wanted) == ("holds where tested", 2, 3)


def test_claim_s5_fails_if_one_method_is_better() -> None:
    """A cell that is marked for one of them alone lies 2.3 points apart, beyond 1.5."""
    outcome = verdict(shipped("S5"), results(table3(0), **PAPER))
    assert outcome.verdict == "fails in part"
    assert not outcome.missing
    alike = [row | {"accuracy": 80 + 0.01 * (row["trial"] % 3)} for row in table3(0)]
    assert verdict(shipped("S5"), results(alike, **PAPER)).verdict == "holds"


def test_claim_e5_uses_lkrf_with_the_largest_weights() -> None:
    def letter(estimator: str) -> Outcome:
        made = [
            {"dataset": "letter", "n_train": 15000, "n_test": 5000, "split": "given",
             "protocol": "printed", "sampler": sampler, "M": 100, "trial": t,
             "error": 10 + better + t / 100,
             "parameters": f'{{"estimator": "{estimator}"}}' if sampler == "lkrf" else "{}"}
            for sampler, better in (("eerf", 0), ("lkrf", 1))
            for t in range(10)
        ]  # fmt: skip
        return verdict(shipped("E5"), results(made, estimator, paper="eerf2018", item="table5"))

    assert letter("top").verdict == "holds where tested"
    for estimator in ("draw", "all", "paper"):
        assert letter(estimator).verdict == "not run"
