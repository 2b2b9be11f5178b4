from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import KFold

from rfbench.datasets import Dataset, split_rows
from rfbench.datasets.split import count_training_rows, draw_subset, is_fixed_split, split_by_time
from rfbench.errors import DataError


def dataset(n=20, n_given_train=None, groups=None):
    groups = None if groups is None else np.asarray(groups)
    y = np.arange(n) % 2
    return Dataset("d", np.zeros((n, 2)), y, "binary", ("a", "b"), n_given_train, groups, "0")


def rng(seed=0):
    return np.random.default_rng(seed)


def test_given_split_trains_on_the_first_rows():
    train, test = split_rows(dataset(5, 3), "given", rng())
    assert (train.tolist(), test.tolist()) == ([0, 1, 2], [3, 4])


def test_train_size_samples_given_training_rows_and_keeps_all_test_rows():
    train, test = split_rows(dataset(30, 20), {"train_size": 6}, rng())
    assert test.tolist() == list(range(20, 30))
    assert len(set(train.tolist())) == 6
    assert (train < 20).all()
    assert (np.diff(train) > 0).all()
    drawn = {tuple(split_rows(dataset(30, 20), {"train_size": 6}, rng(s))[0]) for s in range(9)}
    assert len(drawn) == 9
    half, _ = split_rows(dataset(30, 20), {"train_size": 0.5}, rng())
    assert len(half) == 10
    every, _ = split_rows(dataset(30, 20), {"train_size": 99}, rng())
    assert len(every) == 20
    assert count_training_rows(30, 20, {"train_size": 6}) == 6
    assert count_training_rows(30, 20, {"train_size": 0.5}) == 10


@given(
    n=st.integers(2, 60),
    test=st.one_of(st.floats(0.02, 0.98), st.integers(1, 59)),
    train=st.one_of(st.none(), st.floats(0.02, 0.98), st.integers(1, 59)),
    seed=st.integers(0, 9),
)
def test_random_split_is_disjoint_with_the_requested_sizes(n, test, train, seed):
    def size(value):
        return value if isinstance(value, int) else max(1, round(value * n))

    n_test = size(test)
    n_train = n - n_test if train is None else size(train)
    rule = {"test_size": test} | ({} if train is None else {"train_size": train})
    if n_train < 1 or n_train + n_test > n:
        with pytest.raises(DataError):
            split_rows(dataset(n), rule, rng(seed))
        return
    left, right = split_rows(dataset(n), rule, rng(seed))
    assert (len(left), len(right)) == (n_train, n_test)
    together = np.concatenate([left, right])
    assert len(np.unique(together)) == n_train + n_test
    assert together.min() >= 0
    assert together.max() < n
    assert (np.diff(left) > 0).all()
    assert (np.diff(right) > 0).all()
    if train is None:
        assert n_train + n_test == n


@pytest.mark.parametrize(
    ("rule", "share"), [({"test_size": 0.25}, 0.25), ({"blocks": 10, "test_size": 3}, 0.3)]
)
def test_each_row_is_equally_likely_in_the_test_set(rule, share):
    generator, counts = rng(1), np.zeros(20)
    for _ in range(2000):
        counts[split_rows(dataset(), rule, generator)[1]] += 1
    z = (counts - 2000 * share) / np.sqrt(2000 * share * (1 - share))
    assert np.abs(z).max() < 4.5


@pytest.mark.parametrize(("size", "left"), [(1, 1), (3, 3), (0.5, 2), (0.01, 1)])
def test_random_split_does_not_split_groups(size, left):
    groups = np.repeat([3, 9, 1, 7], [2, 8, 4, 6])
    train, test = split_rows(dataset(20, groups=groups), {"leave_groups": size}, rng())
    assert set(groups[train]).isdisjoint(groups[test])
    assert len(set(groups[test])) == left
    assert sorted([*train, *test]) == list(range(20))


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("given", "no published split"),
        ("half", "unknown"),
        ({}, "unknown"),
        ({"train_size": 3}, "no published split"),
        ({"train_size": 3, "seed": 1}, "unknown"),
        ({"test_size": 0.5, "seed": 1}, "unknown"),
        ({"test_size": 0}, "test_size is 0"),
        ({"test_size": -1}, "test_size is -1"),
        ({"test_size": 1.5}, "test_size is 1.5"),
        ({"test_size": float("nan")}, "test_size is nan"),
        ({"test_size": True}, "test_size is True"),
        ({"test_size": "half"}, "test_size is 'half'"),
        ({"test_size": 20}, "leaves 0 training"),
        ({"test_size": 21}, "more than the 20 rows"),
        ({"test_size": 0.5, "train_size": 11}, "more than the 20 rows"),
        ({"leave_groups": 1}, "no groups"),
    ],
)
def test_split_with_too_few_rows_is_rejected(rule, reason):
    with pytest.raises(DataError) as caught:
        split_rows(dataset(), rule, rng())
    assert reason in str(caught.value)


