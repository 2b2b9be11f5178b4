"""Runs in processes of their own, and what may happen to them: no row is lost, doubled, changed."""

import os
import random
import signal
import subprocess
import time

import pytest

from rfbench.errors import ResultsError
from rfbench.experiment import runner
from rfbench.experiment.run_plan import plan_run
from rfbench.experiment.worker import Limits
from rfbench.results.store import BEGUN, TORN, Store
from tests.support import forked
from tests.support.forked import Forked
from tests.support.nightly import nightly
from tests.support.runs import (
    FAULTY,
    MOST_SECONDS,
    all_end,
    command,
    descendants,
    rows_of,
    wait_until,
    without_times,
)

from .conftest import SMALL


def faulty(fault):
    own = f"- {{class: '{FAULTY}:Faulty', label: faulty, fault: {fault}}}"
    return SMALL.replace("- rks", own)


FAULTS = {
    "raise": ("failed", "ZeroDivisionError: on purpose"),
    "segfault": ("crashed", "Segmentation fault"),
    "exit": ("crashed", "exit code 3"),
    "memory": ("memory", "memory"),
}


def test_failing_method_affects_only_its_own_trial(experiment_of, tmp_path):
    methods = "".join(
        f"  - {{class: '{FAULTY}:Faulty', label: {fault}, fault: {fault}}}\n" for fault in FAULTS
    )
    text = SMALL.replace("solver:", methods + "solver:")
    folder = tmp_path / "r"
    work = plan_run([experiment_of(text, "trials=1", allow_imports=True)], folder)
    summary = runner.run_plan(work, n_jobs=2, limits=Limits(2**30))
    rows = {(row["label"], row["M"]): row for row in rows_of(folder)}
    assert len(rows) == 12
    assert {k: r["status"] for k, r in rows.items() if r["status"] != "ok"} == {
        (fault, "8"): status for fault, (status, _) in FAULTS.items()
    }
    for fault, (_, message) in FAULTS.items():
        row = rows[fault, "8"]
        assert message in row["message"]
        trace = folder / "failures" / f"{row['trial_id']}.txt"
        assert trace.exists() == (fault in ("raise", "segfault"))
        assert fault != "raise" or FAULTY.name in trace.read_text()
    assert (summary.done, summary.failed) == (12, 4)
    assert not (folder / BEGUN).exists()


def test_timed_out_trial_has_a_message_and_a_traceback_file(experiment_of, tmp_path):
    """It is alone: on a busy machine every other trial may take as long."""
    text = faulty("sleep").replace("  - eerf: {pool_size: 40, score_rows: 1.0}\n", "")
    experiment = experiment_of(text, "trials=1", "M=8", allow_imports=True)
    work = plan_run([experiment], tmp_path / "r")
    assert runner.run_plan(work, limits=Limits(timeout=0.5)).failed == 1
    (row,) = rows_of(work.folder)
    assert (row["status"], "exceeded its time limit" in row["message"]) == ("timeout", True)
    assert (work.folder / "failures" / f"{row['trial_id']}.txt").exists()


LONG = SMALL.replace("trials: 2", "trials: 6").replace("n_train: 120", "n_train: 2500")


