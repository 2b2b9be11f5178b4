"""Page about the model that `choose` selected: its errors and its column importances."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scipy import stats

from rfbench import files
from rfbench.choosing.losses import HELD_OUT_LEVEL
from rfbench.choosing.workplace import CARD
from rfbench.figures import render_figure
from rfbench.figures.panels import make_figure
from rfbench.figures.style import BLUE, GRAY, apply_style
from rfbench.pages.templates import render_template

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Lengths in inches: WIDTH of a figure, height of its MARGIN, and height of a BAR. The text at a bar
# has 8 points, so labels overlap if BAR is halved.
WIDTH, MARGIN, BAR = 7.0, 0.9, 0.3
MOST_COLUMNS = 20  # the number of columns in a figure, chosen so that it fits on a screen


def render_chosen_model(folder: Path, prefix: str) -> tuple[str, dict[str, bytes]] | None:
    """Return a page about the model that `choose` wrote to a folder, as Markdown and figures.

    Parameters
    ----------
    folder : Path
        Folder with the model and its card `model.json`.
    prefix : str
        Prefix of the file names of the figures.

    Returns
    -------
    tuple of str and dict, or None
        The Markdown, and a dictionary from the file name of each figure to its PNG content. None if
        the folder does not contain a card of `choose`.
    """
    try:
        card: Any = json.loads(files.read(folder / CARD))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(card, dict) or not {"model_sha256", "take", "explained"} <= card.keys():
        return None
    pictures: dict[str, bytes] = {}
    captions: list[tuple[str, str]] = []
    with apply_style():
        for caption, figure in _draw(card).items():
            captions.append((caption, f"{prefix}{len(captions)}.png"))
            pictures[captions[-1][1]] = render_figure(figure, "png")
    lines = render_template("choosing/choose.txt.j2", choice=card, folder=folder).splitlines()
    text = render_template(
        "choosing/choose.md.j2", choice=card, folder=folder, lines=lines, figures=captions
    )
    return text, pictures


def _draw(card: dict[str, Any]) -> dict[str, Figure]:
    """Return a dictionary from the caption of each figure of the page to the figure.

    `card` is the content of the file `model.json`.
    """
    explained, metric = card["explained"], card["metric"]
    # Half the width of a 95 % confidence interval, in standard errors of a normal distribution.
    half = float(stats.norm.ppf((1 + HELD_OUT_LEVEL) / 2))
    every = sorted(card["contenders"], key=lambda c: -c["error"])
    figures = {
        f"{metric} on the held-out rows, with 95 % intervals": _draw_bars(
            [c["label"] for c in every],
            [c["error"] for c in every],
            [half * c["standard_error"] for c in every],
            [BLUE if c["label"] == card["take"]["label"] else GRAY for c in every],
        )
    }
    groups = explained["groups"]
    figure = make_figure(WIDTH / 2, WIDTH / 2)
    panel, predicted = figure.subplots(), [g["predicted"] for g in groups]
    spread = None if card["classes"] else [g["spread"] for g in groups]
    panel.errorbar(predicted, [g["true"] for g in groups], spread, fmt="o", color=BLUE)
    panel.axline((predicted[0], predicted[0]), slope=1, color=GRAY)
    panel.set(xlabel="predicted", ylabel="right" if card["classes"] else "true")
    name = "probability of the predicted class, and share of right predictions"
    if not card["classes"]:
        name = "predicted and true values, as means and standard deviations of groups of rows"
    figures[name] = figure
    if named := explained["importances"][:MOST_COLUMNS][::-1]:
        figures[f"increase of the {metric} if a column is permuted"] = _draw_bars(
            [each["column"] for each in named],
            [each["increase"] for each in named],
            [each["deviation"] for each in named],
            BLUE,
        )
    return figures


def _draw_bars(labels: list[str], values: list[float], errors: list[float], color: Any) -> Figure:
    figure = make_figure(WIDTH, MARGIN + BAR * len(labels))
    panel = figure.subplots()
    # Place the bars by number and not by label, because two candidates may have the same label.
    panel.barh(range(len(labels)), values, xerr=errors, color=color)
    panel.set_yticks(range(len(labels)), labels)
    return figure
