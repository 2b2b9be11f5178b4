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

from rfbench import config, grids, yamlfile
from rfbench.arrays import Array
from rfbench.choosing.losses import Loss, Predicted, joined, loss
from rfbench.choosing.parts import SCALERS, InMetric, class_weights
from rfbench.choosing.problem import Index, LearningProblem, Sides
from rfbench.datasets import packed
from rfbench.datasets.columns import Parsed
from rfbench.datasets.preparation import Preparation
from rfbench.experiment import runner
from rfbench.experiment.run_plan import plan_run
from rfbench.experiment.worker import LEAST_MEMORY, Limits
from rfbench.memory import free_bytes
from rfbench.results import predictions
from rfbench.results.schema import METHOD, MODEL, VALIDATION
from rfbench.results.store import Store

CONSTANT, LINEAR, BOOSTING, FEATURES, BLEND = "constant", "linear", "boosting", "features", "blend"
KERNEL_MODEL = "rfbench.solvers.kernel_model.Kernel"
# A fit is taken to grow like M (M + LINEAR_M) (rows + SOLVED M): up to so many features the
# kernel's values take longer than their products; the products' system counts as more rows.
LINEAR_M, SOLVED, OVERHEAD = 1_000, 8, 0.1
# Seconds, and a share of the time, that are kept for a process that begins after one was killed.
RESTART, RESTART_SHARE = 3.0, 0.05
SPARE = 1.1  # times as long as they are reckoned to take is kept for the last fits
GAIN = 0.995  # more features are tried while the loss falls below this share
CLOSE, NEAR, FAR = 1.01, 1.1, 1.5  # of the smallest loss: as good; may be taken; is not followed
STEPS = (1.0, 1.4, 2.0)  # of the bandwidth, at the middle number of landmarks
FIRST_SHARE, METRIC_SHARE, MIDDLE_SHARE, MORE_SHARE = 0.4, 0.3, 0.5, 0.3  # of the time left then


@cache
def contenders() -> dict[str, Any]:
    """Return what is tried, see contenders.yaml."""
    text = resources.files(__package__).joinpath("contenders.yaml").read_bytes()
    return dict(yamlfile.parse(text, "contenders.yaml").value)


@dataclass(frozen=True, eq=False)
class Setting:
    """A contender at a size: what a trial measures."""

    label: str
    family: str
    estimator: str  # import path
    parameters: Mapping[str, Any]
    scaling: str = "none"
    basis: str = ""  # the learnt metric whose rows it sees; nothing: the rows as they are
    M: int = 0

    def at(self, label: str, **parameters: Any) -> Setting:
        """Return the same with other parameters."""
        own = {**self.parameters, **parameters}
        return replace(self, label=label, parameters=own, M=own.get("n_components", 0))


@dataclass(frozen=True, eq=False)
class Candidate:
    """A contender that was measured, and what it said of the validation rows."""

    label: str
    family: str
    scores: Array  # of the validation rows: numbers or probabilities, shape (n, k)
    loss: Loss
    # The log-loss of classes, else the loss: what tells apart those that are close in the loss.
    fine: float
    weights: tuple[float, ...] = ()  # of the classes, where the decision is moved
    setting: Setting | None = None  # with all chosen; None of an average
    seconds: float = 0.0  # of a fit on the rows of one split
    took: float = 0.0  # seconds of the trial, on `rows` rows
    rows: int = 1
    members: tuple[tuple[Candidate, float], ...] = ()  # of an average

    @property
    def M(self) -> int:
        """Features, of all members."""
        return sum(part.setting.M for part in self.parts if part.setting)

    @property
    def parts(self) -> list[Candidate]:
        """The models that are fitted: those of an average, or this one."""
        return [member for member, _ in self.members] or [self]


