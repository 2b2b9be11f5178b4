"""The configuration: its schema, and the messages when it is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from rfbench import grids, yamlfile
from rfbench.errors import ConfigError, RfbenchError, nearest

FOLDER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+=-]*")
_EXPRESSION = re.compile(r"(?:([0-9.]+(?:e-?[0-9]+)?)\s*\*\s*)?([Mdn])")
MAX_SHOWN = 8
NO_SOLVER = "none"


def _expanded(value: Any) -> Any:
    """Expand the grammar of `rfbench.grids` wherever a list of values is allowed."""
    if isinstance(value, str):
        return grids.expand(value)
    if isinstance(value, list):
        return [item for part in value for item in _as_list(_expanded(part))]
    return [value] if isinstance(value, int | float) else value


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _single_key(value: Any, what: str) -> Any:
    """Turn ``name`` and ``{name: {parameters}}`` into a flat mapping with 'name' in it."""
    if isinstance(value, str):
        return {"name": value}
    if isinstance(value, dict) and len(value) == 1:
        (name, parameters), *_ = value.items()
        if name not in ("name", "class") and (parameters is None or isinstance(parameters, dict)):
            return {"name": name, **(parameters or {})}
    if isinstance(value, dict) and ("name" in value or "class" in value):
        return value
    raise ValueError(f"write `- {what}` or `- {what}: {{parameter: value}}`")


class Section(BaseModel):
    """A part of the configuration: no unknown keys, not changed once it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class DatasetSpec(Section):
    """A data set's name with the parameters of its generator."""

    name: str
    parameters: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, value: Any) -> Any:
        if isinstance(value, dict) and "parameters" in value:
            return value
        flat = _single_key(value, "eeg")
        return {
            "name": flat.get("name"),
            "parameters": {k: v for k, v in flat.items() if k != "name"},
        }


class SamplerSpec(Section):
    """A sampler's published name, or the import path of a class, with its parameters."""

    name: str
    imported: bool = False
    label: str
    parameters: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, value: Any) -> Any:
        if isinstance(value, dict) and "parameters" in value:
            return value
        flat = dict(_single_key(value, "eerf"))
        imported = "class" in flat
        name = flat.pop("class") if imported else flat.pop("name", None)
        label = flat.pop("label", None)
        return {
            "name": name,
            "imported": imported,
            "label": label or str(name).split(".")[-1].split(":")[-1],
            "parameters": flat,
        }


class SolverSpec(Section):
    """A solver's name with its penalties, how they are meant and how one is chosen."""

    name: str = "ridge"
    alphas: Annotated[list[float], BeforeValidator(_expanded)] = Field(default=[1.0], min_length=1)
    alpha_convention: Literal["absolute", "per-sample"] = "absolute"
    selection: str | None = None
    intercept: bool = True
    parameters: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, value: Any) -> Any:
        if isinstance(value, dict) and "parameters" in value:
            return value
        flat = _single_key(value, "ridge") if not isinstance(value, dict) else dict(value)
        known = set(cls.model_fields)
        own = {k: v for k, v in flat.items() if k not in known}
        return {**{k: v for k, v in flat.items() if k in known}, "parameters": own}

    def keywords(self) -> dict[str, Any]:
        """Return what the solver's constructor is called with."""
        return {
            "alphas": list(self.alphas),
            "alpha_convention": self.alpha_convention,
            "selection": self.selection,
            "intercept": self.intercept,
            **self.parameters,
        }


class KeptBy(Section):
    """M is the number of features that a sampler of the list keeps in the same trial."""

    kept_by: str


class Check(Section):
    """A statement about a column of the results, checked and printed with the table."""

    column: str
    sampler: str | None = None
    below: float | None = None
    above: float | None = None
    at_each: str | None = None
    source: str = ""


def _split(value: Any) -> Any:
    if isinstance(value, str) and value != "given":
        raise ValueError(
            "a split is `given`, `{test_size: 0.5}` (with train_size if you like) or "
            f"`{{leave_groups: 0.3}}`{nearest(value, ['given'])}"
        )
    return value


