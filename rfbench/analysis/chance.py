"""Whether a method does better than a constant: the majority class, or the mean of the target."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from rfbench.analysis.frame import KERNEL_ERRORS, Collection
from rfbench.analysis.verdicts import CHANCE_POINTS, CONSTANT_KERNEL, LEARNT
from rfbench.papers.models import Source

CHANCE, NOTHING_LEARNT, CONSTANT = "chance", "nothing learnt", "constant kernel"


def beats_constant(
    collection: Collection, groups: NDArray[np.intp], sources: Iterable[Source]
) -> NDArray[np.float64]:
    """Say for each group whether it does better than a constant: 1, 0, or NaN.

    In classification by more than `CHANCE_POINTS` over the share of the majority class that the
    paper's folder states; in regression by an R^2 of at least `LEARNT`. NaN where neither is known.

    Parameters
    ----------
    sources : iterable of Source
        What the paper says of the data set of each group.
    """
    names = collection.fact("source")[groups]
    shares = [
        source.larger_class.get(name, np.nan) for source, name in zip(sources, names, strict=False)
    ]
    better = 100 * (1 - np.array(shares, dtype=float)) - collection.means("error_percent")[groups]
    classified = collection.fact("error_metric")[groups] == "error"
    gained = np.where(classified, better - CHANCE_POINTS, collection.means("r2")[groups] - LEARNT)
    beats = np.where(classified, gained > 0, gained >= 0)
    return np.where(np.isfinite(gained), beats, np.nan)


def explain_doubt(collection: Collection, groups: NDArray[np.intp], source: Source) -> str:
    """Say why errors say nothing about methods none of which beats a constant; ``""`` else."""
    beats = beats_constant(collection, groups, itertools.repeat(source))
    if np.isnan(beats).all() or np.nanmax(beats):
        return ""
    return CHANCE if "error" in collection.fact("error_metric")[groups] else NOTHING_LEARNT


def describe_constant_kernel(collection: Collection, groups: NDArray[np.intp]) -> str:
    r"""Say whether a kernel matrix is nearly constant, from how near plain features come to it.

    Where all entries off the diagonal are k, that of an entry has the standard deviation
    :math:`(1 - k^2) / \sqrt{2 M}` over the draws of M paired features: at k = 1 all are exact.
    """
    plain = groups[collection.fact("method")[groups] == "rks"]
    errors = collection.means(KERNEL_ERRORS[0])[plain] * np.sqrt(collection.fact("M")[plain])
    errors = errors[np.isfinite(errors)]
    return CONSTANT if len(errors) and (errors < CONSTANT_KERNEL).all() else ""
