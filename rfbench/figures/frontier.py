"""The frontier of two measures: what nothing else that was run beats in both."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def frontier(
    costs: ArrayLike, values: ArrayLike, *, larger_is_better: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the points that no other point beats in cost and value, the cheapest first.

    Parameters
    ----------
    costs, values : array of shape (n_points,)
        Both finite; the smaller cost is the better one.
    larger_is_better : bool
        Of the values.

    Returns
    -------
    costs, values : array of shape (n_frontier,)
        Costs rise, and values get better.

    Examples
    --------
    >>> frontier([1.0, 2.0, 3.0, 2.0], [9.0, 5.0, 6.0, 7.0])
    (array([1., 2.]), array([9., 5.]))
    """
    sign = -1.0 if larger_is_better else 1.0
    x, y = np.asarray(costs, dtype=np.float64), sign * np.asarray(values, dtype=np.float64)
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    before = np.concatenate([[np.inf], np.minimum.accumulate(y)[:-1]])
    return x[y < before], sign * y[y < before]
