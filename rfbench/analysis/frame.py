"""All rows of all results folders in one data frame.

Rows are grouped by their settings. Rows of different methods are paired if they used the same trial
and data.
"""

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
from rfbench.analysis.naming import format_sorted_json, parse_parameters
from rfbench.errors import ConfigError, ResultsError, suggest_nearest_name
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
# Type of a function that finds current settings. For each of several results, the function returns
# the settings that the current configuration plans, or None if there is no current configuration.
Today = Callable[[Sequence[Results]], Sequence[frozenset[str] | None]]
GROUP_COLUMNS = [
    *RUN_COLUMNS, "source", "sampled", "method", "alias", "trials", "failed", "n_train", "n_test",
    "columns", "error_metric", "machine", "stale",
]  # fmt: skip


@dataclass(frozen=True)
class Collection:
    """All rows of all results folders in one data frame, divided into groups of trials.

    A group consists of the trials of one method with the same settings on one data set.

    Attributes
    ----------
    rows : DataFrame
        One row per trial, with the columns of ``trials.csv`` and further columns:

        - `experiment` (name of the run), `folder`, `paper`, `items` (tables and figures of the
          paper), `smoke` (True for a short test run, whose numbers are meaningless).
        - `metric`: metric of the configuration, or ``""``.
        - `follows`: True if the number of features M is not fixed, but copied per trial from
          another method or from the rows of a paper.
        - `own_settings`: True if the parameters are also copied per trial. They are then omitted.
        - Sums of times in seconds, see `SUMS`.
        - `error_percent` (misclassification in percent, or 100 times the regression error) and
          `accuracy_percent`.
        - `added`: True if the trial was added to a few sizes of a curve after their results had
          been seen, see `rfbench.papers.models.Provenance`.
        - `counts`: True if the trial succeeded and was not `added`. If several rows have the same
          group and trial, it is True for the last row only.
        - `group`: position of the row's group in `groups`.
        - `pair`: a number that rows of different methods share if trial, seed, data, split and
          number of training rows are equal.

        Rows that failed before the number of columns `d` was known have the `d` of the other rows
        of their data set. `parameters` are JSON with sorted keys.
    groups : DataFrame
        One line per group. The rows of a group are in one folder and agree in all columns of
        `IDENTITY`. Groups are in the order of their first rows. Further columns:

        - `experiment`, `paper`, `items`, `smoke`.
        - `M`: NaN if it is copied per trial from another method.
        - `source` and `sampled`: for a data set ``name[5000 rows]``, the name and the number of
          rows. `sampled` is NaN for a data set that was not sampled.
        - `method`: the label of the method, or ``joint`` for any features with the joint solver.
        - `alias`: name of the sampler if exactly one label has this sampler, else ``""``.
        - `trials` and `failed`: numbers of trials. `n_train`, `n_test` and `columns`: medians over
          the trials.
        - `error_metric`: name of the metric in `error_percent`.
        - `machine`: machine on which most of the group's rows were measured. Times of rows from
          other machines are dropped, see `mask_times_of_other_machines`.
        - `stale`: True if these trials are not in the current configurations.
    experiments : tuple of Results
        Loaded results, one per folder, with name, configuration, manifest and notes of the reader.
    notes : tuple of str
        Folders that could not be read, with the reason.
    """

    rows: pd.DataFrame
    groups: pd.DataFrame
    experiments: tuple[Results, ...]
    notes: tuple[str, ...] = ()

    @cached_property
    def valid_rows(self) -> pd.DataFrame:
        """Rows that count in means and tests (column `counts` is True), sorted by group of trials.

        The kernel error is NaN if the features are not meant to estimate their kernel.
        """
        counted = np.flatnonzero(self.rows["counts"])
        order = np.argsort(self.rows["group"].to_numpy()[counted], kind="stable")
        # Sort the rows so that the rows of a group are adjacent. The property `_starts` contains
        # only the position of the first row of each group.
        rows = self.rows.iloc[counted[order]].reset_index(drop=True)
        if rows.empty:
            return rows
        rows = mask_times_of_other_machines(rows, self.groups)
        # Some methods weight their features for a purpose other than estimating the kernel. The
        # kernel error of their rows is set to NaN, because the weighted features estimate a
        # different kernel.
        estimates = _map_unique(rows["parameters"], has_kernel_estimate).astype(bool)
        return rows.assign(**{name: rows[name].where(estimates) for name in KERNEL_ERRORS})

    @cached_property
    def _starts(self) -> NDArray[np.intp]:
        codes = self.valid_rows["group"].to_numpy()
        return np.searchsorted(codes, np.arange(len(self.groups) + 1))

    @cached_property
    def _known(self) -> dict[tuple[str, str], NDArray[np.float64]]:
        return {}

    def get_values(self, column: str) -> NDArray[np.float64]:
        """Return a column of `valid_rows` as an array of floats.

        Raises ConfigError for an unknown column.
        """
        if column not in self.valid_rows:
            raise ConfigError(
                f"Unknown metric {column}."
                + suggest_nearest_name(column, list(map(str, self.valid_rows))),
                "The name is in claims.yaml or paper.yaml of a paper's folder.",
                "Name a column of trials.csv, or a sum of times.",
            )
        if ("values", column) not in self._known:
            self._known["values", column] = to_floats(self.valid_rows[column])
        return self._known["values", column]

    def compute_means(self, column: str) -> NDArray[np.float64]:
        """Return the mean of a column of `valid_rows` for each group of trials.

        The mean is NaN for a group without values.
        """
        if ("means", column) not in self._known:
            means = self.valid_rows.groupby("group")[column].mean()
            self._known["means", column] = to_floats(means.reindex(self.groups.index))
        return self._known["means", column]

    def get_group_column(self, column: str) -> NDArray[Any]:
        """Return a column of the table `groups` as an array, with one value per group of trials."""
        if column not in self._facts:
            self._facts[column] = self.groups[column].to_numpy()
        return self._facts[column]

    def mask_groups_of_methods(self, groups: NDArray[np.intp], *methods: str) -> NDArray[np.bool_]:
        """Return a mask of the groups of trials that belong to any of the methods.

        A method is named by its label or by its sampler. Groups with the joint solver belong to the
        method ``joint`` only.
        """
        # A method matches a group by its label (column `method`) or by the name of its sampler
        # (column `alias`). The column `alias` is "" if several labels have the same sampler.
        matching = (
            np.isin(self.get_group_column(name)[groups], methods) for name in ("method", "alias")
        )
        return np.logical_or(*matching)

    @cached_property
    def stale_row_counts(self) -> dict[str, int]:
        """Number of stale rows for each experiment that has such rows.

        A row is stale if the current configurations do not contain its trial.
        """
        if self.rows.empty:
            return {}
        rows = self.rows["group"].map(self.groups["stale"]).eq(True)
        counted = self.rows.loc[rows, "experiment"].value_counts(sort=False)
        return {str(name): int(n) for name, n in sorted(counted.items())}

    def drop_stale_rows(self, results: Results) -> Results:
        """Return the results of one folder without stale rows.

        A row is stale if the current configurations do not contain its trial.
        """
        stale = self.groups[self.groups["stale"] & (self.groups["folder"] == results.path)]
        asked = ~results.rows["setting"].isin(stale["setting"])
        return results if asked.all() else replace(results, rows=results.rows[asked])

    @cached_property
    def _facts(self) -> dict[str, NDArray[Any]]:
        return {"group": np.arange(len(self.groups))}

    @cached_property
    def trial_pair_keys(self) -> pd.DataFrame:
        """Table with one line per pair, a combination of a trial and its data.

        The columns are trial, seed, hash of the data, split and number of training rows.
        """
        return self.rows[PAIRED_BY].groupby(self.rows["pair"], sort=False).head(1)

    def pivot_trials(
        self, groups: NDArray[np.intp]
    ) -> tuple[NDArray[np.intp], tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]]:
        """Arrange the trials of several groups in a table, with one column per group.

        Each line of the table is a pair, the combination of a trial and its data. Returns the
        pairs, shape (n_lines,), and three arrays of shape (n_rows,): a position in `valid_rows`,
        and the line and the column of this row in the table.
        """
        starts, stops = self._starts[groups], self._starts[groups + 1]
        rows = [np.arange(start, stop) for start, stop in zip(starts, stops, strict=True)]
        every = np.concatenate([*rows, np.array([], dtype=np.intp)])
        # The table has a line for each combination of data and trial that occurs in any of the
        # groups. Lines in which a group has no value are dropped by the caller.
        pairs, lines = np.unique(self.get_values("pair")[every], return_inverse=True)
        columns = np.repeat(np.arange(len(groups)), stops - starts)
        return pairs.astype(np.intp), (every, lines, columns)


