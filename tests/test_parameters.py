"""The parameters of every method are checked when it is built, before any data."""

import inspect
from functools import partial

import numpy as np
import pytest
from sklearn.decomposition import PCA

from rfbench import samplers, solvers
from rfbench.errors import MethodError
from rfbench.parameters import build_foreign, estimator, number, one_of, parameter
from rfbench.registry import SAMPLERS, SOLVERS

MAKERS = [
    pytest.param(cls, partial(solvers.make, name, task), id=f"{name}-{task}")
    for name, tasks in SOLVERS.items()
    for task, cls in tasks.items()
] + [pytest.param(cls, partial(samplers.make, name), id=name) for name, cls in SAMPLERS.items()]


def parameters_of(cls):
    return [word for word in inspect.signature(cls.__init__).parameters if word != "self"]


@pytest.mark.parametrize("value", [{}, {"a": 1}, [None], "no such word"])
@pytest.mark.parametrize(("cls", "make"), MAKERS)
def test_no_parameter_takes_anything(cls, make, value):
    for word in parameters_of(cls):
        with pytest.raises(MethodError) as caught:
            make(**{word: value})
        assert word in caught.value.what


@pytest.mark.parametrize(("cls", "make"), MAKERS)
def test_the_defaults_and_numbers_of_numpy_are_taken(cls, make):
    make(random_state=np.int64(3))
    if "max_iter" in parameters_of(cls):
        make(max_iter=np.int64(3), tol=np.float32(0.1))


@pytest.mark.parametrize(
    ("name", "word", "wrong"),
    [
        (name, word, value)
        for name, words in {
            "logistic": ("max_iter", "tol", "intercept"),
            "svm": ("max_iter", "tol", "intercept_scaling", "intercept"),
            "constrained": ("max_iter", "tol", "normalised", "intercept"),
            "kernel-svm": ("cache_mb", "tol", "memory_gib", "bandwidth"),
            "kernel-ridge": ("memory_gib", "bandwidth", "intercept"),
            "joint": ("max_iter", "tol", "rho", "normalised"),
        }.items()
        for word in words
        for value in (-1, 0, float("nan"), float("inf"))
    ]
    + [
        ("kernel-svm", "max_iter", 0),
        ("kernel-svm", "max_iter", -2),
        ("svm", "max_iter", 2.5),
        ("svm", "max_iter", True),
        ("svm", "random_state", -1),
        ("ridge", "alphas", True),
        ("ridge", "alphas", []),
    ],
)
def test_a_number_out_of_its_range_is_refused(name, word, wrong):
    with pytest.raises(MethodError) as caught:
        solvers.make(name, **{word: wrong})
    assert word in caught.value.what


def test_an_estimator_of_scikit_learn_is_checked_by_its_own_rules():
    assert build_foreign(PCA, "mine", {"n_components": 2}).n_components == 2
    with pytest.raises(MethodError, match="svd_solver"):
        build_foreign(PCA, "mine", {"svd_solver": {}})


@estimator
class Stretched(samplers.RKS):
    stretch: float = parameter(1.0, number(above=0))
    how: str | bool = parameter("wide", one_of("wide", "narrow", True))


class ByHand(samplers.RKS):
    def __init__(self, n_components=100, *, stretch=1.0, bandwidth="median"):
        super().__init__(n_components, bandwidth=bandwidth)
        self.stretch = stretch


def test_a_subclass_states_its_own_parameters_alone():
    assert parameters_of(Stretched)[0] == "n_components"
    assert {*parameters_of(samplers.RKS), "stretch", "how"} == {*parameters_of(Stretched)}
    Stretched(5, stretch=2.0, how=True).check_parameters()
    for word, wrong in (("stretch", 0), ("how", 1), ("how", "wid"), ("bandwidth", -1.0)):
        with pytest.raises(MethodError, match=f"^{word} is {wrong!r}"):
            Stretched(5, **{word: wrong}).check_parameters()


def test_a_constructor_written_by_hand_serves_as_well():
    rows = np.random.default_rng(0).standard_normal((20, 3))
    assert ByHand(5, stretch=2.0, bandwidth=1.0).fit(rows).transform(rows).shape == (20, 5)
    with pytest.raises(MethodError, match="^n_components is 0"):
        ByHand(0).check_parameters()
