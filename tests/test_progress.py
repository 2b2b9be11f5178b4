"""What is said of a run while it goes on, in a pipe."""

import pytest

from rfbench.cli import progress

ROW = {"dataset": "eeg", "label": "orf", "M": 50, "trial": 3, "status": "ok"}


def test_progress_line_names_the_last_setting_and_counts_failures(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "PLAIN_SECONDS", -1.0)
    with progress.show_progress("tiny", 4, 0) as ended:
        capsys.readouterr()
        ended(ROW | {"status": "failed"})
        ended(ROW | {"M": None})
        first, second = capsys.readouterr().err.splitlines()
    assert progress.describe_trial_briefly(ROW) in first
    assert all(word in progress.describe_trial_briefly(ROW) for word in ("eeg", "orf", "50", "3"))
    assert "1/4" in first
    assert "2/4" in second
    assert "1 failed" in second


class Timers:
    """Stand-in for threading.Timer: the test decides when ten seconds have passed."""

    def __init__(self, seconds, function):
        self.function, self.cancelled = function, False
        Timers.last = self

    def start(self):
        self.started = True

    def cancel(self):
        self.cancelled = True


def test_slow_first_trial_is_reported(monkeypatch, capsys):
    monkeypatch.setattr(progress.threading, "Timer", Timers)
    with progress.show_progress("tiny", 4, 0, first=progress.describe_trial_briefly(ROW)) as ended:
        capsys.readouterr()
        Timers.last.function()  # ten seconds are over
        assert not Timers.last.cancelled
        message = capsys.readouterr().err
        assert "no trial has finished" in message
        assert progress.describe_trial_briefly(ROW) in message
        ended(ROW)
        assert Timers.last.cancelled


def test_progress_without_trials_starts_no_timer(monkeypatch):
    monkeypatch.setattr(progress.threading, "Timer", Timers)
    with progress.show_progress("tiny", 0, 4):
        assert not hasattr(Timers.last, "started")