def test_holding_out_all_groups_is_rejected():
    with pytest.raises(DataError, match="leaves 0 training"):
        split_rows(dataset(4, groups=[0, 0, 1, 1]), {"leave_groups": 2}, rng())


@pytest.mark.parametrize(
    ("rows", "test_rows", "sizes"),
    [
        (30, None, (30, 20)),
        (60, None, (60, 40)),
        (30, 40, (30, 40)),
        (30, 50, (30, 40)),
        (30, 7, (30, 7)),
        (60, 7, (60, 7)),
        (99, 99, (60, 40)),
    ],
)
def test_subset_has_the_requested_training_and_test_sizes(rows, test_rows, sizes):
    train, test = np.arange(0, 60), np.arange(60, 100)
    some, others = draw_subset(train, test, rows, rng(), test_rows)
    assert (len(some), len(others)) == sizes
    assert set(some) <= set(train)
    assert set(others) <= set(test)
    assert (np.diff(some) > 0).all()
    np.testing.assert_array_equal(some, draw_subset(train, test, rows, rng())[0])


def test_last_rows_form_the_test_set():
    train, test = split_rows(dataset(10), {"last": 0.3}, rng())
    assert (train.tolist(), test.tolist()) == (list(range(7)), [7, 8, 9])
    assert split_rows(dataset(10), {"last": 4}, rng())[1].tolist() == [6, 7, 8, 9]


