"""A data frame with all rows of all results folders, grouped by setting and paired by trial."""

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
# Type of a function that receives several results. For each of them, it returns the settings that
# the current configuration plans, or None if the current configuration is not known.
Today = Callable[[Sequence[Results]], Sequence[frozenset[str] | None]]
GROUP_COLUMNS = [
    *RUN_COLUMNS, "source", "sampled", "method", "alias", "trials", "failed", "n_train", "n_test",
    "columns", "error_metric", "machine", "stale",
]  # fmt: skip


@dataclass(frozen=True)
class Collection:
    """All rows of all results folders in one data frame, and their groups of trials.

    Attributes
    ----------
    rows : DataFrame
        One row per trial, with the columns of ``trials.csv`` and further columns:

        - `experiment` (name of the run), `folder`, `paper`, `items` (tables and figures of the
          paper), `smoke` (True for a short test run, whose numbers are meaningless).
        - `metric`: metric of the configuration, or ``""``.
        - `follows`: True if M is not fixed, but copied per trial from another method or from the
          rows of a paper.
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

        Rows that failed before `d` was known have the `d` of the other rows of their data set.
        `parameters` are JSON with sorted keys.
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
        """Rows whose column `counts` is True, sorted by group.

        The kernel error is NaN if the features are not meant to estimate their kernel.
        """
        counted = np.flatnonzero(self.rows["counts"])
        order = np.argsort(self.rows["group"].to_numpy()[counted], kind="stable")
        # The rows of a group have to be contiguous, because `_starts` has their first positions.
        rows = self.rows.iloc[counted[order]].reset_index(drop=True)
        if rows.empty:
            return rows
        rows = mask_times_of_other_machines(rows, self.groups)
        # Some methods weight their features for a purpose other than estimating the kernel. Their
        # kernel error is set to NaN, because it would be the error of a different kernel.
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
        """Return a column of `valid_rows` as floats. Raises ConfigError for an unknown column."""
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
        """Return the mean of a column of `valid_rows` per group; NaN for a group without values."""
        if ("means", column) not in self._known:
            means = self.valid_rows.groupby("group")[column].mean()
            self._known["means", column] = to_floats(means.reindex(self.groups.index))
        return self._known["means", column]

    def get_group_column(self, column: str) -> NDArray[Any]:
        """Return a column of `groups` as an array, one value per group."""
        if column not in self._facts:
            self._facts[column] = self.groups[column].to_numpy()
        return self._facts[column]

    def mask_groups_of_methods(self, groups: NDArray[np.intp], *methods: str) -> NDArray[np.bool_]:
        """Return a mask of the groups that belong to any of the methods, by label or by sampler.

        Groups with the joint solver belong to the method ``joint`` only.
        """
        # The column `alias` has the name of a sampler, or "" if the name would not be unique.
        matching = (
            np.isin(self.get_group_column(name)[groups], methods) for name in ("method", "alias")
        )
        return np.logical_or(*matching)

    @cached_property
    def stale_row_counts(self) -> dict[str, int]:
        """Number of stale rows of each experiment that has stale rows."""
        if self.rows.empty:
            return {}
        rows = self.rows["group"].map(self.groups["stale"]).eq(True)
        counted = self.rows.loc[rows, "experiment"].value_counts(sort=False)
        return {str(name): int(n) for name, n in sorted(counted.items())}

    def drop_stale_rows(self, results: Results) -> Results:
        """Return one of the `experiments` without its stale rows."""
        stale = self.groups[self.groups["stale"] & (self.groups["folder"] == results.path)]
        asked = ~results.rows["setting"].isin(stale["setting"])
        return results if asked.all() else replace(results, rows=results.rows[asked])

    @cached_property
    def _facts(self) -> dict[str, NDArray[Any]]:
        return {"group": np.arange(len(self.groups))}

    @cached_property
    def trial_pair_keys(self) -> pd.DataFrame:
        """Trial, seed, data, split and number of training rows of each pair, one line per pair."""
        return self.rows[PAIRED_BY].groupby(self.rows["pair"], sort=False).head(1)

    def pivot_trials(
        self, groups: NDArray[np.intp]
    ) -> tuple[NDArray[np.intp], tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]]:
        """Arrange the trials of several groups in a table: one line per pair, one column per group.

        Returns the pairs, shape (n_lines,), and three arrays of shape (n_rows,): a position in
        `valid_rows`, and the line and the column of this row in the table.
        """
        starts, stops = self._starts[groups], self._starts[groups + 1]
        rows = [np.arange(start, stop) for start, stop in zip(starts, stops, strict=True)]
        every = np.concatenate([*rows, np.array([], dtype=np.intp)])
        # The table has a line for each pair of data and trial that occurs in any group. The caller
        # drops incomplete lines.
        pairs, lines = np.unique(self.get_values("pair")[every], return_inverse=True)
        columns = np.repeat(np.arange(len(groups)), stops - starts)
        return pairs.astype(np.intp), (every, lines, columns)


def collect_results(paths: Iterable[str | Path], today: Today | None = None) -> Collection:
    """Read all results folders at or below the paths. Unreadable folders are skipped and noted.

    With the function `today`, rows are marked as stale if the current configurations do not contain
    their trials (see `rfbench.experiment.current_settings.find_current_settings_of_each`). Without
    `today`, no row is stale.

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
    """Return the planned number of trials of each run to which trials were added later.

    The keys are pairs of a paper and a run.
    """
    return {
        (paper, name): n
        for paper in papers.read_known_papers()
        for name, n in papers.find_paper(paper).provenance.trials.items()
    }


