"""Distinct names of methods, and names of data sets, for tables and figures."""

from __future__ import annotations

import json
import re
from typing import Any

import pandas as pd

from rfbench.datasets import catalog
from rfbench.registry import SAMPLERS
from rfbench.results.schema import STRING


def parse_parameters(text: str) -> dict[str, Any]:
    """Return the parameters in a JSON object as a dictionary.

    The dictionary is empty if the text is not a JSON object.
    """
    try:
        parameters = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return parameters if isinstance(parameters, dict) else {}


def format_sorted_json(parameters: str) -> str:
    """Sort the keys of a JSON text, so that equal parameters have equal texts.

    A text that is not JSON is returned unchanged.
    """
    try:
        return json.dumps(json.loads(parameters), sort_keys=True)
    except (ValueError, RecursionError):
        return parameters


def make_method_names(table: pd.DataFrame, varied: str, settings: list[str]) -> list[str]:
    """Return a distinct name of the method for each line of a results table.

    The name is the label of the method, followed by the swept settings except the setting on the x
    axis. If two lines of a data set still share a name and a value of ``x``, the settings in which
    they differ are added to the names.

    Parameters
    ----------
    table : DataFrame
        One line per group of trials, with the columns dataset, label, variant, parameters, ``x``
        and the columns in `settings`.
    varied : str
        Name of the setting on the x axis.
    settings : list of str
        Names of the columns in which two lines may differ.
    """
    methods = table["label"].copy()
    if varied != "variant":
        terms = table["variant"].map(lambda variant: _terms(variant, varied))
        methods += terms.map(lambda term: f", {term}" if term else "")
    if not table[["dataset", "x"]].assign(method=methods).duplicated().any():
        return list(methods)
    each = [parse_parameters(text).items() for text in table["parameters"]]
    parameters = pd.DataFrame([{k: json.dumps(v) for k, v in pairs} for pairs in each], table.index)
    last = ["parameters", "setting"]
    columns = [name for name in settings if name not in ("dataset", "label", "variant", *last)]
    differ = pd.concat([table[columns], parameters, table[last]], axis=1).astype(STRING)
    for name, values in differ.items():
        clashes = pd.DataFrame({"dataset": table["dataset"], "x": table["x"], "method": methods})
        clash = clashes.duplicated(keep=False)
        if not clash.any():
            break
        kinds = clashes[clash].assign(value=values).groupby(list(clashes))["value"].nunique()
        within = methods.isin(set(kinds[kinds > 1].reset_index()["method"]))
        methods[within] += f", {name}=" + values[within]
    return list(methods)


def _terms(variant: str, varied: str) -> str:
    """Remove the setting on the x axis, `varied`, from a text of swept settings, `variant`.

    A key ``a.b`` is shortened to ``b`` if no other key has the same last part.
    """
    pairs = [term.strip().partition("=") for term in variant.split(",")]
    short = [key.rpartition(".")[2] for key, _, _ in pairs]
    return ", ".join(
        f"{last if short.count(last) == 1 else key}{sign}{value}"
        for (key, sign, value), last in zip(pairs, short, strict=True)
        if varied not in (key, last)
    )


def get_method_sort_key(sampler: str, method: str) -> tuple[int, str]:
    """Return a sort key for a method: the position of its sampler in the registry, then its name.

    A sampler that is not in the registry comes last.
    """
    samplers = list(SAMPLERS)
    return samplers.index(sampler) if sampler in samplers else len(samplers), get_natural_sort_key(
        method
    )


def get_natural_sort_key(name: str) -> str:
    """Return a sort key that orders names by their numbers, so that 5M precedes 10M."""
    return re.sub(r"\d+", lambda digits: digits[0].zfill(9), name)


def format_dataset_name(table: pd.DataFrame) -> str:
    """Return the name of a data set as shown in tables.

    The suffix ``[5000 rows]`` is removed if the data set has fewer rows.

    Parameters
    ----------
    table : DataFrame
        Lines of `rfbench.analysis.summary.summarize` for one data set.
    """
    name = str(table["dataset"].iloc[0])
    limit = re.search(r"\[(\d+) rows\]$", name)
    used = table["n_train_max"].max() + table["n_test_max"].max()
    if limit and not pd.isna(used) and used < int(limit[1]):
        return name[: limit.start()]
    return name


def format_dataset_title(table: pd.DataFrame) -> str:
    """Return the title of a data set in the catalog, or its name if it is not in the catalog.

    Parameters
    ----------
    table : DataFrame
        Lines of `rfbench.analysis.summary.summarize` for one data set.

    Returns
    -------
    str
        The title, followed by ``, 5,000 rows`` if the data set was cut to this number of rows.
    """
    name, _, cut = format_dataset_name(table).partition("[")
    entry = catalog.read_catalog().get(name)
    rows = re.fullmatch(r"(\d+) rows\]", cut)
    if not entry or (cut and not rows):
        return f"{name}[{cut}" if cut else name
    return f"{entry.title}, {int(rows[1]):,} rows" if rows else entry.title
