"""Kernels with parameters in a configuration: polynomial[degree=2, bias=0.5]."""

import pytest

from rfbench.api import read_config
from rfbench.errors import ConfigError
from rfbench.experiment.context import Context
from rfbench.experiment.plan import plan_trials
from rfbench.experiment.trial import run_trial

OURS = {
    "dataset": "sphere", "rows": 60, "test_rows": 40, "M": 512, "samplers": ["rks"], "trials": 1,
    "solver": {"name": "ridge", "alphas": [0.1]}, "bandwidth": 2.0, "kernel_error_rows": 20,
}  # fmt: skip


def run_with(kernel, **changes):
    (trial,) = plan_trials(read_config(OURS | {"kernel": kernel} | changes))
    return trial, run_trial(trial, Context())


@pytest.mark.parametrize(
    ("kernel", "sampler"),
    [
        ("matern[nu=0.7]", "orf"),
        ("rational-quadratic[alpha=2]", "qmc"),
        ("polynomial[degree=2, bias=0.5]", "polynomial-sketch"),
        ("polynomial[degree=2, bias=0.5]", "maclaurin"),
        ("softmax", "maclaurin"),
    ],
)
def test_trial_uses_the_kernel_with_the_given_parameters(kernel, sampler):
    """The error is far below 1, which is the error of features for another kernel."""
    _, row = run_with(kernel, samplers=[sampler])
    assert (row["status"], row["kernel"]) == ("ok", kernel)
    assert row["kernel_error_frobenius"] < 0.35


def test_trial_identity_depends_on_the_kernel_parameters():
    ids = {run_with(f"matern[nu={nu}]")[0].id for nu in (0.5, 1.5)}
    assert len(ids) == 2


def test_kernel_ridge_uses_the_kernel_parameters():
    solver = {"name": "kernel-ridge", "alphas": [0.1]}
    first, second = (run_with(f"matern[nu={nu}]", solver=solver)[1] for nu in (0.5, 2.5))
    assert first["error"] != second["error"] or first["train_error"] != second["train_error"]


@pytest.mark.parametrize("kernel", ["matern[mu=1]", "polynomial[degree=x]"])
def test_wrong_kernel_parameter_is_rejected(kernel):
    with pytest.raises(ConfigError, match="kernel"):
        plan_trials(read_config(OURS | {"kernel": kernel}))


def test_dot_product_sampler_rejects_other_kernels():
    with pytest.raises(ConfigError, match="does not support the kernel 'matern'"):
        plan_trials(read_config(OURS | {"kernel": "matern", "samplers": ["maclaurin"]}))
