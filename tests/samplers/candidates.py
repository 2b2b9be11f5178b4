"""What samplers begin with, written out: their pool of candidates, their first draw, targets."""

import numpy as np

from rfbench import kernels
from rfbench.checking.samplers import CHECK_ROWS
from rfbench.samplers import RKS
from rfbench.samplers.base import make_streams

TWO = np.column_stack([np.sin(CHECK_ROWS[:, 0]) + 3.0, CHECK_ROWS[:, 1] * CHECK_ROWS[:, 2]])
LABELS = np.digitize(CHECK_ROWS[:, 0] + 0.3 * CHECK_ROWS[:, 1], [-0.7, 0.2, 0.9])


def frequencies(size, kernel="gaussian", d=5):
    """Return the frequencies of the pool of seed 0 at bandwidth 2, shape (size, d)."""
    return kernels.make(kernel, 2.0).frequencies(make_streams(0).frequencies, d, size)


def candidates(size, feature_map="offset", kernel="gaussian", rows=CHECK_ROWS):
    """Return its features of mean square k(x, x), shape (kinds, n, size): cosines, then sines."""
    random = make_streams(0)
    phases = rows @ kernels.make(kernel, 2.0).frequencies(random.frequencies, 5, size).T
    if kernel.startswith("arc-cosine"):
        return np.sqrt(2.0) * np.where(phases > 0, phases ** int(kernel[-1]), 0.0)[None]
    if feature_map == "paired":
        return np.stack([np.cos(phases), np.sin(phases)])
    return np.sqrt(2.0) * np.cos(phases + random.offsets.uniform(0, 2 * np.pi, size))[None]


def drawn(feature_map, size):
    """Return the map of so many plain features of seed 0 at bandwidth 2."""
    words = {"bandwidth": 2.0, "feature_map": feature_map, "random_state": 0}
    return RKS(size, **words).fit(CHECK_ROWS).feature_map_
