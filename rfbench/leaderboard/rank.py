"""Where one method stands: its own trials on the leaderboard's tables, and the published rows."""

from __future__ import annotations

import inspect
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import ClassifierMixin, RegressorMixin

from rfbench import config, grids, shipped, yamlfile
from rfbench.analysis import frame
from rfbench.config import Experiment
from rfbench.errors import ConfigError, ResultsError
from rfbench.experiment import today
from rfbench.kernels import Kernel
from rfbench.leaderboard import quick
from rfbench.leaderboard.facts import Interval, Known, Size
from rfbench.leaderboard.rows import (
    HELD_OUT,
    NAME,
    STANDARD,
    baseline_of,
    folders_of,
    interval,
    joined,
    log_quotients,
    log_ratios,
    rows_of,
    twins_as_one,
    unlearnt_of,
)
from rfbench.leaderboard.sizes import size_of
from rfbench.parameters import is_path
from rfbench.results import Results, manifest, reader
from rfbench.results.schema import BASELINE, METHOD
from rfbench.solvers import Solver

BASELINE_SAMPLER = "rks"
MEDIAN = "median"  # the bandwidth where none is searched for
COSTS = ["fit", "search", "predict"]
SHARED = ("alphas", "alpha_convention", "selection", "intercept")  # what solvers have in common


