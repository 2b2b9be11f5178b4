"""What was measured, as columns of plain lists: one line per group of trials."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from rfbench.analysis.faults import BUSY, wall_over_cpu
from rfbench.analysis.frame import Collection, floats
from rfbench.analysis.summary import axis, metrics, placed
from rfbench.figures.style import assign, in_plotly
from rfbench.pages.front import hardware
from rfbench.pages.html.verdicts import command
from rfbench.results import Results
from rfbench.results.schema import METRICS, SCHEMA

POINTS = 60_000  # values of single trials that a page holds
LABEL, MESSAGE, FAILURES = 200, 2_000, 300
SIZES = {"M": "features M", "columns": "columns that the solver sees"}
COSTS = {
    "t_total": "wall time: drawing, features, fit (s)",
    "cpu_total": "CPU time: drawing, features, fit (s)",
    "t_train": SCHEMA["t_train"].title,
    "t_test": SCHEMA["t_test"].title,
    "bytes": "memory of the training features (bytes: rows x columns x size of a number)",
    "peak_rss_mb": SCHEMA["peak_rss_mb"].title,
}
CODED = ("dataset", "parameters", "solver", "sampler", "method")
COUNTS = ("trials", "failed", "n_train", "n_test", "shared")


def cut(text: Any, most: int = LABEL) -> str:
    """Shorten a text of someone else's, and say that."""
    text = str(text)
    return text if len(text) <= most else f"{text[:most]} … ({len(text):,} characters)"


def rounded(values: Iterable[float], digits: int = 6) -> list[float | int | None]:
    """Return numbers with so many significant digits; None for NaN and infinity."""
    numbers = (float(f"{value:.{digits}g}") if np.isfinite(value) else None for value in values)
    return [int(x) if x is not None and x == int(x) and abs(x) < 1e15 else x for x in numbers]


def coded(texts: Iterable[Any]) -> dict[str, list[Any]]:
    """Return texts as the different ones and the place of each among them."""
    codes, every = pd.factorize(pd.Series(list(texts), dtype="object"))
    return {"texts": [cut(text) for text in every], "codes": codes.tolist()}


def facts(collection: Collection) -> dict[str, Any]:
    """Gather lines, single trials and experiments.

    Returns
    -------
    dict
        ``experiments``, a dictionary each; ``lines``, columns of equal length (texts are `coded`);
        ``metrics``, ``sd``: means and standard deviations by metric, without columns that are
        empty; ``titles``; ``points``: the values of single trials of a line's usual metric, at most
        `POINTS` in all, ``looks``, colour, symbol and dashes by method, as in the figures, and
        ``thinned``, how many there are if not all are shown.
    """
    groups, counted = collection.groups, collection.counted
    shown = [name for name in METRICS if name != "accuracy" and counted[name].notna().any()]
    if counted["error"].isna().all() and counted["accuracy"].notna().any():
        shown = ["accuracy", *shown]
    of = counted.groupby("group")
    spreads = of[shown].std(ddof=1).reindex(groups.index)
    float32 = counted["dtype"].isin(["float32", "tf32"]).groupby(counted["group"]).first()
    size = np.where(float32.reindex(groups.index).eq(True), 4, 8)
    titles = SIZES | COSTS | {name: METRICS[name] for name in shown}
    experiments: list[dict[str, Any]] = []
    parts = []
    usual: dict[tuple[str, str], str] = {}
    for results in collection.experiments:
        here = groups[groups["folder"] == results.path]
        usual |= {(results.path, k): v for k, v in metrics(results).items()}
        parts.append(placed(here.assign(group=here.index), results))
        experiments.append(_experiment(results))
    table = pd.concat(parts, ignore_index=True)
    of_line = table["group"].to_numpy(dtype=np.intp)
    index = {experiment["folder"]: n for n, experiment in enumerate(experiments)}
    means = {name: collection.means(name)[of_line] for name in (*SIZES, *COSTS, *shown)
             if name != "bytes"}  # fmt: skip
    means["bytes"] = floats(table["n_train"] * table["columns"]) * size[of_line]
    lines: dict[str, list[Any]] = {
        "x": [x if isinstance(x, str) else rounded([x])[0] for x in table["x"]],
        **{name: rounded(means[name]) for name in (*SIZES, *COSTS)},
        **{name: rounded(floats(table[name].astype("float64"))) for name in COUNTS},
    }
    keys = list(zip(groups["folder"], groups["dataset"], strict=True))
    wanted = [usual[key] if usual[key] in shown else shown[0] if shown else "" for key in keys]
    points, thinned = _points(collection, wanted)
    samplers = dict(zip(table["method"], table["sampler"], strict=True))
    return {
        "experiments": experiments,
        "looks": {cut(name): in_plotly(look) for name, look in assign(samplers).items()},
        "titles": titles,
        "sizes": list(SIZES),
        "costs": [name for name in COSTS if any(value is not None for value in lines[name])],
        "lines": lines
        | {"experiment": [index[folder] for folder in table["folder"]]}
        | {"usual": coded(wanted[group] for group in of_line)}
        | {name: coded(table[name]) for name in CODED},
        "metrics": {name: rounded(means[name]) for name in shown},
        "sd": {name: rounded(floats(spreads[name])[of_line]) for name in shown},
        "points": [points[group] for group in of_line],
        "thinned": thinned,
        "failures": _failures(collection, index),
    }


