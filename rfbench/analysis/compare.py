"""Comparison of two methods of one results folder, paired by trial."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

from rfbench.analysis import frame
from rfbench.analysis.paired import Trials, is_time_metric
from rfbench.analysis.statistics import ALPHA, holm_correction, paired_t_test
from rfbench.analysis.summary import find_shown_metrics
from rfbench.errors import ResultsError, make_unknown_error
from rfbench.registry import find_internal_name
from rfbench.results import Results

COMPARISON_KEYS = ["dataset", "protocol", "d", "M"]
COMPARISON_COLUMNS = [
    *COMPARISON_KEYS, "variant", "metric", "mean_first", "mean_second", "difference", "low", "high",
    "trials", "p", "p_holm", "note",
]  # fmt: skip
MAX_TABLE_LINES = 60  # maximum number of printed lines, the same as in pandas


class Comparison(pd.DataFrame):
    """Table that `compare` returns.

    If the table is printed, empty columns and the columns ``p_holm`` and ``note`` are left out.
    """

    @property
    def _constructor(self) -> type[Comparison]:
        return Comparison

    def __repr__(self) -> str:
        if list(self.columns) != COMPARISON_COLUMNS:
            return super().__repr__()
        told = [name for name in COMPARISON_COLUMNS if name not in ("p_holm", "note")]
        varying = [name for name in told if not self[name].isin([None, ""]).all()]
        shown = pd.DataFrame(self)[varying].dropna(axis="columns", how="all")
        return shown.to_string(index=False, float_format="{:.4g}".format, max_rows=MAX_TABLE_LINES)


def compare(
    results: Results, first: str, second: str, metric: str | None = None, *, alpha: float = ALPHA
) -> Comparison:
    """Compare two methods on their common trials.

    Parameters
    ----------
    results : Results
        Rows of one results folder, from `rfbench.run` or `rfbench.read_results`.
    first, second : str
        Labels of two methods.
    metric : str, optional
        A metric in the rows, or a sum of times (``t_drawing``, ``t_fit``, ``t_total`` or
        ``t_all``). Times are in CPU seconds, or in wall seconds if CPU time was not measured. The
        default is the metric of the configuration, see
        `rfbench.analysis.summary.find_shown_metrics`.
    alpha : float
        One minus the coverage of the confidence interval.

    Returns
    -------
    Comparison
        A DataFrame with one line per data set, number of features and swept setting that both
        methods have. ``mean_first``, ``mean_second`` and ``difference`` (first minus second) are
        means over the common trials. ``low`` and ``high`` are the ends of the interval of the
        difference. ``trials`` is the number of common trials. ``p`` is the two-sided p-value of the
        paired t-test (see `rfbench.analysis.statistics.paired_t_test`), ``p_holm`` is this p-value
        after Holm's correction over all lines, and ``note`` explains an undefined test. Times are
        compared only if both methods ran on the same machine.

    Raises
    ------
    ResultsError
        If a method or the metric does not exist, or the two methods have no trial in common.
    """
    collection = frame.build_collection([results])
    lines = collection.groups
    known = {*lines["method"], *lines["alias"]}
    first, second = (
        name if name in known else find_internal_name(name) for name in (first, second)
    )
    for name in (first, second):
        if name not in known:
            raise make_unknown_error("method", name, dict.fromkeys(lines["method"]), ResultsError)
    timed = metric is not None and metric in frame.SUMS and is_time_metric(metric)
    shown = {} if timed else find_shown_metrics(results, metric)
    compared = []
    for key, here in lines.groupby(COMPARISON_KEYS, dropna=False):
        trials = Trials(collection, here.index)
        wanted = str(metric) if timed else shown[str(key[0])]
        table, variants = trials.tabulate_metric(wanted), list(here["variant"])
        machines = trials.facts["machine"]
        for a, b in itertools.product(trials.find_columns(first), trials.find_columns(second)):
            swept = {variants[a], variants[b]} - {""}
            if timed and machines[a] != machines[b]:
                continue  # times that were measured on different machines are not compared
            if len(swept) < 2 and np.isfinite(table[:, a] - table[:, b]).any():
                test, both = paired_t_test(table[:, a], table[:, b]), table[:, [a, b]]
                means = both[np.isfinite(both).all(axis=1)].mean(axis=0)
                line = (
                    *means,
                    test.effect,
                    *test.compute_confidence_interval(1 - alpha),
                    test.n,
                    test.p,
                    test.note,
                )
                compared.append([*key, *(swept or [""]), wanted, *line])
    if not compared:
        raise ResultsError(
            f"{first} and {second} have no trial in common.",
            "Methods are compared on trials with the same data set, size and split.",
        )
    lined_up = Comparison(
        compared, columns=[name for name in COMPARISON_COLUMNS if name != "p_holm"]
    )
    lined_up["p_holm"] = holm_correction(lined_up["p"])
    return Comparison(lined_up[COMPARISON_COLUMNS].astype({"d": "Int64", "M": "Int64"}))
