"""Tables whose parts have other columns than the whole: preparation, folds and the refit."""

import numpy as np
import pandas as pd
import pytest

from rfbench.choosing.rounds import FEATURES, Candidate, Rounds
from rfbench.choosing.table import make_labeled_table, split_without_rare_classes
from rfbench.datasets.preparation import Preparation
from tests.support.generated_tables import KINDS, generated, near_constant
from tests.support.nightly import at_night


def rounds_of(X, y, folder, **changes):
    table, splits, *_ = split_without_rare_classes(
        make_labeled_table(X, y, groups="none", time="none"), 60.0
    )
    return Rounds(table, splits, np.inf, folder, **changes)


@pytest.mark.parametrize("tables", [3, *at_night(20)])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_each_fold_and_the_refit_have_the_same_encoded_columns(kind, tables, tmp_path):
    """A column that is constant in a fold is 0 on both sides; three tables have each target."""
    for seed in range(tables):
        by = rounds_of(*generated(kind, seed), tmp_path)
        X = by.table.X
        names = Preparation(columns=by.columns).fit(X.iloc[by.train]).get_feature_names_out()
        assert len(names)
        for fit, held in by.splits:
            prepare = Preparation(columns=by.columns)
            rows = prepare.fit_transform(X.iloc[fit])
            np.testing.assert_array_equal(prepare.get_feature_names_out(), names)
            np.testing.assert_array_equal(prepare.transform(X.iloc[fit]), rows)
            both = np.vstack([rows, prepare.transform(X.iloc[held])])
            assert np.isfinite(both).all()
            assert not both[:, np.ptp(rows, axis=0) == 0].any()
        refit = by.make_model(Candidate("", "constant", "sklearn.dummy.DummyRegressor"))[0].fit(X)
        np.testing.assert_array_equal(refit.get_feature_names_out(), names)
        assert refit.transform(X).shape == (len(X), len(names))


def test_encoded_columns_are_learned_from_the_table_if_not_given(tmp_path):
    """As they are for the runs, and to the same values as with its own columns."""
    for kind in KINDS:
        table, _ = generated(kind, 0)
        alone = Preparation()
        rows = alone.fit_transform(table)
        given = Preparation(columns=alone.columns_)
        np.testing.assert_array_equal(given.fit_transform(table), rows)
        assert given.get_feature_names_out().tolist() == alone.get_feature_names_out().tolist()
        assert (given.notes_, given.kinds_) == (alone.notes_, alone.kinds_)


def test_unseen_categories_and_gaps_are_replaced_by_means(tmp_path):
    first = pd.DataFrame({"w": ["u", "v", "u", "v"], "a": [1.0, 2.0, 3.0, 4.0]})
    later = pd.DataFrame({"w": ["u", "new", "u", "v"], "a": [1.0, 2.0, None, 6.0]})
    columns = Preparation().fit(first).columns_
    prepare = Preparation(columns=columns)
    np.testing.assert_allclose(prepare.fit_transform(later)[:, 1], [0, 1 / 3, 0, 1])
    np.testing.assert_allclose(prepare.transform(later)[:, 0], [1, 2, 3, 6])


def test_learned_metrics_are_averaged_only_over_equal_columns(tmp_path):
    by = rounds_of(*generated(near_constant, 0), tmp_path)
    setting = Candidate("learnt", FEATURES, "", {"n_components": 9, "metric": "diagonal"})
    said = [
        {"scores": by.table.y[held, None], "root": np.ones(4), "chosen": [1.0, 1.0], "seconds": 1.0,
         "fit": 1.0} for _, held in by.splits[:-1]
    ]  # fmt: skip
    for fold in range(len(said)):
        by._pack(setting, fold, by.n)
    assert {*map(len, by.names.values())} == {len(by.columns.kept)}
    assert by._candidate(setting, said, by.n).basis[-1].tolist() == [1.0] * 4
    by.names[0] = ("a", "b", "c", "another")
    with pytest.raises(ValueError, match="different columns"):
        by._candidate(setting, said, by.n)
