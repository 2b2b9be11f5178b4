"""Search for the trials that reproduce a table, figure or data set of a paper."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rfbench import papers
from rfbench.analysis.frame import Collection
from rfbench.papers.models import Source

# Data count as the paper's own data if their number of rows differs from the paper's number of rows
# by at most this share. Copies of a data set on the web differ by a few rows. The value was chosen
# without a measurement. With twice this value, a copy that lacks one row in 25 would be accepted.
ROWS_TOLERANCE = 0.02


class Selection:
    """Groups of trials for each paper, table or figure, data set and protocol.

    A protocol is the source of the settings. Smoke runs, sweeps, results that do not name a paper,
    and results that the current configurations do not contain are left out.
    """

    def __init__(self, collection: Collection) -> None:
        self.collection = collection

    @cached_property
    def matching_groups(self) -> pd.DataFrame:
        """Table of the groups of trials that belong to a paper.

        The table has one line per group, data set and item (table or figure of the paper), in the
        order of the folders. The columns are the columns of `Collection.groups`, ``group``
        (position in `Collection.groups`), ``item``, ``target`` (the paper's name of the data set)
        and ``stand_in`` (True for a subset or substitute).
        """
        groups = self.collection.groups
        if groups.empty:
            return pd.DataFrame(columns=[*groups, "group", "item", "target", "stand_in"])
        own = groups[(groups["paper"] != "") & (groups["variant"] == "") & ~groups["stale"]]
        own = own[~own["smoke"].astype(bool)]
        facts = ["paper", "items", "source", "sampled", "n_train", "n_test"]
        sources = papers.list_data_sets_of_papers()
        lines = [
            (group, *target)
            for group, paper, *facts_of_group in own[facts].itertuples(name=None)
            for target in _targets(sources.get(paper, {}), *facts_of_group)
        ]
        targets = pd.DataFrame(lines, columns=["group", "item", "target", "stand_in"])
        bearing = groups.loc[targets["group"]].reset_index(drop=True)
        return pd.concat([bearing, targets], axis=1)

    @cached_property
    def _places(self) -> dict[Any, NDArray[np.intp]]:
        groups = self.matching_groups["group"].to_numpy(dtype=np.intp)
        places = self.matching_groups.groupby(
            ["paper", "item", "target", "protocol", "stand_in"]
        ).indices
        return {key: groups[lines] for key, lines in places.items()}

    def list_protocols(self, paper: str, items: Sequence[str]) -> list[str]:
        """Return the protocols (sources of settings) under which any of a paper's items was run.

        An item is a table or figure. The standard protocols, such as ``printed``, are first in the
        list.
        """
        seen = {key[3] for key in self._places if key[0] == paper and key[1] in items}
        usual = [protocol for protocol in papers.PROTOCOLS if protocol in seen]
        return [*usual, *sorted(seen - set(usual))]

    def select(
        self, paper: str, items: Sequence[str], target: str, protocol: str, stand_in: bool = False
    ) -> NDArray[np.intp]:
        """Return the groups of trials that reproduce a data set of a paper, each group once.

        `items` are tables and figures, and `target` is the paper's name of the data set. With
        `stand_in`, return the groups that were run on a subset or substitute of the data set
        instead.
        """
        keys = [(paper, item, target, protocol, stand_in) for item in dict.fromkeys(items)]
        groups = [self._places[key] for key in keys if key in self._places]
        return pd.unique(np.concatenate([np.array([], dtype=np.intp), *groups]))


def split_item_list(items: str) -> list[str]:
    """Split a text such as ``'table3, figure1'`` into a list of tables and figures."""
    return re.split(r"[,;\s]+", items.strip())


def _targets(
    datasets: Mapping[str, Source],
    items: str,
    source: str,
    sampled: float,
    n_train: float,
    n_test: float,
) -> Iterator[tuple[str, str, bool]]:
    """Yield each table or figure and data set of a paper that our rows reproduce.

    The first two values are the table or figure, and the paper's name of the data set. The third
    value is True if our rows are a subset or a substitute of the data set.
    """
    for target, source_names in datasets.items():
        if source != source_names.dataset and source not in source_names.stand_ins:
            continue
        for item in dict.fromkeys(split_item_list(items)):
            replaced = source in source_names.stand_ins
            yield (
                item,
                target,
                replaced or is_row_subset(source_names, item, sampled, n_train, n_test),
            )


def is_row_subset(source: Source, item: str, sampled: float, n_train: float, n_test: float) -> bool:
    """Return True if our data do not have as many rows as the paper's data.

    A data set with ``[N rows]`` in its name is a subset, unless the paper itself sampled N rows.
    Otherwise the number of training or test rows must not differ by more than 2 %. NaN means that a
    number is not known.
    """
    if "all" in source.rows:
        return not math.isnan(sampled) and sampled != source.rows["all"]
    if not math.isnan(sampled):
        return True
    pairs = ((n_train, source.rows.get(item, source.n_train)), (n_test, source.n_test))
    return any(
        # Compare with the product number * tolerance, which is exact at the limit. A quotient would
        # be rounded.
        abs(seen - number) > ROWS_TOLERANCE * number
        for seen, number in pairs
        if number and math.isfinite(seen)
    )
