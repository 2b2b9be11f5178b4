"""The findings: their numbers by other code, and that none stands on rows that do not carry it."""

import csv
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from rfbench import papers
from rfbench.analysis import findings, verdicts
from rfbench.analysis.frame import collect
from rfbench.analysis.outcomes import Outcome
from rfbench.pages.findings import statements, text

PUBLISHED = Path(__file__).parents[2] / "results" / "published"
APART = ["tuned_apart_har_random", "tuned_apart_har"]


def test_the_published_rows_carry_what_is_said_of_splits():
    means = {}
    for name in APART:
        with (PUBLISHED / name / "trials.csv").open(newline="") as file:
            for row in csv.DictReader(file):
                if row["status"] == "ok" and row["M"] == "400":
                    means.setdefault((name, row["label"]), []).append(float(row["error"]))
    means = {key: sum(values) / len(values) for key, values in means.items()}
    collection = collect([PUBLISHED / name for name in APART])
    found = findings.apart(SimpleNamespace(selection=SimpleNamespace(collection=collection)))
    assert found is not None
    bars = {bar.name.rpartition(", ")[2]: bar for bar in found.bars}
    assert len(bars) == len(means) / 2
    for method, bar in bars.items():
        random, apart = (means[name, method] for name in APART)
        assert bar.value == pytest.approx(apart - random)
        assert bar.low > 0
    (statement,) = statements([found])
    assert statement.sentence.endswith(".")
    printed = text([statement], "apart", 200)
    assert statement.sentence[:60] in printed
    assert all(f"{bar.value:.3g}" in printed for bar in found.bars)


def own(rows):
    names = ["protocol", "verdict", "difference", "trials", "number"]
    table = pd.DataFrame(rows, columns=names)
    place = {"unit": "%", "same_as": "", "paper": "p", "item": "t", "dataset": "d"}
    return table.assign(**place)


def test_numbers_are_counted_by_their_verdicts():
    table = own(
        [
            ("printed", verdicts.AGREES, 0.1, 9, 0),
            ("printed", verdicts.DIFFERS, -3.0, 9, 1),
            ("printed", verdicts.AT_CHANCE, -9.0, 9, 2),
            ("matched", verdicts.CLOSE, 0.8, 9, 0),
            ("matched", verdicts.NOT_CLEAR, 0.4, 9, 1),
            ("tuned", verdicts.NOT_JUDGED, 5.0, 9, 0),
        ]
    )
    table = table.assign(stand_in=False, published=1.0)
    table.loc[0, "unit"] = "1"  # kernel errors and the like count too

    def finding(rows):
        return findings.numbers(SimpleNamespace(own=rows, numbers=rows, outcomes=()))

    assert finding(table).facts == {
        "printed": {"compared": 2, "near": 1, "differ": 1, "chance": 1},
        "matched": {"compared": 2, "near": 1, "differ": 0, "chance": 0},
    }
    assert [(bar.name, bar.value, bar.high) for bar in finding(table).bars] == [
        ("p, printed: 1 of 2", 50, 50), ("p, matched: 1 of 2", 50, 50),
    ]  # fmt: skip
    assert finding(table[table["protocol"] == "printed"]) is None


def test_a_claim_counts_once_under_both_protocols():
    first, second, third = [claim for claim in papers.claims() if claim.judged][:3]
    outcomes = [
        (first, "printed", verdicts.FAILS), (first, "matched", verdicts.HOLDS),
        (second, "printed", verdicts.NOT_CLEAR), (second, "matched", verdicts.NOT_RUN),
        (third, "tuned", verdicts.HOLDS),
    ]  # fmt: skip
    every = tuple(
        SimpleNamespace(claim=claim, protocol=protocol, verdict=verdict)
        for claim, protocol, verdict in outcomes
    )
    assert {"claim", "protocol", "verdict"} <= set(Outcome.__dataclass_fields__)
    finding = findings.claims(SimpleNamespace(outcomes=every))
    assert finding.facts == {"tested": 2, "holding": 1, "failing": 1}
    assert sum(bar.value for bar in finding.bars) == 3


def test_ranges_are_those_of_the_papers_own_data():
    value = [number.value for number in papers.published()]
    ranges = pd.DataFrame(
        [(0, value[0] - 1, value[0], value[0] + 1), (1, value[1] + 1, value[1] + 2, value[1] + 4),
         (2, 0.0, 50.0, 100.0)],
        columns=["number", "low", "reading", "high"],
    )  # fmt: skip
    table = own(
        [("printed", "", 0.0, 9, 0), ("printed", "", 0.0, 9, 1), ("printed", "", 0.0, 0, 2)]
    )
    finding = findings.unprinted(SimpleNamespace(own=table, ranges=ranges))
    assert finding.facts == {"numbers": 2, "inside": 1, "median": 2.5, "most": 3.0}
