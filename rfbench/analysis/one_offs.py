"""What one claim alone needs, as a function named by the claim's id.

They are paired quantities that the language of `rfbench.papers.models.Part` has no word for: a part
says ``at: own``, and its bounds, metric and methods hold as for any other.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rfbench import papers
from rfbench.analysis.paired import Curve, OneOff, Pairing, Quantity, Values, at_equal_time
from rfbench.results import kept_features

KEPT = 250
CORNER_RADIUS = 0.75
OFFSET_WIDTH = np.pi / 8


def e3_own_fit(pairing: Pairing, mine: Curve, theirs: Curve | None) -> list[Quantity]:
    """Return the metric over the same method's ``t_fit``, at the largest size."""
    size = max(mine)
    values = pairing.table(pairing.part.metric) - pairing.table("t_fit")
    quotients = [values[:, column] for column in mine[size]]
    most = max(quotients, key=lambda one: int(np.isfinite(one).sum()))
    return [Quantity(most, size, joint=f"over t_fit, M = {size}")]


def e4_last(pairing: Pairing, mine: Curve, theirs: Curve | None) -> list[Quantity]:
    """Return the comparison at the largest time that both methods reached."""
    return at_equal_time(pairing, mine, theirs)[-1:]


def l1_reached(pairing: Pairing, mine: Curve, theirs: Curve | None) -> list[Quantity]:
    """Return, per draw, whether it keeps 250 features or more at any d: 0 or 1."""
    by_trial = _over_d(pairing, mine, theirs)
    reached = np.asarray((by_trial >= KEPT).any(axis=1), dtype=np.float64)
    return [Quantity(reached, joint=f"draws with {KEPT} or more", share=True, found=len(mine))]


def l2_slope(pairing: Pairing, mine: Curve, theirs: Curve | None) -> list[Quantity]:
    """Return the slope over d."""
    by_trial = _over_d(pairing, mine, theirs)
    if by_trial.shape[1] < 2 or by_trial.empty:
        return []
    slopes: Values = np.polyfit(by_trial.columns.to_numpy(), by_trial.to_numpy().T, 1)[0]
    return [Quantity(slopes, joint="slope over d", found=by_trial.shape[1])]


def _over_d(pairing: Pairing, mine: Curve, theirs: Curve | None) -> pd.DataFrame:
    """Return the values, a column per d, of trials run at every d; each d has data of its own."""
    names = ["trial", "seed", "split", "n_train"]
    trials = pairing.trials.collection.of_pairs(pairing.trials.pairs, names)
    table = pd.DataFrame(pairing.steps(mine, theirs), index=pd.MultiIndex.from_frame(trials))
    return table.groupby(names, sort=False).first().dropna()


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
    return _change(steps[-2:], "change between the two largest M")


def s1_marked(pairing: Pairing, mine: Curve, theirs: Curve | None) -> list[Quantity]:
    """Return the differences at the sizes that the paper marks, once all of them are there."""
    place = (pairing.paper, pairing.target, pairing.part.method, pairing.part.metric)
    marked = {
        one.size
        for one in papers.published()
        if one.mark and (one.paper, one.dataset, one.method, one.metric) == place
    }
    steps = pairing.steps(mine, theirs)
    return [Quantity(steps[x], x) for x in steps if x in marked and marked <= set(steps)]


def s3_growth(pairing: Pairing, mine: Curve, theirs: Curve | None) -> list[Quantity]:
    """Return the value at the largest size less that at the smallest."""
    steps = list(pairing.steps(mine, theirs).values())
    return _change(steps, "growth over M")


def _change(steps: list[Values], joint: str) -> list[Quantity]:
    if len(steps) < 2:
        return []
    return [Quantity(steps[-1] - steps[0], joint=joint, found=len(steps))]


def s4_mean(pairing: Pairing, mine: Curve, theirs: Curve | None) -> list[Quantity]:
    """Return the mean over the sizes."""
    steps = pairing.steps(mine, theirs)
    values: Values = np.mean(list(steps.values()), axis=0) if steps else np.array([])
    return [Quantity(values, joint="mean over M", found=len(steps))]


def t3_half(pairing: Pairing, mine: Curve, theirs: Curve | None) -> list[Quantity]:
    """Return the differences from the other method at twice the number of columns."""
    halved = {x // 2: columns for x, columns in (theirs or {}).items() if x % 2 == 0}
    steps = pairing.steps(mine, halved)
    return [Quantity(steps[x], x, 2 * x, found=len(steps)) for x in steps]


ONE_OFFS: dict[str, OneOff] = {
    "E3": e3_own_fit, "E4": e4_last, "L1": l1_reached, "L2": l2_slope, "L3": l3_share,
    "L7": l7_plateau, "S1": s1_marked, "S3": s3_growth, "S4": s4_mean, "T3": t3_half,
}  # fmt: skip
