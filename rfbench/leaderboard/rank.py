"""Where one method stands: its own trials on the leaderboard's tables, and the published rows."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
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
from rfbench.leaderboard.board import compare_at_size
from rfbench.leaderboard.facts import Line, Ratio, Size
from rfbench.leaderboard.rows import (
    NAME,
    STANDARD,
    TRIAL,
    compute_log_ratios,
    find_baseline,
    read_trials,
    select_counted,
    summarise_ratio,
)
from rfbench.parameters import is_path, list_taken_parameters
from rfbench.results import Results, manifest, reader
from rfbench.results.schema import METHOD
from rfbench.samplers.elsewhere import UNKNOWN_SCALE, Method, depends_on_scale
from rfbench.solvers import Solver

BASELINE_SAMPLER = "rks"
MEDIAN = "median"  # the bandwidth where none is searched for
SEARCHED, NO_BANDWIDTH, NOT_SEARCHED = "searched", "none", "not searched"
SOLVER_KEYS = (
    "alphas",
    "alpha_convention",
    "selection",
    "intercept",
)  # what solvers have in common


@dataclass(frozen=True)
class Ranked:
    """What is ranked.

    Attributes
    ----------
    path : str, type, transformer or callable
        A registered name or an import path; or the thing itself, given in Python.
    thing : type, transformer or callable
        What it names.
    parameters : mapping
        What it is built with.
    label : str
        What rows call it.
    """

    path: Any
    thing: Any
    parameters: Mapping[str, Any]
    label: str

    @property
    def kind(self) -> str:
        """Whether it is a ``kernel``, a ``solver`` or a ``sampler``."""
        if isinstance(self.thing, type) and issubclass(self.thing, Kernel):
            return "kernel"
        predicts = hasattr(self.thing, "predict") and not hasattr(self.thing, "transform")
        return "solver" if predicts else "sampler"

    @cached_property
    def bandwidth(self) -> str:
        """How its bandwidth is treated: `SEARCHED`, `NO_BANDWIDTH` (measured) or `NOT_SEARCHED`.

        A map has none if rows divided by 4 leave the products of its features unchanged.
        """
        if self.kind == "kernel":
            return SEARCHED if self.thing.has_bandwidth else NO_BANDWIDTH
        if self.kind == "solver":
            searched = issubclass(self.thing, Solver) and "bandwidth" not in self.parameters
            return SEARCHED if searched else NOT_SEARCHED
        method = Method(self.thing, self.label, self.parameters)
        searched = method.has_bandwidth and not (
            method.is_sampler
            and ("bandwidth" in self.parameters or "bandwidth" not in method.taken)
        )
        # A class with `_draw`, or a person, says it; of others it is measured.
        said = method.is_sampler or method.varied is not None
        if not (searched and said) and not _heeds_rows(method):
            return NO_BANDWIDTH
        return SEARCHED if searched else NOT_SEARCHED

    def fits(self, document: Mapping[str, Any]) -> bool:
        """Whether it can be run there: a solver is for classes or for numbers."""
        other = ClassifierMixin if "metric" in document else RegressorMixin
        return self.kind != "solver" or not issubclass(self.thing, other)

    def changes(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return what it changes of a configuration of the leaderboard.

        ConfigError if a kernel has parameters.
        """
        by_class = not isinstance(self.path, str) or is_path(self.path)
        named = {"class" if by_class else "name": self.path}
        plain = [{"name": BASELINE_SAMPLER, "label": self.label, "role": METHOD}]
        unsearched = self.bandwidth == NOT_SEARCHED
        if self.kind == "kernel":
            if self.parameters:
                raise ConfigError(
                    "A kernel takes no parameters here.",
                    "Its bandwidth is searched for.",
                    "Leave --set out, and write them into a class of your own.",
                )
            changed: dict[str, Any] = {"kernel": self.path, "samplers": plain}
            unsearched = self.bandwidth == NO_BANDWIDTH
        elif self.kind == "solver":
            shared = {
                key: document["solver"][key]
                for key in SOLVER_KEYS
                if key in list_taken_parameters(self.thing)
            }
            if "alphas" in shared:
                shared["alphas"] = grids.expand(shared["alphas"])
            changed = {"solver": {**named, **shared, **self.parameters}, "samplers": plain}
        else:
            own = {**named, **self.parameters, "label": self.label, "role": METHOD}
            changed = {"samplers": [own]}
            foreign = not Method(self.thing, self.label, self.parameters).is_sampler
            unsearched |= foreign and self.bandwidth == NO_BANDWIDTH
        return {**changed, "bandwidth": MEDIAN} if unsearched else changed


