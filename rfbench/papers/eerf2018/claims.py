"""Functions that compute the values for claims of the paper.

The claims in this file cannot be expressed by a value of the key ``at`` in claims.yaml.
"""

from __future__ import annotations

import numpy as np

from rfbench.analysis.paired import Curve, Pairing, Quantity, compare_at_equal_time


def over_own_fit(pairing: Pairing, curve: Curve, other: Curve | None) -> list[Quantity]:
    """Return a time of a method divided by its fitting time, at the largest number of features."""
    size = max(curve)
    values = pairing.tabulate_metric(pairing.part.metric) - pairing.tabulate_metric("t_fit")
    quotients = [values[:, column] for column in curve[size]]
    most = max(quotients, key=lambda quotient: int(np.isfinite(quotient).sum()))
    return [Quantity(most, size, joint=f"over t_fit, M = {size}")]


def at_the_last_time(pairing: Pairing, curve: Curve, other: Curve | None) -> list[Quantity]:
    """Compare two methods at the largest mean total time that both methods reached."""
    return compare_at_equal_time(pairing, curve, other)[-1:]


CLAIMS = {"E3": over_own_fit, "E4": at_the_last_time}
