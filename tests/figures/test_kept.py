"""Figures of `kept.csv`, on hand-made lines."""

import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from rfbench.figures.kept import features
from rfbench.figures.measured import summarize_for_figures
from rfbench.figures.style import apply_style
from rfbench.results import read_results_folder
from tests.support.results import Write, named


def figures_of(folder: Path) -> dict[str, Any]:
    return dict(features(summarize_for_figures(read_results_folder(folder))))


def folder_with(write: Write, lines: list[dict[str, Any]], **row: Any) -> Path:
    rows = [{"sampler": "lkrf", "trial": t, "trial_id": named(f"t{t}"), **row} for t in (0, 1)]
    rows += [{"sampler": "lkrf", "trial": 2, "trial_id": named("bad"), "status": "failed", **row}]
    folder = write(rows)
    pd.DataFrame(lines).to_csv(folder / "kept.csv", index=False)
    return folder


def line(trial: int, weight: float, **more: Any) -> dict[str, Any]:
    """Return a kept feature of a trial."""
    own = {"trial_id": named(f"t{trial}"), "trial": trial, "M": 100, "weight": weight}
    return own | {"b": None} | more


def test_kept_frequencies_are_drawn_for_two_dimensional_data(write: Write) -> None:
    lines = [
        line(t, weight, w1=w, w2=-w, b=b)
        for t in (0, 1)
        for w, b, weight in (
            (1.0, 0.01, 0.5),
            (2.0, 2 * math.pi - 0.01, 0.25),
            (3.0, math.pi + 0.01, 0.125),
            (4.0, math.pi / 2, 0.125),
        )
    ]
    lines.append(lines[0] | {"trial_id": named("bad"), "w1": 99.0})
    lines.append(lines[0] | {"trial_id": named("of another configuration"), "w1": 99.0})
    folder = folder_with(write, lines, d=2)
    figure = figures_of(folder)["kept_frequencies"]
    plane, offsets = figure.axes
    found = {dots.get_label(): dots.get_offsets().tolist() for dots in plane.collections}
    assert found == {
        "b near 0": [[1, -1], [2, -2]] * 2,
        "b near π": [[3, -3]] * 2,
        "other b": [[4, -4]] * 2,
    }
    near_zero = plane.collections[0].get_sizes()
    assert near_zero[0] == pytest.approx(2 * near_zero[1])
    heights = sorted(bar.get_height() for bar in offsets.patches if bar.get_height() > 0)
    assert heights == pytest.approx([12.5, 12.5, 75.0])
    assert {tuple(line.get_xydata()[0]) for line in plane.lines} == {(1, 1), (-1, -1)}
    assert "2 trials" in figure.get_supxlabel()


def test_weights_of_kept_coordinates_are_drawn(write: Write) -> None:
    lines = [line(0, 0.75, feature=1), line(0, 0.25, feature=3), line(1, 1.0, feature=1)]
    folder = folder_with(write, lines, d=5, kernel="linear")
    figure = figures_of(folder)["kept_weights"]
    every, mean = figure.axes[0].lines
    assert every.get_xydata().tolist() == [[1, 0.75], [3, 0.25], [1, 1.0]]
    assert mean.get_ydata().tolist() == [0, 0.875, 0, 0.125, 0]


def test_kept_features_of_each_data_set_get_a_figure(write: Write) -> None:
    names = {"a": "digits", "b": "eeg[5000 rows]"}
    rows = [
        {"sampler": "lkrf", "trial_id": named(t), "dataset": d, "d": 5} for t, d in names.items()
    ]
    folder = write(rows)
    lines = [line(0, 0.75, feature=1, trial_id=named(t)) for t in names]
    pd.DataFrame(lines).to_csv(folder / "kept.csv", index=False)
    found = figures_of(folder)
    assert list(found) == ["kept_weights_digits", "kept_weights_eeg_5000_rows"]
    titles = [figure.axes[0].get_title() for figure in found.values()]
    assert [title.partition(",")[0] for title in titles] == list(names.values())


def test_no_figure_without_kept_features(write: Write) -> None:
    assert figures_of(write([{}])) == {}


def test_kept_feature_lines_are_visible_on_a_dark_background(write: Write) -> None:
    with apply_style("dark_background"):
        figures = figures_of(folder_with(write, [line(0, 0.75, feature=1)], d=5, kernel="linear"))
    assert figures["kept_weights"].axes[0].lines[1].get_color() == "#ffffff"
