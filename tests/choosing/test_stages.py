"""The search, with a landscape in the place of trials."""

import math

import numpy as np
import pandas as pd
import pytest

from rfbench.choosing import stages


class Landscape:
    """Stands for `stages.Runs`: the loss is a bowl around a bandwidth that shrinks with M.

    One worker; a fit takes `seconds` times M per bandwidth, or times what `slow` says of a method.
    """

    def __init__(self, clock, seconds=0.0, least=None, slow=None, broken=None):
        self.clock, self.cost, self.least, self.n_jobs = clock, seconds, least or {}, 1
        self.slow, self.broken, self.seen = slow or {}, broken or {}, []

    def experiment(self, label, M, *, bandwidth, solver):
        return label, M, bandwidth["cv"], solver["alphas"]

    def loss(self, label, M, bandwidth, alpha):
        bowl = np.log2(bandwidth / (0.05 + 4 / M)) ** 2 + np.log10(alpha / 1e-3) ** 2
        return self.least.get(label, 1.0) + 100 / M + bowl / 100

    def run(self, experiments, phase, deadline):
        rows = []
        for label, M, grid, alphas in experiments:
            if self.clock[0] >= deadline:
                break
            self.seen.append((label, M))
            took = self.cost * M * self.slow.get(label, 1.0) * (len(grid) + (len(grid) > 1))
            status = self.broken.get((label, M), "ok")
            if self.clock[0] + took > deadline:
                status, took = "timeout", deadline - self.clock[0]
            self.clock[0] += took
            loss, bandwidth, alpha = min(
                (self.loss(label, M, b, a), b, a) for b in grid for a in alphas
            )
            row = {"label": label, "M": M, "status": status, "message": ""}
            row["bandwidth_rule"] = "cv: " + ", ".join(map(str, grid))
            if status == "ok":
                row |= {"bandwidth": bandwidth, "alpha": alpha, "selection_loss": loss}
                row |= dict.fromkeys(stages.TIMES, took / 4)
            rows.append(row)
        return pd.DataFrame(rows)


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(stages.time, "monotonic", lambda: now[0])
    return now


def searched(land, n_train=5000, deadline=math.inf):
    found = stages.Search(land, n_train, deadline)
    found.go_on(land.run(found.first_stage(1.0), "search", deadline))
    return found


def test_the_grid_follows_the_best_bandwidth_beyond_its_first_ends(clock):
    found = searched(Landscape(clock))
    best = found.best()
    assert best["M"] == 5000
    assert found.stopped == "rows"
    ideal = 0.05 + 4 / 5000
    assert 0.5 < best["bandwidth"] / ideal < 2  # a fifth of the smallest at the first size
    assert best["alpha"] == pytest.approx(1e-3)


def test_fewer_methods_go_on_and_plain_features_always_do(clock):
    found = searched(Landscape(clock, least={"svd": 0.1, "orf": 0.2, "rks": 9.0}))
    at = found.rows.groupby("M")["label"].agg(set)
    assert [len(at[size]) for size in (50, 100, 200, 400, 800)] == [6, 6, 5, 4, 3]
    assert at[3200] == {"svd", "rks"}
    assert found.dropped == {}


def test_it_ends_where_the_loss_is_flat(clock):
    land = Landscape(clock)
    land.loss = lambda label, M, bandwidth, alpha: 1.0
    assert (searched(land).stopped, max(M for _, M in land.seen)) == ("flat", 200)


@pytest.mark.parametrize("status", ["timeout", "failed", "memory"])
def test_a_method_that_comes_to_no_end_is_dropped_and_the_others_go_on(clock, status):
    broken = {("svd", 50): status, ("orf", 200): status}
    land = Landscape(clock, least={"svd": 0.1, "orf": 0.2}, broken=broken)
    found = searched(land)
    assert found.dropped == {"svd": (50, status), "orf": (200, status)}
    assert found.stopped == "rows"
    assert max(M for label, M in land.seen if label == "svd") == 50
    assert max(M for label, M in land.seen if label == "orf") == 200
    assert found.rows["M"].max() == 5000


def test_plain_features_alone_go_on_where_all_others_fail(clock):
    broken = {(label, 50): "failed" for label in stages.METHODS if label != "rks"}
    found = searched(Landscape(clock, broken=broken))
    assert set(found.rows["label"]) == {"rks"}
    assert found.best()["M"] == 5000


def test_a_method_that_would_take_too_long_is_dropped_and_the_others_go_on(clock):
    land = Landscape(clock, 0.001, least={"svd": 0.1}, slow={"svd": 25.0})
    found = searched(land, deadline=45.0)
    assert found.dropped["svd"] == (400, "slow")
    assert found.rows["M"].max() >= 400
    assert clock[0] <= 45.0


@pytest.mark.parametrize(("slow", "last"), [(2.5, 200), (1.5, 400)])
def test_who_needs_twice_the_time_for_a_larger_loss_goes_no_further(clock, slow, last):
    least = {"svd": 1.001, "eerf": 2.0, "qmc": 2.0}  # svd is the third, of which 400 takes three
    land = Landscape(clock, 0.001, slow={"svd": slow})
    land.loss = lambda label, M, *_: least.get(label, 1.0) + 100 / M
    searched(land)
    assert max(M for label, M in land.seen if label == "svd") == last


def test_what_would_not_end_in_time_is_not_begun(clock):
    land = Landscape(clock, seconds=0.001)
    found = searched(land, deadline=40.0)
    assert found.stopped == "budget"
    # What is left does for no fit at one and a half times the size, and the check after it.
    M = found.best()["M"]
    assert 40.0 - 1.5 * M * 0.001 * (1 + stages.CHECK_FITS) < clock[0] <= 40.0
    assert M >= 800
    assert {"rks"} < set(found.rows["label"])


def test_nothing_is_affordable_but_the_first_rows(clock):
    found = searched(Landscape(clock, seconds=0.01), deadline=18.5)
    assert (found.stopped, set(found.rows["M"])) == ("budget", {50})


def test_few_rows_have_few_features(clock):
    land = Landscape(clock)
    assert searched(land, n_train=15).best()["M"] == 15
    assert {M for _, M in land.seen} == {15}
