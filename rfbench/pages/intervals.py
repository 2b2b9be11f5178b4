"""Values with what they range over, as SVG: the figure of a finding."""

from __future__ import annotations

import math
import textwrap

from rfbench.analysis.findings import Finding
from rfbench.pages.templates import render
from rfbench.pages.words import number

ROW, LETTER, NAME = 19, 7, 44  # pixels: from line to line, the most of a letter; most letters
AXIS, VALUE, EDGE = 380, 60, 10  # pixels: the axis, room for a value, what lies beyond the ends
DIGITS = (range(1, 10), (1, 2, 5), (1,))  # with which ticks of a logarithmic axis begin
MOST = 9  # ticks


def svg(finding: Finding, axis: str) -> str:
    """Draw the lines of a finding, in colours and letters of the page that it stands in."""
    names = [bar.name if len(bar.name) <= NAME else f"{bar.name[:NAME]}…" for bar in finding.bars]
    left = LETTER * max(max(map(len, names)), 8) + 16
    ends = [x for bar in finding.bars for x in (bar.value, bar.low, bar.high)]
    ends = [finding.origin, *(x for x in ends if math.isfinite(x))]
    low, high = min(ends), max(ends)
    scale = math.log if finding.ratios else float
    room = scale(high) - scale(low) or 1.0

    def at(x: float) -> float | None:
        if not math.isfinite(x):
            return None
        return round(left + EDGE + (scale(x) - scale(low)) / room * (AXIS - 2 * EDGE), 1)

    width = left + AXIS + VALUE
    return render(
        "intervals.svg.j2",
        axis=axis,
        axis_lines=textwrap.wrap(axis, width // LETTER),
        left=left,
        right=left + AXIS,
        width=width,
        foot=ROW * len(names) + 8,
        origin=at(finding.origin),
        ticks=[(at(x), f"{x:g}") for x in _ticks(low, high, finding.ratios)],
        bars=[
            {"name": name, "y": ROW * i + 14, "x": at(bar.value), "low": at(bar.low),
             "high": at(bar.high), "text": number(float(f"{bar.value:.3g}"))}
            for i, (name, bar) in enumerate(zip(names, finding.bars, strict=True))
        ],
    )  # fmt: skip


def _ticks(low: float, high: float, ratios: bool) -> list[float]:
    if ratios:
        every = (
            [m * 10.0**e for e in range(-6, 7) for m in digits if low <= m * 10.0**e <= high]
            for digits in DIGITS
        )
        return next((ticks for ticks in every if len(ticks) <= MOST), [])
    from matplotlib.ticker import MaxNLocator

    return [float(x) for x in MaxNLocator(6).tick_values(low, high) if low <= x <= high]
