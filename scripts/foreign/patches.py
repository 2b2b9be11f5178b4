"""Apply our patches to released packages, and run their own tests before and after.

    python -m scripts.foreign.patches [NAME ...] [--base FOLDER[:FOLDER]]

The patch is applied to the source archive of the release. If the archive has tests of the patched
file, they are run in an environment of the package before and after the patch is applied to its
installed files. `sources.yaml` has the tests, or the reason why there are none. With `--base`,
packages of an existing environment are used, so that torch or TensorFlow is installed once. The
verdicts of `rfbench test` are those of others.csv and patched.csv, which `scripts/maps NAME` and
`scripts/maps NAME --patch` measure. One row per package replaces its row in own_tests.csv.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pandas as pd

from rfbench import files
from rfbench.checking import page
from rfbench.checking.page import MAPS_FOLDER
from scripts.foreign.run import (
    HERE,
    PATCHES,
    PIP_SECONDS,
    SOURCES,
    apply_patch,
    confine,
    environment,
    facts,
    without_network,
)

TABLE = MAPS_FOLDER / "own_tests.csv"
# Limit of the time of a package's own tests in seconds, chosen without a measurement.
TEST_SECONDS = 1200


def fetch(name: str, folder: Path) -> Path | None:
    """Download and unpack the source archive of a package; None if the release has none."""
    command = [sys.executable, HERE / "archives.py", name, str(SOURCES[name]["version"])]
    found = subprocess.run(
        [*command, folder], check=True, capture_output=True, text=True, timeout=PIP_SECONDS
    )
    if not found.stdout.strip():
        return None
    with tarfile.open(found.stdout.strip()) as archive:
        archive.extractall(folder / "source", filter="data")
    (root,) = (folder / "source").iterdir()
    return root


def applies(name: str, root: Path | None) -> bool:
    """Return True if the patch applies to the source archive of a package."""
    if root is None:
        return False
    base = root / "src" if (root / "src").is_dir() else root
    diff = (PATCHES / f"{name}.diff").read_bytes()
    done = subprocess.run(
        ["patch", "-p1", "--dry-run", "-d", base], input=diff, check=False, capture_output=True
    )
    return done.returncode == 0


def run_tests(tests: dict[str, Any], made: Path, root: Path | None, folder: Path) -> dict[str, int]:
    """Run a package's own tests without a network; return the numbers of their results.

    Tests of the archive are copied into a folder without the package, so that the installed
    package is imported.
    """
    (site,) = made.glob("lib/python3*/site-packages")
    here, report = folder / "tests", folder / "report.xml"
    here.mkdir(exist_ok=True)
    for path in tests.get("copied", ()):
        target = here / path
        target.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-rT", root / path, target], check=True)
    paths = [*tests.get("run", ()), *(str(site / path) for path in tests.get("installed", ()))]
    python = [str(made / "bin" / "python"), "-m", "pytest", "-q", "--tb=no"]
    words = [
        *python,
        "-p",
        "no:cacheprovider",
        f"--junit-xml={report}",
        f"--rootdir={here}",
        *tests.get("options", ()),
    ]
    report.unlink(missing_ok=True)
    subprocess.run(
        [*without_network(), *words, *paths], cwd=here, check=False, preexec_fn=confine,
        timeout=TEST_SECONDS, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    if not report.exists():
        raise RuntimeError(f"The tests of {made.name} ended without a report.")
    suite = ElementTree.parse(report).getroot()[0]
    counts = {key: int(suite.get(key, 0)) for key in ("tests", "failures", "errors", "skipped")}
    failed = counts["failures"] + counts["errors"]
    return {"passed": counts["tests"] - failed - counts["skipped"], "failed": failed}


def count_biased(name: str) -> dict[str, int]:
    """Return the number of maps with a correction, and of biased ones before and after it."""
    before, after = (
        page.read_map_rows(MAPS_FOLDER / f"{file}.csv") for file in ("others", "patched")
    )
    after = after[after["code"] == name]
    before = before[(before["code"] == name) & before["option"].isin(after["option"])]
    found = {"maps": len(after)}
    for when, rows in (("before", before), ("after", after)):
        found[f"biased_{when}"] = int((rows["verdict"] == page.BIASED).sum())
    return found


def check_patch(name: str, base: str | None) -> dict[str, Any]:
    """Return the row of a package."""
    tests = SOURCES[name]["tests"]
    row = {key: facts(name)[key] for key in ("code", "version", "date")} | count_biased(name)
    with tempfile.TemporaryDirectory() as folder:
        root = fetch(name, Path(folder))
        row |= {"applies": applies(name, root), "note": tests.get("none", tests.get("note", ""))}
        if "none" in tests:
            return row
        with environment(name, None, base=base) as made:
            pip = [made / "bin" / "python", "-m", "pip", "install", "-q", "--only-binary", ":all:"]
            subprocess.run([*pip, *tests["requires"].split()], check=True, timeout=PIP_SECONDS)
            for when in ("before", "after"):
                if when == "after":
                    apply_patch(name, made)
                found = run_tests(tests, made, root, Path(folder))
                row |= {f"{key}_{when}": value for key, value in found.items()}
    return row


def describe(row: dict[str, Any]) -> str:
    """Return a line about a package."""
    own = row["note"]
    if "passed_before" in row:
        own = "own tests " + ", ".join(
            f"{int(row[f'passed_{when}'])} passed and {int(row[f'failed_{when}'])} failed {when}"
            for when in ("before", "after")
        )
    applied = "applies" if row["applies"] else "does NOT apply"
    biased = f"{row['biased_before']} of {row['maps']} maps biased, then {row['biased_after']}"
    return f"{row['code']} {row['version']}: patch {applied}; {own}; {biased}"


COLUMNS = (
    "code", "version", "date", "applies", "passed_before", "failed_before", "passed_after",
    "failed_after", "maps", "biased_before", "biased_after", "note",
)  # fmt: skip


def main() -> None:
    """Check the patches of packages, and print and write one row per package."""
    parser = argparse.ArgumentParser(description=__doc__)
    every = [file.stem for file in sorted(PATCHES.glob("*.diff"))]
    parser.add_argument("name", nargs="*", default=every)
    parser.add_argument("--base", help="folders of environments whose packages are used")
    words = parser.parse_args()
    for name in words.name:
        row = check_patch(name, words.base)
        table = pd.DataFrame([row], columns=list(COLUMNS))
        if TABLE.is_file():
            old = pd.read_csv(TABLE, dtype={"version": str})
            table = pd.concat([old[old["code"] != name], table])
        counts = [column for column in COLUMNS if column.startswith(("passed", "failed"))]
        table[counts] = table[counts].astype("Int64")
        files.replace(TABLE, table.sort_values("code").to_csv(index=False).encode())
        print(describe(row), flush=True)


if __name__ == "__main__":
    main()
