"""Colors and markers of the methods in figures, and the matplotlib settings of all figures.

Five colors are from Okabe and Ito (2008). Brown and violet replace their yellow, orange and sky
blue, which have a contrast of less than 3 : 1 to white paper. Each method has its own marker, so
that figures can be read without colors. Markers can be distinguished at a size of 5 points. Each
method has its own combination of color and dashes, so that lines can be followed between markers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rfbench.analysis.naming import get_natural_sort_key
from rfbench.errors import ConfigError
from rfbench.plotting import import_matplotlib
from rfbench.registry import SAMPLERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Default settings of matplotlib for figures, chosen by eye. If the user has changed a setting, the
# user's value is kept. Font sizes are relative to font.size. With twice the sizes, lines and
# markers of nine methods cover each other.
USUAL: dict[str, Any] = {
    "axes.grid": True,
    "axes.labelsize": "small",
    "axes.titlesize": "medium",
    "errorbar.capsize": 2.0,
    "figure.labelsize": 7.5,
    "figure.titlesize": "medium",
    "grid.alpha": 0.25,
    "grid.linewidth": 0.6,
    "legend.fontsize": "small",
    "legend.frameon": False,
    "lines.linewidth": 1.1,
    "lines.markersize": 5.0,
    "savefig.dpi": 150,
    "xtick.labelsize": "small",
    "ytick.labelsize": "small",
}
# Settings of matplotlib that are always applied, even if the user has different settings. Fonts are
# TrueType (Type 42), because conferences reject Type 3. TeX is not used, because TeX fails on
# underscores in names.
FIXED_STYLE: dict[str, Any] = {
    "figure.autolayout": False,
    "figure.constrained_layout.use": False,
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.hashsalt": "rfbench",
    "text.parse_math": False,
    "text.usetex": False,
}

# ARTICLE has matplotlib's settings for figures in an article. All text has 8 points, as
# \footnotesize in LaTeX. Line widths are in proportion to the text. With twice these line widths,
# the lines fill a panel of 2.2 inches.
FONT_POINTS = 8
ARTICLE: dict[str, Any] = {
    "font.size": FONT_POINTS,
    **dict.fromkeys(
        ("axes.labelsize", "axes.titlesize", "figure.labelsize", "figure.titlesize",
         "legend.fontsize", "xtick.labelsize", "ytick.labelsize"),
        "medium",
    ),
    "lines.linewidth": 1.0,
    "lines.markersize": 4.0,
    "savefig.dpi": 300,
}  # fmt: skip

# Size of the smallest text in a printed figure, in points. If this size is halved, the text cannot
# be read on paper.
SMALLEST_POINTS = 7
BLACK, GREEN = "#000000", "#009E73"
BLUE, VERMILLION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
# BROWN and VIOLET differ as much as possible from black, blue, vermilion, green and purple, also
# for people with a color vision deficiency. Both have a contrast of at least 3 : 1 to white. Their
# measured CIELAB distance to the other colors is 31.
BROWN, VIOLET = "#663300", "#8422E6"
GRAY = "#8A8A8A"
COLORS = (BLACK, BLUE, VERMILLION, GREEN, PURPLE, BROWN, VIOLET)
# Name of a marker in matplotlib, or a tuple: the number of corners, the kind (1 is a star, 2 an
# asterisk) and the angle in degrees.
Marker = str | tuple[int, int, int]
Dash = str | tuple[int, tuple[float, ...]]
# Patterns of lines, as defined by matplotlib. A tuple has an offset, and the lengths of dashes and
# gaps in line widths. With twice these lengths, a short line in a legend shows only one dash.
DASHES: tuple[Dash, ...] = (
    "-", "--", "-.", ":", (0, (8, 2)), (0, (5, 1.5, 1, 1.5, 1, 1.5)), (0, (1, 3)), (0, (8, 2, 2, 2))
)  # fmt: skip
# Pairs of the name of a marker in matplotlib, and True if the marker is filled. Thin markers such
# as + are last, so that methods that are shown often have larger markers. Pentagons, hexagons and
# octagons are not used, because these shapes look like circles at 5 points.
CURVE_MARKERS: tuple[tuple[Marker, bool], ...] = (
    *((marker, True) for marker in "os^DvXP*<>d"),
    *((marker, False) for marker in "s^oDvXP<>d"),
    *((marker, True) for marker in ("x", "+", "1", "2", "|", (4, 1, 0), (3, 1, 0), (4, 1, 45))),
    *((marker, False) for marker in ((4, 1, 0), (3, 1, 0), (4, 1, 45))),
    *((marker, True) for marker in ("3", "4", "_", (6, 2, 0), (3, 1, 180))),
    ((3, 1, 180), False),
)


class Style(NamedTuple):
    """Style of a method in a figure: color, marker, filling of the marker, dashes of the line."""

    color: str
    marker: Marker
    filled: bool = True
    dash: Dash = "-"

    def make_marker_arguments(self, panel: Axes) -> dict[str, Any]:
        """Return the color and the marker as keyword arguments of matplotlib functions.

        Markers that are not filled get the background color of the panel.
        """
        face = self.color if self.filled else panel.get_facecolor()
        return {"color": self.color, "marker": self.marker, "markerfacecolor": face}


def _get_style(position: int) -> Style:
    """Return the style of a sampler, given its position in the list of all samplers.

    Positions beyond the end of the list give further styles.
    """
    marker, filled = CURVE_MARKERS[position % len(CURVE_MARKERS)]
    dash = DASHES[position // len(COLORS) % len(DASHES)]
    return Style(COLORS[position % len(COLORS)], marker, filled, dash)


# Maps the name of each sampler to its style. Styles are assigned in the order of registration, so a
# new sampler does not change the styles of the existing samplers.
METHODS = {name: _get_style(position) for position, name in enumerate(SAMPLERS)}


@contextmanager
def apply_style(style: str | Path | None = None, *, article: bool = False) -> Iterator[None]:
    """Apply the matplotlib settings of rfbench within a ``with`` statement.

    Settings that the user has changed in a ``matplotlibrc`` file or in ``rcParams`` are kept. A
    `style`, given by its name or its file, has priority over these settings. A few settings are the
    same in all figures, and cannot be changed. If `article` is True, the settings are suitable for
    figures in an article.

    Raise ConfigError if the style does not exist or matplotlib cannot read it.
    """
    matplotlib: Any = import_matplotlib()
    now: Any = matplotlib.rcParams
    default: Any = matplotlib.rcParamsDefault
    with matplotlib.rc_context():
        now.update({key: value for key, value in USUAL.items() if now[key] == default[key]})
        if style is not None:
            try:
                matplotlib.style.use(style)
            except (OSError, ValueError) as error:
                raise ConfigError(
                    f"matplotlib cannot read the style '{style}'.",
                    f"Its message: {' '.join(str(error).split())}",
                    f"Name a file, or one of {', '.join(matplotlib.style.available)}.",
                ) from error
        now.update(FIXED_STYLE | ARTICLE if article else FIXED_STYLE)
        yield


def get_text_color() -> str:
    """Return the color of text in the current matplotlib style, as a hex string."""
    rc_params = import_matplotlib().rcParams
    from matplotlib.colors import to_hex

    return to_hex(rc_params["text.color"])


def assign_styles(samplers: Mapping[str, str]) -> dict[str, Style]:
    """Return the style of each method in a figure.

    `samplers` maps the displayed name of each method to its sampler. A method has the usual style
    of its sampler if it has the sampler's name, or if it is the only method with this sampler. Any
    other method gets a marker that is not used in the figure yet, and the least used color.
    """
    named = [name if name in METHODS else sampler for name, sampler in samplers.items()]
    styles = {
        name: METHODS[of_method]
        for name, of_method in zip(samplers, named, strict=True)
        if of_method in METHODS and (name == of_method or named.count(of_method) == 1)
    }
    others = [_get_style(len(METHODS) + position) for position in range(len(CURVE_MARKERS))]
    for name in sorted(set(samplers) - set(styles), key=get_natural_sort_key):
        colors = [style.color for style in styles.values()]
        markers = {(style.marker, style.filled) for style in styles.values()}
        free = [style for style in others if (style.marker, style.filled) not in markers] or others
        styles[name] = min(free, key=lambda style: colors.count(style.color))
    return {name: styles[name] for name in samplers}
