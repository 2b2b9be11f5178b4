"""The moments of features with few targets, compiled."""

from __future__ import annotations

from typing import Any

from rfbench.compute import compile_function


@compile_function
def add_moments(features: Any, sides: Any, out: Any) -> None:
    """Add sides'features to out, four rows at a time: BLAS is slow at so few columns."""
    rows = features.shape[0]
    in_fours = rows - rows % 4
    for i in range(0, in_fours, 4):
        z0, z1, z2, z3 = features[i], features[i + 1], features[i + 2], features[i + 3]
        for c in range(sides.shape[1]):
            y0, y1, y2, y3 = sides[i, c], sides[i + 1, c], sides[i + 2, c], sides[i + 3, c]
            total = out[c]
            for j in range(total.size):
                total[j] += (z0[j] * y0 + z1[j] * y1) + (z2[j] * y2 + z3[j] * y3)
    for i in range(in_fours, rows):
        row = features[i]
        for c in range(sides.shape[1]):
            y, total = sides[i, c], out[c]
            for j in range(total.size):
                total[j] += row[j] * y
