"""Comparison of a method with the published results of all methods of the leaderboard."""

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
from rfbench.experiment import current_settings
from rfbench.kernels import Kernel
from rfbench.leaderboard.board import compare_methods_at_size
from rfbench.leaderboard.facts import MethodResult, Ratio, SizeResult
from rfbench.leaderboard.rows import (
    NAME,
    STANDARD,
    TRIAL,
    compute_log_ratios,
    find_baseline,
    read_trials,
    select_leaderboard_rows,
    summarize_error_ratios,
)
from rfbench.parameters import is_path, list_init_parameters
from rfbench.results import Results, manifest, reader
from rfbench.results.schema import METHOD
from rfbench.samplers.elsewhere import (
    EARLIER_UNKNOWN_SCALE,
    UNKNOWN_SCALE,
    Method,
    has_scale_dependent_features,
)
from rfbench.solvers import Solver

BASELINE_SAMPLER = "rks"
# Rule for the bandwidth of all methods whose bandwidth is not selected by cross-validation.
MEDIAN = "median"
SEARCHED, NO_BANDWIDTH, NOT_SEARCHED = "searched", "none", "not searched"
SOLVER_KEYS = (
    "alphas",
    "alpha_convention",
    "selection",
    "intercept",
)  # names of the parameters that all solvers of rfbench have


