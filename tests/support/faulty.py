"""A transformer that misbehaves on purpose, for the tests of the runner."""

import ctypes
import decimal
import gc
import locale
import logging
import multiprocessing
import os
import random
import resource
import signal
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pandas
import scipy.sparse
import sklearn
from threadpoolctl import threadpool_limits


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


def limit_itself():
    for kind in (resource.RLIMIT_FSIZE, resource.RLIMIT_DATA, resource.RLIMIT_NPROC):
        resource.setrlimit(kind, (0, resource.getrlimit(kind)[1]))


def change_state():
    """Change what belongs to the whole process."""
    os.chdir("/")
    os.environ["RFBENCH_LEFT_BEHIND"] = "1"
    os.environ.pop("PATH", None)
    os.umask(0o777)
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
    np.seterr(all="raise")
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(sys.getrecursionlimit() + 7)
    sys.path.insert(0, "/nowhere")
    sys.stdout = None
    sys.excepthook = None
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    signal.alarm(1)


def change_settings():
    """Change what libraries keep for the whole process."""
    sklearn.set_config(assume_finite=False, transform_output="pandas")
    threadpool_limits(2)


def die_by_a_child():
    if os.fork() == 0:
        os.kill(os.getppid(), signal.SIGKILL)
        os._exit(0)
    time.sleep(600)


def end_the_run(number):
    run = os.getppid()
    while True:
        os.kill(run, number)
        time.sleep(0.1)


def leave_a_child():
    context = multiprocessing.get_context("fork")
    context.Process(target=time.sleep, args=(600,)).start()


def leave_a_thread():
    threading.Thread(target=time.sleep, args=(600,)).start()


def change_a_library():
    np.tanh = np.sign


def recurse():
    recurse()


def lose_the_folder():
    """Stand where no folder is."""
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    Path(folder).rmdir()


def close_output():
    for number in (0, 1, 2):
        os.close(number)


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
    "limits": limit_itself,
    "state": change_state,
    "settings": change_settings,
    "fork": os.fork,
    "child": leave_a_child,
    "thread": leave_a_thread,
    "close": lambda: os.closerange(3, 200),
    "kill by a child": die_by_a_child,
    "recursion": recurse,
    "a long message": raising(ValueError("long " * 10**6)),
    "no memory": raising(MemoryError()),
    "a warning as an error": raising(UserWarning("on purpose")),
    "no folder": lose_the_folder,
    "no output": close_output,
    "no collection": gc.disable,
    "silent log": lambda: logging.disable(logging.CRITICAL),
    "decimals": lambda: decimal.getcontext().__setattr__("prec", 1),
    "locale": lambda: locale.setlocale(locale.LC_ALL, "C"),
    "a changed library": change_a_library,
    "stop the run": lambda: end_the_run(signal.SIGTERM),
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
