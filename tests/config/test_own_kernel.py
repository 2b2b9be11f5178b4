"""A kernel of one's own: `kernel: {class: mine.py:Mine}`, with permission, as any name of ours."""

from pathlib import Path

import pytest

from rfbench.api import read_config
from rfbench.errors import ConfigError
from rfbench.experiment.context import Context
from rfbench.experiment.plan import plan_trials
from rfbench.experiment.trial import run_trial

OURS = {
    "dataset": "sphere", "rows": 60, "test_rows": 40, "M": 10, "samplers": ["rks"], "trials": 1,
    "solver": {"name": "ridge", "alphas": [0.1]},
}  # fmt: skip
CLASS = {"class": "mine.py:Mine"}
CODE = "from rfbench.kernels import Gaussian\n\nclass Mine(Gaussian):\n    name = 'mine'\n"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(CODE)


def trial_of(kernel="gaussian", **changes):
    (trial,) = plan_trials(read_config(OURS | {"kernel": kernel} | changes, allow_imports=True))
    return trial


def test_kernel_class_gives_the_same_rows_as_the_named_kernel():
    own, named = (run_trial(trial, Context()) for trial in (trial_of(CLASS), trial_of()))
    assert own["status"] == named["status"] == "ok"
    assert (own["kernel"], named["kernel"]) == ("mine.py:Mine", "gaussian")
    for metric in ("error", "bandwidth", "relative_rmse"):
        assert own[metric] == named[metric]


def test_exact_solver_accepts_a_user_kernel():
    solver = {"name": "kernel-ridge", "alphas": [0.1]}
    errors = [
        run_trial(trial_of(k, solver=solver), Context())["error"] for k in (CLASS, "gaussian")
    ]
    assert errors[0] == errors[1]


def test_trial_identity_depends_on_the_code_of_a_user_kernel():
    own, named = trial_of(CLASS), trial_of()
    assert own.id != named.id
    assert own.code == "mine.py:Mine"
    assert named.code == ""
    before = own.id
    Path("mine.py").write_text(CODE + "# changed\n")
    assert trial_of(CLASS).id != before


@pytest.mark.parametrize(
    "changes",
    [
        {"kernel": CLASS},
        {"kernel": "mine.py:Mine"},
        {"samplers": [{"rks": {"kernel": "mine.py:Mine"}}]},
        {"solver": {"name": "kernel-ridge", "alphas": [0.1], "kernel": "mine.py:Mine"}},
    ],
)
def test_user_kernel_is_not_imported_without_permission(changes):
    Path("mine.py").write_text("raise RuntimeError('imported')")
    with pytest.raises(ConfigError, match=r"mine.py:Mine is not imported"):
        read_config(OURS | changes)


def test_invalid_kernel_is_rejected_with_one_sentence():
    Path("mine.py").write_text("class Mine:\n    pass\n")
    with pytest.raises(ConfigError, match="does not support the kernel"):
        read_config(OURS | {"kernel": CLASS}, allow_imports=True)
