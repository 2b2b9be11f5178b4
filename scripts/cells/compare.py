"""Comparison of the authors' kernel errors with ours: verdicts, scores and mean ratios."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from rfbench.analysis import verdicts
from rfbench.results.cells import Cell, CellRow

# A mean ratio farther from 1 is named.
NAMED = 0.02
# Cells whose ratio has at most this standard error are precise. The errors of the other cells are
# skewed, and the logarithm of a mean of few skewed values is too small on average.
PRECISE = 0.06
# Scores beyond this value are counted, as in the acceptance rule of the comparison.
FAR = 3.0
MAP = ["kernel", "method", "projection", "features", "full_cov", "tree", "expanded"]


def tabulate(rows: Sequence[CellRow]) -> pd.DataFrame:
    """Return a line for each measured cell: ratio, score and verdict.

    The score z is the difference of the means divided by its standard error. A cell of the authors
    with one seed has our standard deviation, as in `rfbench.analysis.verdicts`.
    """
    lines = []
    for row in rows:
        if row.measured:
            theirs, ours = row.published, row.measured
            lines.append((row.cell.id, *row.cell, row.folder, *theirs, *ours))
    columns = ["id", *Cell._fields, "folder", "published_n", "published_mean", "published_sd"]
    table = pd.DataFrame(lines, columns=[*columns, "n", "mean", "sd"])
    error = table["sd"] / np.sqrt(table["n"])
    theirs = (table["published_sd"] / np.sqrt(table["published_n"])).to_numpy()
    table["log_ratio"] = np.log(table["mean"] / table["published_mean"])
    table["z"] = (table["mean"] - table["published_mean"]) / np.hypot(
        np.where(np.isnan(theirs), table["sd"], theirs), error
    )
    table["error"] = np.hypot(
        error / table["mean"],
        np.where(np.isnan(theirs), table["sd"], theirs) / table["published_mean"],
    )
    half = verdicts.compute_half_widths(
        theirs / table["published_mean"],
        table["published_n"],
        error / table["mean"],
        table["n"],
        half_digit=0.0,
    )
    table["verdict"] = verdicts.judge_numbers(table["log_ratio"], half, relative=True)
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
            {
                **dict(zip(columns, key if isinstance(key, tuple) else (key,), strict=True)),
                "cells": len(group),
                "ratio": float(np.exp(by_set.mean())),
                "se": np.std(own, ddof=1) / len(own) ** 0.5 if len(own) > 1 else np.nan,
                "within": float((group["z"].abs() < FAR).mean()),
                "precise_cells": len(precise),
                "precise_ratio": float(np.exp(precise.mean())),
                "precise_se": precise.to_numpy(dtype=float).std(ddof=1) / len(precise) ** 0.5
                if len(precise) > 1
                else np.nan,
            }
        )
    found = pd.DataFrame(lines)
    found["named"] = np.where((found["ratio"] - 1).abs() > NAMED, "beyond 2 %", "")
    return found


def report(rows: Sequence[CellRow]) -> str:
    """Return the comparison as text."""
    table = tabulate(rows)
    counts = table["verdict"].value_counts()
    words = ", ".join(f"{counts.get(each, 0)} {each}" for each in verdicts.COMPARED)
    far = table[table["z"].abs() >= FAR].sort_values("z")
    shown = ["id", "dataset", "scaling", "kernel", "degree", *MAP[1:6], "D", "norm", "z"]
    several = table[table["published_n"] > 1]
    return "\n".join(
        [
            f"{len(table)} of {len(rows)} cells are measured: {words}",
            f"|z| < {FAR:g}: {(table['z'].abs() < FAR).mean():.4f} of all cells, "
            f"{(several['z'].abs() < FAR).mean():.4f} of the cells with several published seeds",
            f"z: mean {several['z'].mean():.3f}, standard deviation {several['z'].std():.3f}",
            "",
            group_ratios(table, MAP).round(4).to_string(index=False),
            "",
            group_ratios(table, ["dataset", "scaling", "kernel"]).round(4).to_string(index=False),
            "",
            f"{len(far)} cells beyond:",
            far[[*shown, "published_mean", "mean"]].round(4).to_string(index=False),
        ]
    )
