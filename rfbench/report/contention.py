"""Whether other work on the machine lengthened the measured times."""

from __future__ import annotations

import pandas as pd

from rfbench.results.schema import TIMES

BUSY = 1.2


def wall_over_cpu(rows: pd.DataFrame) -> float:
    """Return the wall time of one-thread rows over their CPU time; NaN where neither is known.

    On an idle machine it is about 1, or below where BLAS has more threads than one.
    """
    one = rows[(rows["status"] == "ok") & (rows["threads"] == 1)]
    wall = one[[name for name in TIMES if name.startswith("t_")]].sum().sum()
    cpu = one[[name for name in TIMES if name.startswith("cpu_")]].sum().sum()
    return float(wall / cpu) if cpu > 0 else float("nan")


def busy_note(rows: pd.DataFrame) -> list[str]:
    """Say so where wall times are much longer than CPU times."""
    ratio = wall_over_cpu(rows)
    if not ratio > BUSY:
        return []
    return [
        f"The machine was busy with other work: wall times are {ratio:.1f} times the CPU times, "
        "which are in trials.csv beside them."
    ]
