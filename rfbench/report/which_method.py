"""The practitioner's page: which method, how many features, at what cost."""

from __future__ import annotations

import inspect
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from rfbench.analysis.ranking import (
    BASELINE,
    NEAR,
    Comparison,
    against,
    groups,
    smallest_near,
)
from rfbench.analysis.statistics import ALPHA, average_ranks, friedman, nemenyi_difference
from rfbench.pages.summary_table import score
from rfbench.report import costs
from rfbench.report.conclusions import conclusions, left_out, trials
from rfbench.report.costs import records
from rfbench.report.formats import Grid, markdown_table
from rfbench.report.in_short import answers
from rfbench.report.provenance import link
from rfbench.report.summary import DASH, spread
from rfbench.results.schema import METRICS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "# Which method, how many features, at what cost"
NOTHING = (
    "Nothing was run that could say so: it takes results of the protocol `tuned` that name no "
    f"paper and compare methods with `{BASELINE}`, such as those of `configs/tuned_all_*.yaml`."
)


def page(comparison: Comparison | None, out: Path) -> str:
    """Write the page.

    Parameters
    ----------
    comparison : Comparison or None
        See `rfbench.analysis.ranking.gather`.
    out : Path
        The folder of the page; `diagrams` puts the figures there.
    """
    if comparison is None:
        return f"{TITLE}\n\n{NOTHING}\n"
    methods = comparison.lines["method"].nunique()
    datasets = comparison.lines["dataset"].nunique()
    folders = ", ".join(link(folder, out) for folder in comparison.folders)
    blocks = [
        TITLE,
        f"{methods} methods on {datasets} data sets, all under one protocol (`tuned`), "
        f"which is ours and no paper's. Every number on this page is made from the rows of "
        f"{folders}. Errors are means over the trials ± the standard error of the mean. "
        f"{_conditions(comparison)}",
    ]
    short = answers(comparison).lines()
    blocks += ["## In short", "\n".join(short)] if short else []
    for M in comparison.sizes:
        blocks += _size(comparison, M)
    blocks += _features(comparison)
    blocks += costs.times(comparison)
    blocks += costs.equal_time(comparison)
    blocks += _limits()
    blocks += ["## The methods", markdown_table(_methods(comparison))]
    blocks += ["## The data sets", markdown_table(_datasets(comparison, out))]
    return "\n\n".join(blocks) + "\n"


def diagrams(comparison: Comparison, out: Path) -> list[Path]:
    """Draw the critical-difference diagram of each size that has one; the same rows, same bytes."""
    import matplotlib.style

    from rfbench import figures
    from rfbench.figures.style import settings

    files = []
    with matplotlib.style.context("default"), settings():
        for M in comparison.sizes:
            scores = comparison.complete(M).scores
            if _drawn(scores):
                files.append(out / _file(M))
                figures.save(_diagram(scores, f"Test error at M = {M}"), files[-1])
    return files


def _diagram(scores: pd.DataFrame, title: str) -> Figure:
    from rfbench.figures import critical_difference

    ranks, (n, k) = average_ranks(scores), scores.shape
    difference = nemenyi_difference(k, n)
    _, iman = friedman(scores)
    test = f"Friedman (Iman-Davenport) p = {iman.p:.3g}" if iman.p == iman.p else iman.note
    return critical_difference.diagram(
        {str(name): rank for name, rank in ranks.items()},
        difference,
        groups(ranks, difference),
        title,
        f"Average ranks over {n} data sets, Nemenyi at {ALPHA:g}; {test}.\n"
        "Rank 1: the smallest error. A bar joins ranks that do not differ significantly.",
    )


def _file(M: int) -> str:
    return f"which_method_M{M}.png"


def _drawn(scores: pd.DataFrame) -> bool:
    return scores.shape[0] > 1 and scores.shape[1] > 1


def _datasets(comparison: Comparison, out: Path) -> Grid:
    rows = []
    for dataset, part in comparison.lines.groupby("dataset"):
        done = part[part["trials"] > 0]
        number = spread(done["trials"].min(), done["trials"].max()) if len(done) else "0"
        cells = [
            METRICS[part["metric"].iloc[0]],
            *(_span(part, name) for name in ("n_train", "n_test")),
            _between(part["d"].min(), part["d"].max()),
            str(part["method"].nunique()),
            number,
            str(int(part["failed"].sum())),
            link(Path(part["folder"].iloc[0]), out),
        ]
        rows.append((str(dataset), cells))
    head = ["error is", "training rows", "test rows", "d", "methods", "trials a method and M",
            "trials that did not end well", "rows"]  # fmt: skip
    return Grid("data set", head, rows)


def _span(part: pd.DataFrame, name: str) -> str:
    return _between(part[f"{name}_min"].min(), part[f"{name}_max"].max())


def _between(low: float, high: float) -> str:
    return "" if pd.isna(low) else spread(float(low), float(high))


def _size(comparison: Comparison, M: int) -> list[str]:
    """Write the section of one number of features: conclusions, diagram, table."""
    ranked = comparison.complete(M)
    scores = ranked.scores
    blocks = [f"## M = {M}: which method"]
    said = conclusions(scores, BASELINE) + left_out(ranked, comparison.unlearnt)
    blocks.append("\n".join(f"- {sentence}" for sentence in said))
    if _drawn(scores):
        blocks.append(f"![average ranks at M = {M}]({_file(M)})")
    blocks += _against(scores)
    blocks.append(markdown_table(_errors(comparison, M, scores)))
    return blocks


