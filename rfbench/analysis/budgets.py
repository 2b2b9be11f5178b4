"""Which method has the smallest error within a time."""

from __future__ import annotations

import pandas as pd

from rfbench.analysis.ranking import Comparison

SECONDS = (0.01, 0.1, 1.0, 10.0, 100.0)


def best_within(comparison: Comparison, seconds: tuple[float, ...] = SECONDS) -> pd.DataFrame:
    """Find the smallest mean error by data set among what took at most so many seconds in all.

    Time is drawing, features, fit and the prediction of the test rows, by `Comparison.clock`.
    Sizes whose times are charged with the work of other sizes do not take part, nor do data sets
    on which nothing is learnt.

    Returns
    -------
    DataFrame
        Columns ``dataset``, ``seconds`` (the budget), ``method``, ``M``, ``mean`` and ``time``; a
        budget that no method keeps has no line.
    """
    lines, clock = comparison.learnt.lines, f"{comparison.clock}_all"
    lines = lines[(lines["trials"] > 0) & (lines["own_cost"] == 1)].assign(time=lines[clock])
    found = []
    for budget in seconds:
        within = lines[lines["time"] <= budget].sort_values(["mean", "time"], kind="stable")
        found.append(within.drop_duplicates("dataset").assign(seconds=budget))
    columns = ["dataset", "seconds", "method", "M", "mean", "time"]
    return pd.concat(found)[columns].sort_values(["dataset", "seconds"], ignore_index=True)
