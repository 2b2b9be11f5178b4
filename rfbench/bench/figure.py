"""The figure of the benchmark: against scikit-learn, against the limit, and how times grow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rfbench.bench.case import Case, Exponent
from rfbench.report.style import BLUE, VERMILLION, assign

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZES = {"n": "rows n", "M": "features M", "d": "columns d"}


def draw(cases: Sequence[Case], path: Path) -> None:
    """Draw three panels of growth and two of ratios, as PNG.

    The number behind a sampler in a legend is its exponent.
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
    handles, labels = panels[1, 0].get_legend_handles_labels()
    names = [label.rsplit(" ", 1)[0] for label in labels]
    panels[0, 2].legend(handles, names, loc="center", ncols=2, title="fit and transform")
    figure.savefig(path, dpi=110, metadata={"Software": None})


def _grows(case: Case) -> bool:
    return isinstance(case, Exponent) or case.case.startswith("growth")


def _bars(panel: Axes, cases: list[Case], measure: str) -> None:
    names = [f"{c.case.split(' (')[0].split(',')[0]} {c.n}, {c.d}, {c.M}" for c in cases]
    values = [float(getattr(c, measure)) for c in cases]
    held = [[b for b in c.bars if b.measure == measure] for c in cases]
    reached = [all(c.reaches(b) for b in bars) for c, bars in zip(cases, held, strict=True)]
    places = range(len(cases))
    panel.barh(places, values, color=[BLUE if ok else VERMILLION for ok in reached])
    for place, bars in zip(places, held, strict=True):
        for bar in bars:
            bound = bar.least if bar.most is None else bar.most
            panel.plot([bound or 0.0] * 2, [place - 0.45, place + 0.45], "k")
    panel.set_yticks(places, names, fontsize=7)
    panel.invert_yaxis()
    panel.set_xlabel("black line: the bar")
    if measure == "ratio":
        panel.set_xscale("log")


def _growth(panel: Axes, cases: Sequence[Case], along: str) -> None:
    lines: dict[str, list[Case]] = {}
    slopes: dict[str, float] = {}
    for case in cases:
        kind, _, rest = case.case.partition(f" in {along}: ")
        name = rest.split(",")[0]
        if isinstance(case, Exponent) and kind == "exponent":
            slopes[name] = case.slope
        elif kind == "growth" and rest:
            lines.setdefault(name, []).append(case)
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
            label=f"{name} {slopes.get(name, float('nan')):.2f}",
        )
    if lines:
        panel.set_xscale("log", base=2)
        panel.set_yscale("log")
        panel.legend(fontsize=6, ncols=2, title="exponent", title_fontsize=7)
    panel.set_xlabel(SIZES[along])
    panel.set_ylabel("seconds")
