"""Times of different machines are never averaged, nor compared."""

from typing import Any

import pytest

from rfbench.analysis import frame
from rfbench.analysis.claims import judge_claim
from rfbench.analysis.compare import compare
from rfbench.analysis.summary import summarize
from rfbench.errors import ResultsError
from rfbench.papers.models import Claim, Part
from tests.support.claims import METHODS, PAPER
from tests.support.claims import rows as two_methods
from tests.support.frames import results, selection

TIMES = ("t_pp", "t_features", "t_train", "t_test", "cpu_pp", "cpu_features", "cpu_train",
         "cpu_test")  # fmt: skip


def made(machine: str, seconds: float, trials: range, **changes: Any) -> list[dict[str, Any]]:
    return [
        {"trial": trial, "error": 10.0 + trial, "machine": machine, **changes}
        | dict.fromkeys(TIMES, seconds)
        for trial in trials
    ]


def test_mean_time_uses_the_machine_with_most_rows() -> None:
    """The errors of the others count; their times do not."""
    one = results(made("slow", 9.0, range(2)) + made("fast", 1.0, range(2, 5)))
    (line,) = summarize(one).to_dict("records")
    assert (line["trials"], line["mean"]) == (5, 12.0)
    assert (line["t_train"], line["cpu_total"], line["t_total"]) == (1.0, 3.0, 3.0)
    collection = frame.build_collection([one])
    assert list(collection.groups["machine"]) == ["fast"]
    assert collection.compute_means("t_train")[0] == 1.0
    assert collection.compute_means("error_percent")[0] == 12.0


def claim() -> Claim:
    part = Part(says="", items=["table3"], datasets=["EEG"], metric="t_pp", method=METHODS[1],
                against=[METHODS[0]], at="each", scale="ratio", high=1)  # fmt: skip
    return Claim(
        id="X1", paper="liu2020", where="", claim="It is so.", source="", parts=[part]
    )  # fmt: skip


def test_claim_on_times_compares_within_one_machine() -> None:
    def timed(machine: str, name: str, methods: tuple[str, ...], n: int) -> Any:
        rows = two_methods(lambda *_: 70, methods, n, sizes=(14,), machine=machine, t_pp=1.0)
        return results([row | {"t_pp": 1.0 + row["trial"] / 100} for row in rows], name, **PAPER)

    apart = [timed("a", "one", METHODS[:1], 6), timed("b", "two", METHODS[1:], 6)]
    (outcome,) = judge_claim(claim(), selection(*apart))
    assert (outcome.verdict, outcome.comparisons) == ("not run", ())
    (outcome,) = judge_claim(claim(), selection(*apart, timed("b", "three", METHODS[:1], 6)))
    assert len(outcome.comparisons) == 1


def test_times_are_not_compared_across_machines() -> None:
    def both(machine: str) -> Any:
        return results(
            made("a", 1.0, range(4), sampler="rks") + made(machine, 9.0, range(4), sampler="orf")
        )

    assert compare(both("a"), "orf", "rks", "t_total")["difference"].tolist() == [24.0]
    with pytest.raises(ResultsError, match="no trial in common"):
        compare(both("b"), "orf", "rks", "t_total")
    assert compare(both("b"), "orf", "rks", "error")["difference"].tolist() == [0.0]
