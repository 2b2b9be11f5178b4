"""The leaderboard: which method, how many features, at what cost; as numbers."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from rfbench.analysis.frame import Collection
from rfbench.analysis.summary import axis
from rfbench.leaderboard.boosting import enough
from rfbench.leaderboard.facts import HeldOut, HeldOutTable, Known, Leaderboard
from rfbench.leaderboard.preparations import STANDARD, preparations
from rfbench.leaderboard.rows import (
    NAME,
    baseline_of,
    planned,
    rows_of,
    trials_per_method,
    unlearnt_of,
)
from rfbench.leaderboard.sizes import against_exact, size_of, steps_of
from rfbench.results import Results

HELD_OUT = "leaderboard_held_out"  # with which those begin whose data sets take no part


def gather(
    collection: Collection,
    known: Known | None = None,
) -> Leaderboard | None:
    """Collect the facts; None where no comparison with the baseline was measured.

    Rows are those of configurations whose name begins with ``leaderboard``. Those that begin with
    ``leaderboard_held_out`` stand apart. Smoke runs do not count. What a method
    is, is its role in the configuration: the one with the role ``baseline`` is what all others are
    divided by, one with the role ``model`` has no features and is the same at every M.
    """
    known = known or Known()
    reasons, twin_of = known.set_aside, known.twins
    own: list[Results] = []
    for experiment in collection.experiments:
        usable = not experiment.smoke and not experiment.config.get("paper")
        if usable and axis(experiment) == "M":
            own.append(experiment)
    named = [experiment for experiment in own if experiment.name.startswith(NAME)]
    apart = [experiment for experiment in named if experiment.name.startswith(HELD_OUT)]
    rows = rows_of(collection, {each.path for each in named if each not in apart})
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
    names, n_trials = planned(known)
    return Leaderboard(
        baseline=baseline,
        folders=tuple(sorted(rows["folder"].unique())),
        trials=trials_per_method(with_features),
        reference_trials=trials_per_method(standard[standard["reference"]]),
        planned=(len(names), n_trials),
        missing=tuple(sorted(names - set(present) - set(unlearnt))),
        measured=len({twin_of.get(name, name) for name in present}),
        set_aside=reasons,
        unlearnt=tuple(unlearnt),
        edge=float(edges.astype(float).mean()) if len(edges) else math.nan,
        sizes=tuple(made),
        steps=steps_of(with_features, (baseline, made[-1].best), sizes, twin_of),
        exact=against_exact(standard, baseline, sizes, twin_of),
        preparations=preparations(counted, twin_of),
        enough=enough(standard, known),
        held_out=held_out(rows_of(collection, {each.path for each in apart})),
    )


def held_out(rows: pd.DataFrame) -> HeldOut | None:
    """Return what was measured at the largest M on tables that take no part."""
    if rows.empty or rows["reference"].all():
        return None
    rows = rows[~rows["reference"]]
    M = int(rows["M"].max())
    rows = rows[rows["M"] == M]
    # Trials that every method has.
    errors = rows.pivot_table(index=["dataset", "trial"], columns="method", values="error").dropna()
    baseline = baseline_of(rows)
    if errors.empty or baseline not in errors:
        return None
    of_trials = pd.DataFrame(np.log(errors)).sub(np.log(errors[baseline]), axis=0)
    by_table = of_trials.groupby("dataset")
    logs, deviations, trials = by_table.mean(), by_table.std(), by_table.size()
    means = logs.mean().sort_values(kind="stable")
    sizes = rows.groupby("dataset")[["n_train", "d"]].median().astype(int)
    tables = tuple(
        HeldOutTable(
            str(name),
            int(sizes["n_train"][name]),
            int(sizes["d"][name]),
            int(trials[name]),
            {str(method): float(np.exp(logs[method][name])) for method in means.index},
            {str(method): float(deviations[method][name]) for method in means.index},
        )
        for name in logs.index
    )
    return HeldOut(M, {str(name): float(value) for name, value in np.exp(means).items()}, tables)
