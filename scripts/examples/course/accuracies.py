"""Reproduce six accuracies of a course assignment on kernel approximation (npfl129, Prague).

RFBENCH_DATA=FOLDER python scripts/examples/course/accuracies.py
"""

import gzip
import os
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from rfbench.kernels import Gaussian

PRINTED = {
    "none 0": 89.64,
    "svc 0": 94.68,
    "rff 300": 84.36,
    "rff 800": 91.64,
    "nystroem 100": 90.80,
    "nystroem 300": 93.28,
}
GAMMA, FOLDER = 0.022, Path(os.environ.get("RFBENCH_DATA", "missing"), "mnist")


def make_features(kind, M, train, rows):
    """Return random Fourier features or Nystroem features of rows, as the assignment has them."""
    random = np.random.RandomState(42)
    if kind == "rff":
        W = random.normal(scale=np.sqrt(2 * GAMMA), size=(rows.shape[1], M))
        return np.sqrt(2 / M) * np.cos(rows @ W + random.uniform(0, 2 * np.pi, M))
    kernel, chosen = Gaussian((2 * GAMMA) ** -0.5), random.choice(len(train), M, replace=False)
    U, S, V = np.linalg.svd(kernel(train[chosen], train[chosen]))
    return kernel(rows, train[chosen]) @ (U / np.sqrt(S + 1e-12) @ V)


def main():
    """Print each accuracy next to the printed one."""
    names = ("images-idx3", "labels-idx1")
    X, y = (gzip.decompress((FOLDER / f"train-{n}-ubyte.gz").read_bytes()) for n in names)
    X = np.frombuffer(X, np.uint8, offset=16).reshape(-1, 784)[:5000]
    y = np.frombuffer(y, np.uint8, offset=8)[:5000]
    train, test, *targets = train_test_split(X, y, test_size=0.5, random_state=42)
    scaler = MinMaxScaler().fit(train)
    train, test = scaler.transform(train), scaler.transform(test)
    for name, printed in PRINTED.items():
        kind, M, rows = name.split()[0], int(name.split()[-1]), (train, test)
        model = LogisticRegression(C=np.inf, solver="saga", max_iter=100, random_state=42)
        if kind == "svc":
            model = SVC()
        elif kind != "none":
            rows = [make_features(kind, M, train, each) for each in rows]
        accuracy = 100 * model.fit(rows[0], targets[0]).score(rows[1], targets[1])
        print(f"{name}: {accuracy:.2f}, printed {printed:.2f}", flush=True)


if __name__ == "__main__":
    main() if FOLDER.is_dir() else print("RFBENCH_DATA has to name a folder with mnist")
