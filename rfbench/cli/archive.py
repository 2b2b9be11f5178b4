"""`rfbench archive`: all results as one archive."""

from __future__ import annotations

from pathlib import Path

import click

from rfbench.cli.options import FILE, FOLDER, note_faults, with_papers
from rfbench.cli.terminal import echo

RESULTS = Path("results")


@click.command()
@click.argument("folders", metavar="[RESULTS]...", nargs=-1, type=FILE)
@click.option(
    "--out", type=FOLDER, default=Path("archive"), show_default=True, help="Folder of the archive."
)
@with_papers
def archive(folders: tuple[Path, ...], out: Path) -> None:
    """Write all rows as Parquet, with all that says what they are; nothing is run.

    rows.parquet has the rows of all results folders at or below RESULTS (results by default);
    verdicts.json every published number and claim; results/ the manifests, configs/ the
    configurations; ro-crate-metadata.json says in JSON-LD what each file is (RO-Crate 1.1). The
    same results give the same bytes.

    \b
    Example:
      rfbench archive results/published --out archive
    """
    from rfbench.experiment.today import settings
    from rfbench.pages.archive import write

    note_faults()
    written = write(folders or (RESULTS,), out, settings)
    for note in written.notes:
        echo(f"note: {note}", err=True)
    echo(
        f"{written.folder}: {written.rows} rows, {len(written.files)} files, "
        f"{written.n_bytes / 1e6:.1f} MB"
    )
