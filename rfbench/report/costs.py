"""What the methods cost, and how they stand against the baseline in the same time."""

from __future__ import annotations

from typing import Any

import pandas as pd

from rfbench.analysis.ranking import BASELINE, Comparison, at_equal_time, time_ratios
from rfbench.report.conclusions import count
from rfbench.report.formats import Grid, markdown_table
from rfbench.report.summary import DASH

CLOCKS = {"t_total": "wall time up to the fit", "cpu_total": "CPU time up to the fit"}
WHY_CPU = {
    "t_total": "",
    "cpu_total": " It is CPU and not wall time, because other work on the machine lengthens wall "
    "times, but not the CPU times of these runs on one thread.",
}


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as dictionaries."""
    return [{str(key): value for key, value in line.items()} for line in table.to_dict("records")]


def times(comparison: Comparison) -> list[str]:
    """Write the time of each method relative to that of the baseline."""
    tables = {M: time_ratios(comparison, M) for M in reversed(comparison.sizes)}
    rows = [
        (method, [_ratio(table, method) for table in tables.values()])
        for method in dict.fromkeys(str(name) for table in tables.values() for name in table.index)
    ]
    if not rows:
        return []
    blocks = [
        "## At what cost",
        f"The {CLOCKS[comparison.clock]} (drawing, features, fit with its whole grid of "
        f"penalties; not prediction) over that of `{BASELINE}` at the same number of features: "
        "the geometric mean over the data sets, the smallest and the largest "
        f"quotient.{WHY_CPU[comparison.clock]}",
    ]
    shared = comparison.lines[comparison.lines["own_cost"] == 0]
    if len(shared):
        names = ", ".join(dict.fromkeys(shared["method"]))
        blocks[-1] += (
            f" At M = {', '.join(map(str, sorted(set(shared['M']))))} the times of {names} are "
            "upper bounds: those methods share the work of their sizes, and each size is charged "
            f"with all of it. A quotient by one of them is a bound (≥ or ≤), and {DASH} stands "
            "where both are."
        )
    return [*blocks, markdown_table(Grid("method", [f"M = {M}" for M in tables], rows))]


def _ratio(table: pd.DataFrame, method: str) -> str:
    if method not in table.index or method == BASELINE:
        return "1" if method == BASELINE else DASH
    line = records(table.loc[[method]])[0]
    bound = {">=": "≥ ", "<=": "≤ "}.get(line["bound"], "")
    span = f"{line['low']:.2g}{DASH}{line['high']:.2g}"
    return f"{bound}{line['ratio']:.2g} ({span}, {count(line['datasets'], 'data set')})"


def equal_time(comparison: Comparison) -> list[str]:
    """Write how each method stands against the baseline in the same time."""
    table = at_equal_time(comparison)
    if table.empty:
        return [
            "Errors in the same time are not compared: on no data set where anything is learnt do "
            f"two sizes of `{BASELINE}` have times of their own, to interpolate between."
        ]
    rows = [
        (line["method"], [str(line[name]) for name in ("M", "better", "worse", "open")])
        for line in records(table.sort_values(["M", "better", "method"], kind="stable"))
    ]
    head = ["M", "smaller error on", "larger error on", "open on"]
    return [
        "## In the same time",
        f"On how many data sets the mean error of a method is smaller or larger than that of "
        f"`{BASELINE}` in the same {CLOCKS[comparison.clock]}. Between two of its sizes its error "
        "is interpolated over the logarithm of time; outside the times at which it was run, a "
        "method is better only if it is both faster and more accurate, worse only if both slower "
        "and less accurate, and else open: more features for the baseline might have been the "
        "better use of the time. Times that are upper bounds play no part, nor do data sets on "
        f"which fewer than two sizes of `{BASELINE}` have others. These are counts, not tests.",
        markdown_table(Grid("method", head, rows)),
    ]
