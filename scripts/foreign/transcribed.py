"""Maps of other packages, rewritten as f(X, M, seed) -> Z; rows are in bandwidths.

The code is ours. Each function treats the frequencies as the code named in sources.yaml does. M is
the number of columns.
"""

import numpy as np
from scipy.stats import norm, qmc


def waves(X, W):
    """Return pairs of cosine and sine; the rows of W are frequencies."""
    phases = X @ W.T
    return np.hstack([np.cos(phases), np.sin(phases)]) / np.sqrt(len(W))


def positive(X, W):
    """Return positive features of the softmax kernel."""
    return np.exp(X @ W.T - (X**2).sum(axis=1, keepdims=True) / 2) / np.sqrt(len(W))


def both_signs(X, W):
    """Return positive features of each frequency and of its negative."""
    return positive(X, np.vstack([W, -W]))


def blocks(generator, m, d, signs=False):
    """Return m orthogonal directions in blocks of d, as QR returns them or with random signs."""
    made = []
    for _ in range(-(-m // d)):
        Q, R = np.linalg.qr(generator.standard_normal((d, d)))
        made.append((Q * np.sign(np.diag(R)) if signs else Q).T)
    return np.vstack(made)[:m]


def lengths(generator, m, d):
    """Return the lengths of m Gaussian vectors."""
    return np.linalg.norm(generator.standard_normal((m, d)), axis=1)[:, None]


def rfflearn_orf(X, M, seed):
    generator, d, m = np.random.default_rng(seed), X.shape[1], M // 2
    made = []
    for _ in range(-(-m // d)):
        Q, _ = np.linalg.qr(generator.standard_normal((d, d)))
        # lengths scale the columns, although they belong to the frequencies
        made.append((lengths(generator, d, d) * Q).T)
    return waves(X, np.vstack(made)[:m])


def performer(X, M, seed, signs=False):
    generator, d = np.random.default_rng(seed), X.shape[1]
    return positive(X, lengths(generator, M, d) * blocks(generator, M, d, signs))


def performer_givens(X, M, seed):
    d, made = X.shape[1], []
    for _ in range(-(-M // d)):
        generator, Q = np.random.default_rng(seed), np.eye(d)  # the same seed in each block
        for _ in range(d * int(np.ceil(np.log(d)))):
            angle = np.pi * generator.uniform()
            i, j = sorted(generator.integers(0, d, size=2))
            first = np.cos(angle) * Q[i] + np.sin(angle) * Q[j]
            second = -np.sin(angle) * Q[i] + np.cos(angle) * Q[j]
            Q[i], Q[j] = first, second
        made.append(Q)
    generator = np.random.default_rng([seed, 1])
    return positive(X, lengths(generator, M, d) * np.vstack(made)[:M])


def xformers_smreg(X, M, seed):
    d, m = X.shape[1], M // 2
    Q, R = np.linalg.qr(np.random.default_rng(seed).standard_normal((m, m)))
    Q = np.sign(np.diag(R))[:, None] * Q  # of an m x m matrix, d rows are used
    return both_signs(X, (np.sqrt(d) * Q[:d]).T)


def spectraformer_qmc(X, M, seed):
    m, d = M // 2, X.shape[1]
    rows = 1 << (m - 1).bit_length()
    points = qmc.Sobol(rows, scramble=True, rng=seed).random(1 << (d - 1).bit_length())[:d]
    return waves(X, norm.ppf(np.clip(points, 1e-9, 1 - 1e-9)).T[:m])


def spectraformer_mm(X, M, seed):
    W = np.random.default_rng(seed).standard_normal((M // 2, X.shape[1]))
    W -= W.mean(axis=0)
    root = np.linalg.cholesky(W.T @ W / len(W))
    return waves(X, np.linalg.solve(root, W.T).T)


def fast_transformers_orf(X, M, seed):
    generator, d, m = np.random.default_rng(seed), X.shape[1], M // 2
    made = []
    for _ in range(-(-m // d)):
        block = generator.standard_normal((d, d))
        Q, _ = np.linalg.qr(block)
        made.append(Q.T * np.linalg.norm(block, axis=1)[:, None])
    return waves(X, np.vstack(made)[:m])


def pyrfm_orf(X, M, seed):
    generator, d = np.random.default_rng(seed), X.shape[1]
    M = -(-M // d) * d
    W = lengths(generator, M, d) * blocks(generator, M, d)
    return np.sqrt(2 / M) * np.cos(X @ W.T + generator.uniform(0, 2 * np.pi, M))
