"""What tests over data sets allow one to say about methods, in sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

from rfbench.analysis.ranking import FEWEST_TRIALS, Ranked, against
from rfbench.analysis.statistics import (
    ALPHA,
    average_ranks,
    friedman,
    nemenyi_difference,
    smallest_sign_p,
)
from rfbench.analysis.verdicts import LEARNT
from rfbench.report.summary import spread


def conclusions(scores: pd.DataFrame, baseline: str) -> list[str]:
    """Say what can and what cannot be concluded from the mean errors at one size.

    Parameters
    ----------
    scores : DataFrame of shape (n_datasets, n_methods)
        Mean errors without gaps, smaller is better.
    baseline : str
        The method that each other one is held against.

    Returns
    -------
    list of str
        Sentences, in Markdown: Friedman's test, average ranks with Nemenyi's critical difference,
        and Wilcoxon's test against the baseline with Holm's correction.
    """
    n, k = scores.shape
    if n < 2 or k < 2:
        return [
            f"Nothing can be tested: {count(k, 'method')} on {count(n, 'data set')}. A test over "
            "data sets needs two of each."
        ]
    return [_overall(scores), *_ranks(scores), *_against(scores, baseline)]


def count(n: int, what: str) -> str:
    """Write a number with its noun: ``1 method``, ``2 methods``."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def left_out(ranked: Ranked, unlearnt: Mapping[str, float]) -> list[str]:
    """Say which methods and data sets play no part in the tests at one size, and why.

    Parameters
    ----------
    ranked : Ranked
        See `rfbench.analysis.ranking.Comparison.complete`.
    unlearnt : mapping
        The best R^2 of each data set on which nothing is learnt.
    """
    said = []
    if ranked.methods:
        names = ", ".join(ranked.methods)
        said.append(f"Left out, not measured on half of the data sets: {names}.")
    if ranked.gaps:
        said.append(f"Left out, some method has no value there: {', '.join(ranked.gaps)}.")
    if ranked.few:
        names = ", ".join(f"{name} ({trials(*span)})" for name, span in ranked.few.items())
        said.append(f"Left out, some method has fewer than {FEWEST_TRIALS} trials there: {names}.")
    if unlearnt:
        names = ", ".join(f"{name} (R^2 {best:.2g})" for name, best in unlearnt.items())
        said.append(
            "Left out, no method learns anything there (the best mean test R^2 of any method "
            f"at any size is below {LEARNT:g}): {names}."
        )
    return said


def trials(low: int, high: int) -> str:
    """Write a number of trials, or their range."""
    return f"{spread(low, high)} {'trial' if high == 1 else 'trials'}"


def _overall(scores: pd.DataFrame) -> str:
    n, k = scores.shape
    chi, iman = friedman(scores)
    test, name = (iman, "Iman-Davenport") if not math.isnan(iman.p) else (chi, "chi-squared")
    if math.isnan(test.p):
        return f"Whether the {k} methods differ is not known: {test.note}."
    said = f"Friedman's test ({name}) over {n} data sets and {k} methods: p = {test.p:.2g}"
    said += ", the methods differ" if test.p <= ALPHA else ", no difference can be shown"
    return f"{said} ({test.note})." if test.note else f"{said}."


def _ranks(scores: pd.DataFrame) -> list[str]:
    n, k = scores.shape
    ranks = average_ranks(scores)
    difference = nemenyi_difference(k, n)
    best = str(ranks.index[0])
    gaps = ranks - ranks.iloc[0]
    behind = [f"{name} ({rank:.1f})" for name, rank in ranks[gaps > difference].items()]
    level = [f"{name} ({rank:.1f})" for name, rank in ranks[gaps <= difference].items()]
    said = [
        f"The best average rank is that of {best}: {ranks.iloc[0]:.1f} of {k}, over {n} data sets. "
        f"Nemenyi's critical difference is {difference:.1f} ranks."
    ]
    if behind:
        said.append(f"Behind {best} by more than that: {', '.join(behind)}.")
    else:
        said.append(f"No method is behind {best} by more than that.")
    if level[1:]:
        said.append(f"Not significantly behind {best} by their ranks: {', '.join(level[1:])}.")
    return said


def _against(scores: pd.DataFrame, baseline: str) -> list[str]:
    table = against(scores, baseline)
    if table.empty:
        return [f"No method can be held against {baseline}: it lacks values, or errors are zero."]
    n, comparisons = int(table["n"].iloc[0]), len(table)
    floor = min(1.0, smallest_sign_p(n) * comparisons)
    said = (
        f"Against {baseline}, by Wilcoxon's test with Holm's correction over "
        f"{count(n, 'data set')} and {count(comparisons, 'comparison')}:"
    )
    if floor > ALPHA:
        return [
            f"{said} nothing can be significant, because the smallest corrected p that so few "
            f"data sets can give is {floor:.2g}. That is no sign of equality."
        ]
    significant = table["p"] <= ALPHA
    better = list(table.index[significant & (table["quotient"] < 1)])
    worse = list(table.index[significant & (table["quotient"] > 1)])
    return [
        f"{said} significantly smaller error: {', '.join(better) or 'none'}; significantly larger "
        f"error: {', '.join(worse) or 'none'}; the other {comparisons - len(better) - len(worse)} "
        "show no significant difference from it, which is not equality."
    ]
