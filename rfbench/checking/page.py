"""Published measurements of feature maps: the CSV files, and the page ``maps.md``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pandas as pd
from scipy import stats

from rfbench import files
from rfbench.arrays import EXACT
from rfbench.checking.bias import (
    LEVEL,
    N_SEEDS,
    POWER,
    SEEN,
    TESTS,
    KernelClaim,
    Measurement,
    measure_bias,
)
from rfbench.checking.causes import find_cause_of_bias
from rfbench.pages.formatting import DASH, format_number, format_signed, format_significant, link
from rfbench.pages.grids import Grid
from rfbench.pages.templates import render_template
from rfbench.results.schema import STRING

PAGE, NAME = "maps.md", "maps"
MAPS_FOLDER = Path("results/published/maps")
MAP_COLUMNS = (
    "code", "option", "map", "kernel", "how", "version", "file", "date", "M", "columns", "seeds",
    "at", "exact", "bias", "error", "z", "largest_z", "limit", "relative_error", "rate",
    "further_out", "verdict", "cause", "apart", "fault", "said", "mend",
)  # fmt: skip
MEASURED_COLUMNS = ("M", "columns", "seeds", "largest_z", "limit", "relative_error", "rate")
TEXTS = ("option", "map", "kernel", "file", "date", "at", "verdict", "cause", "apart", "fault",
         "said", "mend")  # fmt: skip
RIGHT, BIASED, SLOW = "no bias", "biased", "no gain from M"
TABLES = ("own", "others", "candidates", "patched", "own_tests", "power", "planted", "planted_none")
# Descriptions of the possible results of a package, each for one package and for several packages.
RESULTS_OF_PACKAGES = {
    "measured": ("has feature maps that were measured", "have feature maps that were measured"),
    "read": ("was read and not run", "were read and not run"),
    "no feature map": ("does not contain a feature map", "do not contain a feature map"),
    "no feature map of its own": (
        "uses the feature map of another package",
        "use the feature map of another package",
    ),
    "no wheel": ("has no wheel", "have no wheel"),
    "claims no kernel": (
        "has features that do not claim to approximate a kernel",
        "have features that do not claim to approximate a kernel",
    ),
    "no features to measure": (
        "uses random features only inside an estimator or a solver",
        "use random features only inside an estimator or a solver",
    ),
    "other spaces": (
        "has kernels that are not defined on rows with several columns",
        "have kernels that are not defined on rows with several columns",
    ),
    "cannot be imported": ("cannot be imported", "cannot be imported"),
}
FIXED, BELOW = "the same for every seed", "below the kernel"
# Maximum length in words of a reason in a cell of the table. If a reason is longer, its second half
# is printed as a note below the table. The limit was chosen without a measurement. With twice this
# limit, all reasons are completely in their cells. With half this limit, most reasons have a note.
WORDS_OF_CELL = 30


def make_map_row(
    claim: KernelClaim, facts: Mapping[str, Any], most: int | None = None
) -> dict[str, Any]:
    """Measure the bias of a feature map, and return the row of the map for a table.

    `facts` contains values that are added to the row without a measurement. `most` is the largest
    number of seeds.
    """
    found = measure_bias(claim, most=most, seconds=600.0)
    i, cause = found.shown, find_cause_of_bias(found)
    return {
        **facts,
        **{name: getattr(found, name) for name in MEASURED_COLUMNS},
        "further_out": found.relative_error_at_distant_pair,
        "kernel": found.kernel.name,
        "at": found.pairs.names[i],
        "exact": found.exact[i],
        "bias": found.bias[i],
        "error": found.spread[i],
        "z": found.z[i],
        "verdict": find_verdict_on_map(found),
        "cause": cause.what if cause else "",
    }


def find_verdict_on_map(measurement: Measurement) -> str:
    """Return the verdict on a feature map as text.

    The verdict is "biased" or "no bias" if the bias could be tested. Maps whose features are the
    same for every seed, or that estimate the kernel from below, have separate verdicts. The verdict
    is "no gain from M" if the error does not decrease with the number of features M.
    """
    if measurement.below:
        return BELOW
    if not measurement.varies:
        return BIASED if measurement.wrong else FIXED
    return BIASED if measurement.biased else RIGHT if measurement.is_error_decreasing else SLOW


def read_map_rows(file: Path) -> pd.DataFrame:
    """Read a CSV file with measurements of feature maps. Missing texts become empty strings."""
    table = pd.read_csv(file, dtype=dict.fromkeys((*TEXTS, "version"), str), **EXACT)
    table = table.reindex(columns=list(MAP_COLUMNS)).astype(dict.fromkeys(TEXTS, STRING))
    filled: pd.DataFrame = table.fillna(dict.fromkeys(TEXTS, ""))
    return filled


def _list_unbiased_claims(others: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the measured feature maps that should be unbiased.

    Maps without a measurement are left out. Maps whose bias does not count as a fault are also left
    out.
    """
    return others[(others["verdict"] != "") & (others["apart"] == "")]


