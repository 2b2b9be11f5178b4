"""Questions of public threads, answered from rows: numbers here, words in the template."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from rfbench.analysis.frame import Collection
from rfbench.analysis.statistics import holm
from rfbench.analysis.verdicts import ALPHA
from rfbench.config.specs import NO_SOLVER
from rfbench.datasets import catalog
from rfbench.leaderboard import figure
from rfbench.leaderboard.facts import Ratio
from rfbench.leaderboard.rows import (
    STANDARD,
    TRIAL,
    compute_log_quotients,
    select_counted,
    summarise_ratio,
)
from rfbench.leaderboard.rule import MIN_RATIOS, p_value
from rfbench.pages.templates import render
from rfbench.papers.models import CORRECTED, PRINTED
from rfbench.registry import find_displayed_name

PAGE, FIGURE = "answers.md", "answers.png"
OWN = "answers_"  # with which the names of its own configuration begin
# Features: the largest M of configs/leaderboard.yaml, whose rows are compared. Doubled, there are
# none.
LARGEST_M = 400
LOWER, HIGHER, OPEN = "lower", "higher", "not shown"


@dataclass(frozen=True)
class Side:
    """Which rows are compared: of a method, with M features, under a preparation."""

    method: str
    M: int = LARGEST_M
    scaling: str = STANDARD

    def errors(self, rows: pd.DataFrame) -> pd.Series[float]:
        """Return its errors by trial; those of a reference model have any M."""
        here = (rows["method"] == self.method) & (rows["scaling"] == self.scaling)
        here &= (rows["M"] == self.M) | rows["reference"]
        return rows[here].groupby(TRIAL)["error"].last()

    def __str__(self) -> str:
        base, _, way = self.method.partition("rks-")  # a label of answers.yaml
        name = find_displayed_name(base or f"rks, {way.replace('-', ' ')}")
        name += "" if self.scaling == STANDARD else f", {self.scaling}"
        return name if self.M == LARGEST_M else f"{name}, M = {self.M}"


Pair = tuple[Side, Side]


@dataclass(frozen=True)
class Compared:
    """Two sides over data sets: the ratio of their errors, and the p-value of no difference."""

    ratio: Ratio
    p: float = math.nan  # of signed ranks, adjusted over the page; NaN if nothing is tested

    @property
    def verdict(self) -> str:
        """Whether the first side's error is significantly lower or higher, or neither is shown."""
        if not self.p <= ALPHA:
            return OPEN
        return LOWER if self.ratio.mean < 1 else HIGHER


@dataclass(frozen=True)
class Answer:
    """The answer to a question, from its comparisons by name."""

    compared: Mapping[str, Compared]

    @property
    def verdict(self) -> str:
        """Lower if any option is; higher only if every option is."""
        every = {one.verdict for one in self.compared.values()}
        return LOWER if LOWER in every else HIGHER if every == {HIGHER} else OPEN

    @property
    def name(self) -> str:
        """The option with the smallest median, among those with the verdict of the answer."""
        among = {n: one for n, one in self.compared.items() if one.verdict == self.verdict}
        return min(among, key=lambda name: among[name].ratio.median)

    @property
    def best(self) -> Compared:
        """The comparison of that option."""
        return self.compared[self.name]


def pair_with_baseline(baseline: str, *methods: str) -> list[Pair]:
    """Return pairs of methods with a baseline."""
    return [(Side(name), Side(baseline)) for name in methods]


