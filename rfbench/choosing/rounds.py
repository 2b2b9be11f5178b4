"""Rounds within a time budget: all candidates on few rows, then better candidates on more rows.

A candidate is measured by a trial of `rfbench.experiment`, in a child process with one thread that
ends at the deadline.
"""

from __future__ import annotations

import itertools
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
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from rfbench import config, files, plugins, yamlfile
from rfbench.arrays import Array
from rfbench.choosing.losses import Loss, loss
from rfbench.choosing.model import Model
from rfbench.choosing.screen import ColumnScreen, get_used_columns
from rfbench.choosing.table import LabelledTable
from rfbench.datasets import packed
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
# Families of models, in increasing order of complexity.
KINDS = "constant", "linear", "features", "boosting", "blend"
CONSTANT, LINEAR, FEATURES, BOOSTING, BLEND = KINDS
# Scalers by the name of the scaling in a configuration.
SCALERS: Any = {"rank": RankScaler, "robust": SmoothClipScaler, "standard": StandardScaler}
CUT_OFF = "timeout", "crashed", "memory"
# The time of a fit is assumed to grow like M (M + LINEAR_M) (rows + SOLVED M). Up to LINEAR_M
# features, the kernel values need more time than their products (measured). The solution of the
# linear system needs as much time as SOLVED M additional rows. The time of boosting is mostly per
# tree, so it needs as much time as BOOSTING_ROWS additional rows. OVERHEAD is in seconds per trial.
# If one of these constants is doubled, candidates are skipped that would be finished in time.
LINEAR_M, SOLVED, BOOSTING_ROWS, OVERHEAD = 1_000, 8, 7_000, 0.1
# RESTART: share of the time that is reserved for starting a process after another process was
# killed. SPARE: factor on the estimated time of the last fits. The values were chosen without a
# measurement. With twice RESTART, the rounds lose 3 s more of a minute.
RESTART = 0.05
SPARE = 1.1
# More features are tried if the loss falls below GAIN times the previous loss. The other constants
# are limits relative to the smallest loss. CLOSE: the loss counts as equal. NEAR: the kernel gets a
# learned metric. FAR: the candidate gets more landmarks. The values were chosen without a
# measurement. If the distances of these constants from 1 are doubled, a simpler model may be 2 %
# worse, and fewer sizes are tried. If the distances are halved, more time is used for small gains.
GAIN = 0.995
CLOSE, NEAR, FAR = 1.01, 1.1, 1.5
_FILE = Path(__file__).with_name("contenders.yaml")  # list of the candidates
CONTENDERS: Any = yamlfile.parse(_FILE.read_bytes(), _FILE.name).value
ROUND_SHARES = CONTENDERS["shares"]


@dataclass(frozen=True, eq=False)
class Candidate:
    """Candidate of one size: the settings of a trial, and the results after the measurement."""

    label: str
    family: str  # one of `KINDS`
    estimator: str = ""  # import path; empty for an average
    parameters: Mapping[str, Any] = field(default_factory=dict)
    # selected parameters, known after the measurement
    chosen: Mapping[str, Any] = field(default_factory=dict)
    scaling: str = "none"
    # Roots of the learned metric in which the rows are given: one for each split, then their mean.
    basis: tuple[Array, ...] = ()
    # weights of an average's members
    members: Mapping[Candidate, float] = field(default_factory=dict)
    scores: Any = None  # scores of the validation rows: numbers or probabilities, shape (n, k)
    loss: Any = None  # `rfbench.choosing.losses.Loss`
    seconds: float = 0.0  # seconds of a fit on the rows of one split
    took: float = 0.0  # seconds of the trial
    predicting: float = 0.0  # seconds for 1,000 held-out rows; 0 before they are predicted

    @property
    def M(self) -> int:
        """Number of kernel features of all members; 0 for other models."""
        return sum(int(part.parameters.get("n_components", 0)) for part in self.parts)

    @property
    def parts(self) -> list[Candidate]:
        """Fitted models: the members of an average, or this model."""
        return list(self.members) or [self]

    def work(self, rows: int) -> float:
        """Return the time of a fit on `rows` rows, up to a constant factor."""
        # W ~ M (M + LINEAR_M) (n + SOLVED M): n M^2 for the products, n M for the kernel values,
        # M^3 for the linear system. Without the linear term, small M would seem faster than they
        # are.
        rows += SOLVED * self.M + BOOSTING_ROWS * (self.family == BOOSTING)
        return float(rows * (self.M * (self.M + LINEAR_M) or 1))

    def at(self, label: str, **parameters: Any) -> Candidate:
        """Return a candidate with other parameters, which is not measured yet."""
        return replace(self, label=label, parameters={**self.parameters, **parameters}, chosen={})


