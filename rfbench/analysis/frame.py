"""One tidy frame of all rows of all results folders, with their groups and pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rfbench import papers
from rfbench.analysis.naming import parse_parameters, sort_json
from rfbench.errors import ConfigError, ResultsError, suggest_nearest
from rfbench.results import Results, reader
from rfbench.results.schema import METRICS, ROW_TIMES, STRING, VALIDATION

SUMS = {
    f"{clock}_{name}": tuple(f"{clock}_{part}" for part in parts)
    for clock in ("t", "cpu")
    for name, parts in {
        "drawing": ("pp", "features"),
        "fit": ("features", "train"),
        "total": ("pp", "features", "train"),
        "all": ("pp", "features", "train", "test"),
    }.items()
}
REGRESSION = ("relative_squared_error", "relative_rmse", "mae_range")
KERNEL_ERRORS = tuple(name for name in METRICS if name.startswith("kernel_error"))
JOINT = "joint"
PAIRED_BY = ["trial", "seed", "data_hash", "split", "n_train"]
IDENTITY = [
    "dataset", "d", "protocol", "sampler", "label", "variant", "parameters", "kernel",
    "bandwidth_rule", "feature_map", "M", "solver", "selection", "alpha_convention", "intercept",
    "scaling", "split", "dtype", "timing", "threads", "setting",
]  # fmt: skip
RUN_COLUMNS = ["experiment", "folder", *IDENTITY, "paper", "items", "smoke"]
# Function that returns the settings of the current configuration of results, or None if these are
# not known.
Today = Callable[[Results], frozenset[str] | None]
GROUP_COLUMNS = [
    *RUN_COLUMNS, "source", "sampled", "method", "alias", "trials", "failed", "n_train", "n_test",
    "columns", "error_metric", "machine", "stale",
]  # fmt: skip


@dataclass(frozen=True)
class Collection:
    """All rows of all results folders; each file is read once.

    Attributes
    ----------
    rows : DataFrame
        One row per trial, with the columns of ``trials.csv`` and:

        - `experiment` (the name of the results), `folder`, `paper`, `items`, `smoke`.
        - `metric`: metric of the configuration, or ``""``.
        - `follows`: True if M is the size of another method, or of a paper's rows.
        - `own_settings`: True if the parameters are taken from there, too. They are then omitted.
        - The sums of times (`SUMS`, seconds).
        - `error_percent` (misclassification, else 100 times the error of the regression) and
          `accuracy_percent`.
        - `added`: True if the trial was added to a few points of a curve after a look at them, see
          `rfbench.papers.models.Provenance`.
        - `counts`: True if the status is ok, the trial was not added, and it is the last row of its
          group and trial.
        - `group`: line of `groups`.
        - `pair`: number shared by the rows of two methods with the same trial, seed, data, split
          and number of training rows.

        Rows that failed before `d` was known get the `d` of their data set. `parameters` are JSON
        with sorted keys.
    groups : DataFrame
        One line per folder and `IDENTITY`, in the order of first appearance. The other columns:

        - `experiment`, `paper`, `items`, `smoke`.
        - `M`: NaN if it follows another method.
        - `source` and `sampled`: the data set's name and the number in ``name[5000 rows]`` (or
          NaN).
        - `method`: the label, or ``joint``.
        - `alias`: the sampler if it names no other label (or ``""``).
        - `trials` and `failed`; `n_train`, `n_test` and `columns`, medians.
        - `error_metric`: metric in `error_percent`.
        - `machine`: machine of most of its rows. Times of other machines do not count, see
          `drop_other_machines`.
        - `stale`: True if the current configurations do not contain these trials.
    experiments : tuple of Results
        Loaded results, one per folder: name, configuration, manifest, notes of the reader.
    notes : tuple of str
        Folders that could not be read, with the reason.
    """

    rows: pd.DataFrame
    groups: pd.DataFrame
    experiments: tuple[Results, ...]
    notes: tuple[str, ...] = ()

    @cached_property
    def counted(self) -> pd.DataFrame:
        """Rows that count, sorted by group; kernel errors only if the features are estimates."""
        counted = np.flatnonzero(self.rows["counts"])
        order = np.argsort(self.rows["group"].to_numpy()[counted], kind="stable")
        # The rows of a group have to be a slice for `_starts`.
        rows = self.rows.iloc[counted[order]].reset_index(drop=True)
        if rows.empty:
            return rows
        rows = drop_other_machines(rows, self.groups)
        # Features that are weighted for another purpose are not estimates: their kernel error would
        # be the error of a different kernel.
        estimates = map_unique(rows["parameters"], estimates_kernel).astype(bool)
        return rows.assign(**{name: rows[name].where(estimates) for name in KERNEL_ERRORS})

    @cached_property
    def _starts(self) -> NDArray[np.intp]:
        codes = self.counted["group"].to_numpy()
        return np.searchsorted(codes, np.arange(len(self.groups) + 1))

    @cached_property
    def _known(self) -> dict[tuple[str, str], NDArray[np.float64]]:
        return {}

    def values(self, column: str) -> NDArray[np.float64]:
        """Return a column of `counted`. Raises ConfigError for an unknown column."""
        if column not in self.counted:
            raise ConfigError(
                f"Unknown metric {column}." + suggest_nearest(column, list(map(str, self.counted))),
                "The name is in claims.yaml or paper.yaml of a paper's folder.",
                "Name a column of trials.csv, or a sum of times.",
            )
        if ("values", column) not in self._known:
            self._known["values", column] = to_floats(self.counted[column])
        return self._known["values", column]

    def means(self, column: str) -> NDArray[np.float64]:
        """Return the mean of a column of `counted` per group, NaN without a value."""
        if ("means", column) not in self._known:
            means = self.counted.groupby("group")[column].mean()
            self._known["means", column] = to_floats(means.reindex(self.groups.index))
        return self._known["means", column]

    def fact(self, column: str) -> NDArray[Any]:
        """Return a column of `groups` as an array."""
        if column not in self._facts:
            self._facts[column] = self.groups[column].to_numpy()
        return self._facts[column]

    def of_method(self, groups: NDArray[np.intp], *methods: str) -> NDArray[np.bool_]:
        """Return a mask of the groups that belong to the given methods, by label or by sampler.

        Features under the joint solver belong to the method ``joint`` only.
        """
        # The label has priority over the sampler (`_aliases`).
        matching = (np.isin(self.fact(name)[groups], methods) for name in ("method", "alias"))
        return np.logical_or(*matching)

    @cached_property
    def stale(self) -> dict[str, int]:
        """Number of stale rows of each experiment that has any."""
        if self.rows.empty:
            return {}
        rows = self.rows["group"].map(self.groups["stale"]).eq(True)
        counted = self.rows.loc[rows, "experiment"].value_counts(sort=False)
        return {str(name): int(n) for name, n in sorted(counted.items())}

    def without_stale(self, results: Results) -> Results:
        """Return one of `experiments` without its stale rows."""
        stale = self.groups[self.groups["stale"] & (self.groups["folder"] == results.path)]
        asked = ~results.rows["setting"].isin(stale["setting"])
        return results if asked.all() else replace(results, rows=results.rows[asked])

    @cached_property
    def _facts(self) -> dict[str, NDArray[Any]]:
        return {"group": np.arange(len(self.groups))}

    @cached_property
    def of_pairs(self) -> pd.DataFrame:
        """Columns that the rows of a pair share, a line per pair."""
        return self.rows[PAIRED_BY].groupby(self.rows["pair"], sort=False).head(1)

    def side_by_side(
        self, groups: NDArray[np.intp]
    ) -> tuple[NDArray[np.intp], tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]]:
        """Arrange the trials of groups in a table with a line per pair and a column per group.

        Returns the pairs, and rows of `counted` with the line and the column of each.
        """
        starts, stops = self._starts[groups], self._starts[groups + 1]
        rows = [np.arange(start, stop) for start, stop in zip(starts, stops, strict=True)]
        every = np.concatenate([*rows, np.array([], dtype=np.intp)])
        # There is a line for each pair, even if not all groups have the pair: the caller drops
        # incomplete lines.
        pairs, lines = np.unique(self.values("pair")[every], return_inverse=True)
        columns = np.repeat(np.arange(len(groups)), stops - starts)
        return pairs.astype(np.intp), (every, lines, columns)


def collect(paths: Iterable[str | Path], today: Today | None = None) -> Collection:
    """Read every results folder at or below the paths; broken folders are skipped and noted.

    With `today` (see `rfbench.experiment.today.find_settings`), rows of trials
    that the current configurations do not contain are stale. Without it, no row is stale.

    Raises ResultsError if a path does not exist. A path without results is not an error.
    """
    folders: dict[Path, Path] = {}
    results, notes = [], []
    for path in map(Path, paths):
        try:
            folders |= {folder.resolve(): folder for folder in reader.find([path])}
        except ResultsError as error:
            if not path.is_dir():
                raise
            notes.append(error.what)
    read_ones = reader.read_each(folders.values())
    for folder, read in zip(folders.values(), read_ones, strict=True):
        if isinstance(read, ResultsError):
            notes.append(f"{folder} is left out: {read.what} {read.why}".strip())
        else:
            results.append(read)
    return build_collection(results, notes, today)


def _count_planned_trials() -> dict[tuple[str, str], int]:
    """Return the planned number of trials of the runs to which trials were added later."""
    return {
        (paper, name): n
        for paper in papers.read_library()
        for name, n in papers.find_paper(paper).provenance.trials.items()
    }


def drop_added_trials(results: Results) -> Results:
    """Return the results of a paper without the trials that the pages do not count.

    These were added to a few sizes after a look at their rows, see
    `rfbench.papers.models.Provenance`. Results without a paper are returned unchanged.
    """
    if (results.config.get("paper"), results.name) not in _count_planned_trials():
        return results
    added = build_collection([results]).rows["added"].to_numpy(dtype=bool)
    return replace(results, rows=results.rows[~added].reset_index(drop=True))


def build_collection(
    experiments: Sequence[Results], notes: Iterable[str] = (), today: Today | None = None
) -> Collection:
    """Combine loaded results into one `Collection`."""
    rows = _tagged(experiments) if experiments else pd.DataFrame()
    read = tuple(experiments), tuple(notes)
    if rows.empty:
        added = [*SUMS, "error_percent", "accuracy_percent", "r2", "group", "pair"]
        rows["added"] = False
        rows = rows.reindex(columns=list(dict.fromkeys([*rows, *added])))
        rows = rows.astype(dict.fromkeys(added, "float64"))
        return Collection(rows.assign(counts=False), pd.DataFrame(columns=GROUP_COLUMNS), *read)
    # A sum of times is NaN only if no part was measured. A method without a part, such as a solver
    # without features, still has a total.
    for name, parts in SUMS.items():
        rows[name] = rows[list(parts)].sum(axis=1, min_count=1)
    # Parameters are compared as text: unsorted keys would split one setting into two groups.
    rows["parameters"] = map_unique(rows["parameters"], sort_json)
    if rows["own_settings"].any():
        # The parameters, like M, are from another run and differ per trial. With them, each trial
        # would be its own group.
        rows["parameters"] = rows["parameters"].astype(STRING).mask(rows["own_settings"], "{}")
    # A trial that failed before its data were read has no d. It gets the d of its data set if that
    # is unique. Otherwise it would be its own group, and its actual group would show no failure.
    d = rows.groupby(["folder", "dataset"])["d"]
    rows["d"] = rows["d"].where(d.transform("nunique") != 1, d.transform("max"))
    # An M that follows another method differs per trial. As a part of the key, it would make each
    # trial its own group without a spread.
    size = rows["M"].mask(rows["follows"])
    keys = rows[["folder", *IDENTITY]].assign(M=size)
    rows["group"] = keys.groupby(list(keys), sort=False, dropna=False).ngroup()
    # Two methods are compared per trial on the same rows. Pairs with the same trial number alone
    # would join rows of different data, and their differences would contain the spread of the data.
    rows["pair"] = rows.groupby(PAIRED_BY, sort=False, dropna=False).ngroup()
    ended_well = rows["status"] == "ok"
    # Two rows may have the same group and trial (the reader drops repeated ids): the last
    # successful row counts. With both rows, means would weigh this trial twice and standard errors
    # would be too small.
    repeated = rows.loc[ended_well, ["group", "trial"]].duplicated(keep="last")
    # Trials that were added to a few sizes after a look at their rows are not counted: the sizes
    # were chosen by their results, so their means would be biased.
    later, runs = _count_planned_trials(), zip(rows["paper"], rows["experiment"], strict=True)
    planned = np.array([later.get(run, np.nan) for run in runs])
    rows["added"] = rows["trial"].astype(float) >= planned
    if rows["added"].any():  # if all sizes have equally many trials, no trials were added
        sizes = rows[ended_well].groupby(["folder", "setting", "M"], dropna=False)["trial"]
        uneven = sizes.nunique().groupby(["folder", "setting"]).nunique() > 1
        here = pd.MultiIndex.from_frame(rows[["folder", "setting"]])
        rows["added"] &= here.isin(uneven[uneven].index)
    rows["counts"] = ended_well & ~repeated.reindex(rows.index, fill_value=False) & ~rows["added"]
    # A single error column, in percent, for classification and regression: misclassification if it
    # exists, otherwise 100 times the error of the regression.
    error = rows["error"].fillna(100.0 - rows["accuracy"])
    rows["accuracy_percent"] = 100.0 - error
    groups = _groups(rows, size, error)
    groups["machine"] = _machines(rows, groups)
    groups["stale"] = _stale(groups, experiments, today)
    # The metric belongs to the group, because the rows of a group are averaged, and a mean over two
    # metrics has no meaning.
    used = groups["error_metric"].to_numpy()[rows["group"]]
    rows["error_percent"] = error.where(used == "error")
    for name in REGRESSION:
        rows["error_percent"] = rows["error_percent"].mask(used == name, 100.0 * rows[name])
    return Collection(rows, groups, *read)


def _tagged(experiments: Sequence[Results]) -> pd.DataFrame:
    """Return the rows of all experiments, with the facts of each experiment as columns."""
    facts = pd.DataFrame(
        {
            "experiment": result.name,
            "folder": result.path,
            "paper": str(result.config.get("paper") or ""),
            "items": str(result.config.get("item") or ""),
            "smoke": result.smoke,
            "metric": str(result.config.get("metric") or ""),
            "follows": follows_other_size(result),
            "own_settings": bool(result.config.get("settings_from")),
        }
        for result in experiments
    )
    # Validation rows are dropped: their errors must not be averaged with errors on test rows.
    tests = [result.rows[result.rows["role"] != VALIDATION] for result in experiments]
    # Repeat the facts of each folder for its rows.
    of = np.repeat(facts.index, [len(rows) for rows in tests])
    rows = pd.concat(tests, ignore_index=True)
    return pd.concat([rows, facts.loc[of].reset_index(drop=True)], axis=1)


def follows_other_size(result: Results) -> bool:
    """Return True if M follows another method or a paper's rows, and so differs per trial."""
    return isinstance(result.config.get("M"), dict) or bool(result.config.get("settings_from"))


