"""Writing every page of `rfbench report`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from rfbench import files, papers
from rfbench.analysis import leaderboard
from rfbench.analysis.frame import Today
from rfbench.analysis.verification import verify_any
from rfbench.errors import ResultsError, writing
from rfbench.pages import (
    front,
    paper,
    which_method,
)

PAPERS = "papers"
TITLES = ("# The papers, reproduced", "# Results")  # the second stands before any report


def publish(
    folders: Sequence[str | Path],
    out: str | Path,
    today: Today | None = None,
    known: leaderboard.Known | None = None,
) -> list[Path]:
    """Write `pages`, and remove those of an earlier call that no result backs any more.

    Raises ResultsError also if the folder has a ``README.md`` that is no page of an earlier call;
    WriteError if a file cannot be written.
    """
    out = Path(out)
    _check_front(out / "README.md")
    written = pages(folders, out, today, known)
    with writing(f"The report cannot be written to {out}", todo="Name another folder with --out."):
        stale = _stale(out, written)
        for path in (*stale, *written):
            files.check(path, out)
        for path in stale:
            path.unlink()
        for path, content in written.items():
            files.replace(path, content if isinstance(content, bytes) else content.encode(), out)
    return list(written)


def pages(
    folders: Sequence[str | Path],
    out: Path,
    today: Today | None = None,
    known: leaderboard.Known | None = None,
) -> dict[Path, str | bytes]:
    """Return every page from the results folders at or below some; nothing is run.

    The same results give the same bytes.

    Parameters
    ----------
    out : path
        The folder for ``README.md``, ``which_method.md`` with its facts in ``leaderboard.json``,
        a page in ``papers/`` for each paper of which anything was run.
    today : callable, optional
        What makes rows stale, see `rfbench.analysis.frame.collect`.
    known : optional
        What is known of data sets beside their rows.

    Raises ResultsError if a path is not there, or no results at all can be read.
    """
    paths = list(map(Path, folders))
    verification = verify_any(paths, today=today)
    collection = verification.selection.collection
    board = leaderboard.gather(collection, known)
    of_papers = out / PAPERS
    return {
        **{
            of_papers / f"{name}.md": paper.page(verification, name, of_papers)
            for name in front.papers_with_pages(verification)
        },
        out / "which_method.md": which_method.page(board, out, list(collection.stale)),
        **{out / name: content for name, content in _facts(board).items()},
        out / "README.md": front.page(verification, board, paths, out),
    }


def _facts(board: leaderboard.Leaderboard | None) -> dict[str, bytes]:
    return which_method.files(board) if board else {}


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


def _stale(out: Path, pages: Iterable[Path]) -> list[Path]:
    """List the figures and pages of an earlier call that this one does not write."""
    patterns = (
        *(f"{PAPERS}/{name}.md" for name in papers.papers()),
        *("leaderboard.json", which_method.FIGURE),
        # Earlier versions wrote these.
        *("apart.md", "claims.md", "glossary.md", "scoreboard.md", "verdicts.json"),
        *(f"tables/{name}_*.md" for name in papers.papers()),
    )
    return sorted({path for pattern in patterns for path in out.glob(pattern)} - set(pages))
