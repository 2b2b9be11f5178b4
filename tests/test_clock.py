import time

import pytest

from rfbench.clock import PARTS, Clock


@pytest.fixture
def ticking(monkeypatch):
    """Make every look at the clocks a step: 1 s of wall time, 10 s of CPU time."""
    state = {"wall": 0.0, "cpu": 0.0}

    def step(which, size):
        def look():
            state[which] += size
            return state[which]

        return look

    monkeypatch.setattr(time, "perf_counter", step("wall", 1.0))
    monkeypatch.setattr(time, "process_time", step("cpu", 10.0))


def test_parts_add_up(ticking):
    clock = Clock()
    for _ in range(3):
        with clock.part("train"):
            pass
    assert clock.wall == {"pp": 0, "features": 0, "train": 3, "test": 0}
    assert clock.cpu["train"] == 30


def test_an_inner_part_pauses_the_outer_one(ticking):
    outer, inner = Clock(), Clock()
    with outer.part("test"):
        with inner.part("features"):
            pass
        with outer.part("train"):
            pass
    assert inner.wall["features"] == 1
    assert outer.wall["train"] == 1
    assert outer.wall["test"] == 3
    outer.charge(inner)
    assert sum(outer.wall.values()) == 5
    assert outer.cpu["features"] == 10


def test_an_exception_ends_the_part(ticking):
    clock = Clock()
    with pytest.raises(ValueError, match="x"), clock.part("pp"):
        raise ValueError("x")
    assert clock.wall["pp"] == 1
    with clock.part("test"):
        pass
    assert clock.wall["pp"] == 1
    assert set(clock.wall) == set(PARTS)


def test_a_stopped_clock_books_nothing_whoever_asks(ticking):
    outer, inner = Clock(), Clock()
    with outer.part("train"), Clock.stopped():
        with inner.part("features"), outer.part("test"):
            pass
        with Clock.stopped(), inner.part("train"):
            pass
    assert set(inner.wall.values()) == {0}
    assert outer.wall == {"pp": 0, "features": 0, "train": 2, "test": 0}
    with pytest.raises(ValueError, match="x"), Clock.stopped():
        raise ValueError("x")
    with inner.part("train"):
        pass
    assert inner.wall["train"] == 1
