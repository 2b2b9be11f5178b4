"""Draws features in an environment of a package: requests come in by pickle, features go out."""

import importlib.util
import os
import pickle
import sys

import numpy as np


def main():
    """Answer until the input ends: (function, rows, M, seed, options) -> features, or the error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a package prints is no answer
    spec = importlib.util.spec_from_file_location("packages", sys.argv[1])
    packages = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(packages)
    while True:
        try:
            name, X, M, seed, options = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer = getattr(packages, name)(np.asarray(X), M, seed, **options)
        except Exception as error:
            answer = f"{type(error).__name__}: {error}"
        pickle.dump(answer, answers, protocol=4)
        answers.flush()


if __name__ == "__main__":
    main()
