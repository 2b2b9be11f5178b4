"""What a run says first: which method, with how many features, at what cost, and how surely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from rfbench.analysis.frame import Collection
from rfbench.analysis.naming import shown_name
from rfbench.analysis.paired import Trials
from rfbench.analysis.summary import BASELINE, SMALLER_IS_BETTER, grouped
from rfbench.analysis.ties import interval
from rfbench.results import Results


@dataclass(frozen=True)
class Place:
    """A method at the size where its mean is best."""

    method: str
    M: int | None  # None where M follows another method
    mean: float
    standard_error: float  # of the mean; NaN for one trial
    seconds: float  # wall time of drawing, features and fit; NaN where it was not measured


@dataclass(frozen=True)
class FirstAnswer:
    """The best method on a data set, and the second best.

    Each stands at its best size, chosen on the same test rows, which is optimistic.
    """

    dataset: str
    metric: str
    best: Place
    plain: float  # the mean of plain features at the same M; NaN where they were not run
    second: Place | None
    # Whether the paired interval of the two excludes zero; None without two trials in common.
    apart: bool | None


def answers(collection: Collection, results: Results) -> list[FirstAnswer]:
    """Return the answer for each data set on which a trial ended well."""
    table = grouped(collection, results)
    if table.empty:
        return []
    table = table[table["trials"] > 0]
    return [_answer(collection, part) for _, part in table.groupby("dataset")]


def _answer(collection: Collection, part: pd.DataFrame) -> FirstAnswer:
    metric = str(part["metric"].iloc[0])
    ordered = part.sort_values("mean", ascending=metric not in SMALLER_IS_BETTER, kind="stable")
    first, *others = ordered.drop_duplicates("method").to_dict("records")
    second = others[0] if others else None
    same = part[(part["method"] == BASELINE) & (part["x"] == first["x"])]
    plain = float(same["mean"].iloc[0]) if len(same) and first["method"] != BASELINE else np.nan
    apart = None
    if second is not None:
        values = Trials(collection, [first["group"], second["group"]]).table(metric)
        low, high = interval(values[:, 0], values[:, 1])
        apart = None if np.isnan(low) else bool(low > 0 or high < 0)
    return FirstAnswer(
        shown_name(part),
        metric,
        _place(first),
        plain,
        _place(second) if second is not None else None,
        apart,
    )


def _place(line: dict[Any, Any]) -> Place:
    size = line.get("M")
    return Place(
        str(line["method"]),
        None if size is None or pd.isna(size) else int(size),
        float(line["mean"]),
        float(line["se"]),
        float(line["t_total"]) if pd.notna(line["t_total"]) else np.nan,
    )
