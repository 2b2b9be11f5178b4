"""Comparison of methods with a constant prediction: the majority class, or the mean target."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from rfbench.analysis.frame import KERNEL_ERRORS, Collection
from rfbench.analysis.verdicts import CHANCE_POINTS, CONSTANT_KERNEL, LEARNED
from rfbench.papers.models import Source

CHANCE, NOTHING_LEARNED, CONSTANT = "chance", "nothing learnt", "constant kernel"


def is_better_than_constant(
    collection: Collection, groups: NDArray[np.intp], sources: Iterable[Source]
) -> NDArray[np.float64]:
    """Return 1 for each group of trials that beats a constant prediction, 0 if not, NaN if unknown.

    The accuracy of a classifier has to exceed the share of the majority class, which the paper's
    folder states, by more than `CHANCE_POINTS`. A regression needs an R^2 of at least `LEARNED`.

    Parameters
    ----------
    collection : Collection
        All rows.
    groups : array of int
        Positions in `Collection.groups`.
    sources : iterable of Source
        Data set of each group as described by the paper.
    """
    names = collection.get_group_column("source")[groups]
    shares = [
        source.larger_class.get(name, np.nan) for source, name in zip(sources, names, strict=False)
    ]
    better = (
        100 * (1 - np.array(shares, dtype=float))
        - collection.compute_means("error_percent")[groups]
    )
    classified = collection.get_group_column("error_metric")[groups] == "error"
    gained = np.where(
        classified, better - CHANCE_POINTS, collection.compute_means("r2")[groups] - LEARNED
    )
    beats = np.where(classified, gained > 0, gained >= 0)
    return np.where(np.isfinite(gained), beats, np.nan)


def explain_chance_level(collection: Collection, groups: NDArray[np.intp], source: Source) -> str:
    """Return the reason why the errors of all methods on a data set are not informative.

    The reason is `CHANCE` (classification) or `NOTHING_LEARNED` (regression) if no method is better
    than a constant prediction. The result is an empty string if a method is better, or if the
    comparison is not possible.
    """
    beats = is_better_than_constant(collection, groups, itertools.repeat(source))
    if np.isnan(beats).all() or np.nanmax(beats):
        return ""
    classified = "error" in collection.get_group_column("error_metric")[groups]
    return CHANCE if classified else NOTHING_LEARNED


def describe_constant_kernel(collection: Collection, groups: NDArray[np.intp]) -> str:
    r"""Return `CONSTANT` if the kernel matrix is nearly constant, else an empty string.

    The kernel matrix is not computed here. The kernel error of plain random features is used
    instead. If all entries off the diagonal are k, the estimate of an entry by M paired features
    has the standard deviation :math:`(1 - k^2) / \sqrt{2 M}`, which is 0 for k = 1.
    """
    plain = groups[collection.get_group_column("method")[groups] == "rks"]
    errors = collection.compute_means(KERNEL_ERRORS[0])[plain] * np.sqrt(
        collection.get_group_column("M")[plain]
    )
    errors = errors[np.isfinite(errors)]
    return CONSTANT if len(errors) and (errors < CONSTANT_KERNEL).all() else ""
