"""Reproduce six accuracies of a course assignment on kernel approximation (npfl129, Prague).

RFBENCH_DATA=FOLDER python scripts/examples/course/accuracies.py

The folder npfl129 has the same assignment as a paper: `rfbench verify` compares its numbers.
"""

import numpy as np
from npfl129.assignment import Images, Landmarks, Waves, load_rows
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

PRINTED = {
    "original": (Images(), 89.64),
    "svm": (Images(), 94.68),
    "rff 300": (Waves(300), 84.36),
    "rff 800": (Waves(800), 91.64),
    "nystroem 100": (Landmarks(100), 90.80),
    "nystroem 300": (Landmarks(300), 93.28),
}


def main():
    """Print each accuracy next to the printed one."""
    X, y = load_rows()
    for name, (features, printed) in PRINTED.items():
        Z = features.fit(X[:2500]).transform(X)
        model = LogisticRegression(C=np.inf, solver="saga", max_iter=100, random_state=42)
        if name == "svm":
            model = SVC()
        accuracy = 100 * model.fit(Z[:2500], y[:2500]).score(Z[2500:], y[2500:])
        print(f"{name}: {accuracy:.2f}, printed {printed:.2f}", flush=True)


if __name__ == "__main__":
    main()
