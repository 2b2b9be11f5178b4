"""Questions of public threads, answered from rows: numbers here, words in the template."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from rfbench.analysis.frame import Collection
from rfbench.config.schema import NO_SOLVER
from rfbench.leaderboard import figure
from rfbench.leaderboard.facts import Interval
from rfbench.leaderboard.rows import STANDARD, TRIAL, counted, interval, log_quotients
from rfbench.pages.templates import render
from rfbench.papers.models import PRINTED
from rfbench.registry import printed

PAGE, FIGURE = "answers.md", "answers.png"
OWN = "answers_"  # with which the names of its own configuration begin
LARGEST = 400  # features
Found = dict[str, dict[str, Interval]]


@dataclass(frozen=True)
class Side:
    """Which rows are compared: of a method, with M features, under a preparation."""

    method: str
    M: int = LARGEST
    scaling: str = STANDARD

    def errors(self, rows: pd.DataFrame) -> pd.Series[float]:
        """Return its errors by trial; those of a reference model have any M."""
        here = (rows["method"] == self.method) & (rows["scaling"] == self.scaling)
        here &= (rows["M"] == self.M) | rows["reference"]
        return rows[here].groupby(TRIAL)["error"].last()

    def __str__(self) -> str:
        base, _, way = self.method.partition("rks-")  # a label of answers.yaml
        name = printed(base or f"rks, {way.replace('-', ' ')}")
        name += "" if self.scaling == STANDARD else f", {self.scaling}"
        return name if self.M == LARGEST else f"{name}, M = {self.M}"


Pair = tuple[Side, Side]


def over(baseline: str, *methods: str) -> list[Pair]:
    """Return pairs of methods with a baseline."""
    return [(Side(name), Side(baseline)) for name in methods]


# By question, what is compared. The template has the words.
QUESTIONS: dict[str, list[Pair]] = {
    "landmarks": over(
        "nystroem", "nystroem-kmeans", "nystroem-recursive-rls", "nystroem-rpcholesky"
    ),
    "orthogonal": over("rks", "orf", "qmc"),
    "pair": [(Side("rks-pair", LARGEST // 2), Side("rks"))],  # as many columns
    "nystroem": over("rks", "nystroem"),
    "target": over("rks", "eerf", "lkrf", "surrogate-leverage-kept", "varpro"),
    "size": [(Side(name), Side(name, LARGEST // 2)) for name in ("rks", "nystroem")],
    "bandwidth": over("rks", "rks-half-median", "rks-median", "rks-double-median"),
    "scaling": [
        (Side(name, scaling=scaling), Side(name))
        for name in ("rks", "nystroem", "swim")
        for scaling in ("robust", "rank")
    ],
    "precision": over("rks", "rks-float32"),
    "exact": over("exact-kernel", "rks", "nystroem"),
    "boosting": over("boosting", "rks", "nystroem", "varpro"),
}


def gather(collection: Collection) -> Found:
    """Return by question the ratios of errors that the rows carry, without those that have none.

    Each is the first side's error over the second's, by their names. All of a question are over the
    data sets that each of them has.
    """
    rows, _ = counted(collection, OWN)
    made = {}
    for key, pairs in QUESTIONS.items():
        every = {
            f"{one} / {other}": log_quotients(one.errors(rows), other.errors(rows))
            for one, other in pairs
        }
        measured = {name: logs for name, logs in every.items() if len(logs)}
        common = pd.DataFrame(measured).dropna().index
        if len(common):
            made[key] = {name: interval(logs[common]) for name, logs in measured.items()}
    if "orthogonal" in made and (kernel := kernel_errors(collection)) is not None:
        made["kernel"] = {"ORF / RKS, error of the kernel": kernel}
    return made


def kernel_errors(collection: Collection) -> Interval | None:
    """Compare orthogonal and independent frequencies in the Frobenius error of the kernel.

    Of the runs without a solver: orthogonal ones by their definition, on the same rows.
    """
    rows = collection.counted
    if rows.empty:
        return None
    rows = rows[(rows["solver"] == NO_SOLVER) & (rows["kernel"] == "gaussian")]
    rows = rows.set_index(["dataset", "M", "trial"])
    left = (rows["label"] == "orf") & (rows["protocol"] == PRINTED)
    errors = rows["kernel_error_frobenius"]
    logs = log_quotients(errors[left], errors[rows["label"] == "rks"])
    return interval(logs) if len(logs) else None


def files(collection: Collection) -> dict[str, Any]:
    """Return page and figure by the names of their files; None of what the rows do not carry."""
    found = gather(collection)
    if not found:
        return {PAGE: None, FIGURE: None}
    bars = {name: each for every in found.values() for name, each in every.items()}
    return {PAGE: page(found), FIGURE: figure.intervals(bars)}


def page(found: Mapping[str, Mapping[str, Interval]]) -> str:
    """Write the page."""
    return render("leaderboard/answers.md.j2", found=found, figure=FIGURE, M=LARGEST)
