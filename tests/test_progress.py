"""What is said of a run while it goes on, in a pipe."""

import pytest

from rfbench.cli import progress

ROW = {"dataset": "eeg", "label": "orf", "M": 50, "trial": 3, "status": "ok"}


def test_a_line_names_the_last_cell_and_counts_the_failures(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "PLAIN_SECONDS", -1.0)
    with progress.progress("tiny", 4, 0) as ended:
        capsys.readouterr()
        ended(ROW | {"status": "failed"})
        ended(ROW | {"M": None})
        first, second = capsys.readouterr().err.splitlines()
    assert progress.cell(ROW) in first
    assert all(word in progress.cell(ROW) for word in ("eeg", "orf", "50", "3"))
    assert "1/4" in first
    assert "2/4" in second
    assert "1 failed" in second
