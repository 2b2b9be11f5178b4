"""Runs of trials that have no row yet. Each row is stored as soon as it is measured."""

from __future__ import annotations

import logging
import shlex
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rfbench import platforms
from rfbench.experiment.fanout import FanOut
from rfbench.experiment.plan import Trial, group_into_jobs
from rfbench.experiment.run_plan import RunPlan, make_manifest
from rfbench.experiment.worker import Limits
from rfbench.results import kept_features, predictions
from rfbench.results import manifest as manifests
from rfbench.results.store import Store, append_to_log

log = logging.getLogger(__name__)

NO_LIMIT = (
    "This system does not enforce memory limits. A trial that exceeds its "
    "share may slow this machine down or be killed. Matrices of known size "
    "are still rejected."
)


@dataclass
class Summary:
    """Numbers of planned, measured and failed trials of a run, with the messages of failures."""

    folder: Path
    planned: int = 0  # number of trials in the plan
    found: int = 0  # trials that already had a row
    done: int = 0  # trials measured in this run
    failed: int = 0  # trials of this run with a status other than ok
    left: int = 0  # trials that still have to be measured after this run
    messages: list[str] = field(default_factory=list)  # one message per failed trial
    interrupted: bool = False  # True if a signal stopped the run early


def find_missing_trials(
    plan: RunPlan, done: Mapping[str, str], retry: Collection[str] = ()
) -> list[Trial]:
    """Return the trials of a plan that have no result row, or whose row has a status in `retry`.

    `done` maps the identity of each trial with a row to the status of the row.
    """
    return [t for t in plan.trials if t.id not in done or done[t.id] in retry]


def run_plan(
    plan: RunPlan,
    *,
    n_jobs: int = 1,
    client: Any = None,
    limits: Limits | None = None,
    retry: Collection[str] = (),
    fail_fast: bool = False,
    on_begin: Callable[[list[Trial]], None] | None = None,
    on_row: Callable[[dict[str, Any]], None] | None = None,
    on_interrupt: Callable[[], None] | None = None,
) -> Summary:
    """Run the trials of a plan that have no result row, and store each row when it is measured.

    `n_jobs` is the number of processes on this machine, or of workers of the dask `client`. The
    number does not affect the results, unless user code changes the global state of its process.
    Trials with a status in `retry` are run again, and their new rows replace the old rows. With
    `fail_fast`, no trial starts after a failed trial.

    The function `on_begin` is called with the trials that will run, `on_row` with each new row, and
    `on_interrupt` at the first Ctrl-C. The calls of `on_row` come from different threads, but never
    two at the same time.

    Raise ResultsError if another run is using the folder, or if a row cannot be written. Raise
    ExecutorError if there are no workers.
    """
    store, recorded = Store(plan.folder), set[str]()
    summary = Summary(plan.folder, planned=len(plan.trials))
    machines: dict[str, Any] = {}

    def record(row: dict[str, Any]) -> None:
        row = {**row, "workers": n_jobs}
        _record(store, summary, row, machines)
        recorded.add(row["trial_id"])
        if on_row:
            on_row(row)
        if fail_fast and summary.failed:
            fan_out.stopping = True

    def interrupted() -> None:
        summary.interrupted = True
        if on_interrupt:
            on_interrupt()

    limits = limits or Limits()
    if limits.memory and not platforms.can_limit_memory():
        log.warning(NO_LIMIT)
    fan_out = FanOut(record, limits, store.mark_started)
    with store.lock(), fan_out.stop_on_signals(interrupted):
        done = store.repair()
        missing = find_missing_trials(plan, done, retry)
        if on_begin:
            on_begin(missing)
        suspects = store.read_started() & {trial.id for trial in plan.planned} - done.keys()
        summary.found = summary.planned - len(missing)
        content = make_manifest(plan)
        if missing or not manifests.has_same_configuration(plan.folder, content):
            earlier = manifests.list_machines(manifests.read_if_valid(plan.folder, []))
            content["machines"] = earlier | content["machines"]
            manifests.write(plan.folder, content)
        machines |= content["machines"]
        versions = ", ".join(f"{name} {version}" for name, version in content["versions"].items())
        append_to_log(plan.folder, f"started: {shlex.join(sys.argv)}; {versions}")
        append_to_log(plan.folder, f"to run: {len(missing)} of {summary.planned}, {n_jobs} workers")
        if suspects:
            text = f"{len(suspects)} trials had started when an earlier run was interrupted"
            log.warning("%s: these trials are run last.", text)
            append_to_log(plan.folder, f"last: {text}")
        first = [trial for trial in missing if trial.id not in suspects]
        last = [trial for trial in missing if trial.id in suspects]
        try:
            if client is None:
                left = fan_out.run(group_into_jobs(first, n_jobs), last, n_jobs)
            else:
                fan_out.run_on_cluster(client, [*first, *last], n_jobs)
                left = []
        except BaseException as error:
            append_to_log(plan.folder, f"cut off: {error!r}")
            raise
        finally:
            if client is not None:
                client.close()  # this closes only the connection, and the scheduler keeps running
        store.finish_run((suspects | {trial.id for trial in left}) - recorded)
        summary.left = len(missing) - summary.done
        counts = f"{summary.done} run, {summary.failed} failed, {summary.left} left"
        append_to_log(plan.folder, f"{'interrupted' if summary.interrupted else 'ended'}: {counts}")
    return summary


def _record(store: Store, summary: Summary, row: dict[str, Any], machines: dict[str, Any]) -> None:
    trace = row.pop("traceback", None)
    if trace:
        store.save_traceback(row["trial_id"], trace)
    measured_on = row.pop(manifests.MACHINES, {})
    if measured_on.keys() - machines:
        manifests.add_machines(store.folder, measured_on)
        machines |= measured_on
    lines = row.pop(kept_features.KEPT_FEATURES_KEY, None)
    if lines:
        kept_features.write(store.folder, row["trial_id"], lines)
    if (encoded := row.pop(predictions.PREDICTIONS_KEY, None)) is not None:
        predictions.write(store.folder, row["trial_id"], encoded)
    store.append(row)
    summary.done += 1
    if row["status"] != "ok":
        summary.failed += 1
        size = "" if row.get("M") is None else f" M={row['M']}"
        text = f"{row['label']}{size}, trial {row['trial']}: {row['status']}: {row['message']}"
        summary.messages.append(text)
        append_to_log(store.folder, f"{row['status']}: {row['dataset']}, {text}")
