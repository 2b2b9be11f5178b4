"""The figure of the benchmark: against scikit-learn, against the limit, and how times grow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rfbench.figures.style import BLUE, VERMILLION, assign
from scripts.bench.case import Case, Exponent
from scripts.bench.growth import exponents

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZES = {"n": "rows n", "M": "features M", "d": "columns d"}


def draw(cases: Sequence[Case], path: Path) -> None:
    """Draw three panels of growth and two of ratios, as PNG.

    The numbers behind a sampler in the legend are its exponents.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15, 10), layout="constrained")
    panels = figure.subplots(2, 3)
    _bars(panels[0, 0], [c for c in cases if c.reference_seconds and not _grows(c)], "ratio")
    panels[0, 0].set_title("times as fast as the reference")
    _bars(panels[0, 1], [c for c in cases if c.limit_seconds], "limit_ratio")
    panels[0, 1].set_title("time over limit")
    panels[0, 2].axis("off")
    for panel, along in zip(panels[1], SIZES, strict=True):
        _growth(panel, cases, along)
    slopes = exponents(cases)
    handles, names = panels[1, 0].get_legend_handles_labels()
    labels = [
        f"{name}:  " + "  ".join(f"{slopes.get(name, {}).get(a, math.nan):.2f}" for a in SIZES)
        for name in names
    ]
    title = f"fit and transform: exponents in {', '.join(SIZES)}"
    panels[0, 2].legend(handles, labels, loc="center", title=title)
    figure.savefig(path, dpi=110, metadata={"Software": None})


def _grows(case: Case) -> bool:
    return isinstance(case, Exponent) or case.case.startswith("growth")


def _bars(panel: Axes, cases: list[Case], measure: str) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    names = [
        f"{c.case.split(' (')[0].removesuffix(', prediction')}\n{c.n:,}, {c.d}, {c.M:,}"
        for c in cases
    ]
    values = [float(getattr(c, measure)) for c in cases]
    held = [[b for b in c.bars if b.measure == measure] for c in cases]
    reached = [all(c.reaches(b) for b in bars) for c, bars in zip(cases, held, strict=True)]
    places = range(len(cases))
    panel.barh(places, values, color=[BLUE if ok else VERMILLION for ok in reached])
    for place, bars in zip(places, held, strict=True):
        for bar in bars:
            bound = bar.least if bar.most is None else bar.most
            panel.plot([bound or 0.0] * 2, [place - 0.45, place + 0.45], "k")
    panel.set_yticks(places, names, fontsize=6)
    panel.invert_yaxis()
    panel.set_xlabel("black line: the bar")
    if measure == "ratio":
        panel.set_xscale("log")
        panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        panel.xaxis.set_major_formatter("{x:g}")
        panel.xaxis.set_minor_formatter(NullFormatter())


def _growth(panel: Axes, cases: Sequence[Case], along: str) -> None:
    lines: dict[str, list[Case]] = {}
    start = f"growth in {along}: "
    for case in cases:
        if case.case.startswith(start):
            lines.setdefault(case.case.removeprefix(start).split(",")[0], []).append(case)
    for name, style in assign({name: name for name in lines}).items():
        points = lines[name]
        panel.plot(
            [getattr(point, along) for point in points],
            [point.seconds for point in points],
            color=style.colour,
            marker=style.marker,
            markersize=5,
            markerfacecolor=style.colour if style.filled else "none",
            linestyle="-" if style.filled else "--",
            linewidth=1,
            label=name,
        )
    if lines:
        panel.set_xscale("log", base=2)
        panel.set_yscale("log")
    panel.set_xlabel(SIZES[along])
    panel.set_ylabel("seconds")
