"""Function that computes the values for one claim of the paper.

The claim cannot be expressed by a value of the key ``at`` in claims.yaml.
"""

from __future__ import annotations

from rfbench.analysis.paired import Curve, Pairing, Quantity


def at_half_the_columns(pairing: Pairing, curve: Curve, other: Curve | None) -> list[Quantity]:
    """Return the paired differences of two methods with M and 2 M feature columns.

    The second method has twice as many columns as the first.
    """
    halved = {x // 2: columns for x, columns in (other or {}).items() if x % 2 == 0}
    steps = pairing.compute_steps(curve, halved)
    return [Quantity(steps[x], x, 2 * x, found=len(steps)) for x in steps]


CLAIMS = {"T3": at_half_the_columns}
