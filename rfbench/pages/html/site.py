"""The site of `rfbench site`: pages that link to one another, run nothing and fetch nothing.

Each is a Markdown page of facts, most of them those of `rfbench report`, made HTML.
"""

from __future__ import annotations

import base64
import hashlib
import os
import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pandas as pd
import yaml
from markupsafe import Markup

from rfbench import papers
from rfbench.analysis import leaderboard
from rfbench.analysis.frame import Today
from rfbench.analysis.leaderboard import Leaderboard
from rfbench.analysis.summary import grouped
from rfbench.analysis.totals import totals
from rfbench.analysis.verification import Verification, verify_any
from rfbench.errors import ResultsError, writing
from rfbench.escaping import in_markdown, printable
from rfbench.pages import (
    apart,
    findings,
    front,
    glossary,
    intervals,
    paper,
    reference,
    which_method,
)
from rfbench.pages.grids import Grid
from rfbench.pages.html.markdown import to_html
from rfbench.pages.html.page import fill
from rfbench.pages.templates import render
from rfbench.pages.words import DASH, number, seconds, spread
from rfbench.registry import SAMPLERS, SOLVERS
from rfbench.results import Results
from rfbench.results.schema import METRICS

APART = "apart.html"
LIST = "files.txt"  # what an earlier call wrote, and may be written anew
MENU = {
    "index.html": "Start",
    "findings.html": "Findings",
    "leaderboard.html": "Leaderboard",
    "papers.html": "Papers",
    "methods.html": "Methods",
    "datasets.html": "Data sets",
    "runs.html": "Configurations",
    "glossary.html": "Glossary",
    "reference.html": "Reference",
}


def publish(
    folders: Sequence[str | Path],
    out: str | Path,
    today: Today | None = None,
    catalogue: Mapping[str, Mapping[str, Any]] | None = None,
    known: leaderboard.Known | None = None,
) -> list[Path]:
    """Write the site from the results folders at or below some; nothing is run or fetched.

    The same results give the same bytes. What an earlier call wrote is replaced or removed.

    Parameters
    ----------
    out : path
        A new or empty folder, or one of an earlier call.
    catalogue : mapping, optional
        What is known of data sets, by their names: the fields of `rfbench.datasets.Entry`.
    today, known :
        As of `rfbench.pages.report.publish`.

    Raises ResultsError if a path is not there, no results at all can be read, or the folder holds
    files that no earlier call wrote; WriteError if a file cannot be written.
    """
    out, paths = Path(out), list(map(Path, folders))
    with writing(f"The site cannot be written to {out}", todo="Name another folder with --out."):
        earlier = _earlier(out)
        verification = verify_any(paths, today=today)
        board = leaderboard.gather(verification.selection.collection, known)
        pages = Site(verification, board, paths, out, catalogue or {}).pages()
        # The list comes first: a call that is interrupted can be made again.
        listed = "".join(f"{name}\n" for name in sorted([*pages, LIST]))
        pages = {LIST: listed, **pages}
        for name in earlier - set(pages):
            (out / name).unlink()
        for name, text in pages.items():
            file = out / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="\n")
    return [out / name for name in pages]


def _earlier(out: Path) -> set[str]:
    """Return the files of an earlier call; ResultsError if there are others."""
    there = {
        file.relative_to(out).as_posix()
        for file in out.rglob("*")
        if file.is_symlink() or not file.is_dir()
    }
    if out.exists() and not out.is_dir():
        raise ResultsError(f"{out} is a file.", "", "Name another folder with --out.")
    file = out / LIST
    listed = file.read_text(encoding="utf-8", errors="replace") if LIST in there else ""
    if others := sorted(there - set(listed.splitlines())):
        raise ResultsError(
            f"{out} holds other files: {others[0]}.",
            "Only what an earlier `rfbench site` wrote is replaced.",
            "Name a new folder with --out.",
        )
    return there


