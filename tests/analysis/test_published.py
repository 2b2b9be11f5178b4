"""Published numbers beside hand-made trials."""

import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from scipy.stats import t

from rfbench import papers
from rfbench.analysis import verification
from rfbench.analysis.frame import collect_results
from rfbench.analysis.published import PUBLISHED_COLUMNS, compare_published_numbers
from rfbench.analysis.selection import Selection, is_row_subset
from rfbench.papers.models import Source
from tests.support.frames import results, selection
from tests.support.papers import PAPER, eeg, trials

FOLDERS = Path(__file__).parents[2] / "results" / "published"


def line(table: pd.DataFrame, **where: Any) -> pd.Series:
    wanted = {"dataset": "EEG", "item": "table3", "method": "rks", "M": "14",
              "metric": "accuracy", "protocol": "matched", "stand_in": False} | where  # fmt: skip
    (found,) = table[(table[list(wanted)] == pd.Series(wanted)).all(axis=1)].index
    return table.loc[found]


@pytest.mark.parametrize("every", [[], [results([], **PAPER)]])
def test_published_numbers_without_rows_get_the_verdict_not_run(every: list[Any]) -> None:
    table = compare_published_numbers(selection(*every))
    assert list(table.columns[: len(PUBLISHED_COLUMNS)]) == PUBLISHED_COLUMNS
    assert len(table) == 3 * len(papers.list_published_numbers())
    assert set(table["verdict"]) == {"not run"}


def test_number_with_rows_gets_a_verdict() -> None:
    table = compare_published_numbers(
        selection(results(trials(68.6) + trials(75, sampler="qmc"), **PAPER))
    )
    one = line(table)
    assert (one["verdict"], one["trials"]) == ("close", 10)
    assert one["measured"] == pytest.approx(68.6)
    assert one["difference"] == pytest.approx(68.6 - 68.45)
    assert one["standard_error"] == pytest.approx(0.5 / 10**0.5)
    assert line(table, method="qmc")["verdict"] == "differs"
    assert line(table, method="leverage-rff")["verdict"] == "not run"
    assert line(table, protocol="printed")["verdict"] == "not run"
    time = line(table, metric="t_features")
    assert (time["verdict"], time["measured"]) == ("not judged", 0.75)


@pytest.mark.parametrize(
    "changes", [{"dataset": "eeg[5000 rows]"}, {"n_train": 5000}, {"n_test": 100}]
)
def test_results_on_a_subset_of_rows_are_shown_and_not_judged(changes: dict[str, Any]) -> None:
    table = compare_published_numbers(selection(results(trials(68.6, **changes), **PAPER)))
    assert line(table)["verdict"] == "not run"
    assert line(table, stand_in=True)["verdict"] == "not judged"


def test_results_folder_with_most_trials_is_compared() -> None:
    few, many = results(trials(60, n=3), "few", **PAPER), results(trials(68.5), "many", **PAPER)
    assert line(compare_published_numbers(selection(few, many)))["measured"] == pytest.approx(68.5)


def test_rows_of_a_control_sampler_are_not_used_for_the_original_sampler() -> None:
    control = trials(80, label="rks-2s")
    both = results(trials(68.5, label="rks") + control, **PAPER)
    assert line(compare_published_numbers(selection(both)))["measured"] == pytest.approx(68.5)
    two = results(control + trials(70, label="rks-4s"), **PAPER)
    assert line(compare_published_numbers(selection(two)))["verdict"] == "not run"
    alone = results(trials(68.5, label="plain"), **PAPER)
    assert line(compare_published_numbers(selection(alone)))["trials"] == 10


@pytest.mark.parametrize(
    ("n_train", "n_test", "subset"),
    [
        (1000, 500, False),
        (1020, 510, False),
        (980, 490, False),
        (1021, 500, True),
        (979, 500, True),
        (1000, 511, True),
        (1000, 489, True),
        (1100, 500, True),
        (math.nan, math.nan, False),
    ],
)
def test_row_counts_that_differ_by_more_than_2_percent_are_a_subset(
    n_train: float, n_test: float, subset: bool
) -> None:
    source = Source(dataset="a9a", n_train=1000, n_test=500)
    assert is_row_subset(source, "table1", math.nan, n_train, n_test) == subset


@pytest.mark.parametrize(
    ("surrogate", "differing"), [(68.62, ()), (60.0, (("EEG", 8.62, "points"),))]
)
def test_claim_lists_its_numbers_that_differ_from_the_paper(
    surrogate: float, differing: tuple[tuple[str, float, str], ...]
) -> None:
    """Both methods 8 points off may keep the paper's order, and the reader ought to know."""
    made = results(eeg(leverage_rff=68.78, surrogate_leverage=surrogate, ses=50.0), **PAPER)
    every = verification.build_verification(selection(made)).outcomes
    (outcome,) = (one for one in every if (one.claim.id, one.protocol) == ("S5", "matched"))
    assert [(name, round(size, 6), unit) for name, size, unit in outcome.differing] == list(
        differing
    )


def test_number_from_one_trial_adds_the_variance_of_one_trial() -> None:
    """By hand, from the numbers of a published folder: what features explain of it is taken off."""
    folder = FOLDERS / "quadrature2018_figure2_letter-gaussian.code"
    found = compare_published_numbers(Selection(collect_results([folder])), "quadrature2018")
    one = found[(found["method"] == "rks") & (found["trials"] > 0)].iloc[0]
    rows = pd.read_csv(folder / "trials.csv")
    rows = rows[(rows["label"] == "rks") & (rows["M"] == int(one["M"]))]
    ours, n = rows["kernel_error_frobenius"], len(rows)
    mean, theirs = ours.mean(), one["published"]
    features = (one["published_spread"] / theirs) ** 2
    of_rows = max(0.0, ours.var() / mean**2 - features / 20)
    own = ours.var() / mean**2 / n + of_rows
    variance = features / 500 + own
    freedom = variance**2 / (own**2 / (n - 1) + (features / 500) ** 2 / 499)
    digit = papers.list_published_numbers()[int(one["number"])].half_digit
    half = t.ppf(0.95, freedom) * math.sqrt(variance) + digit / theirs
    assert one["half_width"] == pytest.approx(half * mean, rel=1e-6)
