"""What another preparation of the columns changes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from rfbench.leaderboard.facts import Interval, PreparationGain
from rfbench.leaderboard.rows import interval, twins_as_one

STANDARD = "standard"  # the scaling of the comparison of methods
CHOSEN = "best"  # stands for the scaling that the folds choose


def preparations(rows: pd.DataFrame, twins: Mapping[str, str]) -> tuple[PreparationGain, ...]:
    """Compare by method and M what the preparations give, each and as the folds choose."""
    rows = rows[~rows["reference"]]
    scalings = [name for name in rows["scaling"].unique() if name != STANDARD]
    made = []
    for key, part in rows.groupby(["method", "M"], sort=True):
        method, M = str(key[0]), int(key[1])  # type: ignore[call-overload]
        keys = ["dataset", "trial"]
        errors = part.pivot_table(index=keys, columns="scaling", values="error").dropna()
        if STANDARD not in errors or len(errors.columns) < 2 or errors.empty:
            continue
        errors = errors[[STANDARD, *errors.columns.drop(STANDARD)]]  # first: it wins ties
        losses = part.pivot_table(index=keys, columns="scaling", values="loss")
        losses = losses.reindex(index=errors.index, columns=errors.columns)
        best = _chosen(errors, losses)
        for name in sorted(set(scalings) & set(errors)):
            alone = _quotient(errors[name], errors[STANDARD], twins)
            without = _chosen(errors.drop(columns=name), losses.drop(columns=name))
            choice = _quotient(best, without, twins)
            made.append(PreparationGain(method, M, name, alone, choice))
        gain = _quotient(best, errors[STANDARD], twins)
        made.append(PreparationGain(method, M, CHOSEN, gain))
    return tuple(made)


def _quotient(
    errors: pd.Series[float], others: pd.Series[float], twins: Mapping[str, str]
) -> Interval:
    """Return the mean of one error over another, of the same data sets and trials."""
    logs = pd.DataFrame({"log": np.log(errors / others)}).groupby("dataset").mean()
    return interval(twins_as_one(logs, twins)["log"].to_numpy())


def _chosen(errors: pd.DataFrame, losses: pd.DataFrame) -> pd.Series[float]:
    """Return, row by row, the error of the column with the smallest loss, the first of equals."""
    columns = losses.fillna(np.inf).to_numpy().argmin(axis=1)
    return pd.Series(errors.to_numpy()[np.arange(len(errors)), columns], errors.index)
