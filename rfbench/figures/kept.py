"""Figures of the random features that methods select from many candidates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rfbench.analysis.kept import CORNER_RADIUS, mask_offsets_near_multiples
from rfbench.figures.measured import Measured
from rfbench.figures.panels import escape_file_name, make_figure, write_caption
from rfbench.figures.style import BLUE, VERMILLION, get_text_color
from rfbench.results import kept_features

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Number of bins of a histogram from -pi/2 to 3 pi/2. By definition, 0 and pi are in the middle of a
# bin. With twice as many bins, 0 and pi are on the border of two bins.
BINS = 34
# Area of the largest marker in square points, chosen by eye. With twice this area, markers near a
# corner of the plot cover each other.
LARGEST_MARKER = 60.0


def features(measured: Measured) -> Iterator[tuple[str, Figure]]:
    """Draw the features that each method selects from its candidates, for the largest M.

    For rows with two columns, the frequencies are drawn in the plane, next to a histogram of the
    offsets (Sinha and Duchi 2016, Figure 1a). If the features are coordinates of the rows, their
    weights are drawn (Figure 2 of the same paper). Nothing is drawn if the selected features were
    not stored with the results.
    """
    rows = measured.results.rows
    facts = ["trial_id", "label", "dataset", "d", "protocol"]
    lines = kept_features.read_frame(measured.results.folder, [])
    kept = lines.merge(rows.loc[rows["status"] == "ok", facts], on="trial_id")
    several = [name for name in ("dataset", "label") if kept[name].nunique() > 1]
    for (dataset, label), own in kept.groupby(["dataset", "label"]):
        own = own[own["M"] == own.groupby(["dataset", "d", "trial"])["M"].transform("max")]
        title = measured.make_title(f"{dataset}, {label}", own["protocol"])
        stem = "".join(f"_{escape_file_name(own[name].iloc[0])}" for name in several)
        if "w1" not in own:
            yield f"kept_weights{stem}", _weights(own, title, measured.width)
        elif (own["d"] == 2).any() and "b" in own:
            yield f"kept_frequencies{stem}", _frequencies(own[own["d"] == 2], title, measured.width)


def _frequencies(kept: pd.DataFrame, title: str, width: float | None = None) -> Figure:
    """Draw the frequencies of the selected features in the plane, and a histogram of the offsets.

    The area of a dot is proportional to the weight of the feature.
    """
    from matplotlib.patches import Circle

    figure = make_figure(width or 8.2, 4.4 * (width or 8.2) / 8.2)
    plane, offsets = figure.subplots(1, 2, width_ratios=(1.25, 1))
    black = get_text_color()
    b = np.mod(kept["b"], 2 * np.pi)
    near = mask_offsets_near_multiples(kept)
    size = LARGEST_MARKER * kept["weight"] / kept["weight"].max()
    for name, chosen, color, marker in (
        ("b near 0", near & (np.cos(b) > 0), BLUE, "o"),
        ("b near π", near & (np.cos(b) < 0), VERMILLION, "s"),
        ("other b", ~near, black, "^"),
    ):
        if chosen.any():
            dots = kept[chosen]
            look: dict[str, Any] = {"color": color, "marker": marker, "label": name}
            plane.scatter(dots["w1"], dots["w2"], size[chosen], alpha=0.35, linewidths=0, **look)
    for corner in ((1, 1), (-1, -1)):
        plane.plot(*corner, marker="+", color=black, markersize=12, zorder=3)
        circle = Circle(corner, CORNER_RADIUS, fill=False, linestyle=":", color=black)
        plane.add_patch(circle)
    plane.set_aspect("equal")
    plane.autoscale_view()
    plane.set(xlabel="w1", ylabel="w2")
    for handle in plane.legend(loc="center").legend_handles:
        handle.set_alpha(1)
        handle.set_sizes([30])
    trials = kept["trial_id"].nunique()
    share = 100 * kept["weight"] / trials
    turned = np.mod(b + np.pi / 2, 2 * np.pi) - np.pi / 2
    offsets.hist(turned, bins=BINS, range=(-np.pi / 2, 1.5 * np.pi), weights=share, color=black)
    offsets.set_xticks([0, np.pi / 2, np.pi], ["0", "π/2", "π"])
    offsets.set(xlabel="offset b (modulo 2π)", ylabel="share of the weight (%)")
    if title:
        figure.suptitle(title)
    write_caption(
        figure,
        f"Kept features at d = 2, {_of(trials)}: frequencies, with larger dots for larger weights, "
        f"and offsets. Crosses and circles: within {CORNER_RADIUS} of (1, 1) or (-1, -1), as in "
        "the paper's text.",
        width,
    )
    return figure


def _weights(kept: pd.DataFrame, title: str, width: float | None = None) -> Figure:
    """Draw the weight of each selected coordinate, for each trial and as a mean."""
    figure = make_figure(width or 6.0, 4.0 * (width or 6.0) / 6.0)
    panel, black = figure.subplots(), get_text_color()
    trials = kept["trial_id"].nunique()
    dots: dict[str, Any] = {"color": BLUE, "alpha": 0.2, "markersize": 3}
    panel.plot(kept["feature"], kept["weight"], ".", label="one trial", **dots)
    mean = kept.groupby("feature")["weight"].sum() / trials
    every = mean.reindex(np.arange(int(kept["d"].iloc[0])), fill_value=0.0)
    panel.plot(every.index, every, "-", color=black, linewidth=0.8, label="mean over the trials")
    panel.set(xlabel="feature i (coordinate)", ylabel="weight of feature i", title=title)
    panel.legend()
    write_caption(
        figure,
        f"Weights of the kept coordinates, {_of(trials)}; a coordinate that is not kept counts as "
        "0 in the mean.",
        width,
    )
    return figure


def _of(trials: int) -> str:
    return "one trial" if trials == 1 else f"{trials} trials overlaid"
