import pytest

from rfbench import memory
from rfbench.compute.blocks import choose_block_rows


@pytest.fixture
def free(monkeypatch):
    """Set the memory that is free, in bytes."""

    def give(amount):
        monkeypatch.setattr("rfbench.compute.blocks.count_free_bytes", lambda: float(amount))

    give(2**40)
    return give


def test_block_sizes_fit_the_caches(free):
    assert choose_block_rows(100) == 5 * 2**17 // 800
    assert choose_block_rows(1000) == 384
    assert choose_block_rows(10_000) == 1024
    assert choose_block_rows(0) > 0


@pytest.mark.parametrize("itemsize", [4, 8])
@pytest.mark.parametrize("p", [1, 100, 1000, 5000])
def test_block_takes_at_most_one_sixteenth_of_the_memory(free, p, itemsize):
    for amount in (2**20, 2**24, 2**28, 2**32):
        free(amount)
        rows = choose_block_rows(p, itemsize)
        assert rows == 16 or 16 * rows * p * itemsize <= amount
        assert rows >= 16
    free(0)
    assert choose_block_rows(p, itemsize) == 16


def test_memory_limit_of_the_process_is_used():
    wanted = choose_block_rows(10_000)
    memory.limit_process_memory(1.0)
    try:
        assert choose_block_rows(10_000) == 16 < wanted
    finally:
        memory.limit_process_memory(None)
