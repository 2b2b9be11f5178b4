"""`rfbench site`: the pages as one static site."""

from __future__ import annotations

from pathlib import Path

import click

from rfbench.cli.options import FILE, FOLDER, note_faults, with_papers
from rfbench.cli.report import known_of_data, usual_folders
from rfbench.cli.terminal import echo


@click.command()
@click.argument("folders", metavar="[RESULTS]...", nargs=-1, type=FILE)
@click.option("--out", type=FOLDER, default="site", show_default=True, help="Where the site goes.")
@with_papers
def site(folders: tuple[Path, ...], out: Path) -> None:
    """Write a static site from the CSVs alone: nothing is run, and its pages fetch nothing.

    A front page, findings, the leaderboard, a page per paper, method, data set, configuration and
    audit, the glossary, and the reference of the Python interface. Without RESULTS it reads
    results/published, or else results. The folder must be new, empty, or of an earlier call.

    \b
    Examples:
      rfbench site
      rfbench site results --out site
    """
    from rfbench.datasets import catalog
    from rfbench.experiment.today import settings
    from rfbench.pages.html.site import publish

    note_faults()
    catalogue = {name: entry.model_dump() for name, entry in catalog.entries().items()}
    paths = usual_folders(folders)
    written = publish(paths, out, settings, catalogue, known_of_data())
    echo(out / "index.html")
    echo(f"{len(written)} files", err=True)