def collect_results(paths: Iterable[str | Path], today: Today | None = None) -> Collection:
    """Read all results folders at the given paths or below them. Unreadable folders are skipped.

    The reason for each skipped folder is added to the notes of the result. With the function
    `today`, rows are marked as stale if the current configurations do not contain their trials (see
    `rfbench.experiment.current_settings.find_current_settings_of_each`). Without `today`, no row is
    stale.

    Raises ResultsError if a path does not exist. A path without results is not an error.
    """
    folders: dict[Path, Path] = {}
    results, notes = [], []
    for path in map(Path, paths):
        try:
            folders |= {folder.resolve(): folder for folder in reader.find_results_folders([path])}
        except ResultsError as error:
            if not path.is_dir():
                raise
            notes.append(error.what)
    read_ones = reader.read_each_folder(folders.values())
    for folder, read in zip(folders.values(), read_ones, strict=True):
        if isinstance(read, ResultsError):
            notes.append(f"{folder} is left out: {read.what} {read.why}".strip())
        else:
            results.append(read)
    return build_collection(results, notes, today)


def _count_planned_trials() -> dict[tuple[str, str], int]:
    """Return the planned number of trials of each run that later got additional trials.

    The keys are pairs of a paper and a run.
    """
    return {
        (paper, name): n
        for paper in papers.read_known_papers()
        for name, n in papers.find_paper(paper).provenance.trials.items()
    }


