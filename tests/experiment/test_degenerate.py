"""Data that nobody wants: each gives a finite row, or a row that says what is wrong."""

import numpy as np
import pytest

from rfbench import datasets
from rfbench.datasets import Dataset
from tests.support.trials import measured

from .conftest import SMALL

POOLS = "eerf: {pool_size: 20, score_rows: 1.0}, lkrf: {pool_size: 20, estimator: all}"
OWN = (
    *("split={test_size: 0.4}", "scaling=standard", "M=3,12", "trials=1"),
    *(f"samplers=[rks, {POOLS}, surrogate-leverage]", "solver.selection=cv3"),
)
GENERATOR = np.random.default_rng(0)
X = GENERATOR.standard_normal((30, 3))
LABELS = np.arange(30) % 2


@pytest.fixture
def rows_of(experiment_of, monkeypatch):
    """Return a function that runs the samplers on rows and a target given as arrays."""

    def run(X, y, *overrides, task="binary"):
        name = {"regression": "cpu", "binary": "magic04", "multiclass": "letter"}[task]
        classes = () if task == "regression" else tuple("abcdefghijklmnopqrstuvwxyz"[: max(y) + 1])
        found = Dataset(name, np.asarray(X), np.asarray(y), task, classes, None, None, "0")
        monkeypatch.setattr(datasets, "load", lambda *words, **keywords: found)
        monkeypatch.setattr(datasets, "fetch", lambda *words, **keywords: [])
        monkeypatch.setattr(datasets, "hash_data", lambda *words: "0")
        return measured(experiment_of(SMALL, f"dataset={name}", *OWN, *overrides))

    return run


@pytest.mark.parametrize(
    ("rows", "y", "overrides"),
    [
        (X[:14], LABELS[:14], []),
        (np.ones((30, 3)), LABELS, []),
        (np.tile(X[:5], (6, 1)), LABELS, []),
        (X * 1e150, LABELS, []),
        (X * 1e8, LABELS, ["scaling=none"]),
    ],
    ids=["fewer rows than features", "constant columns", "twins", "huge", "huge, not scaled"],
)
def test_degenerate_rows_give_finite_errors(rows_of, rows, y, overrides):
    found = rows_of(rows, y, *overrides)
    assert {row["status"] for row in found} == {"ok"}, [row.get("message") for row in found]
    assert np.isfinite([row["error"] for row in found]).all()


def test_target_with_a_class_for_every_two_rows_causes_no_warning(rows_of):
    """The tests turn warnings into errors. `choose` printed scikit-learn's warning per model."""
    words = (
        "samplers=[rks]",
        "split={test_size: 0.06}",
        "solver.alphas=1",
        "solver.selection=fixed",
    )
    rows = rows_of(np.tile(X, (2, 1))[:34], np.arange(34) % 17, *words, task="multiclass")
    assert [row["status"] for row in rows] == ["ok", "ok"], [row.get("message") for row in rows]


def test_constant_regression_target_is_handled(rows_of):
    rows = rows_of(
        X, np.full(30, 7.0), "solver.alphas=1", "solver.selection=fixed", task="regression"
    )
    for row in rows:
        assert row["status"] == "ok" or "constant" in row["message"], row["message"]


def test_two_training_rows_give_a_failed_trial_with_a_message(rows_of):
    for row in rows_of(X[:2], LABELS[:2], "solver.alphas=1", "solver.selection=fixed"):
        assert row["status"] == "failed"
        assert row["message"]
