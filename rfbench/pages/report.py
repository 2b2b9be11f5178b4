"""Writing every page of `rfbench report`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rfbench import files, papers, slices
from rfbench.analysis import ledger, verdicts
from rfbench.analysis.contents import Configurations
from rfbench.analysis.frame import Today
from rfbench.analysis.verification import verify
from rfbench.errors import ResultsError, raise_as_write_error
from rfbench.pages import changed_claims, front, paper
from rfbench.pages.additions import Addition
from rfbench.pages.templates import render

PAPERS, LEDGER, GLOSSARY = "papers", "ledger.json", "glossary.md"
TITLES = ("# The papers, reproduced", "# Results")  # the second stands before any report


def publish(
    folders: Sequence[str | Path],
    out: str | Path,
    today: Today | None = None,
    configured: Configurations | None = None,
) -> list[Path]:
    """Write the pages of results, and remove pages of an earlier call that have no results now.

    Parameters
    ----------
    folders : sequence of str or path
        Results folders, or folders that contain some.
    out : str or path
        Folder for the pages: ``README.md``, a page per paper in ``papers/`` with a figure and CSV
        files of its numbers and claims, and the pages of the components.
    today : callable, optional
        Returns the present settings of a results folder. Rows with other settings are stale and
        left out. By default no row is stale.
    configured : mapping, optional
        The configurations that come with rfbench, see `rfbench.analysis.contents`.

    Returns
    -------
    list of Path
        The files that were written.

    Raises
    ------
    ResultsError
        A folder has no results, or `out` has a ``README.md`` that this function did not write.
    WriteError
        A file cannot be written.
    """
    out = Path(out)
    _check_front(out / "README.md")
    made = render_pages(folders, out, today, configured)
    written = {file: content for file, content in made.items() if content is not None}
    with raise_as_write_error(
        f"The report cannot be written to {out}", todo="Name another folder with --out."
    ):
        of_papers = {
            out / PAPERS / file
            for name in papers.list_papers()
            for file in (f"{name}.md", f"{name}.png", *paper.list_files(name))
        }
        every = {*of_papers, *made}
        stale = {path for path in every - written.keys() if path.exists()}
        for path in (*sorted(stale), *written):
            files.check(path, out)
        for path in stale:
            files.remove(path, out)
        for path, content in written.items():
            files.replace(path, content if isinstance(content, bytes) else content.encode(), out)
    return list(written)


def render_pages(
    folders: Sequence[str | Path],
    out: Path,
    today: Today | None = None,
    configured: Configurations | None = None,
) -> dict[Path, str | bytes | None]:
    """Return every page from the results folders at or below some; nothing is run.

    The same results give the same bytes. None stands for a file that these results do not give.

    Parameters
    ----------
    out : path
        The folder for ``README.md``, a page in ``papers/`` for each paper of which anything was
        run, and what the slices add.
    today : callable, optional
        What makes rows stale, see `rfbench.analysis.frame.collect`.
    configured : mapping, optional
        The configurations that come with rfbench, see `rfbench.analysis.contents`.

    Raises ResultsError if a path is not there, or no results at all can be read.
    """
    paths = list(map(Path, folders))
    verification = verify(paths, today=today, needed=True)
    additions: list[Addition] = slices.ask("report", verification, out)
    added = {out / name: content for each in additions for name, content in each.files.items()}
    of_papers = out / PAPERS
    on_papers = paper.gather_additions(verification, of_papers)
    collection = verification.selection.collection
    names = {results.config.get("paper") for results in collection.experiments} | set(on_papers)
    with_pages = [name for name in papers.list_papers() if name in names]
    pictures = {name: paper.render_figure(verification, name) for name in with_pages}
    return {
        **{
            of_papers / f"{name}.md": paper.render_page(
                verification, name, of_papers, on_papers.get(name, ""), pictures[name]
            )
            for name in with_pages
        },
        **{of_papers / f"{name}.png": picture for name, picture in pictures.items()},
        **{
            of_papers / file: content
            for name in with_pages
            for file, content in paper.render_csv_files(verification, name).items()
        },
        **added,
        out / changed_claims.PAGE: changed_claims.render_page(verification, with_pages),
        out / GLOSSARY: render("glossary.md.j2", rules=verdicts),
        out / LEDGER: ledger.as_json(verification),
        out / "README.md": front.render_page(
            verification, paths, out, with_pages, additions, configured
        ),
    }


def _check_front(file: Path) -> None:
    """Raise ResultsError if a page that someone wrote would be overwritten."""
    try:
        content = files.read(file).decode(errors="replace")
        first = content.partition("\n")[0].strip()
    except OSError:
        return  # there is none, or writing it tells what is wrong
    if first and first not in TITLES:
        raise ResultsError(
            f"{file} would be overwritten.",
            "It is no page of an earlier `rfbench report`.",
            "Name another folder with --out, or move the file.",
        )
