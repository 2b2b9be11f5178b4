"""What a benchmark relies on in transformers, estimators and functions from elsewhere."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone, is_classifier

from rfbench.checking.promises import Contract, expect, expect_finite, expect_same
from rfbench.checking.samplers import NEW_ROWS, ROWS, TARGET

REAL_TARGET = ROWS @ [1.0, -2.0, 0.5, 0.0, 0.0]


def dense(rows: Any) -> Any:
    """Return rows as an array."""
    return rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)


@dataclass(frozen=True)
class ForeignSubject:
    """A class or function from elsewhere, and the parameters that it is called with."""

    thing: Any
    options: Mapping[str, Any] = field(default_factory=dict)

    def make(self, **shared: Any) -> Any:
        """Build it with those of the shared parameters that it takes."""
        signature = inspect.signature(self.thing).parameters
        taken = {name: value for name, value in shared.items() if name in signature}
        return self.thing(**{**taken, **self.options})


class TransformerSubject(ForeignSubject):
    """A transformer of scikit-learn's interface; it gets n_components and random_state."""

    target = TARGET

    def build(self) -> Any:
        """Build it with a seed."""
        return self.make(n_components=8, random_state=0)

    def use(self, fitted: Any, new: Any) -> Any:
        """Return the features of rows."""
        return dense(fitted.transform(new))

    def results(self, new: Any = NEW_ROWS) -> Any:
        """Return what rows give after a fit."""
        return self.use(self.build().fit(ROWS, self.target), new)


class PredictorSubject(TransformerSubject):
    """A classifier or regressor of scikit-learn's interface; it gets random_state."""

    @property
    def target(self) -> Any:  # type: ignore[override]
        """Labels for a classifier, else numbers."""
        return TARGET if is_classifier(self.make()) else REAL_TARGET

    def use(self, fitted: Any, new: Any) -> Any:
        """Return what is predicted of rows."""
        return np.asarray(fitted.predict(new))


def features_are_a_matrix_of_finite_numbers(subject: TransformerSubject) -> None:
    """`transform` returns one line of finite numbers per row.

    To do: return an array of shape (n, columns), without NaN or infinity.
    """
    features = subject.results()
    right = features.ndim == 2 and len(features) == len(NEW_ROWS)
    expect(right, f"{len(NEW_ROWS)} rows give the shape {features.shape}")
    expect_finite(features)


def predictions_have_the_form_of_the_target(subject: PredictorSubject) -> None:
    """`predict` returns one label of the target, or one finite number, per row.

    To do: a classifier inherits sklearn.base.ClassifierMixin, so that labels are asked of it.
    """
    predicted, target = subject.results(ROWS), subject.target
    expect(predicted.shape == target.shape, f"the shape is {predicted.shape}, not {target.shape}")
    if target is TARGET:
        strange = sorted(set(predicted.tolist()) - set(TARGET.tolist()), key=str)
        expect(not strange, f"labels that the target does not have are predicted: {strange[:5]}")
    else:
        expect(np.isfinite(predicted).all(), "predictions are NaN or infinite")


def same_seed_same_results(subject: TransformerSubject | PredictorSubject) -> None:
    """The same random_state gives the same features or predictions.

    To do: take a parameter `random_state`, and draw from a generator made of it in `fit`.
    """
    expect_same(subject.results(), subject.results(), "the results of two fits")


def features_are_a_function_of_each_row(subject: TransformerSubject) -> None:
    """The features of a row do not depend on the rows beside it.

    To do: learn in `fit` whatever is a mean, a scale or a rank over rows.
    """
    few, all_rows = subject.results(NEW_ROWS[3:9]), subject.results()[3:9]
    expect_same(few, all_rows, "the features of six rows alone and among twenty", 1e-9)


def rows_are_left_alone(subject: TransformerSubject) -> None:
    """`fit` and `transform` do not write into the rows.

    To do: copy before you centre or scale.
    """
    rows = ROWS.copy()
    subject.use(subject.build().fit(rows, TARGET), rows)
    expect_same(rows, ROWS, "the rows after `fit` and `transform`")


def a_second_fit_forgets_the_first(subject: PredictorSubject) -> None:
    """A second fit gives what a first one would.

    To do: set every fitted attribute anew in `fit`.
    """
    fitted = subject.build().fit(ROWS, subject.target[::-1]).fit(ROWS, subject.target)
    again = subject.use(fitted, NEW_ROWS)
    expect_same(again, subject.results(), "the predictions of a second fit and of a first one")


def clones_and_copies(subject: TransformerSubject | PredictorSubject) -> None:
    """It can be cloned unfitted and pickled fitted.

    To do: inherit sklearn.base.BaseEstimator, let the constructor only store its parameters,
    and keep no lambdas or open files.
    """
    fitted = clone(subject.build()).fit(ROWS, subject.target)
    copy = pickle.loads(pickle.dumps(fitted))
    results, expected = (subject.use(made, NEW_ROWS) for made in (copy, fitted))
    expect_same(results, expected, "the results of a pickle")


class RowsSubject(ForeignSubject):
    """A function that returns data."""

    def load(self) -> tuple[Any, Any]:
        """Return X and y as arrays; of a DataFrame that is returned alone, y is None."""
        data = self.thing(**self.options)
        if isinstance(data, pd.DataFrame):
            return data.to_numpy(), None
        if isinstance(data, dict):
            data = (data["data"], data["target"])
        X, y = data[:2]
        return dense(X), np.asarray(y)


def it_returns_rows_and_a_target(subject: RowsSubject) -> None:
    """It returns `X, y` with as many rows as values, a DataFrame, or a Bunch of scikit-learn.

    To do: return X of shape (n, d) first, and y of length n second.
    """
    X, y = subject.load()
    expect(X.ndim == 2 and X.size, f"the shape of X is {X.shape}")
    if y is not None:
        expect(len(X) == len(y), f"there are {len(X)} rows and {len(y)} values of the target")
        expect(len(np.unique(y)) > 1, "the target is constant")


def it_returns_the_same_rows_again(subject: RowsSubject) -> None:
    """A second call returns the same rows in the same order.

    To do: seed whatever is random, and sort what is read from a folder.
    """
    for first, second in zip(subject.load(), subject.load(), strict=True):
        expect_same(first, second, "the data of two calls")


TRANSFORMER = Contract.of(TransformerSubject)
PREDICTOR = Contract.of(PredictorSubject)
LOADER = Contract.of(RowsSubject)
