"""Selection of a model for a table within a time budget.

Models are compared on validation rows (see `rfbench.choosing.rounds`). Only the best model of each
family, such as linear models or trees, is then measured on the held-out rows. The selected model
is saved with a file of facts about it, the card `model.json`.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from scipy import optimize
from threadpoolctl import threadpool_limits

from rfbench import files, metrics, usable
from rfbench.arrays import Array
from rfbench.choosing import workplace
from rfbench.choosing.evidence import measure_permutation_importances, summarize_held_out_errors
from rfbench.choosing.greedy import MOST_SCORES, compute_model_losses, select_weights_greedily
from rfbench.choosing.losses import CLASS_METRICS, NUMBER_METRICS, compare_losses, compute_loss
from rfbench.choosing.model import Model, compute_interval_half_widths, save_model
from rfbench.choosing.rounds import (
    BLEND,
    BOOSTING,
    CONSTANT,
    FEATURES,
    LINEAR,
    SPARE,
    TREES,
    Candidate,
    Rounds,
)
from rfbench.choosing.screen import (
    compute_max_columns,
    compute_seconds_after_reading,
    list_used_columns,
)
from rfbench.choosing.table import (
    LEAST_ROWS,
    LabeledTable,
    make_labeled_table,
    remove_row_values,
    split_without_rare_classes,
)
from rfbench.datasets.preparation import describe_column_treatments
from rfbench.datasets.split import Index
from rfbench.errors import ConfigError, make_unknown_error
from rfbench.solvers.folds import assign_group_folds

# Share of the time budget that is reserved for writing the files. The value was chosen without a
# measurement. With twice this share, a search of one minute has 3 s less for fitting models.
WRITING = 0.05
# On an idle machine, `rfbench choose` needs at most LATEST times the time budget plus AFTER
# seconds, as the README promises. The last ENDING seconds before this limit are reserved for
# writing files. With twice ENDING, 2 s less remain for fitting models.
LATEST, AFTER, ENDING = 1.2, 5.0, 2.0
# The usual significance level. If the target is pure noise, the probability that a model is
# selected instead of the constant is at most about 5 %. With twice this level, the probability is
# twice as large.
SIGNIFICANT = 0.05
# MEMBERS is the maximum number of models in a weighted average. Models with a weight below
# LEAST_WEIGHT are removed from the average. The values were chosen without a measurement. With
# twice as many MEMBERS, fitting the average needs twice the time. With twice LEAST_WEIGHT, models
# with a weight below 0.1 are removed.
MEMBERS, LEAST_WEIGHT = 6, 0.05
# The weights of an average are fitted by least squares. An additional equation requires that the
# weights sum to 1. SUM_TO_ONE is the factor of this equation, so the sum is 1 up to about 1e-6, the
# inverse square of the factor. With twice SUM_TO_ONE, the three stored digits of a weight do not
# change.
SUM_TO_ONE = 1e3


class Choice(NamedTuple):
    """The model that `choose` selected for a table, and the best model of each family."""

    folder: Path
    model: Model  # the selected model, fitted by `fit_on_all_rows`
    others: Mapping[str, Model]  # best model of each family, fitted on the training rows only
    card: Mapping[str, Any]  # content of model.json, described in `choose`


def choose(
    X: Any,
    y: Any = None,
    *,
    metric: str | None = None,
    budget: float = 60.0,
    started: float | None = None,
    n_jobs: int | None = None,
    allow_rows: bool = True,
    out: str | Path | None = None,
    seed: int = 0,
    on_candidate: Callable[[Candidate], None] | None = None,
    on_assumption: Callable[[str], None] | None = None,
    **told: Any,
) -> Choice:
    """Choose a model for a table within a time budget, and fit it.

    Parameters
    ----------
    X, y
        `X` is a file that contains the column `target`, and `y` is None. Otherwise `X` is a
        DataFrame, array or sparse matrix, and `y` has the class labels (integers or strings) or
        numbers (floats).
    metric : str, optional
        Name of the metric, see `rfbench.choosing.losses.compute_loss`. The default is ``log-loss``
        for classes and ``rmse`` for numbers.
    budget : float
        Time budget for reading, search and writing, in seconds.
    started : float, optional
        Start of the time budget as a value of `time.monotonic`. The default is the time of the
        call.
    n_jobs : int, optional
        Number of fits that run in parallel. The default is the number of cores.
    allow_rows : bool
        Whether the model may contain training rows (landmarks).
    out : path, optional
        Folder for the model and its card `model.json`. The default is ``results/choose``.
    seed : int
        Seed of the splits and of the methods.
    on_candidate : callable, optional
        Function that is called with each measured candidate.
    on_assumption : callable, optional
        Function that is called with a sentence before the first measurement if the target contains
        only a few different integers. The sentence names the task that is assumed (classification
        or regression) and the option for the other task.
    **told : Any
        Information about the table, see `rfbench.choosing.table.make_labeled_table`: `target`,
        `task`, `drop`, `groups`, `time`, and options for reading a file.

    Returns
    -------
    Choice
        The fitted model, the best models of each family, and the content of the card.

    Raises
    ------
    RfbenchError
        If the table cannot be read, if no model can be learned from the table, if a parameter is
        invalid, or if `out` contains files of another command.
    """
    started, folder = started or monotonic(), Path(out or "results/choose")
    with workplace.make_working_folder(folder, allow_rows=allow_rows) as place:
        table = (
            make_labeled_table(X, y, **told)
            if allow_rows
            else remove_row_values(make_labeled_table(X, y, **told))
        )
        if table.assumed and on_assumption is not None:
            on_assumption(table.assumed)
        choice = _chosen(
            table, metric, budget, started, n_jobs, allow_rows, place, seed, on_candidate
        )
    return choice._replace(folder=folder)


def _chosen(
    table: LabeledTable,
    metric: str | None,
    budget: float,
    started: float,
    n_jobs: int | None,
    allow_rows: bool,
    folder: Path,
    seed: int,
    on_candidate: Callable[[Candidate], None] | None,
) -> Choice:
    """Select and fit a model for a table, write it to `folder`, and return it with its card.

    The card is a dictionary with the measurements of the models.
    """
    workers, least_rows = n_jobs or usable.count_usable_cores(), 1 if allow_rows else LEAST_ROWS
    deadline, limit = started + (1 - WRITING) * budget, started + LATEST * budget + AFTER - ENDING
    whole = replace(table, metric=_find_metric(table, metric), seed=seed)
    # Limit the libraries to one thread. Otherwise OpenMP threads can wait for each other for
    # minutes while other processes use the cores.
    with threadpool_limits(1), warnings.catch_warnings():
        # Hide warnings from fits in the search, for example about overflows or a solver that did
        # not converge.
        warnings.simplefilter("ignore")
        table, splits, kept, left_out = split_without_rare_classes(whole, budget, least_rows)
        seconds = compute_seconds_after_reading(budget, table.X.size)
        n_columns = compute_max_columns(seconds, len(splits[-1][0]))
        rounds = Rounds(
            table, splits, deadline, folder, workers, least_rows, n_columns, on_candidate
        )
        rounds.clear()
        try:
            try:
                rounds.run()
                add_averages(rounds)
            except KeyboardInterrupt:  # keep the results so far
                rounds.interrupted = True
            contenders = measure_held_out_rows(rounds, deadline, limit) if rounds.candidates else {}
            _check_constant(rounds, contenders, budget)
            taken, overturned = choose_final_candidate(rounds, contenders)
            taken, model, fitted = fit_first_feasible(rounds, taken, contenders, deadline, limit)
            explained = explain_selected_model(rounds, taken, model, fitted, started + budget)
            facts = {family: describe_results(rounds, c, taken) for family, c in contenders.items()}
        finally:
            rounds.clear()
    model.reading_ = table.how
    card: dict[str, Any] = {
        **_describe_data(table, model),
        # Number of rows of each class that was left out. A class is left out if the class has too
        # few rows to be in the training rows and the held-out rows of every split.
        "left_out": left_out,
        "n_train": len(rounds.train),  # number of training and validation rows
        "n_test": len(rounds.test),  # number of held-out rows
        "n_fitted": fitted,  # number of rows on which the model in the file is fitted
        # True if the constant prediction was selected after all candidates were measured. If the
        # time budget stopped some candidates, the value is False, because these candidates might be
        # better.
        "nothing_learnt": taken.family == CONSTANT and not rounds.stopped,
        "no_time": taken.family == CONSTANT and rounds.stopped,
        "failed": rounds.failed,  # error messages of the candidates that failed, by label
        "overturned": overturned,  # True if the held-out rows changed the choice
        "take": facts[taken.family],
        "contenders": list(facts.values()),  # best candidate of each family
        "explained": explained,  # errors by groups of held-out rows, and importances of the columns
        # Labels of the candidates that were not measured because of the limits of time or memory.
        "excluded": sorted(rounds.excluded - {each["label"] for each in facts.values()}),
        "tried": len(rounds.candidates),
        "stopped": rounds.stopped,  # True if the limits of time or memory stopped candidates
        "interrupted": rounds.interrupted,
        "budget": budget,
        "spent": monotonic() - started,
        # Mean number of cores in use during the fits: their CPU time divided by their wall time.
        "cpu_share": rounds.clocks[1] / rounds.clocks[0],
        "seed": seed,
    }
    card = {**save_model(model, folder, **card), **card}
    stream = io.BytesIO()
    np.savez(stream, train=kept[rounds.train], test=kept[rounds.test])
    files.replace(folder / workplace.ROWS, stream.getvalue())
    others = {family: rounds.make_model(c) for family, c in contenders.items()}
    return Choice(folder, model, others, card)


def _find_metric(table: LabeledTable, metric: str | None) -> str:
    """Return the given metric, or the default metric of the task if `metric` is None.

    Raise ConfigError if the metric does not exist for the task.
    """
    known = CLASS_METRICS if table.n_classes else NUMBER_METRICS
    if metric not in (None, *known):
        kind = "classes" if table.n_classes else "numbers"
        raise make_unknown_error(f"metric of {kind}", metric, known, ConfigError)
    return metric or known[0]


def _check_constant(rounds: Rounds, contenders: Mapping[str, Candidate], budget: float) -> None:
    """Raise ConfigError if not even the model that predicts a constant was measured.

    `contenders` is a dictionary from each family of models to its best measured model.
    """
    if CONSTANT not in contenders:
        what = f"No model was measured within {budget:.3g} s, not even the constant prediction."
        why = "; ".join(f"{label}: {text}" for label, text in rounds.failed.items())
        raise ConfigError(what, why, "Use a larger --budget.")


def _describe_data(table: LabeledTable, model: Model) -> dict[str, Any]:
    """Return facts about the data and the columns of the model, for the card `model.json`."""
    prepared, used = model[0].get_feature_names_out(), {*list_used_columns(model)}
    return {
        "data": table.name,
        "data_sha256": table.sha256,
        "notes": table.notes,  # messages about the data
        # Sentences on assumptions, for example that an integer target contains classes. The same
        # sentences are in the notes.
        "assumed": table.assumed,
        "preparation": describe_column_treatments(model[0].notes_),  # changes to the columns
        "columns": [str(column) for column in table.X.columns],
        # Prepared columns that the model does not use, because the time budget is too small for all
        # columns.
        "unused": [name for name in prepared if name not in used],
        "n_prepared": len(prepared),
        "metric": table.metric,
        "classes": [str(label) for label in table.classes],  # empty for a regression
        "shares": (np.bincount(table.y) / len(table.y)).tolist() if table.n_classes else [],
        "grouped": table.groups is not None,
        "in_time": table.time is not None,  # True if the rows with the latest times are held out
        "rows": len(table.y),
    }


def add_averages(rounds: Rounds) -> None:
    """Add up to two weighted averages of models to the candidates of a search.

    The first is an average of kernel models. The second is an average of models of all families.
    """
    # A model may have been measured first on a few rows and then on more rows. The dictionary keeps
    # the last result for each label.
    last = {c.label: c for c in rounds.candidates if not c.members and c.family != CONSTANT}
    single = list(last.values())
    features = [c for c in single if c.family == FEATURES]
    members, allowed = (
        rounds.find_leading_candidates(features, MEMBERS),
        rounds.compute_seconds_for_averages(),
    )
    while len(members) > 1 and sum(c.seconds for c in members) > allowed:
        members.pop()
    label = "features, average of"
    with rounds.record_failure(Candidate(label, FEATURES)):
        add_average_of_members(rounds, members, features, FEATURES, label, allowed)
    best = rounds.find_best_candidate_of_each_family()
    members += [best[family] for family in (TREES, BOOSTING, LINEAR) if family in best]
    label = "features and others, average of"
    with rounds.record_failure(Candidate(label, BLEND)):
        add_average_of_members(rounds, members, single, BLEND, label, allowed)


def add_average_of_members(
    rounds: Rounds,
    members: Sequence[Candidate],
    others: Sequence[Candidate],
    family: str,
    label: str,
    allowed: float = np.inf,
) -> None:
    """Add a weighted average of models to the candidates, unless one model gets all the weight.

    Two averages are computed, and the average with the smaller loss is added. The weights of the
    first are fitted to the models `members` by least squares. For the second, models are selected
    greedily from `others` to minimize the metric. Fitting its models may need at most `allowed`
    seconds. The losses are measured on rows on which the weights were not fitted.
    """
    table, held = rounds.table, rounds.held
    groups = np.arange(len(held)) if table.groups is None else table.groups[held]
    if min(len(members), len(np.unique(groups))) < 2:
        return
    most = max(2, MOST_SCORES // members[0].scores.size)
    others = sorted(others, key=lambda c: c.loss.value)[:most]
    y, K = table.y[held], table.n_classes
    target = np.eye(K)[y] if K else y[:, None]

    def minimize_squares(every: Array, rows: Index) -> Array:
        return fit_average_weights(every[rows], target[rows])

    def minimize_loss(every: Array, rows: Index) -> Array:
        seconds = np.array([c.seconds for c in others])
        return select_weights_greedily(
            every[rows], y[rows], table.metric, seconds, allowed, MEMBERS
        )

    # If weights were fitted and evaluated on the same rows, the loss would be too small. Therefore
    # the rows are divided into two halves, and each half is evaluated with weights fitted on the
    # other half.
    halves = assign_group_folds(groups, None, 2, table.seed)
    averages = []
    for own, fit in ((members, minimize_squares), (others, minimize_loss)):
        every = np.stack([c.scores for c in own], axis=2)  # shape (n, k, members)
        scores = np.empty_like(own[0].scores)
        for half in (0, 1):
            weights = fit(every, np.flatnonzero(halves != half))
            scores[halves == half] = every[halves == half] @ weights
        weights = fit(every, np.arange(len(y)))
        rounded = {c: float(f"{w:.3g}") for c, w in zip(own, weights, strict=True) if w > 0}
        averages.append(
            (compute_model_losses(scores[:, :, None], y, table.metric)[0], scores, rounded)
        )
    _, scores, rounded = min(averages, key=lambda each: each[0])
    if len(rounded) > 1:
        rounds.add(Candidate(f"{label} {len(rounded)}", family, members=rounded), scores)


def fit_average_weights(scores: Array, target: Array) -> Array:
    """Return weights for an average of models, fitted by non-negative least squares.

    `scores` contains the predictions of each model, with shape (n, k, models). `target` has the
    shape (n, k). Weights below `LEAST_WEIGHT` are set to 0. The weights sum to 1.
    """
    center = target.mean(axis=0)
    stacked = (scores - center[:, None]).reshape(-1, scores.shape[2])
    # Add an equation with a large factor that makes the weights sum to 1. If the weights were only
    # normalized after the fit, a model with nearly constant predictions would get an arbitrary
    # weight.
    heavy = SUM_TO_ONE * (np.linalg.norm(stacked) or 1.0)
    weights, _ = optimize.nnls(
        np.vstack([stacked, np.full(scores.shape[2], heavy)]),
        np.append((target - center).ravel(), heavy),
    )
    weights[weights < LEAST_WEIGHT * weights.sum()] = 0.0
    return np.asarray(weights / weights.sum())


def measure_held_out_rows(rounds: Rounds, end: float, limit: float) -> dict[str, Candidate]:
    """Return the best model of each family, such as trees, with its loss on the held-out rows.

    First, two models are measured: the constant prediction, and the simplest model with nearly the
    smallest validation loss. If the fit of the second model fails, the next simplest model is
    measured. This step may use half of the time until `limit`, except that a linear model has no
    deadline. Then all other models are measured if they finish before `end`. `end` and `limit` are
    values of `time.monotonic`.
    """
    best, last = rounds.find_best_candidate_of_each_family(), len(rounds.splits) - 1
    answers: dict[Candidate, Any] = {}

    def measure(candidates: Iterable[Candidate], deadline: float | None) -> None:
        parts = dict.fromkeys(part for c in candidates for part in c.parts if part not in answers)
        trials = [(part, last, len(rounds.train)) for part in parts]
        answers.update(zip(parts, rounds.measure(trials, deadline), strict=True))

    needed = {CONSTANT: best[CONSTANT]} if CONSTANT in best else {}
    waiting = {family: c for family, c in best.items() if family != CONSTANT}
    while waiting:
        family = _choose_simplest(rounds, waiting)
        needed[family] = waiting.pop(family)
        measure(needed.values(), None if family == LINEAR else (monotonic() + limit) / 2)
        if all(answers[part] is not None for part in needed[family].parts):
            break
    if needed and answers.get(best[CONSTANT]) is None:
        answers.pop(best[CONSTANT], None)
        measure([best[CONSTANT]], None)
    measure([*needed.values(), *waiting.values()], min(end, (monotonic() + limit) / 2))
    made = {}
    for candidate in best.values():
        parts = [answers[part] for part in candidate.parts]
        if any(part is None for part in parts):
            continue
        weights = list(candidate.members.values()) or None
        scores = np.average([each["scores"] for each in parts], axis=0, weights=weights)
        made[candidate.family] = replace(
            candidate,
            scores=scores,
            loss=rounds.compute_loss(rounds.table.metric, scores, rounds.test),
            seconds=sum(each["fit"] for each in parts),
            predicting=1000 * sum(each["said"] for each in parts) / len(rounds.test),
        )
    return made


def _choose_simplest(rounds: Rounds, families: Mapping[str, Any]) -> str:
    """Return the family of the simplest model whose validation loss is close to the smallest loss.

    Only the best model of each family in `families` is considered. The constant is returned only if
    `families` contains no other family.
    """
    models = [
        c
        for f, c in rounds.find_best_candidate_of_each_family().items()
        if f in families and f != CONSTANT
    ]
    return rounds.find_simplest_good_candidate(models).family if models else CONSTANT


def choose_final_candidate(
    rounds: Rounds, contenders: Mapping[str, Candidate]
) -> tuple[Candidate, bool]:
    """Return the selected model, and True if the held-out rows changed the selection.

    `contenders` contains the best model of each family. If no model is significantly better than a
    constant on the held-out rows, the constant is selected. Otherwise the simplest model with
    nearly the smallest validation loss is selected, unless a model is significantly better on the
    held-out rows. The tests against the constant have the level 5 % with a Bonferroni correction.
    Tests of classifiers against the constant use the log-loss, which needs fewer rows than the
    error rate to detect a difference.
    """
    models = [c for family, c in contenders.items() if family != CONSTANT]
    metric, test = "log-loss" if rounds.table.n_classes else rounds.table.metric, rounds.test
    constant = rounds.compute_loss(metric, contenders[CONSTANT].scores, test)
    gains = [
        compare_losses(rounds.compute_loss(metric, c.scores, test), constant, metric)
        for c in models
    ]
    if not any(gain.value < 0 and gain.p < SIGNIFICANT / len(models) for gain in gains):
        return contenders[CONSTANT], False
    taken, metric = contenders[_choose_simplest(rounds, contenders)], rounds.table.metric
    better = [c for c in models if compare_losses(taken.loss, c.loss, metric).verdict == "worse"]
    return min(better or [taken], key=lambda c: c.loss.value), bool(better)


def describe_results(rounds: Rounds, contender: Candidate, taken: Candidate) -> dict[str, Any]:
    """Return the measurements of the model `contender` on the held-out rows, as a dictionary.

    The dictionary includes a comparison with the selected model `taken`.
    """
    table, test = rounds.table, rounds.test
    every = CLASS_METRICS if table.n_classes else NUMBER_METRICS
    others = {
        m: rounds.compute_loss(m, contender.scores, test).value for m in every if m != table.metric
    }
    if table.n_classes:
        decided = contender.scores.argmax(axis=1)
        made = metrics.compute_probability_metrics(contender.scores, decided, table.y[test])
        others |= {"balanced-error": made["balanced_error"], "1 - AUC": 1 - made["auc"]}
    return {
        "label": contender.label,
        "family": contender.family,
        "error": contender.loss.value,
        "standard_error": contender.loss.standard_error,
        "others": others,  # other metrics; for a classifier also the balanced error and 1 - AUC
        "against_taken": compare_losses(contender.loss, taken.loss, table.metric)._asdict(),
        "fit_seconds": contender.seconds,
        "predict_seconds": contender.predicting,
        "holds_rows": rounds.least_rows == 1 and contender.M > 0,
        "parts": [
            {
                "label": part.label,
                "weight": contender.members.get(part, 1.0),
                "settings": {**part.parameters, **part.chosen},
            }
            for part in contender.parts
        ],
    }


def explain_selected_model(
    rounds: Rounds, selected: Candidate, model: Model, fitted: int, deadline: float
) -> dict[str, Any]:
    """Return the errors of the selected model on held-out rows, and the importances of its columns.

    The importance of a column is the increase of the loss if the values of the column are permuted.
    It is measured with a model that is fitted on the training rows alone, if there is enough time
    until `deadline`. `fitted` is the number of rows on which `model` was fitted.
    """
    table, train, test = rounds.table, rounds.train, rounds.test
    facts = summarize_held_out_errors(selected.scores, table.y[test], table.n_classes)
    found: list[dict[str, Any]] = []
    seconds = SPARE * (selected.seconds + rounds.preparing * len(train))
    if selected.family == CONSTANT:
        reason = "the model uses no column"
    elif fitted > len(train) and monotonic() + seconds > deadline:
        fit = f"a fit on the training rows alone, which needs {seconds:.1f} s"
        reason = f"the time budget was spent before {fit}"
    else:
        if fitted > len(train):
            model = rounds.make_model(selected).fit(table.X.iloc[train], table.labels[train])
        found, reason = measure_permutation_importances(
            model,
            table.X.iloc[test],
            table.y[test],
            lambda scores, truth: (
                compute_loss(table.metric, truth, scores if table.n_classes else scores[:, 0]).value
            ),
            deadline,
            table.seed,
        )
    return {**facts, "importances": found, "reason": reason}


def fit_first_feasible(
    rounds: Rounds,
    selected: Candidate,
    contenders: Mapping[str, Candidate],
    deadline: float,
    limit: float = np.inf,
) -> tuple[Candidate, Model, int]:
    """Fit a model on all rows. Return its candidate, the model, and the number of fitted rows.

    The model `selected` is tried first, then the models in `contenders` in the order of their loss,
    and the constant last. A fit is started only if its estimated end is before `limit`, because a
    running fit cannot be stopped. The constant and the linear model are always started, because
    their fits are short. A failure is recorded in `rounds.failed`. Raise ConfigError if all fits
    fail.
    """
    others = sorted(contenders.values(), key=lambda c: (c.family == CONSTANT, c.loss.value))
    for contender in dict.fromkeys([selected, *others]):
        seconds = SPARE * (contender.seconds + rounds.preparing * len(rounds.train))
        if contender.family not in (CONSTANT, LINEAR) and monotonic() + seconds > limit:
            rounds.stopped = True
            rounds.excluded.add(contender.label)
            continue
        with rounds.record_failure(contender):
            return contender, *fit_on_all_rows(rounds, contender, deadline)
    why = "; ".join(f"{label}: {text}" for label, text in rounds.failed.items())
    raise ConfigError("No model could be fitted on all rows.", why, "Use a larger --budget.")


def fit_on_all_rows(rounds: Rounds, selected: Candidate, deadline: float) -> tuple[Model, int]:
    """Fit the selected model on all rows. Return the model and the number of fitted rows.

    The model is fitted on the training rows alone in two cases: if there is no time for all rows
    until `deadline`, or if the fit on all rows is significantly worse on the held-out rows. The
    second case occurs for boosting with many classes.
    """
    table, train, test = rounds.table, rounds.train, rounds.test
    every = np.sort(np.concatenate([train, test]))
    seconds = selected.seconds * len(every) / len(train)
    seconds += rounds.preparing * (len(every) + len(test))
    for rows in [every] * (monotonic() + seconds < deadline) + [train]:
        model = rounds.make_model(selected).fit(table.X.iloc[rows], table.labels[rows])
        said = (model.predict_proba if table.n_classes else model.predict)(table.X.iloc[test])
        seen = rounds.compute_loss(table.metric, said.reshape(len(test), -1), test)
        if compare_losses(seen, selected.loss, table.metric).verdict != "worse":
            break
    model.half_widths_ = {}
    if not table.n_classes:
        model.half_widths_ = compute_interval_half_widths(table.y[test] - selected.scores[:, 0])
    return model, len(rows)
