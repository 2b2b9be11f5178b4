"""Rules for the papers of rfbench, which the paper of `rfbench new --paper` follows too."""

from __future__ import annotations

import re
from collections import Counter

from rfbench import datasets, papers
from rfbench.analysis.frame import SUMS
from rfbench.pages.claims import SHARE_METRICS
from rfbench.papers.models import Claim
from rfbench.registry import SAMPLERS
from rfbench.results.schema import METRICS, ROW_TIMES


def check_numbers() -> None:
    """Check the units, methods and metrics of all published numbers."""
    seen: Counter[tuple[str, ...]] = Counter()
    for n in papers.list_published_numbers():
        seen[n.paper, n.item, n.dataset, n.method, n.M, n.metric] += 1
        assert n.unit in (("s",) if n.metric.startswith("t_") else ("%", "1"))
        assert 0 < n.value < 300
        assert n.unit != "%" or n.value < 100
        assert (n.spread is None) == (n.spread_kind == "")
        assert n.dataset in papers.list_data_sets_of_papers()[n.paper]
        assert n.method in {*SAMPLERS, *papers.find_paper(n.paper).methods, "joint"}
        known = {**METRICS, **dict.fromkeys(ROW_TIMES)}
        assert papers.find_paper(n.paper).measured_as.get(n.metric, n.metric) in {*known, *SUMS}
    assert set(seen.values()) == {1}


def list_unknown_datasets() -> set[str]:
    """Return the names of data sets of all papers that are not in the catalog."""
    sources = [
        source for named in papers.list_data_sets_of_papers().values() for source in named.values()
    ]
    return {source.dataset for source in sources} - {*datasets.list_names()}


def check_sources_of_claims() -> None:
    """Check that each claim has a source, a place and a sentence."""
    for claim in papers.list_claims():
        assert claim.source
        assert claim.where
        assert claim.claim.endswith(".")
        assert claim.paper in papers.list_papers()


def check_parts(claim: Claim) -> None:
    """Check the metrics, methods, data sets and bounds of the parts of a claim."""
    measured = {*METRICS, *ROW_TIMES, *SUMS, *SHARE_METRICS, "kept"}
    for part in claim.parts:
        assert part.metric in measured
        assert set(part.settings) <= {"tefm-g", "tefm-s", "lkrf"}
        paper = papers.find_paper(claim.paper)
        labels = {*paper.added.methods, *paper.methods}
        assert {part.method, *part.against} <= {*SAMPLERS, "joint", *labels}
        assert set(part.datasets) <= set(papers.list_data_sets_of_papers()[claim.paper])
        if part.scale == "ratio":
            assert all(bound is None or bound > 0 for bound in (part.low, part.high))


def list_unanswered_claims() -> set[tuple[str, str]]:
    """Return the judged claims of papers without the strongest answer of the authors."""
    return {
        (claim.paper, claim.id)
        for claim in papers.list_claims()
        if (claim.whose, claim.kind) == ("paper", "judged") and not claim.strongest_answer
    }


def check_result(name: str) -> None:
    """Check that the result of a paper is described, and names only claims of the paper."""
    given = papers.find_paper(name)
    assert given.result
    named = set(re.findall(r"{(\w+)", given.result))
    assert named <= {claim.id for claim in papers.list_claims() if claim.paper == name}
