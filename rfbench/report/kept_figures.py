"""Figures of `kept.csv`: the kept frequencies at d = 2, the weights of kept coordinates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from rfbench.report.geometry import CORNER_RADIUS, near_offsets, read_kept
from rfbench.report.panels import new_figure, write_caption
from rfbench.report.style import BLACK, BLUE, VERMILLION, assign
from rfbench.report.tables import SMOKE
from rfbench.results import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# 0 and pi in the middle of a bin.
BINS = 34
LARGEST = 60.0


def draw(results: Results) -> Iterator[tuple[str, Figure]]:
    """Yield the name of each figure's file and the figure; none without a `kept.csv`.

    Where the features are frequencies at d = 2, they are shown in the plane, with their offsets
    (Sinha and Duchi 2016, Figure 1a); where they are coordinates, their weights (its Figure 2).
    """
    lines = read_kept(results.folder, results.rows, [])
    facts = results.rows[["trial_id", "label", "dataset", "d", "protocol"]]
    kept = lines.merge(facts, on="trial_id")
    if kept.empty:
        return
    for label, own in kept.groupby("label"):
        own = own[own["M"] == own.groupby(["dataset", "d", "trial"])["M"].transform("max")]
        dataset, protocol = own["dataset"].iloc[0], own["protocol"].iloc[0]
        title = f"{SMOKE}: " * results.smoke + f"{dataset}, {label}, protocol {protocol}"
        alone = kept["label"].nunique() == 1
        stem = "" if alone else f"_{label}"
        if "w1" not in own:
            yield f"kept_weights{stem}", _weights(own, title)
        elif (own["d"] == 2).any() and "b" in own:
            yield f"kept_frequencies{stem}", _frequencies(own[own["d"] == 2], title)


def _frequencies(kept: pd.DataFrame, title: str) -> Figure:
    """Draw frequencies as dots as large as their weight, and the weight over the offset."""
    from matplotlib.patches import Circle

    figure = new_figure(8.2, 4.4)
    plane, offsets = figure.subplots(1, 2, width_ratios=(1.25, 1))
    b = np.mod(kept["b"], 2 * np.pi)
    zero = near_offsets(kept) & (np.cos(b) > 0)
    pi = near_offsets(kept) & (np.cos(b) < 0)
    size = LARGEST * kept["weight"] / kept["weight"].max()
    for name, chosen, colour, marker in (
        ("b near 0", zero, BLUE, "o"),
        ("b near π", pi, VERMILLION, "s"),
        ("other b", ~zero & ~pi, BLACK, "^"),
    ):
        if chosen.any():
            plane.scatter(
                kept.loc[chosen, "w1"],
                kept.loc[chosen, "w2"],
                s=size[chosen],
                color=colour,
                marker=marker,
                alpha=0.35,
                linewidths=0,
                label=name,
            )
    for corner in ((1, 1), (-1, -1)):
        plane.plot(*corner, marker="+", color=BLACK, markersize=12, zorder=3)
        circle = Circle(corner, CORNER_RADIUS, fill=False, linestyle=":", color=BLACK)
        plane.add_patch(circle)
    plane.set_aspect("equal")
    plane.autoscale_view()
    _label(plane, "w1", "w2")
    legend = plane.legend(fontsize=8, loc="center", frameon=False)
    for handle in legend.legend_handles:
        handle.set_alpha(1)
        handle.set_sizes([30])
    trials = kept["trial_id"].nunique()
    share = 100 * kept["weight"] / trials
    turned = np.mod(b + np.pi / 2, 2 * np.pi) - np.pi / 2
    offsets.hist(turned, bins=BINS, range=(-np.pi / 2, 1.5 * np.pi), weights=share, color=BLACK)
    offsets.set_xticks([0, np.pi / 2, np.pi], ["0", "π/2", "π"])
    _label(offsets, "offset b (modulo 2π)", "share of the weight (%)")
    figure.suptitle(title, fontsize=10)
    write_caption(
        figure,
        f"Kept features at d = 2, {_of(trials)}: their frequencies, the larger the heavier, and "
        f"their offsets. Crosses and circles: within {CORNER_RADIUS} of (1, 1) or (-1, -1), where "
        "the paper's text has them.",
    )
    return figure


def _weights(kept: pd.DataFrame, title: str) -> Figure:
    """Draw the weight of each coordinate: every trial, and the mean over the trials."""
    figure = new_figure(6.0, 4.0)
    panel = figure.subplots()
    trials = kept["trial_id"].nunique()
    label = str(kept["label"].iloc[0])
    style = next(iter(assign({label: "lkrf"}).values()))
    panel.plot(
        kept["feature"], kept["weight"], ".", color=style.colour, alpha=0.2, markersize=3,
        label="a trial",
    )  # fmt: skip
    mean = kept.groupby("feature")["weight"].sum() / trials
    every = mean.reindex(np.arange(int(kept["d"].iloc[0])), fill_value=0.0)
    panel.plot(every.index, every, "-", color=BLACK, linewidth=0.8, label="mean over the trials")
    _label(panel, "feature i (coordinate)", "weight of feature i")
    panel.set_title(title, fontsize=10)
    panel.legend(fontsize=8, frameon=False)
    write_caption(
        figure,
        f"Weights of the kept coordinates, {_of(trials)}; a coordinate that is not kept counts as "
        "0 in the mean.",
    )
    return figure


def _of(trials: int) -> str:
    return "one trial" if trials == 1 else f"{trials} trials overlaid"


def _label(panel: Axes, x: str, y: str) -> None:
    panel.set_xlabel(x, fontsize=9)
    panel.set_ylabel(y, fontsize=9)
    panel.tick_params(labelsize=8)
    panel.grid(alpha=0.25, linewidth=0.6)
