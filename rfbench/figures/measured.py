"""Input of all figures: a table of mean results, with a style for each method."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import pandas as pd

from rfbench import papers
from rfbench.analysis.summary import find_x_axis, summarize
from rfbench.figures.style import BLACK, Style, assign_styles, get_text_color
from rfbench.papers.models import Paper
from rfbench.results import Results


@dataclass(frozen=True)
class Measured:
    """Input of a figure: a table of mean results per method, and a style for each method."""

    results: Results
    table: pd.DataFrame  # table that `rfbench.analysis.summary.summarize` returns
    varied: str  # content of the column x: M, d, variant, or the name of a setting
    paper: Paper | None  # paper to which the results belong, whose figures determine the axes
    styles: Mapping[str, Style]  # maps each method to its style
    width: float | None = None  # width of the figures in inches; None for figures on a screen
    # reasons why some figures are not drawn, each with the name of the figure
    not_drawn: list[str] = field(default_factory=list)

    def make_title(self, what: str, protocols: pd.Series[str]) -> str:
        """Return the title of a figure.

        By default it is the title in the run's configuration file, or else the subject `what` and
        the names in `protocols` (a protocol is the source of a run's settings, such as a paper). It
        starts with a warning if the run was only a quick test. Figures for an article have an empty
        title, except for the warning.
        """
        smoke = "SMOKE RUN" * self.results.is_smoke_run
        if self.width:
            return smoke
        own = " ".join(str(self.results.config.get("title") or "").split())
        words = [own] if own else [what, *list_paper_protocols(protocols)]
        return ", ".join(filter(None, [smoke, *words]))


def list_paper_protocols(protocols: Iterable[str]) -> list[str]:
    """Return a phrase for each protocol of a paper, for the title of a figure.

    A protocol is the source of a run's settings. The protocol "own" of users is left out.
    """
    return [f"protocol {name}" for name in dict.fromkeys(protocols) if name != "own"]


def summarize_for_figures(results: Results, width: float | None = None) -> Measured:
    """Compute the mean results of a run, and assign a color and a marker to each method."""
    table = summarize(results)
    samplers = {} if table.empty else dict(zip(table["method"], table["sampler"], strict=True))
    styles = {
        method: style._replace(color=get_text_color()) if style.color == BLACK else style
        for method, style in assign_styles(samplers).items()
    }
    return Measured(
        results, table, find_x_axis(results), find_paper_of_results(results), styles, width
    )


def find_paper_of_results(results: Results) -> Paper | None:
    """Return the description of the paper whose experiments the results repeat.

    The result is None if the configuration of the run does not name a known paper.
    """
    name = str(results.config.get("paper") or "")
    return papers.find_paper(name) if name in papers.read_known_papers() else None
