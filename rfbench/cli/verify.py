"""Command `rfbench verify`, which compares numbers and claims of papers with measurements."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rfbench import shipped, slices
from rfbench.analysis import verdicts
from rfbench.cli.merge_replay import replay_rows
from rfbench.cli.options import (
    ALLOW_IMPORTS,
    FILE_TYPE,
    PAPERS,
    POSITIVE_INTEGER,
    find_results_folder,
    include_papers,
    parse_duration,
)
from rfbench.cli.terminal import echo
from rfbench.errors import ResultsError

if TYPE_CHECKING:
    from rfbench.analysis.verification import Verification

VERIFY_HELP = """Compare published numbers and claims with measurements.

RESULTS are results folders, or folders that contain them. The default is the folder results.
Without options the command prints a scoreboard. It has, for each paper, how many published numbers
agree with the measured ones, and the verdict on each claim. --rules explains the verdicts.

\b
Examples:
  rfbench verify results/
  rfbench verify results/ --paper PAPER
  rfbench verify results/ --format csv > numbers.csv
  rfbench verify results/ --format json > ledger.json
  rfbench verify results/ --claims --format csv > claims.csv
  rfbench verify results/ --claim E1
  rfbench verify results/ --claim E1 --format csv > comparisons.csv
  rfbench verify results/published --finding methods
  rfbench verify results/ --replay 100
  rfbench verify --cell 'PAPER, Table 3, EEG, ORF, 224' --trials 10 --budget 60s
