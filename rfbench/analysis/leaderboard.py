"""The leaderboard: which method, how many features, at what cost; as numbers, by one rule.

Errors of one data set are held against those of the baseline in the same trial, at the same number
of features. A method's number is the geometric mean of these quotients over data sets. Two methods
are told apart where a test over data sets that knows of all pairs says so, see `told_apart`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rfbench import shipped, yamlfile
from rfbench.analysis.frame import Collection
from rfbench.analysis.summary import axis
from rfbench.analysis.verdicts import ALPHA as ALPHA
from rfbench.analysis.verdicts import LEARNT
from rfbench.analysis.verdicts import POWER as POWER
from rfbench.escaping import json_value
from rfbench.papers.models import TUNED
from rfbench.results import Results
from rfbench.results.schema import BASELINE, MODEL

NAME = "leaderboard"  # with which the names of its configurations begin
HELD_OUT = "leaderboard_held_out"  # with which those begin whose data sets take no part
STANDARD = "standard"  # the scaling of the comparison of methods
CHOSEN = "best"  # stands for the scaling that the folds choose
LEVEL = 0.9  # of the intervals
DRAWS, SIGNS = 2_000, 20_000  # of the bootstrap; of the signs, so that verdicts hardly move
BEST = 3  # data sets that are left out together, to see how much of a mean they make
EQUAL = 1e-12  # differences of logarithms that are rounding
FEW = 10  # wrong test rows: with fewer a quotient of errors is mostly luck
BLOCK = 100  # draws that are in memory at a time
SEED = 0
BOOSTING, LINEAR, EXACT = "boosting", "linear", "exact-kernel"

Values = NDArray[np.float64]
Logs = pd.DataFrame  # natural logarithms of quotients: a row per data set, a column per method


@dataclass(frozen=True)
class Line:
    """What a method is worth at one number of features.

    Attributes
    ----------
    ratio, low, high : float
        Geometric mean over data sets of the error over the baseline's, and the ends of its 90 %
        bootstrap interval over data sets.
    least, most : float
        The smallest and largest mean with one data set left out.
    trimmed : float
        The mean without the `BEST` data sets that speak most for the method; NaN of so few.
    median : float
        The median over data sets, which a few nearly solved ones do not move.
    regression, classification : float
        Geometric means over the data sets of one kind; NaN if there are none.
    wins : float
        Share of data sets with a smaller error than the baseline; equal ones count half.
    fit, search : float
        CPU seconds, geometric mean over the data sets on which all were timed, in the latest such
        trial: of one fit with its settings given, and of all that was done up to the fitted model.
        NaN where not measured.
    predict : float
        CPU milliseconds per 1,000 rows.
    feature_bytes : float
        Of the features of one row, as the method stores them.
    against : str
        ``better``, ``worse`` or ``open``: what the rule says of it and the baseline.
    with_best : bool
        Whether it cannot be told apart from the smallest ratio.
    reference : bool
        Whether it has no features: the same model at every M.
    """

    method: str
    ratio: float
    low: float
    high: float
    least: float
    most: float
    trimmed: float
    median: float
    regression: float
    classification: float
    wins: float
    fit: float
    search: float
    predict: float
    feature_bytes: float
    against: str
    with_best: bool
    reference: bool


@dataclass(frozen=True)
class Interval:
    """A geometric mean over data sets with its bootstrap interval."""

    ratio: float
    low: float
    high: float
    datasets: int


@dataclass(frozen=True)
class Size:
    """The leaderboard at one number of features.

    Attributes
    ----------
    timed, timed_classes : int
        Data sets that the costs are means over, those on which every method was timed; and how many
        of them have classes.
    dearest : tuple of float
        Of the time of the search of `best` over the baseline's, on these: the smallest and largest.
    boosting : tuple of float
        CPU seconds of the search of boosting on these, geometric means, in the trials that have
        them all: the smallest and largest, since each trial draws its settings anew.
    needed : int
        Data sets from which on a method may be named, see `datasets_needed`.
    leader : str
        The method of the smallest ratio, if it is told apart from all others and there are data
        sets enough; else empty.
    best : str
        The method with features of the smallest ratio.
    stays : int
        The number of data sets that can each be left out, and `best` stays the same.
    advised : Interval
        On each data set the error, over the baseline's, of the method with features that is best
        on all others: what following the advice gives where nothing was seen.
    apart : tuple of pairs of str
        All pairs that are told apart, the better one first.
    groups : tuple of tuples of str
        Methods of which no two are told apart: the largest runs of methods in order of ratio.
    """

    M: int
    datasets: int
    timed: int
    timed_classes: int
    dearest: tuple[float, float]
    boosting: tuple[float, float]
    needed: int
    best: str
    leader: str
    stays: int
    advised: Interval
    lines: tuple[Line, ...]
    apart: tuple[tuple[str, str], ...]
    groups: tuple[tuple[str, ...], ...]
    left_out: tuple[str, ...]  # methods without a value on some data sets
    gaps: tuple[str, ...]  # data sets without a value of some method

    @property
    def enough(self) -> bool:
        """Whether there are data sets enough to name a method."""
        return self.datasets >= self.needed


@dataclass(frozen=True)
class Step:
    """What more features give: a method's error at `M` over that at `before`."""

    method: str
    before: int
    M: int
    interval: Interval


