"""What the benchmark prints and keeps."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rfbench.experiment import environment
from scripts.bench.case import Bar, Case, Exponent, from_record
from scripts.bench.growth import exponents
from scripts.bench.limit import DEFINITION

TITLE = """\
# Speed

`scripts/bench/run` wrote this page. Seconds are single runs on one thread, the best of several
repetitions; a bar is ours, and a case that misses it says so. In the lines of t_pp M is the size of
the pool."""
FILES = ("bench.json", "bench.md", "bench.png", "machine.json")
GROWTH = ("fit and transform: exponent in", "n", "M", "d")
LEFT = ("case", "reference", "bar", "verdict", GROWTH[0])
HEAD = (
    *("case", "n", "d", "M", "seconds", "reference", "seconds", "ratio"),
    *("x limit", "bar", "verdict"),
)


def conditions() -> str:
    """Return what the numbers depend on, and how the limit is defined."""
    machine = environment.machine()
    versions = environment.versions()
    libraries = {f"{b['library']} {b['version']} ({b['core']})": None for b in machine["blas"]}
    names = ("python", "numpy", "scipy", "scikit-learn", "numba")
    lines = [
        f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_gib']} GiB, "
        f"{machine['system']}",
        f"{', '.join(libraries)}; {', '.join(f'{name} {versions[name]}' for name in names)}",
        "environment, for the reference too: "
        + (
            " ".join(f"{name}={value}" for name, value in environment.blas_variables().items())
            or "unchanged"
        ),
        DEFINITION,
    ]
    return "\n".join(lines)


def line(case: Case) -> str:
    """Return a case in one line, as it is ready."""
    size = " ".join(
        f"{key}={value:,}" for key in "ndM" if (value := getattr(case, key)) is not None
    )
    return f"{case.case}: {size}: " + ", ".join(
        text for text in _numbers(case) + _verdicts(case) if text
    )


def table(cases: Sequence[Case]) -> str:
    """Return the table of all cases but those of growth, and below it that of the exponents."""
    return "\n\n".join(
        "\n".join(_aligned(head, body))
        for head, body in ((HEAD, rows(cases)), (GROWTH, growth_rows(cases)))
        if body
    )


def growth_rows(cases: Sequence[Case]) -> list[tuple[str, ...]]:
    """Return the cells of the table of exponents."""
    return [
        (name, *(f"{slopes[size]:.2f}" if size in slopes else "" for size in "nMd"))
        for name, slopes in exponents(cases).items()
    ]


def _aligned(head: Sequence[str], body: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[i]) for row in (head, *body)) for i in range(len(head))]
    for row in (head, *body):
        cells = (
            cell.ljust(width) if name in LEFT else cell.rjust(width)
            for cell, width, name in zip(row, widths, head, strict=True)
        )
        yield "  ".join(cells).rstrip()


def _markdown(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    marks = ["---" if name in LEFT else "---:" for name in head]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, marks, *body))


def rows(cases: Sequence[Case]) -> list[tuple[str, ...]]:
    """Return the cells of the table."""
    return [
        _cells(case)
        for case in cases
        if not isinstance(case, Exponent) and not case.case.startswith("growth")
    ]


def verdict(cases: Sequence[Case]) -> str:
    """Return one line a bar: passed, or by which cases it was missed."""
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


def redraw(folder: Path) -> None:
    """Draw the figure again from the numbers that the folder has."""
    from scripts.bench.figure import draw

    records = json.loads((folder / "bench.json").read_text("utf-8"))
    draw([from_record(record) for record in records], folder / "bench.png")


def write(cases: Sequence[Case], folder: Path) -> None:
    """Write the numbers, the table of the README, the figure and the machine."""
    from scripts.bench.figure import draw

    write_json(cases, folder / "bench.json")
    facts: dict[str, Any] = {
        "machine": environment.machine(),
        "versions": environment.versions(),
        "git": environment.git_commit(),
    }
    (folder / "machine.json").write_text(json.dumps(facts, indent=1) + "\n", "utf-8")
    parts = [TITLE, _markdown(HEAD, rows(cases)), _markdown(GROWTH, growth_rows(cases))]
    parts.append(conditions().replace("\n", "  \n"))
    text = "\n\n".join(parts) + "\n"
    (folder / "bench.md").write_text(text, "utf-8")
    draw(cases, folder / "bench.png")


def _cells(case: Case) -> tuple[str, ...]:
    return (
        case.case,
        *("" if size is None else f"{size:,}" for size in (case.n, case.d, case.M)),
        _time(case.seconds),
        case.reference or "",
        "" if case.reference_seconds is None else _time(case.reference_seconds),
        "" if case.ratio is None else f"{case.ratio:.3g}",
        "" if case.limit_ratio is None else f"{case.limit_ratio:.2f}",
        "; ".join(str(bar) for bar in case.bars if not _reported(bar)),
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
    held = [bar for bar in case.bars if not _reported(bar)]
    return ["PASS" if case.reaches(bar) else "MISSED" for bar in held]


def _reported(bar: Bar) -> bool:
    """Tell whether the bar asks for the measurement only."""
    return bar.number == 7


def _time(seconds: float) -> str:
    return f"{seconds:.3g}" if seconds < 1000 else f"{seconds:.0f}"
