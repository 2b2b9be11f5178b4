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
from rfbench.config.schema import Experiment
from rfbench.errors import ConfigError, ResultsError
from rfbench.experiment import today
from rfbench.kernels import Kernel
from rfbench.leaderboard.board import size_of
from rfbench.leaderboard.facts import Line, Ratio, Size
from rfbench.leaderboard.rows import (
    NAME,
    STANDARD,
    TRIAL,
    baseline_of,
    counted,
    log_ratios,
    ratio_of,
    rows_of,
)
from rfbench.parameters import is_path
from rfbench.results import Results, manifest, reader
from rfbench.results.schema import METHOD
from rfbench.samplers import RandomFeatures
from rfbench.solvers import Solver

BASELINE_SAMPLER = "rks"
MEDIAN = "median"  # the bandwidth where none is searched for
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
        other = ClassifierMixin if "metric" in document else RegressorMixin
        return self.kind != "solver" or not issubclass(self.thing, other)

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
            # A transformer from elsewhere gets no bandwidth, see `rfbench.config.build.sampler_of`.
            takes = issubclass(self.thing, RandomFeatures) and _takes(self.thing, "bandwidth")
            searched = takes and "bandwidth" not in self.parameters
        return changed if searched else {**changed, "bandwidth": MEDIAN}


def _takes(thing: Any, name: str) -> bool:
    return name in inspect.signature(thing).parameters


def published(folder: Path) -> tuple[pd.DataFrame, int]:
    """Read the rows below a folder that a method is held against, with z-scores.

    Rows of which the configurations of today ask for other trials are left out; the second value
    is their number. Raises ResultsError: there are none.
    """
    named = {
        path: manifest.read_if_sound(path, []).get("config", {})
        for path in (reader.find([folder]) if folder.is_dir() else [])
    }
    collection = frame.of(
        [
            reader.read(path)
            for path, asked in named.items()
            if asked.get("scaling") == STANDARD and not asked.get("paper")
        ],
        today=today.settings,
    )
    fresh = frame.of([collection.without_stale(each) for each in collection.experiments])
    rows, _ = counted(fresh)
    if baseline_of(rows) is None:
        raise ResultsError(
            f"No published rows below {folder} are those of the leaderboard.",
            "A method is compared with those of the others, of today's configuration.",
            "Work in a checkout, which has results/published, or run `rfbench run leaderboard`.",
        )
    return rows, sum(collection.stale.values())


def experiments(
    target: Ranked,
    M: int,
    tables: Collection[str],
    *,
    times: bool = False,
    allow_imports: bool = False,
) -> list[Experiment]:
    """Return the leaderboard's configurations for one method, at one M, on some tables.

    With `times` the baseline is measured as well. Raises what `rfbench.read_config` raises, and
    ConfigError where there is nothing to measure.
    """
    made = []
    for name, document in config.documents(shipped.locate(NAME)).items():
        value = document.value
        names = [each for each in value["dataset"] if each in tables]
        here = value["scaling"] == STANDARD and names and M in grids.expand(value["M"])
        if not here or not target.fits(value):
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
    size : Size
        The comparison of all methods on these tables, see `rfbench.leaderboard.facts`. Its own cost
        is NaN, unless the baseline was measured in the same run.
    own : Line
        Its line there.
    place : int
        Its place by the median, among the methods with features.
    plain, best : Ratio
        Its errors over those of the baseline, and of `rival`, the best other method with features.
    tables : tuple of pairs
        Data sets with its error over the baseline's, the smallest first.
    left_out : int
        Trials that did not end well, or are of other data than the published ones.
    """

    size: Size
    own: Line
    place: int
    plain: Ratio
    best: Ratio
    rival: str
    tables: tuple[tuple[str, float], ...]
    left_out: int

    def those(self, verdict: str) -> list[str]:
        """Return the others that it is better than, worse than, or neither (open), by the rule."""
        others = [line.method for line in self.size.lines if line is not self.own]
        return [name for name in others if self.size.verdict(self.own.method, name) == verdict]


def place(others: pd.DataFrame, own: Results, label: str, M: int) -> Standing:
    """Hold a method's rows against the published ones, of the same trials.

    Raises ResultsError: no trial ended well and has a partner there.
    """
    rows = rows_of(frame.of([own]), {own.path})
    rows, baseline = rows[rows["M"] == M], str(baseline_of(others))
    pair = [*TRIAL, "data", "n_train"]
    pairs = others.loc[others["method"] == baseline, pair].drop_duplicates()
    paired = rows[rows["method"] == label].merge(pairs, on=pair)
    asked = int(((own.rows["label"] == label) & (own.rows["M"] == M)).sum())
    # Times of another machine say nothing beside those that are published, but for their ratio.
    untimed = paired.assign(search=math.nan)
    here = others[others["table"].isin(paired["table"]) & (others["method"] != label)]
    both = pd.concat([here, untimed], ignore_index=True)
    size = size_of(both, M)
    ranked = [line.method for line in size.methods] if size else []
    if size is None or label not in ranked:
        raise ResultsError(
            f"{label} has no rows to compare at M = {M}.",
            f"{asked - len(paired)} of {asked} trials did not end well, or are of other data than "
            "the published ones.",
            f"See the column message of {own.folder / reader.TRIALS}.",
        )
    costs = log_ratios(rows, M, "search")
    cost = float(np.exp(costs[label].mean())) if label in costs else math.nan
    lines = [replace(x, search=cost) if x.method == label else x for x in size.lines]
    logs = log_ratios(both, M)[[line.method for line in lines]].dropna()
    rival = next(name for name in ranked if name != label)
    return Standing(
        size=replace(size, lines=tuple(lines)),
        own=next(line for line in lines if line.method == label),
        place=1 + ranked.index(label),
        plain=ratio_of(logs[label] - logs[baseline]),
        best=ratio_of(logs[label] - logs[rival]),
        rival=rival,
        tables=tuple((str(n), float(np.exp(log))) for n, log in logs[label].sort_values().items()),
        left_out=asked - len(paired),
    )
