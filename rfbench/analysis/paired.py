"""Paired comparison of two methods: differences and quotients, computed per trial."""

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

# Maps each M or d of a curve, in ascending order, to columns of `Trials`. A curve without M and d
# has the single key 0.
Curve = dict[int, list[int]]
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Quantity:
    """Paired values of two methods, or values of one method, with one value per trial."""

    # Differences of two methods, or logarithms of their quotients, shape (n_trials,).
    values: Values
    # M or d at which the methods were compared. None if M is copied from another method, or if each
    # value summarizes a whole curve.
    x: int | None = None
    # M or d of the second method, if it differs from M or d of the first method.
    other_x: int | None = None
    # Mean total time in seconds at which two methods were compared, if they were compared at equal
    # time.
    seconds: float = math.nan
    # Name of the summary if each value summarizes a curve, such as 'slope over d'. The name is
    # empty if the values were measured at a single M or d.
    joint: str = ""
    share: bool = False  # True if each value is 0 or 1
    found: int = 1  # number of values of M or d at which both methods were run
    dataset: str = ""  # name of the data set in the rows
    target: str = ""  # name of the data set in the paper
    against: str = ""  # label of the other method, empty if there is none


class Trials:
    """Table of the trials of several groups, with one column per group.

    A group consists of the trials of one method with the same settings. A line of the table has the
    trials of all groups that used the same seed, data and split.

    Parameters
    ----------
    collection : Collection
        All rows.
    groups : array of int
        Positions in `Collection.groups`, one per column of the table.
    """

    def __init__(self, collection: Collection, groups: ArrayLike) -> None:
        self.collection, codes = collection, np.asarray(groups, dtype=np.intp)
        self.facts = {name: collection.get_group_column(name)[codes] for name in PAIR_FACTS}
        self.pairs, self._cells = collection.pivot_trials(codes)
        self._tables: dict[str, Values] = {}

    def find_columns(self, method: str) -> list[int]:
        """Return the positions of the table's columns that belong to a method."""
        return np.flatnonzero(
            self.collection.mask_groups_of_methods(self.facts["group"], method)
        ).tolist()

    def get_metric_values(self, method: str, size: float, metric: str) -> Values:
        """Return the values of a metric for one method with `size` features.

        The array has one value per line of the table, or NaN if a trial is missing. If several
        columns match, the column with the most values is used.
        """
        columns = [self.tabulate_metric(metric)[:, a] for a in self.find_columns(method)
                   if self.facts["M"][a] == size]  # fmt: skip
        none = np.full(len(self.pairs), np.nan)
        return max(columns, key=lambda values: np.isfinite(values).sum(), default=none)

    def tabulate_metric(self, metric: str) -> Values:
        """Return a table of a metric, shape (n_pairs, n_groups), with NaN for missing trials.

        ``error`` and ``accuracy`` are in percent. Times are CPU seconds, or wall seconds for a
        group whose CPU times were not measured.
        """
        if metric not in self._tables:
            column = PERCENT_COLUMNS.get(metric, metric)
            table = self._read(
                column.replace("t_", "cpu_", 1) if is_time_metric(metric) else column
            )
            if is_time_metric(metric) and (wall := np.isnan(table).all(axis=0)).any():
                table[:, wall] = self._read(column)[:, wall]
            self._tables[metric] = table
        return self._tables[metric]

    def _read(self, column: str) -> Values:
        table = np.full((len(self.pairs), len(self.facts["group"])), np.nan)
        rows, *cells = self._cells
        table[tuple(cells)] = self.collection.get_values(column)[rows]
        return table


@dataclass(frozen=True)
class Pairing:
    """Trials on one data set that test one part of a claim.

    The methods return arrays with one value per line of the table `trials`. The value is NaN if a
    trial is missing. `target` is the paper's name of the data set.
    """

    part: Part
    trials: Trials
    paper: str
    target: str

    def _find_curve(self, method: str) -> Curve:
        """Return the table columns of a method for each value on the x axis, M or d.

        Columns whose settings do not match the settings in the claim are left out. M is the number
        of features, and d is the number of columns of the data.
        """
        curve: Curve = {}
        wanted = self.part.settings.get(method, {})
        texts = self.trials.facts["parameters"]
        places = np.nan_to_num(self.trials.facts[self.part.along].astype(float)).astype(int)
        for column in sorted(self.trials.find_columns(method), key=lambda column: places[column]):
            own = parse_parameters(texts[column]) if wanted else {}
            if all(own.get(k) in (v if isinstance(v, list) else [v]) for k, v in wanted.items()):
                curve.setdefault(int(places[column]), []).append(column)
        return curve

    def tabulate_metric(self, metric: str) -> Values:
        """Return the values of a metric for all trials.

        The values are logarithms if the claim compares quotients.
        """
        table = self.trials.tabulate_metric(metric)
        if self.part.scale == "difference":
            return table
        return np.log(table, where=table > 0, out=np.full_like(table, np.nan))

    def _compute_difference(
        self, columns: Sequence[int], other_columns: Sequence[int] | None
    ) -> Values:
        """Return the paired differences of two methods for one size.

        `columns` and `other_columns` are columns of the table `trials` that belong to the two
        methods. The two columns with the most trials in common are used. Columns of different
        experiments are compared only if no experiment ran both methods. If `other_columns` is None,
        the values of the first method are returned.
        """
        table, experiments = self.tabulate_metric(self.part.metric), self.trials.facts["experiment"]
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

    def compute_steps(self, curve: Curve, other_curve: Curve | None) -> dict[int, Values]:
        """Return the paired differences of two methods for each M or d with common trials.

        M is the number of features, and d is the number of columns of the data. If `other_curve` is
        None, the values of the first method are returned.
        """
        every = {
            x: self._compute_difference(
                columns, None if other_curve is None else other_curve.get(x, [])
            )
            for x, columns in curve.items()
        }
        return {x: values for x, values in every.items() if np.isfinite(values).any()}


