"""What a worker may use."""

import psutil
import pytest

from rfbench import platforms
from rfbench.errors import ConfigError
from rfbench.experiment.worker import compute_memory_share

GIB = 2**30


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    memory = type("Memory", (), {"total": 16 * GIB, "available": 8 * GIB})
    monkeypatch.setattr(psutil, "virtual_memory", lambda: memory)
    monkeypatch.setattr(platforms, "read_system_file", lambda path: "")


@pytest.mark.parametrize(
    ("text", "share"),
    [("50%", 2 * GIB), ("100%", 4 * GIB), ("6", 3 * GIB), ("6GiB", 3 * GIB), ("16", 8 * GIB)],
)
def test_workers_share_memory_equally(text, share):
    workers = 2
    assert compute_memory_share(text, workers) == share


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("150%", "not a valid amount for 2 workers"),
        ("17", "has 16.0 GiB"),
        ("lots", "not a valid amount"),
        ("-5%", "not a valid amount"),
        ("0.5", "each worker needs 400 MiB"),
    ],
)
def test_unavailable_memory_limit_is_rejected(text, said):
    with pytest.raises(ConfigError, match=said):
        compute_memory_share(text, 2)
