"""Combinations by their distance to the published row."""

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
    """Hold every combination against the target, from the folder that the trials were run into.

    The lines are those of `tabulate_combinations`, or of a claim those of `tabulate_effects`; a
    combination that lacks a number, not run yet or failed, has none.
    """
    if audit.target.claim:
        return tabulate_effects(audit, audit.target.claim, results)
    return tabulate_combinations(
        audit, tabulate_measured(audit, results), count_tried(results.folder)
    )


def tabulate_combinations(audit: Audit, cells: pd.DataFrame, in_folder: int = 0) -> pd.DataFrame:
    """Return one line per combination that has all numbers, the nearest first, else in their order.

    `in_folder` combinations have trials in the folder, those of earlier audits too. Those that are
    read by another metric share their trials: so they may seem fewer than this audit has.

    The index is the combination. Columns: ``place`` (from 1; those that are equally near share
    one), the option of each choice, ``rms_choosing`` and ``rms_confirming`` (root mean square
    differences of the halves in points, or in percent of numbers without a unit; NaN where there
    is none), ``largest_difference`` of all, ``cells``, ``trials`` (the smallest number behind a
    cell), ``tried``, ``stand_in``, ``as_configured`` (whether the line is the configuration
    itself) and, per number, ``measured METHOD SIZE METRIC``, ``paired`` and ``half`` of the same
    (see `add_paired_differences`), and ``protocol``, that of the configuration.
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
        # NaN of none, or with one that is not known
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

    `combination` and `number` are places in the audit's grid and in the target's numbers; the other
    columns are those of `compare_published`. To `rfbench.analysis` each combination is a protocol
    of its own; so one trial may serve several of them.
    """
    target, collection = audit.target, _by_combination(audit, results)
    cells = compare_published(Selection(collection), target.paper)
    every = list(papers.list_published())
    place_of = {every.index(number): i for i, number in enumerate(target.numbers)}
    cells = cells[cells["number"].isin(place_of) & cells["measured"].notna()]
    cells = cells.assign(
        number=cells["number"].map(place_of), combination=cells["protocol"].astype(int)
    )
    cells = cells.sort_values("stand_in", kind="stable")  # the paper's own data come first
    cells = cells.drop_duplicates(["combination", "number"], ignore_index=True)
    return add_paired_differences(cells, collection, audit.as_it_stands)


def _by_combination(audit: Audit, results: Results) -> Collection:
    """Return the rows of each combination under a protocol of its own, its number."""
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
    """Return one line per combination under which a claim's comparisons were measured.

    The columns are those of `tabulate_combinations`, with a comparison of the claim in the place
    of a number: ``measured NAME``, its effect (of quotients the logarithm); ``paired NAME``, its
    mean difference to the configuration itself, over trials if both have as many; ``half NAME``,
    half of the 90 % interval of that.
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
    """Add the differences of cells to those of one combination, trial by trial.

    ``paired``, the mean over the trials on the same splits and draws, in the number's unit, NaN
    without such trials; ``half``, half the width of its 90 % interval, NaN of a single one.
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
    """Return the number of combinations whose trials a folder holds; 0 without a table.

    They differ in what they set for the audit, or in what was set for all of one audit: then the
    same label has several settings.
    """
    try:
        # As written: in `Results` a row names no setting of another sampler.
        rows = pd.DataFrame(read_whole_rows(folder))
    except ResultsError:
        return 0
    settings = rows[rows["variant"] != ""].groupby(["variant", "label"])["setting"].nunique()
    return int(settings.groupby("variant").max().sum())
