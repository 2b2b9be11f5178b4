"""Statements of the authors' abstracts on kernel errors, judged on the cells by one rule."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from rfbench import yamlfile
from rfbench.analysis import verdicts
from rfbench.pages.grids import Grid, render_markdown

STATEMENTS: list[dict[str, Any]] = yamlfile.load_yaml(
    Path(__file__).with_name("claims.yaml")
).value["statements"]
UNIT = ["dataset", "scaling", "kernel", "degree", "bias", "n_seeds"]
# Fewest data sets for an interval over data sets. With two, its half width would be 12.7 standard
# errors.
LEAST_SETS = 3
HEAD = ("id", "whose", "statement on the kernel error", "data sets", "ours", "authors'", "verdict")


def compute_log_ratios(table: pd.DataFrame, claim: dict[str, Any], column: str) -> pd.Series[float]:
    """Return the mean logarithm of the ratio of two maps for each data set.

    The mean is first over D, then over the kernels and scalings of a data set.
    """
    plain = (table[["tree", "expanded", "full_cov"]] == 0).all(axis=1)
    standard = plain & (table["scaling"] == "standardized") & (table["features"] == "real")
    chosen = table.assign(plain=plain, standard=standard).query(claim["where"])
    keys = [*UNIT, "folder", "D"]
    of, by = (chosen.query(claim[part])[[*keys, column]] for part in ("of", "by"))
    both = of.assign(D=claim.get("storage", 1) * of["D"]).merge(by, on=keys)
    both["log_ratio"] = np.log(both[f"{column}_x"] / both[f"{column}_y"])
    return both.groupby(UNIT)["log_ratio"].mean().groupby(level="dataset").mean()


def judge(log_ratios: pd.Series[float], side: str) -> tuple[str, str]:
    """Return the mean ratio with its 95 % interval over data sets as text, and the verdict.

    A statement holds if the whole interval is on its side of 1, and fails if it is on the other.
    """
    if len(log_ratios) < LEAST_SETS:
        return ", ".join(f"{ratio:.2f}" for ratio in np.exp(log_ratios)), verdicts.CANNOT
    mean, error = float(log_ratios.mean()), float(np.asarray(log_ratios.sem()))
    half = float(stdtrit(len(log_ratios) - 1, 1 - verdicts.ALPHA / 2)) * error
    low, high = mean - half, mean + half
    text = f"{np.exp(mean):.2f} ({np.exp(low):.2f} to {np.exp(high):.2f})"
    if side == "shown":
        return text, verdicts.SHOWN
    below, above = high < 0, low > 0
    is_right, is_wrong = (below, above) if side == "below" else (above, below)
    words = (verdicts.HOLDS, verdicts.FAILS, verdicts.NOT_CLEAR)
    return text, words[0 if is_right else 1 if is_wrong else 2]


def report(table: pd.DataFrame, *ids: str) -> str:
    """Return the statements whose ids start so in Markdown, judged or with the reason why not."""
    lines, reasons = [], []
    for claim in STATEMENTS:
        if not claim["id"].startswith(ids):
            continue
        if "why" in claim:
            name = f"The statement {claim['id']} ({claim['words']})"
            reasons.append(f"- {name} is not compared. {claim['why']}")
            continue
        logs, theirs = (
            compute_log_ratios(table, claim, name) for name in ("mean", "published_mean")
        )
        ours, verdict = judge(logs, claim["side"])
        shown = (str(len(logs)), ours, judge(theirs, claim["side"])[0], verdict)
        lines.append((claim["id"], claim["whose"], claim["words"], *shown))
    return "\n\n".join(filter(None, [str(render_markdown(Grid(HEAD, lines))), "\n".join(reasons)]))
