"""The schema of a configuration."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    field_validator,
    model_validator,
)

from rfbench import grids
from rfbench.errors import ConfigError, nearest
from rfbench.registry import SAMPLERS

MOST_SETTINGS, MOST_TRIALS = 50_000, 1_000_000
NO_SOLVER = "none"
SHARED, ISOLATED = "shared", "isolated"
PROTOCOLS, DATASETS, EXCEPTIONS = "protocols", "datasets", "exceptions"
# What a file of several runs has beside the keys of an experiment, see `rfbench.config.matrix`.
AXES = {
    PROTOCOLS: "what differs between protocols, by name: the run's `protocol`. "
    "`for: [NAME, ...]` keeps one to some of the data sets",
    DATASETS: "what differs between data sets, by name: the run's `dataset`, unless it is given",
    EXCEPTIONS: "what differs in a single run, by DATASET.PROTOCOL",
}


def _expanded(value: Any) -> Any:
    """Expand the grammar of `rfbench.grids` wherever a list of values is allowed."""
    try:
        if isinstance(value, str):
            return grids.expand(value)
        if isinstance(value, list):
            return grids.joined(_as_list(_expanded(part)) for part in value)
    except ConfigError as error:
        raise ValueError(str(error)) from None  # so that it is told with its key and line
    return [value] if isinstance(value, int | float) else value


def _sizes(value: Any) -> Any:
    """Expand the sizes M, or keep `{kept_by: sampler}`."""
    if isinstance(value, dict) and set(value) == {"kept_by"}:
        return value
    sizes = _expanded(value)
    whole = isinstance(sizes, list) and all(type(size) is int and size >= 1 for size in sizes)
    if not whole or not sizes:
        raise ValueError(
            f"M is whole numbers of at least 1, a list or {grids.GRAMMAR}, or {{kept_by: SAMPLER}}"
        )
    return sizes


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


class MethodSpec(Section):
    """A method: its name here, or the import path of a class."""

    name: str
    imported: bool = False
    _folder: Path | None = PrivateAttr(default=None)

    @property
    def folder(self) -> Path | None:
        """The folder of the configuration file, where a file of code is looked for first."""
        return self._folder

    def came_from(self, folder: Path) -> None:
        """Note the folder; it is no part of the configuration, nor of a trial's identity."""
        self._folder = folder


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


class SamplerSpec(MethodSpec):
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
        if isinstance(name, str) and not imported:
            name = SAMPLERS.published(name)
        label = flat.pop("label", None)
        return {
            "name": name,
            "imported": imported,
            "label": label or str(name).split(".")[-1].split(":")[-1],
            "parameters": flat,
        }


class SolverSpec(MethodSpec):
    """A solver's name with its penalties, how they are meant and how one is chosen.

    Or the import path of an estimator (``class``), which has parameters of its own only.
    """

    name: str = "ridge"
    imported: bool = False
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
        if "class" in flat:
            own = {k: v for k, v in flat.items() if k != "class"}
            return {"name": flat["class"], "imported": True, "parameters": own}
        known = set(cls.model_fields)
        own = {k: v for k, v in flat.items() if k not in known}
        return {**{k: v for k, v in flat.items() if k in known}, "parameters": own}

    def keywords(self) -> dict[str, Any]:
        """Return what the solver's constructor is called with: what differs from the defaults.

        The defaults here are those of the constructors, so that a solver without penalties takes
        a configuration that names none.
        """
        shared = ("alphas", "alpha_convention", "selection", "intercept")
        defaults = SolverSpec()
        given = {word: getattr(self, word) for word in shared}
        changed = {w: value for w, value in given.items() if value != getattr(defaults, w)}
        return {**changed, **self.parameters}


class KeptBy(Section):
    """M is the number of features that a sampler of the list keeps in the same trial."""

    kept_by: str


def _column(name: str) -> str:
    from rfbench.results.schema import COLUMNS

    if name not in COLUMNS:
        raise ValueError(
            f"there is no column '{name}' in the results{nearest(name, list(COLUMNS))}"
        )
    return name


class CheckSpec(Section):
    """A statement about a column of the results, checked and printed with the table."""

    column: Annotated[str, AfterValidator(_column)]
    sampler: str | None = None
    below: float | None = None
    above: float | None = None
    at_each: str | None = None
    source: str = ""