# By question, what is compared. The template has the words. Half of LARGEST_M pairs have as many
# columns as LARGEST_M offset features, by definition, and is the size that halves the features.
QUESTIONS: dict[str, list[Pair]] = {
    "landmarks": pair_with_baseline(
        "nystroem", "nystroem-kmeans", "nystroem-recursive-rls", "nystroem-rpcholesky"
    ),
    "orthogonal": pair_with_baseline("rks", "orf", "qmc"),
    "pair": [(Side("rks-pair", LARGEST_M // 2), Side("rks"))],  # as many columns
    "nystroem": pair_with_baseline("rks", "nystroem"),
    "target": pair_with_baseline("rks", "eerf", "lkrf", "surrogate-leverage-kept", "varpro"),
    "size": [(Side(name), Side(name, LARGEST_M // 2)) for name in ("rks", "nystroem")],
    "bandwidth": pair_with_baseline("rks", "rks-half-median", "rks-median", "rks-double-median"),
    "scaling": [
        (Side(name, scaling=scaling), Side(name))
        for name in ("rks", "nystroem", "swim")
        for scaling in ("robust", "rank")
    ],
    "precision": pair_with_baseline("rks", "rks-float32"),
    "exact": pair_with_baseline("exact-kernel", "rks", "nystroem"),
    "boosting": pair_with_baseline("boosting", "rks", "nystroem", "varpro"),
}


# The same questions in the figure.
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


def gather(collection: Collection) -> dict[str, Answer]:
    """Return the answers that the rows carry, by question.

    Each comparison is the first side's error over the second's. All of a question are over the data
    sets that each of them has. Their p-values are adjusted, see `adjust_p_values`.
    """
    rows, _ = select_counted(collection, OWN)
    made: dict[str, dict[str, Compared]] = {}
    for key, pairs in QUESTIONS.items():
        every = {
            f"{one} / {other}": compute_log_quotients(one.errors(rows), other.errors(rows))
            for one, other in pairs
        }
        measured = {name: logs for name, logs in every.items() if len(logs)}
        common = pd.DataFrame(measured).dropna().index
        if len(common):
            made[key] = {
                name: Compared(summarise_ratio(logs[common]), p_value(logs[common]))
                for name, logs in measured.items()
            }
    answered = {key: Answer(compared) for key, compared in adjust_p_values(made).items()}
    if "orthogonal" in made and (kernel := compare_kernel_errors(collection)) is not None:
        answered["kernel"] = Answer({"ORF / RKS, error of the kernel": Compared(kernel)})
    return answered


def adjust_p_values(made: Mapping[str, Mapping[str, Compared]]) -> dict[str, dict[str, Compared]]:
    """Adjust p-values for all that the page tests: that any is wrongly shown has at most `ALPHA`.

    By Holm within each question, over its options; then by Holm over the questions, each of which
    counts by its smallest p-value. An option gets the factor of its question, and is not below the
    p-value of that.
    """
    within = {key: holm([one.p for one in compared.values()]) for key, compared in made.items()}
    smallest = [p.min() for p in within.values()]
    over, factors = holm(smallest), len(made) - np.argsort(np.argsort(smallest, kind="stable"))
    final: dict[str, dict[str, Compared]] = {}
    for i, (key, compared) in enumerate(made.items()):
        p = np.maximum(over[i], np.minimum(1.0, factors[i] * within[key]))
        final[key] = {
            name: replace(one, p=float(q))
            for (name, one), q in zip(compared.items(), p, strict=True)
        }
    return final


def compare_kernel_errors(collection: Collection) -> Ratio | None:
    """Compare orthogonal and independent frequencies in the Frobenius error of the kernel.

    Of the runs without a solver: orthogonal ones by their definition, on the same rows. Several
    runs on one data set, with other rows or another bandwidth, count once.
    """
    rows = collection.counted
    if rows.empty:
        return None
    taken = (rows["solver"] == NO_SOLVER) & (rows["kernel"] == "gaussian")
    # A corrected run has trials of others again; audits, whose rows are variants, vary settings.
    rows = rows[taken & (rows["protocol"] != CORRECTED) & (rows["variant"] == "")]
    sources = rows["group"].map(collection.groups["source"]).replace(catalog.TWINS)
    rows = rows.assign(rows=rows["dataset"], dataset=sources)
    rows = rows.set_index(["dataset", "rows", "bandwidth_rule", "M", "trial"])
    left = (rows["label"] == "orf") & (rows["protocol"] == PRINTED)
    errors = rows["kernel_error_frobenius"]
    logs = compute_log_quotients(errors[left], errors[rows["label"] == "rks"])
    return summarise_ratio(logs) if len(logs) else None


def render_files(collection: Collection) -> dict[str, Any]:
    """Return page and figure by the names of their files; None of what the rows do not carry."""
    found = gather(collection)
    if not found:
        return {PAGE: None, FIGURE: None}
    asked = {
        ASKED[key]: {name: one.ratio for name, one in each.compared.items()}
        for key, each in found.items()
    }
    return {PAGE: render_page(found), FIGURE: figure.render_ratios(asked, [ASKED["kernel"]])}


def render_page(found: Mapping[str, Answer]) -> str:
    """Write the page."""
    facts: dict[str, Any] = {"M": LARGEST_M, "alpha": ALPHA, "fewest": MIN_RATIOS}
    return render("leaderboard/answers.md.j2", found=found, figure=FIGURE, **facts)
