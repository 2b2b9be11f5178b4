"""From single trials to one line a method and setting: means, spreads, checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from rfbench.errors import ResultsError, nearest
from rfbench.report import style
from rfbench.report.arms import SUMS
from rfbench.report.contention import busy_note
from rfbench.report.naming import canonical, names
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


@dataclass(frozen=True)
class Check:
    """A statement of a paper about a column, held against every ok row.

    Parameters
    ----------
    statement : str
        What is claimed, and where.
    rows : int
        Number of ok rows that have a value.
    low, high : float
        Smallest and largest value seen (NaN without rows).
    failing : int
        Number of rows that contradict the statement.
    failing_at : str
        Where they are, as ``d = 3, 4``; empty if the check does not say at each of what.
    """

    statement: str
    rows: int
    low: float
    high: float
    failing: int
    failing_at: str = ""

    @property
    def verdict(self) -> str:
        """``'holds'``, ``'fails'`` or ``'not run'``."""
        if not self.rows:
            return "not run"
        return "fails" if self.failing else "holds"

    def __str__(self) -> str:
        if not self.rows:
            return f"{self.statement}: not run, no ok row has a value."
        failing = f" in {self.failing} rows" if self.failing else ""
        at = f" at {self.failing_at}" if self.failing_at else ""
        seen = spread(self.low, self.high)
        return f"{self.statement}: {self.verdict}{failing}{at}; observed {seen}, {self.rows} rows."


def spread(low: float, high: float) -> str:
    """Write a range: ``120`` to ``214``, or one number where both ends are the same."""
    return f"{low:.6g}" if low == high else f"{low:.6g}{DASH}{high:.6g}"


def evaluate_checks(results: Results) -> list[Check]:
    """Hold the configuration's ``checks`` against the ok rows."""
    return [_check(results.rows, check) for check in results.config.get("checks") or []]


def _check(rows: pd.DataFrame, check: dict[str, Any]) -> Check:
    column, sampler, at = check["column"], check.get("sampler"), check.get("at_each")
    below, above = check.get("below"), check.get("above")
    for name in (column, at):
        if name is not None and name not in rows:
            raise ResultsError(
                f"The check on '{column}' cannot be evaluated.",
                f"trials.csv has no column '{name}'.",
                f"Correct 'checks' in the configuration.{nearest(name, list(rows.columns))}",
            )
    rows = rows[(rows["status"] == "ok") & rows[column].notna()]
    if sampler:
        rows = rows[(rows["sampler"] == sampler) | (rows["label"] == sampler)]
    values = rows[column].to_numpy(dtype=float)
    wrong = np.zeros(len(values), dtype=bool)
    limits = []
    if below is not None:
        wrong |= values >= below
        limits.append(f"below {below:g}")
    if above is not None:
        wrong |= values <= above
        limits.append(f"above {above:g}")
    of = f" of {sampler}" if sampler else ""
    each = ""
    if at:
        seen = rows[at]
        each = f" at each {at}"
        if len(seen):
            each += f" ({seen.nunique()} values, {seen.min()} to {seen.max()})"
    source = f" ({check['source']})" if check.get("source") else ""
    failing_at = ""
    if at and wrong.any():
        failing_at = f"{at} = " + ", ".join(map(str, sorted(rows.loc[wrong, at].unique())))
    return Check(
        f"{column}{of} {' and '.join(limits)}{each}{source}",
        len(values),
        float(values.min()) if len(values) else np.nan,
        float(values.max()) if len(values) else np.nan,
        int(wrong.sum()),
        failing_at,
    )