class Site:
    """All pages, as they are made.

    Parameters
    ----------
    paths : list of Path
        Where the results were read.
    out : Path
        The folder of the site, to which links in Markdown are relative.
    """

    def __init__(
        self,
        verification: Verification,
        board: Leaderboard | None,
        paths: Sequence[Path],
        out: Path,
        catalogue: Mapping[str, Mapping[str, Any]],
    ) -> None:
        self.verification, self.board, self.out, self.catalogue = (
            verification,
            board,
            out,
            catalogue,
        )
        self.collection = verification.selection.collection
        self.paths = " ".join(Path(os.path.relpath(path)).as_posix() for path in paths)
        self.given = list(paths)
        self.errors = leaderboard.ratios(self.collection, board) if board else {}
        self.texts: dict[str, str] = {}
        self.pictures: dict[str, Markup] = {}
        groups = self.collection.groups
        measured = set(map(str, groups["source"]))
        of_papers = {s.dataset for by_name in papers.sources().values() for s in by_name.values()}
        self.papers = _named("papers", papers.papers())
        # Pages of `rfbench report` by the page of the site that stands for them.
        self.report = {"README.md": "papers.html", "which_method.md": "leaderboard.html"}
        self.report |= {f"papers/{name}.md": page for name, page in self.papers.items()}
        self.methods = _named("methods", [*SAMPLERS.entries, *SOLVERS.entries])
        self.datasets = _named("datasets", sorted(measured | (of_papers & set(catalogue))))
        self.runs = _named("runs", [results.path for results in self.collection.experiments])
        self.audits = {
            str(audit.page.resolve()): name
            for audit, name in zip(
                verification.audited,
                _named("audits", [str(a.page.parent) for a in verification.audited]).values(),
                strict=True,
            )
        }
        self.folders = {
            str(results.folder.resolve()): self.runs[results.path]
            for results in self.collection.experiments
        }
        self.split = apart.gather(self.collection)
        self.links = {papers.paper(name).link for name in papers.papers()} - {""}

    def pages(self) -> dict[str, str]:
        """Return every page by its path within the site."""
        for name in self.papers:
            self._add(self.papers[name], self._paper(name))
        for results in self.collection.experiments:
            self._add(self.runs[results.path], self._run(results))
        for audit in self.verification.audited:
            page = self.audits[str(audit.page.resolve())]
            with_text = audit.page.is_file()
            text = audit.page.read_text(encoding="utf-8", errors="replace") if with_text else ""
            self._add(page, text or f"# {in_markdown(audit.page.parent.name)}")
        for name in self.datasets:
            self._add(self.datasets[name], self._dataset(name))
        for registry in (SAMPLERS, SOLVERS):
            for name in registry.entries:
                self._add(self.methods[name], self._method(name, registry))
        self._add("methods.html", render("site_methods.md.j2", site=self, **self._registries()))
        self._add("datasets.html", render("site_datasets.md.j2", site=self))
        self._add("runs.html", render("site_runs.md.j2", site=self))
        self._add("reference.html", reference.page())
        self._add("glossary.html", glossary.page())
        if self.split:
            self._add(APART, apart.page(self.split, self.out))
        self._leaderboard()
        text = front.page(self.verification, self.board, self.given, self.out)
        self._add("papers.html", text)
        self._findings()
        return self.texts

    def _add(self, page: str, text: str) -> None:
        """Make a page of a Markdown text, whose first heading is its title."""
        body = to_html(text, lambda target: self._resolve(target, page), self.pictures)
        self._write(page, printable(_title(body)), "site.html.j2", body=body)

    def _write(self, page: str, title: str, template: str, **facts: Any) -> None:
        menu = [
            (_relative(target, page), name, target == page) for target, name in MENU.items()
        ]  # fmt: skip
        self.texts[page] = fill(template, title=title, menu=menu, **facts)

    def link(self, target: str, name: str) -> Markup:
        """Return a link of Markdown to a page of the site, by its path there."""
        return Markup(f"[{in_markdown(name)}](site:{target})") if target else in_markdown(name)

    def _resolve(self, target: str, page: str) -> str:
        """Return where a link of Markdown leads from a page, or ``""``."""
        if target in self.links or target.startswith("#"):
            return target
        if target.startswith("site:"):
            there = target.removeprefix("site:")
            there = there if there in {*MENU, APART, *self._paths()} else ""
        else:
            file = os.path.normpath(os.path.join(self.out.resolve(), unquote(target)))
            there = self.report.get(target) or self.folders.get(file) or self.audits.get(file) or ""
        return _relative(there, page) if there else ""

    def _paths(self) -> Iterable[str]:
        every = (self.papers, self.methods, self.datasets, self.runs, self.audits)
        return (path for named in every for path in named.values())

    def _registries(self) -> dict[str, Any]:
        return {"samplers": SAMPLERS.entries, "solvers": SOLVERS.entries}

    # The pages

    def _paper(self, name: str) -> str:
        return paper.page(self.verification, name, self.out, full=True)

    def _run(self, results: Results) -> str:
        groups = self.collection.groups
        measured = set(map(str, groups["source"][groups["folder"] == results.path]))
        name = str(results.config.get("paper") or "")
        return render(
            "site_run.md.j2",
            site=self,
            results=results,
            paper=name if name in self.papers else "",
            datasets=sorted(measured),
            failed=int((results.rows["status"] != "ok").sum()),
            machine=front.machine(results),
            grid=_summary(grouped(self.collection, results)),
            config=_yaml(results.config),
        )

    def _dataset(self, name: str) -> str:
        bearing = self.verification.selection.bearing
        sources = []
        for of_paper, by_name in papers.sources().items():
            for dataset, each in by_name.items():
                if name in (each.dataset, *each.stand_ins):
                    at = bearing["paper"].eq(of_paper) & bearing["target"].eq(dataset)
                    here = bearing[at & bearing["source"].eq(name)]
                    # Where nothing was measured, what the paper's folder says.
                    stand_in = set(here["stand_in"].astype(bool)) or {name in each.stand_ins}
                    sources.append((of_paper, dataset, stand_in, each.reason))
        groups = self.collection.groups
        here = groups[groups["source"] == name]
        compared = set(self.board.folders) if self.board else set()
        trials = here["trials"][here["folder"].isin(compared)]
        by_size = {M: table.loc[name] for M, table in self.errors.items() if name in table.index}
        table = pd.DataFrame(by_size)
        rows = [
            [str(label), *(number(value, 3) for value in values)]
            for label, *values in table.sort_values(table.columns[-1]).itertuples(name=None)
        ] if len(table) else []  # fmt: skip
        return render(
            "site_dataset.md.j2",
            site=self,
            name=name,
            entry=self.catalogue.get(name),
            sources=sources,
            runs=[
                (results, sorted({f"{n:.0f}" for n in own["sampled"].dropna()}, key=int))
                for results in self.collection.experiments
                for own in [here[here["folder"] == results.path]]
                if len(own)
            ],
            trials=(trials.min(), trials.max()) if len(trials) else None,
            grid=Grid(["method", *(f"M = {M}" for M in table)], rows) if rows else None,
        )

    def _method(self, name: str, registry: Any) -> str:
        entry = registry.entries[name]
        classes = dict.fromkeys(each.load() for each in entry.classes.values())
        labels = {name: entry.about, **entry.labels} if registry is SAMPLERS else {}
        sizes = self.board.sizes if self.board else ()
        cells = [
            [line.method, str(size.M), f"{number(line.ratio, 2)} ({number(line.low, 2)}{DASH}"
             f"{number(line.high, 2)})", f"{100 * line.wins:.0f} %", f"{line.fit:.2g}",
             f"{line.predict:.2g}"]
            for size in sizes
            for line in size.lines
            if line.method in labels and not line.reference
        ]  # fmt: skip
        head = ["label", "M", "error over that of plain features", "smaller on", "one fit (s)",
                "predict 1,000 rows (ms)"]  # fmt: skip
        return render(
            "site_method.md.j2",
            site=self,
            name=name,
            labels=labels,
            documented=[(cls.__name__, reference.documented(cls)) for cls in classes],
            verified=_verified(classes),
            grid=Grid(head, cells) if cells else None,
            wins=self._wins(set(labels)),
            largest=sizes[-1].M if sizes else 0,
        )

    def _wins(self, labels: set[str]) -> list[str]:
        """Return the data sets on which one of the labels has the smallest error at the most M."""
        if not self.board or not self.errors:
            return []
        size = self.board.largest
        drawn = [line.method for line in size.lines if not line.reference]
        best = self.errors[size.M][drawn].dropna(how="all").idxmin(axis=1)
        return [str(name) for name, label in best.items() if str(label) in labels]

    def _leaderboard(self) -> None:
        if self.board is not None:
            written = which_method.files(self.board).get(which_method.FIGURE)
            if written:
                data = base64.b64encode(written).decode()
                alt = "Error of features over that of boosting, per data set; the table has both."
                self.pictures[which_method.FIGURE] = Markup(
                    f'<img src="data:image/png;base64,{data}" alt="{alt}">'
                )
        stale = list(self.collection.stale)
        self._add("leaderboard.html", which_method.page(self.board, self.out, stale))

    def _findings(self) -> None:
        every = [
            (each, Markup(intervals.svg(each.finding, each.axis)))
            for each in findings.statements(self.verification, self.board)
        ]
        facts: dict[str, Any] = {"findings": every, "folders": self.paths}
        self._write("findings.html", "Findings", "findings.html.j2", **facts)
        self._write(
            "index.html",
            "Random features, measured",
            "front.html.j2",
            **facts,
            totals=None if self.verification.empty else totals(self.verification),
            measured=self.board.measured if self.board else 0,
            rows=len(self.collection.rows),
            papers=[(self.papers[name], papers.paper(name)) for name in self.papers],
            counts={"methods": len(self.methods), "datasets": len(self.datasets)},
        )


