import numpy as np
import pytest


@pytest.fixture
def regression(rng):
    """60 rows of 5 columns, a target with a mean far from zero."""
    X = rng.standard_normal((60, 5)) + 0.5
    return X, X @ rng.standard_normal(5) + 2.0 + 0.3 * rng.standard_normal(60)


@pytest.fixture
def binary(rng):
    """80 rows of 4 columns, two overlapping classes."""
    X = rng.standard_normal((80, 4))
    return X, (X[:, 0] + 0.5 * X[:, 1] + 0.5 * rng.standard_normal(80) > 0.3).astype(int)


@pytest.fixture
def several(rng):
    """120 rows of 3 columns, four classes around four centres."""
    y = np.repeat(np.arange(4), 30)
    return rng.standard_normal((4, 3))[y] * 1.5 + rng.standard_normal((120, 3)), y