def _split(value: Any) -> Any:
    sizes = value.values() if isinstance(value, dict) else ()
    if any(type(size) is float and not 0 < size < 1 for size in sizes):
        raise ValueError("a share of the rows or groups lies between 0 and 1")
    if any(type(size) is bool or (type(size) is int and size < 1) for size in sizes):
        raise ValueError("a number of rows or groups is at least 1")
    ways = ({"test_size"}, {"test_size", "train_size"}, {"train_size"}, {"leave_groups"})
    if value == "given" or (isinstance(value, dict) and set(value) in ways):
        return value
    raise ValueError(
        "a split is `given`, `{train_size: 5000}` (of the given training rows), "
        "`{test_size: 0.5}` (with train_size if you like) or "
        f"`{{leave_groups: 0.3}}`.{nearest(str(value), ['given'])}"
    )


def keeps_published_split(split: str | dict[str, Any]) -> bool:
    """Whether the test rows are the published ones, in every trial."""
    return split == "given" or (isinstance(split, dict) and set(split) == {"train_size"})


class Experiment(Section):
    """A checked configuration; see the README for what each key means."""

    name: str
    title: str = ""
    description: str = ""
    paper: str = ""
    item: str = ""
    protocol: Literal["printed", "matched", "tuned", "own"] = "own"
    dataset: list[DatasetSpec] = Field(min_length=1)
    rows: Annotated[int, Field(ge=2)] | None = None
    split: Annotated[Literal["given"] | dict[str, float | int], BeforeValidator(_split)] = "given"
    scaling: Literal["none", "standard", "minmax", "row-standard", "/255"] = "standard"
    target: Literal["range", "raw", "standard"] = "range"
    kernel: str = "gaussian"
    bandwidth: float | str = "median"
    feature_map: Literal["offset", "paired"] = "offset"
    M: Annotated[KeptBy | list[int], BeforeValidator(_sizes)]
    samplers: list[SamplerSpec] = Field(min_length=1)
    solver: SolverSpec = SolverSpec()
    trials: Annotated[int, Field(ge=1, le=100_000)] = 10
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    metric: str | None = None
    kernel_error_rows: Annotated[int, Field(ge=2)] | None = None
    train_error: bool = False
    kept_features: bool = False
    plugins: list[str] = Field(default_factory=list)
    dtype: Literal["float64", "float32"] = "float64"
    timing: Literal["shared", "isolated"] = "shared"
    threads: Annotated[int, Field(ge=1, le=1024)] = 1
    checks: list[CheckSpec] = Field(default_factory=list)

    @field_validator("dataset", mode="before")
    @classmethod
    def _datasets(cls, value: Any) -> Any:
        specs = [DatasetSpec.model_validate(item) for item in _as_list(value)]
        try:
            return grids.joined(_every_combination(spec) for spec in specs)
        except ConfigError as error:
            raise ValueError(str(error)) from None

    @field_validator("samplers", mode="before")
    @classmethod
    def _samplers(cls, value: Any) -> Any:
        return _as_list(value)

    @field_validator("metric")
    @classmethod
    def _metric(cls, value: str | None) -> str | None:
        from rfbench.results.schema import METRICS

        if value is not None and value not in METRICS:
            raise ValueError(
                f"there is no metric '{value}'; the metrics are {', '.join(METRICS)}"
                f"{nearest(value, list(METRICS))}"
            )
        return value

    @model_validator(mode="after")
    def _can_be_counted(self) -> Experiment:
        sizes = 1 if isinstance(self.M, KeptBy) else len(self.M)
        settings = len(self.dataset) * sizes * len(self.samplers)
        if settings > MOST_SETTINGS or settings * self.trials > MOST_TRIALS:
            raise ValueError(
                f"{settings} combinations of data set, M and sampler with {self.trials} trials "
                f"each are too many: at most {MOST_SETTINGS} combinations and {MOST_TRIALS} trials"
            )
        return self

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


def _every_combination(spec: DatasetSpec) -> list[DatasetSpec]:
    """Return the data sets that lists of parameter values stand for (d: 2:15)."""
    keys = list(spec.parameters)
    choices = [
        _as_list(_expanded(value)) if isinstance(value, str | list) else [value]
        for value in spec.parameters.values()
    ]
    if math.prod(map(len, choices)) > grids.MAX_POINTS:
        raise ValueError(f"{spec.name} stands for more than {grids.MAX_POINTS} data sets")
    return [
        DatasetSpec(name=spec.name, parameters=dict(zip(keys, values, strict=True)))
        for values in itertools.product(*choices)
    ]