def drop_added_trials(results: Results) -> Results:
    """Return results without the trials that were added after earlier results had been seen.

    The pages do not count such trials, see `rfbench.papers.models.Provenance`. Results that do not
    belong to a paper are returned unchanged.
    """
    if (results.config.get("paper"), results.name) not in _count_planned_trials():
        return results
    added = build_collection([results]).rows["added"].to_numpy(dtype=bool)
    return replace(results, rows=results.rows[~added].reset_index(drop=True))


def build_collection(
    experiments: Sequence[Results], notes: Iterable[str] = (), today: Today | None = None
) -> Collection:
    """Combine the rows of several loaded results in one `Collection`.

    The rows are divided into groups of trials with the same method and settings. The function
    `today` is described in `collect_results`.
    """
    rows = _tagged(experiments) if experiments else pd.DataFrame()
    read = tuple(experiments), tuple(notes)
    if rows.empty:
        added = [*SUMS, "error_percent", "accuracy_percent", "r2", "group", "pair"]
        rows["added"] = False
        rows = rows.reindex(columns=list(dict.fromkeys([*rows, *added])))
        rows = rows.astype(dict.fromkeys(added, "float64"))
        return Collection(rows.assign(counts=False), pd.DataFrame(columns=GROUP_COLUMNS), *read)
    # Sum the measured parts of the time. A part that was not measured, such as the features of a
    # solver without features, counts as 0. The sum is NaN only if no part was measured.
    for name, parts in SUMS.items():
        rows[name] = rows[list(parts)].sum(axis=1, min_count=1)
    # Sort the keys of the parameters, because parameters are compared as text. Otherwise, equal
    # parameters in a different order would form two groups.
    rows["parameters"] = _map_unique(rows["parameters"], format_sorted_json)
    if rows["own_settings"].any():
        # In these rows, the parameters are copied from the authors' runs and differ in each trial.
        # The parameters are replaced by {}, because otherwise each trial would form its own group.
        rows["parameters"] = rows["parameters"].astype(STRING).mask(rows["own_settings"], "{}")
    # The number of columns d is missing if a trial failed before its data were read. If all other
    # rows of the data set have the same d, the missing d is set to this number. Otherwise the
    # failed trial would form its own group, and the group of its setting would not show the
    # failure.
    d = rows.groupby(["folder", "dataset"])["d"]
    rows["d"] = rows["d"].where(d.transform("nunique") != 1, d.transform("max"))
    # If the number of features M is copied from another method, M differs in each trial. M is then
    # set to NaN in the key of the group, because otherwise each trial would form its own group.
    size = rows["M"].mask(rows["follows"])
    keys = rows[["folder", *IDENTITY]].assign(M=size)
    rows["group"] = keys.groupby(list(keys), sort=False, dropna=False).ngroup()
    # Assign the same number `pair` to rows with the same trial number, seed, data and split. Two
    # methods are compared on such rows. If only the trial numbers were equal, the paired
    # differences would also contain the difference of the data.
    rows["pair"] = rows.groupby(PAIRED_BY, sort=False, dropna=False).ngroup()
    ended_well = rows["status"] == "ok"
    # If several successful rows have the same group and trial, only the last of these rows counts.
    # Otherwise this trial would have twice the weight in means, and standard errors would be too
    # small.
    repeated = rows.loc[ended_well, ["group", "trial"]].duplicated(keep="last")
    # Do not count trials that were added to selected sizes M after the results had been seen. These
    # sizes were chosen by their results, so their means would be biased.
    later, runs = _count_planned_trials(), zip(rows["paper"], rows["experiment"], strict=True)
    planned = np.array([later.get(run, np.nan) for run in runs])
    rows["added"] = rows["trial"].astype(float) >= planned
    # Added trials are only excluded if the sizes M of a setting have different numbers of trials.
    # If all sizes have the same number of trials, no size was chosen by its results.
    if rows["added"].any():
        sizes = rows[ended_well].groupby(["folder", "setting", "M"], dropna=False)["trial"]
        uneven = sizes.nunique().groupby(["folder", "setting"]).nunique() > 1
        here = pd.MultiIndex.from_frame(rows[["folder", "setting"]])
        rows["added"] &= here.isin(uneven[uneven].index)
    rows["counts"] = ended_well & ~repeated.reindex(rows.index, fill_value=False) & ~rows["added"]
    # Compute the misclassification of classifiers in percent. Rows of regressions have NaN here,
    # and their error is computed below.
    error = rows["error"].fillna(100.0 - rows["accuracy"])
    rows["accuracy_percent"] = 100.0 - error
    groups = _groups(rows, size, error)
    groups["machine"] = _machines(rows, groups)
    groups["stale"] = _stale(groups, experiments, today)
    # Compute the error in percent with one metric per group, because a mean over two metrics has no
    # meaning. The error of a regression is 100 times its regression metric.
    used = groups["error_metric"].to_numpy()[rows["group"]]
    rows["error_percent"] = error.where(used == "error")
    for name in REGRESSION:
        rows["error_percent"] = rows["error_percent"].mask(used == name, 100.0 * rows[name])
    return Collection(rows, groups, *read)


