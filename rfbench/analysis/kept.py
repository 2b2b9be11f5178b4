"""Masks of stored features: frequencies near (1, 1) or (-1, -1), and offsets near 0 or pi."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

# The paper does not state these two distances. The values interpret "near (1, 1) and (-1, -1)" and
# "near 0 and pi" (Sinha and Duchi 2016, section 4, Figure 1a). With twice CORNER_RADIUS, the discs
# around the two corners would overlap at the origin. With twice OFFSET_WIDTH, half of all uniformly
# distributed offsets would be near 0 or pi.
CORNER_RADIUS = 0.75
OFFSET_WIDTH = np.pi / 8


def mask_frequencies_near_corners(kept_features: pd.DataFrame) -> Any:
    """Return a mask of the frequencies whose distance from (1, 1) or (-1, -1) is at most 0.75.

    The mask has one entry per stored feature.
    """
    w = kept_features[["w1", "w2"]].to_numpy(dtype=np.float64)
    distance = np.minimum(np.linalg.norm(w - 1, axis=1), np.linalg.norm(w + 1, axis=1))
    return distance <= CORNER_RADIUS


def mask_offsets_near_multiples(kept_features: pd.DataFrame) -> Any:
    """Return a mask of the offsets whose distance from a multiple of pi is at most pi / 8.

    The mask has one entry per stored feature.
    """
    b = np.mod(kept_features["b"].to_numpy(dtype=np.float64), np.pi)
    return np.minimum(b, np.pi - b) <= OFFSET_WIDTH
