"""Run `rfbench choose` on every table of folders, and check that it ends with a model or an error.

    python -m scripts.bench.choose_all FOLDER [FOLDER ...] --budget 20 --out choose_all.csv

The script runs the command once per file, prints a line per file, and appends it to a CSV. Files
that are already in the CSV are skipped, so an interrupted run resumes. The exit code is 1 if a
table ended with a traceback, with an exit code other than 0 or 2, or later than 1.2 times the
budget plus 5 s.

The target is the column ``target``, or else the last one. A file whose first line has only numbers
has no header.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

COLUMNS = ["file", "code", "seconds", "late", "traceback", "answer"]
SUFFIXES = (".csv", ".tsv", ".data", ".txt", ".arff", ".csv.gz", ".tsv.gz")


def options_of(file: Path) -> list[str]:
    """Return the options for the target of a file, from its first lines."""
    opened = gzip.open if file.suffix == ".gz" else open
    with opened(file, "rt", encoding="utf-8", errors="replace") as stream:
        if file.suffix == ".arff":
            names = re.findall(r"(?im)^@attribute\s+('[^']*'|\"[^\"]*\"|\S+)", stream.read())
            return ["--target", names[-1].strip("'\"")]
        first = re.split(r"[,;\t]", stream.readline().strip())
    names = [name.strip("\"'") for name in first]
    if all(re.fullmatch(r"[-+.\deE]+", name) for name in names):
        return ["--no-header", "--target", str(len(names) - 1)]
    return ["--target", "target" if "target" in names else names[-1]]


def run(words: list[str]) -> tuple[subprocess.CompletedProcess[str], float]:
    """Run rfbench with the given arguments; return the finished process and its seconds."""
    start = time.monotonic()
    command = [sys.executable, "-m", "rfbench", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done, time.monotonic() - start


def line_of(file: Path, budget: float) -> list[object]:
    """Run the command on a file and return a line of the CSV."""
    with tempfile.TemporaryDirectory() as out:
        words = ["choose", str(file), *options_of(file), "--budget", f"{budget}s", "--out", out]
        done, seconds = run(words)
    said = done.stdout.splitlines() if done.returncode == 0 else done.stderr.splitlines()
    answers = [text for text in said if text.startswith(("SELECTED", "NOTHING", "THERE", "error:"))]
    late = seconds > 1.2 * budget + 5
    traced = "Traceback" in done.stdout + done.stderr
    return [str(file), done.returncode, f"{seconds:.1f}", late, traced, "".join(answers[:1])]


def lines_done(table: Path) -> Iterator[dict[str, str]]:
    """Yield the lines of the CSV of an earlier run."""
    if table.exists():
        with table.open(newline="", encoding="utf-8") as stream:
            yield from csv.DictReader(stream)


def main() -> int:
    """Run the command on all files that have no line yet."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--budget", type=float, default=20.0, help="seconds per table")
    parser.add_argument("--out", type=Path, default=Path("choose_all.csv"))
    args = parser.parse_args()
    lines = {line["file"]: line for line in lines_done(args.out)}
    found = (file for folder in args.folders for file in sorted(folder.rglob("*")))
    for file in found:
        if not file.name.endswith(SUFFIXES) or str(file) in lines:
            continue
        values = line_of(file, args.budget)
        lines[str(file)] = dict(zip(COLUMNS, map(str, values), strict=True))
        new = not args.out.exists()
        with args.out.open("a", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows([COLUMNS, values] if new else [values])
        print(*values, flush=True)
    wrong = [
        line
        for line in lines.values()
        if "True" in (line["late"], line["traceback"]) or line["code"] not in ("0", "2")
    ]
    refused = sum(line["code"] == "2" for line in lines.values())
    print(f"{len(lines)} tables: {refused} refused, {len(wrong)} late or with a fault")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
