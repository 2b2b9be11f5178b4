"""When random features are enough: against gradient boosting, in the same trials."""

from __future__ import annotations

import pandas as pd

from rfbench.leaderboard.facts import Enough, Known
from rfbench.leaderboard.rows import BOOSTING, interval, log_quotients

TRIAL = ["dataset", "trial"]


def enough(rows: pd.DataFrame, known: Known) -> Enough | None:
    """Hold features, chosen by the folds in each trial, against boosting in the same trial."""
    boosting = rows[rows["method"] == BOOSTING].set_index(TRIAL)
    features = rows[~rows["reference"]].dropna(subset=["loss"])
    largest = features.groupby("dataset")["M"].transform("max")
    features = features[features["M"] == largest]
    chosen = features.loc[features.groupby(TRIAL)["loss"].idxmin()].set_index(TRIAL)
    logs = log_quotients(chosen["error"], boosting["error"], known.twins)
    if not len(logs):
        return None
    # In CPU hours, over the trials in which all of them were timed.
    spent = features.groupby(TRIAL)["search"].sum(min_count=features["method"].nunique())
    both = pd.DataFrame({"features": spent, "boosting": boosting["search"]}).dropna().sum() / 3600
    edge = float((boosting.loc[boosting["chosen"] != "", "chosen_at_edge"] != "").mean())
    better = int((logs < 0).sum())
    return Enough(interval(logs), better, float(both.iloc[0]), float(both.iloc[1]), edge)
