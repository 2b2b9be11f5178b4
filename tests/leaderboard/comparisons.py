"""Made-up comparisons of methods over data sets."""

from __future__ import annotations

from typing import Any

Errors = dict[tuple[str, str, int], float]
ERRORS: Errors = {
    ("digits", "rks", 100): 20.0, ("digits", "rks", 200): 10.0,
    ("digits", "orf", 100): 10.4, ("digits", "orf", 200): 12.0,
    ("eeg", "rks", 100): 30.0, ("eeg", "rks", 200): 28.0,
    ("eeg", "orf", 100): 20.0, ("eeg", "orf", 200): 20.0,
}  # fmt: skip


ROLES = {"rks": "baseline", **dict.fromkeys(("boosting", "linear", "exact-kernel"), "model")}


def rows(errors: Errors, trials: int = 3, **changes: Any) -> list[dict[str, Any]]:
    """Rows whose mean error is the given one, half a point apart from trial to trial."""
    return [
        {
            "protocol": "tuned", "dataset": dataset, "sampler": method, "M": M, "trial": t,
            "error": error + 0.5 * (t - (trials - 1) / 2),
            "role": ROLES.get(method, "method"), **changes,
        }
        for (dataset, method, M), error in errors.items()
        for t in range(trials)
    ]  # fmt: skip