def start(path, out, jobs, before=""):
    words = forked.prepare(before, command(path, out, "--jobs", str(jobs)))
    return Forked(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


KILL_AT = "from tests.support.forked import kill_at; kill_at({})"


def test_no_row_is_lost_or_repeated_after_kills_at_fault_points(experiment_of, finished, tmp_path):
    """Before the manifest is there, and twice in the middle of a row."""
    experiment, kept = experiment_of(), []
    folder = tmp_path / "out" / "tiny"
    for point in (2, 7, 8):
        process = start(tmp_path / "tiny.yaml", tmp_path / "out", 2, KILL_AT.format(point))
        assert process.wait(MOST_SECONDS) == -signal.SIGKILL
        now = list(Store(folder).read_statuses())
        assert now[: len(kept)] == kept
        kept = now
    assert 0 < len(kept) < 8
    summary = runner.run_plan(plan_run([experiment], folder), n_jobs=2)
    assert (summary.found, summary.done) == (len(kept), 8 - len(kept))
    assert (folder / TORN).exists()
    assert without_times(folder) == without_times(finished)


@nightly
def test_no_row_is_lost_or_repeated_after_kills_at_random_moments(experiment_of, tmp_path):
    """Every other one is killed while rows come, the others also while processes start."""
    kills = 40
    experiment = experiment_of(LONG.replace("trials: 6", f"trials: {20 * kills}"), name="long")
    runner.run_plan(plan_run([experiment], tmp_path / "whole"), n_jobs=2)
    expected = without_times(tmp_path / "whole")
    moments, kept = random.Random(0), []
    folder = tmp_path / "out" / "long"
    for number in range(kills):
        process = start(tmp_path / "long.yaml", tmp_path / "out", 2)

        def has_begun(process=process, number=number, before=kept):
            new = (
                len(Store(folder).read_statuses()) > len(before)
                if number % 2 == 0
                else descendants(process)
            )
            return new

        wait_until(has_begun, process)
        limit = time.monotonic() + moments.uniform(0.0, 0.3 if number % 2 == 0 else 3.0)
        wait_until(lambda limit=limit: time.monotonic() > limit)
        workers = descendants(process)
        process.kill()
        process.wait()
        all_end(workers)
        now = list(Store(folder).read_statuses())
        assert now[: len(kept)] == kept
        kept = now
    assert kept
    summary = runner.run_plan(plan_run([experiment], folder), n_jobs=2)
    assert summary.done + summary.found == len(expected)
    assert without_times(folder) == expected


def test_first_signal_stops_after_the_running_trials(experiment_of, tmp_path):
    experiment_of(LONG.replace("trials: 6", "trials: 400"), name="long")
    folder = tmp_path / "out" / "long"
    process = start(tmp_path / "long.yaml", tmp_path / "out", 1)
    wait_until((folder / "trials.csv").exists, process)
    workers = descendants(process)
    process.send_signal(signal.SIGINT)
    assert process.wait(MOST_SECONDS) == 1
    all_end(workers)
    rows = rows_of(folder)
    assert 0 < len(rows) < 1600
    assert {row["status"] for row in rows} == {"ok"}
    assert not (folder / BEGUN).exists()


def test_second_signal_stops_immediately_and_records_interrupted_trials(experiment_of, tmp_path):
    slow = LONG.replace("- rks", f"- {{class: '{FAULTY}:Faulty', label: faulty, fault: sleep}}")
    slow = slow.replace("  - eerf: {pool_size: 40, score_rows: 1.0}\n", "")
    slow = slow.replace("[4, 8]", "8")  # at which every trial hangs
    experiment_of(slow, name="long", allow_imports=True)
    words = command(tmp_path / "long.yaml", tmp_path / "out", "--jobs", "2", "--allow-imports")
    process = Forked(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    begun = tmp_path / "out" / "long" / BEGUN
    wait_until(lambda: begun.exists() and len(begun.read_text().split()) >= 2, process)
    workers = descendants(process)
    process.send_signal(signal.SIGTERM)
    assert next(line for line in process.stderr if "stopping" in line)
    process.send_signal(signal.SIGTERM)
    _, message = process.communicate(timeout=MOST_SECONDS)
    assert process.returncode != 0
    assert "Traceback" not in message
    all_end(workers)
    assert not (begun.parent / "trials.csv").exists()
    assert len(set(begun.read_text().split())) == 2


def test_second_run_on_the_same_folder_is_rejected_and_names_the_first(experiment_of, folder):
    work = plan_run([experiment_of()], folder)
    with Store(folder).lock(), pytest.raises(ResultsError, match=f"process {os.getpid()}, since"):
        runner.run_plan(work)
    assert runner.run_plan(work).found == 8


def test_trial_that_kills_the_run_affects_no_other_trial_in_the_next_run(experiment_of, tmp_path):
    """It is met first, then last and alone; both times it ends the run."""
    experiment_of(faulty("kill the run"), "trials=1", name="long", allow_imports=True)
    words = command(tmp_path / "long.yaml", tmp_path / "out", "--jobs", "1", "--allow-imports")
    folder = tmp_path / "out" / "long"
    for _ in range(2):
        assert forked.run(words, stderr=subprocess.DEVNULL).returncode != 0
    measured = {("faulty", "4"), ("eerf", "4"), ("eerf", "8")}
    assert {(row["label"], row["M"]) for row in rows_of(folder)} == measured


def test_full_disk_keeps_the_earlier_rows(experiment_of, tmp_path):
    experiment = experiment_of(name="tiny")
    path, folder = tmp_path / "tiny.yaml", tmp_path / "out" / "tiny"
    plan_run([experiment], folder)
    words = command(path, tmp_path / "out", "--jobs", "1")
    code = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (3500, 3500))"
    )
    found = forked.run(forked.prepare(code, words), stderr=subprocess.PIPE, text=True)
    assert found.returncode == 1, found.stderr
    assert "could not" in found.stderr
    assert "File too large" in found.stderr
    assert "Traceback" not in found.stderr
    kept = len(Store(folder).read_statuses())
    summary = runner.run_plan(plan_run([experiment], folder))
    assert summary.found == kept
    assert summary.found + summary.done == 8
    assert len({row["trial_id"] for row in rows_of(folder)}) == len(rows_of(folder)) == 8


