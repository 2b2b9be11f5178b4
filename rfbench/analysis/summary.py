"""From single trials to one line per method and setting: means, spreads, ranges."""

from __future__ import annotations

import numpy as np
import pandas as pd

from rfbench.analysis.frame import SUMS, follows
from rfbench.analysis.naming import canonical, names, order
from rfbench.errors import ResultsError, nearest
from rfbench.results import Results
from rfbench.results.schema import INTEGER, METRICS, SCHEMA

IDENTITY = [
    "dataset", "d", "protocol", "sampler", "label", "variant", "parameters", "kernel",
    "bandwidth_rule", "feature_map", "M", "solver", "selection", "alpha_convention", "intercept",
    "scaling", "split", "dtype", "timing", "threads", "setting",
]  # fmt: skip
DASH = "\N{EN DASH}"
DEFAULT_METRICS = ("error", "relative_squared_error", "kernel_error_spectral")
TIMES = ("t_pp", "t_features", "t_train", "t_test", "t_total")
RANGES = ("n_train", "n_test", "columns", "kept", "bandwidth")


def axis(results: Results) -> str:
    """Name what the experiment varies: ``'d'``, ``'M'``, or a swept setting.

    ``'variant'`` stands for settings that have no number of their own.
    """
    rows = results.rows
    if (rows.groupby("dataset")["d"].nunique() > 1).any():
        return "d"
    swept = rows.loc[rows["variant"] != "", "variant"].unique()
    if follows(results) or (len(swept) > 1 and rows["M"].nunique() <= 1):
        settings = [_setting(variant) for variant in swept]
        names = {name for name, _ in settings}
        numeric = all(value is not None for _, value in settings)
        return names.pop() if len(names) == 1 and numeric else "variant"
    return "M"


def _setting(variant: str) -> tuple[str, float | None]:
    """Read ``'solver.k=2'`` as ``('k', 2.0)``; the value is None where it is no number."""
    key, _, value = variant.partition("=")
    name = key.rpartition(".")[2].strip()
    try:
        return name, float(value)
    except ValueError:
        return name, None


def metrics(results: Results, metric: str | None = None) -> dict[str, str]:
    """Say for each data set which metric is shown.

    The given one; else the configuration's; else misclassification, relative squared error or
    kernel error, the first that has values.

    Raises
    ------
    ResultsError
        If the metric is not a known one.
    """
    wanted = metric or results.config.get("metric")
    if wanted and wanted not in METRICS:
        raise ResultsError(
            f"There is no metric '{wanted}'.",
            f"Known are {', '.join(METRICS)}.",
            f"Name one of them.{nearest(wanted, list(METRICS))}",
        )
    ok = results.rows[results.rows["status"] == "ok"]
    chosen = {}
    for dataset in sorted(results.rows["dataset"].unique()):
        filled = ok[ok["dataset"] == dataset].notna().any()
        default = next((name for name in DEFAULT_METRICS if filled[name]), DEFAULT_METRICS[0])
        chosen[str(dataset)] = wanted or default
    return chosen


