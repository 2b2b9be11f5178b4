"""Running what is missing: jobs go to workers, rows are written as they come."""

from __future__ import annotations

import logging
import shlex
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rfbench.experiment.children import Local
from rfbench.experiment.interrupts import interrupts
from rfbench.experiment.journal import leftovers, remove_folder, suspect
from rfbench.experiment.plan import Job, jobs
from rfbench.experiment.run_plan import RunPlan, manifest
from rfbench.experiment.schedule import Schedule
from rfbench.experiment.worker import Limits
from rfbench.results import kept_features
from rfbench.results import manifest as manifests
from rfbench.results.log import note
from rfbench.results.store import Store

log = logging.getLogger(__name__)


@dataclass
class Summary:
    """What a run did."""

    folder: Path
    planned: int = 0  # trials in all
    found: int = 0  # with a row already
    done: int = 0  # run now
    failed: int = 0  # of those, not ok
    left: int = 0  # not begun
    messages: list[str] = field(default_factory=list)  # one per failed trial
    interrupted: bool = False  # a signal ended the run early


def run(
    plan: RunPlan,
    *,
    n_jobs: int = 1,
    executor: Local | None = None,
    limits: Limits | None = None,
    retry: Collection[str] = (),
    fail_fast: bool = False,
    on_row: Callable[[dict[str, Any]], None] | None = None,
    on_interrupt: Callable[[], None] | None = None,
) -> Summary:
    """Run the trials that have no row yet, and write each row as soon as its job is done.

    Without an executor, `n_jobs` processes of this machine do it; the results do not depend on it.
    Trials with a status of `retry` are run again; the new row counts. With `fail_fast` no further
    job begins after a trial that failed. `on_row` is called with each new row, `on_interrupt` at
    the first Ctrl-C.

    ResultsError if another run is at work on the folder, or a row cannot be written.
    """
    executor = executor or Local(n_jobs)
    store = Store(plan.folder)
    with store.lock(), interrupts(on_interrupt) as (stopping, asked):
        store.mend()
        planned = {trial.id for trial in plan.planned}
        suspects = rescue(store, planned)
        done = store.done()
        missing = [t for t in plan.trials if t.id not in done or done[t.id] in retry]
        summary = Summary(plan.folder, planned=len(plan.trials))
        summary.found = summary.planned - len(missing)
        content = manifest(plan)
        if missing or not manifests.describes(plan.folder, content):
            earlier = manifests.machines(manifests.read_if_sound(plan.folder, []))
            if missing:
                _say_which_machine(store, list(content["machines"]))
            content["machines"] = earlier | content["machines"]
            manifests.write(plan.folder, content)
        workers = executor.workers()
        versions = ", ".join(f"{name} {version}" for name, version in content["versions"].items())
        note(plan.folder, f"started: {shlex.join(sys.argv)}; {versions}")
        note(plan.folder, f"to run: {len(missing)} of {summary.planned}, {workers} workers")
        limits = replace(limits or Limits(), workers=workers)
        schedule = Schedule(plan.folder, executor, limits, stopping)
        others = jobs([trial for trial in missing if trial.id not in suspects], workers)
        last = [Job((trial,)) for trial in missing if trial.id in suspects]
        try:
            for row in schedule.rows(others, last):
                row.setdefault("workers", workers)  # of a trial whose worker is gone
                _record(store, summary, row)
                if on_row:
                    on_row(row)
                if fail_fast and summary.failed:
                    stopping.set()
            executor.close()
        except BaseException as error:
            note(plan.folder, f"cut off: {error!r}")
            executor.kill()
            rescue(store, planned)
            raise
        finally:
            remove_folder(store.folder)
        summary.left = len(missing) - summary.done
        summary.interrupted = asked.is_set()
        counts = f"{summary.done} run, {summary.failed} failed, {summary.left} left"
        note(plan.folder, f"{'interrupted' if summary.interrupted else 'ended'}: {counts}")
    return summary


def rescue(store: Store, planned: Collection[str]) -> set[str]:
    """Move finished rows from the journals of a run that was cut off to `trials.csv`.

    Returns the planned trials that it had begun: one of them may have ended it. Call it with the
    folder's lock held.
    """
    saved = changed = 0
    begun: set[str] = set()
    for journal in leftovers(store.folder):
        rows, unfinished = journal.read()
        changed += journal.changed
        begun |= {unfinished} if unfinished else set()
        done = store.done()
        for row in rows:
            if done.get(row["trial_id"]) != "ok":
                _record(store, Summary(store.folder), row)
                saved += 1
        journal.remove()
    if saved:
        log.warning("%d finished rows of an interrupted run were saved.", saved)
        note(store.folder, f"saved: {saved} finished rows of an interrupted run")
    if changed:
        log.warning("%d lines of an interrupted run are cut, or changed: left out.", changed)
        note(store.folder, f"left out: {changed} lines of an interrupted run, cut or changed")
    suspects = (begun & set(planned)) - set(store.done())
    if suspects:
        log.warning("%d trials had begun when a run was cut off: they come last.", len(suspects))
        note(store.folder, f"last: {len(suspects)} trials that had begun when a run was cut off")
    for trial_id in suspects:
        suspect(store.folder, trial_id)
    return suspects


def _say_which_machine(store: Store, here: list[str]) -> None:
    """Warn where the folder's rows were measured on other machines than this one."""
    others = {row["machine"] for row in store.rows()} - {"", *here}
    if others:
        message = f"the rows before are of machine {', '.join(sorted(others))}, now it is {here[0]}"
        log.warning("%s: %s; their times cannot be compared.", store.folder, message)
        note(store.folder, f"another machine: {message}")


def _record(store: Store, summary: Summary, row: dict[str, Any]) -> None:
    trace = row.pop("traceback", None)
    if trace:
        store.keep_traceback(row["trial_id"], trace)
    if machines := row.pop(manifests.MACHINES, None):
        manifests.add_machines(store.folder, machines)
    lines = row.pop(kept_features.KEY, None)
    if lines:
        kept_features.write(store.folder, row["trial_id"], lines)
    store.append(row)
    summary.done += 1
    if row["status"] != "ok":
        summary.failed += 1
        size = "" if row.get("M") is None else f" M={row['M']}"
        text = f"{row['label']}{size}, trial {row['trial']}: {row['status']}: {row['message']}"
        summary.messages.append(text)
        note(store.folder, f"{row['status']}: {row['dataset']}, {text}")