class Experiment(Section):
    """A checked configuration; see the README for what each key means."""

    name: str
    title: str = ""
    description: str = ""
    paper: str = ""
    item: str = ""
    protocol: Literal["printed", "as-run", "tuned", "own"] = "own"
    dataset: list[DatasetSpec] = Field(min_length=1)
    rows: Annotated[int, Field(ge=2)] | None = None
    split: Annotated[Literal["given"] | dict[str, float | int], BeforeValidator(_split)] = "given"
    scaling: Literal["none", "standard", "minmax", "row-standard", "/255"] = "standard"
    target: Literal["range", "raw", "standard"] = "range"
    kernel: str = "gaussian"
    bandwidth: float | str = "median"
    feature_map: Literal["offset", "paired"] = "offset"
    M: Annotated[KeptBy | list[Annotated[int, Field(ge=1)]], BeforeValidator(_expanded)]
    samplers: list[SamplerSpec] = Field(min_length=1)
    solver: SolverSpec = SolverSpec()
    trials: Annotated[int, Field(ge=1, le=100_000)] = 10
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    metric: str | None = None
    kernel_error_rows: Annotated[int, Field(ge=2)] | None = None
    plugins: list[str] = Field(default_factory=list)
    dtype: Literal["float64", "float32"] = "float64"
    timing: Literal["isolated"] = "isolated"
    threads: Annotated[int, Field(ge=1, le=1024)] = 1
    checks: list[Check] = Field(default_factory=list)

    @field_validator("dataset", mode="before")
    @classmethod
    def _datasets(cls, value: Any) -> Any:
        specs = [DatasetSpec.model_validate(item) for item in _as_list(value)]
        return [one for spec in specs for one in _every_combination(spec)]

    @field_validator("samplers", mode="before")
    @classmethod
    def _samplers(cls, value: Any) -> Any:
        return _as_list(value)

    @field_validator("metric")
    @classmethod
    def _metric(cls, value: str | None) -> str | None:
        from rfbench.metrics import METRICS

        if value is not None and value not in METRICS:
            raise ValueError(
                f"there is no metric '{value}'; the metrics are {', '.join(METRICS)}"
                f"{nearest(value, list(METRICS))}"
            )
        return value

    @model_validator(mode="after")
    def _labels_differ(self) -> Experiment:
        seen: set[str] = set()
        for spec in self.samplers:
            if spec.label in seen:
                raise ValueError(
                    f"two samplers carry the label '{spec.label}': give one of them "
                    "another, `label: ...`"
                )
            seen.add(spec.label)
        return self


def _every_combination(spec: DatasetSpec) -> Iterator[DatasetSpec]:
    """Yield the data sets that lists of parameter values stand for (d: 2:15)."""
    import itertools

    keys = list(spec.parameters)
    choices = [
        _as_list(_expanded(value)) if isinstance(value, str | list) else [value]
        for value in spec.parameters.values()
    ]
    for values in itertools.product(*choices):
        yield DatasetSpec(name=spec.name, parameters=dict(zip(keys, values, strict=True)))


def resolve_parameters(parameters: Mapping[str, Any], *, M: int, d: int, n: int) -> dict[str, Any]:
    """Replace `M`, `d`, `n` and multiples such as `10*M` or `0.01*d` by their numbers."""
    numbers = {"M": M, "d": d, "n": n}

    def value_of(value: Any) -> Any:
        match = _EXPRESSION.fullmatch(value) if isinstance(value, str) else None
        if match is None:
            return value
        product = float(match[1] or 1) * numbers[match[2]]
        return int(product) if product == int(product) else product

    return {key: value_of(value) for key, value in parameters.items()}


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
        _override(document, text)
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
            f"{_where(document, ('name',))}: the name is the file's own name.",
            "",
            "Take the key `name` out, or use `title`.",
        )
    try:
        experiment = Experiment.model_validate({"name": name, **value})
    except ValidationError as error:
        raise ConfigError(_explain(error, document)) from None
    except RfbenchError as error:
        raise ConfigError(f"{document.source}: {error}") from None
    check_combinations(experiment, document, allow_imports)
    return experiment


def _override(document: yamlfile.Document, text: str) -> None:
    key, sign, value = text.partition("=")
    if not sign or not key.strip():
        raise ConfigError(f"--set {text} is not `key.path=value`.", "", "Write --set M=50:200:50.")
    try:
        parsed = yamlfile.parse(f"value: {value}", f"--set {text}").value["value"]
    except ConfigError:
        parsed = value
    path = key.strip().split(".")
    target: Any = document.value
    for depth, part in enumerate(path):
        last = depth == len(path) - 1
        if isinstance(target, list):
            target = _entry_of_list(target, part, text)
            if last:
                raise ConfigError(
                    f"--set {text} would replace a whole entry of a list.",
                    "",
                    f"Name a parameter of it: {key}.parameter=value.",
                )
        elif last:
            target[part] = parsed
        else:
            child = target.get(part)
            if isinstance(child, str):
                child = {"name": child}
            target[part] = child = child if isinstance(child, dict | list) else {}
            target = child
    document.lines[tuple(path)] = 0


def _entry_of_list(entries: list[Any], part: str, text: str) -> dict[str, Any]:
    """Return the parameters of an entry named by its position, name or label."""
    names = []
    for position, entry in enumerate(entries):
        if isinstance(entry, str):
            entries[position] = entry = {entry: {}}
        if not isinstance(entry, dict) or not entry:
            continue
        first = next(iter(entry))
        inner = entry[first] if len(entry) == 1 else entry
        if inner is None:
            entry[first] = inner = {}
        own = [str(position), first, str(entry.get("name"))]
        own += [str(inner["label"])] if isinstance(inner, dict) and "label" in inner else []
        names.append(own[1])
        if part in own and isinstance(inner, dict):
            return inner
    raise ConfigError(
        f"--set {text}: there is no '{part}' in the list.{nearest(part, names)}",
        f"It has {', '.join(names)}.",
    )


