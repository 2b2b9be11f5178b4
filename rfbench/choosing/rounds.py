"""The rounds within a budget: all contenders on few rows, the better ones on more and with more.

A contender is a trial of the core, measured in a child process with one thread, which ends at the
deadline. All that is chosen is chosen on rows that its model was not fitted on: a fifth of the
training rows, or of few rows three folds. What looks at the target is fitted without them too.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from rfbench import config, plugins, yamlfile
from rfbench.arrays import Array
from rfbench.choosing.losses import Loss, loss
from rfbench.choosing.model import Model
from rfbench.choosing.table import LEAST_ROWS, LabelledTable
from rfbench.datasets import packed
from rfbench.datasets.columns import Parsed
from rfbench.datasets.preparation import Preparation
from rfbench.datasets.scaling import RankScaler, SmoothClipScaler
from rfbench.datasets.split import Index, Sides
from rfbench.experiment import runner
from rfbench.experiment.run_plan import plan_run
from rfbench.experiment.worker import LEAST_MEMORY, Limits
from rfbench.memory import free_bytes
from rfbench.results import predictions
from rfbench.results.schema import METHOD, MODEL, VALIDATION
from rfbench.results.store import Store
from rfbench.samplers.metric import into

CONSTANT, LINEAR, BOOSTING, FEATURES, BLEND = "constant", "linear", "boosting", "features", "blend"
ALWAYS = (CONSTANT, LINEAR)  # measured whatever the budget
KERNEL_MODEL = "rfbench.solvers.kernel_model.Kernel"
# By the name of the core's scaling.
SCALERS: dict[str, Any] = {
    "rank": RankScaler, "robust": SmoothClipScaler, "standard": StandardScaler
}  # fmt: skip
RETRIED = ("timeout", "crashed")
FITS = ("t_pp", "t_features", "t_train")
# A fit is taken to grow like M (M + LINEAR_M) (rows + SOLVED M): up to so many features the
# kernel's values take longer than their products; the products' system counts as more rows. Of
# boosting much is for each tree, whatever the rows.
LINEAR_M, SOLVED, BOOSTING_ROWS, OVERHEAD = 1_000, 8, 7_000, 0.1
RESTART = 0.05  # of the time is kept for a process that begins after one was killed
SPARE = 1.1  # times as long as they are reckoned to take is kept for the last fits
GAIN = 0.995  # more features are tried while the loss falls below this share
CLOSE, NEAR, FAR = 1.01, 1.1, 1.5  # of the smallest loss: as good; may be taken; is not followed
STEPS = (1.0, 1.4, 2.0)  # of the bandwidth, at the middle number of landmarks
FIRST_SHARE, METRIC_SHARE, MIDDLE_SHARE = 0.4, 0.3, 0.5  # of the time left then


@cache
def contenders() -> dict[str, Any]:
    """Return what is tried, see contenders.yaml."""
    text = resources.files(__package__).joinpath("contenders.yaml").read_bytes()
    return dict(yamlfile.parse(text, "contenders.yaml").value)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A contender at a size: what a trial measures, and once it is measured what it said."""

    label: str
    family: str
    estimator: str = ""  # import path; nothing of an average
    parameters: Mapping[str, Any] = field(default_factory=dict)
    chosen: Mapping[str, Any] = field(default_factory=dict)  # of those, once it is measured
    scaling: str = "none"
    basis: str = ""  # the learnt metric whose rows it sees; nothing: the rows as they are
    members: tuple[tuple[Candidate, float], ...] = ()  # of an average
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
        return [member for member, _ in self.members] or [self]

    def work(self, rows: int) -> float:
        """Return what a fit of so many rows takes, in proportion."""
        if self.M:
            return float(self.M * (self.M + LINEAR_M) * (rows + SOLVED * self.M))
        return float(rows + BOOSTING_ROWS * (self.family == BOOSTING))

    def at(self, label: str, **parameters: Any) -> Candidate:
        """Return the same with other parameters, to be measured."""
        return replace(self, label=label, parameters={**self.parameters, **parameters}, chosen={})


