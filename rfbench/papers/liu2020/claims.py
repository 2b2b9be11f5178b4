"""Functions that compute the values for claims of Liu et al. (2020).

The claims in this file cannot be expressed by a value of the key ``at`` in claims.yaml.
"""

from __future__ import annotations

import numpy as np

from rfbench import papers
from rfbench.analysis.paired import Curve, Pairing, Quantity, Values, compute_change_along_axis


def at_the_marked_sizes(pairing: Pairing, curve: Curve, other: Curve | None) -> list[Quantity]:
    """Return the paired differences of two methods at the sizes that the paper marks.

    The paper marks sizes with a significant difference. The list is empty unless all marked sizes
    were measured.
    """
    compared = (pairing.paper, pairing.target, pairing.part.method, pairing.part.metric)
    marked = {
        number.size
        for number in papers.list_published_numbers()
        if number.mark and (number.paper, number.dataset, number.method, number.metric) == compared
    }
    steps = pairing.compute_steps(curve, other)
    return [Quantity(steps[x], x) for x in steps if x in marked and marked <= set(steps)]


def growth(pairing: Pairing, curve: Curve, other: Curve | None) -> list[Quantity]:
    """Return the change of the paired difference of two methods along the x axis.

    The difference at the largest size is returned, minus the difference at the smallest size.
    """
    return compute_change_along_axis(
        list(pairing.compute_steps(curve, other).values()), "growth over M"
    )


def mean_over_sizes(pairing: Pairing, curve: Curve, other: Curve | None) -> list[Quantity]:
    """Return the paired difference of two methods, averaged over all sizes."""
    steps = pairing.compute_steps(curve, other)
    values: Values = np.mean(list(steps.values()), axis=0) if steps else np.array([])
    return [Quantity(values, joint="mean over M", found=len(steps))]


CLAIMS = {"S1": at_the_marked_sizes, "S3": growth, "S4": mean_over_sizes}