def _errors(comparison: Comparison, M: int, scores: pd.DataFrame) -> Grid:
    """Lay out methods by data sets, the best average rank first, the others by name."""
    here = comparison.lines[comparison.lines["M"] == M]
    ranks = average_ranks(scores) if _drawn(scores) else pd.Series(dtype="float64")
    methods = [*map(str, ranks.index), *sorted(set(here["method"]) - set(ranks.index))]
    datasets = sorted(set(here["dataset"]))
    lines = {(line["dataset"], line["method"]): line for line in records(here)}
    usual = int(here["trials"].max())
    rows = [
        (
            method,
            [f"{ranks[method]:.1f}" if method in ranks else DASH]
            + [score(lines.get((dataset, method)), usual) or DASH for dataset in datasets],
        )
        for method in methods
    ]
    fewest = int(here.loc[here["trials"] > 0, "trials"].min()) if usual else 0
    return Grid(f"M = {M}, {trials(fewest, usual)}", ["average rank", *datasets], rows)


def _features(comparison: Comparison) -> list[str]:
    """Write the smallest sizes that come near the best error."""
    lines, unlearnt = comparison.learnt.lines, comparison.unlearnt
    found = {
        str(name): smallest_near(part)
        for name, part in lines.groupby("dataset")
        if part["trials"].any()
    }
    if not found:
        return []
    methods = list(dict.fromkeys(lines["method"]))
    reached = {m: sum(sizes.get(m) is not None for _, sizes in found.values()) for m in methods}
    rows = [
        (
            method,
            [f"{reached[method]} of {len(found)}"]
            + [str(sizes.get(method) or DASH) for _, sizes in found.values()],
        )
        for method in sorted(methods, key=lambda m: (-reached[m], m))
    ]
    return [
        "## How many features",
        "The smallest number of features, of those that were run "
        f"({', '.join(map(str, comparison.sizes))}), with which a method comes near the best mean "
        "error that any method reached at any size. Near is at most "
        f"{NEAR:.0%} above it, whatever the standard errors. {DASH}: no size that was run comes "
        "near. The best is picked on the test rows of these same trials, so it flatters."
        + (f" Without {', '.join(unlearnt)}, where nothing learns." if unlearnt else ""),
        markdown_table(Grid("method", ["comes near on", *found], rows)),
    ]


def _against(scores: pd.DataFrame) -> list[str]:
    """Write each method's error over that of the baseline, with the test."""
    table = against(scores, BASELINE)
    if table.empty:
        return []
    rows = []
    for method, line in zip(table.index, records(table), strict=True):
        quotient = f"{line['quotient']:.2f} ({line['low']:.2f}{DASH}{line['high']:.2f})"
        p = DASH if math.isnan(line["p"]) else f"{line['p']:.2g}"
        rows.append((str(method), [quotient, f"{line['smaller']} of {line['n']}", p]))
    head = ["quotient of errors (smallest, largest)", "smaller error on", "corrected p"]
    return [
        f"Error over that of `{BASELINE}`: the geometric mean over the data sets, the smallest and "
        "the largest quotient, and Wilcoxon's test of it.",
        markdown_table(Grid("method", head, rows)),
    ]


def _conditions(comparison: Comparison) -> str:
    """Say what was the same everywhere."""
    lines = comparison.lines
    names = {
        "kernel": "kernel", "bandwidth_rule": "bandwidth", "feature_map": "feature map",
        "solver": "solver", "selection": "penalty chosen by",
    }  # fmt: skip
    said = [f"{word} {', '.join(map(str, dict.fromkeys(lines[n])))}" for n, word in names.items()]
    return (
        f"All with {_span(lines, 'n_train')} training rows; {'; '.join(said)}; "
        f"M = {', '.join(map(str, comparison.sizes))}. Only the penalty of the solver is tuned: "
        "the parameters of the methods are those of the table at the end."
    )


def _limits() -> list[str]:
    """Say how far the results reach."""
    return [
        "## What this cannot say",
        "Other kernels, more rows, more features or other parameters may order the methods "
        "otherwise. The data sets are those at hand, no sample of anything: the tests speak of "
        "data sets like these. Trials of one data set draw their rows from the same data, so its "
        "standard errors are too small for new data. Holm's correction is over the methods at one "
        "size, not over the sizes.",
    ]


def _methods(comparison: Comparison) -> Grid:
    """Say what each method is and with which parameters it was run."""
    from rfbench.registry import SAMPLERS

    rows = []
    for method, part in comparison.lines.groupby("method", sort=False):
        known = SAMPLERS.get(str(part["sampler"].iloc[0]))
        summary = (inspect.getdoc(known) or "").split("\n\n")[0] if known else ""
        given = " or ".join(dict.fromkeys(part["given"]))
        words = re.sub(r":math:`([^`]*)`", r"\1", summary.replace("\n", " ")).replace("\\", "")
        rows.append((str(method), [words, given or DASH]))
    return Grid("method", ["what it is", "parameters"], rows)