IN_ITS_ROW = {
    "system exit": "SystemExit: 0",
    "interrupt": "KeyboardInterrupt:",
    "generator exit": "GeneratorExit:",
    "stop": "StopIteration:",
    "foreign": "Foreign: on purpose",
    "surrogate": "ValueError: a\\udc80b c d",
    "unreadable": "Unreadable: the message of the error cannot be read",
    "recursion": "RecursionError",
    "a long message": "ValueError: long",
    "no memory": "Out of memory",
    "fork": "",
    "child": "",
    "close": "exit code 1",
    "nan": "not finite",
    "infinity": "not finite",
    "texts": "type <U32",
    "objects": "type object",
    "a list": "",
    "nothing": "shape ()",
    "complex": "type complex128",
    "three axes": "shape (1, 8, 1)",
    "one axis": "shape (1,)",
    "no columns": "shape (1, 0)",
    "integers": "",
    "sparse": "",
    "a frame": "",
    "too large": "not finite",
    "other rows": "shape (0, 8)",
}
NOT_MEASURED = ("t_", "cpu_", "peak_", "check")


def test_faulty_method_leaves_all_other_rows_unchanged(experiment_of, tmp_path):
    """The witness draws from the global generators, in the processes in which the others ran."""

    def measured(folder, names):
        methods = "".join(
            f"  - {{class: '{FAULTY}:Faulty', label: '{name}', fault: '{name}'}}\n"
            for name in names
        )
        methods += f"  - {{class: '{FAULTY}:Witness', label: witness}}\n"
        text = SMALL.replace("solver:", methods + "solver:")
        plan = plan_run([experiment_of(text, "trials=1", allow_imports=True)], tmp_path / folder)
        assert runner.run_plan(plan).left == 0
        return {
            (row["label"], row["M"]): {
                key: value for key, value in row.items() if not key.startswith(NOT_MEASURED)
            }
            for row in rows_of(tmp_path / folder)
        }

    found, clean = measured("faults", IN_ITS_ROW), measured("clean", [])
    assert len(found) == 2 * len(IN_ITS_ROW) + len(clean) == 2 * len(IN_ITS_ROW) + 6
    for name, message in IN_ITS_ROW.items():
        assert found[name, "4"]["status"] == "ok"
        assert message in found[name, "8"]["message"]
    assert {key: found[key] for key in clean} == clean
