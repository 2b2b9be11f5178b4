"""The leaderboard's findings: their numbers by other code, and that none stands on other rows."""

import csv
import math
import statistics
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from rfbench.analysis.frame import collect_results
from rfbench.datasets import catalog
from rfbench.errors import ResultsError
from rfbench.leaderboard import board as boards
from rfbench.pages.findings import render_finding_text, render_statements

PUBLISHED = Path(__file__).parents[2] / "results" / "published"
PARTS = ("{}", "references_exact_{}", "references_exact_{}_folds")
BOOSTING = ("references_boosting_classification", "boosting_regression")
FOLDERS = ["leaderboard_" + name for name in BOOSTING] + [
    "leaderboard_" + part.format(task)
    for part in PARTS
    for task in ("classification", "regression")
]


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
    board = boards.compute_leaderboard(collect_results([PUBLISHED / name for name in FOLDERS]))
    apart = {*board.unlearnt, *catalog.list_excluded_data_sets()}
    errors = {key: error for key, error in errors.items() if key[0] not in apart}
    every = {finding.key: finding for finding in boards.list_findings(board)}
    return SimpleNamespace(errors=errors, board=board, every=every)


def quotient(errors, above, below):
    """The median over data sets of the mean over trials, of two methods at their M."""
    by_set = {}
    for (dataset, trial, method, M), error in errors.items():
        other = errors.get((dataset, trial, *below))
        if (method, M) == above and other:
            by_set.setdefault(catalog.TWINS.get(dataset, dataset), []).append(
                math.log(error / other)
            )
    return math.exp(statistics.median(sum(logs) / len(logs) for logs in by_set.values()))


def test_published_rows_support_the_statements_about_methods(published):
    errors, every, M = published.errors, published.every, str(published.board.largest.M)
    assert set(every) == {"methods"}
    size = published.board.largest
    for line, bar in zip(size.methods, every["methods"].bars, strict=True):
        assert bar.value == pytest.approx(quotient(errors, (line.method, M), ("rks", M)))
    assert every["methods"].facts["best"] is size.methods[0]


def test_leaderboard_with_few_data_sets_gives_no_findings(published):
    few = replace(published.board.largest, datasets=3)
    board = replace(published.board, sizes=(*published.board.sizes[:-1], few))
    assert boards.list_findings(board) == []


def test_each_finding_has_a_sentence_an_axis_a_figure_and_values(published):
    every = render_statements(list(published.every.values()), "leaderboard/findings.j2")
    for statement in every:
        finding = statement.finding
        assert statement.sentence.endswith(".")
        printed = render_finding_text(every, statement.key, 200)
        assert statement.sentence[:60] in printed
        assert all(f"{bar.value:.3g}" in printed for bar in finding.bars)
    with pytest.raises(ResultsError, match="methods"):
        render_finding_text(every, "method")
