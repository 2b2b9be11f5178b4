"""Rows and features of a course assignment on kernel approximation (npfl129, Prague).

A row is the number of an image, from which the classes compute their features. rfbench leaves out
constant columns, so that random features of the pixels would have other random numbers.
"""

import functools
import gzip
import os
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler

GAMMA, SEED, ROWS = 0.022, 42, 5000


@functools.cache
def load_images():
    """Return 2,500 scaled training images, followed by 2,500 test images, and their digits."""
    folder = Path(os.environ.get("RFBENCH_DATA", "data"), "mnist")
    names = ("images-idx3", "labels-idx1")
    X, y = (gzip.decompress((folder / f"train-{n}-ubyte.gz").read_bytes()) for n in names)
    X = np.frombuffer(X, np.uint8, offset=16).reshape(-1, 784)[:ROWS]
    y = np.frombuffer(y, np.uint8, offset=8)[:ROWS]
    train, test, *digits = train_test_split(X, y, test_size=0.5, random_state=SEED)
    scaler = MinMaxScaler().fit(train)
    return np.vstack([scaler.transform(each) for each in (train, test)]), np.hstack(digits)


def load_rows():
    """Return the numbers of the images, shape (5000, 1), and their digits."""
    return np.arange(float(ROWS))[:, None], load_images()[1]


class Images(TransformerMixin, BaseEstimator):
    """Pixels of the images."""

    def fit(self, X, y=None):
        """Do nothing."""
        return self

    def find(self, X):
        """Return the scaled pixels of the images with the numbers in X, shape (n, 1)."""
        return load_images()[0][X[:, 0].astype(int)]

    def transform(self, X):
        """Return the features of rows."""
        return self.find(X)


class Approximation(Images):
    """Features of an approximate Gaussian kernel, with the fixed seed of the assignment."""

    def __init__(self, n_components=100):
        self.n_components = n_components

    def fit(self, X, y=None):
        """Draw the features from training rows."""
        words = {"gamma": GAMMA, "n_components": self.n_components, "random_state": SEED}
        self.map_ = self.method(**words).fit(self.find(X))
        return self

    def transform(self, X):
        """Return the features of rows."""
        return self.map_.transform(self.find(X))


class Waves(Approximation):
    """Random Fourier features."""

    method = RBFSampler


class Landmarks(Approximation):
    """Nystroem features of random training rows."""

    method = Nystroem
