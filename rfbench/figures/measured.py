"""Input of all figures of a results folder."""

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
    """Summary of a results folder, with the styles of its methods."""

    results: Results
    table: pd.DataFrame  # from `rfbench.analysis.summary.summarise`
    varied: str  # content of its column x: M, d, the name of a setting, or variant
    paper: Paper | None  # paper of the configuration; the axes are as in its figures
    styles: Mapping[str, Style]  # style of each method
    width: float | None = None  # width of the figures in inches; None for figures on the screen
    not_drawn: list[str] = field(default_factory=list)  # omitted figures with the reasons

    def title(self, what: str, protocols: pd.Series[str]) -> str:
        """Return the title of the configuration, or a title from the subject and the protocols.

        Smoke runs have a mark. In an article, the caption has this information, and only smoke runs
        have a title.
        """
        smoke = "SMOKE RUN" * self.results.smoke
        if self.width:
            return smoke
        own = " ".join(str(self.results.config.get("title") or "").split())
        words = [own] if own else [what, *list_paper_protocols(protocols)]
        return ", ".join(filter(None, [smoke, *words]))


def list_paper_protocols(protocols: Iterable[str]) -> list[str]:
    """Return the protocols of papers; the user's own runs do not have protocols."""
    return [f"protocol {name}" for name in dict.fromkeys(protocols) if name != "own"]


def measure(results: Results, width: float | None = None) -> Measured:
    """Summarize a results folder for its figures."""
    table = summarise(results)
    samplers = {} if table.empty else dict(zip(table["method"], table["sampler"], strict=True))
    styles = {
        method: style._replace(colour=get_text_color()) if style.colour == BLACK else style
        for method, style in assign_styles(samplers).items()
    }
    return Measured(results, table, find_axis(results), find_paper(results), styles, width)


def find_paper(results: Results) -> Paper | None:
    """Return the paper that the results belong to; None if it is not known."""
    name = str(results.config.get("paper") or "")
    return papers.find_paper(name) if name in papers.read_library() else None