def _tagged(experiments: Sequence[Results]) -> pd.DataFrame:
    """Return the result rows of all experiments in one table.

    Further columns describe the experiment of each row. Rows with validation errors are dropped.
    """
    facts = pd.DataFrame(
        {
            "experiment": result.name,
            "folder": result.path,
            "paper": str(result.config.get("paper") or ""),
            "items": str(result.config.get("item") or ""),
            "smoke": result.is_smoke_run,
            "metric": str(result.config.get("metric") or ""),
            "follows": has_trial_dependent_size(result),
            "own_settings": bool(result.config.get("settings_from")),
        }
        for result in experiments
    )
    # Drop rows with errors on validation rows, which must not be averaged with errors on test rows.
    tests = []
    for result in experiments:
        on_tests = result.rows["role"] != VALIDATION
        # Select rows only if some rows are validation rows, because the selection copies all
        # columns.
        tests.append(result.rows if on_tests.all() else result.rows[on_tests])
    # Repeat the line of facts about each results folder for every row of the folder.
    of = np.repeat(facts.index, [len(rows) for rows in tests])
    rows = pd.concat(tests, ignore_index=True)
    return pd.concat([rows, facts.loc[of].reset_index(drop=True)], axis=1)


def has_trial_dependent_size(result: Results) -> bool:
    """Return True if the number of features M may differ between the trials of one method.

    This is the case if M is copied per trial from another method or from a paper's rows.
    """
    return isinstance(result.config.get("M"), dict) or bool(result.config.get("settings_from"))


