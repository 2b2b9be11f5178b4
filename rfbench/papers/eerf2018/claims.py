"""Functions for claims of the paper that cannot be expressed by a value of the key ``at``."""

from __future__ import annotations

import numpy as np

from rfbench.analysis.paired import Curve, Pairing, Quantity, compare_at_equal_time


def over_own_fit(pairing: Pairing, curve: Curve, other: Curve | None) -> list[Quantity]:
    """Return a time divided by the fitting time of the same method, at the largest size."""
    size = max(curve)
    values = pairing.tabulate_metric(pairing.part.metric) - pairing.tabulate_metric("t_fit")
    quotients = [values[:, column] for column in curve[size]]
    most = max(quotients, key=lambda quotient: int(np.isfinite(quotient).sum()))
    return [Quantity(most, size, joint=f"over t_fit, M = {size}")]


def at_the_last_time(pairing: Pairing, curve: Curve, other: Curve | None) -> list[Quantity]:
    """Return the comparison of two methods at the largest time that both methods reached."""
    return compare_at_equal_time(pairing, curve, other)[-1:]


CLAIMS = {"E3": over_own_fit, "E4": at_the_last_time}
