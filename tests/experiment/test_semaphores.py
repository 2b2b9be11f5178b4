"""What killed runs leave in shared memory."""

import os
import subprocess
import sys

from rfbench.experiment import semaphores


def test_only_those_of_dead_owners_go(tmp_path, monkeypatch):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    left, own = f"sem.loky-{dead.pid}-a1b2", f"sem.loky-{os.getpid()}-c3_d4"
    others = [own, f"sem.other-{dead.pid}-x", f"loky-{dead.pid}-x", "sem.loky-x-y"]
    for name in (left, *others):
        (tmp_path / name).touch()
    assert semaphores.sweep(tmp_path) == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(others)
    (tmp_path / left).touch()
    with monkeypatch.context() as patch:
        patch.setattr(os, "getuid", lambda: -1)
        assert semaphores.sweep(tmp_path) == 0
    assert semaphores.sweep(tmp_path / "missing") == 0
    assert semaphores.sweep(tmp_path) == 1
