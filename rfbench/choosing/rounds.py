"""The rounds within a budget: all contenders on few rows, the better ones on more and with more.

A contender is a trial of the core, measured in a child process with one thread, which ends at the
deadline. All that is chosen is chosen on rows that its model was not fitted on: a fifth of the
training rows, or of few rows three folds. What looks at the target is fitted without them too.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from rfbench import config, grids, yamlfile
from rfbench.arrays import Array
from rfbench.choosing.losses import Predicted, loss
from rfbench.choosing.parts import SCALERS, in_metric
from rfbench.choosing.problem import Index, LabelledTable, Sides
from rfbench.choosing.table import prepared
from rfbench.datasets import packed
from rfbench.datasets.columns import Parsed
from rfbench.experiment import runner
from rfbench.experiment.run_plan import plan_run
from rfbench.experiment.worker import LEAST_MEMORY, Limits
from rfbench.memory import free_bytes
from rfbench.results import predictions
from rfbench.results.schema import METHOD, MODEL, VALIDATION
from rfbench.results.store import Store

CONSTANT, LINEAR, BOOSTING, FEATURES, BLEND = "constant", "linear", "boosting", "features", "blend"
ALWAYS = (CONSTANT, LINEAR)  # measured whatever the budget
KERNEL_MODEL = "rfbench.solvers.kernel_model.Kernel"
RETRIED = ("timeout", "crashed")
FITS = ("t_pp", "t_features", "t_train")
# A fit is taken to grow like M (M + LINEAR_M) (rows + SOLVED M): up to so many features the
# kernel's values take longer than their products; the products' system counts as more rows.
LINEAR_M, SOLVED, OVERHEAD = 1_000, 8, 0.1
# Seconds, and a share of the time, that are kept for a process that begins after one was killed.
RESTART, RESTART_SHARE = 3.0, 0.05
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
    parameters: Mapping[str, Any] = field(default_factory=dict)  # measured: with all chosen
    scaling: str = "none"
    basis: str = ""  # the learnt metric whose rows it sees; nothing: the rows as they are
    members: tuple[tuple[Candidate, float], ...] = ()  # of an average
    scores: Any = None  # of the validation rows: numbers or probabilities, shape (n, k)
    loss: Any = None  # a `rfbench.choosing.losses.Loss`
    # The log-loss of classes, else the loss: what tells apart those that are close in the loss.
    fine: float = float("inf")
    seconds: float = 0.0  # of a fit on the rows of one split
    took: float = 0.0  # seconds of the trial, on `rows` rows
    rows: int = 1

    @property
    def M(self) -> int:
        """Features of kernels, of all members; 0 of other models."""
        return sum(int(part.parameters.get("n_components", 0)) for part in self.parts)

    @property
    def parts(self) -> list[Candidate]:
        """The models that are fitted: those of an average, or this one."""
        return [member for member, _ in self.members] or [self]

    def at(self, label: str, **parameters: Any) -> Candidate:
        """Return the same with other parameters, to be measured."""
        return replace(self, label=label, parameters={**self.parameters, **parameters})


@dataclass
class Rounds:
    """Candidates for one problem, as many as the time allows."""

    problem: LabelledTable
    deadline: float  # in the seconds of `time.monotonic`
    folder: Path  # of the results
    workers: int = 1
    allow_rows: bool = True  # models may hold training rows
    log: bool = False  # the logarithm of the target is learnt
    on_candidate: Callable[[Candidate], None] | None = None
    candidates: list[Candidate] = field(default_factory=list)
    stopped: str = ""  # whether ``budget`` or ``memory`` cut off a contender
    interrupted: bool = False
    began: float = field(default_factory=monotonic)
    # The learnt metrics by name: the root of each split.
    metrics: dict[str, list[Array]] = field(default_factory=dict)
    planned: list[tuple[Any, Any]] = field(default_factory=list)  # experiments, with their trial
    _packs: dict[Any, tuple[Path, int, int]] = field(default_factory=dict)

    # The rows.

    @cached_property
    def splits(self) -> list[Sides]:
        """Rows to fit and to predict."""
        return self.problem.validation()

    @cached_property
    def held(self) -> Index:
        """The validation rows, split after split."""
        return np.concatenate([held for _, held in self.splits])

    @cached_property
    def prepared(self) -> list[Array]:
        """The rows of each split as its rows to fit prepare them, which come first."""
        return [
            prepared(self.problem.X, *sides, allow_rows=self.allow_rows) for sides in self.splits
        ]

    @cached_property
    def target(self) -> Any:
        """What is learnt: class codes, numbers or their logarithms."""
        return np.log(self.problem.y) if self.log else self.problem.y

    @cached_property
    def truth(self) -> Any:
        """The target of the validation rows."""
        return self.problem.y[self.held]

    @cached_property
    def groups(self) -> Index | None:
        """The groups of the validation rows."""
        return None if self.problem.groups is None else self.problem.groups[self.held]

    @cached_property
    def n(self) -> int:
        """The rows of a split that are fitted."""
        return min(len(fit) for fit, _ in self.splits)

    def pack(self, key: Any, X: Array, y: Any, n_fit: int) -> tuple[Path, int, int]:
        """Write rows for trials, those to fit first, unless they are there."""
        if key in self._packs:
            return self._packs[key]
        place = self.folder / "rows" / f"{'log-' * self.log}{len(self._packs)}"
        task = {0: "regression", 2: "binary"}.get(self.problem.n_classes, "multiclass")
        counts = np.maximum(np.bincount(y), 1).tolist() if self.problem.n_classes else []
        classes = {str(code): count for code, count in enumerate(counts)}
        about = {"kind": "own", "task": task, "classes": classes, "note": ""}
        packed.write(place, Parsed(X, y, n_fit, None, about))
        self._packs[key] = place, n_fit, len(y) - n_fit
        return self._packs[key]

    def _split_pack(self, fold: int, rows: int, setting: Candidate) -> tuple[Path, int, int]:
        fit, held = self.splits[fold]
        some = self.problem.some(fit, rows)
        key = fold, len(some), setting.basis
        if key in self._packs:
            return self._packs[key]
        X, n = self.prepared[fold], len(fit)
        Z = np.vstack([X[np.searchsorted(fit, some)], X[n:]])
        if setting.basis:
            scaled = SCALERS[setting.scaling]().fit(X[:n]).transform(Z)
            Z = in_metric(scaled, self.metrics[setting.basis][fold])
        return self.pack(key, Z, self.target[np.concatenate([some, held])], len(some))

    # Trials.

    def _experiment(self, setting: Candidate, pack: tuple[Path, int, int], role: str) -> Any:
        place, n_fit, n_held = pack
        sampler = {"class": "sklearn.preprocessing.FunctionTransformer", "label": setting.label}
        content = {
            "dataset": {"path": str(place.absolute()), "name": f"rows-{place.name}"},
            "rows": n_fit,
            "test_rows": n_held,
            "split": "given",
            "scaling": "none" if setting.basis else setting.scaling,
            "target": "raw",
            "M": max(1, setting.M),
            "samplers": {**sampler, "role": role},
            "solver": {"class": setting.estimator, **setting.parameters},
            "trials": 1,
            "seed": self.problem.seed,
            "predictions": True,
        }
        document = yamlfile.Document(content, "choose")
        return config.from_document(document, self.folder.name, allow_imports=True)

    def measured(
        self,
        trials: Sequence[tuple[Candidate, tuple[Path, int, int]]],
        role: str,
        deadline: float | None,
    ) -> list[tuple[dict[str, str], dict[str, Array]] | None]:
        """Measure trials that have no row yet; return rows and arrays, None without them."""
        planned = [
            self._experiment(setting, pack, role or (METHOD if setting.M else MODEL))
            for setting, pack in trials
        ]
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
        if any(rows[i]["status"] == "memory" for i in ids if i in rows):
            self.stopped = "memory"
        return [
            (rows[i], predictions.read(self.folder, i))
            if i in rows and rows[i]["status"] == "ok"
            else None
            for i in ids
        ]

    def round(
        self, settings: Sequence[Candidate], rows: int, share: float = 1.0
    ) -> list[Candidate]:
        """Measure those contenders for which a share of the time that is left is enough."""
        if self.interrupted:
            return []
        folds, end = len(self.splits), monotonic() + share * self.left()
        load, taken = 0.0, []
        for setting in settings:
            seconds, again = self._needed(setting, rows)
            wall = load + seconds * folds / self.workers
            always = setting.family in ALWAYS and not wall
            if not always and max(wall, seconds) > min(end - monotonic(), self.left(again)):
                self.stopped = self.stopped or "budget"
                continue
            load = wall
            taken.append(setting)
        trials = [(s, self._split_pack(fold, rows, s)) for s in taken for fold in range(folds)]
        if not trials:
            return []
        # The simple models have all the time. A child that is killed costs the start of another:
        # only the first kernels, and boosting beside them, end before their time is needed.
        known = {c.family for c in self.candidates}
        latest = monotonic() + self.left() if FEATURES in known else end
        results = self.measured(trials, VALIDATION, latest if known else None)
        made = []
        for number, setting in enumerate(taken):
            parts = results[number * folds : (number + 1) * folds]
            if all(part is not None for part in parts):
                made.append(self._candidate(setting, parts, rows))
            elif setting.family == BOOSTING:
                self.stopped = self.stopped or "budget"
        return made

    def _candidate(self, setting: Candidate, parts: Sequence[Any], rows: int) -> Candidate:
        """Return a candidate of what the trials of all splits said."""
        words = "probabilities" if self.problem.n_classes else "predictions"
        scores = np.vstack([arrays[words] for _, arrays in parts])
        times = [sum(float(row[t]) for t in FITS) for row, _ in parts]
        took, rows = float(np.mean(times)), min(rows, self.n)
        seconds, fixed = took * _growth(setting, self.n / rows), setting
        if setting.M:
            chosen = np.array([arrays["chosen"] for _, arrays in parts])
            factor, alpha, *link = np.exp(np.log(chosen).mean(axis=0)).tolist()  # of all splits
            own = {"factors": [_digits(factor)], "alphas": [_digits(alpha)], "metric": "none"}
            own |= {"link": [_digits(each) for each in link]} if self.problem.n_classes else {}
            fixed = setting.at(setting.label, **own)
            seconds = float(np.mean([arrays["seconds"] for _, arrays in parts]))
            seconds *= cost(setting.M, self.n) / cost(setting.M, rows)
            if setting.parameters["metric"] != "none":
                self.metrics[setting.label] = [arrays["root"] for _, arrays in parts]
                fixed = replace(fixed, basis=setting.label)
        return self.add(replace(fixed, seconds=seconds, took=took, rows=rows), scores)

    def add(self, candidate: Candidate, scores: Array) -> Candidate:
        """Add a candidate with its scores of the validation rows."""
        predicted = self.predicted(scores)
        value = loss(self.problem.metric, self.truth, predicted)
        fine = loss("log-loss", self.truth, predicted) if self.problem.n_classes else value
        made = replace(candidate, scores=scores, loss=value, fine=fine.value)
        self.candidates.append(made)
        if self.on_candidate is not None:
            self.on_candidate(made)
        return made

    def predicted(self, scores: Array) -> Predicted:
        """Return what scores say: of a regression the numbers themselves."""
        if not self.problem.n_classes:
            return Predicted(np.exp(scores[:, 0]) if self.log else scores[:, 0])
        balanced = self.problem.metric == "balanced-error"
        decided = scores / np.bincount(self.problem.y) if balanced else scores
        return Predicted(decided.argmax(axis=1), scores)

    # Time.

    def left(self, more: float = 0.0) -> float:
        """Return the seconds until the deadline, less those for the fits that follow.

        They follow on all training rows for the best of each kind, side by side, and on all rows
        for the one that is taken: one of those that are not far from the best. `more` are the
        seconds of a fit of features that is planned, in the place of the best ones.
        """
        best = self.best_of_families().values()
        least = min((c.loss.value for c in best), default=0.0)
        parts = {part for c in best for part in c.parts}
        replaced = max((p.seconds for p in parts if p.family == FEATURES), default=0.0)
        first = sum(part.seconds for part in parts) + max(0.0, more - replaced)
        near = [c for c in best if c.loss.value <= NEAR * least]
        last = max([*(sum(part.seconds for part in c.parts) for c in near), more], default=0.0)
        larger = len(self.problem.y) / self.n  # than the rows of a split
        fits = SPARE * larger * (first / self.workers + 4 / 3 * last)
        restart = min(RESTART, RESTART_SHARE * (self.deadline - self.began))
        return self.deadline - monotonic() - fits - OVERHEAD * len(parts) - restart

    def _needed(self, setting: Candidate, rows: int) -> tuple[float, float]:
        """Return the seconds of a trial on one split, and those of a fit of it on all its rows.

        As those of the most alike that was measured tell them; 0 where there is none.
        """
        rows = min(rows, self.n)
        alike = [c for c in self.candidates if c.family == setting.family and not c.members]
        if not alike:
            return 0.0, 0.0
        like = max(alike, key=lambda c: (c.M, c.rows))
        if not setting.M:
            trial, fit = (like.took * _growth(setting, n / like.rows) for n in (rows, self.n))
            return OVERHEAD + trial, fit
        fit = like.seconds / cost(like.M, self.n)
        trial = OVERHEAD + len(setting.parameters["factors"]) * fit * cost(setting.M, rows)
        if setting.parameters["metric"] != "none":
            trial = max((c.took for c in alike if c.label in self.metrics), default=trial)
        return trial, fit * cost(setting.M, self.n)

    # The rounds.

    def first(self) -> list[Candidate]:
        """Measure all contenders on few rows."""
        models, rows = self._models(), self._rows("few")
        made = self.round([m for m in models if m.family in ALWAYS], rows)
        others = [m for m in models if m.family not in ALWAYS]
        return made + self.round([*others, *self._kernels()], rows, FIRST_SHARE)

    def run(self) -> None:
        """Go through the rounds until there is no time, or nothing left to try."""
        small = [c for c in self.candidates or self.first() if c.family == FEATURES]
        if self._rows("few") < self.n:
            self.round(self._models(), self.n, METRIC_SHARE)
        self._learn_metrics(small)
        self._grow(self._middle(small))

    def _rows(self, which: str) -> int:
        return min(self.n, int(contenders()["rows"][which]))

    def _models(self) -> list[Candidate]:
        own, made = contenders(), []
        for model in own["models"]["classes" if self.problem.n_classes else "numbers"]:
            keys = dict(model)
            if self.problem.metric == "mae":
                keys |= own["mae"].get(model["family"], {})
            label, family, path = (keys.pop(name) for name in ("label", "family", "class"))
            scaling = keys.pop("scaling", "none")
            if "alphas" in keys:
                keys["alphas"] = grids.expand(keys["alphas"])
            if family == BOOSTING:
                keys["random_state"] = self.problem.seed
            made.append(Candidate(label, family, path, keys, scaling))
        return made

    def _kernels(self) -> list[Candidate]:
        """Return features of each kernel and scaling at few landmarks."""
        own, M = contenders(), min(contenders()["sizes"]["few"], self._rows("few"))
        kind = "Nystroem" if self.allow_rows else "Fourier features"
        common = {
            "n_components": M,
            "features": "uniform" if self.allow_rows else "frequencies",
            "alphas": self.alphas,
            "metric": "none",
            "random_state": self.problem.seed,
        }
        return [
            Candidate(
                f"{kind}, {kernel} kernel, {scaling}, M = {M}",
                FEATURES,
                KERNEL_MODEL + ("Classifier" if self.problem.n_classes else "Regressor"),
                {**common, "kernel": kernel, "factors": factors},
                scaling,
            )
            for kernel, factors in own["kernels"].items()
            for scaling in own["scalings"]
        ]

    @property
    def alphas(self) -> list[float]:
        """The penalties of ridge regression."""
        return [float(alpha) for alpha in grids.expand(contenders()["alphas"])]

    def _in_metric(self, candidate: Candidate, kind: str) -> Candidate:
        """Return a candidate in a metric that is to be learnt."""
        factors = contenders()["kernels"][candidate.parameters["kernel"]]
        learnt = {"metric": kind, "metric_landmarks": contenders()["metric_landmarks"]}
        label = f"{candidate.label}, {kind} metric"
        return candidate.at(label, factors=factors, alphas=self.alphas, **learnt)

    def _learn_metrics(self, small: list[Candidate]) -> None:
        """Learn metrics for the kernels near the best one, while they gain; the best one first.

        The best metric is seldom that of a kernel that is far behind without one, and where it
        gains nothing for the best kernel, it seldom does for others.
        """
        ranked = sorted(small, key=lambda c: c.loss.value)
        for candidate in [c for c in ranked if c.loss.value <= NEAR * ranked[0].loss.value]:
            least = min(c.loss.value for c in small)
            settings = [self._in_metric(candidate, kind) for kind in contenders()["metrics"]]
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
        (factor,) = candidate.parameters["factors"]
        return candidate.at(
            candidate.label.replace(f"M = {candidate.M}", f"M = {M}"),
            n_components=M,
            factors=[_digits(factor * step) for step in steps],
            alphas=self.alphas,
        )

    def _middle(self, small: list[Candidate]) -> list[Candidate]:
        """Compare the best at more landmarks, at larger bandwidths until it is worse."""
        best = self.leading(small, 4)
        near = [c for c in best if c.loss.value <= FAR * best[0].loss.value]
        M = min(contenders()["sizes"]["middle"], self.n)
        settings = [self._larger(c, M, STEPS) for c in near if M > c.M]
        return self.round(settings, self._rows("middle"), MIDDLE_SHARE) or best[:1]

    def _grow(self, middle: list[Candidate]) -> None:
        """Take ever more landmarks for the best, as long as each of them gains by it."""
        alive = self.leading(middle, 3)
        while alive:
            wanted = [(c, min(2 * c.M, self.n)) for c in alive]
            wanted = [(c, M) for c, M in wanted if c.M < M <= contenders()["sizes"]["most"]]
            larger = {self._larger(c, M): GAIN * c.loss.value for c, M in wanted}
            least = {setting.label: value for setting, value in larger.items()}
            made = self.round(list(larger), self.n)
            alive = [after for after in made if after.loss.value <= least[after.label]]

    # What was found.

    def best_of_families(self) -> dict[str, Candidate]:
        """Return the best candidate of each family; the first of equal ones."""
        families: dict[str, list[Candidate]] = {}
        for candidate in self.candidates:
            families.setdefault(candidate.family, []).append(candidate)
        # An average costs more at each prediction: it is taken where no single one is close.
        return {
            family: min(self.close(candidates), key=lambda c: (len(c.members), c.fine))
            for family, candidates in families.items()
        }

    def close(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return the candidates that are as good as the best: within a hundredth of its loss.

        The loss of classes is a number of rows: there those within half a standard error are
        close, if their log-loss is within a hundredth of the smallest of them.
        """
        best = min(candidates, key=lambda c: c.loss.value)
        reach = (CLOSE - 1) * best.loss.value
        if self.problem.n_classes:
            reach = max(reach, 0.5 * best.loss.standard_error(self.groups))
        near = [c for c in candidates if c.loss.value <= best.loss.value + reach]
        least = min(c.fine for c in near)
        return [c for c in near if c.fine <= CLOSE * least]

    def clear(self) -> None:
        """Remove the rows that trials were given; the same command makes them anew.

        And where no rows may be left, all that was measured: predictions stand beside their truth.
        """
        shutil.rmtree(self.folder / "rows", ignore_errors=True)
        if not self.allow_rows:
            shutil.rmtree(self.folder / predictions.KEY, ignore_errors=True)
        if not (self.folder / predictions.KEY).exists():
            Store(self.folder).csv.unlink(missing_ok=True)


def cost(M: int, rows: int) -> float:
    """Return the seconds of a fit of M features on so many rows, in proportion."""
    return float(M * (M + LINEAR_M) * (rows + SOLVED * M))


def _growth(setting: Candidate, times: float) -> float:
    """Return how many times as long a fit takes on so many times the rows.

    Of boosting much is for each tree, whatever the rows.
    """
    return 0.7 + 0.3 * times if setting.family == BOOSTING else times


def _digits(value: float) -> float:
    return float(f"{value:.6g}")
