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
    task = "regression" if prepared.labels_train is None else "classification"
    solver = solver_class(experiment.solver.name, task)(experiment.solver.alphas[0])
    filled = [SimpleImputer()] if trial.dataset.entry.fills_gaps else []
    scaler = [StandardScaler()] if experiment.scaling == "standard" else []
    return make_pipeline(*filled, *scaler, sampler, solver)


def code_of(pipeline: Pipeline, spec: DatasetSpec, rows: Path, metric: str) -> str:
    """Return Python that builds the pipeline, fits it and prints its error on the test rows."""
    steps = [f"    {_built(step)},\n" for _, step in pipeline.steps]
    score = {
        "error": "100 * np.mean(model.predict(X[test]) != y[test])",
        "rmse": "np.sqrt(np.mean((model.predict(X[test]) - y[test]) ** 2))",
    }
    names = [type(step).__name__ for _, step in pipeline.steps]
    imports = {"StandardScaler": "preprocessing", "SimpleImputer": "impute"}
    scaled = "".join(f"from sklearn.{imports[n]} import {n}\n" for n in names if n in imports)
    parameters = f", parameters={spec.parameters!r}" if spec.parameters else ""
    return (
        "import numpy as np\n"
        "from sklearn.pipeline import make_pipeline\n"
        f"{scaled}"
        "from rfbench import datasets, samplers, solvers\n\n"
        f"data = datasets.load({spec.name!r}{parameters})\n"
        f"X, y, rows = data.X, data.y, np.load({str(rows)!r})\n"
        "train, test = rows['train'], rows['test']\n"
        f"model = make_pipeline(\n{''.join(steps)})\n"
        "model.fit(X[train], y[train])\n"
        f"print({score[metric]})\n"
    )


def _built(step: Any) -> str:
    """Return the call that makes an estimator, with the parameters that are not the defaults."""
    from sklearn.utils._pprint import _changed_params  # what its own repr prints

    given = ", ".join(f"{name}={_plain(value)!r}" for name, value in _changed_params(step).items())
    module = type(step).__module__.split(".")
    room = f"{module[1]}." if module[0] == "rfbench" else ""
    return f"{room}{type(step).__name__}({given})"


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
