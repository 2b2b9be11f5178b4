"""Which groups of trials bear on which item and data set of a paper."""

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

# Difference of the numbers of rows, relative to the paper's, up to which the rows count as its own.
# Chosen without a measurement: published copies of a data set differ by a few rows. Doubled, a copy
# without one row in 25 would pass for the paper's.
ROWS_TOLERANCE = 0.02


class Selection:
    """The groups that bear on the papers, found by item, data set and protocol.

    Smoke runs, rows of a sweep, stale rows and results that name no paper do not bear on any.
    """

    def __init__(self, collection: Collection) -> None:
        self.collection = collection

    @cached_property
    def bearing(self) -> pd.DataFrame:
        """One line per group, item and data set of the paper, in the order of the folders.

        The columns of `Collection.groups` and ``group``, ``item``, ``target`` (what the paper
        calls the data set), ``stand_in`` (whether it is a subset or replacement of it).
        """
        groups = self.collection.groups
        if groups.empty:
            return pd.DataFrame(columns=[*groups, "group", "item", "target", "stand_in"])
        own = groups[(groups["paper"] != "") & (groups["variant"] == "") & ~groups["stale"]]
        own = own[~own["smoke"].astype(bool)]
        facts = ["paper", "items", "source", "sampled", "n_train", "n_test"]
        sources = papers.list_sources()
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
        groups = self.bearing["group"].to_numpy(dtype=np.intp)
        places = self.bearing.groupby(["paper", "item", "target", "protocol", "stand_in"]).indices
        return {key: groups[lines] for key, lines in places.items()}

    def protocols(self, paper: str, items: Sequence[str]) -> list[str]:
        """List the protocols under which any of the items was run, the usual ones first."""
        seen = {key[3] for key in self._places if key[0] == paper and key[1] in items}
        usual = [protocol for protocol in papers.PROTOCOLS if protocol in seen]
        return [*usual, *sorted(seen - set(usual))]

    def select(
        self, paper: str, items: Sequence[str], target: str, protocol: str, stand_in: bool = False
    ) -> NDArray[np.intp]:
        """Return the groups that bear on a data set as a paper calls it, each once.

        With `stand_in` those on a subset or replacement of it instead.
        """
        keys = [(paper, item, target, protocol, stand_in) for item in dict.fromkeys(items)]
        groups = [self._places[key] for key in keys if key in self._places]
        return pd.unique(np.concatenate([np.array([], dtype=np.intp), *groups]))


def split_items(items: str) -> list[str]:
    """Split ``'table3, figure1'``."""
    return re.split(r"[,;\s]+", items.strip())


def _targets(
    datasets: Mapping[str, Source],
    items: str,
    source: str,
    sampled: float,
    n_train: float,
    n_test: float,
) -> Iterator[tuple[str, str, bool]]:
    """Yield item, the paper's name of the data set, and whether the data only stand in for it."""
    for target, source_names in datasets.items():
        if source != source_names.dataset and source not in source_names.stand_ins:
            continue
        for item in dict.fromkeys(split_items(items)):
            replaced = source in source_names.stand_ins
            yield item, target, replaced or is_subset(source_names, item, sampled, n_train, n_test)


def is_subset(source: Source, item: str, sampled: float, n_train: float, n_test: float) -> bool:
    """Say whether rows are other than the paper's.

    A subset has ``[N rows]`` in its name (but for data sets that the paper itself sampled), or
    other numbers of training and test rows than the paper (by more than 2 %). NaN: not known.
    """
    if "all" in source.rows:
        return not math.isnan(sampled) and sampled != source.rows["all"]
    if not math.isnan(sampled):
        return True
    pairs = ((n_train, source.rows.get(item, source.n_train)), (n_test, source.n_test))
    return any(
        abs(seen - number) > ROWS_TOLERANCE * number  # exact at the edge, as a quotient is not
        for seen, number in pairs
        if number and math.isfinite(seen)
    )