def drop_added_trials(results: Results) -> Results:
    """Return results without the trials that were added after earlier results had been seen.

    The pages do not count these trials, see `rfbench.papers.models.Provenance`. Results that do not
    belong to a paper are returned unchanged.
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
    # A sum of times is NaN only if none of the times was measured. A method that lacks one of the
    # times, such as a solver without features, still has a total.
    for name, parts in SUMS.items():
        rows[name] = rows[list(parts)].sum(axis=1, min_count=1)
    # Parameters are compared as text. With unsorted keys, equal settings would form two groups.
    rows["parameters"] = _map_unique(rows["parameters"], format_sorted_json)
    if rows["own_settings"].any():
        # These parameters are copied from another run and differ in each trial, like M. If they
        # were a part of the key, each trial would be a group of its own.
        rows["parameters"] = rows["parameters"].astype(STRING).mask(rows["own_settings"], "{}")
    # A trial that failed before its data were read has no d. It gets the d of its data set if all
    # other rows have the same d. Otherwise it would form a group of its own, and the group of its
    # setting would not show the failure.
    d = rows.groupby(["folder", "dataset"])["d"]
    rows["d"] = rows["d"].where(d.transform("nunique") != 1, d.transform("max"))
    # An M that is copied from another method differs in each trial. If M were a part of the key,
    # each trial would be a group of its own, without a standard deviation.
    size = rows["M"].mask(rows["follows"])
    keys = rows[["folder", *IDENTITY]].assign(M=size)
    rows["group"] = keys.groupby(list(keys), sort=False, dropna=False).ngroup()
    # Two methods are compared per trial on the same rows. If only the trial number had to agree,
    # rows of different data would be paired, and the differences would contain the spread of the
    # data.
    rows["pair"] = rows.groupby(PAIRED_BY, sort=False, dropna=False).ngroup()
    ended_well = rows["status"] == "ok"
    # If two rows have the same group and trial, the last successful row counts. (The reader has
    # already dropped repeated ids.) With both rows, means would weigh this trial twice and standard
    # errors would be too small.
    repeated = rows.loc[ended_well, ["group", "trial"]].duplicated(keep="last")
    # Trials that were added to a few sizes after their results had been seen are not counted. These
    # sizes were chosen by their results, so their means would be biased.
    later, runs = _count_planned_trials(), zip(rows["paper"], rows["experiment"], strict=True)
    planned = np.array([later.get(run, np.nan) for run in runs])
    rows["added"] = rows["trial"].astype(float) >= planned
    # If all sizes have the same number of trials, no trials were added later.
    if rows["added"].any():
        sizes = rows[ended_well].groupby(["folder", "setting", "M"], dropna=False)["trial"]
        uneven = sizes.nunique().groupby(["folder", "setting"]).nunique() > 1
        here = pd.MultiIndex.from_frame(rows[["folder", "setting"]])
        rows["added"] &= here.isin(uneven[uneven].index)
    rows["counts"] = ended_well & ~repeated.reindex(rows.index, fill_value=False) & ~rows["added"]
    # The error in percent is the misclassification for a classifier, and 100 times the regression
    # error otherwise.
    error = rows["error"].fillna(100.0 - rows["accuracy"])
    rows["accuracy_percent"] = 100.0 - error
    groups = _groups(rows, size, error)
    groups["machine"] = _machines(rows, groups)
    groups["stale"] = _stale(groups, experiments, today)
    # Each group has one metric, because the rows of a group are averaged, and a mean over two
    # metrics has no meaning.
    used = groups["error_metric"].to_numpy()[rows["group"]]
    rows["error_percent"] = error.where(used == "error")
    for name in REGRESSION:
        rows["error_percent"] = rows["error_percent"].mask(used == name, 100.0 * rows[name])
    return Collection(rows, groups, *read)


def _tagged(experiments: Sequence[Results]) -> pd.DataFrame:
    """Return the rows of all experiments, with columns that describe the experiment of each row."""
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
    # Validation rows are dropped: their errors must not be averaged with errors on test rows.
    tests = []
    for result in experiments:
        on_tests = result.rows["role"] != VALIDATION
        # selecting rows copies all columns, so it is avoided if all rows are test rows
        tests.append(result.rows if on_tests.all() else result.rows[on_tests])
    # Repeat the facts of each folder once per row of the folder.
    of = np.repeat(facts.index, [len(rows) for rows in tests])
    rows = pd.concat(tests, ignore_index=True)
    return pd.concat([rows, facts.loc[of].reset_index(drop=True)], axis=1)


def has_trial_dependent_size(result: Results) -> bool:
    """Return True if M is copied per trial from another method or from a paper's rows."""
    return isinstance(result.config.get("M"), dict) or bool(result.config.get("settings_from"))


