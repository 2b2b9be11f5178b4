"""`rfbench.log` of a results folder."""

import datetime

from rfbench.experiment import runner
from rfbench.experiment.run_plan import plan_run
from rfbench.results import find_results_folders
from rfbench.results.store import LOG
from tests.support.methods import BAD

from .conftest import SMALL

FAILS = SMALL.replace("- rks", "- {class: 'bad.py:Bad', label: bad}")


def events(folder):
    """Return the first word of each event, having read its date."""
    lines = [line.split(" ", 2) for line in (folder / LOG).read_text().splitlines()]
    for day, clock, _ in lines:
        assert datetime.datetime.fromisoformat(f"{day} {clock}").tzinfo
    return [event.split(":")[0] for _, _, event in lines]


def test_run_and_its_resumption_are_logged(experiment_of, tmp_path):
    folder = tmp_path / "r"
    (tmp_path / "bad.py").write_text(BAD)
    work = plan_run([experiment_of(FAILS, allow_imports=True)], folder)
    summary = runner.run_plan(work)
    assert summary.failed == 4
    first = ["started", "to run", *["failed"] * summary.failed, "ended"]
    assert events(folder) == first
    text = (folder / LOG).read_text()
    assert all(message in text for message in summary.messages)
    assert "numpy" in text
    runner.run_plan(work)
    assert events(folder) == [*first, "started", "to run", "ended"]
    assert find_results_folders([tmp_path]) == [folder]