@dataclass(frozen=True)
class Ranked:
    """What is ranked.

    Attributes
    ----------
    path : str
        A registered name, or the import path of a class.
    thing : type
        The class.
    parameters : mapping
        What it is built with.
    label : str
        What rows call it.
    """

    path: str
    thing: Any
    parameters: Mapping[str, Any]
    label: str

    @property
    def kind(self) -> str:
        """Whether it is a ``kernel``, a ``solver`` or a ``sampler``."""
        if issubclass(self.thing, Kernel):
            return "kernel"
        predicts = hasattr(self.thing, "predict") and not hasattr(self.thing, "transform")
        return "solver" if predicts else "sampler"

    def fits(self, document: Mapping[str, Any]) -> bool:
        """Whether it can be run there: a solver is for classes or for numbers."""
        bases = [(ClassifierMixin, False), (RegressorMixin, True)]
        tasks = [numbers for base, numbers in bases if issubclass(self.thing, base)]
        return self.kind != "solver" or not tasks or ("metric" in document) in tasks

    def changes(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return what it changes of a configuration of the leaderboard.

        A bandwidth that is given, or that the code does not have, is not searched for. ConfigError
        if a kernel has parameters.
        """
        named = {"class" if is_path(self.path) else "name": self.path}
        plain = [{"name": BASELINE_SAMPLER, "label": self.label, "role": METHOD}]
        if self.kind == "kernel":
            if self.parameters:
                raise ConfigError(
                    "A kernel takes no parameters here.",
                    "Its bandwidth is searched for.",
                    "Leave --set out, and write them into a class of your own.",
                )
            return {"kernel": self.path, "samplers": plain}
        if self.kind == "solver":
            shared = {key: document["solver"][key] for key in SHARED if _takes(self.thing, key)}
            if "alphas" in shared:
                shared["alphas"] = grids.expand(shared["alphas"])
            changed = {"solver": {**named, **shared, **self.parameters}, "samplers": plain}
            searched = issubclass(self.thing, Solver)
        else:
            own = {**named, **self.parameters, "label": self.label, "role": METHOD}
            changed = {"samplers": [own]}
            searched = _takes(self.thing, "bandwidth") and "bandwidth" not in self.parameters
        return changed if searched else {**changed, "bandwidth": MEDIAN}


def _takes(thing: Any, name: str) -> bool:
    return name in inspect.signature(thing).parameters


@dataclass(frozen=True)
class PublishedRows:
    """The rows that a method is held against.

    Attributes
    ----------
    rows : DataFrame
        Those with z-scores that count, see `rfbench.leaderboard.rows.rows_of`.
    stale : int
        Rows that are left out: the configurations of today ask for other trials.
    """

    rows: pd.DataFrame
    stale: int

    @property
    def baseline(self) -> str:
        """The method that errors are divided by."""
        return str(baseline_of(self.rows))

    def tables(self, M: int) -> list[str]:
        """Return the data sets on which the baseline has rows with M features, by name."""
        here = (self.rows["M"] == M) & (self.rows["method"] == self.baseline)
        return sorted(self.rows.loc[here, "dataset"].unique())

    def seconds(self, M: int, tables: Collection[str]) -> dict[str, float]:
        """Return by method the CPU seconds that its trials on these tables took."""
        rows = self.rows[(self.rows["M"] == M) & self.rows["dataset"].isin(list(tables))]
        spent = rows["search"] + rows["predict"] * rows["n_test"] / 1e6
        return {str(name): float(s) for name, s in spent.groupby(rows["method"]).sum().items()}

    def quality(self, M: int) -> quick.Quality:
        """Say how well the quick tables stand for all, see `rfbench.leaderboard.quick`."""
        rows = self.rows[~self.rows["reference"]]
        plain = rows[(rows["M"] == M) & (rows["method"] == self.baseline)]
        among = quick.cheap(plain.groupby("dataset")["search"].sum())
        logs = log_ratios(rows, M).dropna()
        return quick.quality(logs, [name for name in among if name in logs.index], self.baseline)


def published(path: Path, known: Known) -> PublishedRows:
    """Read the rows that count below a folder, those of today's configurations.

    Raises ResultsError: there are none.
    """
    if not path.is_dir():
        raise ResultsError(
            f"There are no published rows in {path}.",
            "A method is held against those of the others.",
            "Name the folder results/published of a checkout with --against.",
        )
    named = (
        (folder, manifest.read_if_sound(folder, []).get("config", {}))
        for folder in reader.find([path])
    )
    read = [
        reader.read(folder)
        for folder, content in named
        if content.get("scaling") == STANDARD and not content.get("paper")
        if not str(content.get("name")).startswith(HELD_OUT)
    ]
    folders = folders_of(read)
    read = [each for each in read if each.path in folders[0] | folders[1]]
    collection = frame.of(read, today=today.settings)
    fresh = frame.of([collection.without_stale(each) for each in collection.experiments])
    rows = joined(fresh, folders)
    if rows.empty or baseline_of(rows) is None:
        raise ResultsError(
            f"No published rows below {path} are those of the leaderboard.",
            "Its configuration here asks for other trials, or there are none.",
            "Name another folder with --against, or run `rfbench run leaderboard`.",
        )
    rows = rows[~rows["dataset"].isin([*known.set_aside, *unlearnt_of(rows)])]
    return PublishedRows(rows, sum(collection.stale.values()))


def experiments(
    target: Ranked,
    M: int,
    tables: Collection[str],
    *,
    times: bool = False,
    allow_imports: bool = False,
) -> list[Experiment]:
    """Return the leaderboard's configurations for one method, at one M, on some tables.

    With `times` the baseline is measured as well. Raises what `rfbench.config.read` raises, and
    ConfigError where there is nothing to measure.
    """
    made = []
    for name, document in config.documents(shipped.locate(NAME)).items():
        value = document.value
        names = [each for each in value["dataset"] if each in tables]
        if value["scaling"] != STANDARD or not names or M not in grids.expand(value["M"]):
            continue
        if not target.fits(value):
            continue
        asked = [target.changes(value)]
        if times:
            asked.append({"samplers": value["samplers"][:1]})
        for changes in asked:
            content = {**value, "dataset": names, "M": M, "title": target.label, **changes}
            content["description"] = "Measured by rfbench rank."
            changed = yamlfile.Document(content, document.source)
            run = name.replace(NAME, "rank", 1)
            made.append(config.from_document(changed, run, allow_imports=allow_imports))
    if not made:
        raise ConfigError(
            f"No table of the leaderboard has {target.label} with M = {M}.",
            "Its published rows have M = 50, 100, 200 and 400, small tables none above 100.",
            "Write --M 400, say.",
        )
    return made


@dataclass(frozen=True)
class Standing:
    """Where a method stands.

    Attributes
    ----------
    label : str
    size : Size
        The comparison of all methods on these tables, see `rfbench.leaderboard.facts`; its own
        search is at its multiple of the baseline's time.
    place, methods : int
        Its place by the mean, and of how many methods with features.
    plain, best : Interval
        Its errors over those of the baseline, and of the best other method with features.
    rival : str
        That best one.
    better, worse, alike : tuple of str
        The others, by the page's rule: it is significantly better than, worse than, neither.
    tables : tuple of pairs
        Data sets with its error over the baseline's, the smallest first.
    cost : float
        Its CPU time of the whole search over the baseline's, both measured in the same run; NaN
        where the baseline was not.
    failed, unpaired : int
        Trials that did not end well, and such on other data than the published ones.
    """

    label: str
    size: Size
    place: int
    methods: int
    plain: Interval
    best: Interval
    rival: str
    better: tuple[str, ...]
    worse: tuple[str, ...]
    alike: tuple[str, ...]
    tables: tuple[tuple[str, float], ...]
    cost: float
    failed: int
    unpaired: int


def place(others: PublishedRows, own: Results, label: str, M: int, known: Known) -> Standing:
    """Hold a method's rows against the published ones, of the same trials.

    Raises ResultsError: no trial ended well and has a partner there.
    """
    rows, failed = rows_of(frame.of([own]), {own.path}), _failed(own, label, M)
    rows = rows[rows["M"] == M]
    mine, again = rows[rows["method"] == label], rows[rows["baseline"]]
    baseline = others.baseline
    pairs = others.rows.loc[others.rows["method"] == baseline, _PAIR].drop_duplicates()
    paired = mine.merge(pairs, on=_PAIR)
    if paired.empty:
        raise ResultsError(
            f"{label} has no row to compare at M = {M}.",
            f"{failed} trials did not end well, {len(mine)} are of other data than the published.",
            f"See the column message of {own.folder / reader.TRIALS}.",
        )
    # Times of another machine say nothing beside those that are published, but for their ratio.
    untimed = paired.assign(**dict.fromkeys(COSTS, math.nan))
    here = others.rows[others.rows["dataset"].isin(paired["dataset"].unique())]
    both = pd.concat([here[here["method"] != label], untimed], ignore_index=True)
    size = size_of(both, M, known.twins)
    if size is None or label not in [line.method for line in size.lines]:
        raise ResultsError(f"{label} cannot be compared at M = {M}.", "Trials are missing.")
    logs = twins_as_one(log_ratios(both, M), known.twins)
    logs = logs[[line.method for line in size.lines]].dropna()
    ranked = [line.method for line in size.lines if not line.reference]
    rival = next(name for name in ranked if name != label)
    over = {name: interval((logs[label] - logs[name]).to_numpy()) for name in (baseline, rival)}
    named = [line.method for line in size.lines if line.method != label]
    own_times, plain_times = (
        part.set_index(["dataset", "trial"])["search"] for part in (mine, again)
    )
    cost = interval(log_quotients(own_times, plain_times, {})).ratio
    plain = next(line.search for line in size.lines if line.role == BASELINE)
    lines = [replace(x, search=cost * plain) if x.method == label else x for x in size.lines]
    better = tuple(name for name in named if (label, name) in size.apart)
    worse = tuple(name for name in named if (name, label) in size.apart)
    return Standing(
        label=label,
        size=replace(size, lines=tuple(lines)),
        place=1 + ranked.index(label),
        methods=len(ranked),
        plain=over[baseline],
        best=over[rival],
        rival=rival,
        better=better,
        worse=worse,
        alike=tuple(name for name in named if name not in (*better, *worse)),
        tables=tuple((str(n), float(np.exp(log))) for n, log in logs[label].sort_values().items()),
        cost=cost,
        failed=failed,
        unpaired=len(mine) - len(paired),
    )


_PAIR = ["dataset", "trial", "data", "n_train"]


def _failed(own: Results, label: str, M: int) -> int:
    """Return how many trials of a method with M features did not end well."""
    rows = own.rows[(own.rows["label"] == label) & (own.rows["M"] == M)]
    return int((rows["status"] != "ok").sum())
