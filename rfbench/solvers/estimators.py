"""Base classes of solvers for regression and classification: target columns and predictions."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets

from rfbench.arrays import Array, Rows
from rfbench.errors import MethodError
from rfbench.solvers.base import Solver
from rfbench.solvers.coding import ONE_VS_REST, Codes, Coding, Targets
from rfbench.solvers.probabilities import calibrate_probabilities


class Regressor(RegressorMixin, Solver):  # type: ignore[misc]
    """A solver for real targets with one or several columns."""

    numeric_target: ClassVar[bool] = True

    def _targets(self, y: Any) -> Targets:
        self._shape = np.shape(y)[1:]
        return Targets(np.asarray(y, dtype=np.float64).reshape(len(y), -1))

    def _truth(self, y: Any) -> Array:
        return np.asarray(y, dtype=np.float64).reshape(-1, *(self._shape or (1,)))

    def _losses(self, decisions: Array, truth: NDArray[Any]) -> Array:
        return np.asarray(np.mean((decisions - truth) ** 2, axis=(1, 2)))

    def predict(self, X: Rows) -> Array:
        """Return the predictions for the rows X, with the same columns as the target y of `fit`."""
        values = self.compute_decisions(X)
        return values if self._shape else values[:, 0]

    def __sklearn_tags__(self) -> Any:
        """Return the tags that describe the solver to scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class Classifier(ClassifierMixin, Solver):  # type: ignore[misc]
    """A solver for class labels, which are coded as decision columns.

    Attributes
    ----------
    classes_ : array of shape (k,)
        The distinct labels of the training set in ascending order.
    coding_ : Coding
        The coding of the labels as decision columns.
    """

    numeric_target: ClassVar[bool] = False
    fits_coded_labels: ClassVar[bool] = False
    multi_class: ClassVar[bool] = True

    def _targets(self, y: Any) -> Targets:
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        k = len(self.classes_)
        if k < 2:
            raise MethodError(
                f"The training set has only one class: {self.classes_[0]}.",
                "A classifier needs at least 2 classes; the number of classes has to be greater "
                "than one; got 1 class.",
            )
        if k > 2 and not self.multi_class:
            raise MethodError(
                f"{type(self).__name__} supports two classes, but there are {k}.",
                f"Only binary classification is supported. The type of the target is {k} classes.",
                "Use a solver for several classes, such as svm.",
            )
        self.coding_ = Coding(k, getattr(self, "multiclass", ONE_VS_REST))
        return Targets(self.coding_.encode(codes), codes, self.coding_)

    def _losses(self, decisions: Array, truth: NDArray[Any]) -> Array:
        return np.asarray(np.mean(self.predict_codes(decisions) != truth, axis=-1))

    def _truth(self, y: Any) -> Codes:
        """Return the class codes of the labels `y`.

        The code is -1 for a label that is not in the training set.
        """
        labels = np.asarray(y)
        codes = np.minimum(np.searchsorted(self.classes_, labels), len(self.classes_) - 1)
        return np.where(self.classes_[codes] == labels, codes, -1)

    def predict_codes(self, decisions: Array) -> Codes:
        """Return the class codes that are predicted from decision values of shape (..., t)."""
        return self.coding_.decode(decisions)

    def encode_labels(self, labels: Any) -> Array | None:
        """Return `labels` coded as columns of -1 and +1, shape (n, t).

        Return None if the model is not fitted on such columns, or if the columns are pairs of
        classes.
        """
        if not self.fits_coded_labels or self.coding_.is_one_vs_one:
            return None
        return self.coding_.encode(self._truth(labels))

    def compute_probabilities(self, X: Rows, codes: NDArray[Any], decisions: Array) -> Array:
        """Return calibrated class probabilities of the rows X, shape (n, K).

        The probabilities are computed from the decision values, which are not logits. Each half of
        the rows is calibrated with the class codes of the other half, so that the class of a row
        does not affect its own probabilities.
        """
        return calibrate_probabilities(self.coding_.compute_scores(decisions), codes)

    def decision_function(self, X: Rows) -> Array:
        """Return the decision values of the n rows X.

        The shape is (n,) for two classes, and (n, k) for k > 2 classes.
        """
        # Compute the decision values first. If the solver is not fitted, this call raises
        # scikit-learn's NotFittedError.
        decisions = self.compute_decisions(X)
        values = self.coding_.compute_scores(decisions)
        return values[:, 0] if self.coding_.k == 2 else values

    def predict(self, X: Rows) -> NDArray[Any]:
        """Return the predicted class label of each row of X, shape (n,)."""
        values = self.compute_decisions(X)
        return np.asarray(self.classes_[self.predict_codes(values)])

    def __sklearn_tags__(self) -> Any:
        """Return the tags that describe the solver to scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.multi_class
        return tags
