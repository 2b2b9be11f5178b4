"""Names of lines written at their ends, instead of a legend."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from rfbench.figures.style import Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 6
GAP = 0.15  # inches from one name to the next


def label_ends(
    panel: Axes,
    ends: Mapping[str, tuple[float, float]],
    styles: Mapping[str, Style],
    height: float,
) -> None:
    """Write each name and its marker right of the axes at the height where its line ends.

    Names that would overlap are moved as little as possible, and joined to their lines. The lines
    are drawn already and the scales set; `ends` are their last points, `height` is that of the
    axes, roughly, in inches.
    """
    from matplotlib import rcParams
    from scipy.optimize import isotonic_regression

    panel.get_xlim(), panel.get_ylim()  # brings the limits, and so the transform, up to date
    to_axes, gap = panel.transData + panel.transAxes.inverted(), GAP / height
    heights = to_axes.transform(np.array(list(ends.values())))[:, 1]
    order = np.argsort(heights, kind="stable")
    steps = gap * np.arange(len(order))
    places = np.empty(len(order))
    places[order] = isotonic_regression(heights[order] - steps).x + steps
    for (name, end), own, position in zip(ends.items(), heights, places, strict=True):
        style, inside = styles[name], panel.transAxes
        if abs(position - own) > gap / 4:
            panel.annotate(
                "",
                end,
                (1.03, position),
                textcoords="axes fraction",
                annotation_clip=False,
                arrowprops={"arrowstyle": "-", "linewidth": 0.5, "color": style.colour},
            )
        marks = style.marks(panel)
        panel.plot(1.03, position, transform=inside, clip_on=False, linestyle="", **marks)
        panel.text(
            1.055,
            position,
            name,
            transform=inside,
            va="center",
            fontsize=rcParams["legend.fontsize"],
            color=style.colour,
        )
