"""Synthetic classification problems from papers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rfbench.errors import DataError, make_unknown_error

Generated = tuple[NDArray[np.float64], NDArray[np.int64]]


def sphere(generator: np.random.Generator, d: int, n: int) -> Generated:
    """Return n points X ~ N(0, I_d), shape (n, d), and two classes y separated by a sphere.

    y is 1 if ``|x| > sqrt(d)`` for a point x, and 0 otherwise. About half of the points have y = 1.

    References
    ----------
    Source: Sinha and Duchi, "Learning kernels with random features", 2016, section 4.1.
    """
    X = generator.standard_normal((n, d))
    return X, (np.linalg.norm(X, axis=1) > np.sqrt(d)).astype(np.int64)


def hyperplane(
    generator: np.random.Generator, d: int, n: int, informative: int = 100, weak: float = 0.05
) -> Generated:
    """Return n points X ~ N(0, I_d), shape (n, d), and two classes y separated by a hyperplane.

    y is 1 if ``x'u > 0`` for a point x, and 0 otherwise. The first `informative` entries of the
    vector u are 1. All other entries are drawn from ``weak * N(0, 1)``.

    References
    ----------
    Source: the public example of Sinha and Duchi, "Learning kernels with random features", 2016.
    The problem replaces the data of their Figure 2.
    """
    u = weak * generator.standard_normal(d)
    u[:informative] = 1.0
    X = generator.standard_normal((n, d))
    return X, (X @ u > 0).astype(np.int64)


@dataclass(frozen=True)
class Problem:
    """A function that draws the rows of a synthetic problem, with default parameter values."""

    draw: Callable[..., Generated]
    parameters: Mapping[str, int | float]

    def complete(self, name: str, given: Mapping[str, object] | None) -> dict[str, int | float]:
        """Return all parameters of the problem: the values in `given`, and defaults for the rest.

        `name` is the name of the problem in error messages. Raise DataError if a parameter is
        unknown or not a positive number of the right type.
        """
        values = dict(self.parameters)
        for key, value in (given or {}).items():
            if key not in values:
                raise make_unknown_error(f"parameter of {name}", key, values, DataError)
            kinds = (int,) if isinstance(values[key], int) else (int, float)
            if isinstance(value, bool) or not isinstance(value, kinds) or not 0 < value < np.inf:
                raise DataError(
                    f"The parameter '{key}' of '{name}' has the value {value!r}.",
                    f"The value has to be a positive {kinds[-1].__name__}.",
                    f"The default value is {values[key]}.",
                )
            values[key] = value
        return values


PROBLEMS: dict[str, Problem] = {
    "sphere": Problem(sphere, {"d": 10, "n_train": 10_000, "n_test": 1_000}),
    "hyperplane": Problem(
        hyperplane,
        {"d": 1_000, "n_train": 10_000, "n_test": 1_000, "informative": 100, "weak": 0.05},
    ),
}
"""Problems by the name of their catalog entry, with the parameter values of the papers."""
