"""Ranking of an audit's combinations by their distance to the published row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rfbench import papers
from rfbench.analysis import frame
from rfbench.analysis.claims import make_comparisons as comparisons
from rfbench.analysis.frame import Collection
from rfbench.analysis.paired import Trials
from rfbench.analysis.published import compare_published
from rfbench.analysis.selection import Selection
from rfbench.analysis.statistics import ALPHA, paired_t
from rfbench.audit.plan import Audit
from rfbench.audit.tables import (
    HALF,
    MEASURED_PREFIX,
    PAIRED,
    PROTOCOL_COLUMN,
    compute_places,
    get_number_column,
)
from rfbench.errors import ResultsError
from rfbench.experiment.plan import plan
from rfbench.papers.models import PLAIN, Claim
from rfbench.results import Results
from rfbench.results.maintenance import read_whole_rows


def rank(audit: Audit, results: Results) -> pd.DataFrame:
    """Compare every combination with the target, from the results folder of the trials.

    `tabulate_combinations` describes the lines, or `tabulate_effects` for a claim. A combination
    with missing numbers has no line.
    """
    if audit.target.claim:
        return tabulate_effects(audit, audit.target.claim, results)
    return tabulate_combinations(
        audit, tabulate_measured(audit, results), count_tried(results.folder)
    )


def tabulate_combinations(audit: Audit, cells: pd.DataFrame, in_folder: int = 0) -> pd.DataFrame:
    """Return one line per combination that has all numbers, the nearest first.

    `in_folder` is the number of combinations with trials in the folder, including earlier audits.
    Combinations that differ only in the metric share their trials, so `in_folder` may be smaller
    than the number of combinations of this audit.

    The index is the combination. Columns:

    - ``place``: rank from 1. Ties share a place.
    - One column per choice: the name of its option.
    - ``rms_choosing`` and ``rms_confirming``: root mean square difference of each half, in points,
      or in percent for numbers without a unit. NaN if the half is empty.
    - ``largest_difference``: largest difference of all numbers.
    - ``cells``: number of numbers. ``trials``: smallest number of trials of a cell.
    - ``tried``: number of combinations. ``stand_in``: True for a substitute data set.
    - ``as_configured``: True if the line is the configuration itself.
    - ``measured METHOD SIZE METRIC`` per number, and ``paired`` and ``half`` of the same, see
      `add_paired_differences`.
    - ``protocol``: protocol of the configuration.
    """
    numbers = audit.target.numbers

    def wide(column: str) -> pd.DataFrame:
        pivoted = cells.pivot(index="combination", columns="number", values=column)
        return pd.DataFrame(pivoted, columns=range(len(numbers)))

    percent = [100 / each.value if each.unit == PLAIN else 1.0 for each in numbers]
    gaps = (wide("difference") * percent).dropna()
    table = audit.grid.loc[gaps.index]
    table.insert(0, "place", 0)
    for name, half in zip(("rms_choosing", "rms_confirming"), audit.target.halves(), strict=True):
        # NaN for an empty half, or if a number is missing
        table[name] = (gaps[half] ** 2).mean(axis=1, skipna=False).astype(float) ** 0.5
    table["largest_difference"] = gaps.abs().max(axis=1)
    table["cells"] = len(numbers)
    table["trials"] = wide("trials").loc[gaps.index].min(axis=1).astype(int)
    table["tried"] = max(len(audit.experiments), in_folder)
    table["stand_in"] = bool(cells["stand_in"].any())
    table["as_configured"] = table.index == audit.as_it_stands
    table[PROTOCOL_COLUMN] = audit.experiments[0].protocol
    starts = {"measured": MEASURED_PREFIX, "paired": PAIRED, "half": HALF}
    columns = {
        start + get_number_column(number): values[i]
        for name, start in starts.items()
        if name in cells
        for values in [wide(name).loc[gaps.index]]
        for i, number in enumerate(numbers)
    }
    table = pd.concat([table, pd.DataFrame(columns)], axis=1)
    table["place"] = compute_places(table["rms_choosing"])
    return table.sort_values("place", kind="stable")


def tabulate_measured(audit: Audit, results: Results) -> pd.DataFrame:
    """Return a line per combination and published number that was measured.

    `combination` and `number` are positions in the audit's grid and in the target's numbers; the
    remaining columns are documented in `compare_published`. `rfbench.analysis` treats each
    combination as a protocol of its own, so one trial may belong to several combinations.
    """
    target, collection = audit.target, _by_combination(audit, results)
    cells = compare_published(Selection(collection), target.paper)
    every = list(papers.list_published())
    place_of = {every.index(number): i for i, number in enumerate(target.numbers)}
    cells = cells[cells["number"].isin(place_of) & cells["measured"].notna()]
    cells = cells.assign(
        number=cells["number"].map(place_of), combination=cells["protocol"].astype(int)
    )
    cells = cells.sort_values("stand_in", kind="stable")  # the paper's own data are sorted first
    cells = cells.drop_duplicates(["combination", "number"], ignore_index=True)
    return add_paired_differences(cells, collection, audit.as_it_stands)


def _by_combination(audit: Audit, results: Results) -> Collection:
    """Return the rows of each combination; their protocol is the number of the combination."""
    by_id = results.rows.set_index("trial_id", drop=False)
    each = []
    for i, experiment in enumerate(audit.experiments):
        ids = [trial.id for trial in plan(experiment)]
        rows = by_id.loc[by_id.index.intersection(ids)].reset_index(drop=True)
        config = experiment.model_dump(mode="json", include={"paper", "metric", "M"})
        config["item"] = experiment.item if audit.target.claim else ",".join(audit.target.items)
        if len(rows):
            rows = rows.assign(protocol=str(i), variant="")
            each.append(Results(results.folder, results.name, rows, {"config": config}))
    return frame.build_collection(each)


def tabulate_effects(audit: Audit, claim: Claim, results: Results) -> pd.DataFrame:
    """Return one line per combination for which a claim's comparisons were measured.

    The columns are as in `tabulate_combinations`, with comparisons of the claim instead of numbers.
    ``measured NAME`` is the effect (a logarithm for quotients). ``paired NAME`` is its mean
    difference from the unchanged configuration, over trials if both have equally many. ``half
    NAME`` is half the width of the 90 % interval of this difference.
    """
    selection, lines = Selection(_by_combination(audit, results)), {}
    every = [
        {one.name: one for one in comparisons(claim, selection, str(i), audit.target.dataset)}
        for i in range(len(audit.experiments))
    ]
    reading = every[audit.as_it_stands] if audit.as_it_stands is not None else {}
    for i, found in enumerate(every):
        if not found or found.keys() < reading.keys():
            continue
        line: dict[str, float] = {"trials": min(one.trials for one in found.values())}
        for name, one in found.items():
            line[MEASURED_PREFIX + name] = float(one.values.mean())
            if name in reading:
                own = reading[name].values
                same = len(own) == len(one.values)
                test = paired_t(one.values, own) if same else paired_t([])
                low, high = test.interval(1 - 2 * ALPHA)
                line[PAIRED + name] = line[MEASURED_PREFIX + name] - float(own.mean())
                line[HALF + name] = (high - low) / 2
        lines[i] = line
    table = pd.DataFrame.from_dict(lines, orient="index")
    facts: dict[str, Any] = {
        "place": 1, "rms_choosing": np.nan, "rms_confirming": np.nan, "largest_difference": np.nan,
        "cells": len(reading), "tried": len(audit.experiments), "stand_in": False,
        "as_configured": table.index == audit.as_it_stands,
        PROTOCOL_COLUMN: audit.experiments[0].protocol,
    }  # fmt: skip
    return pd.concat([audit.grid.loc[table.index], table.assign(**facts)], axis=1)


def add_paired_differences(
    cells: pd.DataFrame, collection: Collection, reading: int | None
) -> pd.DataFrame:
    """Add the differences between each cell and the cell of one combination, per trial.

    ``paired`` is the mean over the trials on the same splits and draws, in the number's unit; NaN
    without such trials. ``half`` is half the width of its 90 % interval; NaN for a single trial.
    """
    own = cells[cells["combination"] == reading].set_index("number")["group"]
    lines = []
    for line in cells.to_dict("records"):
        test = paired_t([])
        if line["number"] in own.index:
            trials = Trials(collection, [int(line["group"]), int(own[line["number"]])])
            metric = papers.find_paper(line["paper"]).measured_as.get(
                line["metric"], line["metric"]
            )
            test = paired_t(*trials.table(metric).T)
        low, high = test.interval(1 - 2 * ALPHA)
        lines.append((test.effect, (high - low) / 2))
    found = pd.DataFrame(lines, columns=["paired", "half"], index=cells.index, dtype=float)
    return cells.assign(**found)


def count_tried(folder: Path) -> int:
    """Return the number of combinations with trials in a folder; 0 without a table.

    Combinations differ in the settings that one audit varies, or in settings that are fixed for a
    whole audit. In the second case the same label has several settings.
    """
    try:
        # Unprocessed rows are used, because in `Results` a row contains no setting of another
        # sampler.
        rows = pd.DataFrame(read_whole_rows(folder))
    except ResultsError:
        return 0
    settings = rows[rows["variant"] != ""].groupby(["variant", "label"])["setting"].nunique()
    return int(settings.groupby("variant").max().sum())
