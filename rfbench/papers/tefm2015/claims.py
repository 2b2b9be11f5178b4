"""Functions for claims of the paper that cannot be expressed by a value of the key ``at``."""

from __future__ import annotations

from rfbench.analysis.paired import Curve, Pairing, Quantity


def at_half_the_columns(pairing: Pairing, curve: Curve, other: Curve | None) -> list[Quantity]:
    """Return the differences between a method and a method with twice as many feature columns."""
    halved = {x // 2: columns for x, columns in (other or {}).items() if x % 2 == 0}
    steps = pairing.compute_steps(curve, halved)
    return [Quantity(steps[x], x, 2 * x, found=len(steps)) for x in steps]


CLAIMS = {"T3": at_half_the_columns}
