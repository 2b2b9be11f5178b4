"""Answers to questions about random features from public discussions, computed from our results.

A question compares the errors of pairs of methods, such as orthogonal and independent frequencies.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from rfbench.analysis.frame import Collection
from rfbench.analysis.statistics import holm_correction
from rfbench.analysis.verdicts import ALPHA
from rfbench.config.specs import NO_SOLVER
from rfbench.datasets import catalog
from rfbench.leaderboard import figure
from rfbench.leaderboard.facts import Ratio
from rfbench.leaderboard.rows import (
    STANDARD,
    TRIAL,
    compute_mean_log_ratios,
    select_leaderboard_rows,
    summarize_error_ratios,
)
from rfbench.leaderboard.rule import MIN_RATIOS, compute_wilcoxon_p_value
from rfbench.pages.templates import render_template
from rfbench.papers.models import CORRECTED, PRINTED
from rfbench.registry import find_displayed_name

PAGE, FIGURE = "answers.md", "answers.png"
# Prefix of the names of configurations that are run only for the QUESTIONS below.
OWN = "answers_"
# Number of features at which methods are compared. By definition, it is the largest M in
# configs/leaderboard.yaml. Results with twice this number of features do not exist.
LARGEST_M = 400
LOWER, HIGHER, OPEN = "lower", "higher", "not shown"


@dataclass(frozen=True)
class Arm:
    """One side of a comparison of errors: a method, its number of features M, and a scaling."""

    method: str
    M: int = LARGEST_M
    scaling: str = STANDARD

    def _get_errors(self, rows: pd.DataFrame) -> pd.Series[float]:
        """Return the errors of the method in `rows`, one per trial.

        The index consists of the data set, its name in the results, and the trial. A reference
        model has no random features, so all of its rows are used for every M.
        """
        here = (rows["method"] == self.method) & (rows["scaling"] == self.scaling)
        here &= (rows["M"] == self.M) | rows["reference"]
        return rows[here].groupby(TRIAL)["error"].last()

    def __str__(self) -> str:
        # A label such as rks-pair consists of the name of a sampler and a suffix for its variant.
        base, _, way = self.method.partition("rks-")
        name = find_displayed_name(base or f"rks, {way.replace('-', ' ')}")
        name += "" if self.scaling == STANDARD else f", {self.scaling}"
        return name if self.M == LARGEST_M else f"{name}, M = {self.M}"


Pair = tuple[Arm, Arm]


@dataclass(frozen=True)
class AnswerComparison:
    """Comparison of two methods over data sets: the ratio of their errors, and a p-value."""

    ratio: Ratio
    # p-value of Wilcoxon's signed-rank test, adjusted for all comparisons on the page. The value is
    # NaN if there was no test.
    p: float = math.nan

    @property
    def verdict(self) -> str:
        """Verdict on the error of the first method: `LOWER`, `HIGHER` or `OPEN`.

        The verdict is `OPEN` if the error of the second method does not differ significantly.
        """
        if not self.p <= ALPHA:
            return OPEN
        return LOWER if self.ratio.mean < 1 else HIGHER


@dataclass(frozen=True)
class Answer:
    """Answer to a question: the comparisons of two methods that belong to the question.

    The attribute `compared` maps the name of a comparison to the comparison.
    """

    compared: Mapping[str, AnswerComparison]

    @property
    def verdict(self) -> str:
        """Verdict of all comparisons: `LOWER`, `HIGHER` or `OPEN`.

        The verdict is `LOWER` if at least one comparison has this verdict. The verdict is `HIGHER`
        if all comparisons have this verdict.
        """
        every = {one.verdict for one in self.compared.values()}
        return LOWER if LOWER in every else HIGHER if every == {HIGHER} else OPEN

    @property
    def name(self) -> str:
        """Name of the comparison that the answer reports.

        The comparison has the verdict of the answer. If several comparisons have this verdict, the
        comparison with the smallest median ratio of errors is reported.
        """
        among = {n: one for n, one in self.compared.items() if one.verdict == self.verdict}
        return min(among, key=lambda name: among[name].ratio.median)

    @property
    def best(self) -> AnswerComparison:
        """Comparison that the answer reports."""
        return self.compared[self.name]


def _pair_with_baseline(baseline: str, *methods: str) -> list[Pair]:
    """Return pairs of two sides of a comparison: each of `methods`, and the method `baseline`."""
    return [(Arm(name), Arm(baseline)) for name in methods]


# Pairs of methods that are compared for each question. The question "pair" compares cosine and sine
# pairs with random offsets. By definition, a pair has two columns, so LARGEST_M / 2 pairs have as
# many columns as LARGEST_M features with offsets. The question "size" compares LARGEST_M features
# with half as many features.
QUESTIONS: dict[str, list[Pair]] = {
    "landmarks": _pair_with_baseline(
        "nystroem", "nystroem-kmeans", "nystroem-recursive-rls", "nystroem-rpcholesky"
    ),
    "orthogonal": _pair_with_baseline("rks", "orf", "qmc"),
    # Both methods of this comparison have the same number of columns.
    "pair": [(Arm("rks-pair", LARGEST_M // 2), Arm("rks"))],
    "nystroem": _pair_with_baseline("rks", "nystroem"),
    "target": _pair_with_baseline("rks", "eerf", "lkrf", "surrogate-leverage-kept", "varpro"),
    "size": [(Arm(name), Arm(name, LARGEST_M // 2)) for name in ("rks", "nystroem")],
    "bandwidth": _pair_with_baseline("rks", "rks-half-median", "rks-median", "rks-double-median"),
    "scaling": [
        (Arm(name, scaling=scaling), Arm(name))
        for name in ("rks", "nystroem", "swim")
        for scaling in ("robust", "rank")
    ],
    "precision": _pair_with_baseline("rks", "rks-float32"),
    "exact": _pair_with_baseline("exact-kernel", "rks", "nystroem"),
    "boosting": _pair_with_baseline("boosting", "rks", "nystroem", "varpro"),
}


# Short titles of the questions, for the figure.
ASKED = {
    "landmarks": "Chosen landmarks, or uniform ones?",
    "orthogonal": "Orthogonal or quasi-random frequencies?",
    "pair": "Cosine and sine (pair), or an offset?",
    "nystroem": "Fourier features, or landmarks?",
    "target": "Should the data choose the frequencies?",
    "size": "Twice as many features?",
    "bandwidth": "A rule for the bandwidth, or a search?",
    "scaling": "Another scaling than z-scores?",
    "precision": "Single precision?",
    "exact": "The exact kernel, or features?",
    "boosting": "Gradient boosting, or features?",
    "kernel": "Orthogonal frequencies: the kernel itself?",
}


def gather_answers(collection: Collection) -> dict[str, Answer]:
    """Return the answer to each question whose methods have been measured.

    The result maps the name of a question to its answer. A comparison divides the error of the
    first method by the error of the second method. All comparisons of a question use the same data
    sets. The p-values are adjusted for multiple comparisons.
    """
    rows, _ = select_leaderboard_rows(collection, OWN)
    if rows.empty:
        return {}
    made: dict[str, dict[str, AnswerComparison]] = {}
    for key, pairs in QUESTIONS.items():
        every = {
            f"{one} / {other}": compute_mean_log_ratios(
                one._get_errors(rows), other._get_errors(rows)
            )
            for one, other in pairs
        }
        measured = {name: logs for name, logs in every.items() if len(logs)}
        common = pd.DataFrame(measured).dropna().index
        if len(common):
            made[key] = {
                name: AnswerComparison(
                    summarize_error_ratios(logs[common]), compute_wilcoxon_p_value(logs[common])
                )
                for name, logs in measured.items()
            }
    answered = {key: Answer(compared) for key, compared in adjust_p_values(made).items()}
    if "orthogonal" in made and (kernel := _compare_kernel_errors(collection)) is not None:
        answered["kernel"] = Answer({"ORF / RKS, error of the kernel": AnswerComparison(kernel)})
    return answered


def adjust_p_values(
    answers: Mapping[str, Mapping[str, AnswerComparison]],
) -> dict[str, dict[str, AnswerComparison]]:
    """Adjust all p-values so that the probability of any wrong verdict is at most `ALPHA`.

    `answers` maps a question to its comparisons. Holm's method is applied twice: to the comparisons
    of each question, and then to the smallest p-values of all questions. The second step multiplies
    the smallest p-value of a question by a factor. All p-values of this question are multiplied by
    the same factor, and are at least as large as the adjusted smallest p-value.
    """
    within = {
        key: holm_correction([one.p for one in compared.values()])
        for key, compared in answers.items()
    }
    smallest = [p.min() for p in within.values()]
    over, factors = (
        holm_correction(smallest),
        len(answers) - np.argsort(np.argsort(smallest, kind="stable")),
    )
    final: dict[str, dict[str, AnswerComparison]] = {}
    for i, (key, compared) in enumerate(answers.items()):
        p = np.maximum(over[i], np.minimum(1.0, factors[i] * within[key]))
        final[key] = {
            name: replace(one, p=float(q))
            for (name, one), q in zip(compared.items(), p, strict=True)
        }
    return final


def _compare_kernel_errors(collection: Collection) -> Ratio | None:
    """Return the ratio of the kernel errors of orthogonal and independent frequencies.

    A kernel error is the Frobenius norm of the difference between a kernel matrix and its estimate.
    Only runs without a solver are used. If a data set has several runs, their logarithmic ratios
    are averaged. The result is None if there are no such runs.
    """
    rows = collection.valid_rows
    if rows.empty:
        return None
    taken = (rows["solver"] == NO_SOLVER) & (rows["kernel"] == "gaussian")
    # Corrected runs are left out, because their trials are also in other runs. Rows with a variant
    # are left out, because they are from audits, in which settings are varied.
    rows = rows[taken & (rows["protocol"] != CORRECTED) & (rows["variant"] == "")]
    sources = rows["group"].map(collection.groups["source"]).replace(catalog.TWINS)
    rows = rows.assign(rows=rows["dataset"], dataset=sources)
    rows = rows.set_index(["dataset", "rows", "bandwidth_rule", "M", "trial"])
    left = (rows["label"] == "orf") & (rows["protocol"] == PRINTED)
    errors = rows["kernel_error_frobenius"]
    logs = compute_mean_log_ratios(errors[left], errors[rows["label"] == "rks"])
    return summarize_error_ratios(logs) if len(logs) else None


def render_answers_files(collection: Collection) -> dict[str, Any]:
    """Return the content of the page about the questions and of its figure, by file name.

    Both values are None if `collection` has no results for any question.
    """
    found = gather_answers(collection)
    if not found:
        return {PAGE: None, FIGURE: None}
    asked = {
        ASKED[key]: {name: one.ratio for name, one in each.compared.items()}
        for key, each in found.items()
    }
    return {
        PAGE: render_answers_page(found),
        FIGURE: figure.render_error_ratios(asked, [ASKED["kernel"]]),
    }


def render_answers_page(answers: Mapping[str, Answer]) -> str:
    """Return a Markdown page with the answer to each question.

    The argument maps the name of a question to its answer.
    """
    facts: dict[str, Any] = {"M": LARGEST_M, "alpha": ALPHA, "fewest": MIN_RATIOS}
    return render_template("leaderboard/answers.md.j2", found=answers, figure=FIGURE, **facts)