def follows(results: Results) -> bool:
    """Whether M follows another method's number of features and so varies from trial to trial."""
    return isinstance(results.config.get("M"), dict)


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
    """Aggregate the trials, one line a data set, method and value of what is varied.

    Parameters
    ----------
    results : Results
        As read from one folder.
    metric : str, optional
        The metric to summarise; see `metrics`.

    Returns
    -------
    DataFrame
        Sorted by data set, method and ``x``. Columns: what the lines are grouped by (`IDENTITY`;
        ``M`` only where it does not follow another method's number of features); ``method``, the
        label, with whatever else is needed to tell two lines apart; ``x``; ``metric``; its
        ``mean``, standard deviation ``sd``, standard error ``se`` (NaN for a single trial);
        ``trials``, the number of values behind them, and ``failed``, the rows without one;
        smallest and largest M, columns, kept, bandwidth, n_train and n_test; mean and standard
        error of each time and of their sums, see `rfbench.report.arms.SUMS` (seconds); the median
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
    lines = []
    for key, group in rows.sort_values("trial").groupby(identity, dropna=False, sort=False):
        line = dict(zip(identity, key, strict=True))
        lines.append(line | _line(group, chosen[str(line["dataset"])]))
    table = pd.DataFrame(lines)
    whole = [name for name in identity if SCHEMA[name].kind == INTEGER]
    table[whole] = table[whole].astype("Int64")
    if varied in ("d", "M"):
        table["x"] = table[varied].astype("float64")
    else:
        table = _along_variants(table, varied)
    table["method"] = names(table, varied, identity)
    table["rank"] = list(map(style.order, table["sampler"], table["method"]))
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


def _line(group: pd.DataFrame, metric: str) -> dict[str, Any]:
    ok = group[group["status"] == "ok"]
    mean, sd, se, trials = _moments(ok[metric])
    line: dict[str, Any] = {
        "metric": metric,
        "mean": mean,
        "sd": sd,
        "se": se,
        "trials": trials,
        "failed": len(group) - trials,
    }
    for name in ("M", *RANGES):
        line[f"{name}_min"], line[f"{name}_max"] = ok[name].min(), ok[name].max()
    for name in dict.fromkeys((*TIMES, *SUMS)):
        line[name], _, line[f"{name}_se"], _ = _moments(ok[name])
    line["alpha_scale_free"] = ok["alpha_scale_free"].median()
    return line


def _moments(values: pd.Series[Any]) -> tuple[float, float, float, int]:
    """Mean, standard deviation (n - 1), standard error and number of the finite values."""
    x = values.to_numpy(dtype=float, na_value=np.nan)
    x = x[np.isfinite(x)]
    n = len(x)
    sd = float(x.std(ddof=1)) if n > 1 else np.nan
    return float(x.mean()) if n else np.nan, sd, sd / np.sqrt(n) if n else np.nan, n


def warnings(results: Results) -> list[str]:
    """Say what a reader of the numbers must know: failures, rows that do not belong."""
    rows = results.rows
    said = busy_note(rows)
    failed = rows[rows["status"] != "ok"]
    for (label, status), group in failed.groupby(["label", "status"]):
        messages = group.loc[group["message"] != "", "message"].value_counts()
        why = f", most often: {messages.index[0]}" if len(messages) else ""
        said.append(f"{len(group)} trials of {label} did not end well ({status}{why}).")
    for dataset, metric in metrics(results).items():
        here = rows[(rows["status"] == "ok") & (rows["dataset"] == dataset)]
        if empty := int((~np.isfinite(here[metric])).sum()):
            said.append(f"{empty} trials on {dataset} ended well but have no finite {metric}.")
    same = [name for name in IDENTITY if not (name == "M" and follows(results))]
    again = rows.duplicated([*same, "trial"]).sum()
    if again:
        said.append(
            f"{again} rows repeat a trial number under another trial_id: they were run with "
            "settings that no column shows, and are averaged here with the others."
        )
    if rows["version"].nunique() > 1:
        said.append(f"The rows come from {rows['version'].nunique()} versions of rfbench.")
    paired = rows[rows["data_hash"] != ""].groupby(["dataset", "d", "n_train", "variant", "trial"])
    if (paired["data_hash"].nunique() > 1).any():
        said.append("Methods that share a trial number did not see the same data.")
    return said
