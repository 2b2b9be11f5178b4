"""Command `rfbench data`, which lists, downloads and checks data sets."""

from __future__ import annotations

import click

from rfbench.cli.options import AS_JSON
from rfbench.cli.terminal import echo, echo_json, print_table
from rfbench.errors import DataError, make_unknown_error


@click.group()
def data() -> None:
    """List, fetch and check data sets.

    Data sets are searched in the folder named by RFBENCH_DATA, then in data/, with one sub-folder
    per data set. Missing data sets are downloaded into data/ and checked against their known hash.
    """


@data.command("list")
@AS_JSON
def list_data(form: str) -> None:
    """List all data sets: task, size, license, and the state on disk."""
    from rfbench import datasets

    if form == "json":
        echo_json(
            {
                "name": name,
                **entry.model_dump(include={"title", "task", "rows", "columns", "licence", "kind"}),
                "on_disk": entry.kind != "files" or datasets.is_on_disk(name),
            }
            for name in datasets.list_names()
            for entry in [datasets.find_entry(name)]
        )
        return
    lines = []
    for name in datasets.list_names():
        entry = datasets.find_entry(name)
        state = {"synthetic": "generated", "bundled": "built in"}.get(entry.kind)
        state = state or ("yes" if datasets.is_on_disk(name) else "no")
        size = "variable" if entry.kind == "synthetic" else f"{entry.rows:,} x {entry.columns:,}"
        lines.append((name, entry.task, size, state, entry.licence))
    print_table(lines, ("name", "task", "rows x columns", "on disk", "license"), numbers=(2,))


@data.command()
@click.argument("names", nargs=-1, metavar="NAME")
@click.option("--suite", metavar="NAME", help="All data sets of a collection, such as tables.")
def fetch(names: tuple[str, ...], suite: str | None) -> None:
    """Download data sets, or check the files on disk, and print their paths.

    \b
    Examples:
      rfbench data fetch a9a letter
      rfbench data fetch --suite tables
    """
    from rfbench import datasets

    if suite is not None and suite not in datasets.list_suites():
        raise make_unknown_error("suite", suite, datasets.list_suites(), DataError)
    chosen = [*names, *(datasets.list_names(suite) if suite else [])]
    if not chosen:
        raise click.UsageError("Name data sets, or a collection with --suite.")
    for name in chosen:
        for path in datasets.fetch(name, progress=True):
            echo(f"{name}: {path}")


@data.command()
@click.argument("names", nargs=-1, metavar="NAME")
def verify(names: tuple[str, ...]) -> None:
    """Check the files of data sets (default: all) against their known hashes.

    Exits with code 1 if the hash of a file differs, or if a named data set is not on disk.
    """
    from rfbench import datasets

    wrong = False
    for name in names or datasets.list_names():
        for check in datasets.verify(name):
            if check.status == "missing" and not names:
                continue
            wrong = wrong or check.status in ("mismatch", "missing")
            digest = f"sha256 {check.sha256}" if check.sha256 else "not found"
            echo(f"{name:15} {check.member.name:32} {check.status:9} {digest}")
            if check.status == "unpinned":
                echo(
                    f"{'':15} {'':32} to let rfbench check this file, add this hash to the catalog"
                )
            if check.status == "mismatch":
                known = f"sha256 {check.expected}" if check.expected else check.problem
                echo(f"{'':15} {'':32} expected  {known}")
    if wrong:
        raise click.exceptions.Exit(1)
