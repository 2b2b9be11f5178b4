"""The parameters of every method are checked when it is built, before any data."""

import inspect
from functools import partial

import numpy as np
import pytest
from sklearn.decomposition import PCA

from rfbench import samplers, solvers
from rfbench.errors import MethodError
from rfbench.parameters import build_checked_object, estimator, number, one_of, parameter
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
def test_each_parameter_rejects_invalid_values(cls, make, value):
    for word in parameters_of(cls):
        with pytest.raises(MethodError) as caught:
            make(**{word: value})
        assert word in caught.value.what


@pytest.mark.parametrize(("cls", "make"), MAKERS)
def test_defaults_and_numpy_numbers_are_accepted(cls, make):
    make(random_state=np.int64(3))
    if "max_iter" in parameters_of(cls):
        make(max_iter=np.int64(3), tol=np.float32(0.1))


NAN, INF = float("nan"), float("inf")
POSITIVE = (0, -1, NAN, INF)
OUT_OF_RANGE = {
    "rks": {
        "n_components": (0, -3, 2.5, True),
        "bandwidth": POSITIVE,
        "penalty_divisor": (*POSITIVE, True),
        "random_state": (-1, True),
    },
    "eerf": {"pool_size": (0,), "score_rows": (0, 1.5, True)},
    "lkrf": {"rho": (-1.0, NAN), "penalty": (0.0, "validated")},
    "greedy": {"center_target": (2,)},
    "leverage-rff": {"alpha": (0.0,), "pool_size": (0,), "score_rows": (1.5,)},
    "surrogate-leverage": {"equation": (13,), "score_rows": (1.5,)},
    "nystroem": {"landmarks": ("k-means",)},
    "tefm-g": {"power": (1,), "base_size": (0,)},
    "swim": {"pairs_per_row": (0,), "target_norm": ("l1",)},
    "rfm-rff": {"rounds": (0,), "metric": ("none",)},
    "varpro": {"iterations": (0,), "patience": (0,), "alpha": POSITIVE},
    "positive": {"base": ("qmc",)},
    "ses": {"penalty": (0.1,), "pairs_per_feature": (0,)},
    "ridge": {"alphas": (-1.0, True, []), "selection": ("cv1",)},
    "logistic": {"max_iter": POSITIVE, "tol": POSITIVE, "intercept": (-1, 0)},
    "svm": {"max_iter": (*POSITIVE, 2.5, True), "tol": POSITIVE},
    "kernel-ridge": {"bandwidth": (*POSITIVE, "knn5")},
    "joint": {"max_iter": POSITIVE, "tol": POSITIVE, "rho": POSITIVE},
}


@pytest.mark.parametrize("name", OUT_OF_RANGE)
def test_value_out_of_range_is_rejected(name):
    make = samplers.make if name in SAMPLERS else solvers.make
    for word, values in OUT_OF_RANGE[name].items():
        for value in values:
            with pytest.raises(MethodError, match=f"^{word} is "):
                make(name, **{word: value})


@pytest.mark.parametrize(
    ("name", "size", "words"),
    [
        *((name, "pool_size", {}) for name in ("eerf", "lkrf", "greedy", "uniform-pool")),
        *((name, "base_size", {}) for name in ("svd", "tefm-g", "tefm-s", "comp")),
    ],
)
def test_pool_smaller_than_the_number_of_features_is_rejected(name, size, words):
    samplers.make(name, n_components=100, **{size: 100}, **words)
    with pytest.raises(MethodError, match="99"):
        samplers.make(name, n_components=100, **{size: 99}, **words)


@pytest.mark.parametrize(
    ("name", "words", "sentence"),
    [
        ("ridge", {"multiclas": 1}, "Did you mean 'multiclass'"),
        ("ridge", {"multiclass": "one-vs-on"}, "Did you mean 'one-vs-one'"),
        ("logistic", {"alphas": 0.0}, "penalties above 0"),
        ("kernel-svm", {"intercept": False}, "cannot be fitted without an intercept"),
        ("svm", {"loss": "hinge"}, "^loss is 'hinge'. The value has to be squared-hinge"),
        ("svm", {"task": "regression"}, "does not support regression"),
    ],
)
def test_unsupported_solver_parameter_is_rejected(name, words, sentence):
    with pytest.raises(MethodError, match=sentence):
        solvers.make(name, **words)


def test_scikit_learn_estimator_is_checked_by_its_own_rules():
    assert build_checked_object(PCA, "mine", {"n_components": 2}).n_components == 2
    with pytest.raises(MethodError, match="svd_solver"):
        build_checked_object(PCA, "mine", {"svd_solver": {}})


@estimator
class Stretched(samplers.RKS):
    stretch: float = parameter(1.0, number(above=0))
    how: str | bool = parameter("wide", one_of("wide", "narrow", True))


def test_subclass_inherits_parameter_checks_of_its_base_class():
    assert parameters_of(Stretched)[0] == "n_components"
    assert {*parameters_of(samplers.RKS), "stretch", "how"} == {*parameters_of(Stretched)}
    Stretched(5, stretch=2.0, how=True).check_parameters()
    for word, wrong in (("stretch", 0), ("how", 1), ("how", "wid"), ("bandwidth", -1.0)):
        with pytest.raises(MethodError, match=f"^{word} is {wrong!r}"):
            Stretched(5, **{word: wrong}).check_parameters()