def _groups(rows: pd.DataFrame, size: pd.Series[Any], error: pd.Series[float]) -> pd.DataFrame:
    code = rows["group"]
    # The settings of a group are read from its first row. Groups are numbered by first appearance,
    # so these rows are in the order of the groups.
    groups = rows.loc[~code.duplicated(), [*RUN_COLUMNS, "metric"]].assign(M=size)
    groups = groups.reset_index(drop=True).astype({"M": "float64", "d": "float64"})
    # ``name[5000 rows]`` is a sample of the data set ``name``.
    parts = groups["dataset"].str.extract(r"^(.*?)(?:\[(\d+) rows\])?$")
    groups["source"], groups["sampled"] = parts[0], parts[1].astype("float64")
    # The joint solver learns weights of the features. It is a published method of its own,
    # whatever sampler draws its features.
    groups["method"] = groups["label"].mask(groups["solver"] == JOINT, JOINT)
    groups["alias"] = _aliases(groups)
    numbers = ["n_train", "n_test", "columns"]
    # The numbers of rows are summarized by medians, because folds differ in size by one row.
    counted = rows.loc[rows["counts"], numbers].astype("float64").groupby(code)
    groups["trials"] = counted.size().reindex(groups.index, fill_value=0)
    groups["failed"] = (rows["status"] != "ok").groupby(code).sum()
    groups[numbers] = counted[numbers].median()
    # The metric of a group is the misclassification if it has one. Otherwise it is the metric of
    # the configuration if this is a regression metric, else the relative squared error.
    classified = (error.notna() & rows["counts"]).groupby(code).any()
    named = groups["metric"].where(groups["metric"].isin(REGRESSION), REGRESSION[0])
    groups["error_metric"] = named.mask(classified, "error")
    return groups.drop(columns="metric")


