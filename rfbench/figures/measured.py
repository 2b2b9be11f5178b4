"""What every figure of a results folder starts from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pandas as pd

from rfbench import papers
from rfbench.analysis.summary import find_axis, summarise
from rfbench.figures.style import BLACK, Style, assign_styles, get_text_color
from rfbench.papers.models import Paper
from rfbench.results import Results


@dataclass(frozen=True)
class Measured:
    """A results folder, summarised."""

    results: Results
    table: pd.DataFrame  # see `rfbench.analysis.summary.summarise`
    varied: str  # what its column x holds: M, d, the name of a setting, or variant
    paper: Paper | None  # that the configuration names; the axes are those of its figures
    styles: Mapping[str, Style]  # by method
    width: float | None = None  # of the figures, in inches; None for the usual one, to look at

    def title(self, what: str, protocols: pd.Series[str]) -> str:
        """Return the title of a figure: what it shows, its protocols, whether it means nothing.

        In an article the caption says that, and a title is there for a smoke run alone.
        """
        smoke = "SMOKE RUN" * self.results.smoke
        if self.width:
            return smoke
        return ", ".join(filter(None, [smoke, what, *list_paper_protocols(protocols)]))


def list_paper_protocols(protocols: Iterable[str]) -> list[str]:
    """Name the protocols of papers; a run of one's own has none to speak of."""
    return [f"protocol {name}" for name in dict.fromkeys(protocols) if name != "own"]


def measure(results: Results, width: float | None = None) -> Measured:
    """Summarise a results folder for its figures."""
    table = summarise(results)
    samplers = {} if table.empty else dict(zip(table["method"], table["sampler"], strict=True))
    styles = {
        method: style._replace(colour=get_text_color()) if style.colour == BLACK else style
        for method, style in assign_styles(samplers).items()
    }
    return Measured(results, table, find_axis(results), find_paper(results), styles, width)


def find_paper(results: Results) -> Paper | None:
    """Return the paper that results are measured for, where it can be read."""
    name = str(results.config.get("paper") or "")
    return papers.find_paper(name) if name in papers.read_library() else None
