"""The first lines about a run."""

from __future__ import annotations

from rfbench.analysis.best import list_answers
from rfbench.analysis.frame import Collection
from rfbench.pages.templates import render_lines
from rfbench.results import Results
from rfbench.results.schema import METRICS


def write_sentences(collection: Collection, results: Results) -> list[str]:
    """Say for each data set which method is best, or that the two best are alike."""
    if results.smoke:
        return []
    facts = [(answer, METRICS[answer.metric]) for answer in list_answers(collection, results)]
    return render_lines("first.j2", "lines", answers=facts)