"""


def render_rules() -> str:
    """Return a text that explains the rules for the verdicts on numbers and claims."""
    file = resources.files("rfbench.pages").joinpath("templates", "rules.txt")
    return file.read_text(encoding="utf-8").format_map(vars(verdicts))


def _print_rules(ctx: click.Context, option: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        echo(render_rules(), nl=False)
        ctx.exit()


@click.command(
    short_help="Compare published numbers and claims with measurements.", help=VERIFY_HELP
)
@click.argument("folders", metavar="[RESULTS]...", nargs=-1, type=FILE_TYPE)
@click.option("--paper", metavar="P", help="Verify only this paper (see `rfbench list papers`).")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "csv", "json"]),
    default="text",
    show_default=True,
    help="Format of the output. csv has the numbers, or the claims with --claims. "
    "json has the totals per class.",
)
@click.option("--claims", "claims_only", is_flag=True, help="Print only the claims.")
@click.option(
    "--claim",
    metavar="ID",
    help="Explain one claim. With --format csv, print every comparison on which "
    "the claim is based.",
)
@click.option(
    "--cell",
    metavar="NAMES",
    help="Measure one published number: 'PAPER, TABLE, DATA SET, METHOD, M', as the paper prints "
    "them. Missing trials are run, and their rows are written to RESULTS/cells.",
)
@click.option(
    "--trials",
    type=POSITIVE_INTEGER,
    help="Number of trials for --cell (default: as in the configuration).",
)
@click.option(
    "--budget",
    type=parse_duration,
    default="60s",
    show_default=True,
    metavar="TIME",
    help="Time limit for --cell, after which no trial starts, such as 90s or 5m.",
)
@click.option("--finding", metavar="NAME", help="Print the values on which one finding is based.")
@click.option(
    "--replay",
    "count",
    type=POSITIVE_INTEGER,
    metavar="N",
    help="Measure N random rows again and compare. The exit code is 1 unless all rows agree.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Random seed for the choice of the N rows.",
)
@PAPERS
@ALLOW_IMPORTS
@click.option(
    "--rules",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_rules,
    help="Print the rules for the verdicts, and exit.",
)
def verify(
    folders: tuple[Path, ...],
    paper: str | None,
    form: str,
    claims_only: bool,
    claim: str | None,
    cell: str | None,
    trials: int | None,
    budget: float,
    finding: str | None,
    count: int | None,
    seed: int,
    paper_folders: tuple[Path, ...],
    allow_imports: bool,
) -> None:
    """Print the scoreboard of RESULTS, by default of the folder results if it exists."""
    folders, names = include_papers(folders, paper_folders, allow_imports=allow_imports)
    if len(names) == 1 and paper is None:
        paper = names[0]
    if cell is not None:
        from rfbench.cli.cell import verify_cell

        out = (*folders, find_results_folder())[0]
        verify_cell(cell, out, trials, budget, allow_imports=allow_imports)
        return
    if count is not None:
        replay_rows(folders or (find_results_folder(),), count, seed, allow_imports)
        return
    from rfbench.analysis import verdict_counts, verification
    from rfbench.experiment.today_cache import load_current_settings
    from rfbench.pages.verify import render_claim_verdicts as explained
    from rfbench.pages.verify import render_verification

    if finding is not None:
        _show_finding(folders or (find_results_folder(),), finding)
        return
    usual = find_results_folder()
    if claim is not None:
        found, paper = verification.find_claim_folders(folders or (usual,), claim, paper)
        folders, claims_only = tuple(found), True
    where: Sequence[Path] = folders or ([usual] if usual.is_dir() else [])
    published: list[Path] = []
    if form == "text" and paper is None and claim is None:
        where, published = _find_own(where)
    held = verification.verify_results(where, paper, load_current_settings, needed=bool(folders))
    outside = {} if paper else verification.verify_external_papers(held)
    if names and paper is None:  # several folders of papers were named
        outside = {name: outside[name] for name in names if name in outside}
        held = held.select_papers()
    if form == "csv":
        for note in held.selection.collection.notes:
            echo(f"note: {note}", err=True)
        output = _render_csv([held, *outside.values()], claims_only, claim)
    elif form == "json":
        output = verdict_counts.render_totals_as_json(held)
    elif claim is not None:
        output = explained(held.find_claim_outcomes(claim))
    else:
        output = render_verification(held, claims_only, outside=list(outside.values()))
    echo(output, nl=False)
    if published:
        shown = " ".join(map(str, published))
        echo(
            "\nThe published rows below are not included here. Add them with: rfbench "
            f"verify {shown}"
        )


def _render_csv(every: Sequence[Verification], claims_only: bool, claim: str | None) -> str:
    """Return results of the comparison with papers as CSV text.

    The lines are the comparisons of one claim if `claim` is given, the claims if `claims_only` is
    True, and the published numbers otherwise.
    """
    import pandas as pd

    from rfbench.analysis import claims
    from rfbench.analysis.published import PUBLISHED_COLUMNS
    from rfbench.escaping import as_csv

    if claim is not None:
        table = claims.tabulate_claim_comparisons(every[0].find_claim_outcomes(claim))
    elif claims_only:
        table = claims.tabulate_claim_verdicts([o for each in every for o in each.outcomes])
    else:
        table = pd.concat(
            [v.numbers_on_own_data[PUBLISHED_COLUMNS] for v in every], ignore_index=True
        )
    return as_csv(table, float_format="%.10g", lineterminator="\n")


def _find_own(paths: Sequence[Path]) -> tuple[Sequence[Path], list[Path]]:
    """Separate the user's own results folders from the folder of results that rfbench publishes.

    Return the user's folders at or below the paths, and a list with the published folder. If there
    are only published rows, or if a path is inside the published folder, the paths are returned
    unchanged, and the list is empty.
    """
    published = shipped.find_published_folder()
    if published is None or not all(path.exists() for path in paths):
        return paths, []
    from rfbench.results import reader

    published = published.resolve()
    above = [path for path in paths if published.is_relative_to(path.resolve())]
    if not above or any(path.resolve().is_relative_to(published) for path in paths):
        return paths, []
    with contextlib.suppress(ResultsError):
        found = reader.find_results_folders(paths)
        own = [path for path in found if not path.resolve().is_relative_to(published)]
        if own and len(own) < len(found):
            return own, [above[0] / published.relative_to(above[0].resolve())]
    return paths, []


def _show_finding(folders: tuple[Path, ...], name: str) -> None:
    from rfbench.analysis.findings import gather_findings
    from rfbench.analysis.verification import verify_results
    from rfbench.experiment.today_cache import load_current_settings
    from rfbench.pages.findings import render_finding_text, render_statements, sort_findings

    held = verify_results(folders, today=load_current_settings, needed=True)
    of_slices = [each for found in slices.call_hooks("list_statements", held) for each in found]
    echo(
        render_finding_text(
            sort_findings(of_slices, render_statements(gather_findings(held))), name
        ),
        nl=False,
    )