@dataclass(frozen=True)
class RankTarget:
    """The method that `rfbench rank` compares with the methods of the leaderboard.

    Attributes
    ----------
    path : str, type, transformer or callable
        Registered name or import path, or the object itself if it was given in Python.
    thing : type, transformer or callable
        The class, object or function of the method.
    parameters : mapping
        Parameters of the method.
    label : str
        Name of the method in results and tables.
    """

    path: Any
    thing: Any
    parameters: Mapping[str, Any]
    label: str

    @property
    def kind(self) -> str:
        """Kind of the method: ``kernel``, ``solver`` or ``sampler``."""
        if isinstance(self.thing, type) and issubclass(self.thing, Kernel):
            return "kernel"
        predicts = hasattr(self.thing, "predict") and not hasattr(self.thing, "transform")
        return "solver" if predicts else "sampler"

    @cached_property
    def bandwidth(self) -> str:
        """Status of the bandwidth: `SEARCHED`, `NO_BANDWIDTH` or `NOT_SEARCHED`.

        The bandwidth is searched if cross-validation can select its value. A method has no
        bandwidth if its features do not depend on the scale of the rows.
        """
        # The scale is tested by dividing the rows by 4 and comparing the products of features.
        if self.kind == "kernel":
            return SEARCHED if self.thing.has_bandwidth else NO_BANDWIDTH
        if self.kind == "solver":
            searched = issubclass(self.thing, Solver) and "bandwidth" not in self.parameters
            return SEARCHED if searched else NOT_SEARCHED
        method = Method(self.thing, self.label, self.parameters)
        searched = method.has_bandwidth and not (
            method.is_sampler
            and ("bandwidth" in self.parameters or "bandwidth" not in method.parameter_names)
        )
        # The class of a sampler declares if there is a bandwidth, and users can name the bandwidth
        # parameter of other maps. For a map without such a declaration, a measurement shows if the
        # bandwidth changes the features.
        said = method.is_sampler or method.bandwidth_name is not None
        if not (searched and said) and not _heeds_rows(method):
            return NO_BANDWIDTH
        return SEARCHED if searched else NOT_SEARCHED

    def _supports_task(self, document: Mapping[str, Any]) -> bool:
        """Return True if the method supports the task of a configuration.

        The task is classification or regression. `document` is the content of the configuration.
        """
        other = ClassifierMixin if "metric" in document else RegressorMixin
        return self.kind != "solver" or not issubclass(self.thing, other)

    def _list_changes(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return the keys of a configuration that are changed to measure only this method.

        `document` is the content of a configuration of the leaderboard.

        Raises ConfigError if the method is a kernel and has parameters.
        """
        by_class = not isinstance(self.path, str) or is_path(self.path)
        named = {"class" if by_class else "name": self.path}
        plain = [{"name": BASELINE_SAMPLER, "label": self.label, "role": METHOD}]
        unsearched = self.bandwidth == NOT_SEARCHED
        if self.kind == "kernel":
            if self.parameters:
                raise ConfigError(
                    "The parameters of a kernel cannot be set in a ranking.",
                    "The bandwidth of a kernel is selected by the ranking.",
                    "Remove --set. Instead, define a class of your own with these values.",
                )
            changed: dict[str, Any] = {"kernel": self.path, "samplers": plain}
            unsearched = self.bandwidth == NO_BANDWIDTH
        elif self.kind == "solver":
            shared = {
                key: document["solver"][key]
                for key in SOLVER_KEYS
                if key in list_init_parameters(self.thing)
            }
            if "alphas" in shared:
                shared["alphas"] = grids.expand_grid_text(shared["alphas"])
            changed = {"solver": {**named, **shared, **self.parameters}, "samplers": plain}
        else:
            own = {**named, **self.parameters, "label": self.label, "role": METHOD}
            changed = {"samplers": [own]}
            foreign = not Method(self.thing, self.label, self.parameters).is_sampler
            unsearched |= foreign and self.bandwidth == NO_BANDWIDTH
        return {**changed, "bandwidth": MEDIAN} if unsearched else changed


def _heeds_rows(method: Method) -> bool:
    """Return True if the features of a method depend on the scale of the rows.

    The result is also True if the method raises an error.
    """
    try:
        return has_scale_dependent_features(method)
    except Exception:  # ignore the error here, because the trials report it
        return True


def read_published_rows(folder: Path) -> tuple[pd.DataFrame, int]:
    """Read the published results of the leaderboard, with one row per trial.

    Only results with standardized inputs are used. Results whose configuration has changed are
    skipped. The second returned value is the number of skipped rows.

    Raises ResultsError if `folder` has no results of the baseline.
    """
    named = {
        path: manifest.read_if_valid(path, []).get("config", {})
        for path in (reader.find_results_folders([folder]) if folder.is_dir() else [])
    }
    collection = frame.build_collection(
        [
            reader.read_results_folder(path)
            for path, asked in named.items()
            if asked.get("scaling") == STANDARD and not asked.get("paper")
        ],
        today=current_settings.find_current_settings_of_each,
    )
    fresh = frame.build_collection(
        [collection.drop_stale_rows(each) for each in collection.experiments]
    )
    rows, _ = select_leaderboard_rows(fresh)
    if find_baseline(rows) is None:
        raise ResultsError(
            f"No published leaderboard rows found below {folder}.",
            "A method is compared only with published results of the current configuration.",
            "Install rfbench again, or measure the rows with `rfbench run leaderboard`.",
        )
    return rows, sum(collection.stale_row_counts.values())


def make_experiments(
    target: RankTarget,
    M: int,
    tables: Collection[str],
    *,
    times: bool = False,
    allow_imports: bool = False,
) -> list[Experiment]:
    """Return experiments that measure a method like the methods of the leaderboard.

    The experiments use M features and the data sets `tables`. If `times` is True, the baseline is
    also measured.

    Raises ConfigError if nothing can be measured. Also raises the errors of `rfbench.read_config`.
    """
    made = []
    for name, document in config.read_run_documents(shipped.locate_configuration(NAME)).items():
        value = document.value
        names = [each for each in value["dataset"] if each in tables]
        here = value["scaling"] == STANDARD and names and M in grids.expand_grid_text(value["M"])
        if not here or not target._supports_task(value):
            continue
        asked = [target._list_changes(value)]
        if times:
            asked.append({"samplers": value["samplers"][:1]})
        for changes in asked:
            content = {**value, "dataset": names, "M": M, "title": target.label, **changes}
            content["description"] = "Measured by rfbench rank."
            changed = yamlfile.Document(content, document.source)
            run = name.replace(NAME, "rank", 1)
            made.append(config.build_experiment(changed, run, allow_imports=allow_imports))
    if not made:
        raise ConfigError(
            f"The leaderboard has no table for {target.label} with M = {M}.",
            "There are published rows for M = 50, 100, 200 and 400. For small "
            "tables there are rows only up to M = 100.",
            "Use for example --M 400.",
        )
    return made


@dataclass(frozen=True)
class RankResult:
    """Rank of a method on the leaderboard, and its comparison with the published methods.

    Attributes
    ----------
    size : SizeResult
        Comparison of all methods on the data sets that they have in common. The time of the ranked
        method is NaN unless the baseline was measured in the same run.
    own : MethodResult
        Result of the ranked method, one of the lines of `size`.
    place : int
        Rank among the methods with random features, by the median ratio of errors.
    plain : Ratio
        Errors of the method divided by the errors of the baseline.
    best : Ratio
        Errors of the method divided by the errors of the method `rival`.
    rival : str
        Name of the best published method with random features.
    tables : tuple of pairs
        Pairs of a data set and the error divided by the error of the baseline, the smallest first.
    left_out : int
        Number of trials that failed, or that used different data than the published trials.
    bandwidth : str
        Status of the bandwidth, see `RankTarget.bandwidth`. A method whose bandwidth was not
        searched gets no rank.
    unknown_scales : tuple of str
        Messages of the trials in which the length scale of the features could not be measured.
    """

    size: SizeResult
    own: MethodResult
    place: int
    plain: Ratio
    best: Ratio
    rival: str
    tables: tuple[tuple[str, float], ...]
    left_out: int
    bandwidth: str = SEARCHED
    unknown_scales: tuple[str, ...] = ()

    def list_methods(self, verdict: str) -> list[str]:
        """Return the methods for which the ranked method has the given verdict.

        With the verdict ``better``, the ranked method is significantly better than the returned
        methods. Further verdicts are ``worse`` and ``open`` (no significant difference).
        """
        others = [line.method for line in self.size.lines if line is not self.own]
        return [name for name in others if self.size.find_verdict(self.own.method, name) == verdict]


def find_scale_notes(messages: pd.Series[str]) -> pd.Series[str]:
    """Return the parts of trial messages that report an unknown length scale of the features.

    Messages of earlier versions of rfbench are also found.
    """
    pattern = rf"(?:^|; )((?:{UNKNOWN_SCALE}|{EARLIER_UNKNOWN_SCALE}).*)"
    return messages.str.extract(pattern)[0].dropna()


def compare_with_published_rows(
    others: pd.DataFrame, own: Results, label: str, M: int
) -> RankResult:
    """Compare the results of a method with the published results of the same trials.

    `others` are the published results, and `own` are the results of the method `label` at M
    features.

    Raises ResultsError if no successful trial has a published counterpart.
    """
    rows = read_trials(frame.build_collection([own]), {own.path})
    rows, baseline = rows[rows["M"] == M], str(find_baseline(others))
    pair = [*TRIAL, "data", "n_train"]
    pairs = others.loc[others["method"] == baseline, pair].drop_duplicates()
    paired = rows[rows["method"] == label].merge(pairs, on=pair)
    measured = own.rows[(own.rows["label"] == label) & (own.rows["M"] == M)]
    asked = len(measured)
    notes = find_scale_notes(measured["message"])
    # The times of the ranked method are left out, because they are not from the same machine as the
    # published times of the other methods.
    untimed = paired.assign(search=math.nan)
    here = others[others["table"].isin(paired["table"]) & (others["method"] != label)]
    both = pd.concat([here, untimed], ignore_index=True)
    size = compare_methods_at_size(both, M)
    ranked = [line.method for line in size.methods] if size else []
    if size is None or label not in ranked:
        raise ResultsError(
            f"{label} has no rows to compare at M = {M}.",
            f"{asked - len(paired)} of {asked} trials failed, or have different data "
            "than the published rows.",
            f"The column message of {own.folder / reader.TRIALS} has the reasons.",
        )
    costs = compute_log_ratios(rows, M, "search")
    cost = float(np.exp(costs[label].mean())) if label in costs else math.nan
    lines = [replace(x, search=cost) if x.method == label else x for x in size.lines]
    logs = compute_log_ratios(both, M)[[line.method for line in lines]].dropna()
    rival = next(name for name in ranked if name != label)
    return RankResult(
        size=replace(size, lines=tuple(lines)),
        own=next(line for line in lines if line.method == label),
        place=1 + ranked.index(label),
        plain=summarize_error_ratios(logs[label] - logs[baseline]),
        best=summarize_error_ratios(logs[label] - logs[rival]),
        rival=rival,
        tables=tuple((str(n), float(np.exp(log))) for n, log in logs[label].sort_values().items()),
        left_out=asked - len(paired),
        unknown_scales=tuple(notes),
    )
