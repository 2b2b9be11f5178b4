"""The leaderboard: which method, how many features, at what cost; as numbers."""

from __future__ import annotations

import math

import pandas as pd

from rfbench.analysis.frame import Collection
from rfbench.analysis.summary import axis
from rfbench.leaderboard.boosting import enough
from rfbench.leaderboard.facts import Interval, Known, Leaderboard
from rfbench.leaderboard.rows import (
    HELD_OUT,
    STANDARD,
    baseline_of,
    folders_of,
    interval,
    joined,
    log_ratios,
    planned,
    rows_of,
    trials_per_method,
    unlearnt_of,
)
from rfbench.leaderboard.sizes import size_of


def known() -> Known:
    """Return what the catalogue knows of data sets."""
    from rfbench.datasets import catalog

    return Known(catalog.set_aside(), catalog.TWINS)


def gather(
    collection: Collection,
    known: Known | None = None,
) -> Leaderboard | None:
    """Collect the facts; None where no comparison with the baseline was measured.

    Rows are those of configurations whose name begins with ``leaderboard``, and the methods that
    were run under their protocol by one of any name, see `rfbench.leaderboard.rows.folders_of`.
    Those that begin with ``leaderboard_held_out`` stand apart. Smoke runs do not count. What a
    method is, is its role in the configuration: the one with the role ``baseline`` is what all
    others are divided by, one with the role ``model`` has no features and is the same at every M.
    """
    known = known or Known()
    reasons, twin_of = known.set_aside, known.twins
    usable = [e for e in collection.experiments if not (e.smoke or e.config.get("paper"))]
    usable = [experiment for experiment in usable if axis(experiment) == "M"]
    rows = joined(collection, folders_of(usable))
    apart = {experiment.path for experiment in usable if experiment.name.startswith(HELD_OUT)}
    if rows.empty:
        return None
    reasons = {name: reasons[name] for name in sorted(reasons)}
    counted = rows[~rows["dataset"].isin(list(reasons))]
    unlearnt = unlearnt_of(counted)
    counted = counted[~counted["dataset"].isin(unlearnt)]
    standard = counted[counted["scaling"] == STANDARD]
    with_features = standard[~standard["reference"]]
    if (baseline := baseline_of(with_features)) is None:
        return None
    sizes = sorted(int(M) for M in with_features["M"].unique())
    made = [size for M in sizes if (size := size_of(standard, M, twin_of)) is not None]
    if not made:
        return None
    present = with_features.loc[with_features["method"] == baseline, "dataset"].unique()
    edges = with_features["at_edge"].dropna()
    return Leaderboard(
        baseline=baseline,
        folders=tuple(sorted(rows["folder"].unique())),
        trials=trials_per_method(with_features),
        reference_trials=trials_per_method(standard[standard["reference"]]),
        planned=planned(known),
        measured=len({twin_of.get(name, name) for name in present}),
        set_aside=reasons,
        unlearnt=tuple(unlearnt),
        edge=float(edges.astype(float).mean()) if len(edges) else math.nan,
        sizes=tuple(made),
        enough=enough(standard, known),
        held_out=held_out(rows_of(collection, apart), made[-1].best),
    )


def held_out(rows: pd.DataFrame, best: str) -> Interval | None:
    """Return what a method does on tables that take no part, at the largest M there.

    None where it was not run.
    """
    features = rows[~rows["reference"]] if len(rows) else rows
    logs = log_ratios(features, int(features["M"].max())) if len(features) else features
    return interval(logs[best].dropna().to_numpy()) if best in logs else None
