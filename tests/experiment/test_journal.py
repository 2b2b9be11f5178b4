"""The journal of a job, and the signals that stop a run."""

import json
import os
import signal
import threading

import pytest

from rfbench.experiment import interrupts
from rfbench.experiment.journal import EXTRAS, Journal, leftovers
from rfbench.results.store import Store


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
    assert journal.changed == 0


ROW = {
    **{"trial_id": "a", "M": 8, "error": 0.1 + 0.2, "intercept": True, "status": "ok"},
    **{"message": 'é, "x"', "traceback": "Error:\n at", "kept_features": [{"w1": 0.1}]},
}


def test_a_row_comes_back_with_its_types_and_what_comes_with_it(tmp_path):
    journal = Journal(tmp_path, "a")
    journal.add(ROW)
    journal.close()
    assert journal.read() == ([ROW], None)
    store = Store(tmp_path)
    store.append({name: value for name, value in ROW.items() if name not in EXTRAS})
    line = store.csv.read_bytes().splitlines()[1].decode()
    assert json.loads(journal.path.read_bytes())["row"] == line


def test_a_row_is_forced_to_the_disk_and_a_start_is_not(tmp_path, monkeypatch):
    journal, forced = Journal(tmp_path, "a"), []

    def fsync(descriptor):
        forced.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        assert '"row"' in journal.path.read_text().splitlines()[-1]

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fsync)
        journal.begin("a")
        assert forced == []
        journal.add({"trial_id": "a"})
    journal.close()
    assert forced == [str(journal.path)]


def test_every_changed_byte_of_a_journal_is_found(tmp_path):
    journal = Journal(tmp_path, "a")
    journal.add(ROW)
    journal.begin("b")
    journal.close()
    whole = journal.path.read_bytes()
    for place in range(len(whole)):
        for bit in (1, 16, 128):
            journal.path.write_bytes(
                whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :]
            )
            rows, started = journal.read()
            assert rows in ([], [ROW])
            assert started in (None, "b")
            assert journal.changed or (rows, started) == ([ROW], "b")


def test_a_journal_of_an_earlier_version_has_no_rows(tmp_path):
    journal = Journal(tmp_path, "a")
    journal.path.parent.mkdir()
    journal.path.write_text('{"started": "a"}\n{"row": {"trial_id": "a", "status": "ok"}}\n')
    assert journal.read() == ([], None)
    assert journal.changed == 2


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
