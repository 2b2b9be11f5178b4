"""What the papers' own methods gain over the ones they are held against, published and measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rfbench import datasets, papers
from rfbench.analysis.verdicts import LEARNT
from rfbench.papers import PROTOCOLS, Published
from rfbench.report.arms import Arm
from rfbench.report.claims import nothing_learnt
from rfbench.report.evidence import Evidence, of_method, split_name
from rfbench.report.formats import Grid, markdown_table
from rfbench.report.provenance import links
from rfbench.report.summary import DASH
from rfbench.report.verify import stand_in_name

SAID = (
    "By how many points a method has the smaller error, as the mean over the sizes of the table, ± "
    "the standard error over our trials: what the paper prints, and what comes out under each "
    "protocol. A gain that is there `as-run` and not under `tuned` was one of the choices, not of "
    "the features."
)
DOUBTFUL = (
    "*Chance*: neither method does better than always saying the larger class; *nothing learnt*: "
    f"the mean R^2 of both stays below {LEARNT:g}. Such a gain says nothing about the methods."
)
CHANCE_POINTS = 1.0


def section(evidence: Evidence, out: Path) -> str:
    """Write the table of gains in Markdown; empty if nothing was measured.

    Parameters
    ----------
    evidence : Evidence
    out : Path
        The folder of the page, for its links.
    """
    rows = []
    for (paper, item), layout in papers.tables().items():
        for dataset in dict.fromkeys(n.dataset for n in _numbers(paper, item)):
            for method, other in layout.gains:
                rows += _rows(evidence, paper, item, dataset, method, other, out)
    if not rows:
        return ""
    head = ["method", "M", "published", *PROTOCOLS, "trials", "rows"]
    grid = Grid("table, data set", head, rows)
    notes = [layout.gains_note for layout in papers.tables().values() if layout.gains_note]
    said = " ".join([SAID, *notes, DOUBTFUL])
    return "\n\n".join(["## What the papers' methods gain", said, markdown_table(grid)])


def _numbers(paper: str, item: str) -> list[Published]:
    return [n for n in papers.published() if (n.paper, n.item, n.unit) == (paper, item, "%")]


def _rows(
    evidence: Evidence, paper: str, item: str, dataset: str, method: str, other: str, out: Path
) -> list[tuple[str, list[str]]]:
    """Return the row of a data set, or one for each stand-in that was measured in its place."""
    numbers = [n for n in _numbers(paper, item) if n.dataset == dataset and n.size is not None]
    sizes = sorted({n.size for n in numbers if n.method == other and n.size is not None})
    published = [_better(numbers, method, size) - _better(numbers, other, size) for size in sizes]
    theirs = "" if any(map(math.isnan, published)) else f"{np.mean(published):+.2f}"
    rows = []
    for name, by_protocol in _measured(evidence, paper, item, dataset).items():
        both = {
            p: (of_method(arms, method), of_method(arms, other)) for p, arms in by_protocol.items()
        }
        gains = {protocol: gain(*pair, sizes) for protocol, pair in both.items()}
        found = {protocol: values for protocol, values in gains.items() if len(values)}
        if not found:
            continue
        counts = sorted({len(values) for values in found.values()})
        cells = [
            f"{method} over {other}",
            f"{sizes[0]}{DASH}{sizes[-1]}" if len(sizes) > 1 else str(sizes[0]),
            theirs or DASH,
            *(_mean(found.get(p)) + _doubt(both.get(p, ([], []))) for p in PROTOCOLS),
            DASH.join(map(str, dict.fromkeys([counts[0], counts[-1]]))),
            links([arm.folder for p in found for arm in by_protocol[p]], out),
        ]
        rows.append((f"{paper} {item}, {name}", cells))
    return rows


def _better(numbers: Sequence[Published], method: str, size: int) -> float:
    """Return the accuracy of a method, or the error with its sign turned; NaN without one."""
    for number in numbers:
        if (number.method, number.size) == (method, size):
            if number.metric == "accuracy":
                return number.value
            if number.metric == "error":
                return -number.value
    return math.nan


def _measured(
    evidence: Evidence, paper: str, item: str, dataset: str
) -> dict[str, dict[str, list[Arm]]]:
    """Sort the arms by the name to show, the paper's or that of a stand-in, and by protocol."""
    found: dict[str, dict[str, list[Arm]]] = {}
    for protocol in PROTOCOLS:
        for stand_in in (False, True):
            for arm in evidence.select(paper, [item], dataset, protocol, stand_in):
                name = f"{dataset} (stand-in {stand_in_name(arm)})" if stand_in else dataset
                found.setdefault(name, {}).setdefault(protocol, []).append(arm)
    return found


def gain(mine: Sequence[Arm], theirs: Sequence[Arm], sizes: Sequence[int]) -> list[float]:
    """Return, a trial each, the mean over the sizes of the other's error less the method's.

    Parameters
    ----------
    mine, theirs : sequence of Arm
        The two methods at any sizes.
    sizes : sequence of int
        The sizes that count; a trial that lacks one of them is left out.
    """
    steps = []
    for size in sizes:
        a, b = (_errors(arms, size) for arms in (mine, theirs))
        steps.append({key: b[key] - a[key] for key in a if key in b})
    common = [key for key in steps[0] if all(key in step for step in steps)] if steps else []
    return [float(np.mean([step[key] for step in steps])) for key in common]


def _errors(arms: Sequence[Arm], size: int) -> dict[tuple[object, ...], float]:
    """Return the errors by trial at a size, of the experiment with the most trials."""
    found = [arm.by_trial("error") for arm in arms if size == arm.M]
    return dict(max(found, key=len, default={}))


def _doubt(pair: tuple[Sequence[Arm], Sequence[Arm]]) -> str:
    """Say if neither method learns anything, by R^2 or against the share of the larger class."""
    if not all(pair):
        return ""
    arms = [arm for side in pair for arm in side]
    if nothing_learnt(arms):
        return ", nothing learnt"
    shares = {name: _larger_class(name) for name in {split_name(arm.dataset)[0] for arm in arms}}
    better = [
        100 * (1 - share) - float(np.nanmean(errors)) > CHANCE_POINTS
        for arm in arms
        if (share := shares[split_name(arm.dataset)[0]])
        and np.isfinite(errors := arm.values("error")).any()
    ]
    return ", chance" if better and not any(better) else ""


def _larger_class(dataset: str) -> float:
    """Return the share of the largest class of a data set; 0 where it is not known."""
    known = datasets.entry(dataset).classes if dataset in datasets.names() else {}
    counts = [count for count in known.values() if count]
    return max(counts) / sum(counts) if counts else 0.0


def _mean(values: list[float] | None) -> str:
    if not values:
        return DASH
    spread = np.std(values, ddof=1) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return f"{np.mean(values):+.2f} ± " + (DASH if math.isnan(spread) else f"{spread:.2f}")
