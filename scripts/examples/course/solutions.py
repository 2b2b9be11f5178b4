"""Solutions of the exercises: the corrected feature maps, and the fault of each exercise."""

import numpy as np

FAULTS = {
    "first": "The offsets cover a part of the circle, so that z(x)'z(y) depends on x + y.",
    "second": "The lengths scale coordinates. The rows are frequencies: they get the lengths.",
    "third": "Frequencies and offsets come from the same seed, and depend on each other.",
    "fourth": "The kernel of a sum needs one cosine of the sum over all columns.",
    "fifth": "The sine of an absolute value is an even function: x and -x have the same features.",
}


def draw_offsets(generator, M):
    """Draw offsets from the whole circle."""
    return generator.uniform(0, 2 * np.pi, M)


def first(X, M, seed):
    """Return cosines with an offset."""
    generator = np.random.default_rng(seed)
    W = generator.standard_normal((M, X.shape[1]))
    return np.sqrt(2 / M) * np.cos(X @ W.T + draw_offsets(generator, M))


def second(X, M, seed):
    """Return orthogonal features: a Gaussian length for each row of an orthogonal matrix."""
    generator, d = np.random.default_rng(seed), X.shape[1]
    blocks = []
    for _ in range(-(-M // d)):
        Q, R = np.linalg.qr(generator.standard_normal((d, d)))
        lengths = np.sqrt(generator.chisquare(d, size=d))
        blocks.append(Q * np.sign(np.diag(R)) * lengths[:, None])
    W = np.vstack(blocks)[:M]
    return np.sqrt(2 / M) * np.cos(X @ W.T + draw_offsets(generator, M))


def third(X, M, seed):
    """Return cosines of frequencies and offsets from one generator."""
    return first(X, M, seed)


def fourth(X, M, seed):
    """Return one cosine of the sum over all columns."""
    return first(X, M, seed)


def fifth(X, M, seed):
    """Return pairs of cosine and sine for half of the M columns each."""
    W = np.random.default_rng(seed).standard_normal((M // 2, X.shape[1]))
    return np.sqrt(2 / M) * np.hstack([np.cos(X @ W.T), np.sin(X @ W.T)])
