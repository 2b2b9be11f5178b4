"""Small problems that every shape and kind of target has."""

import numpy as np


def problem(n, p, kind):
    """Return n rows of p columns, and a target that three of them nearly decide."""
    generator = np.random.default_rng(n + p)
    X = generator.standard_normal((n, p)) + 0.5
    f = X[:, :3] @ [1.0, -2.0, 0.5] + generator.standard_normal(n)
    targets = {
        "real": f,
        "several": np.column_stack([f, generator.standard_normal((n, 2))]) + 3.0,
        "two": np.where(f > np.median(f), "a", "b"),
        "four": np.searchsorted(np.quantile(f, [0.25, 0.5, 0.75]), f),
    }
    return X, targets[kind]
