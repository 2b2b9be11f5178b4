"""Asking for all that an experiment names, before any of it is imported or called."""

from __future__ import annotations

from typing import Any

from rfbench import permissions, yamlfile
from rfbench.config.messages import raise_as_config_error
from rfbench.config.schema import Experiment
from rfbench.parameters import is_path


def check_permission(
    experiment: Experiment, document: yamlfile.Document, allow_imports: bool
) -> None:
    """Refuse code that nobody permitted, see `rfbench.permissions`; ConfigError names the line."""

    def check(path: tuple[Any, ...], code: str | None, parameters: dict[str, Any] | None) -> None:
        if code is not None:
            with raise_as_config_error(document, *path):
                permissions.check_permission(code, parameters, anything=allow_imports)

    for dataset in experiment.dataset:
        check(("dataset",), dataset.code, None)
    for position, sampler in enumerate(experiment.samplers):
        if sampler.given is None:  # the person who gives an object has run its code
            check(("samplers", position), sampler.code, sampler.parameters)
    check(("solver",), experiment.solver.code, experiment.solver.parameters)
    for path, kernel in (
        (("kernel",), experiment.kernel),
        *((("samplers", n), s.parameters.get("kernel")) for n, s in enumerate(experiment.samplers)),
        (("solver",), experiment.solver.parameters.get("kernel")),
    ):
        if is_path(kernel):
            check(path, kernel, None)
