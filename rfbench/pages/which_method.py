"""The practitioner's page: which method, how many features, at what cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from rfbench.analysis.choice import SizeTest, answers, cost, regret, size_tests
from rfbench.analysis.ranking import (
    BASELINE,
    NEAR,
    Comparison,
    at_equal_time,
    beside,
    by_folds,
    smallest_near,
    time_ratios,
)
from rfbench.analysis.statistics import ALPHA
from rfbench.pages.grids import Grid
from rfbench.pages.templates import render
from rfbench.pages.words import DASH, number, p_value, span
from rfbench.registry import SAMPLERS
from rfbench.results.schema import METRICS

CONDITIONS = {
    "kernel": "kernel",
    "bandwidth": "bandwidth_rule",
    "feature map": "feature_map",
    "solver": "solver",
    "penalty chosen by": "selection",
}


def page(
    comparison: Comparison | None, tests: list[SizeTest], out: Path, stale: Sequence[str] = ()
) -> str:
    """Write the page for a folder, from `rfbench.analysis.ranking.gather` and the tests of it.

    `stale` names experiments with stale rows, see `rfbench.analysis.frame.Collection`.
    """
    if comparison is None:
        return render("which_method.md.j2", comparison=None, baseline=BASELINE)
    lines = comparison.lines
    facts = answers(comparison, tests)
    return render(
        "which_method.md.j2",
        comparison=comparison,
        stale=[folder.name for folder in comparison.folders if folder.name in stale],
        baseline=BASELINE,
        alpha=ALPHA,
        near_share=NEAR,
        out=out,
        methods=_methods(lines),
        about={
            label: text
            for name, entry in SAMPLERS.entries.items()
            for label, text in ({name: entry.about} | dict(entry.labels)).items()
            if text
        },
        datasets=list(lines["dataset"].unique()),
        tests=tests,
        answers=facts,
        regret=regret(comparison, comparison.sizes[-1]),
        cost=cost(comparison, facts.best) if facts else None,
        predicting=cost(comparison, facts.best, "test") if facts else None,
        quotients=_quotients(comparison, tests),
        references=sorted(comparison.references["method"].unique())
        if len(comparison.references)
        else [],
        view=_view(comparison),
        others=[
            (_view(other), _quotients(other, size_tests(other))) for other in comparison.others
        ],
        ranks=_ranks(tests),
        figures=[test.M for test in tests if len(test.ranks)],
        left_out=_left_out(comparison),
        near=_near(comparison),
        times=_times(comparison),
        predictions=_predictions(comparison),
        shared=list(lines.loc[lines["own_cost"] == 0, "method"].unique()),
        equal_time=_equal_time(comparison),
        n_train=(lines["n_train_min"].min(), lines["n_train_max"].max()),
        conditions={word: list(lines[name].unique()) for word, name in CONDITIONS.items()},
        data=_data(comparison),
    )


def _methods(lines: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """Return the sampler and the parameters of each method."""
    return {
        str(name): (str(part["sampler"].iloc[0]), " or ".join(dict.fromkeys(part["given"])))
        for name, part in lines.groupby("method", sort=False)
    }


def _by_size(
    sizes: Sequence[int], tables: Sequence[pd.DataFrame], cell: Callable[[Any], str]
) -> Grid | None:
    """Lay out tables that are indexed by method, a column per size, in the order of the last."""
    names = dict.fromkeys(str(name) for table in reversed(tables) for name in table.index)
    rows = [
        [name, *(cell(table.loc[name]) if name in table.index else DASH for table in tables)]
        for name in names
    ]
    return Grid(["method", *(f"M = {M}" for M in sizes)], rows) if rows else None


def _quotients(comparison: Comparison, tests: Sequence[SizeTest]) -> Grid | None:
    grid = _by_size(comparison.sizes, [test.against for test in tests], _quotient)
    tables = [beside(comparison, M) for M in comparison.sizes]
    below = _by_size(comparison.sizes, tables, _reference)
    return Grid(grid.head, [*grid.rows, *below.rows]) if grid and below else grid


def _view(comparison: Comparison) -> dict[str, Any]:
    """Say what sets a comparison apart from others of the same methods."""
    lines = comparison.lines
    rules = list(lines["bandwidth_rule"].unique())
    return {
        "folds": any(map(by_folds, rules)),
        "rule": rules[0],
        "rows": (lines["n_train_min"].min(), lines["n_train_max"].max()),
        "datasets": lines["dataset"].nunique(),
        "methods": lines["method"].nunique(),
        "trials": (lines.loc[lines["trials"] > 0, "trials"].min(), lines["trials"].max()),
    }


def _reference(line: Any) -> str:
    return f"{number(line['ratio'], 2)} ({_range(line, 2)}; {line['n']:.0f})"


def _quotient(line: Any) -> str:
    star = "*" if line["p"] <= ALPHA else ""
    return f"{number(line['ratio'], 2)}{star} ({_range(line, 2)})"


def _range(line: Any, decimals: int) -> str:
    return f"{number(line['low'], decimals)}{DASH}{number(line['high'], decimals)}"


def _ranks(tests: Sequence[SizeTest]) -> Grid | None:
    tables = [test.ranks.to_frame("rank") for test in tests]
    sizes = [test.M for test in tests]
    grid = _by_size(sizes, tables, lambda line: number(line["rank"], 1))
    if grid is None:
        return None
    rows = [
        *grid.rows,
        ["critical difference", *(number(test.difference, 1) for test in tests)],
        ["Friedman's test, p", *(p_value(test.p) for test in tests)],
    ]
    return Grid(grid.head, rows)


def _left_out(comparison: Comparison) -> list[dict[str, Any]]:
    """Return what plays no part in the tests, each different thing once with its sizes."""
    groups: list[dict[str, Any]] = []
    for M in comparison.sizes:
        ranked = comparison.complete(M)
        facts = {"methods": ranked.methods, "gaps": ranked.gaps, "few": ranked.few}
        same = next((group for group in groups if group["facts"] == facts), None)
        if same is None:
            groups.append({"facts": facts, "sizes": [M]})
        else:
            same["sizes"].append(M)
    return groups


def _near(comparison: Comparison) -> Grid | None:
    lines = comparison.learnt.lines
    near = {
        str(name): smallest_near(part)[1]
        for name, part in lines.groupby("dataset")
        if part["trials"].any()
    }
    methods = list(lines["method"].unique())
    reached = {m: sum(sizes.get(m) is not None for sizes in near.values()) for m in methods}
    rows = [
        [m, f"{reached[m]} of {len(near)}", *(number(sizes.get(m)) for sizes in near.values())]
        for m in sorted(methods, key=lambda m: (-reached[m], m))
    ]
    return Grid(["method", "comes near on", *near], rows) if near else None


def _times(comparison: Comparison, time: str = "all") -> Grid | None:
    ratios = [time_ratios(comparison, M, time) for M in comparison.sizes]
    tables = [table.drop(BASELINE, errors="ignore") for table in ratios]
    return _by_size(comparison.sizes, tables, _time)


def _predictions(comparison: Comparison) -> Grid | None:
    grid, largest = _times(comparison, "test"), comparison.sizes[-1]
    if grid is None:
        return None
    each = comparison.prediction(largest)
    rows = [[*row, number(each.get(row[0], math.nan), 2)] for row in grid.rows]
    head = [*grid.head, f"ms per 1,000 rows, M = {largest}"]
    empty = [DASH] * len(comparison.sizes)
    return Grid(head, [[BASELINE, *empty, number(each.get(BASELINE, math.nan), 2)], *rows])


def _time(line: Any) -> str:
    bound = {">=": "≥ ", "<=": "≤ "}.get(line["bound"], "")
    return f"{bound}{line['ratio']:.2g} ({line['low']:.2g}{DASH}{line['high']:.2g})"


def _equal_time(comparison: Comparison) -> Grid | None:
    table = at_equal_time(comparison)
    sizes = sorted(table["M"].unique())
    tables = [table[table["M"] == M].set_index("method") for M in sizes]
    return _by_size(
        sizes, tables, lambda line: f"{line['better']} / {line['worse']} / {line['open']}"
    )


def _data(comparison: Comparison) -> Grid:
    rows = []
    for name, part in comparison.lines.groupby("dataset"):
        trials = part.loc[part["trials"] > 0, "trials"]
        rows.append(
            [
                str(name),
                METRICS[part["metric"].iloc[0]],
                span(part["n_test_min"].min(), part["n_test_max"].max()),
                span(part["d"].min(), part["d"].max()),
                str(part["method"].nunique()),
                span(trials.min(), trials.max()) if len(trials) else "0",
                str(part["failed"].sum()),
            ]
        )
    head = ["data set", "error is", "test rows", "columns", "methods", "trials", "failed trials"]
    return Grid(head, rows)
