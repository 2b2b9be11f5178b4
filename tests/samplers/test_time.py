"""All that a sampler's fit takes is time of its fit: none of it is booked to another clock."""

import numpy as np
import pytest

from rfbench.clock import Clock
from rfbench.registry import SAMPLERS
from rfbench.solvers import LogisticClassifier, SVMClassifier

X = np.random.default_rng(0).standard_normal((120, 4))
Y = X[:, 0] + np.sin(X[:, 1])


def clocks_entered(monkeypatch):
    """Return a list that every clock joins of which a part is entered."""
    entered, part = [], Clock.time_part

    def noted(clock, name):
        entered.append(clock)
        return part(clock, name)

    monkeypatch.setattr(Clock, "time_part", noted)
    return entered


@pytest.mark.parametrize("name", SAMPLERS)
def test_fit_does_not_start_its_own_clock(monkeypatch, name):
    sampler = SAMPLERS[name]
    entered = clocks_entered(monkeypatch)
    for form in sampler.declaration.forms:
        options = {"kernel": sampler.declaration.kernels[0], "random_state": 0, **form.options}
        sampler(**{"n_components": 12, **options}).fit(X, Y)
        assert not entered


@pytest.mark.parametrize(
    "solver",
    [
        LogisticClassifier(alphas=1e-3, selection="fixed"),
        SVMClassifier(alphas=1e-3, selection="fixed", loss="squared-hinge"),
    ],
)
def test_time_of_the_newton_solver_counts_on_the_clock_of_the_fit(monkeypatch, solver):
    features = SAMPLERS["rks"](12, random_state=0).fit(X)
    entered, clock = clocks_entered(monkeypatch), Clock()
    solver.fit(X, (Y > 0).astype(int), features=features, clock=clock)
    assert entered
    assert all(each is clock for each in entered)
