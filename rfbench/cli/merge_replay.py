"""Commands `rfbench merge` and `rfbench replay`, which combine or check existing result rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from rfbench.cli.options import ALLOW_IMPORTS, FOLDER_TYPE
from rfbench.cli.terminal import echo

# For each folder, at most this number of differing rows is printed. With twice this number, only
# half as many folders fit on a screen.
MAX_LISTED_ROWS = 5


@click.command(short_help="Add the rows of other results folders to a folder.")
@click.argument("target", type=FOLDER_TYPE)
@click.argument("others", nargs=-1, type=FOLDER_TYPE, required=True)
def merge(target: Path, others: tuple[Path, ...]) -> None:
    """Add the rows of OTHERS that TARGET does not have, for example from other machines.

    OTHERS are results folders, or folders that contain results folders.

    Trials that are in both folders are compared. The exit code is 1 if a metric differs by more
    than 1e-9 (features in float32: 1e-4), or if rows were refused because of a different version,
    different data, or because no plan contains them. Different data hashes, configurations,
    protocols and library versions are errors.

    \b
    Example:
        rfbench merge results/quickstart laptop/results/quickstart
    """
    from rfbench.results.merging import merge as join

    result = join(target, others)
    echo(f"{target}: {result.added} rows added")
    if result.both:
        echo(f"{result.both} trials are in both folders, and {len(result.differ)} of them differ")
    for line in result.differ[:MAX_LISTED_ROWS]:
        echo(f"  {line}")
    for why, count in result.refused.items():
        echo(f"{count} rows were not added: {why}")
    if result.machines > 1:
        echo(
            f"the rows were measured on {result.machines} machines, so their times "
            "cannot be compared"
        )
    if result.differ or result.refused:
        raise click.exceptions.Exit(1)


@click.command(short_help="Measure a row again and compare.")
@click.argument("results", type=FOLDER_TYPE)
@click.argument("row")
@ALLOW_IMPORTS
def replay(results: Path, row: str, allow_imports: bool) -> None:
    """Measure one row of RESULTS again and compare the metrics. ROW is a number or a trial_id.

    The exit code is 1 if a metric differs by more than 1e-9 (features in float32: 1e-4), absolutely
    for values below 1 and relatively above. For a hundred random rows, use
    `rfbench verify RESULTS --replay 100`.

    \b
    Example:
        rfbench replay results/quickstart 7
    """
    from rfbench.experiment.replay import replay_row as repeat
    from rfbench.results.schema import METRICS

    repeated = repeat(results, row, allow_imports=allow_imports)
    then, now = repeated.row, repeated.again
    echo(f"{then['trial_id']}: {then['label']}, M {then['M']}, trial {then['trial']}")
    echo(f"{'':24} {'then':>18} {'now':>18}")
    for metric in METRICS:
        before, value = then.get(metric) or "nan", now.get(metric, float("nan"))
        if before != "nan" or now.get(metric) is not None:
            mark = "  differs" if metric in repeated.differences else ""
            echo(f"{metric:24} {float(before):18.12g} {value:18.12g}{mark}")
    if then["status"] != now["status"]:
        echo(f"status {then['status']} before, {now['status']} now: {now.get('message', '')}")
    if repeated.differences:
        echo("BLAS core: {} when measured, {} now".format(*repeated.cores))
    if not repeated.is_reproduced:
        raise click.exceptions.Exit(1)


def replay_rows(folders: Sequence[Path], count: int, seed: int, allow_imports: bool) -> None:
    """Measure randomly chosen result rows again, and print a line for each row.

    At most `count` rows are measured. The command exits with code 1 unless all rows agree.
    """
    from rfbench.experiment.replay import SkippedRow, replay_random_rows
    from rfbench.results import find_results_folders

    passed: Counter[str] = Counter()
    agree: list[bool] = []
    for each in replay_random_rows(
        find_results_folders(folders), count, seed=seed, allow_imports=allow_imports
    ):
        if isinstance(each, SkippedRow):
            passed[each.why] += 1
            continue
        agree.append(each.is_reproduced)
        row = each.row
        echo(
            f"{len(agree):>4} {'agrees ' if each.is_reproduced else 'differs'} {each.folder} "
            f"{row['trial_id']} {row['label']}, M {row['M']}, trial {row['trial']}"
        )
        for metric, (then, now) in each.differences.items():
            echo(f"     {metric}: {then:.12g} then, {now:.12g} now")
        if each.again["status"] != row["status"]:
            echo(f"     {row['status']} then, {each.again['status']} now")
    echo(f"{len(agree)} rows measured again: {sum(agree)} agree")
    for why, number in passed.most_common():
        echo(f"{number} randomly drawn rows were skipped: {why}")
    if not agree or not all(agree):
        raise click.exceptions.Exit(1)