def _experiment(results: Results) -> dict[str, Any]:
    rows, config = results.rows, results.config
    busy = wall_over_cpu(rows)
    notes = [*results.notes]
    if busy > BUSY:
        notes.append(f"wall time is {busy:.2f} times CPU time: the machine was busy")
    if results.smoke:
        notes.append("a smoke run: its numbers mean nothing")
    return {
        "name": cut(results.name),
        "folder": results.path,
        "title": cut(config.get("title") or ""),
        "description": cut(config.get("description") or "", MESSAGE),
        "protocol": ", ".join(sorted(map(cut, rows["protocol"].unique()))),
        "paper": cut(config.get("paper") or ""),
        "axis": axis(results),
        "rows": len(rows),
        "failed": int((rows["status"] != "ok").sum()),
        "trials": int(rows["trial"].nunique()),
        "machine": ", ".join(map(cut, hardware(results))),
        "threads": ", ".join(map(str, sorted(rows["threads"].dropna().unique()))),
        "version": ", ".join(sorted(map(cut, rows["version"].unique()))),
        "written": cut(results.manifest.get("written") or ""),
        "command": command(results.name),
        "config": _config(config),
        "notes": [cut(note, MESSAGE) for note in notes],
    }


def _config(config: dict[str, Any]) -> str:
    import yaml

    if not config:
        return ""
    return cut(yaml.safe_dump(config, sort_keys=False, allow_unicode=True, width=100), 20_000)


def _points(collection: Collection, wanted: list[str]) -> tuple[list[list[Any]], int]:
    """Return values of single trials by line, spread evenly over the trials where all are many."""
    counted = collection.counted
    total = len(counted)
    # Every k-th trial of each line; a line has at least its first.
    step = max(1, -(-total // POINTS))
    kept: list[list[Any]] = [[] for _ in wanted]
    if not total:
        return kept, 0
    codes = counted["group"].to_numpy()
    nth = counted.groupby("group").cumcount().to_numpy()
    chosen = nth % step == 0
    for metric in set(wanted) - {""}:
        values = collection.values(metric)
        here = chosen & np.isin(codes, [n for n, name in enumerate(wanted) if name == metric])
        points = pd.Series(rounded(values[here], 5), dtype="object").groupby(codes[here])
        for code, part in points:
            kept[int(str(code))] = part.tolist()
    return kept, total if step > 1 else 0


def _failures(collection: Collection, index: dict[str, int]) -> dict[str, Any]:
    """Return the kinds of failure, the most frequent first."""
    bad = collection.rows[collection.rows["status"] != "ok"]
    by = ["folder", "dataset", "label", "M", "status", "message"]
    kinds = bad.groupby(by, dropna=False).size().rename("n").reset_index()
    kinds = kinds.sort_values("n", ascending=False, kind="stable")
    rows = [
        [
            index[kind["folder"]],
            *(cut(kind[name]) for name in ("dataset", "label")),
            None if pd.isna(kind["M"]) else int(kind["M"]),
            cut(kind["status"]),
            cut(kind["message"], MESSAGE),
            int(kind["n"]),
        ]
        for kind in kinds.head(FAILURES).to_dict("records")
    ]
    return {"kinds": len(kinds), "rows": len(bad), "shown": rows}
