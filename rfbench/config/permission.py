"""Asking for all that an experiment names, before any of it is imported or called."""

from __future__ import annotations

from typing import Any

from rfbench import permissions, yamlfile
from rfbench.config.messages import at
from rfbench.config.schema import Experiment


def check_permission(
    experiment: Experiment, document: yamlfile.Document, allow_imports: bool
) -> None:
    """Refuse code that nobody permitted, see `rfbench.permissions`; ConfigError names the line."""

    def check(path: tuple[Any, ...], code: str | None, parameters: dict[str, Any] | None) -> None:
        if code is not None:
            with at(document, *path):
                permissions.check_permission(
                    code, parameters, anything=allow_imports, asked=experiment.plugins
                )

    for dataset in experiment.dataset:
        check(("dataset",), dataset.code, None)
    for position, sampler in enumerate(experiment.samplers):
        check(("samplers", position), sampler.code, sampler.parameters)
    check(("solver",), experiment.solver.code, experiment.solver.parameters)