def _groups(rows: pd.DataFrame, size: pd.Series[Any], error: pd.Series[float]) -> pd.DataFrame:
    code = rows["group"]
    # Read the settings of each group from its first row. Groups are numbered in the order of their
    # first rows, so the lines of `groups` have the right order.
    groups = rows.loc[~code.duplicated(), [*RUN_COLUMNS, "metric"]].assign(M=size)
    groups = groups.reset_index(drop=True).astype({"M": "float64", "d": "float64"})
    # Split the name of a sampled data set: ``name[5000 rows]`` is a sample of the data set
    # ``name``.
    parts = groups["dataset"].str.extract(r"^(.*?)(?:\[(\d+) rows\])?$")
    groups["source"], groups["sampled"] = parts[0], parts[1].astype("float64")
    # Rows of the joint solver form a method of their own, whatever sampler draws the features. The
    # joint solver also learns the weights of the features, and was published as a method.
    groups["method"] = groups["label"].mask(groups["solver"] == JOINT, JOINT)
    groups["alias"] = _aliases(groups)
    numbers = ["n_train", "n_test", "columns"]
    # Use the median of the numbers of rows, because the sizes of folds differ by one row.
    counted = rows.loc[rows["counts"], numbers].astype("float64").groupby(code)
    groups["trials"] = counted.size().reindex(groups.index, fill_value=0)
    groups["failed"] = (rows["status"] != "ok").groupby(code).sum()
    groups[numbers] = counted[numbers].median()
    # Choose the metric of each group: the misclassification if the group has one, otherwise the
    # metric of the configuration if that metric is a regression metric, and else the relative
    # squared error.
    classified = (error.notna() & rows["counts"]).groupby(code).any()
    named = groups["metric"].where(groups["metric"].isin(REGRESSION), REGRESSION[0])
    groups["error_metric"] = named.mask(classified, "error")
    return groups.drop(columns="metric")


def _machines(rows: pd.DataFrame, groups: pd.DataFrame) -> pd.Series[str]:
    """Return the machine on which most of the timed rows of each group were measured.

    The machine is '' for a group without timed rows.
    """
    timed = rows["t_train"].notna() | rows["t_features"].notna()
    # Count only rows with measured times, because the machine of a group is used to compare times.
    counted = rows.loc[rows["counts"] & timed, ["group", "machine"]]
    sizes = counted.groupby(["group", "machine"]).size().reset_index(name="n")
    sizes["machine"] = sizes["machine"].astype(STRING)
    # If two machines have equally many rows of a group, use the first name in alphabetical order.
    # Otherwise the choice would depend on the order of the folders.
    most = sizes.sort_values(["n", "machine"], ascending=[False, True]).drop_duplicates("group")
    return most.set_index("group")["machine"].reindex(groups.index, fill_value="")


