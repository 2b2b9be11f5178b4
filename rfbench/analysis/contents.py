"""Data sets and numbers of a paper's tables and figures that were measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from rfbench import papers
from rfbench.analysis.selection import Selection, split_item_list
from rfbench.analysis.verification import Verification
from rfbench.papers.models import SECONDS, Content, Paper
from rfbench.results import Results

# Maps the name of a run to its configuration, in the form that is stored in manifest.json.
Configurations = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Coverage:
    """Data sets and numbers of one table or figure of a paper, with and without measurements.

    Attributes
    ----------
    paper, item : str
        Name of the paper, and name of its table or figure.
    nothing : str
        Content of a table that reports no measurements, else an empty string.
    measured : list of str
        Data sets, by the paper's name, for which we have rows on the paper's own data.
    replaced : dict
        Data sets for which we have rows only on substitutes, which are other data sets. Each is
        mapped to its substitutes, and each substitute to its smallest and largest number of
        training rows.
    absent : list of str
        Data sets for which we have no rows.
    not_run : list of str
        Configured runs without rows, except runs whose data sets have no rows in any run.
    short : dict
        Maps each incomplete run to its number of missing trials and its number of planned trials.
    numbers : tuple of int
        Number of published numbers that have no row on the paper's own data, and number of all
        published numbers. Times are not counted.
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
    def is_complete(self) -> bool:
        """True if all published numbers and configured runs have rows on the paper's own data."""
        gaps = (self.replaced, self.absent, self.not_run, self.short, self.numbers[0])
        return bool(self.measured) and not any(gaps)


def compute_coverage(verification: Verification, configured: Configurations) -> list[Coverage]:
    """Return the measured and missing data sets of each table and figure in a paper's folder.

    Parameters
    ----------
    verification : Verification
        Result of the comparison of papers with results folders.
    configured : mapping
        Configurations that are shipped with rfbench, by name of the run.
    """
    own = verification.numbers_on_own_data
    numbers = own.loc[own["unit"] != SECONDS, ["paper", "item", "dataset", "number", "trials"]]
    return [
        _cover(verification.selection, numbers, paper, content, configured)
        for paper in map(papers.find_paper, papers.list_papers())
        for content in paper.contents
    ]


def count_missing_trials(results: Results) -> tuple[int, int]:
    """Return the number of missing trials and the number of planned trials of a results folder.

    The result is (0, 0) if the folder does not store a plan of its trials.
    """
    planned = results.manifest.get("trials")
    if not isinstance(planned, list):
        return 0, 0
    return len(set(planned) - set(results.rows["trial_id"])), len(planned)


def _cover(
    selection: Selection,
    numbers: pd.DataFrame,
    paper: Paper,
    content: Content,
    configured: Configurations,
) -> Coverage:
    items = split_item_list(content.of or content.item)

    def concerns(config: Mapping[str, Any]) -> bool:
        named = split_item_list(str(config.get("item")))
        return config.get("paper") == paper.name and not set(named).isdisjoint(items)

    shown = content.datasets or list(paper.datasets)
    here = selection.matching_groups
    here = here[(here["paper"] == paper.name) & here["item"].isin(items) & (here["trials"] > 0)]
    here = here[here["target"].isin(shown)]
    substitute = here["stand_in"].astype(bool)
    measured = set(here.loc[~substitute, "target"])
    numbers = numbers[(numbers["paper"] == paper.name) & numbers["item"].isin(items)]
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
    short = {
        name: count_missing_trials(each) for name, each in found.items() if concerns(each.config)
    }
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
