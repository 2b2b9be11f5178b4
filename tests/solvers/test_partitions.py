"""One problem in parts: the fit is that of all rows at once, whoever does the parts."""

from functools import partial

import numpy as np
import pytest
from scipy import sparse

from rfbench.clock import PARTS, Clock
from rfbench.compute.partitions import in_tree, in_turn
from rfbench.errors import ExecutorError
from rfbench.experiment import clusters, remote
from rfbench.experiment.clusters import OnWorkers, do_part
from rfbench.samplers import RKS
from rfbench.solvers import RidgeClassifier, RidgeRegressor

rng = np.random.default_rng(3)
X = rng.standard_normal((317, 4))
Y = np.sin(X @ rng.standard_normal((4, 3))) + 100.0
LABELS = np.argmax(Y, axis=1)
FEATURES = RKS(30, bandwidth=1.5, random_state=1).fit(X, Y[:, 0])
HOW = {"alphas": [1e-3, 1.0], "random_state": 0}


def fitted(solver, y, rows=X, features=FEATURES, **keywords):
    return solver.fit(rows, y, features=features, **keywords)


@pytest.mark.parametrize("partitions", [1, 7, 1000])
@pytest.mark.parametrize("intercept", [True, False])
def test_of_a_regression(partitions, intercept):
    whole = fitted(RidgeRegressor(**HOW, intercept=intercept), Y)
    parts = fitted(RidgeRegressor(**HOW, intercept=intercept, partitions=partitions), Y)
    assert parts.alpha_ == whole.alpha_
    np.testing.assert_allclose(parts.selection_loss_, whole.selection_loss_, rtol=1e-10)
    np.testing.assert_allclose(parts.predict(X), whole.predict(X), rtol=1e-10)
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("multiclass", ["one-vs-rest", "one-vs-one"])
@pytest.mark.parametrize("rows", [X, sparse.csr_array(X)], ids=["dense", "sparse"])
def test_of_classes(multiclass, rows):
    whole, parts = (
        fitted(RidgeClassifier(**HOW, multiclass=multiclass, partitions=k), LABELS, rows)
        for k in (None, 5)
    )
    np.testing.assert_allclose(parts.decisions(rows), whole.decisions(rows), rtol=1e-9, atol=1e-9)
    assert parts.selection_loss_ == whole.selection_loss_


@pytest.fixture(scope="module")
def on_workers():
    """Three workers in this process."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=3, processes=False, protocol="tcp://", dashboard_address=":0"
    ) as cluster:
        yield OnWorkers(cluster.scheduler_address)


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_workers_change_no_bit_and_their_time_is_booked(on_workers):
    seen = []

    def here(calls, add):
        return in_tree((seen.append(1) or call() for call in calls), add)

    one = fitted(RidgeRegressor(**HOW, partitions=6), Y, add_up=here)
    assert len(seen) == 6
    clock = Clock()
    far = fitted(RidgeRegressor(**HOW, partitions=6), Y, add_up=on_workers, clock=clock)
    for name in ("coef_", "intercept_", "selection_loss_", "alpha_scale_free_"):
        assert np.array_equal(getattr(far, name), getattr(one, name))
    assert all(clock.cpu[part] > 0 for part in PARTS if part in ("features", "train"))


class Doubled:
    """Somebody's transformer, which cannot travel: a lambda."""

    def __init__(self):
        self.transform = lambda rows: np.hstack([rows, 2 * rows])


def test_a_transformer_that_cannot_travel_stays_here():
    far, near = (
        fitted(RidgeRegressor(1.0, partitions=3), Y, features=Doubled(), add_up=add_up)
        for add_up in (in_turn, lambda calls, add: 1 / 0)
    )
    assert np.array_equal(far.coef_, near.coef_)


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_the_asking_process_gets_one_value_and_all_are_added_in_the_tree(on_workers):
    parts = [partial(str, k) for k in range(5)]
    assert on_workers(parts, "({}{})".format) == "(((01)(23))4)"


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_another_version_does_no_part_and_no_scheduler_is_a_sentence(on_workers, monkeypatch):
    wanted = remote.versions() | {"numpy": "0"}
    with pytest.raises(ExecutorError, match="numpy"):
        do_part(wanted, 1, int)
    monkeypatch.setattr(clusters, "CONNECT_SECONDS", 0.01)
    with pytest.raises(ExecutorError, match="no dask scheduler"):
        OnWorkers("tcp://127.0.0.1:1")([int], max)
