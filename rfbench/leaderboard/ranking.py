"""Steps of `rfbench rank`: find the method, measure it, compare it, and write the result."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from rfbench import config, files, plugins, shipped, usable
from rfbench.clock import CLOCK_PARTS
from rfbench.errors import ConfigError
from rfbench.escaping import escape_latex
from rfbench.experiment import runner
from rfbench.experiment.plan import Trial
from rfbench.experiment.run_plan import RunPlan, plan_run
from rfbench.leaderboard import figure, quick
from rfbench.leaderboard.page import format_ratio_with_interval
from rfbench.leaderboard.rank import (
    NOT_SEARCHED,
    RankResult,
    RankTarget,
    compare_with_published_rows,
    make_experiments,
    read_published_rows,
)
from rfbench.leaderboard.rows import NAME, find_baseline
from rfbench.leaderboard.rule import MIN_DATASETS
from rfbench.pages.formatting import DASH, format_seconds
from rfbench.pages.templates import render_template
from rfbench.parameters import is_path
from rfbench.permissions import check_permission
from rfbench.registry import KERNELS, SAMPLERS, find_internal_name, make_unknown_name_error
from rfbench.results import reader
from rfbench.results.store import Store
from rfbench.samplers.elsewhere import PARAMETER, TO_STATE

log = logging.getLogger(__name__)
TABLE_CHOICES = ("all", "quick")
# The forecast of the remaining time is updated after these numbers of finished trials. The first
# trials are slower than later trials, because functions are compiled. The values were chosen
# without a measurement. If they are doubled, a wrong first forecast is shown twice as long.
RENEWED = (5, 20, 80)
OnRow = Callable[[dict[str, Any]], None]
Watch = Callable[[str, int, int], AbstractContextManager[OnRow]]


@dataclass(frozen=True)
class Ranking:
    """Result of the function `rank`, which compares a method with published methods.

    Attributes
    ----------
    standing : RankResult or None
        Rank of the method and its comparison with published methods; None if the run was
        interrupted.
    folder : Path
        Folder with the results of the method. If the method has a rank, the folder also has the
        files `rank.png`, `rank.pdf` and `rank.tex`.
    text : str
        Text that ``print`` shows.
    messages : tuple of str
        Messages of failed trials.
    """

    standing: RankResult | None
    folder: Path
    text: str
    messages: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text


def _report_failures(messages: tuple[str, ...], say: Callable[[str], None]) -> None:
    """Pass the first three messages of failed trials to the function `say`."""
    for text in messages[:3]:
        say(f"failed: {text}")


def rank(
    target: Any,
    *,
    M: int = 400,
    tables: str = "all",
    parameters: Mapping[str, Any] | None = None,
    label: str | None = None,
    times: bool = False,
    n_jobs: int | None = None,
    out: str | Path = "results",
    allow_imports: bool = False,
    say: Callable[[str], None] = log.info,
    before: Callable[[RankTarget], None] | None = None,
    watch: Watch | None = None,
) -> Ranking:
    """Rank a sampler, a kernel or a solver among the published methods.

    Parameters
    ----------
    target : str, type, transformer or callable
        Name in `rfbench list samplers` or `list kernels`, or an import path. It may also be a
        class, a transformer with scikit-learn's interface, or a function f(X, M, seed).
    M : int
        Number of features.
    tables : {'all', 'quick'}
        'all' uses all tables. 'quick' uses ten tables, without a test of significance.
    parameters : mapping, optional
        Parameters of the target.
    label : str, optional
        Name of the method in results and tables; by default the name of the target.
    times : bool
        Whether the baseline is also measured on this machine, to compare times.
    n_jobs : int, optional
        Number of worker processes; by default the number of cores.
    out : path
        Folder for the results, which are written to ``OUT/rank-LABEL``. After an interruption, the
        same call resumes the run.
    allow_imports : bool
        Whether any class may be imported, which runs its code.
    say : callable
        Function that is called with lines of text about the progress.
    before : callable, optional
        Function that is called with the `RankTarget` object before it is measured.
    watch : callable, optional
        Function with three arguments: the name of the folder, the number of missing trials, and the
        number of finished trials. The function returns a context manager. Its value is a function
        that is called with the result row of each finished trial.

    Returns
    -------
    Ranking
        Rank of the method and its comparison with each published method. ``print`` shows the
        result.

    Raises
    ------
    RfbenchError
        If the method or the tables do not exist, or if no trial can be compared.
    """
    if tables not in TABLE_CHOICES:
        raise ConfigError(
            f"tables is {tables!r}.", "", f"The allowed values are {', '.join(TABLE_CHOICES)}."
        )
    named = find_method_to_rank(target, dict(parameters or {}), label, allow_imports)
    published = shipped.find_published_folder() or Path("results", "published")
    others, stale = read_published_rows(published)
    if stale:
        say(f"skipped {stale} published rows that were measured with an older configuration")
    if named.label in set(others["method"]):
        named = replace(named, label=f"{named.label}-here")
    baseline, few = str(find_baseline(others)), tables == "quick"
    here = others[(others["M"] == M) & (others["table"].isin(quick.QUICK) | (not few))]
    every = here.loc[here["method"] == baseline, "table"].unique()
    if len(every) < MIN_DATASETS:
        why = f"{MIN_DATASETS} tables are needed, but there are {len(every)}"
        say(f"significance will not be tested: {why}{'; --tables all has more tables' * few}")
    asked = make_experiments(named, M, sorted(every), times=times, allow_imports=allow_imports)
    if named.bandwidth == NOT_SEARCHED:
        say(f"the bandwidth is not selected, so the method gets no rank. {_to_state(named)}")
    folder = Path(out) / f"rank-{named.label}"
    plan = plan_run(asked, folder)
    missing = _list_missing(plan)
    pace = Pace(here, baseline, say)
    if missing:
        if before:
            before(named)
        say(pace.forecast_cpu_time((1 + times) * len(missing) / len(plan.trials)))
    watched = watch or (lambda *_: nullcontext(lambda row: None))
    with watched(folder.name, len(missing), len(plan.trials) - len(missing)) as ended:

        def on_row(row: dict[str, Any]) -> None:
            ended(row)
            pace.update_forecast(row, [(trial.dataset.name, trial.number) for trial in missing])

        summary = runner.run_plan(plan, n_jobs=n_jobs or usable.count_usable_cores(), on_row=on_row)
    messages = tuple(dict.fromkeys(summary.messages))
    _report_failures(messages, say)
    if summary.interrupted:
        return Ranking(None, folder, "interrupted: the same command resumes", messages)
    results = reader.read_results_folder(folder)
    found = compare_with_published_rows(others, results, named.label, M)
    found = replace(found, bandwidth=named.bandwidth)
    text = render_template(
        "leaderboard/rank.txt.j2",
        p=found,
        baseline=baseline,
        needed=MIN_DATASETS,
        row=_row(found),
        folder=folder,
        quick=quick if few else None,
        flag=" --allow-imports" if allow_imports else "",
        code=f" and {target.partition(':')[0]}" if ".py:" in str(target) else "",
        state=_to_state(named),
    )
    _write(found, folder, named.label)
    return Ranking(found, folder, text.rstrip("\n"), messages)


def _list_missing(plan: RunPlan) -> list[Trial]:
    """Return the trials of a run that have no result yet."""
    done = Store(plan.folder).read_statuses()
    return [trial for trial in plan.trials if trial.id not in done]


def find_method_to_rank(
    target: Any, parameters: dict[str, Any], label: str | None, allow_imports: bool
) -> RankTarget:
    """Return the method to rank as a `RankTarget`.

    `target` is the name of a sampler or a kernel, an import path, or a Python object.

    Raises MethodError if the method does not exist, or if it may not be imported.
    """
    if not isinstance(target, str):
        name = getattr(target, "__name__", type(target).__name__)
        named = RankTarget(target, target, parameters, label or name)
        if named.kind == "sampler":
            return named
        return replace(named, path=f"{target.__module__}.{target.__qualname__}")
    if is_path(target):
        check_permission(target, parameters, anything=allow_imports)
        thing = plugins.load_object(target)
        return RankTarget(target, thing, parameters, label or target.split(".")[-1].split(":")[-1])
    variant = _variants().get(find_internal_name(target), {})
    name = variant.get("name", target)
    for registry in (KERNELS, SAMPLERS):
        if (own := registry.find_published_name(name)) in registry:
            rest = {key: value for key, value in variant.items() if key != "name"}
            return RankTarget(
                own, registry[own], {**rest, **parameters}, label or find_internal_name(target)
            )
    raise make_unknown_name_error((SAMPLERS, KERNELS), target)


def _variants() -> dict[str, dict[str, Any]]:
    """Return the methods of the leaderboard that have a label, such as ``rks-pair``.

    The result maps a label to the name of the sampler and its parameters.
    """
    found = {}
    for document in config.read_run_documents(shipped.locate_configuration(NAME)).values():
        for entry in document.value["samplers"]:
            if isinstance(entry, dict) and len(entry) == 1:
                ((name, own),) = entry.items()
                if isinstance(own, dict) and "label" in own:
                    rest = {key: own[key] for key in own if key not in ("label", "role")}
                    found[own["label"]] = {"name": name, **rest}
    return found


def _to_state(named: RankTarget) -> str:
    """Return advice for users: how to declare a bandwidth so that its value can be selected."""
    if "bandwidth" in named.parameters:
        return "Remove the bandwidth from its parameters."
    if named.kind == "solver":
        return (
            "Inherit from rfbench.solvers.Solver, which selects the bandwidth by its "
            "validation loss."
        )
    return TO_STATE.replace(f"`{PARAMETER}: NAME`", f"`--set {PARAMETER}=NAME`")


class Pace:
    """Forecast of the remaining CPU time of `rfbench rank`.

    The forecast is computed from published times of methods and from the times of the first trials.
    """

    def __init__(self, rows: pd.DataFrame, baseline: str, say: Callable[[str], None]) -> None:
        spent = rows["search"] + rows["cpu_test"]
        self._methods = spent.groupby(rows["method"]).sum()
        plain = rows[rows["method"] == baseline]
        self._usual = spent[plain.index].groupby([plain["table"], plain["trial"]]).sum().to_dict()
        self._baseline, self._say = baseline, say
        self._count, self._spent, self._ended = 0, 0.0, 0.0

    def forecast_cpu_time(self, share: float) -> str:
        """Return a sentence that forecasts the CPU time of the missing trials.

        The forecast is computed from published times of methods. `share` is the number of missing
        trials, divided by the number of trials of one method.
        """
        spent = share * self._methods
        dearest = str(spent.idxmax())
        return (
            f"about {format_seconds(spent[self._baseline])} of CPU time if it is as fast as "
            f"{self._baseline}, {format_seconds(spent[dearest])} if it is as slow as {dearest}"
        )

    def update_forecast(self, row: Mapping[str, Any], trials: list[tuple[str, int]]) -> None:
        """Count a finished trial, and report a new forecast after 5, 20 and 80 trials.

        `row` is the result of the trial. `trials` has the data set and the number of each trial
        that was missing at the start of the run.
        """
        table = str(row["dataset"]).partition("[")[0]
        if row["status"] != "ok" or row["label"] == self._baseline:
            return
        self._count += 1
        self._spent += sum(float(row.get(f"cpu_{part}") or 0.0) for part in CLOCK_PARTS)
        self._ended += self._usual.get((table, row["trial"]), math.nan)
        if self._count in RENEWED and self._ended > 0:
            ratio = self._spent / self._ended
            left = max(0.0, sum(self._usual.get(each, 0.0) for each in trials) - self._ended)
            self._say(
                f"after {self._count} trials: {ratio:.1f} times the CPU time of {self._baseline}, "
                f"about {format_seconds(ratio * left)} of CPU time left"
            )


def _write(found: RankResult, folder: Path, label: str) -> None:
    """Write the figure of a ranked method, and a file with a row of a LaTeX table.

    If the bandwidth of the method was not searched, these files are removed instead.
    """
    if found.bandwidth == NOT_SEARCHED:
        for name in ("rank.png", "rank.pdf", "rank.tex"):
            files.remove(folder / name)
        return
    for form in ("png", "pdf"):
        files.replace(
            folder / f"rank.{form}", figure.render_errors_against_costs([found.size], label, form)
        )
    files.replace(folder / "rank.tex", f"{_row(found)}\n".encode())


def _row(found: RankResult) -> str:
    numbers = format_ratio_with_interval(found.plain).replace(DASH, "--")
    ranked = f"{found.place} of {len(found.size.methods)}"
    return rf"{escape_latex(found.own.method)} & {numbers} & {ranked} & {found.plain.datasets} \\"
