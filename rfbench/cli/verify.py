"""`rfbench verify`: the scoreboard."""

from __future__ import annotations

from pathlib import Path

import click

from rfbench.report import rules

DEFAULT = Path("results")
EXAMPLES = """
\b
Examples:
  rfbench verify results/
  rfbench verify results/ --paper PAPER --format markdown > scoreboard.md
  rfbench verify results/ --format csv > numbers.csv
  rfbench verify results/ --protocol as-run --strict
  rfbench verify results/ --claims --format csv > claims.csv
"""


@click.command(help=f"{rules.__doc__}{EXAMPLES}")
@click.argument("folders", metavar="[RESULTS]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--paper", metavar="P", help="Only this paper: see `rfbench list papers`.")
@click.option("--protocol", metavar="P", help="Only one: printed, as-run, tuned.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "csv"]),
    default="text",
    show_default=True,
    help="csv has the numbers, or with --claims the claims.",
)
@click.option("--claims", "claims_only", is_flag=True, help="The claims only.")
@click.option(
    "--strict",
    is_flag=True,
    help="Exit code 1 if a number differs, a claim fails, or there are no results at all.",
)
def verify(
    folders: tuple[Path, ...],
    paper: str | None,
    protocol: str | None,
    form: str,
    claims_only: bool,
    strict: bool,
) -> None:
    """Print the scoreboard; without RESULTS it reads the folder results, if there is one."""
    from rfbench.report import evidence, scoreboard
    from rfbench.report.verify import board

    paths = folders or ((DEFAULT,) if DEFAULT.is_dir() else ())
    gathered = evidence.gather(paths)
    found = board(gathered, paper)
    found = found.under(protocol) if protocol else found
    if form == "csv":
        for note in found.notes:
            click.echo(f"note: {note}", err=True)
    click.echo(scoreboard.render(found, form, claims_only=claims_only).rstrip("\n"))
    if strict and not gathered.arms:
        click.echo("strict: there are no results of any paper, so nothing was compared", err=True)
    if strict and (found.contradicted or not gathered.arms):
        raise click.exceptions.Exit(1)
