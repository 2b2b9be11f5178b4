"""Fits of the features and the model of a trial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from rfbench.arrays import Rows
from rfbench.clock import Clock
from rfbench.config.build import (
    describe_method,
    make_sampler,
    make_solver,
    make_solver_of_first_task,
)
from rfbench.config.specs import SamplerSpec
from rfbench.datasets import Prepared
from rfbench.experiment.context import Context
from rfbench.experiment.plan import Trial, draw_integer_seed
from rfbench.samplers.base import FittedFeatures, NoFeatures, RandomFeatures, Shared
from rfbench.samplers.elsewhere import Method
from rfbench.solvers.fitted_model import FittedModel
from rfbench.solvers.folds import NESTED, ONCE, FoldFit

# Options of a fit whose time is measured. The fit does not reuse a metric that the bandwidth search
# has learned, because the time of learning the metric would be missing. Features that the sampler
# computes for its scores are stored, so that the solver does not compute them again.
ALONE = Shared(keeps_columns=True)


def import_methods(trial: Trial) -> dict[str, Method]:
    """Import the code of a trial's samplers and solver, and return the samplers by their labels."""
    specs = [trial.sampler, *([trial.reference] if trial.M is None else [])]
    make_solver_of_first_task(trial.experiment)
    return {spec.label: describe_method(spec) for spec in specs}


@dataclass(frozen=True)
class ResolvedTrial:
    """A trial with its prepared rows and with the imported classes of its samplers.

    The classes are imported once. Their objects are built again for each fit.
    """

    trial: Trial
    context: Context
    data: Prepared
    methods: Mapping[str, Method]

    @classmethod
    def resolve(cls, trial: Trial, context: Context) -> ResolvedTrial:
        """Prepare the rows of a trial, and import the classes of its samplers and its solver.

        The length scale of a user-defined sampler is also measured, so that the time of this
        measurement is not counted.
        """
        methods = import_methods(trial)
        data = context.prepare(trial)
        for method in methods.values():  # measure both properties before any clock runs
            method.formula  # noqa: B018
            method.find_length_scale(data.X_train.shape[1])
        return cls(trial, context, data, methods)

    def with_M(self, M: int | None) -> ResolvedTrial:
        """Return a copy of the trial with the number of features M."""
        return replace(self, trial=replace(self.trial, M=M))

    @property
    def features_seed(self) -> int:
        """Random seed of the features, which all samplers with the same trial number share."""
        return draw_integer_seed(self.trial.experiment.seed, "features", self.trial.number)

    def make_sampler(
        self, spec: SamplerSpec, M: int, bandwidth: float | None, seed: int
    ) -> RandomFeatures:
        """Return an unfitted sampler with M features, built from the configuration `spec`."""
        n, d = self.data.X_train.shape
        return make_sampler(
            self.trial.experiment,
            spec,
            M=M,
            d=d,
            n=n,
            random_state=seed,
            bandwidth=bandwidth,
            method=self.methods[spec.label],
        )

    def make_model(self, bandwidth: float | None) -> FittedModel:
        """Return the unfitted model of the trial. Only kernel solvers use `bandwidth`."""
        return make_solver(
            self.trial.experiment,
            task="regression" if self.data.task == "regression" else "classification",
            random_state=draw_integer_seed(self.trial.experiment.seed, "folds", self.trial.number),
            bandwidth=bandwidth,
        )


@dataclass(frozen=True)
class FeaturesFit:
    """Fitted features and their number M, which may be None if the solver uses no features."""

    features: FittedFeatures
    M: int | None


def fit_features(
    resolved: ResolvedTrial,
    model: FittedModel,
    bandwidth: float | None,
    clock: Clock,
    shared: Shared = ALONE,
    rows: tuple[Rows, Any] | None = None,
) -> FeaturesFit:
    """Fit the features of a trial on the training set, or on the given rows and targets.

    If a different sampler determines the number of features (key ``kept_by`` of ``M``), this
    sampler is fitted first, and its time is not counted.
    """
    trial, seed = resolved.trial, resolved.features_seed
    if not model.uses_features:
        return FeaturesFit(NoFeatures(), trial.M)
    X, y = rows or (resolved.data.X_train, resolved.data.y_train)
    M = trial.M
    if M is None:
        reference = resolved.make_sampler(trial.reference, 1, bandwidth, seed)
        # Fit with a new `Shared` object, so that a metric learned in this fit is not stored.
        # Otherwise the next fit, which is timed, would reuse the metric and seem too fast.
        M = reference._fit(X, y, Shared()).n_kept
        assert M is not None
    features = resolved.make_sampler(trial.sampler, M, bandwidth, seed)
    # Pass the target only to samplers that declare `needs_target`. All other samplers get None, so
    # that their code cannot use the target without notice.
    with clock.time_part("pp"):
        features._fit(X, y if features.needs_target else None, shared)
    return FeaturesFit(features, M)


def fit_model(
    resolved: ResolvedTrial,
    model: FittedModel,
    features: FittedFeatures,
    clock: Clock,
    fit_fold: FoldFit | None = None,
) -> FittedModel:
    """Fit the model on the features of the training set, and select its penalty."""
    data = resolved.data
    return model.fit(
        data.X_train,
        data.y_train,
        features=features,
        features_in_folds=fit_fold or ONCE,
        groups=data.groups,
        evaluation=(data.X_test, data.y_test),
        clock=clock,
    )


def make_fold_fit(
    resolved: ResolvedTrial, model: FittedModel, bandwidth: float | None, shared: Shared
) -> FoldFit | None:
    """Return a function that fits the features for a fold, or None if all folds share the features.

    The function fits the features on the rows outside the fold, with the same random seed as the
    features of all rows. If a different sampler determines the number of features, this sampler is
    fitted on the same rows.
    """
    if resolved.trial.features_in_folds != NESTED:
        return None
    return lambda rows, targets, clock: (
        fit_features(resolved, model, bandwidth, clock, shared, (rows, targets)).features
    )
