"""What a benchmark relies on in transformers, estimators and functions from elsewhere."""

import inspect
import pickle
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from rfbench.testing.samplers import NEW_ROWS, ROWS, TARGET

REAL_TARGET = ROWS @ [1.0, -2.0, 0.5, 0.0, 0.0]


def built(cls: type[Any], options: dict[str, Any], **shared: Any) -> Any:
    """Build what is under test with those of the shared parameters that it takes."""
    signature = inspect.signature(cls).parameters
    taken = {name: value for name, value in shared.items() if name in signature}
    return cls(**{**taken, **options})


def dense(rows: Any) -> Any:
    """Return rows as an array."""
    return rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)


class TransformerContract:
    """Inherit and set `transformer` and its `options`; it gets n_components and random_state."""

    transformer: ClassVar[type[Any]]
    options: ClassVar[dict[str, Any]] = {}

    def make(self, random_state: int = 0) -> Any:
        """Build the transformer."""
        return built(self.transformer, self.options, n_components=8, random_state=random_state)

    def features(self, new: Any = NEW_ROWS, random_state: int = 0) -> Any:
        """Return the features of rows after a fit."""
        return dense(self.make(random_state).fit(ROWS, TARGET).transform(new))

    def test_features_are_a_matrix_of_finite_numbers(self) -> None:
        """`transform` returns one line of finite numbers per row.

        To do: return an array of shape (n, columns), without NaN or infinity.
        """
        features = self.features()
        assert features.ndim == 2
        assert len(features) == len(NEW_ROWS)
        assert np.isfinite(features).all()

    def test_same_seed_same_features(self) -> None:
        """The same random_state gives the same features.

        To do: take a parameter `random_state`, and draw from a generator made of it in `fit`.
        """
        assert_array_equal(self.features(), self.features())

    def test_features_are_a_function_of_each_row(self) -> None:
        """The features of a row do not depend on the rows beside it.

        To do: learn in `fit` whatever is a mean, a scale or a rank over rows.
        """
        assert_allclose(self.features(NEW_ROWS[3:9]), self.features()[3:9], atol=1e-9)

    def test_rows_are_left_alone(self) -> None:
        """`fit` and `transform` do not write into the rows.

        To do: copy before you centre or scale.
        """
        rows = ROWS.copy()
        self.make().fit(rows, TARGET).transform(rows)
        assert_array_equal(rows, ROWS)

    def test_clones_and_copies(self) -> None:
        """It can be cloned unfitted and pickled fitted.

        To do: inherit sklearn.base.BaseEstimator, let the constructor only store its parameters,
        and keep no lambdas or open files.
        """
        fitted = clone(self.make()).fit(ROWS, TARGET)
        copy = pickle.loads(pickle.dumps(fitted))
        assert_array_equal(dense(copy.transform(NEW_ROWS)), dense(fitted.transform(NEW_ROWS)))


class EstimatorContract:
    """Inherit and set `estimator` and its `options`; it gets random_state."""

    estimator: ClassVar[type[Any]]
    options: ClassVar[dict[str, Any]] = {}

    def predicted(self, target: Any = None, estimator: Any = None) -> Any:
        """Return what a fit predicts."""
        made = built(self.estimator, self.options, random_state=0)
        return (
            (estimator or made).fit(ROWS, self.target if target is None else target).predict(ROWS)
        )

    @property
    def target(self) -> Any:
        """Labels for a classifier, else numbers."""
        from sklearn.base import is_classifier

        made = built(self.estimator, self.options)
        return TARGET if is_classifier(made) else REAL_TARGET

    def test_predictions_have_the_form_of_the_target(self) -> None:
        """`predict` returns one label of the target, or one finite number, per row.

        To do: a classifier inherits sklearn.base.ClassifierMixin, so that labels are asked of it.
        """
        predicted = np.asarray(self.predicted())
        assert predicted.shape == self.target.shape
        if self.target is TARGET:
            assert set(predicted) <= set(TARGET)
        else:
            assert np.isfinite(predicted).all()

    def test_same_seed_same_predictions(self) -> None:
        """The same random_state gives the same predictions.

        To do: take a parameter `random_state`, and draw from a generator made of it in `fit`.
        """
        assert_array_equal(self.predicted(), self.predicted())

    def test_a_second_fit_forgets_the_first(self) -> None:
        """A second fit gives what a first one would.

        To do: set every fitted attribute anew in `fit`.
        """
        made = built(self.estimator, self.options, random_state=0)
        self.predicted(self.target[::-1], made)
        assert_array_equal(self.predicted(estimator=made), self.predicted())

    def test_clones_and_copies(self) -> None:
        """It can be cloned unfitted and pickled fitted.

        To do: inherit sklearn.base.BaseEstimator, let the constructor only store its parameters,
        and keep no lambdas or open files.
        """
        fitted = clone(built(self.estimator, self.options)).fit(ROWS, self.target)
        copy = pickle.loads(pickle.dumps(fitted))
        assert_array_equal(copy.predict(NEW_ROWS), fitted.predict(NEW_ROWS))


class RowsContract:
    """Inherit and set `rows` (in `staticmethod`) and its `options`."""

    rows: ClassVar[Any]
    options: ClassVar[dict[str, Any]] = {}

    def load(self) -> tuple[Any, Any]:
        """Return X and y as arrays; of a DataFrame that is returned alone, y is None."""
        data = self.rows(**self.options)
        if isinstance(data, pd.DataFrame):
            return data.to_numpy(), None
        if isinstance(data, dict):
            data = (data["data"], data["target"])
        X, y = data[:2]
        return dense(X), np.asarray(y)

    def test_it_returns_rows_and_a_target(self) -> None:
        """It returns `X, y` with as many rows as values, a DataFrame, or a Bunch of scikit-learn.

        To do: return X of shape (n, d) first, and y of length n second.
        """
        X, y = self.load()
        assert X.ndim == 2
        assert X.size
        if y is not None:
            assert len(X) == len(y)
            assert len(np.unique(y)) > 1

    def test_it_returns_the_same_rows_again(self) -> None:
        """A second call returns the same rows in the same order.

        To do: seed whatever is random, and sort what is read from a folder.
        """
        for first, second in zip(self.load(), self.load(), strict=True):
            assert_array_equal(first, second)
