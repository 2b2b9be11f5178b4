"""Output of the benchmark on the terminal and in files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rfbench.experiment import environment
from scripts.bench.case import Case
from scripts.bench.limit import DEFINITION

TITLE = """\
# Speed

The script `scripts/bench/run` wrote this page. Each time is the best of several repetitions on one
thread, in seconds. For the solvers alone, the time is the smallest number of CPU seconds.
The column "reference" names the program with which rfbench is compared. The column "bar" contains
our own target, and the verdict MISSED means that the target was not reached. In the cases
named t_pp, M is the size of the pool of candidate features."""
FILES = ("bench.json", "bench.md", "machine.json")
LEFT = ("case", "reference", "bar", "verdict")
HEAD = (
    *("case", "n", "d", "M", "seconds", "reference", "seconds", "ratio"),
    *("x limit", "bar", "verdict"),
)


def conditions() -> str:
    """Return the conditions of the measurement, and the definition of the limit."""
    return f"{machine_lines()}\n{DEFINITION}"


def machine_lines() -> str:
    """Return the machine, the versions and the environment, one line each."""
    machine = environment.describe_machine()
    versions = environment.read_versions()
    libraries = {f"{b['library']} {b['version']} ({b['core']})": None for b in machine["blas"]}
    names = ("python", "numpy", "scipy", "scikit-learn", "numba")
    lines = [
        f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_gib']} GiB, "
        f"{machine['system']}",
        f"{', '.join(libraries)}; {', '.join(f'{name} {versions[name]}' for name in names)}",
        "environment variables of rfbench and of the reference: "
        + (
            " ".join(f"{name}={value}" for name, value in environment.read_blas_variables().items())
            or "unchanged"
        ),
    ]
    return "\n".join(lines)


def line(case: Case) -> str:
    """Return a case as one line."""
    size = " ".join(
        f"{key}={value:,}" for key in "ndM" if (value := getattr(case, key)) is not None
    )
    return f"{case.case}: {size}: " + ", ".join(
        text for text in _numbers(case) + _verdicts(case) if text
    )


def table(cases: Sequence[Case]) -> str:
    """Return the table of all cases, in Markdown."""
    marks = ["---" if name in LEFT else "---:" for name in HEAD]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (HEAD, marks, *map(_cells, cases)))


def verdict(cases: Sequence[Case]) -> str:
    """Return one line per bar: passed, or the cases that miss it."""
    lines = []
    for number in sorted({bar.number for case in cases for bar in case.bars}):
        missed = [
            f"{case.case.split(' (')[0]} {case.n}, {case.d}, {case.M}"
            for case in cases
            if not all(case.reaches(bar) for bar in case.bars if bar.number == number)
        ]
        lines.append(f"bar {number}: " + (f"MISSED by {'; '.join(missed)}" if missed else "PASS"))
    return "\n".join(lines)


def write_json(cases: Sequence[Case], path: Path) -> None:
    """Write the list of records."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([case.record() for case in cases], indent=1) + "\n", "utf-8")


def write(cases: Sequence[Case], folder: Path) -> None:
    """Write the numbers, the table and the machine."""
    write_json(cases, folder / "bench.json")
    facts: dict[str, Any] = {
        "machine": environment.describe_machine(),
        "versions": environment.read_versions(),
        "git": environment.read_git_commit(),
    }
    (folder / "machine.json").write_text(json.dumps(facts, indent=1) + "\n", "utf-8")
    parts = [TITLE, table(cases), conditions().replace("\n", "  \n")]
    (folder / "bench.md").write_text("\n\n".join(parts) + "\n", "utf-8")


def _cells(case: Case) -> tuple[str, ...]:
    return (
        case.case,
        *("" if size is None else f"{size:,}" for size in (case.n, case.d, case.M)),
        _time(case.seconds),
        case.reference or "",
        "" if case.reference_seconds is None else _time(case.reference_seconds),
        "" if case.ratio is None else f"{case.ratio:.3g}",
        "" if case.limit_ratio is None else f"{case.limit_ratio:.2f}",
        "; ".join(map(str, case.bars)),
        ", ".join(_verdicts(case)),
    )


def _numbers(case: Case) -> list[str]:
    ratio, limit = case.ratio, case.limit_ratio
    return [
        _time(case.seconds) + " s",
        "" if ratio is None else f"{ratio:.3g} x {case.reference}",
        "" if limit is None else f"{limit:.2f} x limit",
        case.note,
    ]


def _verdicts(case: Case) -> list[str]:
    return ["PASS" if case.reaches(bar) else "MISSED" for bar in case.bars]


def _time(seconds: float) -> str:
    return f"{seconds:.3g}" if seconds < 1000 else f"{seconds:.0f}"
