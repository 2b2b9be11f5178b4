"""Comparison of the authors' own runs with our runs of the same methods.

The values are compared per fold if both runs used the same rows. If the rows differ, the means over
the folds are compared. A point is one percentage point of an accuracy, or an RMSE of 0.01 standard
deviations of the target.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtrit

from rfbench import papers
from rfbench.analysis import verdicts
from rfbench.analysis.selection import Selection

# Factors that convert a difference of two values into points. An accuracy is in percent, so one
# percent is one point by definition. For an RMSE, one standard deviation of the target counts as
# 100 points.
UNIT_FACTORS = {"accuracy": 1.0, "rmse": 100.0}
# Two values count as equal if they differ by less than this number of points. The value is half a
# unit of the last digit by definition, because the authors print accuracies with four digits. With
# twice this value, numbers with different last digits would count as equal.
FOUR_DIGITS = 0.005
# Two accuracies of a fold count as near if they differ by at most this number of test rows. A
# different version of a library changes one or two predictions. The value was chosen without a
# measurement. With twice this value, more folds would count as near.
FEW_ROWS = 2


class AuthorsRuns(NamedTuple):
    """Scores of the authors' runs of one method on one data set, compared with our runs."""

    paper: str
    dataset: str
    method: str
    metric: str
    experiment: str  # name of our results folder
    # Description of the difference between our protocol and the authors' protocol. If the
    # description is not empty, our runs are shown without a verdict.
    beside: str
    same_rows: bool
    folds: int
    draws: int  # number of our trials per fold
    published: float  # mean of the authors' values over all folds
    published_sd: float
    measured: float
    measured_sd: float
    # Number of folds on which our value and the authors' value differ by less than FOUR_DIGITS
    # points.
    equal: float
    near: float  # number of further folds on which the values differ by at most two test rows
    difference: float  # difference of the means in points, ours minus the authors'
    half_width: float  # half the width of the 90 % interval of the difference
    verdict: str


def compare_with_authors_rows(
    selection: Selection, paper: str | None = None
) -> tuple[AuthorsRuns, ...]:
    """Compare the authors' runs of a paper with our runs, per method and data set.

    The values of the authors' runs are in the file rows.csv of the paper. Without `paper`, the runs
    of all papers are compared.

    Notes
    -----
    If both sides used the same rows and each fold has several of our trials, only the random
    features vary. The mean of the differences over F folds then has the variance s^2 (1 + 1 / n) /
    F, where n is the number of our trials per fold and s^2 is the variance of our values within
    folds. With one trial per fold, the interval is the paired interval of the F differences. If the
    rows differ, the interval is Welch's interval over the folds, which is approximate because folds
    share training rows.
    """
    lines: list[AuthorsRuns] = []
    measured = selection.collection.groups
    usable = measured[~measured["smoke"].astype(bool) & ~measured["stale"].astype(bool)]
    bearing = selection.matching_groups[~selection.matching_groups["stand_in"].astype(bool)]
    for name in papers.list_papers() if paper is None else [papers.check_paper_name(paper)]:
        folder = papers.find_paper_files(name)
        own = bearing[bearing["paper"] == name]
        beside = {each for other in folder.paper.beside for each in other.experiments}
        if own.empty and beside.isdisjoint(usable["experiment"]):
            continue
        folds: dict[tuple[str, str, str], list[float]] = {}
        for row in folder.rows:
            folds.setdefault((row.dataset, row.method, row.metric), []).append(row.value)
        for (dataset, method, metric), values in folds.items():
            source, key = folder.paper.datasets[dataset], (name, dataset, method, metric)
            theirs, same = np.array(values), not source.other_rows
            of_method = own[(own["target"] == dataset) & (own["method"] == method)]
            for _, groups in of_method.groupby("experiment", sort=False):
                lines += _lines(selection, groups, key, theirs, same=same)
            for other in (other for other in folder.paper.beside if other.rows == method):
                here = usable["experiment"].isin(other.experiments)
                here &= (usable["source"] == source.dataset) & (usable["method"] == other.method)
                groups = usable[here].assign(group=usable.index[here])
                lines += _lines(selection, groups, key, theirs, beside=other.differs)
    return tuple(lines)


def _lines(
    selection: Selection,
    groups: pd.DataFrame,
    key: tuple[str, str, str, str],
    theirs: NDArray[np.float64],
    *,
    same: bool = False,
    beside: str = "",
) -> Iterator[AuthorsRuns]:
    """Compare the authors' values with the group of trials in `groups` that has the most trials.

    Yield one `AuthorsRuns`, or nothing if no trial was run.
    """
    if not groups["trials"].any():
        return
    group = groups.iloc[int(groups["trials"].to_numpy().argmax())]
    metric, counted, n = key[-1], selection.collection.valid_rows, len(theirs)
    column = "accuracy_percent" if metric == "accuracy" else metric
    rows = counted.loc[counted["group"] == group["group"], [column, "trial", "n_test"]]
    values = rows[column].astype(float)
    # If our runs follow a different protocol than the authors' runs, our trials do not match the
    # authors' folds. Each trial then counts as a fold.
    fold = rows["trial"].astype(int) if beside else rows["trial"].astype(int) % n
    by_fold = values.groupby(fold)
    means, draws, unit = by_fold.mean(), int(by_fold.size().min()), UNIT_FACTORS[metric]
    difference = unit * (means.mean() - theirs.mean())
    compared = same and len(means) == n
    equal, near = np.nan, np.nan
    if compared:
        apart = unit * (means.to_numpy() - theirs)
        variance, freedom = apart.var(ddof=1), n - 1
        if draws > 1:
            variance, freedom = unit**2 * by_fold.var().mean() * (1 + 1 / draws), n * (draws - 1)
        else:
            few = FEW_ROWS * 100.0 / rows["n_test"].groupby(fold).min().to_numpy(dtype=float)
            allowed = (few if metric == "accuracy" else 0.0) + FOUR_DIGITS
            equal = int((np.abs(apart) < FOUR_DIGITS).sum())
            near = int((np.abs(apart) < allowed).sum()) - equal
        half = stdtrit(freedom, 1 - verdicts.ALPHA) * np.sqrt(variance / n)
        verdict = verdicts.judge_published_numbers(difference, half)
    else:
        error, ours = unit * theirs.std(ddof=1) / n**0.5, unit * means.sem()
        half = verdicts.compute_interval_half_widths(error, n, ours, len(means))
        verdict = verdicts.judge_published_numbers(difference, half)
    yield AuthorsRuns(
        *(*key, str(group["experiment"]), beside, compared, n, draws),
        *(theirs.mean(), theirs.std(ddof=1), means.mean(), means.std(), equal, near, difference),
        *(float(half), verdicts.NOT_JUDGED if beside else str(verdict)),
    )
