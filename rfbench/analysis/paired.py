"""Paired quantities: differences and quotients of two methods per trial."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rfbench.analysis.frame import Collection
from rfbench.analysis.naming import parse_parameters
from rfbench.papers.models import Part

PAIR_FACTS = ("experiment", "M", "columns", "d", "group", "parameters", "machine")
PERCENT_COLUMNS = {"error": "error_percent", "accuracy": "accuracy_percent"}

Curve = dict[int, list[int]]  # groups by M or d, ascending; the key is 0 without a size
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Quantity:
    """A paired quantity with one value per trial."""

    values: Values  # shape (n_trials,): differences, or logarithms of quotients
    # place on the axis; None if M follows another method, or the values are for all places
    x: int | None = None
    other_x: int | None = None  # place of the other method, if it is different
    seconds: float = math.nan  # time at which two methods are compared
    joint: str = ""  # what the values of a claim-specific function are, such as 'slope over d'
    share: bool = False  # True if each value is 0 or 1
    found: int = 1  # number of places of the axis that this pair of methods has
    dataset: str = ""  # name in the rows
    target: str = ""  # name in the paper
    against: str = ""  # the other method


class Trials:
    """The trials of several groups as a table: one line per pair, one column per group.

    Parameters
    ----------
    collection : Collection
        All rows.
    groups : array of int
        Lines of `Collection.groups`.
    """

    def __init__(self, collection: Collection, groups: ArrayLike) -> None:
        self.collection, codes = collection, np.asarray(groups, dtype=np.intp)
        self.facts = {name: collection.fact(name)[codes] for name in PAIR_FACTS}
        self.pairs, self._cells = collection.side_by_side(codes)
        self._tables: dict[str, Values] = {}

    def of_method(self, method: str) -> list[int]:
        """Return the positions of the columns of a method."""
        return np.flatnonzero(self.collection.of_method(self.facts["group"], method)).tolist()

    def at(self, method: str, size: float, metric: str) -> Values:
        """Return a metric of a method at a size (the column with the most values), or all NaN."""
        columns = [self.table(metric)[:, a] for a in self.of_method(method)
                   if self.facts["M"][a] == size]  # fmt: skip
        none = np.full(len(self.pairs), np.nan)
        return max(columns, key=lambda values: np.isfinite(values).sum(), default=none)

    def table(self, metric: str) -> Values:
        """Return a metric, shape (n_pairs, n_groups), NaN for gaps.

        ``error`` and ``accuracy`` are in percent. Times are CPU seconds, or wall times for a group
        whose CPU times were not measured.
        """
        if metric not in self._tables:
            column = PERCENT_COLUMNS.get(metric, metric)
            table = self._read(column.replace("t_", "cpu_", 1) if is_time(metric) else column)
            if is_time(metric) and (wall := np.isnan(table).all(axis=0)).any():
                table[:, wall] = self._read(column)[:, wall]
            self._tables[metric] = table
        return self._tables[metric]

    def _read(self, column: str) -> Values:
        table = np.full((len(self.pairs), len(self.facts["group"])), np.nan)
        rows, *cells = self._cells
        table[tuple(cells)] = self.collection.values(column)[rows]
        return table


@dataclass(frozen=True)
class Pairing:
    """Trials and scale of a part of a claim on one data set.

    Values are arrays with one entry per pair of `trials`, NaN if it is missing. `target` is the
    paper's name of the data set.
    """

    part: Part
    trials: Trials
    paper: str
    target: str

    def curve(self, method: str) -> Curve:
        """Return the columns of a method at each place on the axis, with the part's settings."""
        curve: Curve = {}
        wanted = self.part.settings.get(method, {})
        texts = self.trials.facts["parameters"]
        places = np.nan_to_num(self.trials.facts[self.part.along].astype(float)).astype(int)
        for column in sorted(self.trials.of_method(method), key=lambda column: places[column]):
            own = parse_parameters(texts[column]) if wanted else {}
            if all(own.get(k) in (v if isinstance(v, list) else [v]) for k, v in wanted.items()):
                curve.setdefault(int(places[column]), []).append(column)
        return curve

    def table(self, metric: str) -> Values:
        """Return the table of a metric, in the units of the part of the claim."""
        table = self.trials.table(metric)
        if self.part.scale == "difference":
            return table
        return np.log(table, where=table > 0, out=np.full_like(table, np.nan))

    def difference(self, columns: Sequence[int], other_columns: Sequence[int] | None) -> Values:
        """Return the paired differences, for the experiments with the most trials in common.

        Methods that no experiment ran together are paired across experiments. If `other_columns` is
        None, the result is the values of `columns`.
        """
        table, experiments = self.table(self.part.metric), self.trials.facts["experiment"]
        every = itertools.product(columns, [None] if other_columns is None else other_columns)
        pairs = [(a, b, b is None or experiments[a] == experiments[b]) for a, b in every]
        together = any(both for *_, both in pairs)
        candidates = (
            table[:, a] - (0.0 if b is None else table[:, b])
            for a, b, both in pairs
            if both or not together
        )
        none = np.full(len(self.trials.pairs), np.nan)
        return max(candidates, key=lambda values: np.isfinite(values).sum(), default=none)

    def steps(self, curve: Curve, other_curve: Curve | None) -> dict[int, Values]:
        """Return the differences at each place on the axis, without places that have no value."""
        every = {
            x: self.difference(columns, None if other_curve is None else other_curve.get(x, []))
            for x, columns in curve.items()
        }
        return {x: values for x, values in every.items() if np.isfinite(values).any()}


