"""Summaries of trials, one line per method and setting: means, spreads, ranges."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rfbench.analysis import frame
from rfbench.analysis.frame import (
    IDENTITY,
    SUMS,
    Collection,
    drop_other_machines,
    follows_other_size,
    to_floats,
)
from rfbench.analysis.naming import get_sort_key, name_methods
from rfbench.errors import ResultsError, suggest_nearest
from rfbench.results import Results
from rfbench.results.schema import INTEGER, METRICS, SCHEMA

BASELINE = "rks"
# The error that corresponds to each metric for which larger values are better.
SMALLER_IS_BETTER = {"accuracy": "error", "r2": "relative_squared_error"}

DASH = "\N{EN DASH}"
DEFAULT_METRICS = ("error", "relative_squared_error", "kernel_error_spectral")
TIME_COLUMNS = ("t_pp", "t_features", "t_train", "t_test", "t_total")
RANGED_COLUMNS = ("n_train", "n_test", "columns", "kept", "bandwidth")


def find_axis(results: Results) -> str:
    """Return the name of the setting that varies: ``'d'``, ``'M'``, or a swept setting.

    The name is ``'variant'`` for settings without a number.
    """
    rows = results.rows
    if (rows.groupby("dataset")["d"].nunique() > 1).any():
        return "d"
    swept = rows.loc[rows["variant"] != "", "variant"].unique()
    if follows_other_size(results) or (len(swept) > 1 and rows["M"].nunique() <= 1):
        settings = [_setting(variant) for variant in swept]
        names = {name for name, _ in settings}
        numeric = all(value is not None for _, value in settings)
        return names.pop() if len(names) == 1 and numeric else "variant"
    return "M"


def _setting(variant: str) -> tuple[str, float | None]:
    """Parse ``'solver.k=2'`` as ``('k', 2.0)``; the value is None if it is not a number."""
    key, _, value = variant.partition("=")
    name = key.rpartition(".")[2].strip()
    try:
        return name, float(value)
    except ValueError:
        return name, None


def find_metrics(results: Results, metric: str | None = None) -> dict[str, str]:
    """Return the metric to show for each data set.

    The metric is the given one, else the metric of the configuration. Otherwise it is the first of
    misclassification, relative squared error and kernel error that has values.

    Raises ResultsError if the metric is not known.
    """
    wanted = metric or results.config.get("metric")
    if wanted and wanted not in METRICS:
        raise ResultsError(
            f"Unknown metric '{wanted}'.",
            f"Known metrics: {', '.join(METRICS)}.",
            f"Name one of them.{suggest_nearest(wanted, list(METRICS))}",
        )
    datasets = sorted(results.rows["dataset"].unique())
    if wanted:
        return dict.fromkeys(datasets, wanted)
    ok = results.rows.loc[results.rows["status"] == "ok", ["dataset", *DEFAULT_METRICS]]
    filled = ok.groupby("dataset").count().reindex(datasets, fill_value=0) > 0
    return {str(name): str(metric) for name, metric in filled.idxmax(axis=1).items()}


def summarise(results: Results, metric: str | None = None) -> pd.DataFrame:
    """Aggregate the trials, one line per data set, method and value of the varied setting.

    Parameters
    ----------
    results : Results
        The rows of one results folder, as `rfbench.run` and `rfbench.read_results` return them.
    metric : str, optional
        Name of a metric of the rows, such as ``error``. By default the metric of the configuration,
        see `find_metrics`.

    Returns
    -------
    DataFrame
        Sorted by data set, method and ``x``. Columns:

        - The columns of the groups (`rfbench.analysis.frame.IDENTITY`); ``M`` only if it does not
          follow another method's number of features.
        - ``method``: the label, with the settings that distinguish two lines.
        - ``x``, ``metric``, its ``mean``, standard deviation ``sd`` and standard error ``se`` (NaN
          for a single trial).
        - ``trials``: number of values, and ``failed``: number of rows without a value.
        - Smallest and largest M, columns, kept, bandwidth, n_train and n_test.
        - Mean and standard error of each time and of their sums (`rfbench.analysis.frame.SUMS`,
          seconds).
        - Median of the scale-free penalty.
    """
    return summarise_collection(frame.build_collection([results]), results, metric).drop(
        columns="group", errors="ignore"
    )


def summarise_collection(
    collection: Collection, results: Results, metric: str | None = None
) -> pd.DataFrame:
    """Return `summarise` for results in a collection; ``group`` is a line of its `groups`."""
    if results.rows.empty:
        return pd.DataFrame()
    groups = collection.groups
    groups = groups[groups["folder"] == results.path]
    groups = groups.assign(metric=groups["dataset"].map(find_metrics(results, metric)))
    integers = [name for name in IDENTITY if SCHEMA[name].kind == INTEGER]
    table = groups[[*IDENTITY, "metric"]].astype(dict.fromkeys(integers, "Int64"))
    table = pd.concat([table, _aggregates(collection, groups["metric"])], axis=1)
    table = table.assign(group=table.index)
    if follows_other_size(results):
        table = table.drop(columns="M")
    varied = find_axis(results)
    if varied in ("d", "M"):
        table = table.assign(x=table[varied].astype("float64"))
    else:
        table = _along_variants(table, varied)
    table["method"] = name_methods(table, varied, [name for name in IDENTITY if name in table])
    table["rank"] = pd.Series(
        list(map(get_sort_key, table["sampler"], table["method"])), table.index
    )
    table = table.sort_values(["dataset", "rank", "x"], ignore_index=True)
    return table.drop(columns="rank")


def _along_variants(table: pd.DataFrame, varied: str) -> pd.DataFrame:
    """Add ``x``; a method without the swept setting gets a line at each value."""
    values = table["variant"]
    if varied == "variant":
        table = table.assign(x=values.replace("", DASH))
    else:
        table = table.assign(x=pd.Series([_setting(text)[1] for text in values], values.index))
    own = table[table["variant"] != ""]
    if own.empty:
        return table
    others = table[table["variant"] == ""]
    return pd.concat([own, *(others.assign(x=x) for x in own["x"].unique())], ignore_index=True)


def _aggregates(collection: Collection, metric_of: pd.Series[str]) -> pd.DataFrame:
    """Return statistics of groups over the finite values of successful rows."""
    rows = drop_other_machines(collection.rows, collection.groups)
    order = np.flatnonzero(rows["group"].isin(metric_of.index))
    # Sorted by trial: in any other order, sums would be rounded differently.
    order = order[np.argsort(to_floats(rows["trial"])[order], kind="stable")]
    ranges, times = ["M", *RANGED_COLUMNS], list(dict.fromkeys((*TIME_COLUMNS, *SUMS)))
    group = rows["group"].to_numpy()[order]
    ok = (rows["status"] == "ok").to_numpy()[order]
    own = metric_of[group].to_numpy()

    def finite(name: str) -> NDArray[np.float64]:
        values = to_floats(rows[name])[order]
        values[~(ok & np.isfinite(values))] = np.nan
        return values

    # One column at a time, so that rows are not copied as a whole.
    needed = dict.fromkeys([*ranges, *times, "alpha_scale_free"])
    columns = {name: finite(name) for name in needed}
    columns["value"] = np.full(len(order), np.nan)
    for metric in metric_of.unique():
        np.copyto(columns["value"], finite(metric), where=own == metric)
    of = pd.DataFrame(columns, copy=False).groupby(group)
    mean, sd, count = of.mean(), of.std(ddof=1), of.count()
    se = sd / count**0.5
    integers = dict.fromkeys((name for name in ranges if SCHEMA[name].kind == INTEGER), "Int64")
    low, high = of[ranges].min().astype(integers), of[ranges].max().astype(integers)
    table = {"mean": mean["value"], "sd": sd["value"], "se": se["value"], "trials": count["value"]}
    table["failed"] = of.size() - table["trials"]
    for name in ranges:
        table |= {f"{name}_min": low[name], f"{name}_max": high[name]}
    for name in times:
        table |= {name: mean[name], f"{name}_se": se[name]}
    table["alpha_scale_free"] = of["alpha_scale_free"].median()
    return pd.DataFrame(table)
