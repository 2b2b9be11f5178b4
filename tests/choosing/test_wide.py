"""Tables of thousands of columns: work per column, and what is left out of them."""

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import f_classif, f_regression

from rfbench.choosing import screen, table
from rfbench.choosing.choice import choose
from rfbench.choosing.rounds import Rounds
from rfbench.choosing.screen import LEAST_COLUMNS, ColumnScreen, list_used_columns
from rfbench.datasets.preparation import Preparation
from rfbench.pages.templates import render_template


def count_calls(work):
    """Return how many Python functions are called by some work, in whatever module."""
    counted = 0

    def count(frame, event, argument):
        nonlocal counted
        counted += event == "call"

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return counted


def numbers(d, n=60):
    """A table of numbers with gaps, as a file is read, and a target."""
    random = np.random.default_rng(0)
    X = random.standard_normal((n, d))
    X[random.random((n, d)) < 0.02] = np.nan
    return pd.DataFrame(X, columns=[f"v{at}" for at in range(d)]), X[:, 0] + 1.0


@pytest.mark.parametrize(
    ("work", "most"),
    [
        (lambda X: table.make_labeled_table(X, np.arange(len(X)) * 1.0), 25),
        (lambda X: Preparation().fit(X), 25),
        (lambda X: Preparation().fit(X).transform(X), 25),
        (lambda X: Preparation().fit(X).find_schema_changes(X.fillna(0.0)), 25),
    ],
    ids=["make_table", "fit", "transform", "differences"],
)
def test_number_of_function_calls_per_numeric_column_is_bounded(work, most):
    calls = [count_calls(lambda d=d: work(numbers(d)[0])) for d in (300, 600)]
    assert (calls[1] - calls[0]) / 300 < most


@pytest.mark.parametrize("kind", ["numbers", "classes"])
@pytest.mark.parametrize("seed", range(20))
def test_column_screening_equals_testing_each_column_alone(kind, seed):
    """Of columns with repeated values, gaps, one order or the other, and infinite values."""
    random = np.random.default_rng(seed)
    y = random.standard_normal(120).round(random.integers(0, 3))
    target = y if kind == "numbers" else pd.factorize(y > 0.2, sort=True)[0].astype(np.int64)
    X = pd.DataFrame({f"n{at}": random.standard_normal(120).round(1) for at in range(5)})
    X["rises"], X["falls"], X["steps"] = y, -(y**3), np.floor(y)
    X["far"] = np.where(y > 0, np.inf, y)
    X["few gaps"], X["many gaps"] = X["rises"].where(random.random(120) > 0.02), y
    X.loc[:30, "many gaps"] = np.nan
    X["codes"], X["one"], X["off"] = pd.factorize(target)[0], 1.0, y + (np.arange(120) == 7)
    alone = [column for column in X if table._tells(column, X[column], target)]
    said = [sentence.split(" determines")[0] for sentence in table.find_leaky_columns(X, target)]
    assert said == [f"Column {column}" for column in alone]
    assert {"rises", "falls"} <= {*alone} if kind == "numbers" else {"codes"} <= {*alone}


def wide(d=500, n=120, *, classes=False):
    """A table whose target follows from two of its columns, which have numbers with gaps."""
    X = numbers(d, n)[0]
    y = X["v3"].fillna(0.0) + X["v400"].fillna(0.0)
    return X, np.where(y > 0, "yes", "no") if classes else y.to_numpy()


@pytest.mark.parametrize("classes", [False, True], ids=["numbers", "classes"])
def test_choose_reports_the_unused_columns_of_a_wide_table(classes, short, tmp_path):
    """Those are chosen by the fitted rows of each split: its rows to predict change nothing."""
    X, y = wide(classes=classes)
    found = choose(X, y, budget=0.001, out=tmp_path, n_jobs=1)
    card, model = found.card, found.model
    assert card["n_prepared"] - len(card["unused"]) in range(10, LEAST_COLUMNS)
    assert not {"v3", "v400"} & {*card["unused"]}
    lines = render_template("choosing/choose.txt.j2", choice=card, folder=tmp_path).splitlines()
    assert lines[1].startswith(f"NOT ALL COLUMNS: {len(card['unused'])} of {card['n_prepared']} ")
    assert model.predict(X).shape == (120,)
    assert list_used_columns(model) == [
        name for name in model[0].get_feature_names_out() if name not in {*card["unused"]}
    ]


def test_validation_rows_do_not_affect_the_selected_columns(tmp_path):
    """Of noise alone: by all rows, some columns would agree with the target by chance."""
    random = np.random.default_rng(0)
    rows = table.make_labeled_table(random.standard_normal((60, 2000)), random.standard_normal(60))
    by = Rounds(rows, rows.make_splits(60.0), np.inf, tmp_path, n_columns=20)
    assert by.uses_column_screening
    for fold, (fit, held) in enumerate(by.splits):
        by._prepare(fold)
        X, target = by._prepared[fold], rows.y[np.concatenate([fit, held])]
        alone = ColumnScreen(20).fit(rows.X.iloc[fit].to_numpy(), target[: len(fit)])
        assert len(alone.kept_) == 10
        np.testing.assert_array_equal(X, rows.X.iloc[[*fit, *held]].to_numpy()[:, alone.kept_])


@pytest.mark.parametrize("classes", [False, True], ids=["numbers", "classes"])
def test_screened_columns_have_the_largest_correlation_with_the_target(classes):
    random = np.random.default_rng(1)
    X = random.standard_normal((90, 30)) * 10.0 ** random.integers(-3, 3, 30) + 5.0
    X[:, 4] = 2.0
    y = random.integers(0, 3, 90) if classes else X[:, 7] / X[:, 7].std() + random.random(90)
    if classes:
        shares = [f_classif(X[:, [at]], y)[0][0] if at != 4 else 0.0 for at in range(30)]
    else:
        shares = [abs(np.corrcoef(X[:, at], y)[0, 1]) if at != 4 else 0.0 for at in range(30)]
    shares = np.array(shares)
    kept = ColumnScreen(29, classes).fit(X, y).kept_
    assert kept.tolist() == sorted(np.argsort(shares)[-len(kept) :])
    tests = [f_classif, f_regression][not classes](X[:, shares != 0.0], y)[1]
    assert len(kept) == (tests <= (29 / 30) ** 3).sum() < 29


def test_numbers_of_used_rows_and_columns_depend_only_on_table_size():
    """Of 20 s, on one core; a table of the suite has 3 million cells and 287 columns at most."""
    assert screen.compute_seconds_after_reading(20.0, 3_000_000) == 20.0
    assert screen.compute_seconds_after_reading(20.0, 40_000_000) == pytest.approx(11.25)
    assert screen.compute_seconds_after_reading(20.0, 10**9) == 0.0
    assert screen.compute_max_columns(10.0, 14_000) == screen.compute_max_columns(0.0, 50) == 300
    assert screen.compute_max_columns(18.0, 2_000) == 800
    rows = table.LabeledTable(pd.DataFrame(np.zeros((4000, 5000))), np.arange(4000.0), np.empty(0))
    assert len(rows.make_splits(4.0)[-1][0]) == 2_000  # of 20 million cells, as without any time