@given(n=st.integers(4, 60), blocks=st.integers(2, 12), share=st.floats(0.05, 0.95))
def test_blocks_of_consecutive_rows_are_not_split(n, blocks, share):
    blocks = min(blocks, n)
    n_test = max(1, round(share * blocks))
    rule = {"blocks": blocks, "test_size": share}
    if n_test == blocks:
        with pytest.raises(DataError, match="leaves 0 training"):
            split_rows(dataset(n), rule, rng())
        return
    train, test = split_rows(dataset(n), rule, rng())
    assert sorted([*train, *test]) == list(range(n))
    sizes = [len(part) for part in np.array_split(np.arange(n), blocks)]
    assert min(sizes) * n_test <= len(test) <= max(sizes) * n_test
    cuts = np.count_nonzero(np.diff(np.isin(np.arange(n), test)))
    assert cuts <= 2 * n_test
    # A block of the test side ends where the next block begins, never within one.
    ends = {-(-n * number // blocks) for number in range(blocks + 1)}
    assert {int(i) + 1 for i in np.flatnonzero(np.diff(np.isin(np.arange(n), test)))} <= ends


def test_stratified_split_keeps_class_proportions():
    y = np.repeat([0, 1, 2], [60, 30, 10])
    data = Dataset("d", np.zeros((100, 1)), y, "multiclass", ("a", "b", "c"), None, None, "0")
    drawn = set()
    for seed in range(5):
        train, test = split_rows(data, {"stratified": 0.3}, rng(seed))
        assert np.bincount(y[test]).tolist() == [18, 9, 3]
        assert sorted([*train, *test]) == list(range(100))
        drawn.add(tuple(test))
    assert len(drawn) == 5


def test_invalid_number_of_blocks_is_rejected():
    few = "The split needs 21 rows, one for each of its blocks"
    for blocks, message in ((1, "blocks is"), (21, few), (2.5, "blocks is"), (True, "blocks is")):
        with pytest.raises(DataError, match=message):
            split_rows(dataset(), {"blocks": blocks, "test_size": 1}, rng())


@pytest.mark.parametrize(
    "rule",
    [
        "given",
        {"test_size": 0.3},
        {"test_size": 7, "train_size": 0.2},
        {"train_size": 5},
        {"stratified": 0.3},
        {"held_out": 0.3},
        {"held_out": 5, "train_size": 9},
        {"leave_groups": 0.5},
        {"last": 6},
        {"blocks": 5, "test_size": 0.4},
        {"blocks": 5, "test_size": 2},
    ],
)
def test_planned_number_of_training_rows_equals_the_number_used(rule):
    groups = None if "held_out" in rule else np.arange(20) // 2
    data = dataset(20, n_given_train=12, groups=groups)
    train, _ = split_rows(data, rule, rng())
    assert len(train) == count_training_rows(20, 12, rule)


@pytest.mark.parametrize(
    ("rule", "fixed"),
    [
        ("given", True),
        ({"last": 0.3}, True),
        ({"column": "part"}, True),
        ({"train_size": 5}, False),
        ({"test_size": 0.5}, False),
        ({"blocks": 5, "test_size": 2}, False),
    ],
)
def test_fixed_splits_are_equal_in_all_trials(rule, fixed):
    data = dataset(20, n_given_train=12)
    assert is_fixed_split(rule) == fixed
    first, *drawn, again = (tuple(split_rows(data, rule, rng(s))[0]) for s in (0, 1, 2, 3, 0))
    assert first == again
    assert (set(drawn) == {first}) == fixed


def test_whole_groups_are_held_out():
    data = dataset(40, groups=np.repeat(np.arange(8), 5))
    for seed in range(5):
        train, test = split_rows(data, {"held_out": 12, "train_size": 9}, rng(seed))
        assert not set(data.groups[train]) & set(data.groups[test])
        assert (len(train), len(test)) == (9, 15)


def test_equal_rows_stay_together_if_the_catalog_requires_it():
    data = dataset(40, groups=[*np.arange(30), *np.arange(10)])
    apart = {"test_size": 12, "train_size": 20}
    together = replace(data, equal_rows_together=True)
    for seed in range(5):
        train, test = split_rows(together, apart, rng(seed))
        assert not set(data.groups[train]) & set(data.groups[test])
        assert len(train) == 20
        assert len(test) in (12, 13)
    with pytest.raises(DataError, match="no groups"):
        split_rows(together, {"leave_groups": 2}, rng())
    train, test = split_rows(data, apart, rng())
    assert set(data.groups[train]) & set(data.groups[test])


def test_held_out_rows_are_spread_over_the_classes():
    data = dataset(40)
    data = replace(data, task="multiclass", y=np.repeat([0, 1, 2, 3], [28, 9, 2, 1]))
    train, test = split_rows(data, {"held_out": 10}, rng())
    assert sorted([*train, *test]) == list(range(40))
    assert np.bincount(data.y[test], minlength=4).tolist() == [7, 2, 1, 0]
    few, same = split_rows(data, {"held_out": 10, "train_size": 5}, rng())
    assert same.tolist() == test.tolist()
    assert set(data.y[few]) == {0, 1, 2, 3}
    assert set(few) < set(train)
    assert len({tuple(split_rows(data, {"held_out": 10}, rng(seed))[1]) for seed in range(4)}) == 4


@pytest.mark.parametrize("first", [None, 12, 99])
def test_folds_equal_scikit_learn_folds_of_permuted_rows(first):
    rule = {"folds": 3, "seed": 42} | ({} if first is None else {"first_permuted": first})
    rows = np.arange(20)
    if first:
        np.random.seed(42)  # noqa: NPY002
        rows = np.random.permutation(20)[:first]  # noqa: NPY002
    expected = KFold(3, shuffle=True, random_state=42).split(rows)
    sides = [split_rows(dataset(20), rule, rng(trial), trial) for trial in range(4)]
    for (train, test), (rest, held) in zip(sides, expected, strict=False):
        assert train.tolist() == sorted(rows[rest])
        assert test.tolist() == sorted(rows[held])
    assert sides[3][1].tolist() == sides[0][1].tolist()
    assert count_training_rows(20, None, rule) == len(sides[2][0])
    assert not is_fixed_split(rule)


@pytest.mark.parametrize(
    ("folds", "message"),
    [(1, "folds is"), (21, "The split needs 21 rows, one for each of its folds")],
)
def test_invalid_number_of_folds_is_rejected(folds, message):
    with pytest.raises(DataError, match=message):
        split_rows(dataset(20), {"folds": folds, "seed": 0}, rng())


def test_rows_with_equal_times_are_all_in_training_or_all_in_test():
    times = np.array([3, 1, 2, 2, 1, 3, 2, 4])
    ((train, test),) = split_by_time(times, 2)
    assert (train.tolist(), test.tolist()) == ([1, 2, 3, 4, 6], [0, 5, 7])
    first, last = split_by_time(times, 3, folds=2)
    assert [side.tolist() for side in first] == [[1, 4], [2, 3, 6]]
    assert [side.tolist() for side in last] == [[1, 2, 3, 4, 6], [0, 5, 7]]
    ((train, test),) = split_by_time(np.zeros(4), 1)
    assert (train.tolist(), test.tolist()) == ([], [0, 1, 2, 3])
