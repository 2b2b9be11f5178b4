"""The rounds within a budget: all contenders on few rows, the better ones on more and with more.

A contender is a trial of the core, in a child process with one thread that ends at the deadline.
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
KINDS = "constant", "linear", "features", "boosting", "blend"  # of model, the simplest first
CONSTANT, LINEAR, FEATURES, BOOSTING, BLEND = KINDS
# By the name of the core's scaling.
SCALERS: Any = {"rank": RankScaler, "robust": SmoothClipScaler, "standard": StandardScaler}
CUT_OFF = "timeout", "crashed", "memory"
# A fit is taken to grow like M (M + LINEAR_M) (rows + SOLVED M): up to so many features the
# kernel's values take longer than their products (measured); the products' system counts as more
# rows. Of boosting much is for each tree, whatever the rows. OVERHEAD is seconds per trial. With
# one of them doubled, contenders that would fit into the time are left out.
LINEAR_M, SOLVED, BOOSTING_ROWS, OVERHEAD = 1_000, 8, 7_000, 0.1
# Of the time, kept for a process that begins after one was killed; and times as long as they are
# reckoned to take for the last fits (SPARE). Chosen without a measurement: doubled, RESTART takes 3
# s more of a minute from the rounds.
RESTART = 0.05
SPARE = 1.1
# More features are tried while the loss falls below GAIN times it. CLOSE, NEAR and FAR are relative
# to the smallest loss: as good; may be taken; is not followed. Chosen without a measurement. With
# the distances from 1 doubled, a simpler model may be 2 % worse, and fewer sizes are tried; halved,
# more time goes to small gains.
GAIN = 0.995
CLOSE, NEAR, FAR = 1.01, 1.1, 1.5
_FILE = Path(__file__).with_name("contenders.yaml")  # which says what is tried
CONTENDERS: Any = yamlfile.parse(_FILE.read_bytes(), _FILE.name).value
ROUND_SHARES = CONTENDERS["shares"]


@dataclass(frozen=True, eq=False)
class Candidate:
    """A contender at a size: what a trial measures, and once it is measured what it said."""

    label: str
    family: str  # a constant above
    estimator: str = ""  # import path; nothing of an average
    parameters: Mapping[str, Any] = field(default_factory=dict)
    chosen: Mapping[str, Any] = field(default_factory=dict)  # of those, once it is measured
    scaling: str = "none"
    # The roots of the learnt metric whose rows it sees: that of each split, then their mean.
    basis: tuple[Array, ...] = ()
    members: Mapping[Candidate, float] = field(default_factory=dict)  # of an average: weights
    scores: Any = None  # of the validation rows: numbers or probabilities, shape (n, k)
    loss: Any = None  # a `rfbench.choosing.losses.Loss`
    seconds: float = 0.0  # of a fit on the rows of one split
    took: float = 0.0  # seconds of the trial
    predicting: float = 0.0  # seconds of 1,000 rows, where it was measured on those held out

    @property
    def M(self) -> int:
        """Features of kernels, of all members; 0 of other models."""
        return sum(int(part.parameters.get("n_components", 0)) for part in self.parts)

    @property
    def parts(self) -> list[Candidate]:
        """The models that are fitted: those of an average, or this one."""
        return list(self.members) or [self]

    def work(self, rows: int) -> float:
        """Return what a fit of so many rows takes, in proportion."""
        # Work W ~ M (M + LINEAR_M) (n + SOLVED M): n M^2 for the products, n M for the kernel's
        # values, M^3 for the system. Without the linear term small M would look cheaper than they
        # are.
        rows += SOLVED * self.M + BOOSTING_ROWS * (self.family == BOOSTING)
        return float(rows * (self.M * (self.M + LINEAR_M) or 1))

    def at(self, label: str, **parameters: Any) -> Candidate:
        """Return the same with other parameters, to be measured."""
        return replace(self, label=label, parameters={**self.parameters, **parameters}, chosen={})


@dataclass
class Rounds:
    """Candidates for one table, as many as the time allows."""

    table: LabelledTable
    splits: list[Sides]  # those that choose, then the training rows and those held out
    deadline: float  # in the seconds of `time.monotonic`
    folder: Path  # where `rfbench.choosing.workplace` lets it work
    workers: int = 1
    least_rows: int = 1  # that what a model holds stands for; of more it holds no landmarks
    n_columns: int | None = None  # so many of the prepared columns are used; None: all
    on_candidate: Callable[[Candidate], None] | None = None
    candidates: list[Candidate] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)  # messages of candidates, by label
    stopped: bool = False  # time or memory cut off a contender
    interrupted: bool = False
    clocks: Any = field(default_factory=lambda: np.zeros(2))  # wall and CPU seconds of fits
    planned: list[tuple[Any, Any]] = field(default_factory=list)  # experiments, with their trial
    names: dict[int, tuple[str, ...]] = field(default_factory=dict)  # of each split's columns
    preparing: float = 0.0  # seconds of preparing a row
    _prepared: dict[int, Array] = field(default_factory=dict)
    _packs: dict[Any, Path] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Tell the rows apart."""
        *chosen, (self.train, self.test) = self.splits
        self.held = np.concatenate([held for _, held in chosen])  # the validation rows
        self.n = min(len(fit) for fit, _ in chosen)  # the rows of a split that are fitted
        self.few, self.middle = (min(self.n, n) for n in CONTENDERS["rows"].values())

    @cached_property
    def columns(self) -> PreparedColumns:
        """The columns of each split and of the model: those of all training and validation rows.

        DataError if there are none.
        """
        return Preparation(self.least_rows).fit(self.table.X.iloc[self.train]).columns_

    @property
    def is_screened(self) -> bool:
        """Whether each model chooses its columns, from the rows that it is fitted on alone."""
        return self.n_columns is not None and len(self.columns.kept) > self.n_columns

    def _pack(self, setting: Candidate, fold: int, rows: int) -> Path:
        """Write rows of a split for trials, so many to fit first, unless they are there."""
        # A file of rows per fold, number of rows and metric, shared by all contenders: they are
        # compared on the same rows.
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
        """Prepare the rows of a split by what the fitted ones teach."""
        X, y, (fit, held) = self.table.X, self.table.y, self.splits[fold]
        steps, start = Pipeline(self._preparation()), monotonic()
        both = steps.fit_transform(X.iloc[fit], y[fit]), steps.transform(X.iloc[held])
        self._prepared[fold] = np.vstack(both)
        self.names[fold] = tuple(get_used_columns(steps))
        seconds = (monotonic() - start) / (len(fit) + len(held))
        self.preparing = max(self.preparing, seconds)

    def _preparation(self) -> list[Any]:
        """Return the steps that make rows of numbers of a table, not fitted."""
        steps: list[Any] = [("prepare", Preparation(self.least_rows, self.columns))]
        if self.is_screened:
            steps.append(("screen", ColumnScreen(self.n_columns, self.table.n_classes > 0)))
        return steps

    def _experiment(self, setting: Candidate, fold: int, rows: int) -> Any:
        # The last split has the rows held out: its trials are rows of the table of results, those
        # before it choose and have the role `validation`. One role for both would average what
        # chose with what measures.
        place, chooses = self._pack(setting, fold, rows), fold < len(self.splits) - 1
        role = VALIDATION if chooses else METHOD if setting.M else MODEL
        task = "classification" if self.table.n_classes else "regression"
        data = {"path": str(place.absolute()), "name": f"rows-{place.name}", "task": task}
        sampler = {"class": "sklearn.preprocessing.FunctionTransformer", "label": setting.label}
        content = {
            "dataset": data,
            "scaling": "none" if setting.basis else setting.scaling,
            "target": "raw",
            "bandwidth": 1.0,  # not used: the median distance is 0 if most rows coincide
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
        """Measure settings on so many rows of a split; return row and arrays, or None, of each."""
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
        # The manifest describes all rounds so far, and this one alone is run.
        self.planned += zip(planned, plan.planned, strict=True)
        every = [list(part) for part in zip(*self.planned, strict=True)]
        plan = replace(plan, experiments=every[0], planned=every[1])
        # Each worker's share of the free memory: a trial that needs more fails as a row, instead of
        # ending the search.
        memory = max(LEAST_MEMORY, int(0.8 * count_free_bytes() / self.workers))
        limits = Limits(memory, None, deadline)
        summary = runner.run(plan, n_jobs=self.workers, limits=limits, retry=CUT_OFF)
        self.interrupted |= summary.interrupted
        # Rows, not return values: a search that was stopped resumes from them.
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
        """Return what a trial says: its arrays, the scores among them, and how long it took."""
        said: dict[str, Any] = predictions.read(self.folder, row["trial_id"])
        said["scores"] = said.get("probabilities", said["predictions"])  # of shape (n, k)
        self.clocks += float(row["t_train"]), float(row["cpu_train"])
        fit = sum(float(row[t]) for t in ("t_pp", "t_features", "t_train"))
        return said | {"fit": fit, "said": float(row["t_test"])}

    def round(
        self, settings: Sequence[Candidate], rows: int, share: float | None = 1.0
    ) -> list[Candidate]:
        """Measure those for which a share of the time that is left is enough; without one, all."""
        folds, load, taken = len(self.splits) - 1, 0.0, []
        # A contender starts only if its time fits into the round and leaves what the last fits
        # need. One that is killed halfway has used time and answers nothing.
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
        # A child that is killed costs the start of another: only the first kernels, and boosting
        # beside them, end before their time is needed.
        if end is not None and FEATURES in {c.family for c in self.candidates}:
            end = monotonic() + self.left()
        trials = [(setting, fold, rows) for setting in taken for fold in range(folds)]
        said = iter(self.measured(trials, end))
        # A contender counts only if every fold has an answer: a mean over some folds is of other
        # rows than the rest.
        every = [(setting, [next(said) for _ in range(folds)]) for setting in taken]
        made = []
        for setting, parts in every:
            if None not in parts:
                with self.failing(setting):
                    made.append(self._candidate(setting, parts, rows))
        return made

    @contextmanager
    def failing(self, candidate: Candidate) -> Iterator[None]:
        """Record an error of a candidate with its message, so that the other candidates go on.

        MemoryError counts as an error of the candidate, too.
        """
        try:
            yield
        except Exception as error:
            message = str(error).strip() or type(error).__name__
            self.failed[candidate.label] = escape_line(message)
            log.debug("%s failed", candidate.label, exc_info=True)

    def _candidate(self, setting: Candidate, parts: Sequence[Any], rows: int) -> Candidate:
        """Return a candidate of what the trials of all splits said."""
        # The scores of all validation rows, each by the fit without it: the loss is one number over
        # these rows, and losses of two contenders can be paired row by row.
        scores = np.vstack([said["scores"] for said in parts])
        seconds = took = float(np.mean([said["fit"] for said in parts]))
        fixed = setting
        # Each split chose its own bandwidth and penalty. The final model takes their geometric
        # means, as both are scales: an arithmetic mean would follow the largest.
        if setting.M:
            chosen = np.array([said["chosen"] for said in parts])
            factor, alpha, *link = np.exp(np.log(chosen).mean(axis=0)).tolist()  # of all splits
            own = {"factors": [factor], "alphas": [alpha], "link": link, "metric": "none"}
            fixed = replace(setting, chosen=own)
            seconds = float(np.mean([said["seconds"] for said in parts]))
            if setting.parameters["metric"] != "none":
                if len(set(self.names.values())) > 1:
                    raise ValueError("The splits have other columns: no mean of their metrics.")
                roots = [said["root"] for said in parts]
                fixed = replace(fixed, basis=(*roots, np.mean(roots, axis=0)))
        # From the rows that were fitted to all rows of a split, by the model of the work.
        seconds *= setting.work(self.n) / setting.work(min(rows, self.n))
        return self.add(replace(fixed, seconds=seconds, took=took), scores)

    def add(self, candidate: Candidate, scores: Array) -> Candidate:
        """Add a candidate with its scores of the validation rows."""
        value = self.loss(self.table.metric, scores, self.held)
        made = replace(candidate, scores=scores, loss=value)
        self.candidates.append(made)
        if self.on_candidate is not None:
            self.on_candidate(made)
        return made

    def loss(self, metric: str, scores: Array, rows: Index) -> Loss:
        """Return the loss of scores of some rows, shape (n, k)."""
        groups = None if self.table.groups is None else self.table.groups[rows]
        said = scores if self.table.n_classes else scores[:, 0]
        return loss(metric, self.table.y[rows], said, groups)

    def left(self, more: float = 0.0) -> float:
        """Return the seconds until the deadline, less those for the fits that follow.

        They are of the best of each kind, side by side, then of one; `more` is of one planned.
        """
        # What has to be fitted once the rounds end: the best of each kind on all training rows,
        # side by side, to be measured on the rows held out, then the chosen one on all. T = SPARE
        # (n_train / n) (sum / workers + 4/3 longest): 4/3 is all rows over the three quarters that
        # train. Without it the deadline would pass before a model is written.
        kinds = [c.parts for c in self.best_of_families().values()]
        side_by_side = sum(part.seconds for part in {*itertools.chain(*kinds)}) + more
        last = max([*(sum(part.seconds for part in parts) for parts in kinds), more])
        fits = len(self.train) / self.n * (side_by_side / self.workers + 4 / 3 * last)
        # The rows of the last split, if they are not, then all rows and again those held out.
        every, again = len(self.train) + len(self.test), len(self.splits) - 1 not in self._prepared
        fits += self.preparing * ((1 + again) * every + len(self.test))
        return (1 - RESTART) * (self.deadline - monotonic()) - SPARE * fits

    def _needed(self, setting: Candidate, rows: int) -> tuple[float, float]:
        """Return the seconds of a trial on a split and of a fit on all its rows, as others tell."""
        # From the largest contender of the family that was measured, scaled by the work. Without
        # one nothing is known, and it is tried.
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
        """Go through the rounds until there is no time, or nothing left to try.

        DataError if no column can be used.
        """
        self.columns  # noqa: B018 - a table without columns is refused before anything is measured
        kind = "classes" if self.table.n_classes else self.table.metric
        models = [Candidate(**model) for model in CONTENDERS["models"][kind]]
        # The constant and the linear model have no deadline: so there is an answer in any case.
        self.round(models[:2], self.few, share=None)
        self.round(models[2:], self.few, ROUND_SHARES["boosting"])
        made = self.round(self._kernels(), self.few, ROUND_SHARES["first"])
        small = [c for c in made if c.family == FEATURES]
        if self.few < self.n:
            self.round(models, self.n, ROUND_SHARES["metric"])
        self._learn_metrics(small)
        self._grow(small)

    def _kernels(self) -> list[Candidate]:
        """Return features of each kernel and scaling at few landmarks."""
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
        """Learn metrics for the kernels near the best one, while they gain; the best one first."""
        # Screened models have columns of their own, and no mean of their metrics.
        if self.is_screened:
            return
        # A metric takes as long as several kernels: only for kernels within NEAR of the best one,
        # and not for further ones after a metric that gained nothing.
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
        """Return the best candidates, one per scaling and kernel."""
        # One per kernel and scaling: the best three would often be one kernel at three bandwidths.
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
        """Take ever more landmarks for the best, first a middle number, as long as each gains."""
        sizes, alive = CONTENDERS["sizes"], self.leading(small, 4)
        # Far behind with few landmarks, a kernel hardly ever leads with more: its time goes to the
        # others.
        near = [c for c in alive if c.loss.value <= FAR * alive[0].loss.value]
        M = min(sizes["middle"], self.n)
        settings = [self._larger(c, M, CONTENDERS["steps"]) for c in near if M > c.M]
        alive = self.round(settings, self.middle, ROUND_SHARES["middle"]) or alive[:1]
        alive = self.leading(alive, 3)
        # Twice the landmarks as long as the loss falls by GAIN: the work grows eightfold at most,
        # and a kernel that no longer gains would only use up the time of those that do.
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
        """Return the simplest of the candidates within a hundredth of the best one's loss.

        Misclassification is a number of rows: there those within half a standard error are close,
        if their log-loss is within a hundredth of the smallest of them.
        """
        # The simplest model among those that cannot be told from the best: the smallest of many
        # losses is small by chance, and larger models have more chances.
        value = {c: c.loss.value for c in candidates}
        if self.table.metric == "error":
            least = min(candidates, key=lambda c: value[c]).loss
            # A hundredth of an error of 1 % is less than a row: half a standard error, and the
            # log-loss for what it cannot tell.
            reach = least.value + 0.5 * least.standard_error
            near = [c for c in candidates if value[c] <= reach]
            value = {c: self.loss("log-loss", c.scores, self.held).value for c in near}
        close = [c for c in value if value[c] <= CLOSE * min(value.values())]
        # An average costs more at each prediction: it is taken where no single one is close.
        return min(close, key=lambda c: (KINDS.index(c.family), len(c.members), c.loss.value))

    def model(self, candidate: Candidate) -> Model:
        """Return a candidate as an estimator that takes a table as it was read, not fitted."""
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
        """Return what scales prepared rows, in the learnt metric of a split or in that of all."""
        steps: list[Any] = [] if part.scaling == "none" else [SCALERS[part.scaling]()]
        if part.basis:
            steps.append(FunctionTransformer(partial(apply_metric, part.basis[fold])))
        return steps

    def clear(self) -> None:
        """Remove the rows that trials were given, and where none may be left, all they said."""
        files.remove_folder(self.folder / "rows")
        if self.least_rows > 1:
            files.remove_folder(self.folder / predictions.PREDICTIONS_KEY)
            files.remove(Store(self.folder).csv)