def _groups(rows: pd.DataFrame, size: pd.Series[Any], error: pd.Series[float]) -> pd.DataFrame:
    code = rows["group"]
    # The first row of each group has the group's identity. Groups are numbered by first appearance,
    # so these rows are in the order of the numbers.
    groups = rows.loc[~code.duplicated(), [*RUN_COLUMNS, "metric"]].assign(M=size)
    groups = groups.reset_index(drop=True).astype({"M": "float64", "d": "float64"})
    # ``name[5000 rows]`` is a sample of the data set ``name``.
    parts = groups["dataset"].str.extract(r"^(.*?)(?:\[(\d+) rows\])?$")
    groups["source"], groups["sampled"] = parts[0], parts[1].astype("float64")
    # The joint solver learns its own weights of the features: it is a published method, whatever
    # the label of the features is.
    groups["method"] = groups["label"].mask(groups["solver"] == JOINT, JOINT)
    groups["alias"] = _aliases(groups)
    numbers = ["n_train", "n_test", "columns"]
    # Medians, because the sizes of folds differ by a row.
    counted = rows.loc[rows["counts"], numbers].astype("float64").groupby(code)
    groups["trials"] = counted.size().reindex(groups.index, fill_value=0)
    groups["failed"] = (rows["status"] != "ok").groupby(code).sum()
    groups[numbers] = counted[numbers].median()
    # A group with a misclassification is judged by it. Otherwise the metric is the configuration's
    # if it is a regression metric, else the relative squared error.
    classified = (error.notna() & rows["counts"]).groupby(code).any()
    named = groups["metric"].where(groups["metric"].isin(REGRESSION), REGRESSION[0])
    groups["error_metric"] = named.mask(classified, "error")
    return groups.drop(columns="metric")


