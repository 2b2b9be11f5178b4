"""Fit of FLAML, which runs in an environment of its own without rfbench.

python flaml_fit.py rows.npz predictions.npz 60 0 2     # seconds, seed, jobs
"""

import sys

import numpy as np


def main() -> None:
    """Fit on the training rows, and write the predictions of the test rows."""
    from flaml import AutoML  # type: ignore[import-not-found]

    source, out, seconds, seed, jobs = sys.argv[1:]
    rows = np.load(source)
    has_classes = rows["y"].dtype.kind == "i"
    model = AutoML()
    model.fit(
        rows["X"],
        rows["y"],
        task="classification" if has_classes else "regression",
        metric=str(rows["metric"]),
        time_budget=float(seconds),
        seed=int(seed),
        n_jobs=int(jobs),
        verbose=0,
    )
    said = (model.predict_proba if has_classes else model.predict)(rows["test"])
    classes = model.classes_ if has_classes else np.empty(0)
    np.savez(out, said=said, classes=classes, best=str(model.best_estimator))


if __name__ == "__main__":
    main()
