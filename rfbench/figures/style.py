"""One look for each method, the same in every figure, and the settings of all figures.

Colours are those of Okabe and Ito (2008), yellow apart, which is lost on white paper; no two
methods share a marker, so that figures can be read in grey, and none share colour and dashes, so
that lines can be followed between their markers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from rfbench.analysis.naming import natural
from rfbench.errors import ConfigError
from rfbench.registry import SAMPLERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

T = TypeVar("T")

# Where the user has no setting. Sizes of fonts are relative to font.size.
USUAL: dict[str, Any] = {
    "axes.grid": True,
    "axes.labelsize": "small",
    "axes.titlesize": "medium",
    "errorbar.capsize": 2.0,
    "figure.labelsize": "x-small",
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
# Whatever the user has: fonts as outlines of TrueType, which conferences take (Type 3 they refuse);
# names as they are, where TeX stops at an underscore; the same ids in every SVG.
NEEDED: dict[str, Any] = {
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.hashsalt": "rfbench",
    "text.parse_math": False,
    "text.usetex": False,
}

# At the width of a column or a page of an article: every text is as large as its footnotes.
POINTS = 8
ARTICLE: dict[str, Any] = {
    "font.size": POINTS,
    **dict.fromkeys(
        ("axes.labelsize", "axes.titlesize", "figure.labelsize", "figure.titlesize",
         "legend.fontsize", "xtick.labelsize", "ytick.labelsize"),
        "medium",
    ),
    "lines.linewidth": 1.0,
    "lines.markersize": 4.0,
    "savefig.dpi": 300,
}  # fmt: skip

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILLION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
GREY = "#9A9A9A"
LIGHTEST = 0.6
COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK)
Marker = str | tuple[int, int, int]  # or corners, 1 for a star, degrees
Dash = str | tuple[int, tuple[float, ...]]
DASHES: tuple[Dash, ...] = ("-", "--", "-.", ":")
# Long dashes; two dots between dashes; dots far apart; long and short dashes.
LATER_DASHES: tuple[Dash, ...] = (
    (0, (8, 2)), (0, (5, 1.5, 1, 1.5, 1, 1.5)), (0, (1, 3)), (0, (8, 2, 2, 2))
)  # fmt: skip
LATER_MARKERS: tuple[tuple[Marker, bool], ...] = (
    ("H", True), ("x", True), ("|", True), ("+", True), ((4, 1, 0), True), ("1", True),
    ((6, 1, 0), True), ("H", False), ("2", True), ((3, 1, 0), True), ("_", True), ("3", True),
    ((4, 1, 0), False), ((3, 1, 0), False), ("4", True), ((6, 1, 0), False), ((4, 1, 45), True),
    ((5, 2, 0), True), ("h", False), ((4, 1, 45), False), ("8", True), ("8", False),
)  # fmt: skip


class Style(NamedTuple):
    """Colour, marker, whether the marker is filled, dashes of the line."""

    colour: str
    marker: Marker
    filled: bool = True
    dash: Dash = "-"

    def marks(self, panel: Axes) -> dict[str, Any]:
        """Return colour and marker as matplotlib takes them; open ones show the background."""
        face = self.colour if self.filled else panel.get_facecolor()
        return {"color": self.colour, "marker": self.marker, "markerfacecolor": face}


METHODS = {
    "rks": Style(BLACK, "o"),
    "orf": Style(SKY, "D"),
    "sorf": Style(GREEN, "v"),
    "qmc": Style(ORANGE, "P"),
    "ses": Style(PURPLE, "X"),
    "lkrf": Style(BLUE, "^"),
    "eerf": Style(VERMILLION, "s"),
    "leverage-rff": Style(BLUE, "D", False, "--"),
    "surrogate-leverage": Style(VERMILLION, "o", False, "--"),
    "tefm-g": Style(VERMILLION, "*", True, "-."),
    "tefm-s": Style(BLUE, "p", True, "-."),
    "comp": Style(PURPLE, "s", False, "--"),
    "fastfood": Style(SKY, "^", False, "--"),
    "svd": Style(GREEN, "h", True, "-."),
    "uniform-pool": Style(BLACK, "v", False, "-."),
    "nystroem": Style(GREEN, "P", False, "--"),
    "greedy": Style(PURPLE, "<", True, "-."),
    # Controls, by their labels: the colour is that of the sampler.
    "rks-2s": Style(BLACK, "d", False, "--"),
    "rks-4l": Style(BLACK, "*", False, ":"),
    "leverage-rff-kept": Style(BLUE, "<", False, ":"),
    "surrogate-leverage-kept": Style(VERMILLION, ">", False, ":"),
    "joint": Style(PURPLE, "X", False, ":"),
}
# The other samplers, in the order of the registry: the look follows from the place, so a new one
# that is registered last changes no other.
LATER = tuple(name for name in SAMPLERS if name not in METHODS)


def later(position: int) -> Style:
    """Return the look of the sampler at a place among those; 22 differ in their marker."""
    dash = LATER_DASHES[position // len(COLOURS) % len(LATER_DASHES)]
    marker = LATER_MARKERS[position % len(LATER_MARKERS)]
    return Style(COLOURS[position % len(COLOURS)], *marker, dash)


METHODS |= {name: later(position) for position, name in enumerate(LATER)}
OTHER_MARKERS = tuple((marker, filled) for filled in (True, False) for marker in ">d<*X^vsPpD")


@contextmanager
def settings(style: str | Path | None = None, *, article: bool = False) -> Iterator[None]:
    """Draw and write figures under the user's settings, completed by ours.

    For an `article` texts have `POINTS`, whatever else says otherwise.

    What matplotlib's ``rcParams`` hold stands, be it from a ``matplotlibrc`` or set by hand; what
    they leave at its default is as in `USUAL`; a style, by its name or its file, stands before
    both, and `NEEDED` before all.

    Raises ConfigError if there is no such style.
    """
    import matplotlib.style

    now: Any = matplotlib.rcParams
    default: Any = matplotlib.rcParamsDefault
    with matplotlib.rc_context():
        now.update({key: value for key, value in USUAL.items() if now[key] == default[key]})
        if style is not None:
            try:
                matplotlib.style.use(style)
            except (OSError, ValueError) as error:
                raise ConfigError(
                    f"There is no style '{style}' that matplotlib can read.",
                    f"It says: {' '.join(str(error).split())}",
                    f"Name a file, or one of {', '.join(matplotlib.style.available)}.",
                ) from error
        now.update(NEEDED | ARTICLE if article else NEEDED)
        yield


def ink() -> str:
    """Return the colour of text: black, or white where a style has a dark background."""
    from matplotlib import rcParams
    from matplotlib.colors import to_hex

    return to_hex(rcParams["text.color"])


def _shade(colour: str, position: int, count: int) -> str:
    """Mix a colour with white, less and less from the first place to the last, which has none."""
    white = LIGHTEST * (count - 1 - position) / max(count - 1, 1)
    parts = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(part + white * (255 - part)):02X}" for part in parts)


def assign(samplers: Mapping[str, str]) -> dict[str, Style]:
    """Give each method of a figure its style, from the samplers by the displayed names.

    A method that is named as a known sampler, or alone stands for one, has that sampler's style.
    Several of one known sampler have its colour in shades, the last one in full. Another one's
    colour and marker follow from a hash of its name, moved on where the figure has them already.
    """
    named = [name if name in METHODS else sampler for name, sampler in samplers.items()]
    styles = {
        name: METHODS[of_method]
        for name, of_method in zip(samplers, named, strict=True)
        if of_method in METHODS and (name == of_method or named.count(of_method) == 1)
    }
    others = sorted(set(samplers) - set(styles), key=natural)
    for name in others:
        number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4])
        markers = _turned(OTHER_MARKERS, number)
        colours = _turned(COLOURS, number // len(OTHER_MARKERS))
        taken = {(style.marker, style.filled) for style in styles.values()}
        marker, filled = next((marker for marker in markers if marker not in taken), markers[0])
        if samplers[name] in METHODS:
            kin = [other for other in others if samplers[other] == samplers[name]]
            colour = _shade(METHODS[samplers[name]].colour, kin.index(name), len(kin))
        else:
            colour = min(colours, key=[style.colour for style in styles.values()].count)
        styles[name] = Style(colour, marker, filled, _dash(colour, filled, styles))
    return {name: styles[name] for name in samplers}


def _dash(colour: str, filled: bool, styles: Mapping[str, Style]) -> Dash:
    """Choose dashes that no line of this colour has; open markers rather go with dashes."""
    wanted = _turned(DASHES, 0 if filled else 1)
    used = {style.dash for style in styles.values() if style.colour == colour}
    return next((dash for dash in wanted if dash not in used), wanted[0])


def _turned(items: tuple[T, ...], by: int) -> tuple[T, ...]:
    by %= len(items)
    return items[by:] + items[:by]
