"""Each published number with the mean that was measured for it."""

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

    If several groups match a number, the group with the most trials counts; of a tie, the first
    folder by name. ``best`` is the smallest mean error over the sizes that were run. A number
    without a size belongs to the M that the method keeps, else to the largest M.

    Parameters
    ----------
    paper : str, optional
        Only this one.

    Returns
    -------
    DataFrame
        First the papers' own data, a line per number and protocol; then the stand-ins, a line per
        number, protocol and stand-in that was measured. `PUBLISHED_COLUMNS` (``half_width`` is
        half the interval of the difference; ``decidable``, whether the paper's own spread is
        narrow enough, see `rfbench.analysis.verdicts.is_too_noisy`; ``at_chance``, a remark: at
        this size no method beats a constant) and: ``unit``, ``same_as``, ``stand_in``, ``number``
        (its place in `rfbench.papers.list_published`); of the group behind it (NaN or ``""``
        without one) ``group``, ``folder``, ``used`` and ``used_rows`` (of stand-ins: data set and
        training rows), ``used_M``, ``failed`` (trials that did not end well),
        ``error_metric`` (what stands for ``error``), ``by_interval`` (the verdict that its
        interval gives, whether the number counts or not).

    Raises ResultsError if there is no such paper.
    """
    chosen = papers.list_papers() if paper is None else [papers.check_paper(paper)]
    numbers = _numbers(chosen)
    # Match first, measure second: which group stands for a number is decided by trials and sizes
    # (of ``best``, by the mean error), never by how near it comes to the number.
    measured = _measured(selection, _picked(selection, numbers))
    own, others = (
        measured[~measured["stand_in"]],
        measured[measured["stand_in"] & (measured["trials"] > 0)],
    )
    # The paper's own data have a line per number and protocol even if nothing was run, so that what
    # is missing shows. Stand-ins have one only if they were measured.
    places = _places(selection, numbers)
    own_lines = places.merge(own.drop(columns="stand_in"), on=["number", "protocol"], how="left")
    # The type matters if there are none: pandas 2.3 warns of an empty part of another type.
    stand_ins = others.merge(numbers, on="number").astype({"protocol": STRING})
    every = pd.concat([own_lines.assign(stand_in=False), _in_order(stand_ins)], ignore_index=True)
    every["trials"] = every["trials"].fillna(0).astype(int)
    every["at_chance"] = every["at_chance"].eq(True)
    # What the intervals need to know of the papers: whether they drew their rows once, and over how
    # many kernel matrices a kernel error of ours is averaged.
    provenance = {name: papers.find_paper(name).provenance for name in chosen}
    every["one_draw_of_rows"] = [provenance[name].one_draw_of_rows for name in every["paper"]]
    repeats = {
        each.path: each.config.get("kernel_error_repeats") or 1
        for each in selection.collection.experiments
    }
    every["repeats"] = every["folder"].map(repeats).astype(float)
    judged, every["decidable"] = _judged(every)
    # The first condition that holds gives the verdict. Stand-ins are other data, seconds are of
    # another machine, and tuned settings are not the paper's: their differences say nothing about
    # the number. A number that the paper prints twice is judged once.
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
    # The same without these reasons, for readers who want to see how far off such numbers are.
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
    """Add differences and half widths of their intervals; return verdicts, and which are decidable.

    A number is decidable if the interval of the paper's own mean is narrow enough.

    Numbers without a unit are compared by the logarithm of the quotient. Its standard errors are,
    to first order, the standard errors of the means divided by the means.
    """
    # Percentages are compared by differences in points. Errors without a unit, such as an RMSE,
    # have any scale: |log(ours / theirs)| is compared, and each standard error is divided by its
    # mean (the delta method: sd(log x) = sd(x) / x). Differences would call all small numbers
    # equal.
    relative = every["unit"] == PLAIN
    theirs, ours = (every[name].where(relative, 1.0) for name in ("published", "measured"))
    digit = every["half_digit"] / theirs
    error, many = every["published_error"] / theirs, every["published_trials"]
    own = every["standard_error"] / ours
    # For papers that drew their rows once. Our trials draw rows and features; theirs draw features
    # alone, whose variance their printed standard deviation shows, averaged over `repeats` kernel
    # matrices. The difference of the two variances is the variance of a draw of rows.
    of_features = (every["published_spread"] / theirs) ** 2 / every["repeats"]
    # sigma_rows^2 = s^2 - s_features^2, s^2 = n se^2 the variance of one of our n trials. Without
    # this term a paper's single lucky split would be held to the spread of a mean over many. A
    # difference of variances may be negative by chance, and is 0 then.
    of_rows = np.sqrt((own**2 * every["trials"] - of_features).clip(lower=0.0))
    of_rows = of_rows.where(every["one_draw_of_rows"], 0.0)
    # Welch's interval of the difference of the two means. of_rows is the error of the paper's one
    # draw of rows. It is added to our error, since our n trials estimate it, with n - 1 degrees of
    # freedom. `is_too_noisy` has no error of ours, and gets it with the paper's.
    half = verdicts.compute_half_widths(error, many, np.hypot(own, of_rows), every["trials"], digit)
    every["difference"] = every["measured"] - every["published"]
    every["half_width"] = half * ours  # of a quotient: what it comes to in the number's unit
    distance = every["difference"].mask(relative, np.log(ours / theirs))
    judged = verdicts.judge_numbers(distance, half, relative)
    return judged, ~verdicts.is_too_noisy(np.hypot(error, of_rows), many, digit, relative)


def group_by_data_set(numbers: pd.DataFrame) -> dict[tuple[str, str, str], list[list[Line]]]:
    """Sort lines of `compare_published` by paper, item and data set: its own before stand-ins."""
    by_table: dict[tuple[str, str, str], dict[tuple[str, str], list[Line]]] = {}
    for line in numbers.to_dict("records"):
        key, stand_in = (line["paper"], line["item"], line["dataset"]), line["used"]
        parts = by_table.setdefault(key, {})
        parts.setdefault((stand_in, str(line["used_rows"])), []).append(line)
    return {key: list(parts.values()) for key, parts in by_table.items()}


def _numbers(chosen: list[str]) -> pd.DataFrame:
    """Return the published numbers of some papers, a line each."""
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
    """Return a line per number and protocol: the usual ones, and others that were run."""
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
    """Sort the lines of stand-ins by table, protocol, stand-in and number."""
    first = stand_ins.groupby(["paper", "item", "dataset"])["number"].transform("min")
    usual = {name: index for index, name in enumerate(papers.PROTOCOLS)}
    order = stand_ins["protocol"].map(usual).fillna(len(usual))
    by = ["place", "order", "protocol", "used", "used_rows", "number"]
    return stand_ins.assign(place=first, order=order).sort_values(by, ignore_index=True)


def _picked(selection: Selection, numbers: pd.DataFrame) -> pd.DataFrame:
    """Return the group of each number, protocol and stand-in."""
    bearing = selection.bearing
    # A group answers to its label and to its alias; of a group with both, the same label counts
    # once.
    named = pd.concat(
        [bearing.assign(answers=bearing["method"]), bearing.assign(answers=bearing["alias"])]
    )
    named = named.drop_duplicates(["group", "item", "target", "answers"]).sort_index(kind="stable")
    stand_in = named["stand_in"].astype(bool)
    named["used"] = named["dataset"].where(stand_in, "")
    named["used_rows"] = named["n_train"].where(stand_in)
    # All groups of the number's method and data set, of any M: the sizes are compared below.
    lines = numbers[["number", "paper", "item", "dataset", "method", "M", "size", "metric"]].merge(
        named.drop(columns=["dataset", "method"]).rename(columns={"M": "used_M"}),
        left_on=["paper", "item", "dataset", "method"],
        right_on=["paper", "item", "target", "answers"],
    )
    lines = lines.astype({"stand_in": bool})
    # The mean error chooses among sizes for ``best`` alone, as the paper did; the choice makes it
    # optimistic, in both.
    errors = selection.collection.counted.groupby("group")["error_percent"].mean()
    lines["mean_error"] = lines["group"].map(errors)
    best, sized = lines["M"] == BEST, lines["size"].notna()
    # A number without a size: M as the method keeps it (NaN) where such a group exists, because no
    # single size is the paper's then; else the largest that was run.
    sizes = lines[MEASURED_KEYS].assign(largest=lines["used_M"], kept=lines["used_M"].isna())
    at = sizes.groupby(MEASURED_KEYS, dropna=False)
    wanted = at["largest"].transform("max").mask(at["kept"].transform("any"))
    usual = (lines["used_M"] == wanted) | (lines["used_M"].isna() & wanted.isna())
    fits = (lines["used_M"] == lines["size"]).where(sized, usual)
    fits = fits.mask(best, lines["mean_error"].notna())
    # Of several groups that fit, that with the most trials: its mean has the smallest standard
    # error. The sort is stable, so that of equal ones the first folder by name remains.
    score = (-lines["trials"].astype("float64")).mask(best, lines["mean_error"])
    order = (
        lines[MEASURED_KEYS]
        .assign(score=score)[fits.astype(bool)]
        .sort_values("score", kind="stable")
    )
    return lines.loc[order.drop_duplicates(MEASURED_KEYS).index]


def _measured(selection: Selection, picked: pd.DataFrame) -> pd.DataFrame:
    """Add mean, standard error and number of the values that the groups have, and chance."""
    kept = ["number", "protocol", "stand_in", "group", "folder", "used", "used_rows", "used_M",
            "failed", "error_metric", "at_chance"]  # fmt: skip
    if picked.empty:
        nothing = dict.fromkeys(["measured", "standard_error", "trials"], 0.0)
        return picked.reindex(columns=kept).assign(**nothing)
    # A remark, and no verdict: where no method at this size beats a constant, differences between
    # methods are noise.
    sources_of, places = papers.list_sources(), zip(picked["paper"], picked["dataset"], strict=True)
    sources = (sources_of[paper][dataset] for paper, dataset in places)
    beats = beats_constant(selection.collection, picked["group"].to_numpy(), sources)
    best = picked.assign(beats=np.nan_to_num(beats, nan=1.0)).groupby(CELL, dropna=False)["beats"]
    picked = picked.assign(at_chance=best.transform("max") == 0)
    # Under which of our columns a metric of the paper was measured.
    names = [
        papers.find_paper(paper).measured_as.get(metric, PERCENT_COLUMNS.get(metric, metric))
        for paper, metric in zip(picked["paper"], picked["metric"], strict=True)
    ]
    counted = selection.collection.counted
    wanted = list(dict.fromkeys(names))
    # Mean, standard deviation and number per group and column, then those of the column that each
    # number needs. se = sd / sqrt(n); of one trial it is NaN, and the number stays undecided.
    here = counted[counted["group"].isin(set(picked["group"]))]
    moments = here.groupby("group")[wanted].agg(["mean", "std", "count"])
    each = moments.stack(level=0, future_stack=True)
    statistics = each.reindex(pd.MultiIndex.from_arrays([picked["group"], names]))
    mean, sd, trials = (statistics[name].to_numpy() for name in ("mean", "std", "count"))
    measured = {"measured": mean, "standard_error": sd / np.sqrt(trials), "trials": trials}
    return picked[kept].reset_index(drop=True).assign(**measured)
