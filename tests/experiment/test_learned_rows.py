"""Trials in a metric that is learnt on the training rows, and in folds without each fold."""

import numpy as np
import pytest

from rfbench.config import Experiment
from rfbench.errors import ConfigError
from rfbench.experiment.context import Context
from rfbench.experiment.plan import plan
from rfbench.experiment.seeds import integer_for
from rfbench.experiment.trial import run_trial
from rfbench.samplers import RKS
from rfbench.samplers.metric import LearnedMetric
from rfbench.solvers import RidgeClassifier
from tests.support.trials import measured

from .conftest import SMALL

DIAGONAL = "kernel_metric=diagonal"


def test_the_row_is_that_of_rows_in_the_metric_of_the_training_rows(experiment_of):
    """By brute force: the penalty by folds, each in the metric of the other rows."""
    own = ("M=8", "trials=1", "samplers=rks", DIAGONAL)
    (trial,) = plan(experiment_of(SMALL, *own))
    row = run_trial(trial, Context())
    data = Context().prepared(plan(experiment_of(SMALL, *own[:-1]))[0])
    seed, folds_seed, state = (integer_for(0, r, 0) for r in ("features", "folds", "metric"))

    def in_metric(rows, y):
        metric = LearnedMetric(kind="diagonal", random_state=state).fit(rows, y)
        inside = metric.transform(rows)
        return metric, inside, RKS(8, bandwidth=1.0, random_state=seed).fit(inside)

    folds = RidgeClassifier(random_state=folds_seed)._groups("cv5", len(data.y_train))
    loss = {}
    for alpha in (1.0, 0.01):
        wrong = 0
        for g in range(5):
            held = folds == g
            metric, inside, features = in_metric(data.X_train[~held], data.y_train[~held])
            fitted = RidgeClassifier(alpha).fit(inside, data.y_train[~held], features=features)
            new = metric.transform(data.X_train[held])
            wrong += np.sum(fitted.predict(new) != data.y_train[held])
        loss[alpha] = wrong / len(folds)
    best = min(loss, key=loss.get)
    metric, inside, features = in_metric(data.X_train, data.y_train)
    fitted = RidgeClassifier(best).fit(inside, data.y_train, features=features)
    error = 100 * np.mean(fitted.predict(metric.transform(data.X_test)) != data.y_test)
    assert (row["alpha"], row["selection_loss"]) == (best, pytest.approx(loss[best]))
    assert row["error"] == pytest.approx(error)
    assert (row["label"], row["features_in_folds"]) == ("rks (diagonal metric)", "nested")


def test_learning_is_time_of_training_in_every_row_that_uses_it(experiment_of):
    experiment = experiment_of(SMALL, DIAGONAL, "trials=1", "samplers=[rks, orf]")
    context = Context()
    rows = [run_trial(trial, context) for trial in plan(experiment)]
    assert {row["status"] for row in rows} == {"ok"}
    learning = context.learned_rows(plan(experiment)[0]).clock.wall["train"]
    assert learning > 0
    assert min(row["t_train"] for row in rows) >= round(learning, 6)


@pytest.mark.parametrize("sampler", ["rks", "orf", "qmc", "nystroem", "eerf"])
def test_samplers_that_draw_by_a_kernel_run_in_a_full_metric(experiment_of, sampler):
    name = f"[{{{sampler}: {{pool_size: 40}}}}]" if sampler == "eerf" else sampler
    own = ("kernel_metric=full", f"samplers={name}", "M=8", "trials=1", "dtype=float32")
    (row,) = measured(experiment_of(SMALL, *own, "bandwidth={cv: [0.5*median, median]}"))
    assert (row["status"], row["label"]) == ("ok", f"{sampler} (full metric)")


def test_the_bandwidth_is_that_of_rows_in_the_metric(experiment_of):
    own = ("samplers=rks", "M=8", "trials=1", "bandwidth=median", "kernel_metric=full")
    (trial,) = plan(experiment_of(SMALL, *own))
    context = Context()
    row, rows = run_trial(trial, context), context.prepared(trial).X_train
    apart = np.linalg.norm(rows[:, None] - rows, axis=2)[np.triu_indices(len(rows), 1)]
    assert row["bandwidth"] == pytest.approx(np.median(apart))


def test_the_metric_is_part_of_the_identity_and_none_is_not(experiment_of):
    plain, same, other = (
        {trial.id for trial in plan(experiment_of(SMALL, *override))}
        for override in ((), ("kernel_metric=none",), (DIAGONAL,))
    )
    assert plain == same
    assert not plain & other
    assert Experiment.model_fields["kernel_metric"].default == "none"


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("kernel=arc-cosine-1", "does not fall with a distance"),
        ("solver={name: kernel-ridge}", "uses no features"),
    ],
)
def test_what_a_metric_cannot_serve_is_refused(experiment_of, override, message):
    with pytest.raises(ConfigError, match=message):
        experiment_of(SMALL, "samplers=rks", DIAGONAL, override)


def test_whoever_writes_it_at_the_metric_of_tables_is_shown_the_key(experiment_of):
    with pytest.raises(ConfigError, match="write `kernel_metric: diagonal`"):
        experiment_of(SMALL, "metric=diagonal")
