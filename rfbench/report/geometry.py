"""Where the kept features of a sampler lie: `kept.csv` beside `trials.csv`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from rfbench.results import kept_features

COLUMNS = ("w1", "w2", "b", "weight")
CORNER_RADIUS = 0.75
OFFSET_WIDTH = np.pi / 8
SHARES = ["kept_near_corners", "kept_near_offsets"]


def read_kept(folder: Path, rows: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Return the kept features of the trials that ended well, a line each.

    Parameters
    ----------
    folder : Path
        The results folder.
    rows : DataFrame
        The rows of ``trials.csv`` that count.
    notes : list of str
        Takes up what is wrong with the file.
    """
    kept = kept_features.frame(folder, notes)
    if kept.empty:
        return kept
    return kept[kept["trial_id"].isin(rows.loc[rows["status"] == "ok", "trial_id"])]


def kept_shares(folder: Path, rows: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Return, row by row, what share of the weight lies where Sinha and Duchi (2016) show it.

    Their Figure 1a. Near a corner means within 0.75 of (1, 1) or (-1, -1), near an offset within
    pi/8 of 0 or pi (modulo 2 pi; both together hold a quarter of the circle). Only rows at d = 2
    with kept features get a share, the others NaN.

    Parameters
    ----------
    folder, rows, notes
        See `read_kept`.
    """
    shares = pd.DataFrame(np.nan, index=rows.index, columns=SHARES)
    kept = read_kept(folder, rows, notes)
    if kept.empty or not set(COLUMNS) <= set(kept):
        return shares
    corners, offsets = near_corners(kept), near_offsets(kept)
    weights = pd.DataFrame(
        {
            SHARES[0]: kept["weight"] * corners,
            SHARES[1]: kept["weight"] * offsets,
            "weight": kept["weight"],
        }
    )
    total = weights.groupby(kept["trial_id"]).sum()
    here = rows["d"] == 2
    for name in SHARES:
        shares.loc[here, name] = rows.loc[here, "trial_id"].map(total[name] / total["weight"])
    return shares


def near_corners(kept: pd.DataFrame) -> pd.Series[bool]:
    """Tell which frequencies lie near (1, 1) or (-1, -1)."""
    w = kept[["w1", "w2"]].to_numpy()
    distance = np.minimum(np.linalg.norm(w - 1, axis=1), np.linalg.norm(w + 1, axis=1))
    return pd.Series(distance <= CORNER_RADIUS, index=kept.index)


def near_offsets(kept: pd.DataFrame) -> pd.Series[bool]:
    """Tell which offsets lie near a multiple of pi."""
    b = np.mod(kept["b"].to_numpy(), np.pi)
    return pd.Series(np.minimum(b, np.pi - b) <= OFFSET_WIDTH, index=kept.index)
