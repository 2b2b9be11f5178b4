"""Writing the pages of `rfbench report`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rfbench import papers
from rfbench.analysis import frame, ranking
from rfbench.analysis.published import published
from rfbench.analysis.selection import Selection
from rfbench.errors import ResultsError, WriteError
from rfbench.pages import paper_table
from rfbench.report import (
    audits,
    gains,
    reproduced,
    scoreboard,
    told_claims,
    which_method,
)
from rfbench.report.evidence import Evidence, add, readable
from rfbench.report.provenance import link, repeat
from rfbench.report.verify import Board, board
from rfbench.results import Results

TABLES = "tables"
PUBLISHED = "published"
TITLE = "# The papers, reproduced"
PLACEHOLDER = "# Results"  # of the page that is shipped before any report


def publish(paths: Sequence[str | Path], out: str | Path) -> list[Path]:
    """Write every page from the results folders at or below the paths; nothing is run.

    The same results give the same bytes. Tables of the papers from an earlier call that no
    result backs any more are removed.

    Parameters
    ----------
    paths : sequence of path
        Results folders, or folders that hold some.
    out : path
        The folder for ``README.md``, ``claims.md``, ``which_method.md`` with its figures,
        ``scoreboard.md`` and ``tables/``.

    Returns
    -------
    list of Path
        The files that were written.

    Raises
    ------
    ResultsError
        If a path is not there, no results at all can be read, or the folder has a ``README.md``
        that is no page of an earlier call.
    WriteError
        If a file cannot be written.
    """
    out = Path(out)
    _check_front(out / "README.md")
    notes: list[str] = []
    every = sorted(readable(paths, notes), key=lambda results: results.folder)
    if not every:
        raise ResultsError(
            "There are no results to report on.",
            " ".join(notes),
            "Name folders that 'rfbench run' wrote, for example results/published.",
        )
    evidence = Evidence(notes=notes)
    for results in every:
        add(evidence, results)
        if not results.config.get("paper"):
            evidence.notes += [f"{results.name}: {note}" for note in results.notes]
    found = board(evidence)
    tables = _tables(every, out / TABLES)
    comparison = ranking.gather(every)
    pages = {
        **{path: text for named in tables.values() for path, text in named.values()},
        out / "scoreboard.md": scoreboard.render(found, "markdown"),
        out / "claims.md": told_claims.page(found, evidence, out),
        out / "which_method.md": which_method.page(comparison, out),
        out / "README.md": _front(found, evidence, every, list(map(Path, paths)), out, tables),
    }
    try:
        (out / TABLES).mkdir(parents=True, exist_ok=True)
        for path in _stale(out, pages):
            path.unlink()
        for path, text in pages.items():
            path.write_text(text, encoding="utf-8", newline="\n")
        figures = which_method.diagrams(comparison, out) if comparison else []
    except OSError as error:
        raise WriteError(
            f"The report cannot be written to {out}.",
            f"{error.strerror or error}.",
            "Name another folder with --out.",
        ) from error
    return [*pages, *figures]


def _check_front(file: Path) -> None:
    """Raise ResultsError if a page that someone wrote would be overwritten."""
    try:
        first = file.read_text(encoding="utf-8", errors="replace").partition("\n")[0].strip()
    except OSError:
        return  # there is none, or writing it tells what is wrong
    if first and first not in (TITLE, PLACEHOLDER):
        raise ResultsError(
            f"{file} would be overwritten.",
            "It is no page of an earlier `rfbench report`.",
            "Name another folder with --out, or move the file.",
        )


Tables = Mapping[str, Mapping[str, tuple[Path, str]]]


def _tables(every: Sequence[Results], folder: Path) -> dict[str, dict[str, tuple[Path, str]]]:
    """Lay out the papers' own tables: by paper and name, the file and its text."""
    made: dict[str, dict[str, tuple[Path, str]]] = {}
    selection = Selection(frame.of(every))
    for (paper, item, protocol), text in paper_table.every(selection, published(selection)).items():
        path = folder / f"{paper}_{item}.{protocol}.md"
        made.setdefault(paper, {})[f"{item}, {protocol}"] = (path, text)
    return made


def _stale(out: Path, pages: Iterable[Path]) -> list[Path]:
    """List the tables and figures of an earlier call that this one does not write."""
    named = [path for paper in papers.papers() for path in (out / TABLES).glob(f"{paper}_*.md")]
    return sorted({*named, *out.glob("which_method_M*.png")} - set(pages))


def _front(
    found: Board,
    evidence: Evidence,
    every: Sequence[Results],
    paths: Sequence[Path],
    out: Path,
    tables: Tables,
) -> str:
    """Assemble the front page."""
    sections = [
        reproduced.paper_section(
            paper,
            found,
            evidence,
            every,
            out,
            {name: path for name, (path, _) in tables.get(paper, {}).items()},
        )
        for paper in papers.papers()
    ]
    blocks = [
        TITLE,
        _pointer(out),
        reproduced.in_short(found, evidence, out),
        reproduced.reading(),
        gains.section(evidence, out),
        *sections,
        audits.section(paths, out),
        reproduced.stand_ins(found, evidence, out),
        reproduced.not_run(found),
        repeat(every, paths, out, found.notes),
    ]
    return "\n\n".join(filter(None, blocks)) + "\n"


def _pointer(out: Path) -> str:
    """Say what lies in the folder, where that is so."""
    said = [
        "`rfbench report` wrote this page from the rows of the results; nothing is written by hand."
    ]
    if out.name == "results":
        said.append("Your runs land here, one folder a configuration.")
    if (out / PUBLISHED).is_dir():
        said.append(
            f"`{PUBLISHED}/` holds the runs that are published with rfbench: `rfbench table "
            f"results/{PUBLISHED}` prints them, `rfbench plot results/{PUBLISHED}` draws them."
        )
    method = link(out / "which_method.md", out, "which_method.md")
    return " ".join([*said, f"Which method to take, how many features, at what cost: {method}."])