def number_faults_of_biased_maps(others: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the biased feature maps, with a column for the number of the fault.

    Maps with the same mistake have the same number, even if they are in different packages.
    """
    biased = _list_unbiased_claims(others)[_list_unbiased_claims(others)["verdict"] == BIASED]
    biased = biased.sort_values(["fault", "code", "option"], kind="stable")
    return biased.assign(number=pd.factorize(biased["fault"])[0] + 1)


def annotate_published_rows(file: Path, sources: Mapping[str, Any]) -> None:
    """Copy the remarks in `sources` into a CSV file with measurements of feature maps.

    No map is measured again.
    """
    table = read_map_rows(file)
    for name, source in sources.items():
        for each in source["maps"]:
            rows = (table["code"] == name) & (table["option"] == each.get("option", ""))
            rows &= table["kernel"] == each["kernel"]
            for text in ("file", "apart", "fault", "said", "mend"):
                table.loc[rows, text] = each.get(text, "")
            # The measured cause is replaced by the cause in `sources`, which is given if the
            # measured cause is wrong.
            if "cause" in each:
                table.loc[rows, "cause"] = each["cause"]
    write_map_rows(file, cast("list[dict[str, Any]]", table.to_dict("records")))


def write_map_rows(file: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write measurements of feature maps to a CSV file.

    Existing rows with the same value in the column ``code`` are replaced.
    """
    table = pd.DataFrame(rows, columns=list(MAP_COLUMNS))
    if file.is_file():
        old = read_map_rows(file)
        table = pd.concat([old[~old["code"].isin(table["code"])], table])
    table = table.sort_values(
        list(MAP_COLUMNS[:4]), kind="stable", key=lambda column: column.astype(str)
    )
    files.replace(file, table.to_csv(index=False, float_format="%.6g").encode())


def find_folder_of_maps(paths: Iterable[str | Path]) -> Path | None:
    """Return the folder with measurements of feature maps, in or next to one of `paths`.

    The result is None if there is no such folder.
    """
    for path in map(Path, paths):
        for folder in (path / NAME, path / "published" / NAME, path.parent / NAME):
            if (folder / "others.csv").is_file():
                return folder
    return None


def render_maps_page(folder: Path, out: Path) -> str:
    """Return the page ``maps.md``, which lists the measured feature maps and the biased ones.

    The measurements are read from the CSV files in `folder`. Links are relative to `out`.
    """
    others, own = (read_map_rows(folder / f"{name}.csv") for name in ("others", "own"))
    claiming, biased = _list_unbiased_claims(others), number_faults_of_biased_maps(others)
    slow, right = (claiming[claiming["verdict"] == verdict] for verdict in (SLOW, RIGHT))
    apart = others[(others["verdict"] != "") & (others["apart"] != "")]
    sizes = (
        read_map_rows(folder / "by_size.csv") if (folder / "by_size.csv").is_file() else others[:0]
    )
    claimed, patched = (
        own[own["said"] == ""],
        _list_unbiased_claims(read_map_rows(folder / "patched.csv")),
    )
    seeds, limit = int(claimed["seeds"].max()), float(claimed["limit"].max())
    return render_template(
        "checking/maps.md.j2",
        rows_of={name: link(folder / f"{name}.csv", out) for name in TABLES},
        measured=len(claiming),
        needed=N_SEEDS,
        biased_maps=len(biased),
        run=int((biased["how"] == "real").sum()),
        distinct=biased["number"].max(),
        packages=others.loc[others["how"] == "real", "code"].nunique(),
        candidates=count_tried_packages(folder),
        planted=count_planted_faults(folder),
        power=read_power(folder / "power.csv"),
        own_tests=_own_tests_grid(folder / "own_tests.csv"),
        patched={"n": len(patched), "right": int((patched["verdict"] == RIGHT).sum())},
        biased=_biased_grid(biased),
        notes=biased[~_fits(biased)].to_dict("records"),
        slow=slow.to_dict("records"),
        apart=_apart_grid(apart),
        sizes=_size_grid(sizes),
        places=_place_grid(pd.concat([biased, slow])),
        right=_right_grid(right),
        remarks=right[right["said"] != ""].to_dict("records"),
        read=others[others["verdict"] == ""].to_dict("records"),
        seeds=seeds,
        limit=limit,
        seen=(limit + float(stats.norm.ppf(POWER))) / math.sqrt(seeds),
        own=len(claimed),
        own_right=int((claimed["verdict"] == RIGHT).sum()),
        own_apart=sorted(set(own.loc[(own["said"] != "") & (own["verdict"] != ""), "code"])),
        own_without=sorted(set(own.loc[own["verdict"] == "", "code"])),
    )


def count_planted_faults(folder: Path) -> dict[str, Any]:
    """Return the numbers of faults that the test for bias has found and missed.

    The faults were added to correct feature maps on purpose. The result also has the number of
    correct maps, and the number of correct maps that were rejected.
    """
    faults, right = (pd.read_csv(folder / f"{name}.csv") for name in TABLES[-2:])
    large, small = faults[faults["bias"] > SEEN], faults[faults["bias"] <= SEEN]
    rejected = int(right["found"].sum())
    interval = stats.binomtest(rejected, len(right)).proportion_ci(0.95)
    return {
        **{
            name: (len(t), int(t["found"].sum()))
            for name, t in (("large", large), ("small", small))
        },
        "missed": small[~small["found"]].to_dict("records"),
        "right": (len(right), rejected, interval.low, interval.high),
    }


def read_power(file: Path) -> Grid:
    """Return a table with the share of biased feature maps that the test has detected.

    The table has a row for each size of the bias, with a 95 % interval of the share.
    """
    limit = stats.t.isf(LEVEL / 2 / TESTS, N_SEEDS - 1)
    lines = []
    for bias, maps, found in (
        pd.read_csv(file).groupby("bias")[["maps", "found"]].sum().itertuples()
    ):
        interval = stats.binomtest(int(found), int(maps)).proportion_ci(0.95)
        span = f"{format_number(interval.low, 2)} to {format_number(interval.high, 2)}"
        one = stats.norm.cdf(bias * math.sqrt(N_SEEDS) - limit)
        lines.append([f"{bias:g}", f"{found} of {maps}", span, format_number(float(one), 2)])
    return Grid(["largest bias", "found", "95 % interval", "power for one pair"], lines)


def count_tried_packages(folder: Path) -> dict[str, Any]:
    """Return the number of packages whose feature maps were examined, and the number per result."""
    tried = pd.read_csv(folder / "candidates.csv")
    counts = tried["result"].str.partition(":")[0].value_counts()
    return {"tried": len(tried), "counts": counts.to_dict(), "meanings": RESULTS_OF_PACKAGES}


def _name(row: Mapping[Any, Any]) -> str:
    return ", ".join(filter(None, (row["code"], row["option"])))


def _bias_cells(row: Mapping[Any, Any]) -> list[str]:
    """Return two cells of a table: the bias in percent of the kernel, and a pair of rows.

    The pair of rows has the largest bias.
    """
    percent = 100 * row["bias"] / row["exact"] if abs(row["exact"]) > 1e-9 else 0.0
    exact, mean = row["exact"], row["exact"] + row["bias"]
    becomes = f"{format_number(mean, 2)} instead of {format_number(exact, 2)}"
    if float(format_number(mean, 2)) == float(format_number(exact, 2)):
        becomes = f"{format_number(mean, 3)} instead of {format_number(exact, 3)}"
    share = f"{'+' if percent > 0 else ''}{format_significant(percent)} %"
    if not percent:  # the kernel is 0 at this pair, so there is no relative error
        share = format_signed(row["bias"], 2)
    return [share, f"{row['at']}: {becomes}"]


def _reason(row: Mapping[Any, Any]) -> str:
    return "; ".join(filter(None, (row["cause"], row["said"])))


def _fits(rows: pd.DataFrame) -> pd.Series:
    """Return a boolean for each row: True if the explanation of the bias fits into a table cell."""
    words = [len(_reason(row).split()) for row in rows.to_dict("records")]
    return pd.Series([n <= WORDS_OF_CELL for n in words], rows.index, dtype=bool)


def _biased_grid(rows: pd.DataFrame) -> Grid:
    """Return the table of biased feature maps: the fault, the bias, the cause and the fix."""
    lines = [
        [
            _name(row),
            str(row["number"]),
            f"{row['how']}, {row['version']}",
            row["kernel"],
            *_bias_cells(row),
            _reason(row) if fits else row["cause"] or row["said"],
            row["mend"],
        ]
        for row, fits in zip(rows.to_dict("records"), _fits(rows), strict=True)
    ]
    head = ["feature map", "fault", "measured", "kernel", "biased by", "largest at", "why", "fix"]
    return Grid(head, lines)


def _apart_grid(rows: pd.DataFrame) -> Grid:
    """Return the table of feature maps whose bias does not count as a fault, with the reasons."""
    lines = [
        [_name(row), row["kernel"], *_bias_cells(row), row["said"] or row["apart"]]
        for row in rows.to_dict("records")
    ]
    return Grid(
        ["feature map", "kernel", "biased by", "largest at", "why it is not counted"], lines
    )


def _own_tests_grid(file: Path) -> Grid:
    """Return the table of packages whose feature maps we patched.

    A row has the results of the package's tests and of our tests, before and after the patch.
    """
    lines = []
    types: Any = {"version": str, "note": STRING}
    for row in pd.read_csv(file, dtype=types).to_dict("records"):
        own = [row["note"], DASH]
        if not pd.isna(row["passed_before"]):
            own = [
                f"{row[f'passed_{when}']:.0f} passed, {row[f'failed_{when}']:.0f} failed"
                for when in ("before", "after")
            ]
            own[0] += f" ({row['note']})" if not pd.isna(row["note"]) else ""
        biased = [f"{row[f'biased_{when}']} of {row['maps']}" for when in ("before", "after")]
        applied = "yes" if row["applies"] else "no"
        lines.append([row["code"], row["version"], applied, *own, *biased])
    head = ["package", "version", "patch applies"]
    head += [f"{what} {when}" for what in ("package's tests", "biased feature maps")
             for when in ("before", "after")]  # fmt: skip
    return Grid(head, lines)


def _place_grid(rows: pd.DataFrame) -> Grid:
    """Return the table with the source file of each feature map."""
    ordered = rows.sort_index().to_dict("records")
    lines = [[_name(row), row["version"], row["file"]] for row in ordered]
    return Grid(["feature map", "version", "file"], lines)


def _right_grid(rows: pd.DataFrame) -> Grid:
    """Return the table of feature maps without a bias, with one row per package."""
    lines = [
        [*map(str, package), "; ".join(dict.fromkeys(here["option"]))]
        for package, here in rows.groupby(["code", "version", "how"], sort=False)
    ]
    return Grid(["package", "version", "measured", "feature maps"], lines)


def _size_grid(rows: pd.DataFrame) -> Grid:
    """Return the table of biases of feature maps, with one column per number of features.

    The unit of a bias is the standard deviation of a kernel estimate over seeds.
    """
    sizes = sorted({int(M) for M in rows["M"]})
    lines = []
    for (code, option, kernel), here in rows.groupby(["code", "option", "kernel"]):
        cells = {
            int(row["M"]): format_signed(row["largest_z"] / row["seeds"] ** 0.5, 2)
            + ("" if row["verdict"] == BIASED else f" ({RIGHT})")
            for row in here.to_dict("records")
        }
        lines.append([f"{code}, {option}", str(kernel), *(cells.get(M, DASH) for M in sizes)])
    return Grid(["feature map", "kernel", *(f"M = {M}" for M in sizes)], lines)
