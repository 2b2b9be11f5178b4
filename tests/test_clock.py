import time

import numpy as np
import pytest

from rfbench.clock import Clock
from rfbench.compute import gram


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


def test_repeated_timings_of_one_phase_are_summed(ticking):
    clock = Clock()
    for _ in range(3):
        with clock.time_part("train"):
            pass
    assert clock.wall == {"pp": 0, "features": 0, "train": 3, "test": 0}
    assert clock.cpu["train"] == 30


def test_inner_timing_pauses_the_outer_timing(ticking):
    outer, inner = Clock(), Clock()
    with outer.time_part("test"):
        with inner.time_part("features"):
            pass
        with outer.time_part("train"):
            pass
    assert inner.wall["features"] == 1
    assert outer.wall["train"] == 1
    assert outer.wall["test"] == 3
    outer.add(inner)
    assert sum(outer.wall.values()) == 5
    assert outer.cpu["features"] == 10


def test_inner_phase_without_a_clock_counts_toward_the_outer_phase(ticking):
    outer = Clock()
    with outer.time_part("pp"), Clock.time_part_of(None, "train"):
        pass
    assert outer.wall == {"pp": 1, "features": 0, "train": 0, "test": 0}
    with outer.time_part("pp"), Clock.time_part_of(outer, "train"):
        pass
    assert outer.wall["train"] == 1


def test_normal_equations_computed_by_a_sampler_count_as_fit_time(monkeypatch):
    """They were booked to a clock of their own that nobody read: half of varpro's fit was lost."""
    X = np.random.default_rng(0).standard_normal((300, 2))
    state = {"cpu": 0.0}
    monkeypatch.setattr(time, "process_time", lambda: state["cpu"])

    def slow(rows, out):
        state["cpu"] += 1.0
        out[:] = 1.0

    clock = Clock()
    with clock.time_part("pp"):
        gram.accumulate_normal_equations(slow, X, X[:, 0], 3)
    assert clock.cpu["pp"] == state["cpu"] > 0
    own = Clock()
    with clock.time_part("pp"):
        gram.accumulate_normal_equations(slow, X, X[:, 0], 3, clock=own)
    assert own.cpu["features"] == clock.cpu["pp"] == state["cpu"] / 2
