"""Optional measurements of a trial, which are computed after its fit and not timed.

A measurement is a function of a `Fitted` trial. The function returns columns of the result row or
the content of files, or an empty dictionary if the configuration does not request the measurement.
A new measurement needs the function, an entry in `EXTRAS`, a key of the configuration in
`config/schema.py`, and columns in `results/schema.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rfbench import metrics
from rfbench.arrays import Array
from rfbench.clock import Clock
from rfbench.errors import MethodError
from rfbench.experiment.fitting import ResolvedTrial, fit_features, fit_model
from rfbench.results import kept_features as kept_file
from rfbench.results import predictions as predictions_file
from rfbench.samplers.base import FittedFeatures
from rfbench.solvers.fitted_model import FittedModel


@dataclass(frozen=True)
class Fitted:
    """A trial with fitted features and a fitted model, for optional measurements.

    The measurements must not change the fitted objects.

    Attributes
    ----------
    resolved : ResolvedTrial
        The trial with its prepared rows.
    bandwidth : float or None
        The selected bandwidth.
    M : int or None
        The number of features.
    features : FittedFeatures
    model : FittedModel
        The fitted model. Without a solver, there are no predictions, and only measurements that
        need no predictions are computed.
    decisions : array of shape (n_test, t)
        The decision values of the test set.
    """

    resolved: ResolvedTrial
    bandwidth: float | None
    M: int | None
    features: FittedFeatures
    model: FittedModel
    decisions: Array


def measure_kernel_errors(fitted: Fitted) -> dict[str, Any]:
    """Return a dictionary with the errors of the kernel approximation on random rows.

    Each error is a mean over features with different random seeds. The dictionary is empty if the
    errors are not requested, or if the features do not approximate a kernel.
    """
    trial, features = fitted.resolved.trial, fitted.features
    count = trial.experiment.kernel_error_rows
    if not count or not features.approximates_kernel:
        return {}
    rows, exact = fitted.resolved.context.compute_exact_kernel(trial, features.kernel_, count)
    every = [
        exact.compute_errors(
            np.asarray(drawn.transform(rows), dtype=np.float64), drawn.kernel_constant
        )
        for drawn in (features, *_drawn_again(fitted))
    ]
    return {name: float(np.mean([errors[name] for errors in every])) for name in every[0]}


def _drawn_again(fitted: Fitted) -> Iterator[FittedFeatures]:
    """Yield copies of the trial's sampler that are fitted with other random seeds."""
    resolved = fitted.resolved
    trial, seed = resolved.trial, resolved.features_seed
    for repeat in range(1, trial.experiment.kernel_error_repeats):
        own = int(np.random.SeedSequence([seed, repeat]).generate_state(1)[0])
        sampler = resolved.make_sampler(trial.sampler, fitted.M or 1, fitted.bandwidth, own)
        if sampler.needs_target:
            raise MethodError(
                f"{trial.sampler.name} uses the target.",
                "Kernel errors can be averaged over several draws only for features that do "
                "not use the target.",
                "Remove kernel_error_repeats.",
            )
        yield sampler.fit(resolved.data.X_train)


def list_kept_features(fitted: Fitted) -> dict[str, Any]:
    """Return a dictionary with the features that the sampler has selected from its candidates.

    The value contains the lines of the file `kept.csv`. The dictionary is empty if the lines are
    not requested, or if the sampler does not select features.
    """
    trial, features = fitted.resolved.trial, fitted.features
    if not trial.experiment.kept_features or not features.keeps_some:
        return {}
    return {kept_file.KEPT_FEATURES_KEY: make_kept_feature_rows(features, trial.number, fitted.M)}


def make_kept_feature_rows(
    sampler: FittedFeatures, trial: int, M: int | None
) -> list[dict[str, Any]]:
    """Return the lines of the file `kept.csv`, one per selected feature.

    The lines are sorted by decreasing weight. ``feature`` is the index of the feature among the
    candidate features. For the linear kernel, it is the index of a coordinate. ``w1`` to ``wd`` are
    the frequency of the feature. ``b`` is its offset, if the feature map is ``offset``. ``weight``
    is its weight q.
    """
    numbers, features, weights = sampler.kept_features()
    coordinate = features.feature == "coordinate"
    names = features.frequencies if coordinate else numbers
    lines = []
    for i, (name, weight) in enumerate(zip(names, weights, strict=True)):
        line: dict[str, Any] = {"trial": trial, "M": M, "feature": int(name)}
        if not coordinate:
            line |= zip(kept_file.FREQUENCY, features.frequencies[:, i].tolist(), strict=False)
            line |= {} if features.offsets is None else {"b": float(features.offsets[i])}
        lines.append(line | {"weight": float(weight)})
    return lines


def store_predictions(fitted: Fitted) -> dict[str, Any]:
    """Return the predictions for the test set, and metrics of the class probabilities."""
    data, model = fitted.resolved.data, fitted.model
    if not fitted.resolved.trial.experiment.predictions or not model.predicts:
        return {}
    arrays = {"rows": data.test_rows, "truth": data.y_test, "predictions": fitted.decisions}
    arrays |= model.report_.arrays
    if data.task == "regression":
        return {predictions_file.PREDICTIONS_KEY: predictions_file.encode_arrays(arrays)}
    codes = model.predict_codes(fitted.decisions)
    shares = model.compute_probabilities(data.X_test, data.y_test, fitted.decisions)
    arrays["probabilities"] = np.eye(len(data.classes))[codes] if shares is None else shares
    found = metrics.compute_probability_metrics(arrays["probabilities"], codes, data.y_test)
    return {**found, predictions_file.PREDICTIONS_KEY: predictions_file.encode_arrays(arrays)}


def time_refit(fitted: Fitted) -> dict[str, Any]:
    """Fit the trial again with the selected settings, and return the time of this fit.

    The fit computes the features and fits the model with a single penalty, without folds.
    """
    resolved, clock = fitted.resolved, Clock()
    if not resolved.trial.experiment.refit_time or not fitted.model.predicts:
        return {}
    model = fitted.model.with_selected_settings()
    again = resolved.with_M(fitted.M)
    fit = fit_features(again, model, fitted.bandwidth, clock)
    fit_model(again, model, fit.features, clock)
    return {
        "t_refit": round(sum(clock.wall.values()) - clock.wall["test"], 6),
        "cpu_refit": round(sum(clock.cpu.values()) - clock.cpu["test"], 6),
    }


def measure_training_error(fitted: Fitted) -> dict[str, Any]:
    """Return the error on the training set.

    The error is the misclassification rate in %, or the relative squared error for a regression.
    """
    data, model = fitted.resolved.data, fitted.model
    if not fitted.resolved.trial.experiment.train_error or not model.predicts:
        return {}
    values = model.compute_decisions(data.X_train)
    if data.task == "regression":
        error = metrics.compute_regression_metrics(values[:, 0], data.y_train)[
            "relative_squared_error"
        ]
    else:
        error = metrics.compute_classification_metrics(model.predict_codes(values), data.y_train)[
            "error"
        ]
    return {"train_error": error}


EXTRAS: tuple[Callable[[Fitted], dict[str, Any]], ...] = (
    measure_kernel_errors,
    list_kept_features,
    store_predictions,
    time_refit,
    measure_training_error,
)
