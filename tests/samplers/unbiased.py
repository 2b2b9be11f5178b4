"""Is the mean of a sampler's kernel estimate over seeds the closed form? In standard errors."""

import numpy as np

SEEDS = 200
LIMIT = 4.0


def points(d):
    """Return 5 rows whose distances, in units of the bandwidth 2, are neither 0 nor large."""
    return np.random.default_rng(d).standard_normal((5, d)) * np.sqrt(5.0 / d)


def estimates(make, rows, seeds=SEEDS):
    """Return the estimated kernel matrix for each seed, shape (seeds, n, n)."""
    every = []
    for seed in range(seeds):
        features = make(seed).fit(rows).transform(rows)
        every.append(features @ features.T)
    return np.array(every)


def z_scores(sample, exact):
    """Return (mean - exact) / standard error for each pair of rows, the diagonal included.

    An entry that does not vary over seeds (the diagonal in the paired map) has the score 0 where
    it is exact and infinity where it is not.
    """
    pairs = np.triu_indices(len(exact))
    mean, spread = sample.mean(axis=0)[pairs], sample.std(axis=0, ddof=1)[pairs]
    error = mean - exact[pairs]
    fixed = spread < 1e-12
    score = error * np.sqrt(len(sample)) / np.where(fixed, 1.0, spread)
    return np.where(fixed, np.where(np.abs(error) < 1e-12, 0.0, np.inf), score)


def assert_mean(sample, exact, wrong=(), limit=LIMIT):
    """Hold the mean of estimates against what it has to be, and against what must not pass."""
    worst = np.abs(z_scores(sample, exact)).max()
    assert worst < limit, f"the kernel estimate is {worst:.1f} standard errors off"
    for i, other in enumerate(wrong):
        far = np.abs(z_scores(sample, other)).max()
        assert far > limit, (
            f"wrong mean {i} is only {far:.1f} standard errors off: "
            "take more seeds, or one that is further away"
        )