def _machines(rows: pd.DataFrame, groups: pd.DataFrame) -> pd.Series[str]:
    """Return for each group the machine of most counted rows with a time, or ''."""
    timed = rows["t_train"].notna() | rows["t_features"].notna()
    # Rows without a time are irrelevant for the machine of the times.
    counted = rows.loc[rows["counts"] & timed, ["group", "machine"]]
    sizes = counted.groupby(["group", "machine"]).size().reset_index(name="n")
    sizes["machine"] = sizes["machine"].astype(STRING)
    # If tied, the first name is used, so that the choice does not depend on the order of folders.
    most = sizes.sort_values(["n", "machine"], ascending=[False, True]).drop_duplicates("group")
    return most.set_index("group")["machine"].reindex(groups.index, fill_value="")


def drop_other_machines(rows: pd.DataFrame, groups: pd.DataFrame) -> pd.DataFrame:
    """Set times of rows to NaN if most rows of their group were measured on another machine.

    A mean of times is never over several machines.
    """
    if rows["machine"].nunique() <= 1:
        return rows
    others = (rows["machine"].astype(STRING) != rows["group"].map(groups["machine"])).to_numpy()
    times = [name for name in (*ROW_TIMES, *SUMS) if name in rows]
    return rows.assign(**{name: rows[name].mask(others) for name in times})


