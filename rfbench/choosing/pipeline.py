"""The pipeline that was chosen, as an object and as ten lines of Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from rfbench.config import DatasetSpec, sampler_of
from rfbench.datasets import Prepared
from rfbench.experiment.plan import Trial
from rfbench.experiment.seeds import integer_for
from rfbench.solvers import solver_class


def pipeline_of(trial: Trial, prepared: Prepared) -> Pipeline:
    """Return the unfitted pipeline of scikit-learn that does what a trial does."""
    experiment = trial.experiment
    assert trial.M is not None
    sampler = sampler_of(
        experiment,
        trial.sampler,
        M=trial.M,
        d=prepared.X_train.shape[1],
        n=prepared.X_train.shape[0],
        random_state=integer_for(experiment.seed, "features", trial.number),
    )
    task = "regression" if prepared.task == "regression" else "classification"
    solver = solver_class(experiment.solver.name, task)(experiment.solver.alphas[0])
    filled = [SimpleImputer()] if trial.dataset.entry.fills_gaps else []
    scaler = [StandardScaler()] if experiment.scaling == "standard" else []
    return make_pipeline(*filled, *scaler, sampler, solver)


def code_of(pipeline: Pipeline, spec: DatasetSpec, rows: Path, metric: str) -> str:
    """Return Python that builds the pipeline, fits it and prints its error on the test rows."""
    score = {
        "error": "100 * np.mean(model.predict(data.X[test]) != data.y[test])",
        "rmse": "np.sqrt(np.mean((model.predict(data.X[test]) - data.y[test]) ** 2))",
    }
    classes = {type(step) for _, step in pipeline.steps}
    homes = {c: ".".join(c.__module__.split(".")[:2]) for c in classes}
    imports = [f"from {home} import {c.__name__}\n" for c, home in homes.items()]
    steps = ", ".join(_built(step) for _, step in pipeline.steps)
    parameters = f", parameters={spec.parameters!r}" if spec.parameters else ""
    return (
        "import numpy as np\n"
        f"{''.join(sorted(imports))}"
        "from rfbench import datasets\n"
        "from sklearn.pipeline import make_pipeline\n"
        f"data, rows = datasets.load({spec.name!r}{parameters}), np.load({str(rows)!r})\n"
        "train, test = rows['train'], rows['test']\n"
        f"model = make_pipeline({steps}).fit(data.X[train], data.y[train])\n"
        f"print({score[metric]})\n"
    )


def _built(step: Any) -> str:
    """Return the call that makes an estimator, with the parameters that are not the defaults."""
    from sklearn.utils._pprint import _changed_params  # what its own repr prints

    given = ", ".join(f"{name}={_plain(value)!r}" for name, value in _changed_params(step).items())
    return f"{type(step).__name__}({given})"


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
