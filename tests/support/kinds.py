"""One map of random features, written in each form that a method may have."""

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from rfbench.samplers import RandomFeatures
from rfbench.samplers.base import make_streams
from rfbench.samplers.elsewhere import adapted


def waves(d, M, seed):
    """The frequencies and the offsets that RKS draws of the same seed, for the bandwidth 1."""
    random = make_streams(seed)
    return random.frequencies.standard_normal((M, d)), random.offsets.uniform(0, 2 * np.pi, M)


class Drawn(RandomFeatures):
    def _draw(self, X, targets, random):
        W = random.frequencies.standard_normal((self.n_components, X.shape[1])) / self.bandwidth_
        return self.unit_map(W, random).times(self.n_components**-0.5)


class Transformer(TransformerMixin, BaseEstimator):
    """`gamma` is that of exp(-gamma |x - y|^2)."""

    def __init__(self, n_components=10, gamma=0.5, random_state=None):
        self.n_components, self.gamma, self.random_state = n_components, gamma, random_state

    def fit(self, X, y=None):
        self.W, self.b = waves(X.shape[1], self.n_components, self.random_state)
        return self

    def transform(self, X):
        W = self.W * np.sqrt(2 * self.gamma)
        return np.sqrt(2 / self.n_components) * np.cos(X @ W.T + self.b)


def function(X, M, seed):
    W, b = waves(X.shape[1], M, seed)
    return np.sqrt(2 / M) * np.cos(X @ W.T + b)


def ramps(X, M, seed):
    """Features of a kernel that grows with the rows."""
    W, _ = waves(X.shape[1], M, seed)
    return np.maximum(X @ W.T, 0)


class Net:
    """An object with `forward`, as a module of torch is."""

    def __init__(self, d, M, seed):
        self.W, self.b = waves(d, M, seed)

    def forward(self, X):
        return np.sqrt(2 / len(self.b)) * np.cos(X @ self.W.T + self.b)


module = adapted(Net)


class Sized(Transformer):
    """A transformer whose number of features has a name of its own."""

    def __init__(self, D=3, gamma=0.5, random_state=None):
        self.D, self.gamma, self.random_state = D, gamma, random_state

    @property
    def n_components(self):
        return self.D


class Ranks(TransformerMixin, BaseEstimator):
    """Steps at training rows: it has no bandwidth."""

    def __init__(self, n_components=10):
        self.n_components = n_components

    def fit(self, X, y=None):
        self.steps = np.resize(X[:, 0], self.n_components)
        return self

    def transform(self, X):
        return (X[:, :1] >= self.steps).astype(float)


def centred(X, M, seed):
    """Features that depend on which rows go through together."""
    Z = function(X, M, seed)
    return Z - Z.mean(axis=0)
