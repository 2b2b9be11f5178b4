"""Test rows apart from training: splits by subjects or blocks of time beside random ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from rfbench.analysis.chance import smaller_class
from rfbench.analysis.frame import Collection
from rfbench.analysis.statistics import ALPHA
from rfbench.results import Results

TOGETHER = ("leave_groups", "blocks")  # splits of which whole groups or blocks test
MAY_DIFFER = ("name", "title", "description", "split")
SAME = ["dataset", "protocol", "method", "solver", "variant", "d", "M"]
SIDES = ("random", "apart")
SHOWN = [name for side in (*SIDES, "difference") for name in (side, f"half_{side}")]
COLUMNS = [*SAME, "folder_random", "folder_apart", *SHOWN, "r2", "smaller_class"]


def keeps_together(results: Results) -> bool:
    """Whether whole groups or blocks of consecutive rows test."""
    split = results.config.get("split")
    return isinstance(split, dict) and not split.keys().isdisjoint(TOGETHER)


def side_by_side(collection: Collection) -> pd.DataFrame:
    """Hold results that differ in nothing but the split next to each other.

    Intervals are of 95 %, over new splits and draws of the same rows; that of the difference is
    Welch's.

    Returns
    -------
    DataFrame
        `COLUMNS`, one line per data set, method and M: `SAME`; ``folder_random`` and
        ``folder_apart``; ``random``, ``apart`` and ``difference`` (apart less random), mean errors
        in percent, each with ``half_`` the width of its interval; ``r2``, the mean R^2 apart,
        and ``smaller_class``, the percentage of test rows in the smaller of two classes.
    """
    pairs = list(_pairs(collection.experiments))
    if not pairs:
        return pd.DataFrame(columns=COLUMNS)
    counted = collection.counted.assign(smaller_class=smaller_class(collection.counted))
    by_group = counted.groupby("group")
    means = by_group[["r2", "smaller_class"]].mean()
    facts = by_group["error_percent"].agg(["mean", "std", "count"]).join(means)
    groups = collection.groups.join(facts, how="left")
    groups["variance"] = groups["std"] ** 2 / groups["count"]
    parts = []
    for folders in pairs:
        random, split_apart = (groups[groups["folder"] == folder] for folder in folders)
        parts.append(random.merge(split_apart, on=SAME, suffixes=("_random", "_apart")))
    table = pd.concat(parts, ignore_index=True)
    for side in SIDES:
        table[side] = table[f"mean_{side}"]
        freedom = table[f"count_{side}"] - 1
        table[f"half_{side}"] = _half(table[f"variance_{side}"], freedom)
    table["difference"] = table["apart"] - table["random"]
    variances, freedoms = ([table[f"{name}_{s}"] for s in SIDES] for name in ("variance", "count"))
    both = variances[0] + variances[1]
    each = sum(v**2 / (n - 1) for v, n in zip(variances, freedoms, strict=True))
    table["half_difference"] = _half(both, both**2 / each)
    names = {"r2_apart": "r2", "smaller_class_apart": "smaller_class"}
    return table.rename(columns=names)[COLUMNS]


def _half(variance: pd.Series[float], freedom: pd.Series[float]) -> pd.Series[float]:
    from scipy.special import stdtrit

    return pd.Series(stdtrit(freedom, 1 - ALPHA / 2) * np.sqrt(variance), variance.index)


def _pairs(every: Iterable[Results]) -> Iterator[tuple[str, str]]:
    """Yield the folders of random splits, each with that of the same split apart."""
    usable = [
        results
        for results in every
        if not results.smoke and isinstance(results.config.get("split"), dict)
    ]
    for split_apart in filter(keeps_together, usable):
        for random in usable:
            if not keeps_together(random) and _rest(random) == _rest(split_apart):
                yield random.path, split_apart.path


def _rest(results: Results) -> dict[str, object]:
    return {name: value for name, value in results.config.items() if name not in MAY_DIFFER}
