"""The looks of methods, and whose settings hold."""

import itertools
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from rfbench.errors import ConfigError
from rfbench.figures import iterate_figures, style
from rfbench.registry import SAMPLERS
from rfbench.results import read_results_folder
from tests.support.results import Write


def test_each_sampler_has_its_own_marker_and_line_style() -> None:
    looks = style.METHODS.values()
    assert list(SAMPLERS) == list(style.METHODS)
    assert len({(look.marker, look.filled) for look in looks}) == len(looks)
    assert len({(look.color, look.dash) for look in looks}) == len(looks)


def test_methods_of_one_sampler_have_different_colours() -> None:
    assert style.assign_styles({"gaussian": "rks"})["gaussian"] == style.METHODS["rks"]
    labels = [f"eerf-{k}M" for k in (10, 5, 1, 2)]
    styles = style.assign_styles(dict.fromkeys(labels, "eerf") | {"rks": "rks", "mine": "mine"})
    assert list(styles) == [*labels, "rks", "mine"]
    assert styles["rks"] == style.METHODS["rks"]
    assert len({look.color for look in styles.values()}) == 6
    assert len({(look.marker, look.filled) for look in styles.values()}) == 6


def test_markers_of_user_methods_differ_from_those_of_known_methods() -> None:
    samplers = {name: name for name in style.METHODS} | {f"m{i}": "x" for i in range(4)}
    looks = style.assign_styles(samplers)
    assert len({(look.marker, look.filled) for look in looks.values()}) == len(looks)
    assert {name: looks[name] for name in style.METHODS} == style.METHODS
    assert len(style.assign_styles({f"m{i}": "x" for i in range(100)})) == 100


def test_user_matplotlib_settings_override_the_package_style() -> None:
    with matplotlib.rc_context({"axes.labelsize": 17}), style.apply_style():
        assert matplotlib.rcParams["axes.labelsize"] == 17
        assert matplotlib.rcParams["savefig.dpi"] == style.USUAL["savefig.dpi"]
    assert matplotlib.rcParams["savefig.dpi"] == "figure"


def test_style_overrides_all_settings_except_required_ones(tmp_path: Path) -> None:
    mine = tmp_path / "mine.mplstyle"
    mine.write_text("axes.labelsize: 5\naxes.grid: False\npdf.fonttype: 3\ntext.usetex: True\n")
    with matplotlib.rc_context({"axes.labelsize": 17}), style.apply_style(mine):
        now = matplotlib.rcParams
        assert (now["axes.labelsize"], now["axes.grid"]) == (5, False)
        assert (now["pdf.fonttype"], now["text.usetex"]) == (42, False)


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_unreadable_style_is_reported(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "mine.mplstyle"
    if content:
        file.write_bytes(content)
    with pytest.raises(ConfigError, match=r"mine\.mplstyle"), style.apply_style(file):
        pass


def test_black_becomes_the_text_colour_on_a_dark_background(write: Write) -> None:
    results = read_results_folder(write([{"sampler": s, "error": len(s)} for s in ("rks", "eerf")]))
    with style.apply_style("dark_background"):
        (panel,) = next(iterate_figures(results))[1].axes
    assert panel.containers[0][0].get_color() == "#ffffff"


def contrast(color: str) -> float:
    """Return the contrast of a color to white, as WCAG 2 defines it."""
    rgb = np.array(to_rgb(color))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(1.05 / (linear @ [0.2126, 0.7152, 0.0722] + 0.05))


@pytest.mark.parametrize("color", [*style.COLORS, style.GRAY])
def test_marks_have_contrast_3_to_1_on_white(color: str) -> None:
    assert contrast(color) >= 3
    assert contrast("#E69F00") < 3  # orange of Okabe and Ito


def ink(marker: Any, filled: bool) -> Any:
    """Return the ink of a black marker of 5 points, pixel by pixel at 150 dpi."""
    figure = Figure(figsize=(0.16, 0.16), dpi=150)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.axis("off")
    look: dict[str, Any] = {"marker": marker, "markersize": 5, "color": "black"}
    axes.plot([0], [0], markerfacecolor="black" if filled else "white", clip_on=False, **look)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return 1 - np.asarray(canvas.buffer_rgba())[:, :, 0] / 255.0


def test_markers_are_distinguishable_at_5_points() -> None:
    """A hexagon differs from a circle in 13 % of the ink, which is not seen."""

    def differ(a: Any, b: Any) -> float:
        return float(np.abs(a - b).sum() / max(a.sum(), b.sum()))

    assert differ(ink("o", True), ink("h", True)) < 0.15
    every = [ink(*look) for look in style.CURVE_MARKERS]
    assert min(differ(a, b) for a, b in itertools.combinations(every, 2)) > 0.15
