"""Comparison of the authors' kernel errors with ours: verdicts, scores and mean ratios."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from rfbench.analysis import verdicts

# A mean ratio farther from 1 is named.
NAMED = 0.02
# Cells whose ratio has at most this standard error are precise. The errors of the other cells are
# skewed, and the logarithm of a mean of few skewed values is too small on average.
PRECISE = 0.06
# Scores beyond this value are counted, as in the acceptance rule of the comparison.
FAR = 3.0
MAP = ["kernel", "method", "projection", "features", "full_cov", "tree", "expanded"]


def tabulate(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the measured cells with the ratio, its standard error, the score and the verdict.

    The score z is the difference of the means divided by its standard error. A cell of the authors
    with one seed has our standard deviation, as in `rfbench.analysis.verdicts`.
    """
    table = cells[cells["n"].notna()].copy()
    error, theirs = table["sd"] / table["n"] ** 0.5, table["published_mean"]
    own = table["published_sd"] / table["published_n"] ** 0.5
    known = own.fillna(table["sd"])
    table["log_ratio"] = np.log(table["mean"] / theirs)
    table["z"] = (table["mean"] - theirs) / np.hypot(known, error)
    table["error"] = np.hypot(error / table["mean"], known / theirs)
    half = verdicts.compute_interval_half_widths(
        *(own / theirs, table["published_n"], error / table["mean"], table["n"]), half_digit=0.0
    )
    table["verdict"] = verdicts.judge_published_numbers(table["log_ratio"], half, relative=True)
    return table


def group_ratios(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Return the geometric mean ratio of each group, with its standard error over data sets.

    The mean is first taken within data sets, whose cells share their rows.
    """
    lines = []
    for key, group in table.groupby(list(columns)):
        by_set = group.groupby("dataset")["log_ratio"].mean()
        # The cells of a single data set are used if there is no other.
        own = by_set if len(by_set) > 1 else group["log_ratio"]
        precise = group.loc[group["error"] <= PRECISE, "log_ratio"]
        lines.append(
            dict(zip(columns, key, strict=True))
            | {"cells": len(group), "ratio": np.exp(by_set.mean()), "se": own.sem()}
            | {"within": (group["z"].abs() < FAR).mean(), "precise_cells": len(precise)}
            | {"precise_ratio": np.exp(precise.mean()), "precise_se": precise.sem()}
        )
    return pd.DataFrame(lines)


def report(cells: pd.DataFrame) -> str:
    """Return the comparison as text."""
    table = tabulate(cells)
    near = table["z"].abs() < FAR
    far = table[~near].sort_values("z")
    shown = ["id", "dataset", "scaling", "kernel", "degree", *MAP[1:6], "D", "norm", "z"]
    return "\n\n".join(
        [
            f"{len(table)} of {len(cells)} cells are measured",
            table["verdict"].value_counts().to_string(),
            f"{near.mean():.4f} of the cells have |z| < {FAR:g}; the mean of z is "
            f"{table['z'].mean():.3f}, its standard deviation {table['z'].std():.3f}",
            group_ratios(table, MAP).round(4).to_string(index=False),
            group_ratios(table, ["dataset", "scaling", "kernel"]).round(4).to_string(index=False),
            f"{len(far)} cells beyond:",
            far[[*shown, "published_mean", "mean"]].round(4).to_string(index=False),
        ]
    )
