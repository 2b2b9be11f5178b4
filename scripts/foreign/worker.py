"""Worker that draws features in a package's environment; requests and features are pickles."""

import importlib.util
import os
import pickle
import sys

import numpy as np


def main():
    """Process requests (function, rows, M, seed, options) until the input ends.

    The answer to a request is its features, or an error as text.
    """
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output that a package prints must not mix with the answers
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