@dataclass(frozen=True)
class PreparationGain:
    """What another preparation of the columns changes.

    Attributes
    ----------
    method : str
    M : int
    scaling : str
        Or ``best``: of all, in each trial, what the folds choose.
    interval : Interval
        Of its errors over those with z-scores.
    choice : Interval or None
        Of the errors of what the folds choose of all, over those of what they choose without it: an
        option that is worse by itself can be worth having. None for ``best``.
    """

    method: str
    M: int
    scaling: str
    interval: Interval
    choice: Interval | None = None


@dataclass(frozen=True)
class Known:
    """What is known of data sets beside their rows, by their names.

    Attributes
    ----------
    set_aside : dict
        Why one does not count.
    twins : dict
        The one that it is a twin of.
    words : dict
        The share of a table's columns that hold words.
    """

    set_aside: Mapping[str, str] = field(default_factory=dict)
    twins: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class TableRatio:
    """One data set: features at their best, as the folds say, against searched boosting."""

    dataset: str
    n_train: int
    columns: int
    method: str  # chosen most often
    M: int
    ratio: float  # geometric mean over trials of the error over boosting's
    low: float  # 90 % interval over trials; NaN for one trial
    high: float
    trials: int
    few: bool  # whether one of both has fewer than `FEW` wrong test rows in a trial
    linear: float  # error of the linear model over boosting's
    words: float  # share of the table's columns that hold words; NaN if not known
    # Bandwidth that the exact kernel chose, over the root mean squared distance of z-scored rows:
    # the larger, the smoother what is learnt; NaN if not measured.
    smoothness: float


@dataclass(frozen=True)
class Driver:
    """Spearman's correlation over data sets of a property with features / boosting."""

    name: str
    rho: float
    low: float
    high: float


@dataclass(frozen=True)
class Enough:
    """When random features are enough."""

    tables: tuple[TableRatio, ...]
    overall: Interval
    better: int  # tables on which features have the smaller error
    many: Interval  # over the tables that have not `few` wrong rows
    drivers: tuple[Driver, ...]


@dataclass(frozen=True)
class HeldOutTable:
    """One data set that takes no part in the leaderboard."""

    dataset: str
    n_train: int
    columns: int
    trials: int
    ratios: Mapping[str, float]  # by method: geometric mean over trials, relative to the baseline
    deviations: Mapping[str, float]  # over trials, of the logarithm; NaN for one trial


@dataclass(frozen=True)
class HeldOut:
    """What the leaderboard's methods do on data sets that take no part in it, at one M."""

    M: int
    ratios: Mapping[str, float]  # by method: geometric mean over tables, the smallest first
    tables: tuple[HeldOutTable, ...]

    def of(self, method: str) -> list[float]:
        """Return a method's numbers, one per table, in order of size."""
        return sorted(table.ratios[method] for table in self.tables)


@dataclass(frozen=True)
class Leaderboard:
    """All facts.

    Attributes
    ----------
    baseline : str
        The method of the rows whose role is ``baseline``: all errors are divided by its errors.
    trials, reference_trials : tuple of int
        The fewest and most trials of a data set, of methods with features and of those without.
    planned : tuple of int
        Data sets and trials per data set that the configuration asks for; zeros if not known.
    measured : int
        Data sets that count, twins as one.
    missing : tuple of str
        Data sets that are planned and not measured.
    set_aside : dict
        Data sets that do not count, by why.
    unlearnt : tuple of str
        Data sets on which no method learns anything.
    edge : float
        Share of trials whose bandwidth is at an edge of those tried; NaN if not recorded.
    """

    baseline: str
    folders: tuple[str, ...]
    trials: tuple[int, int]
    reference_trials: tuple[int, int]
    planned: tuple[int, int]
    measured: int
    set_aside: Mapping[str, str]
    unlearnt: tuple[str, ...]
    edge: float
    sizes: tuple[Size, ...]
    steps: tuple[Step, ...] = ()
    preparations: tuple[PreparationGain, ...] = ()
    enough: Enough | None = None
    held_out: HeldOut | None = None
    missing: tuple[str, ...] = ()
    verified: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def largest(self) -> Size:
        """The size at which a method is named."""
        return self.sizes[-1]


# The rule


