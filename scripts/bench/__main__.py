"""Command `python -m scripts.bench`: measure, print the table, store the results."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scripts.bench.case import Case

RESULTS = Path("results/bench")


def main() -> None:
    """Run the benchmark; exit with code 1 if a bar is missed."""
    parser = argparse.ArgumentParser(
        prog="scripts/bench/run",
        description="Time rfbench against scikit-learn and against the machine's own limit.",
        epilog=f"The table and numbers go to {RESULTS}/.",
    )
    parser.add_argument(
        "--quick", action="store_true", help="one and two threads beside scikit-learn, four minutes"
    )
    parser.add_argument(
        "--cpu", action="store_true", help="with --quick: CPU seconds, for a busy machine"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the numbers here")
    parser.add_argument(
        "--covtype",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="bar 5: about 20 minutes and 13 GB of memory",
    )
    given = parser.parse_args()
    if given.quick:
        _measure_quickly(cpu=given.cpu)
        return
    from rich.console import Console

    from scripts.bench import report

    console = Console(highlight=False, soft_wrap=True)
    console.print(report.conditions())
    cases = []
    for case in _everything(covtype=given.covtype):
        console.print(report.line(case))
        cases.append(case)
    console.print()
    console.print(report.table(cases))
    console.print(report.verdict(cases))
    if given.json:
        report.write_json(cases, given.json)
    report.write(cases, RESULTS)
    console.print(f"Written to {RESULTS}/: {', '.join(report.FILES)}")
    sys.exit(0 if all(case.reaches(bar) for case in cases for bar in case.bars) else 1)


def _measure_quickly(*, cpu: bool) -> None:
    """Print the lines of the quick benchmark as they are measured, and write its page."""
    from scripts.bench import quick

    clock = time.process_time if cpu else time.perf_counter
    lines = []
    for line in quick.measure_all(clock):
        print(" | ".join(line.cells()), flush=True)
        lines.append(line)
    print(f"Written to {quick.write_page(quick.page(lines, clock), RESULTS)}")


def _everything(*, covtype: bool) -> Iterator[Case]:
    from threadpoolctl import threadpool_limits

    from rfbench.compute import waves
    from rfbench.registry import SAMPLERS
    from scripts.bench import pools, ridge, runs, solvers
    from scripts.bench.covtype import covtype_case

    waves.warm_up()
    with threadpool_limits(limits=1):
        for n, d, M, bar in ridge.SIZES:
            yield ridge.ridge_case(n, d, M, bar, rounds=3, fits=len(ridge.ALPHAS))
        for n, d, M, _ in ridge.SIZES:
            yield ridge.orf_case(n, d, M)
            yield ridge.nystroem_case(n, d, M)
        for n, d, candidates in pools.SIZES:
            for name in pools.SCORED:
                if name in SAMPLERS:
                    yield pools.pool_case(name, n, d, candidates)
        yield pools.weights_case()
        yield from solvers.solver_cases()
    if covtype:
        yield covtype_case()
    yield runs.workers_case(n=40_000, d=20, M=1000, trials=10)


if __name__ == "__main__":
    main()