def _machines(rows: pd.DataFrame, groups: pd.DataFrame) -> pd.Series[str]:
    """Return for each group the machine on which most of its timed rows were measured, or ''."""
    timed = rows["t_train"].notna() | rows["t_features"].notna()
    # Only rows with a time matter, because the machine is used to compare times.
    counted = rows.loc[rows["counts"] & timed, ["group", "machine"]]
    sizes = counted.groupby(["group", "machine"]).size().reset_index(name="n")
    sizes["machine"] = sizes["machine"].astype(STRING)
    # If two machines have equally many rows, the first name is used. The choice then does not
    # depend on the order of folders.
    most = sizes.sort_values(["n", "machine"], ascending=[False, True]).drop_duplicates("group")
    return most.set_index("group")["machine"].reindex(groups.index, fill_value="")


def mask_times_of_other_machines(rows: pd.DataFrame, groups: pd.DataFrame) -> pd.DataFrame:
    """Set the times of rows to NaN if most rows of their group were measured on another machine.

    Therefore no mean of times mixes machines.
    """
    if rows["machine"].nunique() <= 1:
        return rows
    others = (rows["machine"].astype(STRING) != rows["group"].map(groups["machine"])).to_numpy()
    times = [name for name in (*ROW_TIMES, *SUMS) if name in rows]
    return rows.assign(**{name: rows[name].mask(others) for name in times})


def _stale(
    groups: pd.DataFrame, experiments: Sequence[Results], today: Today | None
) -> pd.Series[bool]:
    """Return True for each group whose settings are not in the current configurations.

    Groups of sweeps, and groups without an identifier of their settings, are never stale.
    """
    stale = pd.Series(False, groups.index)
    named = (groups["variant"] == "") & (groups["setting"] != "")
    every = today(experiments) if today else [None] * len(experiments)
    for results, asked in zip(experiments, every, strict=True):
        # `asked` is None because no current configuration has the name of these results. Their
        # settings were also changed by --set. For a paper, all of these rows are stale. Other rows
        # are not stale, because a configuration of the user might plan them.
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
    """Return the name of the sampler of each group, which is a second name for its label.

    The result is "" for a group whose sampler has several labels.
    """
    # A paper's folder may use the name of the sampler, "rks" for example, while our row has a
    # different label. The name identifies the row only if a single label has this sampler and no
    # label equals the name. Otherwise a variant of the sampler could be mistaken for the method.
    scope = ["experiment", "dataset", "protocol"]
    plain = groups[(groups["method"] != JOINT) & (groups["variant"] == "")]
    labels = plain.groupby([*scope, "sampler"], sort=False)["label"].transform("nunique")
    named = set(plain[[*scope, "label"]].itertuples(index=False, name=None))
    taken = [key in named for key in plain[[*scope, "sampler"]].itertuples(index=False, name=None)]
    alone = (labels == 1) & ~np.array(taken, dtype=bool)
    return plain["sampler"].where(alone, "").reindex(groups.index, fill_value="")


def to_floats(values: pd.Series[Any]) -> NDArray[np.float64]:
    """Return a column as a float64 array, with NaN for missing values."""
    return values.to_numpy(dtype=np.float64, na_value=np.nan)


def _map_unique(texts: pd.Series[str], function: Callable[[str], Any]) -> pd.Series[Any]:
    """Return a column with the function's value for each text. Equal texts are evaluated once."""
    return texts.map({text: function(text) for text in texts.unique()})


def has_kernel_estimate(parameters: str) -> bool:
    """Return True if features estimate their kernel, given the parameters of the sampler as JSON.

    Features do not estimate their kernel if they are weighted by the inverse of the unbiased
    weights, or if they are scaled in order to divide the penalty.
    """
    given = parse_parameters(parameters)
    return bool(given.get("reweight") != "inverse" and given.get("penalty_divisor", 1) == 1)