def told_apart(logs: Logs, alpha: float = ALPHA, draws: int = SIGNS, seed: int = SEED) -> Values:
    r"""Return which pairs of methods are told apart, a matrix of shape (k, k) of 0 and 1.

    Of each pair, the differences of the logarithms over data sets are ranked by size, and z is the
    sum of the ranks with the signs of the differences (Wilcoxon's), over its standard deviation. A
    difference counts by its rank, since a few data sets have very large ones: in a t-test they
    would hide what all the others say. Where two methods do equally well, their difference on a
    data set is as likely to have either sign. So the differences of each data set get one random
    sign for all pairs, often; a pair is told apart if its \|z\| lies above the 1 - `alpha` quantile
    of the largest one of any pair, and its mean has the same sign. Where all methods are equal, any
    pair is told apart with probability `alpha` at most: hence so is a leader named. One test for
    all pairs of one size.
    """
    from scipy.stats import rankdata

    X, k = logs.to_numpy(dtype=np.float64), logs.shape[1]
    pairs = np.array(list(itertools.combinations(range(k), 2)), dtype=np.intp).reshape(-1, 2)
    apart = np.zeros((k, k))
    n = len(X)
    if n < 2 or not len(pairs):
        return apart
    D = X[:, pairs[:, 0]] - X[:, pairs[:, 1]]
    D[np.abs(D) < EQUAL] = 0.0
    # Equal errors have a rank, and no sign (Pratt 1959).
    ranks = np.sign(D) * rankdata(np.abs(D), axis=0)
    z = ranks / np.sqrt(np.maximum((ranks**2).sum(axis=0), 1.0))
    generator = np.random.default_rng(seed)
    largest = np.concatenate(
        [
            np.abs(generator.choice([-1.0, 1.0], (min(BLOCK, draws - start), n)) @ z).max(axis=1)
            for start in range(0, draws, BLOCK)
        ]
    )
    # The values as they are are one of the draws: so the level holds for any number of them.
    own = z.sum(axis=0)
    share = (1 + (largest[None, :] >= np.abs(own)[:, None] * (1 - 1e-12)).sum(axis=1)) / (1 + draws)
    agree = own * D.mean(axis=0) > 0
    for (a, b), p, same in zip(pairs, share, agree, strict=True):
        apart[a, b] = apart[b, a] = float(p <= alpha and same)
    return apart


@cache
def datasets_needed(methods: int, alpha: float = ALPHA, power: float = POWER) -> int:
    r"""Return from how many data sets on the rule finds a difference with the power asked for.

    One that is as large as its standard deviation over data sets: with fewer, a name would be
    luck. The largest \|t\| of all pairs nearly follows Tukey's studentised range q over the root of
    2, with n - 1 degrees of freedom. So n is the smallest with q / sqrt(2) + z <= sqrt(n), z the
    normal quantile of the power; signed ranks need pi / 3 times as many, where differences are
    normal, and fewer where they have heavy tails.
    """
    from scipy.special import ndtri
    from scipy.stats import studentized_range

    def enough(n: int) -> bool:
        q = math.sqrt(2) * (math.sqrt(n) - float(ndtri(power)))
        return q > 0 and bool(studentized_range.cdf(q, methods, n - 1) >= 1 - alpha)

    by_t = next(n for n in itertools.count(3) if methods < 2 or enough(n))
    return math.ceil(by_t * math.pi / 3)