@dataclass
class Rounds:
    """Candidates for one table, as many as the time allows."""

    table: LabelledTable
    splits: list[Sides]  # those that choose, then the training rows and those held out
    deadline: float  # in the seconds of `time.monotonic`
    folder: Path  # of the results
    workers: int = 1
    allow_rows: bool = True  # models may hold training rows
    on_candidate: Callable[[Candidate], None] | None = None
    candidates: list[Candidate] = field(default_factory=list)
    stopped: str = ""  # whether ``budget`` or ``memory`` cut off a contender
    interrupted: bool = False
    # The learnt metrics by name: the root of each split, then their mean.
    metrics: dict[str, list[Array]] = field(default_factory=dict)
    planned: list[tuple[Any, Any]] = field(default_factory=list)  # experiments, with their trial
    _prepared: dict[int, Array] = field(default_factory=dict)
    _packs: dict[Any, Path] = field(default_factory=dict)

    # The rows.

    @cached_property
    def held(self) -> Index:
        """The validation rows, split after split."""
        return np.concatenate([held for _, held in self.splits[:-1]])

    @cached_property
    def n(self) -> int:
        """The rows of a split that are fitted."""
        return min(len(fit) for fit, _ in self.splits[:-1])

    def preparation(self) -> Preparation:
        """Return what makes numbers of rows; if it may hold no rows, of bins of ten or more."""
        return Preparation(1 if self.allow_rows else LEAST_ROWS)

    def _pack(self, setting: Candidate, fold: int, rows: int) -> Path:
        """Write rows of a split for trials, so many to fit first, unless they are there."""
        fit, held = self.splits[fold]
        some = self.table.some(fit, rows)
        key, n = (fold, len(some), setting.basis), len(fit)
        if key in self._packs:
            return self._packs[key]
        if fold not in self._prepared:
            prepare, read = self.preparation(), self.table.X
            both = prepare.fit_transform(read.iloc[fit]), prepare.transform(read.iloc[held])
            self._prepared[fold] = np.vstack(both)
        X = self._prepared[fold]
        Z = np.vstack([X[np.searchsorted(fit, some)], X[n:]])
        if setting.basis:
            Z = make_pipeline(*self._steps(setting, fold)).fit(X[:n]).transform(Z)
        place = self._packs[key] = self.folder / "rows" / str(len(self._packs))
        y = self.table.y[np.concatenate([some, held])]
        packed.write(place, Parsed(Z, y, n_given_train=len(some)))
        return place

    # Trials.

    def _experiment(self, setting: Candidate, fold: int, rows: int) -> Any:
        place, chooses = self._pack(setting, fold, rows), fold < len(self.splits) - 1
        role = VALIDATION if chooses else METHOD if setting.M else MODEL
        data = {"path": str(place.absolute()), "name": f"rows-{place.name}"}
        task = "classification" if self.table.n_classes else "regression"
        sampler = {"class": "sklearn.preprocessing.FunctionTransformer", "label": setting.label}
        content = {
            "dataset": {**data, "task": task},
            "split": "given",
            "scaling": "none" if setting.basis else setting.scaling,
            "target": "raw",
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
        planned = [self._experiment(setting, fold, rows) for setting, fold, rows in trials]
        plan = plan_run(planned, self.folder)
        ids = [trial.id for trial in plan.trials]
        # The manifest describes all rounds so far, and this one alone is run.
        self.planned += zip(planned, plan.planned, strict=True)
        every = [list(part) for part in zip(*self.planned, strict=True)]
        plan = replace(plan, experiments=every[0], planned=every[1])
        memory = max(LEAST_MEMORY, int(0.8 * free_bytes() / self.workers))
        limits = Limits(memory, None, deadline)
        summary = runner.run(plan, n_jobs=self.workers, limits=limits, retry=RETRIED)
        self.interrupted |= summary.interrupted
        rows = {row["trial_id"]: row for row in Store(self.folder).rows()}
        ended = [rows[i]["status"] if i in rows else "timeout" for i in ids]
        if "memory" in ended:
            self.stopped = "memory"
        elif "timeout" in ended and not self.interrupted:
            self.stopped = self.stopped or "budget"
        return [
            (rows[i], predictions.read(self.folder, i)) if status == "ok" else None
            for i, status in zip(ids, ended, strict=True)
        ]

    def round(
        self, settings: Sequence[Candidate], rows: int, share: float = 1.0
    ) -> list[Candidate]:
        """Measure those contenders for which a share of the time that is left is enough."""
        folds, end = len(self.splits) - 1, monotonic() + share * self.left()
        load, taken = 0.0, []
        for setting in settings:
            seconds, fit = self._needed(setting, rows)
            wall = load + seconds * folds / self.workers
            always = setting.family in ALWAYS and not wall
            if not always and max(wall, seconds) > min(end - monotonic(), self.left(fit)):
                self.stopped = self.stopped or "budget"
                continue
            load = wall
            taken.append(setting)
        if self.interrupted or not taken:
            return []
        # The simple models have all the time. A child that is killed costs the start of another:
        # only the first kernels, and boosting beside them, end before their time is needed.
        known = {c.family for c in self.candidates}
        latest = monotonic() + self.left() if FEATURES in known else end
        trials = [(setting, fold, rows) for setting in taken for fold in range(folds)]
        results = self.measured(trials, latest if known else None)
        every = ((s, results[i * folds : (i + 1) * folds]) for i, s in enumerate(taken))
        return [self._candidate(s, parts, rows) for s, parts in every if None not in parts]

    def _candidate(self, setting: Candidate, parts: Sequence[Any], rows: int) -> Candidate:
        """Return a candidate of what the trials of all splits said."""
        scores = np.vstack(
            [arrays.get("probabilities", arrays["predictions"]) for _, arrays in parts]
        )
        took = float(np.mean([sum(float(row[t]) for t in FITS) for row, _ in parts]))
        seconds, fixed = took, setting
        if setting.M:
            chosen = np.array([arrays["chosen"] for _, arrays in parts])
            factor, alpha, *link = np.exp(np.log(chosen).mean(axis=0)).tolist()  # of all splits
            own = {"factors": [factor], "alphas": [alpha], "link": link, "metric": "none"}
            fixed = replace(setting, chosen=own)
            seconds = float(np.mean([arrays["seconds"] for _, arrays in parts]))
            if setting.parameters["metric"] != "none":
                roots = [arrays["root"] for _, arrays in parts]
                self.metrics[setting.label] = [*roots, np.mean(roots, axis=0)]
                fixed = replace(fixed, basis=setting.label)
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

    # Time.

    def left(self, more: float = 0.0) -> float:
        """Return the seconds until the deadline, less those for the fits that follow.

        They follow on all training rows for the best of each kind, side by side, and on all rows
        for the one that is taken. `more` are the seconds of a fit that is planned.
        """
        best = self.best_of_families().values()
        parts = {part for c in best for part in c.parts}
        side_by_side = sum(part.seconds for part in parts) + more
        last = max([*(sum(part.seconds for part in c.parts) for c in best), more])
        larger = len(self.splits[-1][0]) / self.n  # than the rows of a split
        fits = SPARE * larger * (side_by_side / self.workers + 4 / 3 * last)
        return (1 - RESTART) * (self.deadline - monotonic()) - fits

    def _needed(self, setting: Candidate, rows: int) -> tuple[float, float]:
        """Return the seconds of a trial on one split, and those of a fit of it on all its rows.

        As those of the largest of its kind that was measured tell them; 0 where there is none.
        """
        alike = [c for c in self.candidates if c.family == setting.family and not c.members]
        if not alike:
            return 0.0, 0.0
        like = max(alike[::-1], key=lambda c: c.M)
        fit = like.seconds * setting.work(self.n) / like.work(self.n)
        trial = fit * setting.work(min(rows, self.n)) / setting.work(self.n)
        trial *= len(setting.parameters.get("factors", [1]))
        if setting.parameters.get("metric", "none") != "none":
            trial = max((c.took for c in alike if c.label in self.metrics), default=trial)
        return OVERHEAD + trial, fit

    # The rounds.

    def run(self) -> None:
        """Go through the rounds until there is no time, or nothing left to try."""
        models, few = self._models(), self._rows("few")
        self.round([m for m in models if m.family in ALWAYS], few)
        others = [m for m in models if m.family not in ALWAYS]
        made = self.round([*others, *self._kernels()], few, FIRST_SHARE)
        small = [c for c in made if c.family == FEATURES]
        if few < self.n:
            self.round(models, self.n, METRIC_SHARE)
        self._learn_metrics(small)
        self._grow(small)

    def _rows(self, which: str) -> int:
        return min(self.n, int(contenders()["rows"][which]))

    def _models(self) -> list[Candidate]:
        made, kind = [], "classes" if self.table.n_classes else self.table.metric
        for model in contenders()["models"][kind]:
            keys = {"scaling": "none", **model}
            label, family, path, scaling = (
                keys.pop(name) for name in ("label", "family", "class", "scaling")
            )
            made.append(Candidate(label, family, path, keys, scaling=scaling))
        return made

    def _kernels(self) -> list[Candidate]:
        """Return features of each kernel and scaling at few landmarks."""
        own, M = contenders(), min(contenders()["sizes"]["few"], self._rows("few"))
        kind = "Nystroem" if self.allow_rows else "Fourier features"
        path = KERNEL_MODEL + ("Classifier" if self.table.n_classes else "Regressor")
        common = {**own["features"], "n_components": M}
        common |= {} if self.allow_rows else {"features": "frequencies"}
        made = []
        for kernel, factors in own["kernels"].items():
            for scaling in own["scalings"]:
                label = f"{kind}, {kernel} kernel, {scaling}, M = {M}"
                keys = {**common, "kernel": kernel, "factors": factors}
                made.append(Candidate(label, FEATURES, path, keys, scaling=scaling))
        return made

    def _learn_metrics(self, small: list[Candidate]) -> None:
        """Learn metrics for the kernels near the best one, while they gain; the best one first.

        The best metric is seldom that of a kernel that is far behind without one, and where it
        gains nothing for the best kernel, it seldom does for others.
        """
        ranked = sorted(small, key=lambda c: c.loss.value)
        for candidate in [c for c in ranked if c.loss.value <= NEAR * ranked[0].loss.value]:
            least = min(c.loss.value for c in small)
            settings = [
                candidate.at(f"{candidate.label}, {kind} metric", metric=kind)
                for kind in contenders()["metrics"]
            ]
            made = self.round(settings, self._rows("middle"), METRIC_SHARE)
            small += made
            if not made or min(c.loss.value for c in made) > GAIN * least:
                break

    def leading(self, candidates: Sequence[Candidate], count: int) -> list[Candidate]:
        """Return the best candidates, one per scaling and kernel."""
        first: dict[Any, Candidate] = {}
        for candidate in sorted(candidates, key=lambda c: c.loss.value):
            if not candidate.members:
                first.setdefault((candidate.scaling, candidate.parameters["kernel"]), candidate)
        return list(first.values())[:count]

    def _larger(self, candidate: Candidate, M: int, steps: Sequence[float] = (1.0,)) -> Candidate:
        """Return a candidate with M features, at multiples of its bandwidth."""
        label = candidate.label.replace(f"M = {candidate.M}", f"M = {M}")
        factors = [candidate.chosen["factors"][0] * step for step in steps]
        return candidate.at(label, n_components=M, factors=factors, metric="none")

    def _grow(self, small: list[Candidate]) -> None:
        """Take ever more landmarks for the best, as long as each of them gains by it.

        First at a middle number on some of the rows, also at larger bandwidths until it is worse.
        """
        sizes, alive = contenders()["sizes"], self.leading(small, 4)
        near = [c for c in alive if c.loss.value <= FAR * alive[0].loss.value]
        M = min(sizes["middle"], self.n)
        settings = [self._larger(c, M, STEPS) for c in near if M > c.M]
        alive = self.round(settings, self._rows("middle"), MIDDLE_SHARE) or alive[:1]
        alive = self.leading(alive, 3)
        while alive:
            wanted = [(c, min(2 * c.M, self.n)) for c in alive]
            larger = [(c, self._larger(c, M)) for c, M in wanted if c.M < M <= sizes["most"]]
            made = self.round([setting for _, setting in larger], self.n)
            least = {setting.label: GAIN * c.loss.value for c, setting in larger}
            alive = [after for after in made if after.loss.value <= least[after.label]]

    # What was found.

    def best_of_families(self) -> dict[str, Candidate]:
        """Return the best candidate of each family; the first of equal ones."""
        made = {}
        for family in dict.fromkeys(c.family for c in self.candidates):
            close = self.close([c for c in self.candidates if c.family == family])
            # An average costs more at each prediction: it is taken where no single one is close.
            made[family] = min(close, key=lambda c: (len(c.members), c.loss.value))
        return made

    def close(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return the candidates that are as good as the best: within a hundredth of its loss.

        Misclassification is a number of rows: there those within half a standard error are close,
        if their log-loss is within a hundredth of the smallest of them.
        """
        best = min(candidates, key=lambda c: c.loss.value).loss
        if self.table.metric != "error":
            return [c for c in candidates if c.loss.value <= CLOSE * best.value]
        reach = best.value + 0.5 * best.standard_error
        near = [c for c in candidates if c.loss.value <= reach]
        fine = [self.loss("log-loss", c.scores, self.held).value for c in near]
        return [c for c, each in zip(near, fine, strict=True) if each <= CLOSE * min(fine)]

    def model(self, candidate: Candidate) -> Model:
        """Return a candidate as an estimator that takes a table as it was read, not fitted."""
        built: list[Any] = []
        for part in candidate.parts:
            own = plugins.load_class(part.estimator)(**{**part.parameters, **part.chosen})
            built.append(make_pipeline(*self._steps(part), own))
        estimator = built[0]
        if candidate.members:
            named = [(f"m{number}", each) for number, each in enumerate(built)]
            weights = [weight for _, weight in candidate.members]
            if self.table.n_classes:
                estimator = VotingClassifier(named, voting="soft", weights=weights)
            else:
                estimator = VotingRegressor(named, weights=weights)
        return Model([("prepare", self.preparation()), ("predict", clone(estimator))])

    def _steps(self, part: Candidate, fold: int = -1) -> list[Any]:
        """Return what scales prepared rows, in the learnt metric of a split or in that of all."""
        steps: list[Any] = [] if part.scaling == "none" else [SCALERS[part.scaling]()]
        if part.basis:
            keys = {"root": self.metrics[part.basis][fold]}
            steps.append(FunctionTransformer(in_metric, kw_args=keys))
        return steps

    def clear(self) -> None:
        """Remove the rows that trials were given; the same command makes them anew.

        And where no rows may be left, all that was measured: predictions stand beside their truth.
        """
        shutil.rmtree(self.folder / "rows", ignore_errors=True)
        if not self.allow_rows:
            shutil.rmtree(self.folder / predictions.KEY, ignore_errors=True)
        if not (self.folder / predictions.KEY).exists():
            Store(self.folder).csv.unlink(missing_ok=True)


def scores_of(said: Any) -> Array:
    """Return what a trial says of its rows: numbers or probabilities, shape (n, k)."""
    _, arrays = said
    return np.asarray(arrays.get("probabilities", arrays["predictions"]))


def in_metric(X: Any, root: Array) -> Array:
    """Return rows of shape (n, d) times the root of a metric, of shape (d,) or (d, d)."""
    return np.asarray(into(root, np.asarray(X)))
