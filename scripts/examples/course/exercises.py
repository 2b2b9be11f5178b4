"""Five feature maps with one fault each: find the line, and correct it.

    rfbench test scripts/examples/course/exercises.py:first --allow-imports

Each function claims the Gaussian kernel exp(-|x - y|^2 / 2). The solutions are in solutions.py.
"""

import numpy as np


def first(X, M, seed):
    """Return cosines with an offset."""
    generator = np.random.default_rng(seed)
    W = generator.standard_normal((M, X.shape[1]))
    return np.sqrt(2 / M) * np.cos(X @ W.T + generator.uniform(-1, 1, M))


def second(X, M, seed):
    """Return orthogonal features: a Gaussian length for each row of an orthogonal matrix."""
    generator, d = np.random.default_rng(seed), X.shape[1]
    blocks = []
    for _ in range(-(-M // d)):
        Q, R = np.linalg.qr(generator.standard_normal((d, d)))
        lengths = np.sqrt(generator.chisquare(d, size=d))
        blocks.append(Q * np.sign(np.diag(R)) * lengths)
    W = np.vstack(blocks)[:M]
    return np.sqrt(2 / M) * np.cos(X @ W.T + generator.uniform(0, 2 * np.pi, M))


def third(X, M, seed):
    """Return cosines of frequencies from a generator, and offsets from another one."""
    W = np.random.default_rng(seed).uniform(size=(M, X.shape[1], 12)).sum(axis=2) - 6
    offsets = 2 * np.pi * np.random.default_rng(seed).uniform(size=(M, X.shape[1], 12))[:, 0, 0]
    return np.sqrt(2 / M) * np.cos(X @ W.T + offsets)


def fourth(X, M, seed):
    """Return cosines of single columns, one set of M for each column."""
    generator = np.random.default_rng(seed)
    W, offsets = generator.standard_normal((*X.shape[1:], M)), generator.uniform(0, 2 * np.pi, M)
    phases = X[:, :, None] * W + offsets
    return np.sqrt(2 / phases[0].size) * np.cos(phases).reshape(len(X), -1)


def fifth(X, M, seed):
    """Return pairs of cosine and sine for half of the M columns each."""
    W = np.random.default_rng(seed).standard_normal((M // 2, X.shape[1]))
    return np.sqrt(2 / M) * np.hstack([np.cos(X @ W.T), np.sin(np.abs(X @ W.T))])
