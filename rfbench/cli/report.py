"""Command `rfbench report`, which writes pages with the results."""

from __future__ import annotations

import pkgutil
from pathlib import Path

import click

from rfbench import slices
from rfbench.cli.options import (
    ALLOW_IMPORTS,
    FILE_TYPE,
    FOLDER_TYPE,
    PAPERS,
    RESULTS,
    include_papers,
)
from rfbench.cli.terminal import echo

PUBLISHED = RESULTS / "published"


def _modes() -> dict[str, tuple[str, str]]:
    return {
        name: mode
        for modes in slices.call_hooks("list_report_modes")
        for name, mode in modes.items()
    }


class _Report(click.Command):
    """Command `rfbench report`. Optional components of rfbench add flags for their own pages."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        *own, last = super().get_params(ctx)  # click adds --help as the last parameter
        flags = [
            click.Option([f"--{name}"], is_flag=True, help=text)
            for name, (text, _) in _modes().items()
        ]
        return [*own, *flags, last]


@click.command(cls=_Report, short_help="Write the pages of results as Markdown or HTML.")
@click.argument("folders", metavar="[RESULTS]...", nargs=-1, type=FILE_TYPE)
@click.option(
    "--out", type=FOLDER_TYPE, default=RESULTS, show_default=True, help="Folder for the pages."
)
@click.option(
    "--html",
    type=click.Path(path_type=Path),
    metavar="FILE_OR_FOLDER",
    help="Write HTML only. NAME.html is one page with the tables and figures of "
    "RESULTS. Any other name is a folder for all pages.",
)
@PAPERS
@ALLOW_IMPORTS
def report(
    folders: tuple[Path, ...],
    out: Path,
    html: Path | None,
    paper_folders: tuple[Path, ...],
    allow_imports: bool,
    **asked: bool,
) -> None:
    """Write the pages of results from the CSV files alone; nothing is run.

    README.md: a row per paper, and findings. totals.md: all counts of numbers and claims.
    papers/: a page per paper, its numbers and claims next to ours. which_method.md: the best method
    for each number of features. answers.md: questions of public threads. leaderboard.json and
    ledger.json have the facts and the totals as data. Without RESULTS the command reads
    results/published, or else results.

    \b
    Examples:
        rfbench report
        rfbench report results/published --out results
        rfbench report results/quickstart results/mine --out pages
        rfbench report results/quickstart --html report.html
        rfbench report --html site
    """
    from rfbench.experiment.current_settings import read_paper_configurations
    from rfbench.experiment.today_cache import load_current_settings

    folders, _ = include_papers(folders, paper_folders, allow_imports=allow_imports)
    paths = folders or (PUBLISHED if PUBLISHED.is_dir() else RESULTS,)
    own = [place for name, (_, place) in _modes().items() if asked[name]]
    if own:
        written = [path for place in own for path in pkgutil.resolve_name(place)(paths)]
    elif html and html.suffix == ".html":
        from rfbench.pages.html import write_page

        written = write_page(paths, html)
    else:
        from rfbench.pages import report as made

        if html:
            from rfbench.pages.html import write_pages

            pages = made.render_all_pages(
                paths, out, load_current_settings, read_paper_configurations()
            )
            written = write_pages(pages, out, paths, html)
        else:
            written = made.publish_pages(
                paths, out, load_current_settings, read_paper_configurations()
            )
    for path in written:
        echo(path)