@dataclass
class Rounds:
    """Candidates for one problem, as many as the time allows."""

    problem: LearningProblem
    deadline: float  # in the seconds of `time.monotonic`
    folder: Path  # of the results
    workers: int = 1
    allow_rows: bool = True  # models may hold training rows
    log: bool = False  # the logarithm of the target is learnt
    on_candidate: Callable[[Candidate], None] | None = None
    candidates: list[Candidate] = field(default_factory=list)
    # What budget or memory cut off: ``boosting``, ``metric``, ``size``, ``memory``; or nothing.
    stopped: str = ""
    interrupted: bool = False
    began: float = field(default_factory=monotonic)
    # The learnt metrics by name: scaling, and the root of each split.
    metrics: dict[str, tuple[str, list[Array]]] = field(default_factory=dict)
    planned: list[tuple[Any, Any]] = field(default_factory=list)  # experiments, with their trial
    _packs: dict[Any, tuple[Path, int, int]] = field(default_factory=dict)

    # The rows.

    @cached_property
    def splits(self) -> list[Sides]:
        """Rows to fit and to predict."""
        return self.problem.validation()

    @cached_property
    def prepared(self) -> list[Array]:
        """All rows as each split's rows to fit prepare them."""
        X = self.problem.X
        return [
            np.asarray(Preparation().fit(X.iloc[fit]).transform(X), dtype=np.float64)
            for fit, _ in self.splits
        ]

    @cached_property
    def target(self) -> Any:
        """What is learnt: class codes, numbers or their logarithms."""
        return np.log(self.problem.y) if self.log else self.problem.y

    @cached_property
    def truth(self) -> Any:
        """The target of the validation rows, split after split."""
        return self.problem.y[np.concatenate([held for _, held in self.splits])]

    @cached_property
    def groups(self) -> Index | None:
        """The groups of the validation rows."""
        groups = self.problem.groups
        return None if groups is None else groups[np.concatenate([h for _, h in self.splits])]

    @cached_property
    def n(self) -> int:
        """The rows of a split that are fitted."""
        return min(len(fit) for fit, _ in self.splits)

    def pack(self, key: Any, X: Array, y: Any, n_fit: int) -> tuple[Path, int, int]:
        """Write rows for trials, those to fit first, unless they are there."""
        if key not in self._packs:
            place = self.folder / "rows" / f"{'log-' * self.log}{len(self._packs)}"
            task = "regression" if not self.problem.n_classes else "multiclass"
            if self.problem.n_classes == 2:
                task = "binary"
            counts = np.maximum(np.bincount(y), 1).tolist() if self.problem.n_classes else []
            classes = {str(code): count for code, count in enumerate(counts)}
            about = {"kind": "own", "task": task, "classes": classes, "note": ""}
            packed.write(place, Parsed(X, y, n_fit, None, about))
            self._packs[key] = place, n_fit, len(y) - n_fit
        return self._packs[key]

    def _split_pack(self, fold: int, rows: int, basis: str) -> tuple[Path, int, int]:
        fit, held = self.splits[fold]
        some = self.problem.some(fit, rows)
        key = fold, len(some), basis
        if key in self._packs:
            return self._packs[key]
        X, order = self.prepared[fold], np.concatenate([some, held])
        if basis:
            scaling, roots = self.metrics[basis]
            scaled = SCALERS[scaling]().fit(X[fit]).transform(X[order])
            X = InMetric(roots[fold]).transform(scaled)
        else:
            X = X[order]
        return self.pack(key, X, self.target[order], len(some))

    # Trials.

    def _experiment(self, setting: Setting, pack: tuple[Path, int, int], role: str) -> Any:
        place, n_fit, n_held = pack
        sampler = {"class": "sklearn.preprocessing.FunctionTransformer", "label": setting.label}
        content = {
            "dataset": {"path": str(place.absolute()), "name": f"rows-{place.name}"},
            "rows": n_fit,
            "test_rows": n_held,
            "split": "given",
            "scaling": setting.scaling,
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
        trials: Sequence[tuple[Setting, tuple[Path, int, int]]],
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
            self.stopped = self.stopped or "memory"
        return [
            (rows[i], predictions.read(self.folder, i))
            if i in rows and rows[i]["status"] == "ok"
            else None
            for i in ids
        ]

    def round(
        self, settings: Iterable[Setting], rows: int, share: float = 1.0, what: str = ""
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
                self.stopped = self.stopped or what
                continue
            load = wall
            taken.append(setting)
        trials = [
            (setting, self._split_pack(fold, rows, setting.basis))
            for setting in taken
            for fold in range(folds)
        ]
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
                made.append(self._candidate(setting, [part for part in parts if part], rows))
            elif setting.family == BOOSTING:
                self.stopped = self.stopped or "boosting"
        return made

    def _candidate(self, setting: Setting, parts: Sequence[Any], rows: int) -> Candidate:
        """Return a candidate of what the trials of all splits said."""
        words = "probabilities" if self.problem.n_classes else "predictions"
        scores = np.vstack([arrays[words] for _, arrays in parts])
        times = [sum(float(row[t]) for t in FITS) for row, _ in parts]
        took, rows = float(np.mean(times)), min(rows, self.n)
        own: dict[str, Any] = {}
        seconds = took * _growth(setting.family, self.n / rows)
        if setting.M:
            chosen = np.array([arrays["chosen"] for _, arrays in parts])
            factor, alpha, *link = np.exp(np.log(chosen).mean(axis=0)).tolist()  # of all splits
            own = {"factors": [_digits(factor)], "alphas": [_digits(alpha)]}
            own |= {"link": [_digits(each) for each in link]} if self.problem.n_classes else {}
            seconds = float(np.mean([arrays["seconds"] for _, arrays in parts]))
            seconds *= cost(setting.M, self.n) / cost(setting.M, rows)
        basis = setting.basis
        if "root" in parts[0][1]:
            basis = setting.label
            self.metrics[basis] = setting.scaling, [arrays["root"] for _, arrays in parts]
            own |= {"metric": "none"}
        scaling = "none" if basis else setting.scaling
        fixed = replace(setting.at(setting.label, **own), scaling=scaling, basis=basis)
        facts = {"setting": fixed, "seconds": seconds, "took": took, "rows": rows}
        return self.add(setting.label, setting.family, scores, **facts)

    def add(self, label: str, family: str, scores: Array, **keys: Any) -> Candidate:
        """Add a candidate from its scores of the validation rows."""
        weights = class_weights(self.problem.metric, self.truth, scores, self.problem.n_classes)
        value = self._loss(self.predicted(scores, weights))
        fine = value.value
        if self.problem.n_classes:
            fine = loss("log-loss", self.truth, self.predicted(scores)).value
        made = Candidate(label, family, scores, value, fine, weights, **keys)
        self.candidates.append(made)
        if self.on_candidate is not None:
            self.on_candidate(made)
        return made

    def _loss(self, predicted: Predicted) -> Loss:
        """Return the loss on the validation rows.

        The AUC ranks rows: those of a fold, whose scores are of one model, and not of all folds.
        """
        metric, probabilities = self.problem.metric, predicted.probabilities
        if metric != "auc" or probabilities is None:
            return loss(metric, self.truth, predicted)
        ends = np.cumsum([len(held) for _, held in self.splits])[:-1]
        parts = (np.split(each, ends) for each in (self.truth, predicted.values, probabilities))
        return joined([loss(metric, y, Predicted(v, p)) for y, v, p in zip(*parts, strict=True)])

    def predicted(self, scores: Array, weights: tuple[float, ...] = ()) -> Predicted:
        """Return what scores say: of a regression the numbers themselves."""
        if self.problem.n_classes:
            decided = scores * np.asarray(weights) if weights else scores
            return Predicted(decided.argmax(axis=1), scores)
        return Predicted(np.exp(scores[:, 0]) if self.log else scores[:, 0])

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

    def _needed(self, setting: Setting, rows: int) -> tuple[float, float]:
        """Return the seconds of a trial on one split, and those of a fit of it on all its rows."""
        rows = min(rows, self.n)
        if setting.M:
            done = [c for c in self.candidates if c.setting is not None and c.setting.M]
            if not done:
                return 0.0, 0.0
            like = max(done, key=lambda c: (c.M, c.rows))
            fit = like.seconds / cost(like.M, self.n)
            trial = OVERHEAD + len(setting.parameters["factors"]) * fit * cost(setting.M, rows)
            if setting.parameters["metric"] != "none":
                learnt = [c.took for c in self.candidates if c.label in self.metrics]
                scale = setting.parameters["metric_landmarks"] / contenders()["metric_landmarks"][0]
                trial = scale * max(learnt, default=trial)
            if setting.parameters["features"] == "trained":
                trial = 10 * fit * cost(setting.M, min(rows, 6000))
            return trial, fit * cost(setting.M, self.n)
        like_it = [c for c in self.candidates if c.setting and c.family == setting.family]
        if not like_it:
            return 0.0, 0.0
        same = max(like_it, key=lambda c: c.rows)
        each = same.took * _leaves(setting) / _leaves(same.setting)
        trial, fit = (each * _growth(setting.family, size / same.rows) for size in (rows, self.n))
        return OVERHEAD + trial, fit

    # The rounds.

    def first(self) -> list[Candidate]:
        """Measure all contenders on few rows."""
        kernels, models, rows = self._kernels(), self._models(), self._rows("few")
        made = self.round([m for m in models if m.family in ALWAYS], rows)
        others = [m for m in models if m.family not in ALWAYS]
        made += self.round([*others, *kernels[:2]], rows, FIRST_SHARE, "boosting")
        return made + self.round(kernels[2:], rows, FIRST_SHARE)

    def run(self) -> None:
        """Go through the rounds until there is no time, or nothing left to try."""
        small = [c for c in self.candidates or self.first() if c.family == FEATURES]
        if self._rows("few") < self.n:
            self.round(self._models(), self.n, METRIC_SHARE, "boosting")
        self._learn_metrics(small)
        middle = self._middle(small)
        more = self._more(middle)
        self.round(more, self.n, MORE_SHARE)
        self._grow(middle)
        done = {c.label for c in self.candidates}
        self.round([each for each in more if each.label not in done], self.n, 1.0, "metric")

    def _rows(self, which: str) -> int:
        return min(self.n, int(contenders()["rows"][which]))

    def _models(self) -> list[Setting]:
        words = "classes" if self.problem.n_classes else "numbers"
        every = contenders()["models"][words]
        if self.problem.metric == "mae":
            every = [{**m, "strategy": "median"} if "strategy" in m else m for m in every]
        return [self._model(m) for m in every]

    def _model(self, model: Mapping[str, Any]) -> Setting:
        own = {key: value for key, value in model.items() if key not in ("family", "class")}
        family, path = model["family"], model["class"]
        label = NAMES.get(path.rpartition(".")[2], family)
        if isinstance(own.get("alphas"), str):
            own["alphas"] = grids.expand(own["alphas"])
        if family == CONSTANT:
            label = "the largest class" if self.problem.n_classes else f"the {own['strategy']}"
        if family == BOOSTING:
            label += f" ({', '.join(f'{k} {v}' for k, v in own.items())})" if own else ""
            own["random_state"] = self.problem.seed
        scaling = "standard" if family == LINEAR else "none"
        return Setting(label, family, path, own, scaling)

    def _kernels(self) -> list[Setting]:
        """Return features of each kernel and scaling at few landmarks."""
        own, M = contenders(), min(contenders()["sizes"]["few"], self._rows("few"))
        path = KERNEL_MODEL + ("Classifier" if self.problem.n_classes else "Regressor")
        kind = "Nystroem" if self.allow_rows else "Fourier features"
        common = {
            "n_components": M,
            "features": own["landmarks"] if self.allow_rows else "frequencies",
            "alphas": self.alphas,
            "metric": "none",
            "random_state": self.problem.seed,
        }
        return [
            Setting(
                f"{kind}, {kernel} kernel, {scaling}, M = {M}",
                FEATURES,
                path,
                {**common, "kernel": kernel, "factors": factors},
                scaling,
                M=M,
            )
            for kernel, factors in own["kernels"].items()
            for scaling in own["scalings"]
        ]

    @property
    def alphas(self) -> list[float]:
        """The penalties of ridge regression."""
        return [float(alpha) for alpha in grids.expand(contenders()["alphas"])]

    def _in_metrics(
        self, candidate: Candidate, kinds: Sequence[str], landmarks: int
    ) -> list[Setting]:
        """Return a candidate in metrics that are to be learnt."""
        setting = candidate.setting
        assert setting is not None
        factors = contenders()["kernels"][setting.parameters["kernel"]]
        factors = setting.parameters["factors"] if setting.basis else factors
        fixed = replace(setting, scaling=self._scaling(setting), basis="")
        return [
            fixed.at(
                f"{setting.label.partition(f', {kind} metric')[0]}, {kind} metric of {landmarks}",
                factors=factors,
                alphas=self.alphas,
                metric=kind,
                metric_landmarks=landmarks,
            )
            for kind in kinds
        ]

    def _learn_metrics(self, small: list[Candidate]) -> None:
        """Learn metrics for the kernels near the best one, while they gain; the best one first.

        The best metric is seldom that of a kernel that is far behind without one, and where it
        gains nothing for the best kernel, it seldom does for others.
        """
        ranked = sorted(small, key=lambda c: c.loss.value)
        for candidate in [c for c in ranked if c.loss.value <= NEAR * ranked[0].loss.value]:
            least = min(c.loss.value for c in small)
            settings = self._in_metrics(
                candidate, contenders()["metrics"], contenders()["metric_landmarks"][0]
            )
            made = self.round(settings, self._rows("middle"), METRIC_SHARE, "metric")
            small += made
            if not made or min(c.loss.value for c in made) > GAIN * least:
                break

    def leading(self, candidates: Sequence[Candidate], count: int) -> list[Candidate]:
        """Return the best candidates, one per scaling, kernel and kind of features."""
        first: dict[Any, Candidate] = {}
        for candidate in sorted(candidates, key=lambda c: c.loss.value):
            if candidate.setting is not None:
                own = candidate.setting.parameters
                key = self._scaling(candidate.setting), own["kernel"], own["features"]
                first.setdefault(key, candidate)
        return list(first.values())[:count]

    def _scaling(self, setting: Setting) -> str:
        return self.metrics[setting.basis][0] if setting.basis else setting.scaling

    def _larger(self, candidate: Candidate, M: int, steps: Sequence[float] = (1.0,)) -> Setting:
        """Return a candidate with M features, at multiples of its bandwidth."""
        assert candidate.setting is not None
        setting = candidate.setting
        (factor,) = setting.parameters["factors"]
        return setting.at(
            setting.label.replace(f"M = {setting.M}", f"M = {M}"),
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
        made = self.round(settings, self._rows("middle"), MIDDLE_SHARE, "size")
        return made or best[:1]

    def _more(self, middle: list[Candidate]) -> list[Setting]:
        """Return a finer metric of the best, trained frequencies and other settings of models."""
        own, settings = contenders(), []
        for candidate in self.leading(middle, 1):
            setting = candidate.setting
            assert setting is not None
            if setting.basis:
                kind = setting.basis.rpartition(", ")[2].partition(" ")[0]
                settings += self._in_metrics(candidate, [kind], own["metric_landmarks"][1])
            if own["trained"]:
                label = f"varpro, {self._scaling(setting)}, M = {own['trained']}"
                M = min(own["trained"], self.n)
                trained = {"features": "trained", "n_components": M, "factors": [2.0]}
                settings.append(setting.at(label, **trained, alphas=self.alphas))
        words = "classes" if self.problem.n_classes else "numbers"
        settings += [self._model(model) for model in own["more"][words]]
        boosting = next(m for m in own["models"][words] if m["family"] == BOOSTING)
        every = own["more"]["boosting"]
        if self.problem.metric == "mae":
            every = [{"loss": "absolute_error"}, *every]
        if any(c.family == BOOSTING for c in self.candidates):
            settings += [self._model({**boosting, **more}) for more in every]
        return settings

    def _finer(self, middle: list[Candidate]) -> list[Candidate]:
        """Return the candidates in a metric that was learnt with more landmarks."""
        return [c for c in self.candidates if c.label in self.metrics and c.M == middle[0].M]

    def _grow(self, middle: list[Candidate]) -> None:
        """Take ever more landmarks for the best, as long as each of them gains by it."""
        alive = self.leading([*middle, *self._finer(middle)], 3)
        while alive:
            wanted = [(c, min(2 * c.M, self.n)) for c in alive]
            wanted = [(c, M) for c, M in wanted if c.M < M <= contenders()["sizes"]["most"]]
            settings = [self._larger(c, M) for c, M in wanted]
            least = {
                setting.label: GAIN * c.loss.value
                for setting, (c, _) in zip(settings, wanted, strict=True)
            }
            made = self.round(settings, self.n, 1.0, "size")
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


ALWAYS = (CONSTANT, LINEAR)  # whatever the budget
RETRIED = ("timeout", "crashed")
FITS = ("t_pp", "t_features", "t_train")
NAMES = {
    "LogisticRegression": "logistic regression",
    "RidgeCV": "ridge regression",
    "HistGradientBoostingClassifier": "boosting",
    "HistGradientBoostingRegressor": "boosting",
}


def cost(M: int, rows: int) -> float:
    """Return the seconds of a fit of M features on so many rows, in proportion."""
    return float(M * (M + LINEAR_M) * (rows + SOLVED * M))


def _growth(family: str, times: float) -> float:
    """Return how many times as long a fit takes on so many times the rows.

    Of boosting much is for each tree, whatever the rows.
    """
    return 0.7 + 0.3 * times if family == BOOSTING else times


def _leaves(setting: Setting | None) -> float:
    """Return the leaves of all trees, per class: what a fit of boosting takes is in proportion."""
    own = setting.parameters if setting else {}
    return float(own.get("max_iter", 100) * own.get("max_leaf_nodes", 31))


def _digits(value: float) -> float:
    return float(f"{value:.6g}")
