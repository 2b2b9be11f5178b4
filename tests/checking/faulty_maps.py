"""Maps with one fault each, and right ones, as functions f(X, M, seed); their bandwidth is 3."""

import numpy as np

S = 3.0


def right(X, M, seed, s=S, lengths=1.0, scale=1.0, first=0):
    """Return cosines with an offset of independent draws."""
    generator = np.random.default_rng([first, seed])
    W = generator.standard_normal((M, X.shape[1])) * lengths / s
    return scale * np.sqrt(2 / M) * np.cos(X @ W.T + generator.uniform(0, 2 * np.pi, M))


def bandwidth_squared(X, M, seed):
    return right(X, M, seed, s=S**2)


def bandwidth_ignored(X, M, seed):
    return right(X, M, seed, s=1.0)


def m_forgotten(X, M, seed):
    return right(X, M, seed, scale=np.sqrt(M))


def factor_missing(X, M, seed):
    return right(X, M, seed, scale=np.sqrt(0.5))


def too_short(X, M, seed):
    return right(X, M, seed, lengths=np.sqrt(X.shape[1] / M))


def constant_seed(X, M, seed):
    return right(X, M, 0)


def one_line(X, M, seed):
    """All frequencies in one direction: no bias, and nothing gained from more of them."""
    generator = np.random.default_rng(seed)
    direction = generator.standard_normal(X.shape[1])
    direction /= np.linalg.norm(direction)
    lengths = np.sqrt(generator.chisquare(X.shape[1], M)) / S
    phases = np.outer(X @ direction, lengths) + generator.uniform(0, 2 * np.pi, M)
    return np.sqrt(2 / M) * np.cos(phases)
