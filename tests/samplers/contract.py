"""What rfbench's own samplers promise beside `rfbench.checking`: scikit-learn's interface."""

from __future__ import annotations

import inspect
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from rfbench.checking.samplers import (
    CHECK_ROWS,
    CHECK_TARGET,
    MAPS,
    NEW_ROWS,
    FeatureMapUnderTest,
    expect_equal,
    expect_finite_columns,
    expect_true,
)
from rfbench.errors import MethodError
from rfbench.rows import RowSource
from rfbench.samplers import RandomFeatures
from tests.support.contracts import Contract, failed_of_scikit_learn

FEWEST_CHECKS = 45
REFUSED = {"SSR": "needs at least 3 columns"}  # rows that the checks of scikit-learn have


def small(subject: FeatureMapUnderTest) -> RandomFeatures:
    """Build one that 10 to 80 rows, as the checks of scikit-learn have them, can serve."""
    usual = {"pool_size": 12, "bandwidth": "median"}
    kwargs = {"n_components": 3, **usual, **subject.options}
    signature = inspect.signature(subject.thing).parameters
    return subject.thing(**{name: value for name, value in kwargs.items() if name in signature})


def passes_the_checks_of_scikit_learn(subject: FeatureMapUnderTest) -> None:
    """It passes scikit-learn's `check_estimator`: clone, pickle, shapes, wrong rows.

    Use the decorator `sampler`, declare all parameters with `parameter`, and compute everything in
    `_draw`, so that the base class checks the rows. An exception is listed in `REFUSED`.
    """
    failed = failed_of_scikit_learn(small(subject), FEWEST_CHECKS, {})
    refused = REFUSED.get(subject.thing.__name__)
    for name, why in failed.items():
        expect_true(refused and refused in why, f"{name}: {why}")


def works_in_a_pipeline_with_frames_and_a_grid(subject: FeatureMapUnderTest) -> None:
    """In a Pipeline it takes and gives DataFrames, and GridSearchCV finds its parameters.

    Inherit `RandomFeatures`, and override neither `fit`, `transform` nor `get_feature_names_out`.
    """
    frame = pd.DataFrame(CHECK_ROWS, columns=list("abcde"), index=range(100, 160))
    steps = [("features", small(subject).set_output(transform="pandas")), ("ridge", Ridge())]
    grid = {"features__n_components": [3]}
    search = GridSearchCV(Pipeline(steps), grid, cv=3, error_score="raise").fit(frame, CHECK_TARGET)
    fitted = search.best_estimator_[0]
    features = fitted.transform(frame)
    expect_equal(features.columns, fitted.get_feature_names_out(), "the names of the columns")
    expect_equal(features.index, frame.index, "the index of the features")
    expect_finite_columns(search.predict(frame)[:, None])


def rows_on_disk_give_the_same_features(subject: FeatureMapUnderTest, feature_map: str) -> None:
    """Rows that are read block by block give the features of rows in memory.

    In `_draw`, use only the shape of X, or read the rows in blocks, with `iterate_row_blocks` of
    `rfbench.samplers.projected`.
    """
    sampler = subject.make(feature_map=feature_map)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "rows.npy")
        np.save(file, CHECK_ROWS)
        rows = RowSource(file, CHECK_ROWS.shape[1], np.arange(len(CHECK_ROWS)))
        features = subject.fit(sampler, rows).transform(NEW_ROWS)
    expect_equal(features, subject.compute_features(feature_map=feature_map), "the features")


def fits_a_single_row(subject: FeatureMapUnderTest, feature_map: str) -> None:
    """A fit on one row works and is finite.

    Limit sample sizes to the number of rows, and do not divide by a spread that may be 0.
    """
    sampler = subject.fit(subject.make(feature_map=feature_map), CHECK_ROWS[:1], CHECK_TARGET[:1])
    features = sampler.transform(NEW_ROWS)
    usual = subject.compute_features(feature_map=feature_map).shape
    expect_true(features.shape == usual, f"the shape is {features.shape} in place of {usual}")
    expect_finite_columns(features)


def wrong_parameters_are_refused_by_fit_too(subject: FeatureMapUnderTest) -> None:
    """Parameters out of range are refused by name.

    Declare each parameter with `parameter(default, rule)`. In `_draw`, raise MethodError.
    """
    for wrong in ({"n_components": 0}, {"bandwidth": np.nan}, {"feature_map": "pared"}):
        (name,) = wrong
        with pytest.raises(MethodError, match=f"^{name} is"):
            subject.fit(subject.thing(**{"bandwidth": 2.0, **subject.options, **wrong}))


CONTRACT = Contract.of(FeatureMapUnderTest, __name__, feature_map=MAPS)
