"""Functions that compute the values for claims of Sinha and Duchi (2016).

The claims in this file cannot be expressed by a value of the key ``at`` in claims.yaml.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from rfbench.analysis.kept import mask_frequencies_near_corners, mask_offsets_near_multiples
from rfbench.analysis.paired import Curve, Pairing, Quantity, Values, compute_change_along_axis
from rfbench.results import kept_features

# Upper bound on the number of kept features. The paper keeps fewer than 250 features for 2 <= d <=
# 15: nnz(q) < 250 (section 4.1, footnote 1).
KEPT = 250


def reached(pairing: Pairing, curve: Curve, other: Curve | None) -> list[Quantity]:
    """Return 1 for each trial that keeps 250 features or more for at least one d, else 0.

    d is the number of columns of the data.
    """
    by_trial = _over_d(pairing, curve, other)
    values = np.asarray((by_trial >= KEPT).any(axis=1), dtype=np.float64)
    return [Quantity(values, joint=f"draws with {KEPT} or more", share=True, found=len(curve))]


def slope(pairing: Pairing, curve: Curve, other: Curve | None) -> list[Quantity]:
    """Return the slope of a metric as a function of d, one value per trial.

    d is the number of columns of the data.
    """
    by_trial = _over_d(pairing, curve, other)
    if by_trial.shape[1] < 2 or by_trial.empty:
        return []
    slopes: Values = np.polyfit(by_trial.columns.to_numpy(), by_trial.to_numpy().T, 1)[0]
    return [Quantity(slopes, joint="slope over d", found=by_trial.shape[1])]


def _over_d(pairing: Pairing, curve: Curve, other: Curve | None) -> pd.DataFrame:
    """Return a table of a metric with a line per trial and a column per d.

    d is the number of columns of the data. Only trials that ran every d are included. Each d has
    its own data, so trials of different d are matched without the hash of the data.
    """
    names = ["trial", "seed", "split", "n_train"]
    trials = pairing.trials.collection.trial_pair_keys[names].iloc[pairing.trials.pairs]
    table = pd.DataFrame(
        pairing.compute_steps(curve, other), index=pd.MultiIndex.from_frame(trials)
    )
    return table.groupby(names, sort=False).first().dropna()


def share_of_the_weight(pairing: Pairing, curve: Curve, other: Curve | None) -> list[Quantity]:
    """Return the share of the features' total weight that is near the locations in Figure 1a.

    The figure shows frequencies near (1, 1) and (-1, -1), and offsets near 0 and pi, for data with
    two columns.
    """
    near = {
        "kept_near_corners": mask_frequencies_near_corners,
        "kept_near_offsets": mask_offsets_near_multiples,
    }
    collection, groups = pairing.trials.collection, pairing.trials.facts["group"]
    shares: list[pd.Series[float]] = []
    for group in groups[curve.get(2, [])]:
        trials = collection.valid_rows.loc[collection.valid_rows["group"] == group, "trial_id"]
        kept = kept_features.read_frame(Path(collection.groups["folder"][group]), [])
        kept = kept[kept["trial_id"].isin(trials)]
        weights, by = kept["weight"], kept["trial_id"]
        inside = (weights * near[pairing.part.metric](kept)).groupby(by).sum()
        shares.append(inside / weights.groupby(by).sum())
    most = max(shares, key=len, default=pd.Series(dtype="float64"))
    return [Quantity(np.asarray(most, dtype=np.float64), 2)]


def plateau(pairing: Pairing, curve: Curve, other: Curve | None) -> list[Quantity]:
    """Return the change of a metric between the two largest sizes M that are large enough.

    A size M is large enough if the method selects at most M features in every trial of this size.
    """
    kept = {x: pairing.trials.tabulate_metric("kept")[:, columns] for x, columns in curve.items()}
    steps = [
        values
        for x, values in pairing.compute_steps(curve, other).items()
        if np.isfinite(kept[x]).any() and np.nanmax(kept[x]) <= x
    ]
    return compute_change_along_axis(steps[-2:], "change between the two largest M")


CLAIMS = {"L1": reached, "L2": slope, "L3": share_of_the_weight, "L7": plateau}
