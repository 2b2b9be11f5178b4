"""Which method: comparisons of many methods over many data sets, outside the papers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import pandas as pd

from rfbench.analysis.apart import keeps_together, separated, source
from rfbench.analysis.chance import smaller_class
from rfbench.analysis.frame import Collection
from rfbench.analysis.summary import aggregate, axis, in_order, metrics, placed
from rfbench.analysis.verdicts import CHANCE_POINTS, LEARNT
from rfbench.results import Results, community

BASELINE = "rks"
PROTOCOL = "tuned"
FEWEST = 2
FEWEST_TRIALS = 3
SECONDS = (0.01, 0.1, 1.0, 10.0, 100.0)
RANKED_DIGITS = 9  # means of equal counts of wrong rows differ in the last digit: a tie
SMALLER_IS_BETTER = {"accuracy": "error", "r2": "relative_squared_error"}


@dataclass(frozen=True)
class Ranked:
    """The mean errors at one size that can be ranked, and what was left out."""

    scores: pd.DataFrame  # one row per data set, one column per method, without gaps
    methods: list[str]  # left out: without a value on some data sets
    gaps: list[str]  # data sets left out: without a value of some method
    few: dict[str, tuple[int, int]]  # fewest and most trials, of data sets with too few somewhere


@dataclass(frozen=True)
class Comparison:
    """What was measured of every method on every data set.

    Attributes
    ----------
    lines : DataFrame
        One line per data set, method and number of features, as `summarise`
        makes them; ``folder``, where it comes from; ``own_cost``, whether its time is that of its
        own size alone (under shared timing only that of the largest size is); ``r2``, the mean test
        R^2; ``smaller_class``, the percentage of its test rows (NaN but for
        two classes); ``given``, the parameters that the configuration gives the method.
    leaking : tuple of str
        Data sets whose random split was left out, because whole groups or blocks were left out too.
    references : DataFrame
        The same of models that have no features, one line per data set and model: results of one
        size without the baseline.
    others : tuple of Comparison
        The same question asked otherwise: another rule for the bandwidth, other numbers of rows.
    """

    lines: pd.DataFrame
    leaking: tuple[str, ...] = ()
    references: pd.DataFrame = field(default_factory=pd.DataFrame)
    others: tuple[Comparison, ...] = ()

    @property
    def sizes(self) -> list[int]:
        """The numbers of features that were run, ascending."""
        return sorted(int(M) for M in self.lines["M"].dropna().unique())

    @property
    def folders(self) -> list[Path]:
        """The folders of the lines."""
        return sorted(map(Path, set(self.lines["folder"])))

    def at(self, M: int, column: str = "mean") -> pd.DataFrame:
        """Return one column at one size: a row per data set, a column per method, NaN for gaps."""
        if (M, column) not in self._tables:
            here = (self.lines["M"] == M) & (self.lines["trials"] > 0)
            table = self.lines[here].pivot(index="dataset", columns="method", values=column)
            self._tables[M, column] = table.astype("float64")
        return self._tables[M, column]

    @cached_property
    def _tables(self) -> dict[tuple[int, str], pd.DataFrame]:
        return {}

    @cached_property
    def clock(self) -> str:
        """``cpu`` if every run was on one thread and has CPU times, else ``t``, wall times."""
        done = self.lines[self.lines["trials"] > 0]
        alone = done["threads"].eq(1).fillna(False).all()
        return "cpu" if alone and done["cpu_all"].notna().all() else "t"

    @cached_property
    def unlearnt(self) -> dict[str, float]:
        """The best mean R^2 of the data sets on which no method learns anything.

        Of classification where no mean error is below that of naming the larger class, either.
        """
        lines = self.lines.assign(gained=self.lines["smaller_class"] - self.lines["mean"])
        best = lines.groupby("dataset")[["r2", "gained"]].max()
        guessed = best["gained"] <= CHANCE_POINTS
        guessed |= ~lines["metric"].eq("error").groupby(lines["dataset"]).any()
        return {str(name): float(r2) for name, r2 in best["r2"][guessed].items() if r2 < LEARNT}

    @cached_property
    def learnt(self) -> Comparison:
        """The same without the data sets on which no method learns anything."""
        return replace(self, lines=self.lines[~self.lines["dataset"].isin(list(self.unlearnt))])

    @property
    def timed_alone(self) -> tuple[pd.DataFrame, str]:
        """The lines of `learnt` whose time is that of their own size, and the column of it."""
        lines, time = self.learnt.lines, f"{self.clock}_all"
        own = (lines["trials"] > 0) & (lines["own_cost"] == 1) & (lines[time] > 0)
        return lines[own], time

    def complete(self, M: int) -> Ranked:
        """Return the mean errors that can be ranked, without gaps.

        Data sets on which nothing is learnt play no part. As long as there are gaps, the method or
        the data set goes that lacks the largest share of its values; then the data sets where a
        method has fewer than three trials.
        """
        learnt = self.learnt
        scores = learnt.at(M)
        complete = without_gaps(scores)
        trials = learnt.at(M, "trials").loc[complete.index, complete.columns]
        too_few = trials.min(axis=1) < FEWEST_TRIALS
        few = {
            str(name): (int(line.min()), int(line.max()))
            for name, line in trials[too_few].iterrows()
        }
        return Ranked(
            complete[~too_few].round(RANKED_DIGITS),
            _less(scores.columns, complete.columns),
            _less(scores.index, complete.index),
            few,
        )


def without_gaps(scores: pd.DataFrame) -> pd.DataFrame:
    """Drop, as long as there are gaps, the method or data set that lacks most of its values."""
    while scores.isna().any(axis=None):
        datasets = scores.isna().mean(axis=1)
        methods = scores.drop(columns=BASELINE, errors="ignore").isna().mean()
        if datasets.max() >= methods.max():
            scores = scores.drop(index=str(datasets.idxmax()))
        else:
            scores = scores.drop(columns=str(methods.idxmax()))
    return scores


def _less(every: Iterable[str], kept: Iterable[str]) -> list[str]:
    return sorted(set(every) - set(kept))


def gather(collection: Collection) -> Comparison | None:
    """Collect the results that compare methods outside the papers; None if there are none.

    They name no paper, have the protocol ``tuned``, two methods or more of which one is the
    baseline, and vary neither d nor a setting. Where two folders have the same data set, the one
    with more trials counts. A data set of which whole groups or blocks were left out somewhere is
    never taken as split at random. Results with another bandwidth rule or limit of rows are a
    comparison of their own; the first is the one whose bandwidths are chosen by folds, then that
    of the most data sets.
    """
    scores: dict[tuple[str, int], dict[str, pd.DataFrame]] = defaultdict(dict)
    references = []
    split_apart, leaking = separated(collection.experiments), set()
    usable = {
        experiment.path: experiment
        for experiment in collection.experiments
        if not experiment.smoke
        and not experiment.config.get("paper")
        and axis(experiment) == "M"
        and community.origin_of(experiment.folder) is None
    }
    lines = _lines(collection, usable)
    for (folder, dataset), part in lines.groupby(["folder", "dataset"], sort=False):
        results, names = usable[str(folder)], set(part["method"])
        if source(str(dataset)) in split_apart and not keeps_together(results):
            leaking.add(str(dataset))
            continue
        if BASELINE not in names and part["M"].nunique() == 1:
            references.append(part)
        if BASELINE not in names or len(names) < FEWEST:
            continue
        same = scores[str(part["bandwidth_rule"].iloc[0]), results.config.get("rows") or 0]
        before = same.get(str(dataset))
        if before is None or part["trials"].sum() > before["trials"].sum():
            same[str(dataset)] = part
    order = sorted(scores, key=lambda key: (not by_folds(key[0]), -len(scores[key]), key))
    made = [
        replace(_comparison(scores[key], references), leaking=tuple(sorted(leaking)))
        for key in order
    ]
    return replace(made[0], others=tuple(made[1:])) if made else None


def by_folds(rule: str) -> bool:
    """Tell whether a bandwidth is chosen with the penalty: ``cv``, or ``{'cv': [...]}``."""
    return "cv" in rule


def _comparison(parts: dict[str, pd.DataFrame], references: list[pd.DataFrame]) -> Comparison:
    lines = pd.concat([parts[name] for name in sorted(parts)], ignore_index=True)
    beside = pd.concat(references, ignore_index=True) if references else pd.DataFrame()
    if len(beside):
        beside = beside[beside["dataset"].isin(parts)].drop_duplicates(["dataset", "method"])
    return Comparison(lines, references=beside)


def _lines(collection: Collection, usable: Mapping[str, Results]) -> pd.DataFrame:
    """Return the lines of results by their folder, see `Comparison`."""
    groups = collection.groups
    groups = groups[
        groups["folder"].isin(usable) & (groups["protocol"] == PROTOCOL) & (groups["variant"] == "")
    ]
    scope = ["folder", "dataset"]
    if groups.empty:
        return pd.DataFrame(columns=scope)
    metric = {
        (folder, dataset): name
        for folder, results in usable.items()
        for dataset, name in metrics(
            results, SMALLER_IS_BETTER.get(str(results.config.get("metric")))
        ).items()
    }
    keys = zip(groups["folder"], groups["dataset"], strict=True)
    table = aggregate(
        collection, groups.assign(metric=[metric[key] for key in keys]), ["r2", "cpu_test"]
    )
    table = _times_of_one_machine(table.assign(machine=groups["machine"]))
    table = pd.concat([placed(part, usable[str(f)]) for f, part in table.groupby("folder")])
    rows = collection.rows[collection.rows["group"].isin(groups.index)]
    smaller = rows[scope].assign(smaller_class=smaller_class(rows)).groupby(scope).mean()
    table = in_order(table.join(smaller, on=scope))
    given = {
        (folder, str(spec["label"])): ", ".join(
            f"{key} {value}" for key, value in (spec.get("parameters") or {}).items()
        )
        for folder, results in usable.items()
        for spec in results.config.get("samplers", [])
    }
    methods = zip(table["folder"], table["method"], strict=True)
    table["given"] = [given.get(method, "") for method in methods]
    largest = table.groupby([*scope, "method"])["M"].transform("max")
    table["own_cost"] = (table["timing"] != "shared") | (table["M"] == largest)
    return table


def _times_of_one_machine(table: pd.DataFrame) -> pd.DataFrame:
    """Leave out, on each data set, the times of other machines than that of most lines.

    Methods are held against each other over folders, and times of two machines never are.
    """
    if not table.duplicated("dataset").any():
        return table.drop(columns="machine")
    most = table.groupby("dataset")["machine"].transform(lambda names: names.mode().iloc[0])
    times = [str(name) for name in table if re.match("(t|cpu)_", str(name))]
    others = table["machine"] != most
    masked = {name: table[name].mask(others) for name in times}
    return table.assign(**masked).drop(columns="machine")


def best_within(comparison: Comparison, seconds: Sequence[float] = SECONDS) -> pd.DataFrame:
    """Find the smallest mean error by data set among what took at most so many seconds in all.

    Time, data sets and sizes are those of `Comparison.timed_alone`.

    Returns
    -------
    DataFrame
        Columns ``dataset``, ``seconds`` (the budget), ``method``, ``M``, ``mean`` and ``time``; a
        budget that no method keeps has no line.
    """
    lines, clock = comparison.timed_alone
    lines = lines.rename(columns={clock: "time"}).sort_values(["mean", "time"], kind="stable")
    near = [
        lines[lines["time"] <= budget].drop_duplicates("dataset").assign(seconds=budget)
        for budget in seconds
    ]
    columns = ["dataset", "seconds", "method", "M", "mean", "time"]
    return pd.concat(near)[columns].sort_values(["dataset", "seconds"], ignore_index=True)


def groups(ranks: pd.Series[float], difference: float) -> list[list[str]]:
    """Return the largest groups of two methods or more whose ranks lie within a difference.

    The ranks are average ones by method, ascending; no group lies inside another.
    """
    names, values = list(ranks.index), ranks.to_numpy()
    intervals: list[tuple[int, int]] = []
    for i in range(len(names)):
        last = max(j for j in range(i, len(names)) if values[j] - values[i] <= difference)
        if last > i and (not intervals or last > intervals[-1][1]):
            intervals.append((i, last))
    return [names[i : j + 1] for i, j in intervals]
