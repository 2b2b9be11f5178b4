"""The errors of the selected model on held-out rows, and the importances of its columns.

The results do not contain values of single rows. Means and standard deviations are computed over
at least ten rows, or over all held-out rows if there are fewer.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.inspection import permutation_importance

from rfbench.arrays import Array
from rfbench.choosing.table import LEAST_ROWS

# GROUPS is the largest number of groups of rows in a figure. MOST_CLASSES is the largest number of
# classes in a confusion matrix. The values were chosen so that a figure can be read. With twice as
# many groups, each group has half as many rows.
GROUPS, MOST_CLASSES = 12, 20
# REPEATS is the number of permutations of each column (5 by default in scikit-learn). Permutation
# importances are computed on at most MOST_ROWS rows. On 1,000 rows, an importance has a standard
# error of about 3 % of the loss. With twice REPEATS, the importances need twice the time.
REPEATS, MOST_ROWS = 3, 1_000


def summarize_held_out_errors(scores: Array, truth: NDArray[Any], n_classes: int) -> dict[str, Any]:
    """Return the errors of a model for groups of held-out rows with similar predictions.

    Parameters
    ----------
    scores : array of shape (n, k)
        Class probabilities, or predicted numbers with k = 1.
    truth : array of shape (n,)
        True class codes, or true numbers.
    n_classes : int
        Number of classes, or 0 for a regression.

    Returns
    -------
    dict
        ``groups`` is a list with one dictionary for each group of rows: the number of ``rows``, the
        mean ``predicted`` of the predictions, and the mean ``true`` and the standard deviation
        ``spread`` of the true values. For classes, a prediction is the probability of the most
        probable class, and the true value is 1 if this class is right, else 0. ``confusion`` is the
        confusion matrix, a list of lists. It is empty for a regression and for more than 20
        classes.
    """
    predicted, true = scores[:, 0], truth
    facts: dict[str, Any] = {"confusion": []}
    if n_classes:
        decided = scores.argmax(axis=1)
        predicted, true = scores.max(axis=1), (decided == truth).astype(float)
        if n_classes <= MOST_CLASSES:
            counts = np.bincount(truth * n_classes + decided, minlength=n_classes**2)
            facts["confusion"] = counts.reshape(n_classes, n_classes).tolist()
    order = np.argsort(predicted, kind="stable")
    parts = np.array_split(order, max(1, min(GROUPS, len(order) // LEAST_ROWS)))
    facts["groups"] = [
        {
            "rows": len(part),
            "predicted": float(predicted[part].mean()),
            "true": float(true[part].mean()),
            "spread": float(true[part].std()),
        }
        for part in parts
    ]
    return facts


def measure_permutation_importances(
    model: Any,
    X: Any,
    truth: NDArray[Any],
    measure: Callable[[Array, NDArray[Any]], float],
    deadline: float,
    seed: int,
) -> tuple[list[dict[str, Any]], str]:
    """Return the permutation importance of each column, or a reason why it was not measured.

    Parameters
    ----------
    model : Model
        Model that was not fitted on these rows.
    X : DataFrame of shape (n, d)
        Held-out rows.
    truth : array of shape (n,)
        True class codes, or true numbers.
    measure : callable
        Function that returns the loss, given the predictions, shape (n, k), and the truth.
    deadline : float
        Latest end as a value of `time.monotonic`. Nothing is measured if there is not enough time.
    seed : int
        Seed of the permutations.

    Returns
    -------
    importances : list of dict
        For each column, its name (``column``), and the mean (``increase``) and the standard
        deviation (``deviation``) of the increase of the loss over the permutations. The largest
        increase is first. The list is empty if there is not enough time.
    reason : str
        Reason why the list is empty, or ``""``.
    """
    rows = np.random.default_rng(seed).permutation(len(truth))[:MOST_ROWS]
    X, truth = X.iloc[rows], truth[rows]

    def score(model: Any, X: Any, y: NDArray[Any]) -> float:
        said = model.predict_proba(X) if hasattr(model, "classes_") else model.predict(X)
        return -measure(said.reshape(len(X), -1), y)

    start = monotonic()
    score(model, X, truth)
    seconds = (monotonic() - start) * (1 + REPEATS * X.shape[1])
    if monotonic() + seconds > deadline:
        columns = f"{X.shape[1]} columns, which need {seconds:.1f} s"
        return [], f"the time budget was spent before permutations of {columns}"
    found: Any = permutation_importance(
        model, X, truth, scoring=score, n_repeats=REPEATS, random_state=seed
    )
    every = zip(X.columns, found.importances_mean, found.importances_std, strict=True)
    named = [{"column": str(c), "increase": float(m), "deviation": float(s)} for c, m, s in every]
    return sorted(named, key=lambda each: -each["increase"]), ""
