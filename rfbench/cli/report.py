"""`rfbench report`: the pages."""

from __future__ import annotations

from pathlib import Path

import click

from rfbench import slices
from rfbench.cli.options import FILE, FOLDER, RESULTS
from rfbench.cli.terminal import echo
from rfbench.errors import ResultsError

PUBLISHED = RESULTS / "published"


@click.command()
@click.argument("folders", metavar="[RESULTS]...", nargs=-1, type=FILE)
@click.option("--out", type=FOLDER, default=RESULTS, show_default=True, help="Where the pages go.")
@click.option(
    "--html",
    type=click.Path(path_type=Path),
    metavar="FILE_OR_FOLDER",
    help="Write HTML only: NAME.html is one page with the tables and figures of RESULTS, another "
    "name is a folder for all pages.",
)
@click.option(
    "--audits",
    is_flag=True,
    help="Write only the pages of the audits below RESULTS, from their tables.",
)
def report(folders: tuple[Path, ...], out: Path, html: Path | None, audits: bool) -> None:
    """Write the pages of results, from the CSVs alone; nothing is run.

    README.md: findings, and how many numbers and claims reproduce. papers/: a page per paper, its
    numbers and claims beside ours. which_method.md: which method, how many features, at what cost,
    and leaderboard.json, its facts for machines. answers.md: questions of public threads.
    ledger.json: all totals. Without RESULTS it reads results/published, or else results.

    \b
    Examples:
      rfbench report
      rfbench report results/published --out results
      rfbench report results/quickstart results/mine --out pages
      rfbench report results/quickstart --html report.html
      rfbench report --html site
      rfbench report --audits
    """
    from rfbench.experiment.today import of_papers, settings

    paths = folders or (PUBLISHED if PUBLISHED.is_dir() else RESULTS,)
    if audits:
        for path in paths:
            if not path.is_dir():
                raise ResultsError(
                    f"{path} is not there.", "", "Name a folder that `rfbench audit` wrote."
                )
        written = [path for made in slices.ask("remake", paths) for path in made]
    elif html and html.suffix == ".html":
        from rfbench.pages.html import write_page

        written = write_page(paths, html)
    else:
        from rfbench.pages import report as made

        if html:
            from rfbench.pages.html import write_pages

            pages = made.pages(paths, out, settings, of_papers())
            written = write_pages(pages, out, paths, html)
        else:
            written = made.publish(paths, out, settings, of_papers())
    for path in written:
        echo(path)
