"""Ranking of combinations of settings by the distance of their results to published numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rfbench import papers
from rfbench.analysis import frame
from rfbench.analysis.claims import make_claim_comparisons as comparisons
from rfbench.analysis.frame import Collection
from rfbench.analysis.paired import Trials
from rfbench.analysis.published import compare_published_numbers
from rfbench.analysis.selection import Selection
from rfbench.analysis.statistics import ALPHA, paired_t_test
from rfbench.audit.plan import Audit
from rfbench.audit.tables import (
    HALF,
    MEASURED_PREFIX,
    PAIRED,
    PROTOCOL_COLUMN,
    compute_ranks,
    get_number_column_name,
)
from rfbench.errors import ResultsError
from rfbench.experiment.plan import plan_trials
from rfbench.papers.models import PLAIN, Claim
from rfbench.results import Results
from rfbench.results.merging import read_valid_rows


def rank_combinations(audit: Audit, results: Results) -> pd.DataFrame:
    """Return a table that compares every combination of settings with published numbers.

    An audit of a claim has a table with the effects that the claim compares. A combination without
    complete results is omitted. `tabulate_combinations` describes the columns.
    """
    if audit.target.claim:
        return _tabulate_effects(audit, audit.target.claim, results)
    return tabulate_combinations(
        audit, tabulate_measured_numbers(audit, results), _count_tried(results.folder)
    )


def tabulate_combinations(audit: Audit, cells: pd.DataFrame, in_folder: int = 0) -> pd.DataFrame:
    """Return a table of combinations of settings, sorted by the distance to published numbers.

    Only combinations with results for all published numbers are included. `cells` has our results,
    from `tabulate_measured_numbers`. `in_folder` is the number of combinations with trials in the
    results folder, including earlier audits.

    The index is the number of the combination. The columns are:

    - ``place``: rank, starting at 1. Equal distances have the same rank.
    - One column per varied setting, with the name of its value.
    - ``rms_choosing``: root mean square difference between our results and half of the published
      numbers. The rank is computed from this column. The difference is in points, or in percent for
      numbers without a unit.
    - ``rms_confirming``: the same for the other half of the numbers; NaN if this half is empty.
    - ``largest_difference``: largest absolute difference over all numbers.
    - ``cells``: number of published numbers.
    - ``trials``: smallest number of trials over all published numbers.
    - ``tried``: number of combinations that were tried.
    - ``stand_in``: True if the paper's data set is replaced by different data.
    - ``as_configured``: True if the combination is the unchanged configuration.
    - ``measured METHOD SIZE METRIC``: our mean for a published number.
    - ``paired METHOD SIZE METRIC`` and ``half METHOD SIZE METRIC``: difference from the unchanged
      configuration, and half the width of its interval.
    - ``protocol``: source of the settings, as named in the configuration.
    """
    # Combinations that differ only in the metric share their trials. Therefore `in_folder` may be
    # smaller than the number of combinations of this audit.
    numbers = audit.target.numbers

    def wide(column: str) -> pd.DataFrame:
        pivoted = cells.pivot(index="combination", columns="number", values=column)
        return pd.DataFrame(pivoted, columns=range(len(numbers)))

    percent = [100 / each.value if each.unit == PLAIN else 1.0 for each in numbers]
    gaps = (wide("difference") * percent).dropna()
    table = audit.grid.loc[gaps.index]
    table.insert(0, "place", 0)
    for name, half in zip(
        ("rms_choosing", "rms_confirming"), audit.target.split_numbers_into_halves(), strict=True
    ):
        # Root mean square of the differences over half of the numbers. The value is NaN if this
        # half has no numbers or if a measured value is missing.
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
        start + get_number_column_name(number): values[i]
        for name, start in starts.items()
        if name in cells
        for values in [wide(name).loc[gaps.index]]
        for i, number in enumerate(numbers)
    }
    table = pd.concat([table, pd.DataFrame(columns)], axis=1)
    table["place"] = compute_ranks(table["rms_choosing"])
    return table.sort_values("place", kind="stable")


def tabulate_measured_numbers(audit: Audit, results: Results) -> pd.DataFrame:
    """Return a table with our mean for each combination of settings and each published number.

    The column ``combination`` is a row of `audit.grid`, and ``number`` is a position in
    `audit.target.numbers`. The columns ``paired`` and ``half`` have the difference from the
    unchanged configuration. `compare_published_numbers` describes the remaining columns.
    """
    target, collection = audit.target, _by_combination(audit, results)
    cells = compare_published_numbers(Selection(collection), target.paper)
    every = list(papers.list_published_numbers())
    place_of = {every.index(number): i for i, number in enumerate(target.numbers)}
    cells = cells[cells["number"].isin(place_of) & cells["measured"].notna()]
    cells = cells.assign(
        number=cells["number"].map(place_of), combination=cells["protocol"].astype(int)
    )
    # If a number was measured on the paper's own data and on a substitute, keep only the result on
    # the paper's own data.
    cells = cells.sort_values("stand_in", kind="stable")
    cells = cells.drop_duplicates(["combination", "number"], ignore_index=True)
    return _add_paired_differences(cells, collection, audit.as_it_stands)


def _by_combination(audit: Audit, results: Results) -> Collection:
    """Return the result rows of all combinations of settings in an audit.

    The column ``protocol`` of the rows is the number of the combination.
    """
    # A trial may belong to several combinations. Its row is repeated for each combination.
    by_id = results.rows.set_index("trial_id", drop=False)
    each = []
    for i, experiment in enumerate(audit.experiments):
        ids = [trial.id for trial in plan_trials(experiment)]
        rows = by_id.loc[by_id.index.intersection(ids)].reset_index(drop=True)
        config = experiment.model_dump(mode="json", include={"paper", "metric", "M"})
        config["item"] = experiment.item if audit.target.claim else ",".join(audit.target.items)
        if len(rows):
            rows = rows.assign(protocol=str(i), variant="")
            each.append(Results(results.folder, results.name, rows, {"config": config}))
    return frame.build_collection(each)


def _tabulate_effects(audit: Audit, claim: Claim, results: Results) -> pd.DataFrame:
    """Return a table with the effects that a claim compares, one row per combination of settings.

    Only combinations with results for the claim are included. Three columns describe a comparison
    NAME of the claim. ``measured NAME`` is the effect, or its logarithm if the effect is a ratio.
    ``paired NAME`` is the effect minus the effect with the unchanged configuration. ``half NAME``
    is half the width of the 90 % interval of this difference. ``half NAME`` is NaN if the numbers
    of trials differ. `tabulate_combinations` describes the remaining columns.
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
                test = paired_t_test(one.values, own) if same else paired_t_test([])
                low, high = test.compute_confidence_interval(1 - 2 * ALPHA)
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


