"""Comparison of each number that a paper publishes with the mean of our measurements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rfbench import papers
from rfbench.analysis import verdicts
from rfbench.analysis.chance import is_better_than_constant
from rfbench.analysis.paired import PERCENT_COLUMNS
from rfbench.analysis.selection import Selection
from rfbench.papers.models import PLAIN, SECONDS, TUNED
from rfbench.results.schema import STRING

PUBLISHED_COLUMNS = [
    "paper", "item", "dataset", "method", "M", "metric", "protocol", "published",
    "published_spread", "measured", "standard_error", "trials", "difference", "half_width",
    "verdict", "decidable", "at_chance", "source", "settings", "page", "row", "column", "cell",
    "checked",
]  # fmt: skip
MEASURED_KEYS = ["number", "protocol", "stand_in", "used", "used_rows"]
CELL = ["paper", "item", "dataset", "M", *MEASURED_KEYS[1:]]
BEST = "best"

Line = dict[Any, Any]


def compare_published_numbers(selection: Selection, paper: str | None = None) -> pd.DataFrame:
    """Compare every published number with the mean over our trials of the same method.

    If several groups of trials match a number, the group with the most trials is used. If tied, the
    first folder by name is used. A published number for the size ``best`` is compared with the
    smallest mean error over the sizes that were run. A number without a size is compared with the
    group whose number of features the method itself determines, if there is one, else with the
    largest size.

    Parameters
    ----------
    selection : Selection
        Groups of trials.
    paper : str, optional
        Name of a paper; by default all papers.

    Returns
    -------
    DataFrame
        One line per number and protocol (source of our settings) for the papers' own data, followed
        by one line per number, protocol and measured substitute. The columns are
        `PUBLISHED_COLUMNS`, in which

        - ``half_width`` is half the width of the interval of the difference.
        - ``decidable`` is True if the paper's own spread is small enough for a decision, see
          `rfbench.analysis.verdicts.is_too_noisy_to_compare`.
        - ``at_chance`` is True if no method at this size is better than a constant prediction.

        Further columns are ``unit``, ``same_as``, ``stand_in``, and

        - ``number``: position in `rfbench.papers.list_published_numbers`.
        - ``group``, ``folder``, ``used_M`` and ``failed`` (number of failed trials): facts of the
          group that is compared with the number; NaN or ``""`` if no group matches.
        - ``used`` and ``used_rows``: name and number of training rows of a substitute.
        - ``error_metric``: metric in the column ``error`` of our rows.
        - ``by_interval``: verdict that the interval alone gives, even if the number is not judged.

    Raises
    ------
    ResultsError
        If the paper does not exist.
    """
    chosen = papers.list_papers() if paper is None else [papers.check_paper_name(paper)]
    numbers = _numbers(chosen)
    # Choose the group of our trials for each published number, by its size M and its number of
    # trials. If the paper printed the best size, choose by the mean error. The choice never depends
    # on the published number.
    measured = _measured(selection, _picked(selection, numbers))
    own, others = (
        measured[~measured["stand_in"]],
        measured[measured["stand_in"] & (measured["trials"] > 0)],
    )
    # Create a line for each published number and protocol on the paper's own data, even if nothing
    # was run, so that missing results are visible. Substitutes have a line only if they were
    # measured.
    places = _places(selection, numbers)
    own_lines = places.merge(own.drop(columns="stand_in"), on=["number", "protocol"], how="left")
    # Set the type of the column `protocol`. If there are no substitutes, the column is empty and
    # has a wrong type, and pandas 2.3 warns when the column is concatenated.
    stand_ins = others.merge(numbers, on="number").astype({"protocol": STRING})
    every = pd.concat([own_lines.assign(stand_in=False), _in_order(stand_ins)], ignore_index=True)
    every["trials"] = every["trials"].fillna(0).astype(int)
    every["at_chance"] = every["at_chance"].eq(True)
    # Add two facts that the intervals depend on: whether the paper drew its rows only once, and the
    # number of kernel matrices over which our kernel error is averaged.
    provenance = {name: papers.find_paper(name).provenance for name in chosen}
    every["one_draw_of_rows"] = [provenance[name].one_draw_of_rows for name in every["paper"]]
    repeats = {
        each.path: each.config.get("kernel_error_repeats") or 1
        for each in selection.collection.experiments
    }
    every["repeats"] = every["folder"].map(repeats).astype(float)
    judged, every["decidable"] = _judged(every)
    # Assign the verdict of the first condition that is true. There is no verdict for substitutes
    # (different data), seconds (a different machine) and tuned settings (not the settings of the
    # paper). If the paper prints a number twice, only one of the two is judged.
    triples: list[list[str]] = every[["paper", "item", "protocol"]].to_numpy().tolist()
    every["verdict"] = np.select(
        [
            every["trials"] == 0,
            every["stand_in"] | (every["unit"] == SECONDS) | (every["protocol"] == TUNED),
            every["same_as"] != "",
        ],
        [verdicts.NOT_RUN, verdicts.NOT_JUDGED, verdicts.REPEATED],
        judged,
    )
    # Store the verdict by the interval alone, also for numbers that are not judged. This verdict
    # shows readers how close such a number is to our result.
    every["by_interval"] = np.select(
        [every["trials"] == 0, every["unit"] == SECONDS],
        [verdicts.NOT_RUN, verdicts.NOT_JUDGED],
        judged,
    )
    texts = ["folder", "used", "error_metric"]
    every[texts] = every[texts].fillna("")
    every["source"] = [provenance[name].sources.get(item, "table") for name, item, _ in triples]
    every["settings"] = [papers.find_settings_class(name, each) for name, _, each in triples]
    rest = [
        name
        for name in every
        if name not in PUBLISHED_COLUMNS
        and name not in ("place", "order", "one_draw_of_rows", "repeats")
    ]
    return every[[*PUBLISHED_COLUMNS, *rest]]


def _judged(every: pd.DataFrame) -> tuple[NDArray[np.str_], NDArray[np.bool_]]:
    """Return the verdict on each published number, and a mask of the decidable numbers.

    A number is decidable if the interval of the paper's own mean is narrow enough. The columns
    ``difference`` and ``half_width`` are added to the table `every`.

    Numbers without a unit are compared by the logarithm of a quotient. To first order, the standard
    error of the logarithm of a mean is the standard error of the mean divided by the mean.
    """
    # Compare percentages by their difference in points. Compare numbers without a unit, such as an
    # RMSE, by |log(ours / theirs)|, because their scale differs, and the differences of all small
    # numbers would count as equal. The standard error of the logarithm is the standard error
    # divided by the number (delta method).
    relative = every["unit"] == PLAIN
    theirs, ours = (every[name].where(relative, 1.0) for name in ("published", "measured"))
    digit = every["half_digit"] / theirs
    error, many = every["published_error"] / theirs, every["published_trials"]
    own = every["standard_error"] / ours
    # Some papers drew their rows only once, and their standard deviation is over draws of features.
    # Our standard deviation is over draws of both rows and features. `of_features` is the variance
    # over draws of features. It is divided by `repeats`, because each of our kernel errors is a
    # mean over `repeats` kernel matrices.
    of_features = (every["published_spread"] / theirs) ** 2 / every["repeats"]
    # The variance over draws of rows is our variance per trial, n * se^2 for n trials, minus the
    # variance over draws of features. A negative difference is set to 0. Without this term, the
    # paper's single draw of rows would be treated as if it had no error.
    of_rows = np.sqrt((own**2 * every["trials"] - of_features).clip(lower=0.0))
    of_rows = of_rows.where(every["one_draw_of_rows"], 0.0)
    # Compute half the width of Welch's interval for the difference of our mean and the published
    # mean. If all trials of the paper use one draw of rows, `of_rows` is the standard deviation
    # over draws of rows. It is estimated from our n trials. It is added to our standard error,
    # because both have n - 1 degrees of freedom.
    half = verdicts.compute_interval_half_widths(
        error, many, np.hypot(own, of_rows), every["trials"], digit
    )
    every["difference"] = every["measured"] - every["published"]
    # Store the half width in the unit of the number, also for numbers that are compared by
    # quotients.
    every["half_width"] = half * ours
    distance = every["difference"].mask(relative, np.log(ours / theirs))
    judged = verdicts.judge_published_numbers(distance, half, relative)
    return judged, ~verdicts.is_too_noisy_to_compare(
        np.hypot(error, of_rows), many, digit, relative
    )


def group_by_data_set(numbers: pd.DataFrame) -> dict[tuple[str, str, str], list[list[Line]]]:
    """Group lines with compared numbers for each paper, table or figure, and data set.

    `numbers` is the result of `compare_published_numbers`. Each value of the result has a list of
    lines for the paper's own data, and a list for each substitute (data set that replaces the
    paper's data).
    """
    by_table: dict[tuple[str, str, str], dict[tuple[str, str], list[Line]]] = {}
    for line in numbers.to_dict("records"):
        key, stand_in = (line["paper"], line["item"], line["dataset"]), line["used"]
        parts = by_table.setdefault(key, {})
        parts.setdefault((stand_in, str(line["used_rows"])), []).append(line)
    return {key: list(parts.values()) for key, parts in by_table.items()}


def _numbers(chosen: list[str]) -> pd.DataFrame:
    """Return the published numbers of the given papers as a table, one line per number."""
    same = ("paper", "item", "dataset", "method", "M", "metric", "unit", "mark", "same_as",
            "row", "column", "cell", "checked", "page", "size",
            "half_digit")  # fmt: skip
    ours = {
        "value": "published",
        "spread": "published_spread",
        "standard_error": "published_error",
        "trials": "published_trials",
    }
    lines = [
        (index, *(getattr(entry, name) for name in (*same, *ours)))
        for index, entry in enumerate(papers.list_published_numbers())
        if entry.paper in chosen
    ]
    table = pd.DataFrame(lines, columns=["number", *same, *ours.values()])
    return table.astype(dict.fromkeys(("size", *ours.values()), "float64") | {"page": "Int64"})


def _places(selection: Selection, numbers: pd.DataFrame) -> pd.DataFrame:
    """Return a table with one line per published number and protocol, the source of our settings.

    The standard protocols, such as ``printed``, precede other protocols that were run.
    """
    rows: list[int] = []
    protocols: list[str] = []
    for key, lines in numbers.groupby(["paper", "item", "dataset"], sort=False):
        name, item, dataset = map(str, key)
        extra = [
            protocol
            for protocol in selection.list_protocols(name, [item])
            if protocol not in papers.PROTOCOLS
            and len(selection.select(name, [item], dataset, protocol))
        ]
        for protocol in (*papers.PROTOCOLS, *extra):
            rows += list(lines.index)
            protocols += [protocol] * len(lines)
    return (
        numbers.loc[rows].reset_index(drop=True).assign(protocol=pd.Series(protocols, dtype=STRING))
    )


def _in_order(stand_ins: pd.DataFrame) -> pd.DataFrame:
    """Sort the lines that were measured on substitutes, the data sets that replace a paper's data.

    The keys are the table of the paper, the protocol, the substitute and the number.
    """
    first = stand_ins.groupby(["paper", "item", "dataset"])["number"].transform("min")
    usual = {name: index for index, name in enumerate(papers.PROTOCOLS)}
    order = stand_ins["protocol"].map(usual).fillna(len(usual))
    by = ["place", "order", "protocol", "used", "used_rows", "number"]
    return stand_ins.assign(place=first, order=order).sort_values(by, ignore_index=True)


def _picked(selection: Selection, numbers: pd.DataFrame) -> pd.DataFrame:
    """Select the group of our trials that is compared with each published number.

    One group is selected per number, protocol (source of the settings) and substitute data set.
    """
    bearing = selection.matching_groups
    # A group can match a published number twice: by its label and by the name of its sampler. Such
    # duplicates are removed.
    named = pd.concat(
        [bearing.assign(answers=bearing["method"]), bearing.assign(answers=bearing["alias"])]
    )
    named = named.drop_duplicates(["group", "item", "target", "answers"]).sort_index(kind="stable")
    stand_in = named["stand_in"].astype(bool)
    named["used"] = named["dataset"].where(stand_in, "")
    named["used_rows"] = named["n_train"].where(stand_in)
    # Find all groups with the method and the data set of a published number. The number of features
    # M may differ, because sizes are compared below.
    lines = numbers[["number", "paper", "item", "dataset", "method", "M", "size", "metric"]].merge(
        named.drop(columns=["dataset", "method"]).rename(columns={"M": "used_M"}),
        left_on=["paper", "item", "dataset", "method"],
        right_on=["paper", "item", "target", "answers"],
    )
    lines = lines.astype({"stand_in": bool})
    # If the paper prints the best error over all sizes M, select our size with the smallest mean
    # error. The selection makes both errors too small in the same way.
    errors = selection.collection.valid_rows.groupby("group")["error_percent"].mean()
    lines["mean_error"] = lines["group"].map(errors)
    best, sized = lines["M"] == BEST, lines["size"].notna()
    # Choose the size M for a published number without a size: a group whose M differs per trial
    # (NaN), if there is one, and otherwise the largest M that was run.
    sizes = lines[MEASURED_KEYS].assign(largest=lines["used_M"], kept=lines["used_M"].isna())
    at = sizes.groupby(MEASURED_KEYS, dropna=False)
    wanted = at["largest"].transform("max").mask(at["kept"].transform("any"))
    usual = (lines["used_M"] == wanted) | (lines["used_M"].isna() & wanted.isna())
    fits = (lines["used_M"] == lines["size"]).where(sized, usual)
    fits = fits.mask(best, lines["mean_error"].notna())
    # If several groups match a number, use the group with the most trials, because its mean has the
    # smallest standard error. Among equal numbers of trials, the first folder by name is used.
    score = (-lines["trials"].astype("float64")).mask(best, lines["mean_error"])
    order = (
        lines[MEASURED_KEYS]
        .assign(score=score)[fits.astype(bool)]
        .sort_values("score", kind="stable")
    )
    return lines.loc[order.drop_duplicates(MEASURED_KEYS).index]


def _measured(selection: Selection, picked: pd.DataFrame) -> pd.DataFrame:
    """Add the mean, standard error and number of trials of the selected group to each number.

    The column ``at_chance`` is True if no method at this size is better than a constant prediction.
    """
    kept = ["number", "protocol", "stand_in", "group", "folder", "used", "used_rows", "used_M",
            "failed", "error_metric", "at_chance"]  # fmt: skip
    if picked.empty:
        nothing = dict.fromkeys(["measured", "standard_error", "trials"], 0.0)
        return picked.reindex(columns=kept).assign(**nothing)
    # Mark a number as "at chance" if no method at this size is better than a constant prediction.
    # The differences between methods are then noise. The mark does not change the verdict.
    sources_of, places = (
        papers.list_data_sets_of_papers(),
        zip(picked["paper"], picked["dataset"], strict=True),
    )
    sources = (sources_of[paper][dataset] for paper, dataset in places)
    beats = is_better_than_constant(selection.collection, picked["group"].to_numpy(), sources)
    best = picked.assign(beats=np.nan_to_num(beats, nan=1.0)).groupby(CELL, dropna=False)["beats"]
    picked = picked.assign(at_chance=best.transform("max") == 0)
    # For each metric of the paper, find the column of our rows that contains the same quantity.
    names = [
        papers.find_paper(paper).measured_as.get(metric, PERCENT_COLUMNS.get(metric, metric))
        for paper, metric in zip(picked["paper"], picked["metric"], strict=True)
    ]
    counted = selection.collection.valid_rows
    wanted = list(dict.fromkeys(names))
    # Compute mean, standard deviation and number of trials of every column per group, and select
    # the column of each published number. The standard error is sd / sqrt(n), and NaN for a single
    # trial.
    here = counted[counted["group"].isin(set(picked["group"]))]
    moments = here.groupby("group")[wanted].agg(["mean", "std", "count"])
    each = moments.stack(level=0, future_stack=True)
    statistics = each.reindex(pd.MultiIndex.from_arrays([picked["group"], names]))
    mean, sd, trials = (statistics[name].to_numpy() for name in ("mean", "std", "count"))
    measured = {"measured": mean, "standard_error": sd / np.sqrt(trials), "trials": trials}
    return picked[kept].reset_index(drop=True).assign(**measured)