def mask_times_of_other_machines(rows: pd.DataFrame, groups: pd.DataFrame) -> pd.DataFrame:
    """Remove times that were not measured on the main machine of their group of trials.

    The main machine measured most rows of the group. Times from other machines are set to NaN, so
    that no mean of times mixes machines.
    """
    if rows["machine"].nunique() <= 1:
        return rows
    others = (rows["machine"].astype(STRING) != rows["group"].map(groups["machine"])).to_numpy()
    times = [name for name in (*ROW_TIMES, *SUMS) if name in rows]
    return rows.assign(**{name: rows[name].mask(others) for name in times})


def _stale(
    groups: pd.DataFrame, experiments: Sequence[Results], today: Today | None
) -> pd.Series[bool]:
    """Return True for each group of trials whose settings are not in the current configurations.

    Groups of sweeps, and groups without an identifier of their settings, are never stale.
    """
    stale = pd.Series(False, groups.index)
    named = (groups["variant"] == "") & (groups["setting"] != "")
    every = today(experiments) if today else [None] * len(experiments)
    for results, asked in zip(experiments, every, strict=True):
        # These results have no current configuration, and their settings were also changed by the
        # option --set. In a run of a paper, such rows are stale. Other rows are not stale, because
        # a user's configuration might plan them.
        if (
            today
            and asked is None
            and any(not text.startswith("M = ") for text in results.changed_settings)
        ):
            asked = frozenset() if results.config.get("paper") else None
        if asked is not None:
            here = named & (groups["folder"] == results.path)
            stale |= here & ~groups["setting"].isin(asked)
    return stale


def _aliases(groups: pd.DataFrame) -> pd.Series[str]:
    """Return the name of the sampler of each group of trials, as a second name for the method.

    The result is "" for a group whose sampler has several labels.
    """
    # A paper's files may name a method by the sampler, such as "rks", while our rows have a
    # different label for the method. The name of the sampler becomes an alias of the label only if
    # no other label has this sampler, and if no label is equal to the name. Otherwise a variant of
    # the sampler could be mistaken for the method.
    scope = ["experiment", "dataset", "protocol"]
    plain = groups[(groups["method"] != JOINT) & (groups["variant"] == "")]
    labels = plain.groupby([*scope, "sampler"], sort=False)["label"].transform("nunique")
    named = set(plain[[*scope, "label"]].itertuples(index=False, name=None))
    taken = [key in named for key in plain[[*scope, "sampler"]].itertuples(index=False, name=None)]
    alone = (labels == 1) & ~np.array(taken, dtype=bool)
    return plain["sampler"].where(alone, "").reindex(groups.index, fill_value="")


def to_floats(values: pd.Series[Any]) -> NDArray[np.float64]:
    """Return a column of a table as a float64 array, with NaN for missing values."""
    return values.to_numpy(dtype=np.float64, na_value=np.nan)


def _map_unique(texts: pd.Series[str], function: Callable[[str], Any]) -> pd.Series[Any]:
    """Apply a function to each text of a column. The function is called once for equal texts."""
    return texts.map({text: function(text) for text in texts.unique()})


def has_kernel_estimate(parameters: str) -> bool:
    """Return True if random features estimate their kernel, given the sampler's parameters as JSON.

    Features do not estimate their kernel if they are weighted by the inverse of the unbiased
    weights, or if they are scaled in order to divide the penalty.
    """
    given = parse_parameters(parameters)
    return bool(given.get("reweight") != "inverse" and given.get("penalty_divisor", 1) == 1)
