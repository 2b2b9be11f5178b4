"""Claims of the authors' abstracts on kernel errors, judged on the cells.

Only the abstracts were at hand. The bounds were set after the authors' rows had been seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from rfbench.analysis import verdicts

POLYNOMIAL = {"kernel": "polynomial", "tree": 0, "expanded": 0, "method": "poly_sketch"}
STANDARD = {"scaling": "standardized", "tree": 0, "expanded": 0, "features": "real"}
UNIT = ["dataset", "scaling", "kernel", "degree", "bias", "n_seeds"]


class ErrorRatio(NamedTuple):
    """A statement that one map has a smaller or larger kernel error than another map.

    Attributes
    ----------
    id : str
        Paper and letter.
    whose : {'paper', 'we'}
    words : str
    cells, others : mapping
        Columns of the cells that are compared, and of the cells that they are divided by.
    is_below : bool or None
        The mean ratio is below 1, or above 1. None for a ratio that is only shown.
    storage : int
        The other cells have this many times as many features.
    """

    id: str
    whose: str
    words: str
    cells: Mapping[str, Any]
    others: Mapping[str, Any]
    is_below: bool | None = True
    storage: int = 1


def _on_polynomials(words: str, projection: str) -> ErrorRatio:
    cells = {**POLYNOMIAL, "projection": projection, "full_cov": 0}
    return ErrorRatio(
        *("W1a", "paper", words, {**cells, "features": "complex"}, {**cells, "features": "real"})
    )


_MACLAURIN = {**STANDARD, "method": "maclaurin"}
_SRHT = {"projection": "srht", "full_cov": 0}
CLAIMS = (
    _on_polynomials("complex below real, Gaussian, equal D", "gaussian"),
    _on_polynomials("complex below real, Rademacher, equal D", "rademacher"),
    _on_polynomials("complex below real, TensorSRHT, equal D", "srht"),
    ErrorRatio(
        *("W1b", "paper", "TensorSRHT below Rademacher, degree 3, standardized"),
        {**POLYNOMIAL, **STANDARD, **_SRHT, "degree": 3},
        {**POLYNOMIAL, **STANDARD, "projection": "rademacher", "degree": 3},
    ),
    ErrorRatio(
        *("W1c", "paper", "optimized below random degrees, polynomial, standardized"),
        {**_MACLAURIN, "kernel": "polynomial", "projection": "rademacher"},
        {**STANDARD, "kernel": "polynomial", "method": "maclaurin_p", "projection": "rademacher"},
    ),
    ErrorRatio(
        *("W1c", "paper", "optimized below polynomial sketch, TensorSRHT, standardized"),
        {**_MACLAURIN, "kernel": "polynomial", **_SRHT},
        {**POLYNOMIAL, **STANDARD, **_SRHT},
    ),
    ErrorRatio(
        *("W1c", "paper", "optimized TensorSRHT below structured Fourier features, Gaussian"),
        {**_MACLAURIN, "kernel": "gaussian", **_SRHT},
        {**STANDARD, "kernel": "gaussian", "method": "rff", **_SRHT},
    ),
    ErrorRatio(
        *("W2a", "paper", "complex-to-real below real, TensorSRHT, equal D"),
        {**POLYNOMIAL, "features": "ctr", "projection": "srht"},
        {**POLYNOMIAL, "features": "real", "projection": "srht", "full_cov": 1},
    ),
    ErrorRatio(
        *("F2", "we", "optimized TensorSRHT, Gaussian, equal storage: complex above real"),
        {**_MACLAURIN, "kernel": "gaussian", **_SRHT, "features": "complex"},
        {**_MACLAURIN, "kernel": "gaussian", **_SRHT},
        *(False, 2),
    ),
    ErrorRatio(
        *("check", "we", "Fourier features, equal storage: complex by real, equal by identity"),
        {"kernel": "gaussian", "method": "rff", "projection": "gaussian", "features": "complex"},
        {"kernel": "gaussian", "method": "rff", "projection": "gaussian", "features": "real"},
        *(None, 2),
    ),
)


def compute_log_ratios(table: pd.DataFrame, claim: ErrorRatio, column: str) -> pd.Series[float]:
    """Return the mean logarithm of the ratio of two maps for each data set.

    The mean is first over D, then over the kernels and scalings of a data set.
    """

    def select(columns: Mapping[str, Any]) -> pd.DataFrame:
        chosen = table
        for name, value in columns.items():
            chosen = chosen[chosen[name] == value]
        return chosen[[*UNIT, "folder", "D", column]]

    cells, others = select(claim.cells), select(claim.others)
    cells = cells.assign(D=claim.storage * cells["D"])
    both = cells.merge(others, on=[*UNIT, "folder", "D"])
    both["log_ratio"] = np.log(both[f"{column}_x"] / both[f"{column}_y"])
    by_unit = both.groupby(UNIT)["log_ratio"].mean()
    return by_unit.groupby(level="dataset").mean()


def judge(log_ratios: pd.Series[float], is_below: bool | None) -> tuple[float, float, float, str]:
    """Return the mean ratio, its 95 % interval over data sets, and the verdict.

    A statement holds if the whole interval is on its side of 1, and fails if it is on the other.
    """
    n = len(log_ratios)
    if n < 3:
        return np.nan, np.nan, np.nan, verdicts.CANNOT
    values = log_ratios.to_numpy(dtype=float)
    mean = float(values.mean())
    half = float(stdtrit(n - 1, 1 - verdicts.ALPHA / 2) * values.std(ddof=1) / n**0.5)
    signs = (mean - half, mean + half) if is_below else (-mean - half, -mean + half)
    if is_below is None:
        verdict = verdicts.SHOWN
    elif signs[1] < 0:
        verdict = verdicts.HOLDS
    elif signs[0] > 0:
        verdict = verdicts.FAILS
    else:
        verdict = verdicts.NOT_CLEAR
    return float(np.exp(mean)), float(np.exp(mean - half)), float(np.exp(mean + half)), verdict


def report(table: pd.DataFrame) -> str:
    """Return a table of the claims in Markdown, with our ratios and the authors'."""
    lines = [
        "| id | whose | statement on the kernel error | data sets | our ratio | authors' ratio "
        "| verdict |",
        "|---|---|---|---|---|---|---|",
    ]
    for claim in CLAIMS:
        logs = compute_log_ratios(table, claim, "mean")
        mean, low, high, verdict = judge(logs, claim.is_below)
        theirs = judge(compute_log_ratios(table, claim, "published_mean"), claim.is_below)[:3]
        shown = [
            "" if np.isnan(each[0]) else "{:.2f} ({:.2f} to {:.2f})".format(*each)
            for each in ((mean, low, high), theirs)
        ]
        values = [claim.id, claim.whose, claim.words, str(len(logs)), *shown, verdict]
        lines.append(f"| {' | '.join(values)} |")
    return "\n".join(lines)
