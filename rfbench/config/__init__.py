"""The configuration: its schema, and the messages when it is wrong.

The schema is imported with the first run that is checked: a list of names does not need it, and
scikit-learn takes a second.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rfbench import permissions, shipped, yamlfile
from rfbench.config import matrix
from rfbench.config.messages import explain, format_location, raise_as_config_error
from rfbench.config.overrides import override
from rfbench.errors import ConfigError, ResultsError, RfbenchError, make_unknown_error

if TYPE_CHECKING:
    from rfbench.config.schema import Experiment

FOLDER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+=-]*")


def read_all(
    path: Path,
    overrides: Sequence[str] = (),
    *,
    only: Sequence[str] = (),
    allow_imports: bool = False,
) -> list[Experiment]:
    """Read and check the runs of a configuration file: all, or those with the names `only`.

    Overrides, ``key.path=value`` as given to ``--set``, win over the file; `allow_imports` is
    `anything` of `rfbench.permissions.check_permission`. ConfigError names the file, the line, what
    is allowed and the nearest right word.
    """
    runs = read_documents(path, overrides)
    chosen = dict(choose(path, runs, name) for name in only) if only else runs
    return [from_document(run, name, allow_imports=allow_imports) for name, run in chosen.items()]


def read_documents(path: Path, overrides: Sequence[str] = ()) -> dict[str, yamlfile.Document]:
    """Return the runs of a configuration file by name, not yet checked.

    The path may be the name of a configuration that comes with rfbench.
    """
    return list_runs(yamlfile.load(shipped.locate(path)), _stem(path), overrides)


def list_runs(
    document: yamlfile.Document, stem: str, overrides: Sequence[str] = ()
) -> dict[str, yamlfile.Document]:
    """Return the runs of a document by name, not yet checked."""
    runs = matrix.expand_runs(document, stem)
    for document in runs.values():
        for text in overrides:
            override(document, text)
    return runs


def choose(
    path: Path, found: Mapping[str, yamlfile.Document], name: str = ""
) -> tuple[str, yamlfile.Document]:
    """Return the run of this name, with or without that of the file; of none, the only one."""
    stem = _stem(path)
    for full in (name, f"{stem}_{name}", f"{stem}.{name}"):
        if full in found:
            return full, found[full]
    if not name and len(found) == 1:
        return next(iter(found.items()))
    names = [shorten_path(path, full) for full in found]
    if name:
        raise make_unknown_error(f"run of {path} called", name, names, ConfigError)
    raise ConfigError(
        f"{path} has several runs: {', '.join(names)}.", "", f"Name one: --run {names[0]}."
    )


def shorten_path(path: Path, name: str) -> str:
    """Return the name of a run without that of its file."""
    return name.removeprefix(_stem(path))[1:] or name


def _stem(path: Path) -> str:
    return path.name.removesuffix(".yaml").removesuffix(".yml")


def from_document(
    document: yamlfile.Document,
    name: str,
    *,
    allow_imports: bool = False,
    combinations: bool = True,
) -> Experiment:
    """Check a document; see `read_all`.

    Without `combinations` no data are read and no method is built, as it suits what was run before.
    """
    from pydantic import ValidationError

    from rfbench.config.schema import Experiment

    if not FOLDER_NAME.fullmatch(name):
        raise ConfigError(
            f"The name '{name}' cannot be the name of a results folder.",
            "It may have letters, digits and . _ + = - in it.",
            "Rename the configuration file.",
        )
    value = dict(document.value)
    if "name" in value:
        raise ConfigError(
            f"{format_location(document, ('name',))}: the name is the file's own name.",
            todo="Take the key `name` out, or use `title`.",
        )
    try:
        experiment = Experiment.model_validate({"name": name, **value})
    except ValidationError as error:
        raise ConfigError(explain(error, document)) from None
    except RfbenchError as error:
        raise ConfigError(f"{document.source}: {error}") from None
    _check_permission(experiment, document, allow_imports)
    for spec in (*experiment.dataset, *experiment.samplers, experiment.solver):
        spec.came_from(Path(document.source).parent.absolute())
    if combinations:
        from rfbench.config.combinations import check_combinations

        check_combinations(experiment, document)
    return experiment


def _check_permission(
    experiment: Experiment, document: yamlfile.Document, allow_imports: bool
) -> None:
    """Refuse code that nobody permitted, see `rfbench.permissions`; ConfigError names the line."""
    from rfbench.parameters import is_path

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


REMOVED = ("timing", "device", "kernel_metric", "plugins")
"""Keys that earlier versions had. A manifest is read without them, whatever they say there."""


def from_manifest(
    content: dict[str, Any], source: str, *, allow_imports: bool = False
) -> Experiment:
    """Return an experiment as the manifest of its results has it.

    `source` is the manifest's name for messages; files that it names are looked for from here. What
    was checked when it ran is not checked again. Before 0.2.0 there was no key `features_in_folds`:
    features were fitted once. ResultsError: it is of another version.
    ConfigError: it names code that nobody permitted.
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
            "Run the configuration again; its finished rows are kept.",
        ) from error
    _check_permission(experiment, yamlfile.Document(content, source), allow_imports)
    for spec in (*experiment.dataset, *experiment.samplers, experiment.solver):
        spec.came_from(Path.cwd())
    return experiment
