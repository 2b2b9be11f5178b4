"""The findings: their numbers by other code, and that none stands on rows that do not carry it."""

import csv
import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from rfbench import papers
from rfbench.analysis import findings, leaderboard, verdicts
from rfbench.analysis.frame import collect
from rfbench.analysis.outcomes import Outcome
from rfbench.errors import ResultsError
from rfbench.pages.findings import Statement, text
from rfbench.pages.templates import lines

PUBLISHED = Path(__file__).parents[2] / "results" / "published"
PARTS = ("", "references_exact_", "references_boosting_")
FOLDERS = [
    f"leaderboard_{part}{task}" for part in PARTS for task in ("classification", "regression")
]
APART = ["tuned_apart_har_random", "tuned_apart_har"]


@pytest.fixture(scope="module")
def published():
    """The leaderboard's rows read by csv: errors by data set, trial, method and M; the findings."""
    errors = {}
    for name in FOLDERS:
        with (PUBLISHED / name / "trials.csv").open(newline="") as file:
            for row in csv.DictReader(file):
                if row["status"] == "ok":
                    half_a_row = 50 / float(row["n_test"])  # no error counts as smaller
                    wrong = row["error"] and max(float(row["error"]), half_a_row)
                    key = row["dataset"].partition("[")[0], row["trial"], row["label"], row["M"]
                    errors[key] = wrong or float(row["relative_rmse"])
    collection = collect([PUBLISHED / name for name in [*FOLDERS, *APART]])
    board = leaderboard.gather(collection)
    errors = {key: error for key, error in errors.items() if key[0] not in board.unlearnt}
    of_board = [make(board) for make in (findings.methods, findings.exact, findings.more)]
    apart = findings.apart(SimpleNamespace(selection=SimpleNamespace(collection=collection)))
    every = {each.key: each for each in (*of_board, findings.boosting(board), apart) if each}
    return SimpleNamespace(errors=errors, board=board, every=every)


def quotient(errors, above, below):
    """The geometric mean over data sets of the mean over trials, of two methods at their M."""
    by_set = {}
    for (dataset, trial, method, M), error in errors.items():
        other = errors.get((dataset, trial, *below))
        if (method, M) == above and other:
            by_set.setdefault(dataset, []).append(math.log(error / other))
    means = [sum(logs) / len(logs) for logs in by_set.values()]
    return math.exp(sum(means) / len(means))


def test_the_published_rows_carry_what_is_said_of_methods(published):
    errors, every, M = published.errors, published.every, str(published.board.largest.M)
    assert {"methods", "boosting", "exact", "more", "apart"} <= set(every)
    for bar in every["methods"].bars:
        assert bar.value == pytest.approx(quotient(errors, (bar.name, M), ("rks", M)))
    assert every["methods"].facts["best"].method == every["methods"].bars[0].name
    exact = {each[3] for each in errors if each[2] == "exact-kernel"}
    for bar in every["exact"].bars:
        own = ("rks", bar.name.removeprefix("M = "))
        assert bar.value == pytest.approx(quotient(errors, own, ("exact-kernel", *exact)))
    for bar, step in zip(every["more"].bars, every["more"].facts["steps"], strict=True):
        sizes = ("rks", str(step.M)), ("rks", str(step.before))
        assert bar.value == pytest.approx(quotient(errors, *sizes))
        assert bar.high < 1
    ratios = [bar.value for bar in every["boosting"].bars]
    assert every["boosting"].facts["enough"].better == sum(ratio < 1 for ratio in ratios)
    assert ratios == sorted(ratios)


def test_the_published_rows_carry_what_is_said_of_splits(published):
    means = {}
    for name in APART:
        with (PUBLISHED / name / "trials.csv").open(newline="") as file:
            for row in csv.DictReader(file):
                if row["status"] == "ok" and row["M"] == "400":
                    means.setdefault((name, row["label"]), []).append(float(row["error"]))
    means = {key: sum(values) / len(values) for key, values in means.items()}
    bars = {bar.name.rpartition(", ")[2]: bar for bar in published.every["apart"].bars}
    assert len(bars) == len(means) / 2
    for method, bar in bars.items():
        random, apart = (means[name, method] for name in APART)
        assert bar.value == pytest.approx(apart - random)
        assert bar.low > 0


def test_few_data_sets_carry_nothing(published):
    few = replace(published.board.largest, datasets=3)
    board = replace(published.board, sizes=(*published.board.sizes[:-1], few))
    makers = (findings.methods, findings.boosting, findings.exact, findings.more, findings.cost)
    assert [make(board) for make in makers] == [None] * 5
    assert None not in [make(published.board) for make in makers]


def test_what_is_not_sure_at_every_step_is_not_said(published):
    board = published.board
    steps = [step for step in board.steps if step.method == "rks"]
    unsure = replace(steps[0], interval=replace(steps[0].interval, high=1.01))
    assert findings.more(board) is not None
    assert findings.more(replace(board, steps=(unsure, *steps[1:]))) is None
    turned = replace(board, sizes=(*board.sizes[:-2], board.sizes[-1], board.sizes[-2]))
    assert findings.exact(turned) is None


def test_the_cost_is_the_quotient_of_the_whole_searches(published):
    size = published.board.largest
    seconds = {size.best: 3.0, "rks": 2.0, "orf": 1.0}
    lines_ = [replace(e, search=seconds[e.method]) for e in size.lines if e.method in seconds]
    board = replace(published.board, sizes=(replace(size, lines=tuple(lines_)),))
    finding = findings.cost(board)
    assert finding.facts["times"] == 1.5
    every = [(bar.name, bar.value) for bar in finding.bars]
    assert every == [("orf", 0.5), ("rks", 1.0), (size.best, 1.5)]


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


def test_every_finding_has_a_sentence_an_axis_a_figure_and_its_values(published):
    every = [
        Statement(finding, *lines("findings.j2", key, f=finding.facts))
        for key, finding in published.every.items()
    ]
    for statement in every:
        finding = statement.finding
        assert statement.sentence.endswith(".")
        printed = text(every, statement.key, 200)
        assert statement.sentence[:60] in printed
        assert all(f"{bar.value:.3g}" in printed for bar in finding.bars)
    with pytest.raises(ResultsError, match="boosting"):
        text(every, "bosting")