OneOff = Callable[[Pairing, Curve, Curve | None], list[Quantity]]


def compute_change_along_axis(steps: Sequence[Values], joint: str) -> list[Quantity]:
    """Return the change of the paired values from the first to the last point of the x axis.

    The list is empty if there are fewer than two points. `joint` is the name of the change.
    """
    if len(steps) < 2:
        return []
    return [Quantity(steps[-1] - steps[0], joint=joint, found=len(steps))]


def pair_claim_part(
    part: Part,
    collection: Collection,
    groups: NDArray[np.intp],
    paper: str,
    target: str,
    own: OneOff | None = None,
) -> list[Quantity]:
    """Return the paired values of two methods that test one part of a claim on one data set.

    Trials are paired if seed, data, split and number of training rows agree. If several experiments
    ran both methods, the experiment with the most trials is used. Times are CPU seconds, because
    other processes lengthen wall times. Times are compared only on the machine that ran most of the
    groups.

    Parameters
    ----------
    part : Part
        Part of the claim.
    collection : Collection
        All rows.
    groups : array of int
        Positions in `Collection.groups`. All groups have the same data set.
    paper, target : str
        Name of the paper, and the paper's name of the data set.
    own : callable, optional
        Python function of the claim, which computes the values from the curves of two methods. See
        `rfbench.analysis.claims.find_custom_claim_function`.
    """
    if not len(groups):
        return []
    if part.compares_times:
        machines = collection.get_group_column("machine")[groups].astype(str)
        names, counts = np.unique(machines, return_counts=True)
        # Compare times on a single machine: the machine with the most groups. If several machines
        # have equally many groups, use the first name in alphabetical order.
        groups = groups[machines == names[counts.argmax()]]
    pairing = Pairing(part, Trials(collection, groups), paper, target)
    curve = pairing._find_curve(part.method)
    if not curve:
        return []
    dataset = str(collection.get_group_column("dataset")[groups[0]])
    make = own or LANGUAGE.get(part.at, _along)
    return [
        replace(quantity, values=values, dataset=dataset, target=target, against=other)
        for other in part.against or [""]
        for quantity in make(pairing, curve, pairing._find_curve(other) if other else None)
        if len(values := quantity.values[np.isfinite(quantity.values)])
    ]


def is_time_metric(metric: str) -> bool:
    """Return True if a metric is a time, which means that its name starts with ``t_``."""
    return metric.startswith("t_")


def _along(pairing: Pairing, curve: Curve, other_curve: Curve | None) -> list[Quantity]:
    """Return the paired differences of two methods at selected points of the x axis.

    The key ``at`` of the claim selects all points, the largest, or the lower or upper half.
    """
    steps = pairing.compute_steps(curve, other_curve)
    xs = list(steps)
    chosen = {
        "each": xs,
        "largest": xs[-1:],
        "lower-half": xs[: (len(xs) + 1) // 2],
        "upper-half": xs[len(xs) // 2 :],
    }[pairing.part.at]
    return [Quantity(steps[x], x or None, found=len(chosen)) for x in chosen]


def _at_best(pairing: Pairing, own_curve: Curve, other_curve: Curve | None) -> list[Quantity]:
    """Compare two methods, each at the number of features with its smallest mean test error."""
    trials = pairing.trials
    errors = trials.collection.compute_means(PERCENT_COLUMNS["error"])[trials.facts["group"]]

    def best(curve: Curve) -> tuple[int, int] | None:
        every = [(x, column) for x, columns in curve.items() for column in columns]
        measured = [pair for pair in every if not math.isnan(errors[pair[1]])]
        return min(measured, key=lambda pair: errors[pair[1]], default=None)

    ours, other = best(own_curve), best(other_curve or {})
    if ours is None or other is None:
        return []
    values = pairing._compute_difference([ours[1]], [other[1]])
    return [Quantity(values, ours[0] or None, other[0] or None)]


def compare_at_equal_time(
    pairing: Pairing, own_curve: Curve, other_curve: Curve | None
) -> list[Quantity]:
    """Compare two methods at equal mean total time, for each size of the first method.

    In each trial, the values of the second method are interpolated linearly in the logarithm of its
    mean time. Times that the second method did not reach are not compared. Both methods are read
    from the same experiment. If several experiments ran both, the experiment with the most
    comparisons is used.
    """
    experiments = pairing.trials.facts["experiment"]
    best: list[Quantity] = []
    for name in dict.fromkeys(experiments[a] for columns in own_curve.values() for a in columns):
        own, others = (  # If several columns have the same size, the first is used.
            {x: a for x, columns in curve.items() for a in columns[::-1] if experiments[a] == name}
            for curve in (own_curve, other_curve or {})
        )
        quantities = _within(pairing, own, list(others.values()))
        best = quantities if len(quantities) > len(best) else best
    return [replace(quantity, found=len(best)) for quantity in best]


def _within(
    pairing: Pairing, columns: Mapping[int, int], other_columns: Sequence[int]
) -> list[Quantity]:
    """Compare two methods of one experiment at equal mean total time.

    The values of the second method are interpolated between its sizes.
    """
    total = pairing.trials.tabulate_metric("t_total")
    timed = (a for a in (*columns.values(), *other_columns) if np.isfinite(total[:, a]).any())
    spent = {a: float(np.nanmean(total[:, a])) for a in timed}
    order = sorted((b for b in other_columns if spent.get(b, 0) > 0), key=lambda b: spent[b])
    if len(order) < 2:
        return []
    table = pairing.tabulate_metric(pairing.part.metric)
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
