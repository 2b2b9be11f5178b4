"""Search for a model in rounds: all candidate models are fitted on few rows, then the best on more.

Each fit runs with one thread in a child process, which is killed at the deadline of the search.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.model_selection import ParameterSampler
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from rfbench import config, files, plugins, yamlfile
from rfbench.arrays import Array
from rfbench.choosing.losses import Loss, compute_loss
from rfbench.choosing.model import Model
from rfbench.choosing.screen import ColumnScreen, list_used_columns
from rfbench.choosing.table import LabeledTable
from rfbench.datasets import npy_folder
from rfbench.datasets.columns import Parsed
from rfbench.datasets.preparation import Preparation, PreparedColumns
from rfbench.datasets.scaling import RankScaler, SmoothClipScaler
from rfbench.datasets.split import Index, Sides
from rfbench.escaping import escape_line
from rfbench.experiment import runner
from rfbench.experiment.run_plan import plan_run
from rfbench.experiment.worker import LEAST_MEMORY, Limits
from rfbench.memory import count_free_bytes
from rfbench.results import predictions
from rfbench.results.schema import METHOD, MODEL, VALIDATION
from rfbench.results.store import Store
from rfbench.samplers.metric import apply_metric

log = logging.getLogger(__name__)
# Families of models, from the simplest to the most complex.
KINDS = "constant", "linear", "features", "boosting", "trees", "blend"
CONSTANT, LINEAR, FEATURES, BOOSTING, TREES, BLEND = KINDS
# Maps the name of a scaling in a configuration to its transformer.
SCALERS: Any = {"rank": RankScaler, "robust": SmoothClipScaler, "standard": StandardScaler}
CUT_OFF = "timeout", "crashed", "memory"
# Constants of the estimated time of a fit with M features. The time is proportional to M * (M +
# LINEAR_M) * (rows + SOLVED * M). Up to LINEAR_M features, computing the features needs more time
# than multiplying the feature matrix by its transpose (measured). Each boosting iteration needs the
# time of BOOSTING_ROWS additional rows. OVERHEAD is the number of seconds that is added to each
# estimate. With doubled constants, some candidates are skipped although the time is sufficient.
LINEAR_M, SOLVED, BOOSTING_ROWS, OVERHEAD = 1_000, 8, 7_000, 0.1
# Default number of boosting iterations in scikit-learn. The time of a fit is proportional to the
# number of iterations.
DEFAULT_ITERATIONS = 100
# RESTART is the share of the time that is reserved for starting a new process after a process was
# killed. SPARE is a safety factor for the estimated time of the last fits. The values were chosen
# without a measurement. With twice RESTART, a search of one minute has 3 s less for models.
RESTART = 0.05
SPARE = 1.1
# Largest share of the time budget for explaining the model. An explanation needs a fit on the
# training rows and predictions for permuted columns. The value was chosen without a measurement.
# With twice this value, a search of one minute has 3 s less for models.
EXPLAINING = 0.05
# AVERAGED is the number of kernels in an average for which time is reserved. AVERAGING is the
# largest share of the budget for fitting these kernels. In an experiment on ten tables in
# contenders.yaml, an average of kernels had 0.98 times the error of one kernel. The values were
# chosen without a measurement. With twice AVERAGING, a search of one minute has 9 s less for
# models.
AVERAGED, AVERAGING = 3, 0.15
# Factors by which losses are compared. The number of features is increased while the loss falls
# below GAIN times the previous loss. Candidates up to CLOSE times the smallest loss count as
# equally good. Kernels up to NEAR times the smallest loss get a learned metric, and kernels up to
# FAR times this loss get more landmarks. The values were chosen without a measurement. With CLOSE -
# 1 doubled, the selected model may be 2 % worse than the best.
GAIN = 0.995
CLOSE, NEAR, FAR = 1.01, 1.1, 1.5
_FILE = Path(__file__).with_name("contenders.yaml")  # YAML file with the list of candidates
CONTENDERS: Any = yamlfile.parse_yaml(_FILE.read_bytes(), _FILE.name).value
ROUND_SHARES = CONTENDERS["shares"]


def draw_tree_settings(kind: str, count: int, seed: int) -> list[dict[str, Any]]:
    """Return `count` different random settings of a tree model.

    `kind` is ``boosting`` or ``extra trees``. The settings are drawn from the grids in the file
    contenders.yaml.
    """
    space = CONTENDERS["spaces"][kind]
    grids = [{**space["common"], **own} for own in space["one_of"]]
    return [dict(sorted(s.items())) for s in ParameterSampler(grids, count, random_state=seed)]


@dataclass(frozen=True, eq=False)
class Candidate:
    """A candidate model, with its settings and its results on the validation rows."""

    label: str
    family: str  # family of the model, one of `KINDS`
    estimator: str = ""  # import path of the estimator; empty for an average
    parameters: Mapping[str, Any] = field(default_factory=dict)
    # parameter values that were selected on the validation rows
    chosen: Mapping[str, Any] = field(default_factory=dict)
    scaling: str = "none"
    # Matrices by which the rows are multiplied. Each matrix is the square root of a metric that was
    # learned in one split. The last entry is the mean of the other entries, for the fit on all
    # rows.
    basis: tuple[Array, ...] = ()
    # maps each model of a weighted average to its weight; empty for a single model
    members: Mapping[Candidate, float] = field(default_factory=dict)
    # predictions for the validation rows, shape (n, k): numbers (k = 1) or probabilities of k
    # classes
    scores: Any = None
    # loss on the validation rows, as a `rfbench.choosing.losses.Loss`
    loss: Any = None
    # seconds of one fit on the training rows of a split
    seconds: float = 0.0
    # seconds of the preparation, the fit and the predictions together
    took: float = 0.0
    # seconds for predicting 1,000 held-out rows; 0 if no held-out rows were predicted yet
    predicting: float = 0.0

    @property
    def M(self) -> int:
        """Number of kernel features, summed over the members of an average, or 0."""
        return sum(int(part.parameters.get("n_components", 0)) for part in self.parts)

    @property
    def parts(self) -> list[Candidate]:
        """The models to fit: the members of an average, or only the model itself."""
        return list(self.members) or [self]

    def _estimate_work(self, rows: int) -> float:
        """Return the estimated time of a fit on `rows` rows, up to a constant factor."""
        # Operations of a fit with n rows and M features: n * M for the kernel values, n * M^2 for
        # the matrix products, and M^3 for the linear system. The returned product includes all
        # three terms. Without the first term, the estimate for small M would be too low.
        rows += SOLVED * self.M + BOOSTING_ROWS * (self.family == BOOSTING)
        iterations = self.parameters.get("max_iter", DEFAULT_ITERATIONS) / DEFAULT_ITERATIONS
        return float(rows * iterations * (self.M * (self.M + LINEAR_M) or 1))

    def _with_parameters(self, label: str, **parameters: Any) -> Candidate:
        """Return a copy with the given label and changed parameters.

        The copy does not have the parameter values that were selected on validation rows.
        """
        return replace(self, label=label, parameters={**self.parameters, **parameters}, chosen={})


@dataclass
class Rounds:
    """The search for a model of one table, with rounds of fits until the time is used."""

    table: LabeledTable
    # Splits of the rows, each with a training set and a validation set. The last split contains all
    # training rows and the held-out rows.
    splits: list[Sides]
    deadline: float  # time at which the search has to end, as in `time.monotonic`
    folder: Path  # working folder from `rfbench.choosing.workplace`
    workers: int = 1
    # Smallest number of training rows from which each stored value of a model is computed. If this
    # number is above 1, landmarks are not used, because each landmark is a copy of one row.
    least_rows: int = 1
    n_columns: int | None = None  # largest number of prepared columns; by default all columns
    on_candidate: Callable[[Candidate], None] | None = None
    candidates: list[Candidate] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)  # error messages per label
    stopped: bool = False  # True if the limit of time or memory stopped a candidate
    excluded: set[str] = field(default_factory=set)  # labels of the candidates that were stopped
    interrupted: bool = False
    # sums over all fits: wall time and CPU time, in seconds
    clocks: Any = field(default_factory=lambda: np.zeros(2))
    # pairs of an experiment and the list of its planned trials
    planned: list[tuple[Any, Any]] = field(default_factory=list)
    # names of the prepared columns, for each split
    names: dict[int, tuple[str, ...]] = field(default_factory=dict)
    preparing: float = 0.0  # largest time of preparation, in seconds per row
    _prepared: dict[int, Array] = field(default_factory=dict)
    _packs: dict[Any, Path] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Set the row positions, the sizes of the samples and the total time of the search."""
        *chosen, (self.train, self.test) = self.splits
        self.held = np.concatenate([held for _, held in chosen])  # positions of the validation rows
        self.n = min(len(fit) for fit, _ in chosen)  # smallest number of fitted rows of a split
        # seconds of the whole search, from now until the deadline
        self.total = max(0.0, self.deadline - monotonic())
        self.few, self.middle = (min(self.n, n) for n in CONTENDERS["rows"].values())

    @cached_property
    def columns(self) -> PreparedColumns:
        """The numeric columns into which the table is converted, the same for all splits.

        The columns are determined from all training and validation rows. DataError is raised if no
        column can be used.
        """
        return Preparation(self.least_rows).fit(self.table.X.iloc[self.train]).columns_

    @property
    def uses_column_screening(self) -> bool:
        """True if models use only some columns, because the time budget is too small for all."""
        return self.n_columns is not None and len(self.columns.kept) > self.n_columns

    def _pack(self, setting: Candidate, fold: int, rows: int) -> Path:
        """Write the rows of a split to a folder, and return the folder.

        `fold` is the number of the split, and `rows` is the number of training rows. If the
        candidate `setting` has a learned metric, the rows are transformed by it.
        """
        # Candidates with the same fold, number of rows and learned metric share a folder. Therefore
        # all of them are compared on the same rows. An existing folder is used again.
        fit, held = self.splits[fold]
        some = self.table.sample_rows(fit, rows)
        key, n = (fold, len(some), id(setting.basis)), len(fit)
        if key not in self._packs:
            if fold not in self._prepared:
                self._prepare(fold)
            X = self._prepared[fold]
            Z = np.vstack([X[np.searchsorted(fit, some)], X[n:]])
            if setting.basis:
                Z = make_pipeline(*self._steps(setting, fold)).fit(X[:n]).transform(Z)
            self._packs[key] = self.folder / "rows" / str(len(self._packs))
            y = self.table.y[np.concatenate([some, held])]
            npy_folder.write_npy_folder(self._packs[key], Parsed(Z, y, n_given_train=len(some)))
        return self._packs[key]

    def _prepare(self, fold: int) -> None:
        """Convert the rows of the split `fold` to numbers, and store them.

        The conversion is learned from the training rows of the split only.
        """
        X, y, (fit, held) = self.table.X, self.table.y, self.splits[fold]
        steps, start = Pipeline(self._preparation()), monotonic()
        both = steps.fit_transform(X.iloc[fit], y[fit]), steps.transform(X.iloc[held])
        self._prepared[fold] = np.vstack(both)
        self.names[fold] = tuple(list_used_columns(steps))
        seconds = (monotonic() - start) / (len(fit) + len(held))
        self.preparing = max(self.preparing, seconds)

    def _preparation(self) -> list[Any]:
        """Return the unfitted pipeline steps that convert a table to numeric rows."""
        steps: list[Any] = [("prepare", Preparation(self.least_rows, self.columns))]
        if self.uses_column_screening:
            steps.append(("screen", ColumnScreen(self.n_columns, self.table.n_classes > 0)))
        return steps

    def _experiment(self, setting: Candidate, fold: int, rows: int) -> Any:
        # Only the last split contains the held-out rows. Results of all other splits get the role
        # `validation`. Otherwise a mean over the table of results would mix validation errors with
        # errors on held-out rows.
        place, chooses = self._pack(setting, fold, rows), fold < len(self.splits) - 1
        role = VALIDATION if chooses else METHOD if setting.M else MODEL
        task = "classification" if self.table.n_classes else "regression"
        data = {"path": str(place.absolute()), "name": f"rows-{place.name}", "task": task}
        sampler = {"class": "sklearn.preprocessing.FunctionTransformer", "label": setting.label}
        content = {
            "dataset": data,
            "scaling": "none" if setting.basis else setting.scaling,
            "target": "raw",
            # This bandwidth is never used, because the solver selects its own bandwidth. Without a
            # value, the median distance between rows would be computed, which is invalid (0) if
            # most rows are equal.
            "bandwidth": 1.0,
            "M": max(1, setting.M),
            "samplers": {**sampler, "role": role},
            "solver": {"class": setting.estimator, **setting.parameters, **setting.chosen},
            "trials": 1,
            "seed": self.table.seed,
            "predictions": True,
        }
        document = yamlfile.Document(content, "choose")
        return config.build_experiment(document, self.folder.name, allow_imports=True)

    def measure(
        self, trials: Iterable[tuple[Candidate, int, int]], deadline: float | None
    ) -> list[Any]:
        """Fit and evaluate candidate models on splits of the rows, and return the results.

        An entry of `trials` consists of a candidate, the number of a split, and the number of
        training rows. The result of a failed fit is None. `deadline` is a value of
        `time.monotonic`, or None.
        """
        answers: list[Any] = []
        planned, places = [], []
        for place, (setting, fold, rows) in enumerate(trials):
            answers.append(None)
            with self.record_failure(setting):
                planned.append(self._experiment(setting, fold, rows))
                places.append(place)
        if not planned:
            return answers
        plan = plan_run(planned, self.folder)
        # The manifest must list the trials of all rounds so far, but only the trials of this round
        # are run.
        self.planned += zip(planned, plan.planned, strict=True)
        every = [list(part) for part in zip(*self.planned, strict=True)]
        plan = replace(plan, experiments=every[0], planned=every[1])
        # Each worker process gets an equal share of the free memory. A fit that needs more memory
        # is recorded as failed, and the search continues.
        memory = max(LEAST_MEMORY, int(0.8 * count_free_bytes() / self.workers))
        limits = Limits(memory, None, deadline)
        summary = runner.run_plan(plan, n_jobs=self.workers, limits=limits, retry=CUT_OFF)
        self.interrupted |= summary.interrupted
        # Read the results from the stored rows, which also contain the results of an interrupted
        # search.
        said = {row["trial_id"]: row for row in Store(self.folder).read_rows()}
        ended = [said[t.id]["status"] if t.id in said else "timeout" for t in plan.trials]
        self.stopped |= not (self.interrupted or {*CUT_OFF}.isdisjoint(ended))
        for place, trial, status in zip(places, plan.trials, ended, strict=True):
            if status == "ok":
                answers[place] = self._read_answer(said[trial.id])
            elif status in CUT_OFF:
                self.excluded.add(trial.sampler.label)
            elif status == "failed":
                message = said[trial.id]["message"].partition("\n")[0]
                self.failed[trial.sampler.label] = escape_line(message)
        return answers

    def _read_answer(self, row: Mapping[str, str]) -> dict[str, Any]:
        """Return the result of a fit: its predictions and other arrays, and the measured times.

        `row` is the row of the fit in the table of results.
        """
        said: dict[str, Any] = predictions.read(self.folder, row["trial_id"])
        # Predictions for the validation rows, shape (n, k). For a classification, these are the
        # probabilities of the k classes.
        said["scores"] = said.get("probabilities", said["predictions"])
        self.clocks += float(row["t_train"]), float(row["cpu_train"])
        fit = sum(float(row[t]) for t in ("t_pp", "t_features", "t_train"))
        return said | {"fit": fit, "said": float(row["t_test"])}

    def round(
        self, settings: Sequence[Candidate], rows: int, share: float | None = 1.0
    ) -> list[Candidate]:
        """Fit candidate models on `rows` training rows, and return the models with results.

        A candidate is skipped if all fits of the round would need more than the fraction `share` of
        the remaining time. If `share` is None, no candidate is skipped.
        """
        folds, load, taken = len(self.splits) - 1, 0.0, []
        # Start a candidate only if its estimated time fits into this round, and enough time remains
        # for the last fits. A candidate that is stopped at the deadline would use time without a
        # result.
        end = None if share is None else monotonic() + share * self.compute_seconds_left()
        for setting in settings:
            seconds, fit = self._needed(setting, rows)
            wall = load + seconds * folds / self.workers
            if end is None or max(wall, seconds) <= min(
                end - monotonic(), self.compute_seconds_left(fit, setting.family)
            ):
                load = wall
                taken.append(setting)
            else:
                self.stopped = True
                self.excluded.add(setting.label)
        if self.interrupted or not taken:
            return []
        # Stopping a process at a deadline costs time, because a new process has to be started.
        # Therefore a round has its own deadline only until the first kernel has a result. Later
        # rounds may use all the remaining time.
        if end is not None and FEATURES in {c.family for c in self.candidates}:
            end = monotonic() + self.compute_seconds_left()
        trials = [(setting, fold, rows) for setting in taken for fold in range(folds)]
        said = iter(self.measure(trials, end))
        # A candidate is kept only if every fold has a result. A mean over fewer folds would be
        # computed from different rows than the means of all other candidates.
        every = [(setting, [next(said) for _ in range(folds)]) for setting in taken]
        made = []
        for setting, parts in every:
            if None not in parts:
                with self.record_failure(setting):
                    made.append(self._candidate(setting, parts, rows))
        return made

    @contextmanager
    def record_failure(self, candidate: Candidate) -> Iterator[None]:
        """Catch an exception, and record it as the error of a candidate model.

        The search continues, also after a MemoryError.
        """
        try:
            yield
        except Exception as error:
            message = str(error).strip() or type(error).__name__
            self.failed[candidate.label] = escape_line(message)
            log.debug("%s failed", candidate.label, exc_info=True)

    def _candidate(self, setting: Candidate, parts: Sequence[Any], rows: int) -> Candidate:
        """Add a candidate model with the results of its fits on all splits, and return it.

        `parts` contains the results per split, and `rows` is the number of training rows.
        """
        # Each validation row is predicted by a model that was not fitted on this row. All
        # candidates use the same rows, so their losses can be compared row by row.
        scores = np.vstack([said["scores"] for said in parts])
        seconds = took = float(np.mean([said["fit"] for said in parts]))
        fixed = setting
        # Each split selected its own bandwidth and penalty. The final model uses the geometric
        # means of both over the splits. An arithmetic mean of such scale parameters would be
        # dominated by the largest value.
        if setting.M:
            chosen = np.array([said["chosen"] for said in parts])
            # exponential of the mean logarithm, which is the geometric mean over all splits
            factor, alpha, *link = np.exp(np.log(chosen).mean(axis=0)).tolist()
            own = {"factors": [factor], "alphas": [alpha], "link": link, "metric": "none"}
            fixed = replace(setting, chosen=own)
            seconds = float(np.mean([said["seconds"] for said in parts]))
            if setting.parameters["metric"] != "none":
                if len(set(self.names.values())) > 1:
                    raise ValueError(
                        "The splits have different columns, so that their metrics cannot be "
                        "averaged."
                    )
                roots = [said["root"] for said in parts]
                fixed = replace(fixed, basis=(*roots, np.mean(roots, axis=0)))
        # Convert the time of a fit on `rows` rows to the time of a fit on all training rows of a
        # split.
        seconds *= setting._estimate_work(self.n) / setting._estimate_work(min(rows, self.n))
        return self.add(replace(fixed, seconds=seconds, took=took), scores)

    def add(self, candidate: Candidate, scores: Array) -> Candidate:
        """Add a candidate model with its predictions for the validation rows, and return it.

        `scores` contains the predictions, with shape (n, k).
        """
        value = self.compute_loss(self.table.metric, scores, self.held)
        made = replace(candidate, scores=scores, loss=value)
        self.candidates.append(made)
        if self.on_candidate is not None:
            self.on_candidate(made)
        return made

    def compute_loss(self, metric: str, scores: Array, rows: Index) -> Loss:
        """Return the loss of predictions for the rows at the positions `rows`.

        `scores` contains the predictions, with shape (n, k).
        """
        groups = None if self.table.groups is None else self.table.groups[rows]
        said = scores if self.table.n_classes else scores[:, 0]
        return compute_loss(metric, self.table.y[rows], said, groups)

    def compute_seconds_left(self, more: float = 0.0, family: str = "") -> float:
        """Return the seconds that remain for the search before the final fits.

        In the final fits, the best model of each family, such as trees, is fitted on all training
        rows, and the selected model is fitted again on all rows. If a further model is planned,
        `family` is its family, and its fit needs `more` seconds per split.
        """
        # Estimate the time T of the fits that follow the search. First the best candidate of each
        # family is fitted on all training rows, in parallel. Then the selected candidate, which may
        # be an average, is fitted on all rows. Therefore T = SPARE * (n_train / n) * (1 / workers +
        # 4/3) * (sum of the seconds of a fit on a split). The factor is 4/3 because a quarter of
        # all rows is held out.
        every, again = len(self.train) + len(self.test), len(self.splits) - 1 not in self._prepared
        # Add the time for preparing columns: of all rows, of the held-out rows again, and of the
        # last split if its columns are not prepared yet.
        seconds = self._seconds_of_best()
        seconds[family] = max(seconds.get(family, 0.0), more)
        preparing = self.preparing * ((1 + again) * every + len(self.test))
        single = sum(seconds.values())
        fits = self._fits_per_second * (single + self._seconds_of_others()) + SPARE * preparing
        fits += min(SPARE * len(self.train) / self.n * single, EXPLAINING * self.total)
        return (1 - RESTART) * (self.deadline - monotonic()) - fits

    @property
    def _fits_per_second(self) -> float:
        """Ratio of the time of all final fits to the time of fits of these models on one split."""
        return SPARE * len(self.train) / self.n * (1 / self.workers + 4 / 3)

    def _seconds_of_best(self) -> dict[str, float]:
        """Return a dictionary from each family to the seconds of a fit of its best single model."""
        single = [c for c in self.candidates if not c.members]
        kinds = dict.fromkeys(c.family for c in single)
        return {
            f: self.find_simplest_good_candidate([c for c in single if c.family == f]).seconds
            for f in kinds
        }

    def _seconds_of_others(self) -> float:
        """Return the seconds per split that are reserved for fitting an average of kernel models.

        The best kernel model is not included, because it is fitted in any case as the best of its
        family.
        """
        features = [c for c in self.candidates if c.family == FEATURES and not c.members]
        seconds = sum(c.seconds for c in self.find_leading_candidates(features, AVERAGED)[1:])
        return min(seconds, AVERAGING * self.total / self._fits_per_second)

    def compute_seconds_for_averages(self) -> float:
        """Return the largest time in seconds for fitting the members of an average on one split."""
        reserved = sum(self._seconds_of_best().values()) + self._seconds_of_others()
        return reserved + max(0.0, self.compute_seconds_left()) / self._fits_per_second

    def _needed(self, setting: Candidate, rows: int) -> tuple[float, float]:
        """Return the estimated seconds of a fit on `rows` rows, and on a whole training set."""
        # Scale the time of the largest measured candidate of this family by the ratio of the
        # estimated work. If no candidate of the family was measured, the estimate is 0, so the
        # candidate is measured.
        alike = [c for c in self.candidates if c.family == setting.family and not c.members]
        if not alike:
            return 0.0, 0.0
        like = max(alike[::-1], key=lambda c: c.M)
        rate = like.seconds / like._estimate_work(self.n)
        trial = (
            rate
            * setting._estimate_work(min(rows, self.n))
            * len(setting.parameters.get("factors", [1]))
        )
        if setting.parameters.get("metric", "none") != "none":
            learned = [c.took for c in alike if c.parameters["metric"] != "none"]
            trial = max(learned, default=trial)
        return OVERHEAD + trial, rate * setting._estimate_work(self.n)

    def run(self) -> None:
        """Fit candidate models until the time budget is used or no candidate remains.

        Raise DataError if no column can be used.
        """
        self.columns  # noqa: B018 - raises DataError before anything is measured
        kind = "classes" if self.table.n_classes else self.table.metric
        models = [Candidate(**model) for model in CONTENDERS["models"][kind]]
        # The constant and the linear model are measured first and have no deadline. Therefore a
        # search always has a result.
        self.round(models[:2], self.few, share=None)
        self.round(models[2:], self.few, ROUND_SHARES["boosting"])
        made = self.round(self._kernels(), self.few, ROUND_SHARES["first"])
        small = [c for c in made if c.family == FEATURES]
        if self.few < self.n:
            self.round(models, self.n, ROUND_SHARES["metric"])
        # Alternate between a step for trees and a step for kernels. Otherwise the first of the two
        # could use all the time, even without reducing the loss.
        steps = [self._improve_trees(models[-1]), self._improve_kernels(small)]
        while steps:
            steps = [each for each in steps if next(each, None) is not None]

    def _improve_kernels(self, small: list[Candidate]) -> Iterator[list[Candidate]]:
        """Improve the kernel models step by step, and yield the fitted models of each step.

        First distance metrics are learned, then the number of landmarks (training rows that define
        the kernel features) is increased. `small` contains the kernel models fitted so far.
        """
        yield from self._learn_metrics(small)
        yield from self._add_landmarks(small)

    def _improve_trees(self, default: Candidate) -> Iterator[list[Candidate]]:
        """Fit tree models with further settings, and yield the fitted models of each step.

        A fixed list of settings in the file contenders.yaml is used first, followed by groups of
        random settings. Boosting minimizes the same loss as the model `default`.
        """
        random, drawn = CONTENDERS["random"], []
        for number in range(random["brackets"]):
            every = draw_tree_settings(random["kind"], random["size"], 1 + number)
            drawn.append([{"kind": random["kind"], "parameters": each} for each in every])
        first = 1
        for settings in (CONTENDERS["portfolio"], *drawn):
            alive = [self._tree(n, default, **each) for n, each in enumerate(settings, first)]
            first += len(settings)
            # Successive halving: measure all candidates on a few rows, keep the better half, and
            # repeat with more rows.
            for rows in sorted({self.few, self.middle, self.n}):
                made = self.round(alive, rows, ROUND_SHARES["trees"]) or self.round(alive, rows)
                if not made:
                    return
                yield made
                alive = sorted(made, key=lambda c: c.loss.value)[: (len(made) + 1) // 2]

    def _tree(self, n: int, default: Candidate, kind: str, parameters: Any) -> Candidate:
        """Return an unfitted candidate for the n-th setting of boosting or of other tree models.

        Boosting minimizes the same loss as the model `default`.
        """
        path = CONTENDERS["estimators"][kind]["classes" if self.table.n_classes else "rmse"]
        family, own = BOOSTING if kind == BOOSTING else TREES, {**parameters, "random_state": 0}
        if family == BOOSTING and "loss" in default.parameters:
            own["loss"] = default.parameters["loss"]
        if self.least_rows > 1:  # a leaf of a tree stores the mean of its rows
            least = max(self.least_rows, own.get("min_samples_leaf", 0))
            own["min_samples_leaf"] = least
        return Candidate(f"{kind}, setting {n}", family, path, own)

    def _kernels(self) -> list[Candidate]:
        """Return unfitted kernel models with few features, one for each kernel and scaling."""
        M = min(CONTENDERS["sizes"]["few"], self.few)
        kind, own = "Nystroem", {**CONTENDERS["features"], "n_components": M}
        if self.least_rows > 1:
            kind, own["features"] = "Fourier features", "frequencies"
        suffix = "Classifier" if self.table.n_classes else "Regressor"
        path = f"rfbench.solvers.kernel_model.Kernel{suffix}"
        made = []
        for kernel, factors in CONTENDERS["kernels"].items():
            for scaling in CONTENDERS["scalings"]:
                label = f"{kind}, {kernel} kernel, {scaling}, M = {M}"
                keys = {**own, "kernel": kernel, "factors": factors}
                made.append(Candidate(label, FEATURES, path, keys, scaling=scaling))
        return made

    def _learn_metrics(self, small: list[Candidate]) -> Iterator[list[Candidate]]:
        """Learn distance metrics for the best kernel models, as long as the loss falls.

        The fitted models are yielded for each kernel model. `small` contains the kernel models
        fitted so far.
        """
        # Metrics that were learned in different splits are averaged. This is not possible if
        # columns are selected separately in each split, because the matrices then belong to
        # different columns.
        if self.uses_column_screening:
            return
        # Learning a metric needs as much time as measuring several kernels. Therefore only kernels
        # with a loss of at most NEAR times the smallest loss get a metric, and the loop stops at
        # the first metric that does not reduce the loss.
        ranked = sorted(small, key=lambda c: c.loss.value)
        for candidate in [c for c in ranked if c.loss.value <= NEAR * ranked[0].loss.value]:
            least = min(c.loss.value for c in small)
            kinds = {kind: f"{candidate.label}, {kind} metric" for kind in CONTENDERS["metrics"]}
            settings = [
                candidate._with_parameters(label, metric=kind) for kind, label in kinds.items()
            ]
            made = self.round(settings, self.middle, ROUND_SHARES["metric"])
            small += made
            yield made
            if not made or min(c.loss.value for c in made) > GAIN * least:
                break

    def find_leading_candidates(
        self, candidates: Sequence[Candidate], count: int
    ) -> list[Candidate]:
        """Return the `count` kernel models with the smallest losses.

        At most one model is returned for each pair of scaling and kernel.
        """
        # Keep only the best bandwidth of each kernel. Otherwise the best candidates would often be
        # one kernel with several bandwidths.
        first: dict[Any, Candidate] = {}
        for each in sorted(candidates, key=lambda c: c.loss.value):
            first.setdefault((each.scaling, each.parameters["kernel"]), each)
        return list(first.values())[:count]

    def _larger(self, candidate: Candidate, M: int, steps: Sequence[float] = (1.0,)) -> Candidate:
        """Return an unfitted model with the kernel of `candidate` and with `M` features.

        The bandwidth is selected among the factors `steps` times the bandwidth of `candidate`.
        """
        label = candidate.label.replace(f"M = {candidate.M}", f"M = {M}")
        factors = [candidate.chosen["factors"][0] * step for step in steps]
        return candidate._with_parameters(label, n_components=M, factors=factors, metric="none")

    def _add_landmarks(self, small: list[Candidate]) -> Iterator[list[Candidate]]:
        """Increase the number of features of the best kernel models as long as the loss falls.

        The features are defined by landmarks, a sample of training rows. The fitted models are
        yielded for each number of features.
        """
        sizes, alive = CONTENDERS["sizes"], self.find_leading_candidates(small, 4)
        # Remove kernels whose loss with few landmarks is more than FAR times the smallest loss.
        # With more landmarks, such kernels hardly ever become the best kernel.
        near = [c for c in alive if c.loss.value <= FAR * alive[0].loss.value]
        M = min(sizes["middle"], self.n)
        settings = [self._larger(c, M, CONTENDERS["steps"]) for c in near if M > c.M]
        alive = self.round(settings, self.middle, ROUND_SHARES["middle"]) or alive[:1]
        alive = self.find_leading_candidates(alive, 3)
        yield alive
        # Double the number of landmarks as long as the loss falls below GAIN times the previous
        # loss. Each doubling multiplies the work by up to eight, which is wasted if the loss does
        # not fall.
        while alive:
            wanted = [(c, min(2 * c.M, self.n)) for c in alive]
            larger = [(c, self._larger(c, M)) for c, M in wanted if c.M < M <= sizes["most"]]
            made = self.round([setting for _, setting in larger], self.n)
            yield made
            least = {setting.label: GAIN * c.loss.value for c, setting in larger}
            alive = [after for after in made if after.loss.value <= least[after.label]]

    def find_best_candidate_of_each_family(self) -> dict[str, Candidate]:
        """Return a dictionary from each family of models to its best model.

        The best model is the simplest one whose loss is close to the smallest loss of the family.
        """
        families = dict.fromkeys(c.family for c in self.candidates)
        return {
            f: self.find_simplest_good_candidate([c for c in self.candidates if c.family == f])
            for f in families
        }

    def find_simplest_good_candidate(self, candidates: Sequence[Candidate]) -> Candidate:
        """Return the simplest of the models whose loss is within 1 % of the smallest loss.

        For the misclassification error, the rule is different. First the models are selected whose
        error is within half a standard error of the smallest error. The rule is then applied to
        their log-losses.
        """
        # The smallest of many losses is partly small by chance, and most candidates are large
        # models. Therefore the simplest model is selected among the models with nearly the smallest
        # loss.
        value = {c: c.loss.value for c in candidates}
        if self.table.metric == "error":
            least = min(candidates, key=lambda c: value[c]).loss
            # If the error rate is small, 1 % of the error rate corresponds to less than one row.
            # Therefore all models within half a standard error of the smallest error rate count as
            # equally good. Their log-losses are then compared.
            reach = least.value + 0.5 * least.standard_error
            near = [c for c in candidates if value[c] <= reach]
            value = {c: self.compute_loss("log-loss", c.scores, self.held).value for c in near}
        close = [c for c in value if value[c] <= CLOSE * min(value.values())]
        # Prefer a single model, because an average needs more time per prediction. An average is
        # selected only if no single model has a loss within 1 % of the smallest loss.
        return min(close, key=lambda c: (KINDS.index(c.family), len(c.members), c.loss.value))

    def make_model(self, candidate: Candidate) -> Model:
        """Return a candidate as an unfitted scikit-learn pipeline that accepts a DataFrame."""
        named: list[Any] = []
        for part in candidate.parts:
            own = plugins.load_class(part.estimator)(**{**part.parameters, **part.chosen})
            named.append((f"m{len(named)}", make_pipeline(*self._steps(part), own)))
        average = (
            partial(VotingClassifier, voting="soft") if self.table.n_classes else VotingRegressor
        )
        weights = list(candidate.members.values())
        estimator = average(named, weights=weights) if weights else named[0][1]
        return Model([*self._preparation(), ("predict", estimator)])

    def _steps(self, part: Candidate, fold: int = -1) -> list[Any]:
        """Return the pipeline steps of a model between its preparation and its estimator.

        The steps are the scaling, and the transformation by the distance metric that was learned in
        the split `fold`. By default, the mean of the metrics of all splits is used.
        """
        steps: list[Any] = [] if part.scaling == "none" else [SCALERS[part.scaling]()]
        if part.basis:
            steps.append(FunctionTransformer(partial(apply_metric, part.basis[fold])))
        return steps

    def clear(self) -> None:
        """Remove the rows that the search has stored in its working folder.

        If the model may not contain training rows, the results of all fits are removed, too.
        """
        files.remove_folder(self.folder / "rows")
        if self.least_rows > 1:
            files.remove_folder(self.folder / predictions.PREDICTIONS_KEY)
            files.remove(Store(self.folder).csv)