def _heeds_rows(method: Method) -> bool:
    """Tell whether the size of rows matters; yes where the method does not run on a few rows."""
    try:
        return depends_on_scale(method)
    except Exception:  # its trials say why
        return True


def read_published_rows(folder: Path) -> tuple[pd.DataFrame, int]:
    """Read the rows below a folder that a method is held against, with z-scores.

    Rows of which the configurations of today ask for other trials are left out; the second value
    is their number. Raises ResultsError: there are none.
    """
    named = {
        path: manifest.read_if_sound(path, []).get("config", {})
        for path in (reader.find([folder]) if folder.is_dir() else [])
    }
    collection = frame.build_collection(
        [
            reader.read(path)
            for path, asked in named.items()
            if asked.get("scaling") == STANDARD and not asked.get("paper")
        ],
        today=today.find_settings,
    )
    fresh = frame.build_collection(
        [collection.without_stale(each) for each in collection.experiments]
    )
    rows, _ = select_counted(fresh)
    if find_baseline(rows) is None:
        raise ResultsError(
            f"No published rows below {folder} are those of the leaderboard.",
            "A method is compared with those of the others, of today's configuration.",
            "Install rfbench again, or measure them with `rfbench run leaderboard`.",
        )
    return rows, sum(collection.stale.values())


def make_experiments(
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
    for name, document in config.read_documents(shipped.locate(NAME)).items():
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
    bandwidth : str
        See `Ranked.bandwidth`: without a search there is no verdict.
    unknown_scales : tuple of str
        The notes of the trials whose length scale could not be measured.
    """

    size: Size
    own: Line
    place: int
    plain: Ratio
    best: Ratio
    rival: str
    tables: tuple[tuple[str, float], ...]
    left_out: int
    bandwidth: str = SEARCHED
    unknown_scales: tuple[str, ...] = ()

    def those(self, verdict: str) -> list[str]:
        """Return the others that it is better than, worse than, or neither (open), by the rule."""
        others = [line.method for line in self.size.lines if line is not self.own]
        return [name for name in others if self.size.verdict(self.own.method, name) == verdict]


def find_place(others: pd.DataFrame, own: Results, label: str, M: int) -> Standing:
    """Hold a method's rows against the published ones, of the same trials.

    Raises ResultsError: no trial ended well and has a partner there.
    """
    rows = read_trials(frame.build_collection([own]), {own.path})
    rows, baseline = rows[rows["M"] == M], str(find_baseline(others))
    pair = [*TRIAL, "data", "n_train"]
    pairs = others.loc[others["method"] == baseline, pair].drop_duplicates()
    paired = rows[rows["method"] == label].merge(pairs, on=pair)
    measured = own.rows[(own.rows["label"] == label) & (own.rows["M"] == M)]
    asked = len(measured)
    notes = measured["message"].str.extract(rf"(?:^|; )({UNKNOWN_SCALE}.*)")[0].dropna()
    # Times of another machine say nothing beside those that are published, but for their ratio.
    untimed = paired.assign(search=math.nan)
    here = others[others["table"].isin(paired["table"]) & (others["method"] != label)]
    both = pd.concat([here, untimed], ignore_index=True)
    size = compare_at_size(both, M)
    ranked = [line.method for line in size.methods] if size else []
    if size is None or label not in ranked:
        raise ResultsError(
            f"{label} has no rows to compare at M = {M}.",
            f"{asked - len(paired)} of {asked} trials did not end well, or are of other data than "
            "the published ones.",
            f"See the column message of {own.folder / reader.TRIALS}.",
        )
    costs = compute_log_ratios(rows, M, "search")
    cost = float(np.exp(costs[label].mean())) if label in costs else math.nan
    lines = [replace(x, search=cost) if x.method == label else x for x in size.lines]
    logs = compute_log_ratios(both, M)[[line.method for line in lines]].dropna()
    rival = next(name for name in ranked if name != label)
    return Standing(
        size=replace(size, lines=tuple(lines)),
        own=next(line for line in lines if line.method == label),
        place=1 + ranked.index(label),
        plain=summarise_ratio(logs[label] - logs[baseline]),
        best=summarise_ratio(logs[label] - logs[rival]),
        rival=rival,
        tables=tuple((str(n), float(np.exp(log))) for n, log in logs[label].sort_values().items()),
        left_out=asked - len(paired),
        unknown_scales=tuple(notes),
    )
