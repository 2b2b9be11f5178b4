"""The first lines about a run."""

from __future__ import annotations

from rfbench.analysis.best import answers
from rfbench.analysis.frame import Collection
from rfbench.pages.templates import lines
from rfbench.results import Results
from rfbench.results.schema import METRICS


def sentences(collection: Collection, results: Results) -> list[str]:
    """Say for each data set which method is best, or that the two best are alike."""
    if results.smoke:
        return []
    facts = [(answer, METRICS[answer.metric]) for answer in answers(collection, results)]
    return lines("first.j2", "lines", answers=facts)
