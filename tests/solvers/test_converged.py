"""Whether a fit reached its tolerance is a fact of it, and noted."""

import numpy as np
import pytest

from rfbench import solvers
from rfbench.solvers.fits import LinearPath, join_columns

GENERATOR = np.random.default_rng(0)
X = GENERATOR.standard_normal((60, 4))
SIGNS = X[:, 0] + GENERATOR.standard_normal(60) > 0
CUT_SHORT = [
    ("logistic", {"max_iter": 1}),
    ("svm", {"max_iter": 1, "tol": 1e-10}),
    ("joint", {"max_iter": 1, "tol": 1e-10}),
]


@pytest.mark.parametrize(("name", "words"), CUT_SHORT, ids=str)
def test_a_fit_that_is_cut_short_did_not_converge(name, words):
    short = solvers.make(name, **words).fit(X, SIGNS)
    whole = solvers.make(name)
    assert short.converged_ is False
    assert short.notes_
    assert whole.fit(X, SIGNS).converged_ is True


def test_every_decision_column_has_to_converge():
    def path(*converged):
        a = len(converged)
        zeros = np.zeros((a, 1, 1))
        return LinearPath(
            zeros, intercepts=zeros[:, 0], notes=[[]] * a, converged=np.array(converged)
        )

    joined = join_columns([path(True, True, False), None, path(True, False, False)])
    assert joined.converged.tolist() == [True, False, False]


@pytest.mark.parametrize("name", ["ridge", "kernel-ridge"])
def test_a_closed_form_has_no_tolerance_to_reach(name):
    assert solvers.make(name).fit(X, SIGNS).converged_ is None
