"""What is said of the machine and of the checkout."""

import os
import subprocess
from pathlib import Path

import pytest

from rfbench.experiment import environment


def test_asking_for_the_commit_writes_nothing_into_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A changed time of a file is what `git status` would write into the index, under a lock."""
    file = tmp_path / "rfbench" / "experiment" / "environment.py"
    file.parent.mkdir(parents=True)
    file.touch()
    user = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "."], [*user, "commit", "-q", "-m", "a"]):
        subprocess.run(["git", "-C", tmp_path, *words], check=True)
    os.utime(file, (1, 1))
    monkeypatch.setattr(environment, "__file__", str(file))
    index = (tmp_path / ".git" / "index").read_bytes()
    commit = environment.git_commit()
    assert commit is not None
    assert len(commit) == 40
    assert (tmp_path / ".git" / "index").read_bytes() == index
    file.write_text("changed")
    assert environment.git_commit() == f"{commit}+"