def _stale(
    groups: pd.DataFrame, experiments: Sequence[Results], today: Today | None
) -> pd.Series[bool]:
    """Return True for each stale group; a group of a sweep or without a setting is never stale."""
    stale = pd.Series(False, groups.index)
    named = (groups["variant"] == "") & (groups["setting"] != "")
    for results in experiments:
        asked = today(results) if today else None
        # Whether other configurations than those of rfbench plan these settings is not known.
        if today and asked is None and any(not text.startswith("M = ") for text in results.changed):
            asked = frozenset() if results.config.get("paper") else None
        if asked is not None:
            here = named & (groups["folder"] == results.path)
            stale |= here & ~groups["setting"].isin(asked)
    return stale


def _aliases(groups: pd.DataFrame) -> pd.Series[str]:
    """Return the sampler of each line if it identifies one label of its experiment, else ""."""
    # A paper uses the name "rks", but our row may have a different label. The sampler's name is
    # used if only one label has this sampler and no label has this name. Otherwise a variant of the
    # sampler would count as the method.
    scope = ["experiment", "dataset", "protocol"]
    plain = groups[(groups["method"] != JOINT) & (groups["variant"] == "")]
    labels = plain.groupby([*scope, "sampler"], sort=False)["label"].transform("nunique")
    named = set(plain[[*scope, "label"]].itertuples(index=False, name=None))
    taken = [key in named for key in plain[[*scope, "sampler"]].itertuples(index=False, name=None)]
    alone = (labels == 1) & ~np.array(taken, dtype=bool)
    return plain["sampler"].where(alone, "").reindex(groups.index, fill_value="")


def to_floats(values: pd.Series[Any]) -> NDArray[np.float64]:
    """Return a column as float64 with NaN."""
    return values.to_numpy(dtype=np.float64, na_value=np.nan)


def map_unique(texts: pd.Series[str], function: Callable[[str], Any]) -> pd.Series[Any]:
    """Apply a function to every text, once per distinct text."""
    return texts.map({text: function(text) for text in texts.unique()})


def estimates_kernel(parameters: str) -> bool:
    """Return True if features estimate their kernel, given a sampler's parameters as JSON.

    Features that are weighted by the inverse of the unbiased weights are not estimates. The same
    holds for features that are scaled to divide the penalty.
    """
    given = parse_parameters(parameters)
    return bool(given.get("reweight") != "inverse" and given.get("penalty_divisor", 1) == 1)
