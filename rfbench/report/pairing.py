"""The paired quantities of a claim: differences and quotients of two methods, trial by trial."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rfbench.papers import Part
from rfbench.report.arms import Arm, Key
from rfbench.report.evidence import of_method

# What does not depend on the test rows: resampling them does not make its trials dependent.
OF_THE_FEATURES = ("kernel_error", "kept")

Curve = dict[int, list[Arm]]
Trials = dict[Key, float]


@dataclass(frozen=True)
class Paired:
    """One quantity, with a value a trial.

    Attributes
    ----------
    at : str
        Where on the axis, in words.
    values_of : tuple of float
        One value a trial: a difference, or the logarithm of a quotient.
    ratio : float
        Test rows over training rows where every trial splits the same rows anew, else 0.
    values : int
        How many values of the axis this comparison's method pair has in all.
    """

    dataset: str
    against: str
    at: str
    values_of: tuple[float, ...]
    ratio: float
    values: int

    def words(self, part: Part) -> str:
        """Say what is compared."""
        sign = "/" if part.scale == "ratio" else "-"
        other = self.against or (part.method if part.against_metric else "")
        second = f" {sign} {part.against_metric or part.metric}({other})" if other else ""
        return f"{part.metric}({part.method}){second}, {self.at}, {self.dataset}"


def paired(part: Part, dataset: str, arms: Sequence[Arm]) -> list[Paired]:
    """Return the paired quantities of a part of a claim on one data set.

    Trials are paired where seed, data, split and number of training rows agree; of several
    experiments that ran both, the one with the most trials counts; methods that no experiment
    ran together are paired across experiments. Times are CPU seconds, of isolated trials only:
    other work on the machine lengthens wall times, and shared times are upper bounds.
    """
    equal_time = part.at in ("equal-time", "equal-time-last")
    if equal_time or _is_time(part.metric):
        arms = [arm for arm in arms if not arm.shared]
    mine = _curve(part, of_method(arms, part.method))
    made = []
    for other in part.against or [""]:
        theirs = _curve(part, of_method(arms, other)) if other else None
        if equal_time:
            found = _at_equal_time(part, mine, theirs or {})
        elif part.at == "best":
            found = _at_best(part, mine, theirs or {})
        else:
            found = _along(part, mine, theirs)
        ratio = 0.0
        if not _is_time(part.metric) and not part.metric.startswith(OF_THE_FEATURES):
            ratio = max((arm.ratio for arms in mine.values() for arm in arms), default=0.0)
        made += [
            Paired(dataset, other, at, tuple(trials.values()), ratio, values)
            for at, (trials, values) in found.items()
            if trials
        ]
    return made


def _is_time(metric: str) -> bool:
    return metric.startswith("t_")


def _by_trial(arm: Arm, metric: str) -> Trials:
    """Return the values by trial; a time is CPU seconds where they were measured."""
    cpu = arm.by_trial(metric.replace("t_", "cpu_", 1)) if _is_time(metric) else {}
    return cpu or arm.by_trial(metric)


def _curve(part: Part, arms: Sequence[Arm]) -> Curve:
    """Sort the arms along the axis; one without a size stands at 0."""
    curve: Curve = {}
    for arm in arms:
        x = (arm.d if part.along == "d" else arm.M) or 0
        curve.setdefault(x, []).append(arm)
    return dict(sorted(curve.items()))


def _log(part: Part, trials: Trials) -> Trials:
    if part.scale == "difference":
        return trials
    return {key: math.log(value) for key, value in trials.items() if value > 0}


def _difference(
    part: Part, mine: Sequence[Arm], theirs: Sequence[Arm] | None, second: str | None = None
) -> Trials:
    """Return the values of the experiments with the most trials in common."""
    best: Trials = {}
    if theirs is None:
        every = [_log(part, _by_trial(arm, part.metric)) for arm in mine]
        return max(every, key=len, default=best)
    every_pair = list(itertools.product(mine, theirs))
    together = [(a, b) for a, b in every_pair if a.experiment == b.experiment]
    for a, b in together or every_pair:
        left = _log(part, _by_trial(a, part.metric))
        right = _log(part, _by_trial(b, second or part.metric))
        both = {key: value - right[key] for key, value in left.items() if key in right}
        best = both if len(both) > len(best) else best
    return best


def _along(part: Part, mine: Curve, theirs: Curve | None) -> dict[str, tuple[Trials, int]]:
    """Take the differences along the axis, and of them what `part.at` asks for."""
    steps: dict[int, Trials] = {}
    for x, arms in mine.items():
        if part.against_metric:
            others: list[Arm] | None = arms
        else:
            others = None if theirs is None else theirs.get(x * part.against_factor, [])
        trials = _difference(part, arms, others, part.against_metric)
        if trials:
            steps[x] = trials
    if part.at == "plateau":
        steps = {x: trials for x, trials in steps.items() if _most_kept(mine[x]) <= x}
    xs = list(steps)
    n = len(xs)
    if part.at in ("slope", "growth", "plateau"):
        if part.along == "d":
            steps = {x: _across_data(trials) for x, trials in steps.items()}
        joint = _joint(part.at, steps) if n > 1 else {}
        return {f"{part.at} over {part.along}": (joint, n)} if joint else {}
    chosen = {
        "each": xs,
        "largest": xs[-1:],
        "lower-half": xs[: (n + 1) // 2],
        "upper-half": xs[n // 2 :],
    }[part.at]
    return {f"{part.along} = {x}" if x else "M as kept": (steps[x], len(chosen)) for x in chosen}


def _most_kept(arms: Sequence[Arm]) -> float:
    """Return the largest number of features kept in a trial; infinity if it is not known."""
    kept = np.concatenate([arm.column("kept") for arm in arms])
    return float(np.nanmax(kept)) if np.isfinite(kept).any() else math.inf


def _across_data(trials: Trials) -> Trials:
    """Leave out of the keys what names the data: every d has its own."""
    return {(trial, seed, split, n): v for (trial, seed, _, split, n), v in trials.items()}


def _joint(at: str, steps: dict[int, Trials]) -> Trials:
    """Return one value a trial that was run at every x: slope, growth or plateau."""
    xs = list(steps)
    if at == "plateau":
        xs = xs[-2:]
    elif at == "growth":
        xs = [xs[0], xs[-1]]
    common = [key for key in steps[xs[0]] if all(key in steps[x] for x in xs)]
    rows = {key: np.array([steps[x][key] for x in xs]) for key in common}
    if at == "slope":
        return {key: float(np.polyfit(xs, values, 1)[0]) for key, values in rows.items()}
    return {key: float(values[-1] - values[0]) for key, values in rows.items()}


def _at_best(part: Part, mine: Curve, theirs: Curve) -> dict[str, tuple[Trials, int]]:
    """Compare each method at its size of the smallest mean test error."""

    def best(curve: Curve) -> list[Arm]:
        scored = [
            (float(np.nanmean(arm.values("error"))), [arm])
            for arms in curve.values()
            for arm in arms
            if np.isfinite(arm.values("error")).any()
        ]
        return min(scored, key=lambda pair: pair[0], default=(0.0, []))[1]

    a, b = best(mine), best(theirs)
    trials = _difference(part, a, b)
    if not trials:
        return {}
    return {f"each at its best M ({a[0].M or 'kept'}, {b[0].M or 'kept'})": (trials, 1)}


def _at_equal_time(part: Part, mine: Curve, theirs: Curve) -> dict[str, tuple[Trials, int]]:
    """Compare with the other's value at the mean total time of each of our sizes.

    The other's values are interpolated, trial by trial, over the logarithm of its mean times;
    times outside the range that it was run at are not compared. Both come from one experiment:
    that which gives the most comparisons.
    """
    best: dict[str, tuple[Trials, int]] = {}
    names = [arm.experiment for arms in mine.values() for arm in arms]
    for name in dict.fromkeys(names):
        found = _within(part, _of(mine, name), _of(theirs, name))
        best = found if len(found) > len(best) else best
    if part.at == "equal-time-last":
        best = dict(list(best.items())[-1:])
    return {at: (trials, len(best)) for at, (trials, _) in best.items()}


def _of(curve: Curve, experiment: str) -> dict[int, Arm]:
    found = {x: [arm for arm in arms if arm.experiment == experiment] for x, arms in curve.items()}
    return {x: arms[0] for x, arms in found.items() if arms}


def _mean_time(arm: Arm) -> float:
    """Return the mean total time of an arm in seconds, NaN without one."""
    spent = list(_by_trial(arm, "t_total").values())
    return float(np.mean(spent)) if spent else math.nan


def _within(
    part: Part, mine: dict[int, Arm], theirs: dict[int, Arm]
) -> dict[str, tuple[Trials, int]]:
    """Compare two methods of one experiment at equal total time."""
    spent = {x: _mean_time(arm) for x, arm in theirs.items()}
    times = {x: math.log(time) for x, time in spent.items() if time > 0}
    curve = {x: _difference(part, [theirs[x]], None) for x in times}
    order = sorted(times, key=lambda x: times[x])
    made: dict[str, tuple[Trials, int]] = {}
    for x, arm in mine.items():
        time = _mean_time(arm)
        if not time > 0 or len(order) < 2:
            continue
        now = math.log(time)
        if not times[order[0]] <= now <= times[order[-1]]:
            continue
        own = _difference(part, [arm], None)
        common = [key for key in own if all(key in curve[o] for o in order)]
        trials = {
            key: own[key]
            - float(np.interp(now, [times[o] for o in order], [curve[o][key] for o in order]))
            for key in common
        }
        if trials:
            made[f"M = {x}, {time:.3g} s"] = (trials, 0)
    return made
