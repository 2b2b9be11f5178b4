"""Made-up comparisons of methods over data sets."""

from __future__ import annotations

from typing import Any

Errors = dict[tuple[str, str, int], float]
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
