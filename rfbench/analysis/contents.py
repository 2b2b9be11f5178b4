"""Measured share of each table and figure of a paper, from configurations and result rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rfbench import papers
from rfbench.analysis.selection import split_items
from rfbench.analysis.verification import Verification
from rfbench.papers.models import SECONDS, Content, Paper
from rfbench.results import Results

# Configurations by the name of their run, as in a manifest.
Configurations = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Coverage:
    """Measured share of a table or figure.

    Attributes
    ----------
    paper, item : str
        The table or figure.
    nothing : str
        Content of a table without measurements, else empty.
    measured : list of str
        Data sets that have rows on the paper's own data, with the paper's names.
    replaced : dict
        Data sets with rows only on substitutes: smallest and largest number of training rows per
        substitute.
    absent : list of str
        Data sets without rows.
    not_run : list of str
        Runs of the configurations that have no rows, except runs on data sets that no run measured.
    short : dict
        Number of trials without a row and number of planned trials, per run.
    numbers : tuple of int
        Number of published numbers (without times) that have no row on the paper's own data, and
        number of all published numbers.
    """

    paper: str
    item: str
    nothing: str
    measured: list[str]
    replaced: dict[str, dict[str, tuple[float, float]]]
    absent: list[str]
    not_run: list[str]
    short: dict[str, tuple[int, int]]
    numbers: tuple[int, int]

    @property
    def complete(self) -> bool:
        """True if all published and configured values have rows on the paper's own data."""
        gaps = (self.replaced, self.absent, self.not_run, self.short, self.numbers[0])
        return bool(self.measured) and not any(gaps)


def cover(verification: Verification, configured: Configurations) -> list[Coverage]:
    """Return a `Coverage` per table and figure of the papers that list their contents.

    Parameters
    ----------
    verification : Verification
        Numbers and groups of the papers.
    configured : mapping
        Configurations that are shipped with rfbench.
    """
    return [
        _cover(verification, paper, content, configured)
        for paper in map(papers.find_paper, papers.list_papers())
        for content in paper.contents
    ]


def count_missing(results: Results) -> tuple[int, int]:
    """Return the numbers of missing and of planned trials; zeros if the plan is unknown."""
    planned = results.manifest.get("trials")
    if not isinstance(planned, list):
        return 0, 0
    return len(set(planned) - set(results.rows["trial_id"])), len(planned)


def _cover(
    verification: Verification, paper: Paper, content: Content, configured: Configurations
) -> Coverage:
    selection, items = verification.selection, split_items(content.of or content.item)

    def concerns(config: Mapping[str, Any]) -> bool:
        named = split_items(str(config.get("item")))
        return config.get("paper") == paper.name and not set(named).isdisjoint(items)

    shown = content.datasets or list(paper.datasets)
    here = selection.bearing
    here = here[(here["paper"] == paper.name) & here["item"].isin(items) & (here["trials"] > 0)]
    here = here[here["target"].isin(shown)]
    substitute = here["stand_in"].astype(bool)
    measured = set(here.loc[~substitute, "target"])
    numbers = verification.own
    numbers = numbers[(numbers["paper"] == paper.name) & numbers["item"].isin(items)]
    numbers = numbers[numbers["unit"] != SECONDS]
    wanted = {
        name: {dataset["name"] for dataset in config["dataset"]}
        for name, config in configured.items()
        if concerns(config)
    }
    sources = set().union(*wanted.values())
    every = [
        name
        for name, source in paper.datasets.items()
        if name in {*here["target"], *numbers["dataset"]}
        or (name in shown and sources & {source.dataset, *source.stand_ins})
    ]
    replaced = {
        str(name): {
            str(used): (rows.min(), rows.max())
            for used, rows in lines.groupby("dataset", sort=False)["n_train"]
        }
        for name, lines in here[substitute].groupby("target", sort=False)
        if name not in measured
    }
    unread = {source.dataset for name, source in paper.datasets.items() if name not in measured}
    found = {each.name: each for each in selection.collection.experiments}
    short = {name: count_missing(each) for name, each in found.items() if concerns(each.config)}
    with_rows = numbers.groupby("number")["trials"].max() > 0
    return Coverage(
        paper.name,
        content.item,
        content.nothing,
        [name for name in every if name in measured],
        replaced,
        [name for name in every if name not in measured and name not in replaced],
        [name for name, data in wanted.items() if name not in found and not data <= unread],
        {name: counted for name, counted in short.items() if counted[0]},
        (int((~with_rows).sum()), len(with_rows)),
    )