@dataclass
class Rounds:
    """Candidates for one table, measured in rounds until the time is used."""

    table: LabelledTable
    splits: list[Sides]  # splits for the selection; the last one is training rows and held-out rows
    deadline: float  # a value of `time.monotonic`
    folder: Path  # folder from `rfbench.choosing.workplace`
    workers: int = 1
    # Smallest number of training rows behind each stored value; above 1, landmarks are not used.
    least_rows: int = 1
    n_columns: int | None = None  # largest number of prepared columns, by default all
    on_candidate: Callable[[Candidate], None] | None = None
    candidates: list[Candidate] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)  # error messages per label
    stopped: bool = False  # time or memory stopped a candidate
    interrupted: bool = False
    clocks: Any = field(default_factory=lambda: np.zeros(2))  # wall and CPU seconds of fits
    # experiments with their planned trials
    planned: list[tuple[Any, Any]] = field(default_factory=list)
    # names of the columns of each split
    names: dict[int, tuple[str, ...]] = field(default_factory=dict)
    preparing: float = 0.0  # seconds per row
    _prepared: dict[int, Array] = field(default_factory=dict)
    _packs: dict[Any, Path] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Split the rows into validation, training and held-out rows."""
        *chosen, (self.train, self.test) = self.splits
        self.held = np.concatenate([held for _, held in chosen])  # the validation rows
        self.n = min(len(fit) for fit, _ in chosen)  # smallest number of fitted rows of a split
        self.few, self.middle = (min(self.n, n) for n in CONTENDERS["rows"].values())

    @cached_property
    def columns(self) -> PreparedColumns:
        """Columns of the model and of each split, from all training and validation rows.

        Raises DataError if no column can be used.
        """
        return Preparation(self.least_rows).fit(self.table.X.iloc[self.train]).columns_

    @property
    def is_screened(self) -> bool:
        """True if each model selects its columns from its own training rows."""
        return self.n_columns is not None and len(self.columns.kept) > self.n_columns

    def _pack(self, setting: Candidate, fold: int, rows: int) -> Path:
        """Write the rows of a split for trials, with `rows` rows to fit; return the folder."""
        # All candidates share one folder per fold, number of rows and metric, so they are compared
        # on the same rows. An existing folder is used again.
        fit, held = self.splits[fold]
        some = self.table.some(fit, rows)
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
            packed.write(self._packs[key], Parsed(Z, y, n_given_train=len(some)))
        return self._packs[key]

    def _prepare(self, fold: int) -> None:
        """Prepare the rows of a split; the preparation is fitted on its training part."""
        X, y, (fit, held) = self.table.X, self.table.y, self.splits[fold]
        steps, start = Pipeline(self._preparation()), monotonic()
        both = steps.fit_transform(X.iloc[fit], y[fit]), steps.transform(X.iloc[held])
        self._prepared[fold] = np.vstack(both)
        self.names[fold] = tuple(get_used_columns(steps))
        seconds = (monotonic() - start) / (len(fit) + len(held))
        self.preparing = max(self.preparing, seconds)

    def _preparation(self) -> list[Any]:
        """Return the unfitted steps that turn a table into numeric rows."""
        steps: list[Any] = [("prepare", Preparation(self.least_rows, self.columns))]
        if self.is_screened:
            steps.append(("screen", ColumnScreen(self.n_columns, self.table.n_classes > 0)))
        return steps

    def _experiment(self, setting: Candidate, fold: int, rows: int) -> Any:
        # The last split contains the held-out rows: its trials are rows of the results table.
        # Trials of the other splits get the role `validation`, because an average over both would
        # mix selection and measurement.
        place, chooses = self._pack(setting, fold, rows), fold < len(self.splits) - 1
        role = VALIDATION if chooses else METHOD if setting.M else MODEL
        task = "classification" if self.table.n_classes else "regression"
        data = {"path": str(place.absolute()), "name": f"rows-{place.name}", "task": task}
        sampler = {"class": "sklearn.preprocessing.FunctionTransformer", "label": setting.label}
        content = {
            "dataset": data,
            "scaling": "none" if setting.basis else setting.scaling,
            "target": "raw",
            "bandwidth": 1.0,  # not used; the median distance would be 0 if most rows are equal
            "M": max(1, setting.M),
            "samplers": {**sampler, "role": role},
            "solver": {"class": setting.estimator, **setting.parameters, **setting.chosen},
            "trials": 1,
            "seed": self.table.seed,
            "predictions": True,
        }
        document = yamlfile.Document(content, "choose")
        return config.from_document(document, self.folder.name, allow_imports=True)

    def measured(
        self, trials: Iterable[tuple[Candidate, int, int]], deadline: float | None
    ) -> list[Any]:
        """Run trials of candidates, each on `rows` rows of a split; a failed trial returns None."""
        answers: list[Any] = []
        planned, places = [], []
        for place, (setting, fold, rows) in enumerate(trials):
            answers.append(None)
            with self.failing(setting):
                planned.append(self._experiment(setting, fold, rows))
                places.append(place)
        if not planned:
            return answers
        plan = plan_run(planned, self.folder)
        # The manifest describes all rounds so far, but only the current round is run.
        self.planned += zip(planned, plan.planned, strict=True)
        every = [list(part) for part in zip(*self.planned, strict=True)]
        plan = replace(plan, experiments=every[0], planned=every[1])
        # Each worker gets an equal share of the free memory: a trial that needs more is stored as
        # failed, and the search continues.
        memory = max(LEAST_MEMORY, int(0.8 * count_free_bytes() / self.workers))
        limits = Limits(memory, None, deadline)
        summary = runner.run(plan, n_jobs=self.workers, limits=limits, retry=CUT_OFF)
        self.interrupted |= summary.interrupted
        # Results are read from the rows, so an interrupted search resumes from them.
        said = {row["trial_id"]: row for row in Store(self.folder).rows()}
        ended = [said[t.id]["status"] if t.id in said else "timeout" for t in plan.trials]
        self.stopped |= not (self.interrupted or {*CUT_OFF}.isdisjoint(ended))
        for place, trial, status in zip(places, plan.trials, ended, strict=True):
            if status == "ok":
                answers[place] = self._said(said[trial.id])
            elif status == "failed":
                message = said[trial.id]["message"].partition("\n")[0]
                self.failed[trial.sampler.label] = escape_line(message)
        return answers

    def _said(self, row: Mapping[str, str]) -> dict[str, Any]:
        """Return the results of a trial: its arrays, among them the scores, and its times."""
        said: dict[str, Any] = predictions.read(self.folder, row["trial_id"])
        said["scores"] = said.get("probabilities", said["predictions"])  # shape (n, k)
        self.clocks += float(row["t_train"]), float(row["cpu_train"])
        fit = sum(float(row[t]) for t in ("t_pp", "t_features", "t_train"))
        return said | {"fit": fit, "said": float(row["t_test"])}

    def round(
        self, settings: Sequence[Candidate], rows: int, share: float | None = 1.0
    ) -> list[Candidate]:
        """Measure the settings that fit into `share` of the remaining time; None means no limit."""
        folds, load, taken = len(self.splits) - 1, 0.0, []
        # A candidate is started only if its estimated time fits into the round and leaves enough
        # time for the last fits. A candidate that is killed uses time without a result.
        end = None if share is None else monotonic() + share * self.left()
        for setting in settings:
            seconds, fit = self._needed(setting, rows)
            wall = load + seconds * folds / self.workers
            if end is None or max(wall, seconds) <= min(end - monotonic(), self.left(fit)):
                load = wall
                taken.append(setting)
            else:
                self.stopped = True
        if self.interrupted or not taken:
            return []
        # After a child process is killed, a new one has to start. Only the first kernels, and
        # boosting next to them, get a deadline before their time is needed.
        if end is not None and FEATURES in {c.family for c in self.candidates}:
            end = monotonic() + self.left()
        trials = [(setting, fold, rows) for setting in taken for fold in range(folds)]
        said = iter(self.measured(trials, end))
        # A candidate counts only if every fold has a result: a mean over fewer folds would be over
        # different rows.
        every = [(setting, [next(said) for _ in range(folds)]) for setting in taken]
        made = []
        for setting, parts in every:
            if None not in parts:
                with self.failing(setting):
                    made.append(self._candidate(setting, parts, rows))
        return made

    @contextmanager
    def failing(self, candidate: Candidate) -> Iterator[None]:
        """Record an error of a candidate with its message, so that the search continues.

        MemoryError also counts as an error of the candidate.
        """
        try:
            yield
        except Exception as error:
            message = str(error).strip() or type(error).__name__
            self.failed[candidate.label] = escape_line(message)
            log.debug("%s failed", candidate.label, exc_info=True)

    def _candidate(self, setting: Candidate, parts: Sequence[Any], rows: int) -> Candidate:
        """Return a candidate with the results of the trials of all splits."""
        # The scores of all validation rows; each row is scored by a fit without that row. The loss
        # is one number over these rows, and the losses of two candidates can be paired row by row.
        scores = np.vstack([said["scores"] for said in parts])
        seconds = took = float(np.mean([said["fit"] for said in parts]))
        fixed = setting
        # Each split selected its own bandwidth and penalty. The final model uses their geometric
        # means because both are scales: an arithmetic mean would follow the largest value.
        if setting.M:
            chosen = np.array([said["chosen"] for said in parts])
            factor, alpha, *link = np.exp(np.log(chosen).mean(axis=0)).tolist()  # over all splits
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
        # Convert the time from the fitted rows to all rows of a split.
        seconds *= setting.work(self.n) / setting.work(min(rows, self.n))
        return self.add(replace(fixed, seconds=seconds, took=took), scores)

    def add(self, candidate: Candidate, scores: Array) -> Candidate:
        """Add a candidate with its scores of the validation rows, and return it."""
        value = self.loss(self.table.metric, scores, self.held)
        made = replace(candidate, scores=scores, loss=value)
        self.candidates.append(made)
        if self.on_candidate is not None:
            self.on_candidate(made)
        return made

    def loss(self, metric: str, scores: Array, rows: Index) -> Loss:
        """Return the loss of the scores of `rows`; scores have shape (n, k)."""
        groups = None if self.table.groups is None else self.table.groups[rows]
        said = scores if self.table.n_classes else scores[:, 0]
        return loss(metric, self.table.y[rows], said, groups)

    def left(self, more: float = 0.0) -> float:
        """Return the seconds until the deadline, minus the time of the fits after the rounds.

        These are parallel fits of the best candidate of each family, and then one more fit. `more`
        is the time of a planned fit.
        """
        # After the rounds, the best candidate of each family is fitted on all training rows, in
        # parallel, and measured on the held-out rows. The selected one is then fitted on all rows.
        # T = SPARE (n_train / n) (sum / workers + 4/3 longest): the factor 4/3 is all rows divided
        # by the three quarters that are training rows. Without this reserve the deadline would pass
        # before a model is written.
        kinds = [c.parts for c in self.best_of_families().values()]
        side_by_side = sum(part.seconds for part in {*itertools.chain(*kinds)}) + more
        last = max([*(sum(part.seconds for part in parts) for parts in kinds), more])
        fits = len(self.train) / self.n * (side_by_side / self.workers + 4 / 3 * last)
        # Time to prepare the last split (unless it is prepared), all rows, and the held-out rows
        # again.
        every, again = len(self.train) + len(self.test), len(self.splits) - 1 not in self._prepared
        fits += self.preparing * ((1 + again) * every + len(self.test))
        return (1 - RESTART) * (self.deadline - monotonic()) - SPARE * fits

    def _needed(self, setting: Candidate, rows: int) -> tuple[float, float]:
        """Estimate the seconds of a trial on a split and of a fit on all its rows."""
        # The time of the largest measured candidate of the family is scaled by the work. Without
        # such a candidate the estimate is 0, and the candidate is tried.
        alike = [c for c in self.candidates if c.family == setting.family and not c.members]
        if not alike:
            return 0.0, 0.0
        like = max(alike[::-1], key=lambda c: c.M)
        rate = like.seconds / like.work(self.n)
        trial = rate * setting.work(min(rows, self.n)) * len(setting.parameters.get("factors", [1]))
        if setting.parameters.get("metric", "none") != "none":
            learnt = [c.took for c in alike if c.parameters["metric"] != "none"]
            trial = max(learnt, default=trial)
        return OVERHEAD + trial, rate * setting.work(self.n)

    def run(self) -> None:
        """Run the rounds until the time is used or all candidates are measured.

        Raises DataError if no column can be used.
        """
        self.columns  # noqa: B018 - raises DataError before anything is measured
        kind = "classes" if self.table.n_classes else self.table.metric
        models = [Candidate(**model) for model in CONTENDERS["models"][kind]]
        # The constant and the linear model have no deadline, so there is always a result.
        self.round(models[:2], self.few, share=None)
        self.round(models[2:], self.few, ROUND_SHARES["boosting"])
        made = self.round(self._kernels(), self.few, ROUND_SHARES["first"])
        small = [c for c in made if c.family == FEATURES]
        if self.few < self.n:
            self.round(models, self.n, ROUND_SHARES["metric"])
        self._learn_metrics(small)
        self._grow(small)

    def _kernels(self) -> list[Candidate]:
        """Return features with few landmarks for each kernel and scaling."""
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

    def _learn_metrics(self, small: list[Candidate]) -> None:
        """Learn metrics for the kernels near the best kernel, as long as the loss falls."""
        # If columns are screened, they differ between splits, so the metrics of the splits have no
        # mean.
        if self.is_screened:
            return
        # A metric needs the time of several kernels: only kernels within NEAR of the best one get a
        # metric, and the search stops after a metric without a gain.
        ranked = sorted(small, key=lambda c: c.loss.value)
        for candidate in [c for c in ranked if c.loss.value <= NEAR * ranked[0].loss.value]:
            least = min(c.loss.value for c in small)
            kinds = {kind: f"{candidate.label}, {kind} metric" for kind in CONTENDERS["metrics"]}
            settings = [candidate.at(label, metric=kind) for kind, label in kinds.items()]
            made = self.round(settings, self.middle, ROUND_SHARES["metric"])
            small += made
            if not made or min(c.loss.value for c in made) > GAIN * least:
                break

    def leading(self, candidates: Sequence[Candidate], count: int) -> list[Candidate]:
        """Return the `count` best candidates, at most one per scaling and kernel."""
        # Without this rule, the best three would often be one kernel with three bandwidths.
        first: dict[Any, Candidate] = {}
        for each in sorted(candidates, key=lambda c: c.loss.value):
            first.setdefault((each.scaling, each.parameters["kernel"]), each)
        return list(first.values())[:count]

    def _larger(self, candidate: Candidate, M: int, steps: Sequence[float] = (1.0,)) -> Candidate:
        """Return a candidate with M features, at multiples of its bandwidth."""
        label = candidate.label.replace(f"M = {candidate.M}", f"M = {M}")
        factors = [candidate.chosen["factors"][0] * step for step in steps]
        return candidate.at(label, n_components=M, factors=factors, metric="none")

    def _grow(self, small: list[Candidate]) -> None:
        """Increase the number of landmarks of the best candidates as long as the loss falls."""
        sizes, alive = CONTENDERS["sizes"], self.leading(small, 4)
        # A kernel that is far from the best with few landmarks is hardly ever the best with more.
        near = [c for c in alive if c.loss.value <= FAR * alive[0].loss.value]
        M = min(sizes["middle"], self.n)
        settings = [self._larger(c, M, CONTENDERS["steps"]) for c in near if M > c.M]
        alive = self.round(settings, self.middle, ROUND_SHARES["middle"]) or alive[:1]
        alive = self.leading(alive, 3)
        # Landmarks are doubled as long as the loss falls by GAIN. The work grows at most eightfold,
        # and a kernel without a gain would use the time of kernels with one.
        while alive:
            wanted = [(c, min(2 * c.M, self.n)) for c in alive]
            larger = [(c, self._larger(c, M)) for c, M in wanted if c.M < M <= sizes["most"]]
            made = self.round([setting for _, setting in larger], self.n)
            least = {setting.label: GAIN * c.loss.value for c, setting in larger}
            alive = [after for after in made if after.loss.value <= least[after.label]]

    def best_of_families(self) -> dict[str, Candidate]:
        """Return the best candidate of each family."""
        families = dict.fromkeys(c.family for c in self.candidates)
        return {f: self.best([c for c in self.candidates if c.family == f]) for f in families}

    def best(self, candidates: Sequence[Candidate]) -> Candidate:
        """Return the simplest of the candidates within 1 % of the smallest loss.

        Misclassification is a number of rows: there, candidates within half a standard error are
        close if their log-loss is within 1 % of the smallest log-loss among them.
        """
        # The smallest of many losses is small by chance, and there are more large models than small
        # ones. Therefore the simplest model that is not clearly worse is selected.
        value = {c: c.loss.value for c in candidates}
        if self.table.metric == "error":
            least = min(candidates, key=lambda c: value[c]).loss
            # 1 % of an error rate of 1 % is less than one row. Therefore models within half a
            # standard error are close, and the log-loss decides between them.
            reach = least.value + 0.5 * least.standard_error
            near = [c for c in candidates if value[c] <= reach]
            value = {c: self.loss("log-loss", c.scores, self.held).value for c in near}
        close = [c for c in value if value[c] <= CLOSE * min(value.values())]
        # An average costs more per prediction: it is selected only if no single model is close.
        return min(close, key=lambda c: (KINDS.index(c.family), len(c.members), c.loss.value))

    def model(self, candidate: Candidate) -> Model:
        """Return a candidate as an unfitted estimator that accepts a table as it was read."""
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
        """Return the steps after the preparation: scaling, and the learned metric of a split."""
        steps: list[Any] = [] if part.scaling == "none" else [SCALERS[part.scaling]()]
        if part.basis:
            steps.append(FunctionTransformer(partial(apply_metric, part.basis[fold])))
        return steps

    def clear(self) -> None:
        """Remove the rows of trials, and their results if no rows may be stored."""
        files.remove_folder(self.folder / "rows")
        if self.least_rows > 1:
            files.remove_folder(self.folder / predictions.PREDICTIONS_KEY)
            files.remove(Store(self.folder).csv)
