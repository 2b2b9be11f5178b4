"""Which rows are held out, which choose, and which classes cannot stand on both sides."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from rfbench.choosing.table import LabeledTable, make_labeled_table, split_without_rare_classes
from rfbench.errors import ConfigError, MemoryLimitError


def problem(y, *, n_classes=0, groups=None, time=None):
    rows = pd.DataFrame(np.arange(len(y))[:, None])
    return LabeledTable(rows, np.asarray(y), np.arange(n_classes), groups, time)


@pytest.mark.parametrize("folds", [1, 3])
def test_training_rows_are_earlier_than_test_rows(folds):
    random = np.random.default_rng(0)
    time = random.integers(0, 50, 400).astype(float)
    parts = problem(time, time=time).split(0.2, folds=folds)
    assert len(parts) == folds
    held = np.concatenate([part[1] for part in parts])
    assert len(np.unique(held)) == len(held)
    assert len(held) == pytest.approx(folds * 80, abs=20)  # ties stay together
    for fit, later in parts:
        np.testing.assert_array_equal(np.sort(fit), np.flatnonzero(time < time[later].min()))
    assert time[held].max() == time.max()


def test_rows_with_equal_times_are_all_in_training_or_all_in_test():
    with pytest.raises(ConfigError, match="cannot be split"):
        problem(np.arange(20.0), time=np.zeros(20)).split(0.25)
    classes = np.repeat([0, 1], [16, 4])
    with pytest.raises(ConfigError, match="one class come first"):
        problem(classes, n_classes=2, time=np.arange(20.0)).split(0.25)


@pytest.mark.parametrize("folds", [1, 3])
def test_groups_are_not_split_and_training_and_test_rows_are_disjoint(folds):
    groups = np.repeat(np.arange(50), 4)
    for fit, held in problem(np.zeros(200), groups=groups).split(0.25, folds=folds):
        assert not set(groups[fit]) & set(groups[held])
        assert sorted([*fit, *held]) == list(range(200))
        assert len(held) == pytest.approx(200 / (folds if folds > 1 else 4), abs=8)


@pytest.mark.parametrize("budget", [2.0, 60.0])
def test_subsampling_keeps_all_rows_of_a_rare_class(budget):
    y = np.r_[np.zeros(13_000, int), np.ones(997, int), [2, 2, 2]][
        np.random.default_rng(0).permutation(14_000)
    ]
    rows = problem(y, n_classes=3)
    _, splits, kept, left_out = split_without_rare_classes(rows, budget)
    assert (len(kept), left_out) == (14_000, {})
    (train, test), (fit, held) = splits.pop(), splits.pop()
    assert len(train) <= max(2_004, 700 * budget)
    assert not set(train) & set(test)
    assert set(y[fit]) == set(y[test]) == {0, 1, 2}
    assert {*fit, *held} == {*train}


def test_class_too_small_to_be_split_is_left_out_and_reported():
    """Of two rows one is held out, and one cannot both train and choose; so in a single group."""
    y = np.r_[np.zeros(5_000, int), np.ones(4_000, int), [2, 2]]
    assert split_without_rare_classes(problem(y, n_classes=3), 60)[3] == {"2": 2}
    y = np.repeat([0, 1, 2], [300, 280, 20])
    groups = np.r_[np.arange(580) // 10, np.full(20, 99)]
    table, *_, left_out = split_without_rare_classes(problem(y, n_classes=3, groups=groups), 60)
    assert (left_out, table.n_classes) == ({"2": 20}, 2)


def test_row_sampling_is_stratified_by_class():
    codes = np.repeat([0, 1, 2, 3], [900, 90, 8, 2])
    table = problem(codes, n_classes=4)
    assert np.bincount(codes[table.sample_rows(np.arange(1000), 100)]).tolist() == [90, 9, 4, 2]
    ((fit, held),) = table.split(0.25)
    assert np.bincount(codes[held]).tolist() == [225, 22, 2, 1]
    assert sorted([*fit, *held]) == list(range(1000))
    ((_, held),) = problem(np.repeat(np.arange(100), 5), n_classes=100).split(0.25)
    assert len(held) == 125  # a quarter, where every class rounds up to two of five
    folds = table.split(0.2, folds=3)
    assert sorted(np.concatenate([held for _, held in folds])) == list(range(1000))
    train, test = problem(np.zeros(41_000)).make_splits(60)[-1]
    assert (len(train), len(test)) == (31_000, 10_000)  # none is lost
    assert len(problem(np.zeros(1000)).sample_rows(np.arange(1000), 100)) == 100


def test_sparse_matrix_too_large_to_densify_is_rejected(monkeypatch):
    monkeypatch.setattr("rfbench.memory.count_free_bytes", lambda: 1000.0)
    X, y = sparse.csr_array((30, 9)), np.arange(30.0)
    with pytest.raises(MemoryLimitError, match="The table with its zeros needs about"):
        make_labeled_table(X, y)
