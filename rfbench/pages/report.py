"""Functions that render all pages of `rfbench report` and write the pages to files."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from rfbench import files, papers, slices
from rfbench.analysis import verdict_counts, verdicts
from rfbench.analysis.contents import Configurations
from rfbench.analysis.frame import Today
from rfbench.analysis.verification import Verification, verify_external_papers, verify_results
from rfbench.errors import ResultsError, raise_as_write_error
from rfbench.pages import changed_claims, index_page, paper, totals
from rfbench.pages.additions import Addition
from rfbench.pages.templates import render_template

log = logging.getLogger(__name__)
PAPERS, LEDGER, GLOSSARY = "papers", "ledger.json", "glossary.md"
# Possible first lines of a front page: the current title, an earlier title, and the title of a
# folder without a report. A file with any other first line is not overwritten.
TITLES = ("# Do published numbers agree with ours?", "# The papers, reproduced", "# Results")


def publish_pages(
    folders: Sequence[str | Path],
    out: str | Path,
    today: Today | None = None,
    configured: Configurations | None = None,
) -> list[Path]:
    """Write the pages of `rfbench report`, and remove earlier pages that have no results now.

    Parameters
    ----------
    folders : sequence of str or path
        Results folders, or folders that contain results folders.
    out : str or path
        Folder for the pages: ``README.md``, ``totals.md``, pages of optional components, and in
        ``papers/`` a page per paper with a figure and CSV files.
    today : callable, optional
        Function that accepts the results of a run and returns the settings in its current
        configuration. Result rows with different settings are omitted. By default, all rows are
        used.
    configured : mapping, optional
        Maps the name of a run to its configuration in rfbench.

    Returns
    -------
    list of Path
        Paths of the written files.

    Raises
    ------
    ResultsError
        If a folder has no results, or `out` has a ``README.md`` that this function did not write.
    WriteError
        If a file cannot be written.
    """
    out = Path(out)
    _check_front(out / "README.md")
    made = render_all_pages(folders, out, today, configured)
    written = {file: content for file, content in made.items() if content is not None}
    with raise_as_write_error(
        f"The report cannot be written to {out}", todo="Use another folder with --out."
    ):
        of_papers = {
            out / PAPERS / file
            for name in papers.read_known_papers()
            for file in (f"{name}.md", f"{name}.png", *paper.list_csv_files(name))
        }
        every = {*of_papers, *made}
        stale = {path for path in every - written.keys() if path.exists()}
        for path in (*sorted(stale), *written):
            files.check_regular_file(path, out)
        for path in stale:
            files.remove(path, out)
        for path, content in written.items():
            files.replace(path, content if isinstance(content, bytes) else content.encode(), out)
    return list(written)


def render_all_pages(
    folders: Sequence[str | Path],
    out: Path,
    today: Today | None = None,
    configured: Configurations | None = None,
) -> dict[Path, str | bytes | None]:
    """Return the content of all pages of `rfbench report`, without writing files.

    The same results always give the same bytes.

    Parameters
    ----------
    folders : sequence of str or path
        Results folders, or folders that contain results folders.
    out : path
        Folder for which the pages are written. Links are relative to this folder.
    today : callable, optional
        Function that accepts the results of a run and returns the settings in its current
        configuration. Result rows with different settings are omitted. By default, all rows are
        used.
    configured : mapping, optional
        Maps the name of a run to its configuration in rfbench.

    Returns
    -------
    dict
        Maps a path to the content of the file. The content is None for a page without results.

    Raises
    ------
    ResultsError
        If a path does not exist, or no results can be read.
    """
    paths = list(map(Path, folders))
    verification = verify_results(paths, today=today, needed=True)
    additions: list[Addition] = slices.call_hooks("render_report_files", verification, out)
    added = {out / name: content for each in additions for name, content in each.files.items()}
    of_papers = out / PAPERS
    on_papers = paper.gather_slice_texts(verification, of_papers)
    collection = verification.selection.collection
    names = {results.config.get("paper") for results in collection.experiments} | set(on_papers)
    with_pages = [name for name in papers.list_papers() if name in names]
    pictures = {name: paper.render_paper_figure(verification, name) for name in with_pages}
    outside = {
        name: files_of_paper
        for name, its_own in verify_external_papers(verification).items()
        if (files_of_paper := _render_outside(its_own, name, of_papers))
    }
    return {
        **{
            of_papers / f"{name}.md": paper.render_paper_page(
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
        **{file: content for each in outside.values() for file, content in each.items()},
        **added,
        out / changed_claims.PAGE: changed_claims.render_changed_claims_page(
            verification, with_pages
        ),
        out / GLOSSARY: render_template("glossary.md.j2", rules=verdicts),
        out / LEDGER: verdict_counts.render_totals_as_json(verification),
        out / "README.md": index_page.render_index_page(
            verification, paths, out, with_pages, additions, outside
        ),
        out / totals.TOTALS: totals.render_totals_page(verification, configured),
    }


def _render_outside(held: Verification, name: str, out: Path) -> dict[Path, str | bytes | None]:
    """Return the page, figure and CSV files of a paper that a user added to rfbench.

    The result maps a path to the content. If an error is raised, the result is empty.
    """
    try:
        picture = paper.render_paper_figure(held, name)
        page = paper.render_paper_page(held, name, out, picture=picture)
        tables = paper.render_csv_files(held, name)
        return {
            out / file: content
            for file, content in {f"{name}.md": page, f"{name}.png": picture, **tables}.items()
        }
    # Catch all exceptions, because the code of a paper that is not part of rfbench can raise any
    # exception.
    except Exception as error:
        log.warning("%s is left out: %s", name, error)
        return {}


def _check_front(file: Path) -> None:
    """Raise ResultsError if `file` exists and was not written by `rfbench report`."""
    try:
        content = files.read(file).decode(errors="replace")
        first = content.partition("\n")[0].strip()
    except OSError:
        # A missing file is not an error. If the file exists but cannot be read, writing the file
        # raises an error later.
        return
    if first and first not in TITLES:
        raise ResultsError(
            f"{file} would be overwritten.",
            "The file is not a page of an earlier `rfbench report`.",
            "Use another folder with --out, or move the file.",
        )
