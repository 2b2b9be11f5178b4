"""Samplers that learn against plain random features, on the data sets of configs/leaderboard.yaml.

    python -m scripts.bench.learned rfm-rff --trials 3
    python -m scripts.bench.learned rks --metric diagonal --data cpu letter

Prints by data set the mean test error over that of rks, and the geometric mean of all. One worker.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from pathlib import Path

import numpy as np

from rfbench import config, shipped
from rfbench.experiment.plan import jobs
from rfbench.experiment.run_plan import plan_run
from rfbench.experiment.trial import run_job

RUNS = ("leaderboard_classification", "leaderboard_regression")


def main() -> None:
    """Print a line for each data set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sampler", help="as in a configuration: rfm-rff, '{rfm-rff: {rounds: 5}}'")
    parser.add_argument("--metric", default="none", choices=("none", "diagonal", "full"))
    parser.add_argument("--M", type=int, default=400)
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--data", nargs="*", help="the first of them only")
    given = parser.parse_args()
    (path,) = (path for path in shipped.every() if path.stem == "leaderboard")
    ratios = []
    for run in RUNS:
        for name in config.documents(path)[run].value["dataset"]:
            if given.data and name not in given.data:
                continue
            begun, errors = time.process_time(), defaultdict(list)
            for sampler, metric in (("rks", "none"), (given.sampler, given.metric)):
                own = [f"dataset={name}", f"M={given.M}", f"trials={given.trials}"]
                own += [f"samplers={sampler}", f"kernel_metric={metric}"]
                experiment = config.read(path, own, run=run)
                for job in jobs(plan_run([experiment], Path("learned")).trials):
                    for row in run_job(job):
                        column = "error" if row.get("error") is not None else "relative_rmse"
                        errors[metric, sampler].append(row[column])
            plain, learned = (float(np.mean(values)) for values in errors.values())
            ratios.append(learned / plain)
            spent = time.process_time() - begun
            print(
                f"{name:15} rks {plain:.4g}, {given.sampler} {learned:.4g}: {ratios[-1]:.3f} "
                f"({spent:.0f} CPU s)",
                flush=True,
            )
    print(f"geometric mean of {len(ratios)}: {np.exp(np.mean(np.log(ratios))):.3f}")


if __name__ == "__main__":
    main()
