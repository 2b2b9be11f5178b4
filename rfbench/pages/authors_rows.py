"""The authors' own runs beside ours, paper by paper: the facts of a template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from rfbench import papers
from rfbench.pages.grids import Grid
from rfbench.pages.words import DASH, plus_minus, signed
from rfbench.registry import find_displayed_name

AUTHORS_ROWS_HEAD = [
    "data set, method", "compared on", "published", "ours", "folds equal", "difference", "verdict",
]  # fmt: skip
SAME, OTHER = "same rows", "other rows"
# As many as the papers print.
METRIC_DECIMALS = {"accuracy": 2, "rmse": 4}


def gather_facts(lines: pd.DataFrame) -> list[dict[str, Any]]:
    """Gather what pages say of each paper's rows, from `rfbench.analysis.authors_rows.compare`.

    ``paper``, ``source``; ``folds`` on the same rows with one draw of ours each, of which ``equal``
    agree to four digits and ``near`` more lie within two test rows; ``grid``, a line per data set,
    method and kind of comparison; ``reasons`` why rows are others; ``beside``, how what is shown
    and not judged differs.
    """
    return [] if lines.empty else [_runs(str(name), own) for name, own in lines.groupby("paper")]


def _runs(name: str, lines: pd.DataFrame) -> dict[str, Any]:
    paper, beside = (
        papers.find_paper(name),
        [text for text in dict.fromkeys(lines["beside"]) if text],
    )
    kinds = lines.apply(_kind, axis=1, beside=beside)
    fixed, other = lines[kinds == SAME], lines[kinds == OTHER]
    reasons = (paper.datasets[dataset].other_rows for dataset in other["dataset"])
    cells = [_cells(*pair) for pair in zip(lines.to_dict("records"), kinds, strict=True)]
    return {
        "paper": name,
        "source": paper.rows_source,
        **{key: int(fixed[key].sum()) for key in ("folds", "equal", "near")},
        "grid": Grid(AUTHORS_ROWS_HEAD, cells),
        "reasons": list(filter(None, dict.fromkeys(reasons))),
        "beside": beside,
    }


def _kind(line: Mapping[Any, Any], beside: Sequence[str]) -> str:
    if line["beside"]:
        return f"shown {beside.index(line['beside']) + 1}"
    if not line["same_rows"]:
        return OTHER
    return SAME if line["draws"] == 1 else "same rows, new draws"


def _cells(line: Mapping[Any, Any], kind: str) -> list[str]:
    decimals = METRIC_DECIMALS[line["metric"]]
    means = [
        plus_minus(line[side], line[f"{side}_sd"], decimals) for side in ("published", "measured")
    ]
    equal = f"{line['equal']:.0f} of {line['folds']}" if kind == SAME else DASH
    verdict = DASH if line["beside"] else line["verdict"]
    difference, half = signed(line["difference"], 2), line["half_width"]
    spread = "" if pd.isna(half) else f" ± {half:.2f}"
    name = f"{line['dataset']}, {find_displayed_name(line['method'])}"
    return [name, kind, *means, equal, difference + spread, verdict]
