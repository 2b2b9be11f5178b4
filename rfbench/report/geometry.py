"""Where the kept features of a sampler lie: `kept.csv` beside `trials.csv`, for claim L3."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

KEPT = "kept.csv"
COLUMNS = ("trial", "w1", "w2", "b", "weight")
CORNER_RADIUS = 0.75
OFFSET_WIDTH = np.pi / 8
SHARES = ["kept_near_corners", "kept_near_offsets"]


def kept_shares(folder: Path, rows: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Return, row by row, what share of the weight lies where lkrf2016's Figure 1a shows it.

    `kept.csv` has one line a kept feature of lkrf at d = 2: trial, w1, w2, b, weight. Near a
    corner means within 0.75 of (1, 1) or (-1, -1), near an offset within pi/8 of 0 or pi
    (modulo 2 pi; both together hold a quarter of the circle).

    Parameters
    ----------
    folder : Path
        The results folder; without the file every share is NaN.
    rows : DataFrame
        The rows of ``trials.csv``; only those of lkrf at d = 2 get a share.
    notes : list of str
        Takes up what is wrong with the file.
    """
    shares = pd.DataFrame(np.nan, index=rows.index, columns=SHARES)
    file = folder / KEPT
    if not file.exists():
        return shares
    try:
        kept = pd.read_csv(file)[list(COLUMNS)].astype("float64")
    except (OSError, ValueError, KeyError) as error:
        notes.append(f"{file} is left out: {' '.join(str(error).split())}")
        return shares
    w = kept[["w1", "w2"]].to_numpy()
    corners = np.minimum(np.linalg.norm(w - 1, axis=1), np.linalg.norm(w + 1, axis=1))
    b = np.mod(kept["b"].to_numpy(), np.pi)
    offsets = np.minimum(b, np.pi - b)
    near = pd.DataFrame(
        {
            "trial": kept["trial"],
            SHARES[0]: kept["weight"] * (corners <= CORNER_RADIUS),
            SHARES[1]: kept["weight"] * (offsets <= OFFSET_WIDTH),
            "weight": kept["weight"],
        }
    )
    total = near.groupby("trial").sum()
    here = (rows["sampler"] == "lkrf") & (rows["d"] == 2)
    for name in SHARES:
        share = total[name] / total["weight"]
        shares.loc[here, name] = rows.loc[here, "trial"].astype("float64").map(share)
    return shares
