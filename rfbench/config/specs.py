"""Sections of a configuration: data sets, samplers, solver, grids of values, and checks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    StrictBool,
    ValidationError,
    model_validator,
)

from rfbench import datasets, grids
from rfbench.datasets import catalog, split, user_data
from rfbench.datasets.catalog import SOURCES
from rfbench.errors import ConfigError, DataError, suggest_nearest_name
from rfbench.escaping import escape_line
from rfbench.plugins import GIVEN, GivenObject
from rfbench.registry import SAMPLERS

NO_SOLVER = "none"
ANSWERS = "answers"  # key that earlier versions used for imported classes in manifests


def expand_number_grids(value: Any) -> Any:
    """Expand a string or list of number ranges into a list of numbers.

    `rfbench.grids` describes the form of a range. All other values are returned unchanged.
    """
    try:
        if isinstance(value, str):
            return grids.expand_grid_text(value)
        if isinstance(value, list):
            return grids.join_lists(as_list(expand_number_grids(part)) for part in value)
    except ConfigError as error:
        raise ValueError(str(error)) from None  # pydantic adds the key and the line to this error
    return [value] if isinstance(value, int | float) else value


def as_list(value: Any) -> list[Any]:
    """Return a list unchanged, and any other value as a list with one element."""
    return value if isinstance(value, list) else [value]


def _single_key(value: Any, what: str) -> Any:
    """Convert ``name`` or ``{name: {parameter: value}}`` to one mapping with the key 'name'.

    If `value` has neither form, raise ValueError with the example `what`.
    """
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
    """Base class of the sections of a configuration, which are immutable.

    Unknown keys are rejected.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class Located(Section):
    """A section of a configuration that may contain paths, relative to the configuration file."""

    _folder: Path | None = PrivateAttr(default=None)

    @property
    def folder(self) -> Path | None:
        """Folder of the configuration file, to which relative paths refer."""
        return self._folder

    def set_folder(self, folder: Path) -> None:
        """Store the folder of the configuration file, to which relative paths refer.

        The identity of a trial does not depend on the folder.
        """
        self._folder = folder

    @property
    def code(self) -> str | None:
        """Import path of the code that the section imports, or None if it imports no code."""
        return None


class MethodSpec(Located):
    """A sampler or solver, given by its registered name or by the import path of a class."""

    name: str
    imported: bool = False

    @property
    def code(self) -> str | None:
        """Import path of the class of the method, or None for a registered name."""
        return self.name if self.imported else None


class UserData(BaseModel):
    """Location of a user's data set, and the options for reading it."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    file: str | None = None
    load: str | None = None
    openml: int | None = None
    sklearn: str | None = None
    path: str | None = None
    name: Annotated[str, Field(min_length=1)] | None = None
    target: str | int | None = None
    task: Literal["classification", "binary", "multiclass", "regression"] | None = None
    drop: list[str | int] | str | int | None = None
    groups: str | int | None = None
    header: bool = True
    separator: Annotated[str, Field(min_length=1, max_length=1)] | None = None
    decimal: Annotated[str, Field(min_length=1, max_length=1)] | None = None
    encoding: str | None = None
    missing: list[str | int | float] | str | int | float | None = None


_AS_READ = {"name", "parameters"}


class DatasetSpec(Located):
    """A data set: a name in the catalog with parameters, or the location of a user's data."""

    name: str
    parameters: dict[str, Any] = Field(default_factory=dict)

    @property
    def is_user_data(self) -> bool:
        """True for a user's data set, which is not in the catalog."""
        return bool(set(self.parameters) & set(SOURCES))

    @property
    def code(self) -> str | None:
        """Import path of the function that returns the rows, or None if no function is named."""
        return self.parameters.get("load")

    @property
    def entry(self) -> datasets.Entry:
        """Entry of the data set in the catalog. For a user's data set, the data are read."""
        return datasets.find_entry(self.name, self.parameters, self.folder)

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, value: Any) -> Any:
        if isinstance(value, dict) and "parameters" in value:
            user_data = value["parameters"]
            if (
                isinstance(user_data, dict)
                and set(user_data) & set(SOURCES)
                and set(value) <= _AS_READ
            ):
                _own({**user_data, "name": value.get("name")})
            return value
        if isinstance(value, dict) and set(value) & set(SOURCES):
            return _own(value)
        flat = dict(_single_key(value, "eeg"))
        # A name such as eeg can be a data set of the catalog or the name that a user gives to a
        # file. If a source such as a path is also given, the data set is the user's data set.
        if set(flat) & set(SOURCES):
            return _own(flat)
        return {"name": flat.pop("name", None), "parameters": flat}


def _own(value: dict[str, Any]) -> dict[str, Any]:
    """Check the keys of a user's data set, and return a mapping with its name and parameters.

    Raise ValueError if a key or a value is not allowed.
    """
    sources = [source for source in SOURCES if source in value]
    if sources[0] == "load" and "path" in sources:
        sources.remove("path")  # with this source, `path` is an argument of the user's function
    if value[sources[0]] is None:
        raise ValueError(f"`{sources[0]}` has no value")
    allowed = [key for key in UserData.model_fields if key not in SOURCES]
    if sources[0] == "path":
        allowed = ["name", "task"]
    elif sources[0] != "file":
        allowed = [key for key in allowed if key not in user_data.READING_KEYS]
    for key in value:
        if len(sources) > 1 or (key not in (*sources, *allowed, "part") and "load" not in value):
            raise ValueError(
                f"`{sources[0]}` cannot have a key '{key}'."
                f"{suggest_nearest_name(str(key), allowed)} "
                f"Allowed: {', '.join(allowed)}"
            )
    try:
        UserData.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"{first['loc'][0]} is {first['input']!r}: {first['msg']}") from None
    absent = {"name", *(("drop",) if value.get("drop") is None else ())}
    parameters = {key: given for key, given in value.items() if key not in absent}
    name = value.get("name") or user_data.make_default_data_name(parameters)
    if name in catalog.list_names():
        raise ValueError(
            f"'{name}' is a data set of the catalog. Rename your data: `name: my-{name}`"
        )
    return {"name": name, "parameters": parameters}


