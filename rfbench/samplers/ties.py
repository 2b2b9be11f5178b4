"""An order of scores that rounding does not decide."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array


def decreasing(scores: Array, error: float) -> NDArray[np.intp]:
    """Return the order of decreasing scores; ties have the order of their index.

    Parameters
    ----------
    scores : array of shape (m,)
    error : float
        Rounding error of a score. Scores are tied that are no farther below the first of their
        group, which begins where a gap is wider.

    Returns
    -------
    array of shape (m,)
    """
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    wide = ranked[:-1] - ranked[1:] > error
    group = np.concatenate([[0], np.cumsum(wide)])
    below = ranked[np.searchsorted(group, group)] - ranked
    tied = np.floor(below / max(error, np.finfo(float).tiny))
    return order[np.lexsort((order, tied, group))]
