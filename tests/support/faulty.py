"""A transformer that misbehaves on purpose, for the tests of the runner."""

import ctypes
import multiprocessing
import os
import random
import signal
import time

import numpy as np
import pandas
import scipy.sparse


class Faulty:
    """Does what `fault` says in `fit` when n_components is `at`, otherwise projects at random."""

    def __init__(self, n_components=1, fault="none", at=8, random_state=0):
        self.n_components, self.fault, self.at = n_components, fault, at
        self.random_state = random_state

    def fit(self, X, y=None):
        if self.n_components == self.at:
            FAULTS.get(self.fault, FAULTS["none"])()
        generator = np.random.default_rng(self.random_state)
        self.matrix = generator.standard_normal((X.shape[1], self.n_components))
        return self

    def transform(self, X):
        Z = np.tanh(X @ self.matrix)
        return RETURNED[self.fault](Z) if self.fault in RETURNED and Z.shape[1] == self.at else Z


class Witness(Faulty):
    """Draws from the global generators: what it returns depends on what others left there."""

    def fit(self, X, y=None):
        self.matrix = np.random.standard_normal((X.shape[1], self.n_components))  # noqa: NPY002
        self.matrix += random.random()
        return self


class Unreadable(Exception):
    """An exception without a message that can be read."""

    def __str__(self):
        raise SystemExit(3)


class Foreign(BaseException):
    """An exception that is no Exception."""


def raising(error):
    def act():
        raise error

    return act


def _eat():
    blocks = []
    while True:
        blocks.append(np.empty(2**24))


def end_the_run(number):
    run = os.getppid()
    while True:
        os.kill(run, number)
        time.sleep(0.1)


def leave_a_child():
    context = multiprocessing.get_context("fork")
    context.Process(target=time.sleep, args=(600,)).start()


def recurse():
    recurse()


FAULTS = {
    "none": lambda: None,
    "raise": raising(ZeroDivisionError("on purpose")),
    "segfault": lambda: ctypes.string_at(0),
    "exit": lambda: os._exit(3),
    "sleep": lambda: time.sleep(600),
    "memory": _eat,
    "system exit": raising(SystemExit(0)),
    "interrupt": raising(KeyboardInterrupt()),
    "generator exit": raising(GeneratorExit()),
    "stop": raising(StopIteration()),
    "foreign": raising(Foreign("on purpose")),
    "surrogate": raising(ValueError("a\udc80b\0c\r\nd")),
    "unreadable": raising(Unreadable()),
    "fork": os.fork,
    "child": leave_a_child,
    "close": lambda: os.closerange(3, 200),
    "recursion": recurse,
    "a long message": raising(ValueError("long " * 10**6)),
    "no memory": raising(MemoryError()),
    "kill the run": lambda: end_the_run(signal.SIGKILL),
}
# What `transform` returns in place of its features.
RETURNED = {
    "nan": lambda Z: np.where(Z > 0, np.nan, Z),
    "infinity": lambda Z: np.where(Z > 0, np.inf, Z),
    "texts": lambda Z: Z.astype(str),
    "objects": lambda Z: Z.astype(object),
    "a list": lambda Z: Z.tolist(),
    "nothing": lambda Z: None,
    "complex": lambda Z: Z + 1j,
    "three axes": lambda Z: Z[:, :, None],
    "one axis": lambda Z: Z[:, 0],
    "no columns": lambda Z: Z[:, :0],
    "integers": lambda Z: np.sign(Z).astype(int),
    "sparse": scipy.sparse.csr_array,
    "a frame": pandas.DataFrame,
    "too large": lambda Z: Z * 1e200,
    "other rows": lambda Z: Z[:-1],
}