def _where(document: yamlfile.Document, path: tuple[Any, ...]) -> str:
    line = document.line_of(path)
    if line == 0:
        return "--set " + ".".join(str(part) for part in path)
    return f"{document.source}, line {line}" if line else document.source


def _explain(error: ValidationError, document: yamlfile.Document) -> str:
    """Return one sentence a mistake: file, line, what is wrong, what is allowed."""
    sentences = []
    for problem in error.errors():
        path = tuple(part for part in problem["loc"] if part in _real_path(problem, document))
        key = ".".join(str(part) for part in problem["loc"] if not _is_branch(part))
        kind, message = problem["type"], problem["msg"].removeprefix("Value error, ")
        if kind == "extra_forbidden":
            allowed = sorted(_keys_at(problem["loc"][:-1]))
            word = str(problem["loc"][-1])
            message = (
                f"there is no key '{key}'.{nearest(word, allowed)} Allowed: {', '.join(allowed)}"
            )
        elif kind == "missing":
            message = f"the key '{key}' is missing"
        elif kind == "literal_error":
            expected = problem["ctx"]["expected"].replace(" or ", ", ").replace("'", "")
            words = [word.strip() for word in expected.split(",")]
            shown = problem["input"]
            message = (
                f"{key} is {shown!r}; allowed: {', '.join(words)}.{nearest(str(shown), words)}"
            )
        elif key:
            message = f"{key} is {_short(problem['input'])}: {message[0].lower()}{message[1:]}"
        sentences.append(f"{_where(document, path)}: {message.rstrip('.')}.")
    unique = list(dict.fromkeys(sentences))
    more = [f"... and {len(unique) - MAX_SHOWN} more."] if len(unique) > MAX_SHOWN else []
    return "\n".join(unique[:MAX_SHOWN] + more)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 60 else text[:57] + "..."


def _is_branch(part: Any) -> bool:
    """Tell whether a part of pydantic's location names a branch of a union, not a key."""
    return isinstance(part, str) and (
        part in ("KeptBy", "int", "float", "str", "none") or "[" in part or "-" in part
    )


def _real_path(problem: Any, document: yamlfile.Document) -> tuple[Any, ...]:
    return tuple(part for part in problem["loc"] if not _is_branch(part))


def _keys_at(path: tuple[Any, ...]) -> list[str]:
    models: dict[str, type[BaseModel]] = {"solver": SolverSpec, "checks": Check, "M": KeptBy}
    first = str(path[0]) if path else ""
    return [key for key in models.get(first, Experiment).model_fields if key != "name" or first]


def check_combinations(
    experiment: Experiment, document: yamlfile.Document, allow_imports: bool
) -> None:
    """Refuse what is well-formed but cannot run; ConfigError names the line."""
    from rfbench import datasets, plugins, solvers
    from rfbench.experiment.methods import build_sampler

    tasks = set()
    for spec in experiment.dataset:
        try:
            tasks.add("regression" if datasets.entry(spec.name).task == "regression" else "class")
        except RfbenchError as error:
            raise _at(document, ("dataset",), error) from None
    if len(tasks) > 1:
        raise ConfigError(
            f"{_where(document, ('dataset',))}: regression and classification data are mixed.",
            "Their errors cannot stand in one table.",
            "Make two configurations.",
        )
    task = "regression" if tasks == {"regression"} else "classification"
    try:
        if experiment.solver.name != NO_SOLVER:
            solvers.make(experiment.solver.name, task=task, **experiment.solver.keywords())
    except RfbenchError as error:
        raise _at(document, ("solver",), error) from None
    labels = [spec.label for spec in experiment.samplers]
    if isinstance(experiment.M, KeptBy):
        sizes = [1]
        if experiment.M.kept_by not in labels:
            raise ConfigError(
                f"{_where(document, ('M',))}: M is kept_by '{experiment.M.kept_by}', which is not "
                f"among the samplers.{nearest(experiment.M.kept_by, labels)}",
                f"They are {', '.join(labels)}.",
            )
    else:
        sizes = sorted({min(experiment.M), max(experiment.M)})
    for position, sampler in enumerate(experiment.samplers):
        for size in sizes:
            try:
                if sampler.imported:
                    plugins.check_allowed(sampler.name, experiment.plugins, allow_imports)
                build_sampler(experiment, sampler, M=size, d=2, n=1000, random_state=0)
            except RfbenchError as error:
                raise _at(document, ("samplers", position), error) from None


def _at(document: yamlfile.Document, path: tuple[Any, ...], error: RfbenchError) -> ConfigError:
    return ConfigError(f"{_where(document, path)}: {error.what}", error.why, error.todo)
