"""Lines of history.csv: the first commit of each form, and the commit of its first rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rfbench.papers.models import Committed
from scripts.history import forms, git
from scripts.history.git import Tree

SHORT = 8  # number of digits of a commit
Line = tuple[str, Committed]  # the paper, and the line


@dataclass(frozen=True)
class FirstRows:
    """First committed rows of one results folder of a paper."""

    commit: str
    folder: str
    paper: str
    items: frozenset[str]
    datasets: frozenset[str]


def first_rows() -> list[FirstRows]:
    """Return the first rows of each results folder, in the order of the commits that added them."""
    asked = ("--topo-order", "--reverse", "--diff-filter=A", "--no-renames", "--name-only")
    pattern = "results/published/*/trials.csv"
    lines = git.ask("log", *asked, "--format=commit %H", "HEAD", "--", pattern).splitlines()
    places, commit = [], ""
    for line in filter(None, lines):
        if line.startswith("commit "):
            commit = line.split()[1]
        else:
            places.append((commit, line.rpartition("/")[0]))
    # A table of trials of another kind, without a manifest, has no configuration of a paper.
    files = git.list_files([f"{commit}:{folder}" for commit, folder in places])
    places = [(c, each) for c, each in places if f"{each}/manifest.json" in files[f"{c}:{each}"]]
    manifests = git.contents([f"{commit}:{folder}/manifest.json" for commit, folder in places])
    found = []
    for (commit, folder), manifest in zip(places, manifests, strict=True):
        config = json.loads(manifest).get("config", {})
        if config.get("paper"):
            name, paper = folder.rpartition("/")[2], str(config["paper"])
            items = frozenset(str(config.get("item") or "").replace(",", " ").split())
            datasets = frozenset(_names(config["dataset"]))
            found.append(FirstRows(commit, name, paper, items, datasets))
    return found


def _names(value: Any) -> Iterator[str]:
    for each in value if isinstance(value, list) else [value]:
        name = each["name"] if isinstance(each, dict) else str(each)
        yield name.partition("[")[0]


class History:
    """The history of this repository up to HEAD."""

    def __init__(self) -> None:
        git.check()
        self.papers = Tree(forms.PAPERS)
        self.configs = Tree(forms.CONFIGS)
        self.rows = first_rows()

    @cached_property
    def forms(self) -> dict[str, forms.Forms]:
        """Forms of claims, data sets and rules per commit; the empty name is for files on disk."""
        return {each: forms.in_papers(self.papers, each) for each in ("", *self.papers.commits)}

    @cached_property
    def _runs(self) -> dict[str, dict[str, tuple[str, Any]]]:
        every = {}
        for commit in ("", *self.configs.commits):
            runs: dict[str, tuple[str, Any]] = {}
            for name, text in self.configs.files(commit).items():
                runs |= forms.of_config(text, name.rpartition("/")[2].removesuffix(".yaml"))
            every[commit] = runs
        return every

    def _first(self, paper: str, items: set[str] | None, datasets: set[str] | None) -> str:
        here = [
            rows.commit
            for rows in self.rows
            if rows.paper == paper
            and (items is None or items & rows.items)
            and (datasets is None or datasets & rows.datasets)
        ]
        return git.oldest(here) if here else ""

    def _catalogue(self, paper: str, name: str) -> set[str]:
        """Return all names, present and former, of a paper's data set in the catalog."""
        names: set[str] = set()
        for every in self.forms.values():
            if own := every.get(("data", paper, name)):
                names.add(str(json.loads(own).get("dataset")))
            names.update(json.loads(every.get(("data", paper, f"{name}.stand_ins"), "[]")))
        return names

    def of_papers(self) -> Iterator[Line]:
        """Yield the lines of claims, data sets and rules."""
        for (kind, paper, name), present in sorted(self.forms[""].items()):
            key = (kind, paper, name)
            form = self.papers.since(lambda commit, key=key: self.forms[commit].get(key), present)
            yield paper, _line(kind, name, "", form, self._rows_of(kind, paper, name, present))

    def _rows_of(self, kind: str, paper: str, name: str, form: str) -> str:
        """Return the commit of the first rows that a form decides about."""
        if kind == "rule":
            return self._first(paper, None, None)
        if kind == "data":
            return self._first(paper, None, self._catalogue(paper, name.partition(".")[0]))
        parts = json.loads(form)[0]
        items = {each for part in parts for each in part["items"]}
        named = {each for part in parts for each in part["datasets"]}
        datasets: set[str] = set().union(*(self._catalogue(paper, each) for each in named))
        return self._first(paper, items, datasets)

    def of_settings(self) -> Iterator[Line]:
        """Yield the lines of the settings of runs; keys with the same history share a line."""
        of_run = {forms.renamed(rows.folder): rows for rows in self.rows}
        for run, (paper, keys) in sorted(self._runs[""].items()):
            if not paper or run not in of_run:
                continue
            own = of_run[run]
            rows = self._first(paper, set(own.items), set(own.datasets))
            together: dict[str, list[str]] = {}
            for key, present in keys.items():
                form = self.configs.since(
                    lambda commit, run=run, key=key: self._setting(commit, run, key), present
                )
                together.setdefault(form, []).append(key)
            for form, names in together.items():
                yield paper, _line("setting", run, "; ".join(sorted(names)), form, rows)

    def _setting(self, commit: str, run: str, key: str) -> str | None:
        found = self._runs[commit].get(run)
        return None if found is None else found[1].get(key, forms.default_of(key))


def _line(kind: str, name: str, keys: str, form: str, rows: str) -> Committed:
    dates = git.dates()
    return Committed(
        kind=kind,
        name=name,
        keys=keys,
        form=form[:SHORT],
        form_date=dates.get(form, ""),
        rows=rows[:SHORT],
        rows_date=dates.get(rows, ""),
        order=git.order(form, rows),
    )