def summarise(results: Results, metric: str | None = None) -> pd.DataFrame:
    """Aggregate the trials, one line per data set, method and value of what is varied.

    The metric is the one asked for; without it see `metrics`.

    Returns
    -------
    DataFrame
        Sorted by data set, method and ``x``. Columns: what the lines are grouped by (`IDENTITY`;
        ``M`` only where it does not follow another method's number of features); ``method``, the
        label, with whatever else is needed to tell two lines apart; ``x``; ``metric``; its
        ``mean``, standard deviation ``sd``, standard error ``se`` (NaN for a single trial);
        ``trials``, the number of values behind them, and ``failed``, the rows without one;
        smallest and largest M, columns, kept, bandwidth, n_train and n_test; mean and standard
        error of each time and of their sums (`rfbench.analysis.frame.SUMS`, seconds); the median
        scale-free penalty.
    """
    rows = results.rows.copy()
    if rows.empty:
        return pd.DataFrame()
    one_d = rows.groupby("dataset")["d"].transform("nunique") == 1
    rows["d"] = rows["d"].where(~one_d, rows.groupby("dataset")["d"].transform("max"))
    rows["parameters"] = rows["parameters"].map(canonical)
    for name, parts in SUMS.items():
        rows[name] = rows[list(parts)].sum(axis=1, min_count=1)
    identity = [name for name in IDENTITY if not (name == "M" and follows(results))]
    chosen, varied = metrics(results, metric), axis(results)
    rows = rows.sort_values("trial")
    groups = rows.groupby(identity, dropna=False, sort=False)
    table = groups.size().rename("rows").reset_index()
    table["metric"] = table["dataset"].map(chosen)
    table = table.join(_aggregates(rows, groups.ngroup(), chosen))
    table["failed"] = table.pop("rows") - table["trials"]
    table = table[[*identity, *_columns()]]
    whole = [name for name in identity if SCHEMA[name].kind == INTEGER]
    table[whole] = table[whole].astype("Int64")
    if varied in ("d", "M"):
        table["x"] = table[varied].astype("float64")
    else:
        table = _along_variants(table, varied)
    table["method"] = names(table, varied, identity)
    table["rank"] = list(map(order, table["sampler"], table["method"]))
    table = table.sort_values(["dataset", "rank", "x"], ignore_index=True)
    return table.drop(columns="rank")


def _along_variants(table: pd.DataFrame, varied: str) -> pd.DataFrame:
    """Add ``x``; a method that what is swept does not concern gets a line at each value."""
    if varied == "variant":
        table["x"] = table["variant"].replace("", DASH)
    else:
        table["x"] = [_setting(variant)[1] for variant in table["variant"]]
    own = table[table["variant"] != ""]
    if own.empty:
        return table
    others = table[table["variant"] == ""]
    return pd.concat([own, *(others.assign(x=x) for x in own["x"].unique())], ignore_index=True)


def _columns() -> list[str]:
    """Name what is said of every line, in its order."""
    ranges = [f"{name}_{end}" for name in ("M", *RANGES) for end in ("min", "max")]
    times = [name + end for name in dict.fromkeys((*TIMES, *SUMS)) for end in ("", "_se")]
    start = ["metric", "mean", "sd", "se", "trials", "failed"]
    return [*start, *ranges, *times, "alpha_scale_free"]


def _aggregates(rows: pd.DataFrame, line: pd.Series[int], chosen: dict[str, str]) -> pd.DataFrame:
    """Return the numbers of every line over the finite values of its rows that ended well."""
    ranges, times = ["M", *RANGES], list(dict.fromkeys((*TIMES, *SUMS)))
    values = rows[[*ranges, *times, "alpha_scale_free"]].astype("float64")
    values["value"] = np.nan
    for dataset, metric in chosen.items():
        here = rows["dataset"] == dataset
        values.loc[here, "value"] = rows.loc[here, metric].astype("float64")
    values = values.replace([np.inf, -np.inf], np.nan)
    values.loc[rows["status"] != "ok"] = np.nan
    of = values.groupby(line)
    mean, sd, count = of.mean(), of.std(ddof=1), of.count()
    se = sd / count**0.5
    table = pd.DataFrame(
        {"mean": mean["value"], "sd": sd["value"], "se": se["value"], "trials": count["value"]}
    )
    for name in ranges:
        table[f"{name}_min"], table[f"{name}_max"] = of[name].min(), of[name].max()
    for name in times:
        table[name], table[f"{name}_se"] = mean[name], se[name]
    table["alpha_scale_free"] = of["alpha_scale_free"].median()
    whole = [f"{n}_{end}" for n in ranges if SCHEMA[n].kind == INTEGER for end in ("min", "max")]
    return table.astype(dict.fromkeys(whole, "Int64"))