OneOff = Callable[[Pairing, Curve, Curve | None], list[Quantity]]


def change(steps: Sequence[Values], joint: str) -> list[Quantity]:
    """Return the change from the first to the last of several steps along the axis."""
    if len(steps) < 2:
        return []
    return [Quantity(steps[-1] - steps[0], joint=joint, found=len(steps))]


def pair_part(
    part: Part,
    collection: Collection,
    groups: NDArray[np.intp],
    paper: str,
    target: str,
    own: OneOff | None = None,
) -> list[Quantity]:
    """Return the paired quantities of a part of a claim on one data set.

    Trials are paired if seed, data, split and number of training rows agree. If several experiments
    ran both methods, the one with the most trials counts. Times are CPU seconds, because other
    processes lengthen wall times. Only times of the machine of most groups count.

    Parameters
    ----------
    part : Part
        Part of the claim.
    collection : Collection
        All rows.
    groups : array of int
        Lines of `Collection.groups` with one name of a data set.
    paper, target : str
        The paper, and its name of the data set.
    own : callable, optional
        The claim's own function of two methods, see
        `rfbench.analysis.claims.find_own_function`.
    """
    if not len(groups):
        return []
    if part.of_times:
        machines = collection.fact("machine")[groups].astype(str)
        names, counts = np.unique(machines, return_counts=True)
        groups = groups[machines == names[counts.argmax()]]  # the first machine by name if tied
    pairing = Pairing(part, Trials(collection, groups), paper, target)
    curve = pairing.curve(part.method)
    if not curve:
        return []
    dataset = str(collection.fact("dataset")[groups[0]])
    make = own or LANGUAGE.get(part.at, _along)
    return [
        replace(quantity, values=values, dataset=dataset, target=target, against=other)
        for other in part.against or [""]
        for quantity in make(pairing, curve, pairing.curve(other) if other else None)
        if len(values := quantity.values[np.isfinite(quantity.values)])
    ]


def is_time(metric: str) -> bool:
    """Return True if a metric is a time."""
    return metric.startswith("t_")


def _along(pairing: Pairing, curve: Curve, other_curve: Curve | None) -> list[Quantity]:
    """Return the differences along the axis, at the places in `Part.at`."""
    steps = pairing.steps(curve, other_curve)
    xs = list(steps)
    chosen = {
        "each": xs,
        "largest": xs[-1:],
        "lower-half": xs[: (len(xs) + 1) // 2],
        "upper-half": xs[len(xs) // 2 :],
    }[pairing.part.at]
    return [Quantity(steps[x], x or None, found=len(chosen)) for x in chosen]


def _at_best(pairing: Pairing, own_curve: Curve, other_curve: Curve | None) -> list[Quantity]:
    """Compare the methods, each at its size with the smallest mean test error."""
    trials = pairing.trials
    errors = trials.collection.means(PERCENT_COLUMNS["error"])[trials.facts["group"]]

    def best(curve: Curve) -> tuple[int, int] | None:
        every = [(x, column) for x, columns in curve.items() for column in columns]
        measured = [pair for pair in every if not math.isnan(errors[pair[1]])]
        return min(measured, key=lambda pair: errors[pair[1]], default=None)

    ours, other = best(own_curve), best(other_curve or {})
    if ours is None or other is None:
        return []
    values = pairing.difference([ours[1]], [other[1]])
    return [Quantity(values, ours[0] or None, other[0] or None)]


def compare_at_equal_time(
    pairing: Pairing, own_curve: Curve, other_curve: Curve | None
) -> list[Quantity]:
    """Compare each of our sizes with the other method at the same mean total time.

    The other method's values are interpolated per trial over the logarithm of its mean times. Times
    outside its range are not compared. Both methods come from one experiment, the one with the most
    comparisons.
    """
    experiments = pairing.trials.facts["experiment"]
    best: list[Quantity] = []
    for name in dict.fromkeys(experiments[a] for columns in own_curve.values() for a in columns):
        own, others = (  # the first column of several
            {x: a for x, columns in curve.items() for a in columns[::-1] if experiments[a] == name}
            for curve in (own_curve, other_curve or {})
        )
        quantities = _within(pairing, own, list(others.values()))
        best = quantities if len(quantities) > len(best) else best
    return [replace(quantity, found=len(best)) for quantity in best]


def _within(
    pairing: Pairing, columns: Mapping[int, int], other_columns: Sequence[int]
) -> list[Quantity]:
    """Compare two methods of one experiment at equal total time."""
    total = pairing.trials.table("t_total")
    timed = (a for a in (*columns.values(), *other_columns) if np.isfinite(total[:, a]).any())
    spent = {a: float(np.nanmean(total[:, a])) for a in timed}
    order = sorted((b for b in other_columns if spent.get(b, 0) > 0), key=lambda b: spent[b])
    if len(order) < 2:
        return []
    table = pairing.table(pairing.part.metric)
    other_values = table[:, order]
    complete = np.isfinite(other_values).all(axis=1)
    times = np.log([spent[b] for b in order])
    made = []
    for x, column in columns.items():
        time = spent.get(column, 0)
        if time > 0 and times[0] <= math.log(time) <= times[-1]:
            others = [np.interp(math.log(time), times, values) for values in other_values]
            values = table[:, column] - np.where(complete, others, np.nan)
            if np.isfinite(values).any():
                made.append(Quantity(values, x or None, seconds=time))
    return made


LANGUAGE: dict[str, OneOff] = {"best": _at_best, "equal-time": compare_at_equal_time}
