"""A transformer that misbehaves on purpose, for the tests of the runner."""

import ctypes
import os
import time

import numpy as np


class Faulty:
    """Does what `fault` says in `fit` when n_components is `at`, otherwise projects at random."""

    def __init__(self, n_components=1, fault="none", at=8, random_state=0):
        self.n_components, self.fault, self.at = n_components, fault, at
        self.random_state = random_state

    def fit(self, X, y=None):
        if self.n_components == self.at:
            FAULTS[self.fault]()
        generator = np.random.default_rng(self.random_state)
        self.matrix = generator.standard_normal((X.shape[1], self.n_components))
        return self

    def transform(self, X):
        return np.tanh(X @ self.matrix)


def _raise():
    raise ZeroDivisionError("on purpose")


def _eat():
    blocks = []
    while True:
        blocks.append(np.ones(2**24))


FAULTS = {
    "none": lambda: None,
    "raise": _raise,
    "segfault": lambda: ctypes.string_at(0),
    "exit": lambda: os._exit(3),
    "sleep": lambda: time.sleep(600),
    "memory": _eat,
}
