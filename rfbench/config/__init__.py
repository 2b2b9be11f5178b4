"""Reading and checking of configuration files, with error messages that contain the line.

The schema is imported when the first run is checked, because its import of scikit-learn needs a
second. Commands that only list names do not need the schema.
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rfbench import aliases, permissions, shipped, yamlfile
from rfbench.config import matrix
from rfbench.config.messages import explain_validation_error, format_location, raise_as_config_error
from rfbench.config.overrides import apply_override
from rfbench.errors import ConfigError, ResultsError, RfbenchError, make_unknown_error

if TYPE_CHECKING:
    from rfbench.config.schema import Experiment

FOLDER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+=-]*")


def read_runs(
    path: Path,
    overrides: Sequence[str] = (),
    *,
    only: Sequence[str] = (),
    allow_imports: bool = False,
) -> list[Experiment]:
    """Read and check the runs (experiments) that a configuration file contains.

    `only` contains the names of the runs to read. By default, all runs are read. `overrides` are
    strings ``key.path=value`` as in ``--set``, and replace values of the file. With
    `allow_imports`, a configuration may import any class or function. Raise ConfigError for an
    invalid configuration. The message contains the line, the allowed values and the nearest valid
    name.
    """
    runs = read_run_documents(path, overrides)
    chosen = dict(choose_run(path, runs, name) for name in only) if only else runs
    return [
        build_experiment(run, name, allow_imports=allow_imports) for name, run in chosen.items()
    ]


def read_run_documents(path: Path, overrides: Sequence[str] = ()) -> dict[str, yamlfile.Document]:
    """Read a configuration file, and return its runs by name, without checking them.

    The path may be the name of a configuration shipped with rfbench.
    """
    return make_run_documents(
        yamlfile.load_yaml(shipped.locate_configuration(path)), _stem(path), overrides
    )


def make_run_documents(
    document: yamlfile.Document, stem: str, overrides: Sequence[str] = ()
) -> dict[str, yamlfile.Document]:
    """Return the runs that a parsed configuration file contains, by name, without checking them.

    `stem` is the name of the file without the suffix. `overrides` are strings ``key.path=value``,
    and replace values of each run.
    """
    runs = matrix.expand_run_matrix(document, stem)
    for document in runs.values():
        for text in overrides:
            apply_override(document, text)
    return runs


def choose_run(
    path: Path, found: Mapping[str, yamlfile.Document], name: str = ""
) -> tuple[str, yamlfile.Document]:
    """Return the full name and the content of one run of a configuration file.

    `found` contains all runs of the file by name. `name` may omit the leading name of the file. By
    default, the only run of the file is returned. Raise ConfigError if there is no such run.
    """
    stem = _stem(path)
    for full in (name, f"{stem}_{name}", f"{stem}.{name}"):
        if full in found:
            return full, found[full]
    if not name and len(found) == 1:
        return next(iter(found.items()))
    names = [shorten_run_name(path, full) for full in found]
    if name:
        raise make_unknown_error(f"run of {path} called", name, names, ConfigError)
    raise ConfigError(
        f"{path} has several runs: {', '.join(names)}.",
        "",
        f"Name one run, for example --run {names[0]}.",
    )


def shorten_run_name(path: Path, name: str) -> str:
    """Return the name of a run without the leading name of its configuration file."""
    return name.removeprefix(_stem(path))[1:] or name


def _stem(path: Path) -> str:
    return path.name.removesuffix(".yaml").removesuffix(".yml")


def build_experiment(
    document: yamlfile.Document,
    name: str,
    *,
    allow_imports: bool = False,
    combinations: bool = True,
) -> Experiment:
    """Check the configuration of one run, and return it as an experiment.

    Raise ConfigError if the configuration is invalid. If `combinations` is False, no data are read
    and no method is built, which is sufficient for runs that were checked before.
    """
    from pydantic import ValidationError

    from rfbench.config.schema import Experiment

    if not FOLDER_NAME.fullmatch(name):
        raise ConfigError(
            f"'{name}' cannot be the name of a results folder.",
            "A name may contain letters, digits and . _ + = -.",
            "Rename the configuration file.",
        )
    value = dict(document.value)
    if "name" in value:
        raise ConfigError(
            f"{format_location(document, ('name',))}: the name of a run is always the "
            "name of its file.",
            todo="Remove the key `name`, or use `title`.",
        )
    try:
        experiment = Experiment.model_validate({"name": name, **value})
    except ValidationError as error:
        raise ConfigError(explain_validation_error(error, document)) from None
    except RfbenchError as error:
        raise ConfigError(f"{document.source}: {error}") from None
    experiment.changed_settings.extend(_list_changes(document))
    _check_permission(experiment, document, allow_imports)
    for spec in (*experiment.dataset, *experiment.samplers, experiment.solver):
        spec.set_folder(Path(document.source).parent.absolute())
    if combinations:
        from rfbench.config.combinations import check_combinations

        check_combinations(experiment, document)
    return experiment


def _list_changes(document: yamlfile.Document) -> Iterator[str]:
    for path, place in document.places.items():
        if path and place.startswith("--set ") and path != ("trials",):
            value = functools.reduce(operator.getitem, path, document.value)
            yield f"{aliases.resolve_path(place.removeprefix('--set '))} = {value}"


def _check_permission(
    experiment: Experiment, document: yamlfile.Document, allow_imports: bool
) -> None:
    """Raise ConfigError if a run imports code that is not permitted. The message has the line."""
    from rfbench.parameters import is_path

    def check(path: tuple[Any, ...], code: str | None, parameters: dict[str, Any] | None) -> None:
        if code is not None:
            with raise_as_config_error(document, *path):
                permissions.check_permission(code, parameters, anything=allow_imports)

    for dataset in experiment.dataset:
        check(("dataset",), dataset.code, None)
    for position, sampler in enumerate(experiment.samplers):
        # A sampler object that was passed from Python needs no import, so no permission is
        # required.
        if sampler.given is None:
            check(("samplers", position), sampler.code, sampler.parameters)
    check(("solver",), experiment.solver.code, experiment.solver.parameters)
    for path, kernel in (
        (("kernel",), experiment.kernel),
        *((("samplers", n), s.parameters.get("kernel")) for n, s in enumerate(experiment.samplers)),
        (("solver",), experiment.solver.parameters.get("kernel")),
    ):
        if is_path(kernel):
            check(path, kernel, None)


REMOVED = ("timing", "device", "kernel_metric", "plugins")
"""Keys of earlier versions, which are ignored when a manifest is read."""


def build_experiment_from_manifest(
    content: dict[str, Any], source: str, *, allow_imports: bool = False
) -> Experiment:
    """Return the experiment of a results folder from the content of the file `manifest.json`.

    `source` is the name of this file in error messages. Paths in the file are relative to the
    current folder. Checks that read data or build methods are not repeated. Raise ResultsError if
    this version cannot read the file, and ConfigError if the experiment imports code that is not
    permitted.
    """
    from pydantic import ValidationError

    from rfbench.config.schema import Experiment
    from rfbench.solvers.folds import ONCE

    try:
        content = {key: value for key, value in content.items() if key not in REMOVED}
        experiment = Experiment.model_validate({"features_in_folds": ONCE, **content})
    except ValidationError as error:
        first = error.errors()[0]
        raise ResultsError(
            f"{source} has a configuration that this version of rfbench cannot read.",
            f"{'.'.join(map(str, first['loc']))}: {first['msg']}.",
            "Run the configuration again. Its finished rows are kept.",
        ) from error
    _check_permission(experiment, yamlfile.Document(content, source), allow_imports)
    for spec in (*experiment.dataset, *experiment.samplers, experiment.solver):
        spec.set_folder(Path.cwd())
    return experiment