def bootstrap(
    logs: Values, level: float = LEVEL, draws: int = DRAWS, seed: int = SEED
) -> tuple[float, float]:
    """Return the interval of a geometric mean: percentiles over data sets drawn with repetition.

    `logs` has shape (n,); NaN for no data sets.
    """
    n = len(logs)
    if not n:
        return math.nan, math.nan
    means = np.asarray(logs)[np.random.default_rng(seed).integers(n, size=(draws, n))].mean(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(np.exp(low)), float(np.exp(high))


def leave_one_out(logs: Values) -> Values:
    """Return the geometric mean without each data set in turn, shape (n,); NaN of a single one."""
    n = len(logs)
    if n < 2:
        return np.full(n, math.nan)
    return np.asarray(np.exp((logs.sum() - logs) / (n - 1)))


def interval(logs: Values) -> Interval:
    """Return the geometric mean with its interval."""
    mean = float(np.exp(np.mean(logs))) if len(logs) else math.nan
    return Interval(mean, *bootstrap(logs), len(logs))


def twins_as_one(logs: Logs, twins: Mapping[str, str]) -> Logs:
    """Return the logarithms with the mean of data sets that are the same in other clothes.

    `twins` has, by data set, the one that it is a twin of.
    """
    names = [twins.get(str(name), str(name)) for name in logs.index]
    return logs.groupby(names, sort=True).mean()


# What was measured


def gather(
    collection: Collection,
    known: Known | None = None,
) -> Leaderboard | None:
    """Collect the facts; None where no comparison with the baseline was measured.

    Rows are those of configurations whose name begins with ``leaderboard``. Those that begin with
    ``leaderboard_held_out`` stand apart. Smoke runs do not count. What a method
    is, is its role in the configuration: the one with the role ``baseline`` is what all others are
    divided by, one with the role ``model`` has no features and is the same at every M.
    """
    known = known or Known()
    reasons, twin_of = known.set_aside, known.twins
    own: list[Results] = []
    for experiment in collection.experiments:
        usable = not experiment.smoke and not experiment.config.get("paper")
        if usable and axis(experiment) == "M":
            own.append(experiment)
    named = [experiment for experiment in own if experiment.name.startswith(NAME)]
    apart = [experiment for experiment in named if experiment.name.startswith(HELD_OUT)]
    rows = _rows(collection, {each.path for each in named if each not in apart})
    if rows.empty:
        return None
    reasons = {name: reasons[name] for name in sorted(reasons)}
    counted = rows[~rows["dataset"].isin(list(reasons))]
    unlearnt = _unlearnt(counted)
    counted = counted[~counted["dataset"].isin(unlearnt)]
    standard = counted[counted["scaling"] == STANDARD]
    with_features = standard[~standard["reference"]]
    if (baseline := _baseline(with_features)) is None:
        return None
    sizes = sorted(int(M) for M in with_features["M"].unique())
    made = [size for M in sizes if (size := _size(standard, M, twin_of)) is not None]
    if not made:
        return None
    present = with_features.loc[with_features["method"] == baseline, "dataset"].unique()
    edges = with_features["at_edge"].dropna()
    names, n_trials = planned(known)
    return Leaderboard(
        baseline=baseline,
        folders=tuple(sorted(rows["folder"].unique())),
        trials=_trials(with_features),
        reference_trials=_trials(standard[standard["reference"]]),
        planned=(len(names), n_trials),
        missing=tuple(sorted(names - set(present) - set(unlearnt))),
        measured=len({twin_of.get(name, name) for name in present}),
        set_aside=reasons,
        unlearnt=tuple(unlearnt),
        edge=float(edges.astype(float).mean()) if len(edges) else math.nan,
        sizes=tuple(made),
        steps=_steps(with_features, (baseline, made[-1].best), sizes, twin_of),
        preparations=_preparations(counted, twin_of),
        enough=_enough(standard, known),
        held_out=_held_out(_rows(collection, {each.path for each in apart})),
    )


COLUMNS = [
    "dataset", "method", "sampler", "M", "trial", "scaling", "error", "loss", "reference", "fit",
    "search", "predict", "feature_bytes", "at_edge", "n_train", "n_test", "d", "bandwidth", "r2",
    "at_chance", "folder", "classes", "baseline",
]  # fmt: skip


def _rows(collection: Collection, folders: set[str]) -> pd.DataFrame:
    """Return the trials of some folders, one row each."""
    rows = collection.rows
    if rows.empty:
        return pd.DataFrame(columns=COLUMNS)
    counted = rows["counts"] & (rows["variant"] == "") & (rows["protocol"] == TUNED)
    rows = rows[counted & rows["folder"].isin(folders)]

    def number(name: str) -> pd.Series[float]:
        return rows[name].astype("float64")

    groups = rows["group"]
    n_test = number("n_test")
    # No error is below half a wrong row: logarithms of zero say nothing.
    wrong = number("error").clip(lower=50 / n_test)
    error = wrong.where(rows["error"].notna(), number("error_percent"))
    cpu = {part: number(f"cpu_{part}") for part in ("pp", "features", "train", "test")}
    names = groups.map(collection.groups["source"])
    return pd.DataFrame(
        {
            "dataset": names,
            "method": groups.map(collection.groups["method"]),
            "sampler": rows["sampler"],
            "M": number("M"),
            "trial": number("trial"),
            "scaling": rows["scaling"],
            "error": error,
            "classes": rows["error"].notna(),
            "loss": number("selection_loss"),
            "reference": rows["role"] == MODEL,
            "baseline": rows["role"] == BASELINE,
            "fit": number("cpu_refit"),
            "search": cpu["pp"] + cpu["features"] + cpu["train"],
            "predict": cpu["test"] / n_test * 1e6,
            "feature_bytes": number("feature_bytes"),
            "at_edge": rows["at_edge"],
            "n_train": number("n_train"),
            "n_test": n_test,
            "d": number("d"),
            "bandwidth": number("bandwidth"),
            "r2": number("r2"),
            "at_chance": rows["at_chance"].fillna(False).astype(bool),
            "folder": rows["folder"],
        }
    ).dropna(subset=["error"])


def _baseline(rows: pd.DataFrame) -> str | None:
    """Return the one method whose role is ``baseline``; None where there is none, or another."""
    names = rows.loc[rows["baseline"].astype(bool), "method"].unique()
    return str(names[0]) if len(names) == 1 else None


def _trials(rows: pd.DataFrame) -> tuple[int, int]:
    """Return the fewest and most trials of a method on a data set, at one M; zeros of no rows."""
    counts = rows.groupby(["method", "dataset", "M"])["trial"].nunique()
    return (int(counts.min()), int(counts.max())) if len(counts) else (0, 0)


def _unlearnt(rows: pd.DataFrame) -> list[str]:
    """Return the data sets on which every row is at chance, or no mean R^2 reaches 0.05."""
    chance = rows["at_chance"].groupby(rows["dataset"]).all()
    best = rows.groupby(["dataset", "method", "M"])["r2"].mean().groupby("dataset").max()
    none = (best < LEARNT) & (rows.groupby("dataset")["error"].min() > 100 * math.sqrt(1 - LEARNT))
    return sorted({*chance.index[chance], *none.index[none]})


def planned(known: Known) -> tuple[set[str], int]:
    """Return the data sets, and how many trials, the leaderboard's configuration asks for.

    Data sets that do not count are left out, and twins are one; nothing where the configuration is
    not there.
    """
    path = shipped.locate(NAME)
    if not path.is_file():
        return set(), 0
    content = yamlfile.load(path).value
    names = {str(name) for run in content["datasets"].values() for name in run["dataset"]}
    names = {known.twins.get(name, name) for name in names - set(known.set_aside)}
    return names, int(content["trials"])


def ratios(collection: Collection, board: Leaderboard) -> dict[int, pd.DataFrame]:
    """Return by M the errors over the baseline's: a row per data set, a column per method.

    Data sets that do not count are there too.
    """
    rows = _rows(collection, set(board.folders))
    rows = rows[rows["scaling"] == STANDARD]
    return {size.M: pd.DataFrame(np.exp(log_ratios(rows, size.M))) for size in board.sizes}


def log_ratios(rows: pd.DataFrame, M: int) -> Logs:
    """Return by data set the mean over trials of log(error / baseline's error in that trial).

    Of models without features, whatever M, the same errors are taken at every M. NaN where a
    method and the baseline have no trial in common.
    """
    here, baseline = rows[(rows["M"] == M) | rows["reference"]], _baseline(rows)
    errors = here.pivot_table(index=["dataset", "trial"], columns="method", values="error")
    if baseline not in errors:
        return pd.DataFrame()
    logs = pd.DataFrame(np.log(errors.where(errors > 0)))
    logs = logs.sub(logs[baseline], axis=0).dropna(subset=[baseline])
    return logs.groupby("dataset").mean()


def without_gaps(scores: pd.DataFrame, baseline: str) -> pd.DataFrame:
    """Drop, as long as there are gaps, the method or data set that lacks most of its values.

    The baseline stays.
    """
    while scores.isna().any(axis=None):
        datasets = scores.isna().mean(axis=1)
        methods = scores.drop(columns=baseline, errors="ignore").isna().mean()
        if datasets.max() >= methods.max():
            scores = scores.drop(index=str(datasets.idxmax()))
        else:
            scores = scores.drop(columns=str(methods.idxmax()))
    return scores


def _size(rows: pd.DataFrame, M: int, twins: Mapping[str, str]) -> Size | None:
    every = log_ratios(rows, M)
    if every.empty:
        return None
    every, baseline = twins_as_one(every, twins), str(_baseline(rows))
    logs = without_gaps(every, baseline)
    if logs.empty or baseline not in logs or logs.shape[1] < 2:
        return None
    order = logs.sort_index(axis=1).mean().sort_values(kind="stable").index
    logs = logs[list(order)]
    names, references = list(map(str, logs)), set(rows.loc[rows["reference"], "method"])
    apart = told_apart(logs) > 0
    methods = [name for name in names if name not in references]
    best, base = names.index(methods[0]), names.index(baseline)
    n, needed = len(logs), datasets_needed(len(names))
    sole = len(methods) > 1 and all(apart[best, names.index(other)] for other in methods[1:])
    without = {name: leave_one_out(logs[name].to_numpy(dtype=np.float64)) for name in names}
    leaders = np.argmin(np.array([without[name] for name in methods]), axis=0)
    here = rows[((rows["M"] == M) | rows["reference"]) & rows["dataset"].notna()]
    timed = _timed(here[here["dataset"].isin(logs.index)], names)
    costs, on = _costs(timed), timed["dataset"].unique()
    boosted = here[(here["method"] == BOOSTING) & here["dataset"].isin(on) & (here["search"] > 0)]
    by_trial = np.log(boosted.set_index(["trial", "dataset"])["search"]).unstack().dropna()
    searches = timed.groupby(["method", "dataset"])["search"].mean()
    dearer = searches.get(methods[0], math.nan) / searches.get(baseline, math.nan)
    classes = set(rows.loc[rows["classes"], "dataset"])
    kinds = {kind: logs.index.isin(list(classes)) == kind for kind in (True, False)}
    lines = []
    for position, name in enumerate(names):
        values = logs[name].to_numpy(dtype=np.float64)
        verdict = "open"
        if apart[position, base]:
            verdict = "better" if values.mean() < 0 else "worse"
        low, high = bootstrap(values)
        cost = {column: float(means.get(name, math.nan)) for column, means in costs.items()}
        lines.append(
            Line(
                method=name,
                ratio=float(np.exp(values.mean())),
                low=low,
                high=high,
                least=float(np.min(without[name])),
                most=float(np.max(without[name])),
                trimmed=float(np.exp(np.sort(values)[BEST:].mean())) if n > BEST else math.nan,
                median=float(np.exp(np.median(values))),
                regression=interval(values[kinds[False]]).ratio,
                classification=interval(values[kinds[True]]).ratio,
                wins=float(((values < 0) + 0.5 * (values == 0)).mean()),
                fit=cost["fit"],
                search=cost["search"],
                predict=cost["predict"],
                feature_bytes=cost["feature_bytes"],
                against=verdict,
                with_best=not apart[position, best],
                reference=name in references,
            )
        )
    return Size(
        M=M,
        datasets=n,
        timed=len(on),
        timed_classes=len(classes.intersection(on)),
        dearest=(float(np.min(dearer)), float(np.max(dearer))),
        boosting=_ends(np.exp(by_trial.mean(axis=1).to_numpy(dtype=np.float64))),
        needed=needed,
        best=methods[0],
        leader=methods[0] if sole and n >= needed else "",
        stays=int((leaders == 0).sum()),
        advised=interval(
            logs[methods].to_numpy(dtype=np.float64)[np.arange(n), leaders]
            if n > 1
            else np.array([])
        ),
        lines=tuple(lines),
        apart=tuple(
            (names[i], names[j])
            for i, j in itertools.combinations(range(len(names)), 2)
            if apart[i, j]
        ),
        groups=tuple(tuple(names[i] for i in run) for run in _runs(apart)),
        left_out=tuple(sorted(set(map(str, every)) - set(names))),
        gaps=tuple(sorted(set(map(str, every.index)) - set(map(str, logs.index)))),
    )


def _steps(
    rows: pd.DataFrame, methods: Sequence[str], sizes: Sequence[int], twins: Mapping[str, str]
) -> tuple[Step, ...]:
    """Compare each number of features with the one before, in the same trials."""
    steps = []
    for method in dict.fromkeys(methods):
        own = rows[rows["method"] == method]
        errors = own.pivot_table(index=["dataset", "trial"], columns="M", values="error")
        for before, M in itertools.pairwise(sizes):
            if before in errors and M in errors:
                both = errors[[before, M]].dropna()
                logs = pd.DataFrame({"log": np.log(both[M] / both[before])})
                logs = twins_as_one(logs.groupby("dataset").mean(), twins)
                steps.append(Step(method, before, M, interval(logs["log"].to_numpy())))
    return tuple(steps)


def _runs(apart: NDArray[np.bool_]) -> list[range]:
    """Return the largest runs of methods, in order, of which no two are told apart."""
    k = len(apart)
    runs: list[range] = []
    for start in range(k):
        stop = start + 1
        while stop < k and not apart[start : stop + 1, start : stop + 1].any():
            stop += 1
        if stop - start > 1 and (not runs or stop > runs[-1].stop):
            runs.append(range(start, stop))
    return runs


def _timed(rows: pd.DataFrame, methods: Sequence[str]) -> pd.DataFrame:
    """Return the rows that costs are means over, so that they can be compared.

    Those of the data sets on which all of the `methods` that were ever timed have a time, those
    with features in one trial, the references in one trial. The latest of such trials counts.
    """
    rows = rows[(rows["search"] > 0) & rows["method"].isin(list(methods))]
    if rows.empty:
        return rows
    latest = pd.concat([_latest(part) for _, part in rows.groupby("reference")])
    count = latest.groupby("dataset")["method"].transform("nunique")
    return latest[count == rows["method"].nunique()]


def _ends(values: Values) -> tuple[float, float]:
    """Return the smallest and largest of some values; NaN of none."""
    return (float(values.min()), float(values.max())) if len(values) else (math.nan, math.nan)


def _costs(rows: pd.DataFrame) -> dict[str, pd.Series[float]]:
    """Return by method the geometric means of the costs over data sets."""
    costs = {}
    for name in ("fit", "search", "predict", "feature_bytes"):
        values = rows[name].where(rows[name] > 0)
        logs = pd.Series(np.log(values.to_numpy(dtype=np.float64)), rows.index)
        means = logs.groupby([rows["method"], rows["dataset"]]).mean()
        costs[name] = pd.Series(np.exp(means.groupby("method").mean()))
    return costs


def _latest(rows: pd.DataFrame) -> pd.DataFrame:
    """Return each data set's rows of its latest trial that has all the methods."""
    timed = rows.groupby(["dataset", "trial"])["method"].transform("nunique")
    whole = rows[timed == rows["method"].nunique()]
    return whole[whole["trial"] == whole.groupby("dataset")["trial"].transform("max")]


def _preparations(rows: pd.DataFrame, twins: Mapping[str, str]) -> tuple[PreparationGain, ...]:
    rows = rows[~rows["reference"]]
    scalings = [name for name in rows["scaling"].unique() if name != STANDARD]
    made = []
    for key, part in rows.groupby(["method", "M"], sort=True):
        method, M = str(key[0]), int(key[1])  # type: ignore[call-overload]
        keys = ["dataset", "trial"]
        errors = part.pivot_table(index=keys, columns="scaling", values="error").dropna()
        if STANDARD not in errors or len(errors.columns) < 2 or errors.empty:
            continue
        errors = errors[[STANDARD, *errors.columns.drop(STANDARD)]]  # first: it wins ties
        losses = part.pivot_table(index=keys, columns="scaling", values="loss")
        losses = losses.reindex(index=errors.index, columns=errors.columns)
        best = _chosen(errors, losses)
        for name in sorted(set(scalings) & set(errors)):
            alone = _quotient(errors[name], errors[STANDARD], twins)
            without = _chosen(errors.drop(columns=name), losses.drop(columns=name))
            choice = _quotient(best, without, twins)
            made.append(PreparationGain(method, M, name, alone, choice))
        gain = _quotient(best, errors[STANDARD], twins)
        made.append(PreparationGain(method, M, CHOSEN, gain))
    return tuple(made)


def _quotient(
    errors: pd.Series[float], others: pd.Series[float], twins: Mapping[str, str]
) -> Interval:
    """Return the mean of one error over another, of the same data sets and trials."""
    logs = pd.DataFrame({"log": np.log(errors / others)}).groupby("dataset").mean()
    return interval(twins_as_one(logs, twins)["log"].to_numpy())


def _chosen(errors: pd.DataFrame, losses: pd.DataFrame) -> pd.Series[float]:
    """Return, row by row, the error of the column with the smallest loss, the first of equals."""
    columns = losses.fillna(np.inf).to_numpy().argmin(axis=1)
    return pd.Series(errors.to_numpy()[np.arange(len(errors)), columns], errors.index)


def _enough(rows: pd.DataFrame, known: Known) -> Enough | None:
    """Hold features, chosen by the folds in each trial, against boosting in the same trial."""
    boosted, linear = (
        rows[rows["method"] == name].set_index(["dataset", "trial"])["error"]
        for name in (BOOSTING, LINEAR)
    )
    exact = rows[rows["method"] == EXACT]
    smoothness = (exact["bandwidth"] / np.sqrt(2 * exact["d"])).groupby(exact["dataset"]).median()
    features = rows[~rows["reference"]].dropna(subset=["loss"])
    if boosted.empty or features.empty:
        return None
    largest = features.groupby("dataset")["M"].transform("max")
    features = features[features["M"] == largest]
    chosen = features.loc[features.groupby(["dataset", "trial"])["loss"].idxmin()]
    keys = pd.MultiIndex.from_frame(chosen[["dataset", "trial"]])
    chosen = chosen.assign(boosting=boosted.reindex(keys).to_numpy(),
                           linear=linear.reindex(keys).to_numpy())  # fmt: skip
    chosen = chosen.dropna(subset=["boosting"])
    chosen = chosen[(chosen["error"] > 0) & (chosen["boosting"] > 0)]
    if chosen.empty:
        return None
    chosen = chosen.assign(
        log=np.log(chosen["error"] / chosen["boosting"]),
        least=chosen[["error", "boosting"]].min(axis=1),
    )
    tables = []
    for name, part in chosen.groupby("dataset"):
        low, high = _over_trials(part["log"].to_numpy(dtype=np.float64))
        tables.append(
            TableRatio(
                str(name),
                int(part["n_train"].median()),
                int(part["d"].median()),
                str(part["method"].mode().iloc[0]),
                int(part["M"].iloc[0]),
                float(np.exp(part["log"].mean())),
                low,
                high,
                len(part),
                bool((part["classes"] & (part["least"] * part["n_test"] < 100 * FEW)).any()),
                float(np.exp(np.log(part["linear"] / part["boosting"]).mean())),
                known.words.get(str(name), math.nan),
                float(smoothness.get(name, math.nan)),
            )
        )
    tables.sort(key=lambda table: table.ratio)
    frame = pd.DataFrame([vars(table) for table in tables]).set_index("dataset")
    logs = pd.DataFrame(np.log(frame[["ratio", *DRIVERS.values()]].drop(columns="words")))
    logs = twins_as_one(logs.assign(words=frame["words"]), known.twins)
    drivers = tuple(
        driver
        for label, name in DRIVERS.items()
        if (driver := _driver(label, logs[name], logs["ratio"])) is not None
    )
    ratio = logs["ratio"].to_numpy(dtype=np.float64)
    few = {known.twins.get(table.dataset, table.dataset) for table in tables if table.few}
    many = logs.loc[~logs.index.isin(list(few)), "ratio"].to_numpy(dtype=np.float64)
    better = int((ratio < 0).sum())
    return Enough(tuple(tables), interval(ratio), better, interval(many), drivers)


# What may decide when features are enough, and where `TableRatio` has it.
DRIVERS = {
    "training rows": "n_train",
    "columns": "columns",
    "the share of columns that hold words": "words",
    "smoothness (the bandwidth of the exact kernel over the distance of rows)": "smoothness",
}


def _held_out(rows: pd.DataFrame) -> HeldOut | None:
    """Return what was measured at the largest M on tables that take no part."""
    rows = rows[~rows["reference"].astype(bool)]
    if rows.empty:
        return None
    M = int(rows["M"].max())
    rows = rows[rows["M"] == M]
    # Trials that every method has.
    errors = rows.pivot_table(index=["dataset", "trial"], columns="method", values="error").dropna()
    baseline = _baseline(rows)
    if errors.empty or baseline not in errors:
        return None
    of_trials = pd.DataFrame(np.log(errors)).sub(np.log(errors[baseline]), axis=0)
    by_table = of_trials.groupby("dataset")
    logs, deviations, trials = by_table.mean(), by_table.std(), by_table.size()
    means = logs.mean().sort_values(kind="stable")
    sizes = rows.groupby("dataset")[["n_train", "d"]].median().astype(int)
    tables = tuple(
        HeldOutTable(
            str(name),
            int(sizes["n_train"][name]),
            int(sizes["d"][name]),
            int(trials[name]),
            {str(method): float(np.exp(logs[method][name])) for method in means.index},
            {str(method): float(deviations[method][name]) for method in means.index},
        )
        for name in logs.index
    )
    return HeldOut(M, {str(name): float(value) for name, value in np.exp(means).items()}, tables)


def _over_trials(logs: Values) -> tuple[float, float]:
    """Return Student's interval of a geometric mean over the trials of one data set."""
    from scipy.special import stdtrit

    n = len(logs)
    if n < 2:
        return math.nan, math.nan
    half = float(stdtrit(n - 1, (1 + LEVEL) / 2)) * float(logs.std(ddof=1)) / math.sqrt(n)
    mean = float(logs.mean())
    return math.exp(mean - half), math.exp(mean + half)


def _driver(label: str, x: pd.Series[float], y: pd.Series[float]) -> Driver | None:
    from scipy.stats import rankdata

    both = pd.DataFrame({"x": x, "y": y}).dropna()
    if len(both) < 3 or both["x"].nunique() < 2 or both["y"].nunique() < 2:
        return None
    values = both.to_numpy(dtype=np.float64)
    drawn = np.random.default_rng(SEED).integers(len(both), size=(DRAWS, len(both)))
    ranks = [np.asarray(rankdata(column[drawn], axis=1)) for column in values.T]
    ranks = [each - each.mean(axis=1, keepdims=True) for each in ranks]
    with np.errstate(invalid="ignore"):  # a draw of one value alone
        draws = (ranks[0] * ranks[1]).sum(axis=1) / np.sqrt(
            (ranks[0] ** 2).sum(axis=1) * (ranks[1] ** 2).sum(axis=1)
        )
    low, high = np.nanquantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    rho = float(np.corrcoef(np.transpose(rankdata(values, axis=0)))[0, 1])
    return Driver(label, rho, float(low), float(high))


def facts(board: Leaderboard) -> dict[str, Any]:
    """Return the facts as JSON has them: what is not finite is None."""
    from dataclasses import asdict

    return dict(json_value({"rule": RULE, **asdict(board)}))


RULE = {
    "test": "sign flips over data sets of the largest sum of signed ranks of all pairs",
    "alpha": ALPHA,
    "interval": LEVEL,
    "draws": DRAWS,
    "signs": SIGNS,
    "seed": SEED,
    "power": POWER,
}
