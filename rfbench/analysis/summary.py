"""Means, standard errors and ranges of results over trials, one line per method and setting."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rfbench.analysis import frame
from rfbench.analysis.frame import (
    IDENTITY,
    SUMS,
    Collection,
    has_trial_dependent_size,
    mask_times_of_other_machines,
    to_floats,
)
from rfbench.analysis.naming import get_method_sort_key, make_method_names
from rfbench.errors import ResultsError, suggest_nearest_name
from rfbench.results import Results
from rfbench.results.schema import INTEGER, METRICS, SCHEMA

BASELINE = "rks"
# Metrics for which larger values are better, each with the error that is shown in its place.
SMALLER_IS_BETTER = {"accuracy": "error", "r2": "relative_squared_error"}

DASH = "\N{EN DASH}"
DEFAULT_METRICS = ("error", "relative_squared_error", "kernel_error_spectral")
TIME_COLUMNS = ("t_pp", "t_features", "t_train", "t_test", "t_total")
RANGED_COLUMNS = ("n_train", "n_test", "columns", "kept", "bandwidth")


def find_x_axis(results: Results) -> str:
    """Return the name of the setting on the x axis: ``'d'``, ``'M'``, or a swept setting.

    ``'d'`` is the number of columns of the data, and ``'M'`` the number of features. The name is
    ``'variant'`` if several settings were swept, or if a swept value is not a number.
    """
    rows = results.rows
    if (rows.groupby("dataset")["d"].nunique() > 1).any():
        return "d"
    swept = rows.loc[rows["variant"] != "", "variant"].unique()
    if has_trial_dependent_size(results) or (len(swept) > 1 and rows["M"].nunique() <= 1):
        settings = [_setting(variant) for variant in swept]
        names = {name for name, _ in settings}
        numeric = all(value is not None for _, value in settings)
        return names.pop() if len(names) == 1 and numeric else "variant"
    return "M"


def _setting(variant: str) -> tuple[str, float | None]:
    """Parse the text of a swept setting, such as ``'solver.k=2'``, into ``('k', 2.0)``.

    The second entry is None if the value is not a number.
    """
    key, _, value = variant.partition("=")
    name = key.rpartition(".")[2].strip()
    try:
        return name, float(value)
    except ValueError:
        return name, None


def find_shown_metrics(results: Results, metric: str | None = None) -> dict[str, str]:
    """Return the metric that tables and figures show for each data set.

    The metric is the argument `metric`, or the metric of the configuration. If neither is given, it
    is the first of misclassification, relative squared error and kernel error that has values.

    Raises ResultsError if the metric is not known.
    """
    wanted = metric or results.config.get("metric")
    if wanted and wanted not in METRICS:
        raise ResultsError(
            f"Unknown metric '{wanted}'.",
            f"Known metrics: {', '.join(METRICS)}.",
            f"Name one of them.{suggest_nearest_name(wanted, list(METRICS))}",
        )
    datasets = sorted(results.rows["dataset"].unique())
    if wanted:
        return dict.fromkeys(datasets, wanted)
    ok = results.rows.loc[results.rows["status"] == "ok", ["dataset", *DEFAULT_METRICS]]
    filled = ok.groupby("dataset").count().reindex(datasets, fill_value=0) > 0
    return {str(name): str(metric) for name, metric in filled.idxmax(axis=1).items()}


def summarize(results: Results, metric: str | None = None) -> pd.DataFrame:
    """Return a table of means over trials, one line per data set, method and value on the x axis.

    Parameters
    ----------
    results : Results
        Rows of one results folder, from `rfbench.run` or `rfbench.read_results`.
    metric : str, optional
        Name of a metric of the rows, such as ``error``. By default the metric of the configuration,
        see `find_shown_metrics`.

    Returns
    -------
    DataFrame
        Sorted by data set, method and ``x``. Columns:

        - The columns of the groups (`rfbench.analysis.frame.IDENTITY`); ``M`` is left out if it is
          copied per trial from another method.
        - ``method``: the label of the method, followed by settings if two lines have the same
          label.
        - ``x``: the value on the x axis. ``metric``: the name of the metric, with its ``mean``,
          standard deviation ``sd`` and standard error ``se`` (NaN for a single trial).
        - ``trials``: number of trials with a value. ``failed``: number of trials without a value.
        - Smallest and largest value of the columns ``M``, ``columns``, ``kept``, ``bandwidth``,
          ``n_train`` and ``n_test``.
        - Mean and standard error, in seconds, of each time and of the sums of times
          (`rfbench.analysis.frame.SUMS`).
        - Median of the scale-free penalty.
    """
    return summarize_collection(frame.build_collection([results]), results, metric).drop(
        columns="group", errors="ignore"
    )


def summarize_collection(
    collection: Collection, results: Results, metric: str | None = None
) -> pd.DataFrame:
    """Return the table of `summarize` for results that are already loaded in `collection`.

    The additional column ``group`` has positions in `Collection.groups`.
    """
    if results.rows.empty:
        return pd.DataFrame()
    groups = collection.groups
    groups = groups[groups["folder"] == results.path]
    groups = groups.assign(metric=groups["dataset"].map(find_shown_metrics(results, metric)))
    integers = [name for name in IDENTITY if SCHEMA[name].kind == INTEGER]
    table = groups[[*IDENTITY, "metric"]].astype(dict.fromkeys(integers, "Int64"))
    table = pd.concat([table, _aggregates(collection, groups["metric"])], axis=1)
    table = table.assign(group=table.index)
    if has_trial_dependent_size(results):
        table = table.drop(columns="M")
    varied = find_x_axis(results)
    if varied in ("d", "M"):
        table = table.assign(x=table[varied].astype("float64"))
    else:
        table = _along_variants(table, varied)
    table["method"] = make_method_names(table, varied, [name for name in IDENTITY if name in table])
    table["rank"] = pd.Series(
        list(map(get_method_sort_key, table["sampler"], table["method"])), table.index
    )
    table = table.sort_values(["dataset", "rank", "x"], ignore_index=True)
    return table.drop(columns="rank")


def _along_variants(table: pd.DataFrame, varied: str) -> pd.DataFrame:
    """Add the column ``x`` with the value of the swept setting on the x axis.

    A method that was not swept gets one line for each value of ``x``.
    """
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
    """Return means, standard errors and ranges of results over the successful trials.

    The table has one line for each group of trials in `metric_of`, which maps groups to metrics.
    """
    rows = mask_times_of_other_machines(collection.rows, collection.groups)
    order = np.flatnonzero(rows["group"].isin(metric_of.index))
    # Sort the rows by the trial number. In a different order, sums would be rounded differently,
    # and equal results would have different means.
    order = order[np.argsort(to_floats(rows["trial"])[order], kind="stable")]
    ranges, times = ["M", *RANGED_COLUMNS], list(dict.fromkeys((*TIME_COLUMNS, *SUMS)))
    group = rows["group"].to_numpy()[order]
    ok = (rows["status"] == "ok").to_numpy()[order]
    own = metric_of[group].to_numpy()

    def finite(name: str) -> NDArray[np.float64]:
        values = to_floats(rows[name])[order]
        values[~(ok & np.isfinite(values))] = np.nan
        return values

    # Read one column at a time. Selecting all columns at once would copy the whole table of rows.
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
