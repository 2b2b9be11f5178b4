"""The search, with a landscape in the place of trials."""

import time

import numpy as np
import pandas as pd
import pytest

from rfbench.choosing import stages

DEADLINE = 1e9 + time.monotonic()


class Landscape:
    """Stands for `stages.Runs`: the loss is a bowl around a bandwidth that shrinks with M."""

    def __init__(self, seconds=0.0, least=None):
        self.seen, self.seconds, self.least, self.n_jobs = [], seconds, least or {}, 1

    def experiment(self, label, M, *, bandwidth, solver):
        return label, M, bandwidth["cv"], solver["alphas"]

    def loss(self, label, M, bandwidth, alpha):
        bowl = np.log2(bandwidth / (0.05 + 4 / M)) ** 2 + np.log10(alpha / 1e-3) ** 2
        return self.least.get(label, 1.0) + 100 / M + bowl / 100

    def run(self, experiments, phase):
        rows = []
        for label, M, grid, alphas in experiments:
            self.seen.append((label, M))
            loss, bandwidth, alpha = min(
                (self.loss(label, M, b, a), b, a) for b in grid for a in alphas
            )
            rows.append(
                {"label": label, "M": M, "bandwidth": bandwidth, "alpha": alpha, "status": "ok",
                 "selection_loss": loss, **dict.fromkeys(stages.TIMES, self.seconds * M / 4)}
            )  # fmt: skip
        return pd.DataFrame(rows)


def searched(land, n_train=5000, deadline=DEADLINE):
    size = stages.first_size(n_train)
    first = land.run([stages.tuned(land, "rks", size, 1.0)], "search")
    return stages.search(land, first, 1.0, n_train, deadline)


def test_the_grid_follows_the_best_bandwidth_beyond_its_first_ends():
    land = Landscape()
    found = searched(land)
    best = found.best()
    assert best["M"] == 3200
    assert found.stopped == "rows"
    ideal = 0.05 + 4 / 3200
    assert 0.5 < best["bandwidth"] / ideal < 2  # a fifth of the smallest at the first size
    assert best["alpha"] == pytest.approx(1e-3)


def test_fewer_methods_go_on_and_plain_features_always_do():
    land = Landscape(least={"svd": 0.1, "orf": 0.2, "rks": 9.0})
    found = searched(land)
    at = found.rows.groupby("M")["label"].agg(set)
    assert [len(at[size]) for size in (50, 100, 200, 400, 800)] == [6, 6, 5, 4, 3]
    assert at[3200] == {"svd", "orf", "rks"}
    assert len(land.seen) == len(set(land.seen))


def test_it_ends_where_the_loss_is_flat():
    land = Landscape()
    land.loss = lambda label, M, bandwidth, alpha: 1.0
    assert (searched(land).stopped, max(M for _, M in land.seen)) == ("flat", 200)


def test_what_would_not_end_in_time_is_not_begun(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(stages.time, "monotonic", lambda: now[0])
    land = Landscape(seconds=0.01)
    plain = land.run

    def run(experiments, phase):
        now[0] += sum(0.01 * M for _, M, *_ in experiments)
        return plain(experiments, phase)

    land.run = run
    found = searched(land, deadline=60.0)
    assert found.stopped == "budget"
    assert now[0] <= 60.0
    assert found.best()["M"] >= 200
    assert {"rks"} < set(found.rows["label"])


def test_nothing_is_affordable_but_the_first_row():
    found = searched(Landscape(seconds=1.0), deadline=time.monotonic())
    assert (found.stopped, len(found.rows)) == ("budget", 1)


def test_few_rows_have_few_features():
    land = Landscape()
    assert searched(land, n_train=15).best()["M"] == 15
    assert {M for _, M in land.seen} == {15}
