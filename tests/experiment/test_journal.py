"""The journal of a job, and the signals that stop a run."""

import os
import signal
import threading

import pytest

from rfbench.experiment import interrupts
from rfbench.experiment.journal import Journal, leftovers


def test_a_journal_that_a_trial_closed_goes_on_and_says_so(tmp_path):
    journal = Journal(tmp_path, "a")
    journal.begin("a")
    assert not journal.was_closed
    os.close(journal._descriptor)
    journal.add({"trial_id": "a"})
    journal.begin("b")
    journal.close()
    assert journal.was_closed
    assert journal.read() == ([{"trial_id": "a"}], "b")


def test_a_trace_without_a_line_is_left_over_too(tmp_path):
    journal = Journal(tmp_path, "a")
    journal.trace.parent.mkdir()
    journal.trace.touch()
    (found,) = leftovers(tmp_path)
    found.remove()
    assert list(journal.trace.parent.iterdir()) == []


def test_a_second_signal_while_the_first_is_handled_stops_at_once(monkeypatch):
    class Interrupted(threading.Event):
        def set(self):
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(threading, "Event", Interrupted)
    with interrupts.interrupts() as (stopping, _), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    assert not stopping.is_set()
