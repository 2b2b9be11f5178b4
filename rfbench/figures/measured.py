"""What every figure of a results folder starts from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

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
    not_drawn: list[str] = field(default_factory=list)  # figures that would show nothing, and why

    def title(self, what: str, protocols: pd.Series[str]) -> str:
        """Return the title of a figure: the configuration's, or what it shows and its protocols.

        A smoke run is named. In an article the caption says the rest, and there is no other title.
        """
        smoke = "SMOKE RUN" * self.results.smoke
        if self.width:
            return smoke
        own = " ".join(str(self.results.config.get("title") or "").split())
        words = [own] if own else [what, *list_paper_protocols(protocols)]
        return ", ".join(filter(None, [smoke, *words]))


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
    return papers.find_paper(name) if name and name in papers.list_papers() else None
