"""What one claim alone needs, as a function named by the claim's id.

They are paired quantities that the language of `rfbench.papers.Part` has no word for: a part says
``at: own``, and its bounds, metric and methods hold as for any other.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rfbench.analysis.paired import Curve, OneOff, Pairing, Quantity, Values
from rfbench.results import kept_features


def l2_slope(pairing: Pairing, mine: Curve, theirs: Curve | None) -> list[Quantity]:
    """Return the slope over d, per trial that was run at every d; each d has data of its own."""
    names = ["trial", "seed", "split", "n_train"]
    trials = pairing.trials.collection.of_pairs(names).loc[pairing.trials.pairs]
    steps = pairing.steps(mine, theirs)
    if len(steps) < 2:
        return []
    table = pd.DataFrame(steps).set_axis(pd.MultiIndex.from_frame(trials))
    by_trial = table.groupby(names, sort=False).first().dropna()
    if by_trial.empty:
        return []
    slopes: Values = np.polyfit(list(steps), by_trial.to_numpy().T, 1)[0]
    return [Quantity(slopes, joint="slope", found=len(steps))]


def s3_growth(pairing: Pairing, mine: Curve, theirs: Curve | None) -> list[Quantity]:
    """Return the value at the largest size less that at the smallest."""
    steps = list(pairing.steps(mine, theirs).values())
    return (
        [Quantity(steps[-1] - steps[0], joint="growth", found=len(steps))] if len(steps) > 1 else []
    )


def l7_plateau(pairing: Pairing, mine: Curve, theirs: Curve | None) -> list[Quantity]:
    """Return the change between the two largest sizes that are above the number of kept features.

    That is the largest number in any trial of that size.
    """
    kept = {x: pairing.trials.table("kept")[:, columns] for x, columns in mine.items()}
    steps = [
        values
        for x, values in pairing.steps(mine, theirs).items()
        if np.isfinite(kept[x]).any() and np.nanmax(kept[x]) <= x
    ]
    return (
        [Quantity(steps[-1] - steps[-2], joint="plateau", found=len(steps))]
        if len(steps) > 1
        else []
    )


CORNER_RADIUS = 0.75
OFFSET_WIDTH = np.pi / 8


def l3_share(pairing: Pairing, mine: Curve, theirs: Curve | None) -> list[Quantity]:
    """Return what share of the weight lies where Figure 1a shows it, at d = 2.

    ``kept_near_corners`` is that of frequencies within 0.75 of (1, 1) or (-1, -1),
    ``kept_near_offsets`` that of offsets within pi/8 of 0 or pi, modulo 2 pi.
    """
    near = {"kept_near_corners": _near_corners, "kept_near_offsets": near_offsets}
    collection, groups = pairing.trials.collection, pairing.trials.facts["group"]
    found: list[pd.Series[float]] = []
    for group in groups[mine.get(2, [])]:
        trials = collection.counted.loc[collection.counted["group"] == group, "trial_id"]
        kept = kept_features.frame(Path(collection.groups["folder"][group]), [])
        kept = kept[kept["trial_id"].isin(trials)]
        weights, by = kept["weight"], kept["trial_id"]
        inside = (weights * near[pairing.part.metric](kept)).groupby(by).sum()
        found.append(inside / weights.groupby(by).sum())
    best = max(found, key=len, default=pd.Series(dtype="float64"))
    return [Quantity(np.asarray(best, dtype=np.float64), 2)]


def _near_corners(kept: pd.DataFrame) -> Any:
    w = kept[["w1", "w2"]].to_numpy(dtype=np.float64)
    distance = np.minimum(np.linalg.norm(w - 1, axis=1), np.linalg.norm(w + 1, axis=1))
    return distance <= CORNER_RADIUS


def near_offsets(kept: pd.DataFrame) -> Any:
    """Tell which offsets lie near a multiple of pi: an array of shape (n_kept,)."""
    b = np.mod(kept["b"].to_numpy(dtype=np.float64), np.pi)
    return np.minimum(b, np.pi - b) <= OFFSET_WIDTH


ONE_OFFS: dict[str, OneOff] = {
    "L2": l2_slope, "L3": l3_share, "L7": l7_plateau, "S3": s3_growth
}  # fmt: skip
