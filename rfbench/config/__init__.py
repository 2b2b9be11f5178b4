"""The configuration: its schema, and the messages when it is wrong."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from rfbench import yamlfile
from rfbench.config.build import sampler_of, solver_of
from rfbench.config.combinations import check_combinations
from rfbench.config.expressions import resolve_parameters
from rfbench.config.messages import explain, where
from rfbench.config.overrides import override
from rfbench.config.schema import (
    ISOLATED,
    NO_SOLVER,
    SHARED,
    DatasetSpec,
    Experiment,
    KeptBy,
    SamplerSpec,
    SolverSpec,
    keeps_published_split,
)
from rfbench.errors import ConfigError, RfbenchError

FOLDER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+=-]*")

__all__ = [
    "ISOLATED",
    "NO_SOLVER",
    "SHARED",
    "DatasetSpec",
    "Experiment",
    "KeptBy",
    "SamplerSpec",
    "SolverSpec",
    "from_document",
    "keeps_published_split",
    "read",
    "resolve_parameters",
    "sampler_of",
    "solver_of",
]


def read(path: Path, overrides: Sequence[str] = (), *, allow_imports: bool = False) -> Experiment:
    """Read and check a configuration file.

    Parameters
    ----------
    path : Path
    overrides : sequence of str
        ``key.path=value`` each, as given to ``--set``; they win over the file.
    allow_imports : bool
        Let the configuration import any class, see `rfbench.plugins.check_allowed`.

    Raises
    ------
    ConfigError
        Naming the file, the line, what is allowed and the nearest right word.
    """
    document = yamlfile.load(path)
    name = path.name.removesuffix(".yaml").removesuffix(".yml")
    for text in overrides:
        override(document, text)
    return from_document(document, name, allow_imports=allow_imports)


def from_document(
    document: yamlfile.Document, name: str, *, allow_imports: bool = False
) -> Experiment:
    """Check a document; see `read`."""
    if not FOLDER_NAME.fullmatch(name):
        raise ConfigError(
            f"The name '{name}' cannot be the name of a results folder.",
            "It may have letters, digits and . _ + = - in it.",
            "Rename the configuration file.",
        )
    value = dict(document.value)
    if "name" in value:
        raise ConfigError(
            f"{where(document, ('name',))}: the name is the file's own name.",
            "",
            "Take the key `name` out, or use `title`.",
        )
    try:
        experiment = Experiment.model_validate({"name": name, **value})
    except ValidationError as error:
        raise ConfigError(explain(error, document)) from None
    except RfbenchError as error:
        raise ConfigError(f"{document.source}: {error}") from None
    for spec in (*experiment.samplers, experiment.solver):
        if spec.imported:
            spec.came_from(Path(document.source).parent.absolute())
    check_combinations(experiment, document, allow_imports)
    return experiment
