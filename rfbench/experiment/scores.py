"""The metrics of a trial, computed from its predictions for the test set."""

from __future__ import annotations

from typing import Any

import numpy as np

from rfbench import metrics
from rfbench.arrays import Array
from rfbench.clock import Clock
from rfbench.datasets import Prepared
from rfbench.solvers.fitted_model import FittedModel

# An error counts as better than chance only if it is at least this number of standard errors below
# the error of chance. About two of 100 models that learned nothing are then wrongly called better
# than chance. With twice the value, only one of 30,000 such models would be called better, but more
# models with a small real effect would be called chance.
CHANCE_ERRORS = 2


def compute_decisions(model: FittedModel, data: Prepared, clock: Clock) -> Array:
    """Return the decision values of the test set.

    Values that the `fit` of the model has already computed are reused.
    """
    if not model.predicts:
        return np.empty((0, 0))
    if model.report_.evaluation_decisions is not None:
        return np.asarray(model.report_.evaluation_decisions)
    with clock.time_part("test"):
        return np.asarray(model.compute_decisions(data.X_test))


def compute_test_metrics(model: FittedModel, data: Prepared, values: Array) -> dict[str, Any]:
    """Return all metrics of the test set that apply to the task, given the decision values."""
    if not model.predicts:
        return {}
    if data.task == "regression":
        result = metrics.compute_regression_metrics(values[:, 0], data.y_test)
    else:
        result = metrics.compute_classification_metrics(model.predict_codes(values), data.y_test)
        coded = model.encode_labels(data.y_test)
        if coded is not None:
            result.update(metrics.compute_regression_metrics(values, coded))
    return {**result, "at_chance": bool(note_chance_level(result, data))}


def note_chance_level(scores: dict[str, Any], data: Prepared) -> list[str]:
    """Return a list with a note if the predictions for the test set are not better than chance.

    For a regression, chance is the mean of the test targets, for which r2 is 0. For classification,
    chance is the prediction of the most frequent class of the training set. The error then has to
    be more than two standard errors below the error of chance.
    """
    if data.task == "regression":
        return ["at chance: no better than predicting the mean"] if scores["r2"] <= 0 else []
    labels, counts = np.unique(data.y_train, return_counts=True)
    chance = float(np.mean(data.y_test != labels[np.argmax(counts)]))
    spread = (chance * (1 - chance) / len(data.y_test)) ** 0.5
    if scores["error"] / 100 < chance - CHANCE_ERRORS * spread or chance == 0:
        return []
    return [f"at chance: predicting the most frequent class has an error of {100 * chance:.3g} %"]
