"""An invented paper for audits, and rankings made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from rfbench.audit import choices
from rfbench.audit.plan import Audit, AuditRequest, plan_audit
from rfbench.audit.ranking import tabulate_combinations
from rfbench.audit.target import Target, parse_target
from rfbench.config import sweeps
from rfbench.config.schema import Experiment
from rfbench.papers.models import Published

HIDDEN = {"bandwidth": "4", "feature_map": "paired"}
VARY = ["bandwidth=2,4,20", "feature_map=offset,paired"]
AIM = "invented2026/table1/Digits"
CONFIG = """\
paper: invented2026
item: table1
protocol: printed
dataset: digits
split: {test_size: 0.4}
scaling: standard
bandwidth: 20
M: [10, 40]
samplers: [rks, orf, {eerf: {pool_size: 80}}, {ses: {label: control}}]
solver: {alphas: 1e-3}
trials: 2
kernel_error_rows: 50
"""
PAPER = """\
title: An Invented Paper
authors: [Jane Doe]
venue: JOKE
year: 2026
about: audits
datasets:
  Digits: {dataset: %s, stand_ins: [%s]}
"""
HEADER = "item,dataset,method,M,metric,value,spread,spread_kind,unit,mark,note\n"


def write_paper(
    root: Path, means: dict[tuple[str, int], float], dataset: str = "digits", stand_in: str = "iris"
) -> Path:
    """Write the folder of a paper with errors by method and size, each with a spread of 0.5."""
    folder = root / "invented2026"
    folder.mkdir(parents=True)
    (folder / "paper.yaml").write_text(PAPER % (dataset, stand_in))
    lines = [f"table1,Digits,{m},{s},error,{e!r},0.5,se,%,,\n" for (m, s), e in means.items()]
    (folder / "published.csv").write_text(HEADER + "".join(lines))
    return root


def found(home: Path) -> Path:
    """Return the folder of the audit in the home of the invented paper."""
    return home / "results" / "audit_invented2026_table1_Digits"


def planned(home: Path, vary: Sequence[str] = VARY, **keywords: Any) -> Audit:
    """Plan an audit of the invented paper."""
    path = home / "configs" / "invented.yaml"
    return plan_audit(AuditRequest(path, parse_target(AIM), vary=vary, **keywords))


def number(method: str, size: int = 10) -> Published:
    """Return a published number."""
    return Published(
        paper="p", item="t", dataset="D", method=method, M=str(size), metric="error", value=10.0,
        spread=0.3, spread_kind="se", unit="%", mark="", note="",
    )  # fmt: skip


TWO = (number("eerf"), number("lkrf"))


def ranked(
    off: Sequence[Sequence[float]],
    texts: Sequence[str],
    numbers: tuple[Published, ...] = TWO,
    *,
    trials: int = 4,
    stand_in: bool = False,
    in_folder: int = 0,
    **keywords: Any,
) -> tuple[Audit, pd.DataFrame]:
    """Rank combinations with the given differences to the numbers: an audit and its table."""
    varied = dict(choices.parse_choice(text, {}) for text in texts)
    grid = pd.DataFrame(sweeps.iterate_combinations(varied, 1000))
    cells = [
        {
            "combination": i,
            "number": j,
            "method": one.method,
            "M": one.M,
            "metric": one.metric,
            "published": one.value,
            "measured": one.value + gap,
            "difference": gap,
            "trials": trials,
            "stand_in": stand_in,
        }
        for i, row in enumerate(off)
        for j, (one, gap) in enumerate(zip(numbers, row, strict=True))
    ]
    experiment = Experiment.model_validate(
        {"name": "made", "dataset": "digits", "M": [10], "samplers": ["rks"], "trials": trials}
    )
    target = Target("p", ("t",), "D", numbers)
    question = AuditRequest(Path("made.yaml"), target)
    audit = Audit(question, target, varied, grid, [experiment] * len(grid), **keywords)
    return audit, tabulate_combinations(audit, pd.DataFrame(cells), in_folder)


TIED = ((1.0, 4.0), (1.0, 2.0), (3.0, 3.0), (3.0, 1.0))
TEXTS = ("scaling=none,standard", "samplers.lkrf.estimator=top,draw")


def tied(**keywords: Any) -> tuple[Audit, pd.DataFrame]:
    """Return a ranking of four, of which two share the first place."""
    return ranked(TIED, TEXTS, **keywords)