def _named(folder: str, names: Iterable[str]) -> dict[str, str]:
    """Return a path within the site for each name, of letters that any file system takes."""
    taken: dict[str, str] = {}
    for name in names:
        last = name.rstrip("/").rpartition("/")[2]
        plain = re.sub("[^a-z0-9_.+-]+", "-", last.lower()).strip(".-")[:60]
        path = f"{folder}/{plain}.html"
        if not plain or plain != last.lower() or path in taken.values():
            digest = hashlib.sha256(name.encode("utf-8", "backslashreplace")).hexdigest()
            path = f"{folder}/{plain}-{digest[:8]}.html"
        taken[name] = path
    return taken


def _relative(target: str, page: str) -> str:
    return posixpath.relpath(target, posixpath.dirname(page) or ".")


def _title(body: str) -> str:
    heading = re.search("<h1[^>]*>(.*?)</h1>", body, re.DOTALL)
    return Markup(heading[1]).striptags() if heading else ""


def _yaml(config: Mapping[str, Any]) -> Markup:
    text = yaml.safe_dump(dict(config), sort_keys=False, allow_unicode=True, width=100)
    return Markup("\n".join(f"    {line}" for line in printable(text).splitlines()))


def _verified(classes: Iterable[Any]) -> list[str]:
    """Return what the classes of a method were verified against, with the tolerances."""
    texts = [cls.declaration.verified for cls in classes if hasattr(cls, "declaration")]
    return [line for text in texts for line in text.splitlines() if line.strip()]


def _summary(table: pd.DataFrame) -> Grid:
    """Lay out the means of a results folder, a line per data set, method and place."""
    rows = [
        [
            str(line["dataset"]),
            str(line["method"]),
            number(line["x"]) if isinstance(line["x"], float) else str(line["x"]),
            METRICS[line["metric"]],
            spread(line["mean"], line["se"]),
            seconds(line["t_total"]),
            f"{line['trials']:.0f}" + (f", {line['failed']:.0f} failed" if line["failed"] else ""),
        ]
        for line in table.to_dict("records")
    ]
    head = ["data set", "method", "at", "metric", "mean ± standard error",
            "drawing, features, fit", "trials"]  # fmt: skip
    return Grid(head, rows)
