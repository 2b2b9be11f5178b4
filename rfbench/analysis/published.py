"""Comparison of each published number with its measured mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rfbench import papers
from rfbench.analysis import verdicts
from rfbench.analysis.chance import beats_constant
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


def compare_published(selection: Selection, paper: str | None = None) -> pd.DataFrame:
    """Compare every published number with its mean over our trials, under each protocol.

    If several groups match a number, the group with the most trials counts; if tied, the first
    folder by name. ``best`` is the smallest mean error over the sizes that were run. A number
    without a size belongs to the M that the method keeps, else to the largest M.

    Parameters
    ----------
    selection : Selection
        Groups of trials.
    paper : str, optional
        Name of a paper; by default all papers.

    Returns
    -------
    DataFrame
        First the papers' own data, a line per number and protocol; then a line per number,
        protocol and measured substitute. Columns: `PUBLISHED_COLUMNS`, with

        - ``half_width``: half the width of the interval of the difference.
        - ``decidable``: True if the paper's own spread is narrow enough, see
          `rfbench.analysis.verdicts.is_too_noisy`.
        - ``at_chance``: True if no method beats a constant at this size.

        and ``unit``, ``same_as``, ``stand_in``, and

        - ``number``: position in `rfbench.papers.list_published`.
        - ``group``, ``folder``, ``used_M`` and ``failed`` (number of failed trials) of the group
          with the trials; NaN or ``""`` if there is no group.
        - ``used`` and ``used_rows``: data set and training rows of a substitute.
        - ``error_metric``: metric that ``error`` means.
        - ``by_interval``: verdict by the interval alone, even if the number does not count.

    Raises
    ------
    ResultsError
        If the paper does not exist.
    """
    chosen = papers.list_papers() if paper is None else [papers.check_paper(paper)]
    numbers = _numbers(chosen)
    # Groups are matched before they are measured: the choice of a group depends on trials and sizes
    # (for ``best``, on the mean error), never on its distance to the number.
    measured = _measured(selection, _picked(selection, numbers))
    own, others = (
        measured[~measured["stand_in"]],
        measured[measured["stand_in"] & (measured["trials"] > 0)],
    )
    # The paper's own data have a line per number and protocol even if nothing was run, so that
    # missing values are visible. Substitutes have a line only if they were measured.
    places = _places(selection, numbers)
    own_lines = places.merge(own.drop(columns="stand_in"), on=["number", "protocol"], how="left")
    # The type matters for an empty frame: pandas 2.3 warns about an empty part with another type.
    stand_ins = others.merge(numbers, on="number").astype({"protocol": STRING})
    every = pd.concat([own_lines.assign(stand_in=False), _in_order(stand_ins)], ignore_index=True)
    every["trials"] = every["trials"].fillna(0).astype(int)
    every["at_chance"] = every["at_chance"].eq(True)
    # The intervals depend on two facts: whether a paper drew its rows once, and the number of
    # kernel matrices over which our kernel error is averaged.
    provenance = {name: papers.find_paper(name).provenance for name in chosen}
    every["one_draw_of_rows"] = [provenance[name].one_draw_of_rows for name in every["paper"]]
    repeats = {
        each.path: each.config.get("kernel_error_repeats") or 1
        for each in selection.collection.experiments
    }
    every["repeats"] = every["folder"].map(repeats).astype(float)
    judged, every["decidable"] = _judged(every)
    # The first condition that holds gives the verdict. Substitutes are other data, seconds are from
    # another machine, and tuned settings are not the paper's: their differences are not about the
    # number. A number that the paper prints twice is judged once.
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
    # The same without these conditions, for readers who want to see the distance of such numbers.
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
    """Add differences and half widths of intervals; return verdicts and decidable numbers.

    A number is decidable if the interval of the paper's own mean is narrow enough.

    Numbers without a unit are compared by the logarithm of the quotient. Its standard errors are,
    to first order, the standard errors of the means divided by the means.
    """
    # Percentages are compared by differences in points. Errors without a unit, such as an RMSE,
    # have any scale. For these, |log(ours / theirs)| is compared, and each standard error is
    # divided by its mean (by the delta method, sd(log x) = sd(x) / x). With differences, all small
    # numbers would be equal.
    relative = every["unit"] == PLAIN
    theirs, ours = (every[name].where(relative, 1.0) for name in ("published", "measured"))
    digit = every["half_digit"] / theirs
    error, many = every["published_error"] / theirs, every["published_trials"]
    own = every["standard_error"] / ours
    # The following is for papers that drew their rows once. Our trials draw rows and features. The
    # trials of such a paper draw features alone; their variance is the square of the printed
    # standard deviation, averaged over `repeats` kernel matrices. The difference of the two
    # variances is the variance of a draw of rows.
    of_features = (every["published_spread"] / theirs) ** 2 / every["repeats"]
    # sigma_rows^2 = s^2 - s_features^2, where s^2 = n se^2 is the variance of one of our n trials.
    # Without this term, a paper's single lucky split would be compared with the spread of a mean
    # over many. A difference of variances may be negative by chance, and is then set to 0.
    of_rows = np.sqrt((own**2 * every["trials"] - of_features).clip(lower=0.0))
    of_rows = of_rows.where(every["one_draw_of_rows"], 0.0)
    # Welch's interval of the difference of the two means. of_rows is the error of the paper's one
    # draw of rows. It is added to our error, since our n trials estimate it, with n - 1 degrees of
    # freedom. `is_too_noisy` does not use our error, so of_rows is added to the paper's there.
    half = verdicts.compute_half_widths(error, many, np.hypot(own, of_rows), every["trials"], digit)
    every["difference"] = every["measured"] - every["published"]
    every["half_width"] = half * ours  # in the number's unit, also for quotients
    distance = every["difference"].mask(relative, np.log(ours / theirs))
    judged = verdicts.judge_numbers(distance, half, relative)
    return judged, ~verdicts.is_too_noisy(np.hypot(error, of_rows), many, digit, relative)


def group_by_data_set(numbers: pd.DataFrame) -> dict[tuple[str, str, str], list[list[Line]]]:
    """Return the lines of `compare_published` for each paper, item and data set."""
    by_table: dict[tuple[str, str, str], dict[tuple[str, str], list[Line]]] = {}
    for line in numbers.to_dict("records"):
        key, stand_in = (line["paper"], line["item"], line["dataset"]), line["used"]
        parts = by_table.setdefault(key, {})
        parts.setdefault((stand_in, str(line["used_rows"])), []).append(line)
    return {key: list(parts.values()) for key, parts in by_table.items()}


def _numbers(chosen: list[str]) -> pd.DataFrame:
    """Return the published numbers of the given papers, a line each."""
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
        for index, entry in enumerate(papers.list_published())
        if entry.paper in chosen
    ]
    table = pd.DataFrame(lines, columns=["number", *same, *ours.values()])
    return table.astype(dict.fromkeys(("size", *ours.values()), "float64") | {"page": "Int64"})


def _places(selection: Selection, numbers: pd.DataFrame) -> pd.DataFrame:
    """Return a line per number and protocol: the usual protocols, and others that were run."""
    rows: list[int] = []
    protocols: list[str] = []
    for key, lines in numbers.groupby(["paper", "item", "dataset"], sort=False):
        name, item, dataset = map(str, key)
        extra = [
            protocol
            for protocol in selection.protocols(name, [item])
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
    """Sort the lines of substitutes by table, protocol, substitute and number."""
    first = stand_ins.groupby(["paper", "item", "dataset"])["number"].transform("min")
    usual = {name: index for index, name in enumerate(papers.PROTOCOLS)}
    order = stand_ins["protocol"].map(usual).fillna(len(usual))
    by = ["place", "order", "protocol", "used", "used_rows", "number"]
    return stand_ins.assign(place=first, order=order).sort_values(by, ignore_index=True)


def _picked(selection: Selection, numbers: pd.DataFrame) -> pd.DataFrame:
    """Return the group of each number, protocol and substitute."""
    bearing = selection.bearing
    # A group can be found by its label and by its alias; duplicates are removed.
    named = pd.concat(
        [bearing.assign(answers=bearing["method"]), bearing.assign(answers=bearing["alias"])]
    )
    named = named.drop_duplicates(["group", "item", "target", "answers"]).sort_index(kind="stable")
    stand_in = named["stand_in"].astype(bool)
    named["used"] = named["dataset"].where(stand_in, "")
    named["used_rows"] = named["n_train"].where(stand_in)
    # All groups of the number's method and data set, for any M: sizes are compared below.
    lines = numbers[["number", "paper", "item", "dataset", "method", "M", "size", "metric"]].merge(
        named.drop(columns=["dataset", "method"]).rename(columns={"M": "used_M"}),
        left_on=["paper", "item", "dataset", "method"],
        right_on=["paper", "item", "target", "answers"],
    )
    lines = lines.astype({"stand_in": bool})
    # The mean error selects the size for ``best`` only, as in the paper. The selection makes both
    # values optimistic.
    errors = selection.collection.counted.groupby("group")["error_percent"].mean()
    lines["mean_error"] = lines["group"].map(errors)
    best, sized = lines["M"] == BEST, lines["size"].notna()
    # A number without a size has the M that the method keeps (NaN) if such a group exists, because
    # then the paper has no single size. Otherwise it has the largest M that was run.
    sizes = lines[MEASURED_KEYS].assign(largest=lines["used_M"], kept=lines["used_M"].isna())
    at = sizes.groupby(MEASURED_KEYS, dropna=False)
    wanted = at["largest"].transform("max").mask(at["kept"].transform("any"))
    usual = (lines["used_M"] == wanted) | (lines["used_M"].isna() & wanted.isna())
    fits = (lines["used_M"] == lines["size"]).where(sized, usual)
    fits = fits.mask(best, lines["mean_error"].notna())
    # If several groups fit, the one with the most trials is used: its mean has the smallest
    # standard error. The sort is stable, so the first folder by name is used if tied.
    score = (-lines["trials"].astype("float64")).mask(best, lines["mean_error"])
    order = (
        lines[MEASURED_KEYS]
        .assign(score=score)[fits.astype(bool)]
        .sort_values("score", kind="stable")
    )
    return lines.loc[order.drop_duplicates(MEASURED_KEYS).index]


def _measured(selection: Selection, picked: pd.DataFrame) -> pd.DataFrame:
    """Add mean, standard error and number of the groups' values, and `at_chance`."""
    kept = ["number", "protocol", "stand_in", "group", "folder", "used", "used_rows", "used_M",
            "failed", "error_metric", "at_chance"]  # fmt: skip
    if picked.empty:
        nothing = dict.fromkeys(["measured", "standard_error", "trials"], 0.0)
        return picked.reindex(columns=kept).assign(**nothing)
    # A remark, not a verdict: if no method at this size beats a constant, differences between
    # methods are noise.
    sources_of, places = papers.list_sources(), zip(picked["paper"], picked["dataset"], strict=True)
    sources = (sources_of[paper][dataset] for paper, dataset in places)
    beats = beats_constant(selection.collection, picked["group"].to_numpy(), sources)
    best = picked.assign(beats=np.nan_to_num(beats, nan=1.0)).groupby(CELL, dropna=False)["beats"]
    picked = picked.assign(at_chance=best.transform("max") == 0)
    # Our column in which a metric of the paper was measured.
    names = [
        papers.find_paper(paper).measured_as.get(metric, PERCENT_COLUMNS.get(metric, metric))
        for paper, metric in zip(picked["paper"], picked["metric"], strict=True)
    ]
    counted = selection.collection.counted
    wanted = list(dict.fromkeys(names))
    # Mean, standard deviation and number per group and column, then for the column that each number
    # needs. se = sd / sqrt(n). It is NaN for one trial, and the number is then undecided.
    here = counted[counted["group"].isin(set(picked["group"]))]
    moments = here.groupby("group")[wanted].agg(["mean", "std", "count"])
    each = moments.stack(level=0, future_stack=True)
    statistics = each.reindex(pd.MultiIndex.from_arrays([picked["group"], names]))
    mean, sd, trials = (statistics[name].to_numpy() for name in ("mean", "std", "count"))
    measured = {"measured": mean, "standard_error": sd / np.sqrt(trials), "trials": trials}
    return picked[kept].reset_index(drop=True).assign(**measured)