def _add_paired_differences(
    cells: pd.DataFrame, collection: Collection, reading: int | None
) -> pd.DataFrame:
    """Add the columns ``paired`` and ``half``: differences from the unchanged configuration.

    `reading` is the number of the combination with the unchanged configuration, or None. ``paired``
    is the mean difference over trials with the same split and the same random numbers. ``paired``
    is NaN if there are no such trials. ``half`` is half the width of the 90 % interval of this
    mean, or NaN for a single trial.
    """
    own = cells[cells["combination"] == reading].set_index("number")["group"]
    lines = []
    for line in cells.to_dict("records"):
        test = paired_t_test([])
        if line["number"] in own.index:
            trials = Trials(collection, [int(line["group"]), int(own[line["number"]])])
            metric = papers.find_paper(line["paper"]).measured_as.get(
                line["metric"], line["metric"]
            )
            test = paired_t_test(*trials.tabulate_metric(metric).T)
        low, high = test.compute_confidence_interval(1 - 2 * ALPHA)
        lines.append((test.effect, (high - low) / 2))
    found = pd.DataFrame(lines, columns=["paired", "half"], index=cells.index, dtype=float)
    return cells.assign(**found)


def _count_tried(folder: Path) -> int:
    """Return the number of combinations of settings that have trials in a results folder."""
    # Combinations of one audit differ in the column `variant`. Combinations of two audits may have
    # the same variant, but different fixed settings. Therefore the number of distinct settings is
    # counted for each variant.
    try:
        # Read the raw rows. In the rows of `read_results_folder`, the column `variant` contains
        # only the settings of the row's own sampler.
        rows = pd.DataFrame(read_valid_rows(folder))
    except ResultsError:
        return 0
    settings = rows[rows["variant"] != ""].groupby(["variant", "label"])["setting"].nunique()
    return int(settings.groupby("variant").max().sum())
