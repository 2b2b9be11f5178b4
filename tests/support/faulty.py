"""A transformer that misbehaves on purpose, for the tests of the runner."""

import ctypes
import multiprocessing
import os
import random
import resource
import signal
import sys
import threading
import time
import warnings

import numpy as np
import sklearn
from threadpoolctl import threadpool_limits


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
    "a changed library": change_a_library,
    "stop the run": lambda: end_the_run(signal.SIGTERM),
    "kill the run": lambda: end_the_run(signal.SIGKILL),
}