def _printable(label: str) -> str:
    if label != escape_line(label):
        raise ValueError(
            f"a label has to consist of printable characters, but it is {escape_line(label)!r}"
        )
    return label


class SamplerSpec(MethodSpec):
    """A sampler with parameters, given by a published name or by the import path of a class."""

    label: Annotated[str, Field(min_length=1), AfterValidator(_printable)]
    # Role of the sampler in a comparison. The id of a trial does not depend on the role. Rows with
    # the role `validation` have errors on validation rows instead of test rows.
    role: Literal["method", "baseline", "model", "validation"] = "method"
    parameters: dict[str, Any] = Field(default_factory=dict)
    # Sampler object that was passed from Python. It is None if the sampler is from a configuration
    # file.
    given: GivenObject | None = Field(default=None, exclude=True, repr=False)

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, value: Any) -> Any:
        if isinstance(value, dict) and "parameters" in value:
            return {key: given for key, given in value.items() if key != ANSWERS}
        if callable(value) or hasattr(value, "fit"):
            value = {"class": value}
        flat = dict(_single_key(value, "eerf"))
        imported = "class" in flat
        name = flat.pop("class") if imported else flat.pop("name", None)
        given = {}
        if imported and not isinstance(name, str) and (callable(name) or hasattr(name, "fit")):
            given = {"given": GivenObject.from_object(name)}
            name = f"{GIVEN}:{getattr(name, '__name__', type(name).__name__)}"
        if isinstance(name, str) and not imported:
            name = SAMPLERS.find_published_name(name)
        label = flat.pop("label", None)
        role = {"role": flat.pop("role")} if "role" in flat else {}
        return {
            **role,
            **given,
            "name": name,
            "imported": imported,
            "label": label if label is not None else str(name).split(".")[-1].split(":")[-1],
            "parameters": flat,
        }


class SolverSpec(MethodSpec):
    """A solver with its penalties, their scale, and the method that selects one of them.

    With the key ``class``, the solver is an estimator with this import path. An estimator only has
    the parameters of its constructor.
    """

    name: str = "ridge"
    imported: bool = False
    alphas: Annotated[list[float], Field(min_length=1), BeforeValidator(expand_number_grids)] = [
        1.0
    ]
    alpha_convention: Literal["absolute", "per-sample"] = "absolute"
    selection: str | None = None
    intercept: bool = True
    parameters: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, value: Any) -> Any:
        if isinstance(value, dict) and "parameters" in value:
            return {key: given for key, given in value.items() if key != ANSWERS}
        flat = _single_key(value, "ridge") if not isinstance(value, dict) else dict(value)
        if "class" in flat:
            return {"name": flat.pop("class"), "imported": True, "parameters": flat}
        grouped = {key: flat.pop(key) for key in [*flat] if key in cls.model_fields}
        return {**grouped, "parameters": flat}

    def list_arguments(self) -> dict[str, Any]:
        """Return the arguments of the solver's constructor that differ from the defaults.

        Arguments with default values are omitted, because a solver without penalties does not
        accept them.
        """
        shared = {"alphas", "alpha_convention", "selection", "intercept"}
        return {**self.model_dump(include=shared, exclude_defaults=True), **self.parameters}


class BandwidthGrid(Section):
    """A grid of bandwidths. The bandwidth is selected with the penalty, on the same rows."""

    cv: list[float | str]
    widen: StrictBool = False

    def __str__(self) -> str:
        return "cv: " + ", ".join(map(str, self.cv)) + ("; widened" if self.widen else "")


class SameSizeAs(Section):
    """Value of M that is equal to the number of features that the sampler `kept_by` keeps."""

    kept_by: str


def make_column_validator(what: str) -> AfterValidator:
    """Return a pydantic validator that accepts the names of columns of the results.

    If `what` is 'metric', only the names of metrics are accepted.
    """

    def check(name: str | None) -> str | None:
        from rfbench.results.schema import COLUMNS, METRICS

        names = list(METRICS if what == "metric" else COLUMNS)
        if name is not None and name not in names:
            raise ValueError(
                f"the results do not have a {what} '{name}'.{suggest_nearest_name(name, names)}"
                + (f" The metrics are {', '.join(names)}" if what == "metric" else "")
            )
        return name

    return AfterValidator(check)


class CheckSpec(Section):
    """A bound of a column of the results, which is checked and printed with the table."""

    column: Annotated[str, make_column_validator("column")]
    sampler: str | None = None
    below: float | None = None
    above: float | None = None
    at_each: Annotated[str | None, make_column_validator("column")] = None
    source: str = ""


def _split(value: Any) -> Any:
    try:
        split.check_split_rule(value)
    except DataError as error:
        raise ValueError(str(error)) from None
    return value


Split = Annotated[Literal["given"] | dict[str, float | int | str], BeforeValidator(_split)]
