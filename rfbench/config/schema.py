"""The schema of a configuration."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    field_validator,
    model_validator,
)

from rfbench import bandwidths, grids
from rfbench.errors import ConfigError, nearest
from rfbench.registry import SAMPLERS

if TYPE_CHECKING:
    from rfbench.datasets import Entry

MOST_SETTINGS, MOST_TRIALS = 50_000, 1_000_000
NO_SOLVER = "none"
OWN_SOURCES = ("file", "load", "openml", "sklearn", "path")
SHARED, ISOLATED = "shared", "isolated"
PROTOCOLS, DATASETS, EXCEPTIONS = "protocols", "datasets", "exceptions"
# What a file of several runs has beside the keys of an experiment, see `rfbench.config.matrix`.
AXES = {
    PROTOCOLS: "what differs between protocols, by name (the run's `protocol`); "
    "`for: [NAME, ...]` keeps one to some of the data sets",
    DATASETS: "what differs between data sets, by name (the run's `dataset`, unless it is given)",
    EXCEPTIONS: "what differs in a single run, by DATASET.PROTOCOL",
}


GRID, WHOLE = "a number, `1,2,5`, `50:1000:50`, `log:50:1000:8`", "a whole number"


def _key(default: Any, meaning: str, values: str = "", **limits: Any) -> Any:
    """Return a field with what `configs/README.md` says of it."""
    return Field(default, description=meaning, examples=[values] if values else None, **limits)


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


def _bandwidth(value: Any) -> Any:
    """Expand the bandwidths to choose from; one that is given stays as it is."""
    if value == "cv":
        return {"cv": list(bandwidths.GRID)}
    if not isinstance(value, dict):
        return value
    listed = _expanded(value.get("cv"))
    good = isinstance(listed, list) and all(map(bandwidths.ALLOWED.holds, listed))
    if set(value) != {"cv"} or not good or not listed:
        raise ValueError(f"write {{cv: ...}} with a list; each is {bandwidths.ALLOWED.words}")
    return {"cv": listed}


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


class Located(Section):
    """What may name files or code: it knows the folder of its configuration."""

    _folder: Path | None = PrivateAttr(default=None)

    @property
    def folder(self) -> Path | None:
        """The folder of the configuration file, where relative paths start."""
        return self._folder

    def came_from(self, folder: Path) -> None:
        """Note the folder; it is no part of the configuration, nor of a trial's identity."""
        self._folder = folder

    @property
    def code(self) -> str | None:
        """The import path of code that this names, which somebody has to allow."""
        return None


class MethodSpec(Located):
    """A method: its name here, or the import path of a class."""

    name: str
    imported: bool = False

    @property
    def code(self) -> str | None:
        """The import path of its class, if it has one."""
        return self.name if self.imported else None


class OwnData(BaseModel):
    """Where data of one's own are, and how they are read."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    file: str | None = _key(
        None,
        "a file, from the configuration's folder: CSV, TSV (also .gz), Parquet, NPZ, NPY, "
        "svmlight or ARFF",
        "a path",
    )
    load: str | None = _key(
        None,
        "a function that returns `X, y`, a Bunch or a DataFrame; all other keys are its arguments",
        "`mine.py:rows`, `package.module.rows`",
    )
    openml: int | None = _key(None, "a data set of OpenML", "its number")
    sklearn: str | None = _key(None, "a data set of scikit-learn", "`wine`, `california_housing`")
    path: str | None = _key(
        None, "a folder of `rfbench data pack`; its rows stay on disk", "a path"
    )
    name: str | None = _key(None, "what results call the data; none: after the file", "a word")
    target: str | int | None = _key(
        None,
        "the column to predict, where it is not apart",
        "a name, or a number from 0 (-1: last)",
    )
    task: Literal["classification", "binary", "multiclass", "regression"] | None = _key(
        None, "none: guessed from the target", "classification, binary, multiclass, regression"
    )
    drop: list[str | int] | str | int | None = _key(None, "columns to leave out", "names")
    groups: str | int | None = _key(None, "numbers of subjects, for `leave_groups`", "a column")
    missing: Literal["error", "drop", "mean"] = _key(
        "error", "missing values: an error, no row, or the mean over the training rows"
    )
    header: bool = _key(True, "of a CSV: whether its first line names the columns")
    separator: str | None = _key(None, "of a CSV; none: comma, or tab in a .tsv", "one character")


class DatasetSpec(Located):
    """A data set's name with the parameters of its generator, or where data of one's own are."""

    name: str
    parameters: dict[str, Any] = Field(default_factory=dict)

    @property
    def own(self) -> bool:
        """Whether it is none of the catalogue's."""
        return bool(set(self.parameters) & set(OWN_SOURCES))

    @property
    def packed(self) -> bool:
        """Whether its rows stay on disk, unless the experiment takes some `rows` of them."""
        from rfbench.datasets import source_of

        return source_of(self.parameters) == "path"

    @property
    def code(self) -> str | None:
        """The import path of the function that returns the rows, if it has one."""
        return self.parameters.get("load")

    @property
    def entry(self) -> Entry:
        """What is known of it; of data of one's own, after they are read."""
        from rfbench import datasets

        return datasets.entry(self.name, self.parameters, self.folder)

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, value: Any) -> Any:
        if isinstance(value, dict) and "parameters" in value:
            return value
        if isinstance(value, dict) and set(value) & set(OWN_SOURCES):
            return _own(value)
        flat = dict(_single_key(value, "eeg"))
        return {"name": flat.pop("name", None), "parameters": flat}


def _own(value: dict[str, Any]) -> dict[str, Any]:
    """Return name and parameters of data of one's own, which are checked."""
    from rfbench.datasets import catalog, own

    sources = [source for source in OWN_SOURCES if source in value]
    if sources[0] == "load" and "path" in sources:
        sources.remove("path")  # an argument of the function
    allowed = [key for key in OwnData.model_fields if key not in OWN_SOURCES]
    if sources[0] == "path":
        allowed = ["name"]
    elif sources[0] != "file":
        allowed = [key for key in allowed if key not in own.READING]
    for key in value:
        if len(sources) > 1 or (key not in (*sources, *allowed, "part") and "load" not in value):
            raise ValueError(
                f"`{sources[0]}` has no key '{key}' beside it.{nearest(str(key), allowed)} "
                f"Allowed: {', '.join(allowed)}"
            )
    try:
        OwnData.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"{first['loc'][0]} is {first['input']!r}: {first['msg']}") from None
    parameters = {key: given for key, given in value.items() if key != "name"}
    name = value.get("name") or own.default_name(parameters)
    if name in catalog.names():
        raise ValueError(
            f"'{name}' is a data set of the catalogue; call yours otherwise: `name: my-{name}`"
        )
    return {"name": name, "parameters": parameters}


class SamplerSpec(MethodSpec):
    """A sampler's published name, or the import path of a class, with its parameters."""

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

    name: str = _key(
        "ridge", "the solver; none: kernel errors only", "`rfbench list solvers`, none"
    )
    imported: bool = False
    alphas: Annotated[list[float], BeforeValidator(_expanded)] = _key(
        [1.0], "the penalties to choose from", GRID, min_length=1
    )
    alpha_convention: Literal["absolute", "per-sample"] = _key(
        "absolute",
        "alpha |theta|^2 (half of it for logistic and svm) beside the sum over n rows, or n alpha "
        "in its place",
    )
    selection: str | None = _key(
        None,
        "how a penalty is chosen (none: the solver's own way); test: by the test error, as papers "
        "may have done",
        "fixed, validation, cvK, test",
    )
    intercept: bool = _key(True, "a constant term, without penalty")
    parameters: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, value: Any) -> Any:
        if isinstance(value, dict) and "parameters" in value:
            return value
        flat = _single_key(value, "ridge") if not isinstance(value, dict) else dict(value)
        if "class" in flat:
            return {"name": flat.pop("class"), "imported": True, "parameters": flat}
        known = {key: flat.pop(key) for key in cls.model_fields if key in flat}
        return {**known, "parameters": flat}

    def keywords(self) -> dict[str, Any]:
        """Return what the solver's constructor is called with: what differs from the defaults.

        The defaults here are those of the constructors, so that a solver without penalties takes
        a configuration that names none.
        """
        shared = {"alphas", "alpha_convention", "selection", "intercept"}
        return {**self.model_dump(include=shared, exclude_defaults=True), **self.parameters}


class BandwidthGrid(Section):
    """The bandwidth is chosen with the penalty, on the same rows."""

    cv: list[float | str]

    def __str__(self) -> str:
        return "cv: " + ", ".join(map(str, self.cv))


class KeptBy(Section):
    """M is the number of features that a sampler of the list keeps in the same trial."""

    kept_by: str


def _in_results(what: str) -> AfterValidator:
    """Return the check of the name of a column, or of a metric, of the results."""

    def check(name: str | None) -> str | None:
        from rfbench.results.schema import COLUMNS, METRICS

        names = list(METRICS if what == "metric" else COLUMNS)
        if name is not None and name not in names:
            raise ValueError(
                f"there is no {what} '{name}' in the results{nearest(name, names)}"
                + (f"; the metrics are {', '.join(names)}" if what == "metric" else "")
            )
        return name

    return AfterValidator(check)


class CheckSpec(Section):
    """A statement about a column of the results, checked and printed with the table."""

    column: Annotated[str, _in_results("column")] = _key(
        ..., "what is checked, as the mean over the trials", "a column of trials.csv"
    )
    sampler: str | None = _key(None, "of this sampler only", "a label")
    below: float | None = _key(None, "its upper bound", "a number")
    above: float | None = _key(None, "its lower bound", "a number")
    at_each: str | None = _key(None, "checked for each value of this column", "a column")
    source: str = _key("", "who says so", "text")


def _split(value: Any) -> Any:
    from rfbench.datasets import split

    sizes = value.values() if isinstance(value, dict) else ()
    if any(type(size) is float and not 0 < size < 1 for size in sizes):
        raise ValueError("a share of the rows or groups lies between 0 and 1")
    if any(type(size) is bool or (type(size) is int and size < 1) for size in sizes):
        raise ValueError("a number of rows or groups is at least 1")
    words = [key for key, size in value.items() if isinstance(size, str)] if sizes else []
    if split.way_of(value) is None or set(words) - {"column"}:
        raise ValueError(f"a split is {split.EXAMPLES}.{nearest(str(value), ['given'])}")
    return value


Split = Annotated[Literal["given"] | dict[str, float | int | str], BeforeValidator(_split)]


class Experiment(Section):
    """A checked configuration of one run; `configs/README.md` says what each key means."""

    name: str
    title: str = _key("", "the heading of tables and figures", "text")
    description: str = _key("", "what is measured, in sentences", "text")
    paper: str = _key("", "the paper whose numbers these are", "`rfbench list papers`")
    item: str = _key("", "its tables and figures", "`table3, figure1`")
    protocol: Literal["printed", "matched", "tuned", "own"] = _key(
        "own",
        "printed: the settings of the paper, our reading where it is silent. matched: choices "
        "under which its numbers come out, or come nearer. tuned: a fair comparison",
    )
    dataset: list[DatasetSpec] = _key(
        ...,
        "one data set, or several of one table; lists of parameters stand for all combinations",
        '`rfbench list datasets`, `{sphere: {d: "2:15"}}`, `{file: prices.csv, target: price}`, '
        "see below; a list",
        min_length=1,
    )
    rows: Annotated[int, Field(ge=2)] | None = _key(
        None,
        "at most so many training rows, drawn in each trial, and test rows in proportion",
        WHOLE,
    )
    split: Split = _key(
        "given",
        "as published; random (`stratified`: so much of each class; `held_out`: the same rows in "
        "all trials); as published, with so many of the training rows; whole groups (subjects), or "
        "blocks of consecutive rows; the last rows; "
        "as a column of your own data says. A share or a number",
        "given, `{test_size: 0.3}`, `{stratified: 0.3}`, `{held_out: 0.3}`, `{train_size: 5000}`, "
        "`{leave_groups: 0.3}`, `{blocks: 10, test_size: 0.3}`, `{last: 0.3}`, `{column: part}`",
    )
    scaling: Literal["none", "standard", "minmax", "minmax-all", "row-standard", "/255"] = _key(
        "standard", "of the columns (or of each row), learnt from the training rows"
    )
    target: Literal["range", "raw", "standard"] = _key(
        "range", "regression: scaled to [-1, 1] over the training rows, left, or standardised"
    )
    kernel: str = _key("gaussian", "what the features approximate", "`rfbench list kernels`")
    bandwidth: Annotated[float | str | BandwidthGrid, BeforeValidator(_bandwidth)] = _key(
        "median",
        "sigma of the kernel: the number, the median distance, the mean distance to the 50th "
        "nearest neighbour (among 1,000 rows), or multiples of these. cv: chosen with the penalty "
        f"as `solver.selection` says (none: cv5), by default from {', '.join(bandwidths.GRID)}; "
        "its time is in t_train",
        "a number, median, knn50, knn50-sample, `0.5*median`, cv, `{cv: [0.5*median, median]}`",
    )
    feature_map: Literal["offset", "paired"] = _key(
        "offset", "sqrt(2/M) cos(w'x + b), or sqrt(1/M) [cos w'x, sin w'x]: two columns each"
    )
    M: Annotated[KeptBy | list[int], BeforeValidator(_sizes)] = _key(
        ..., "numbers of features; or as many as a sampler keeps", f"{GRID}, `{{kept_by: lkrf}}`"
    )
    samplers: Annotated[list[SamplerSpec], BeforeValidator(_as_list)] = _key(
        ...,
        "the methods, with parameters (which may use M, d and n: `10*M`) and a label; "
        "`{class: IMPORT.PATH}` takes one from elsewhere",
        "`rfbench list samplers`, `- eerf: {pool_size: 10*M, label: mine}`",
        min_length=1,
    )
    solver: SolverSpec = _key(SolverSpec(), "what is fitted on the features, see below", "`ridge`")
    trials: Annotated[int, Field(ge=1, le=100_000)] = _key(
        10, "each draws new features, and rows if the split is random", WHOLE
    )
    seed: Annotated[int, Field(ge=0, lt=2**63)] = _key(0, "of all random numbers", WHOLE)
    metric: Annotated[str | None, _in_results("metric")] = _key(
        None, "what tables show; none: the error of the task", "a metric of trials.csv"
    )
    kernel_error_rows: Annotated[int, Field(ge=2)] | None = _key(
        None,
        "also measure |K - ZZ'| / |K| on so many random rows, and on up to 2000 also Delta1 and "
        "Delta2 of Zhang et al. (2019) at the middle one of the penalties",
        WHOLE,
    )
    train_error: bool = _key(False, "also measure the error on the training rows")
    kept_features: bool = _key(False, "write kept.csv: the features that lkrf keeps")
    plugins: list[str] = _key([], "packages that may be imported from, if you allow it", "a list")
    dtype: Literal["float64", "float32"] = _key("float64", "of rows and features")
    timing: Literal["shared", "isolated"] = _key(
        "shared", "sizes share their work where all methods can, or each is measured alone"
    )
    threads: Annotated[int, Field(ge=1, le=1024)] = _key(1, "of BLAS, per worker", WHOLE)
    checks: list[CheckSpec] = _key([], "statements on columns, checked with the table", "a list")

    @property
    def sizes(self) -> list[int | None]:
        """The numbers of features, each once; None: as many as a sampler keeps."""
        return [None] if isinstance(self.M, KeptBy) else list(dict.fromkeys(self.M))

    def shape(self, spec: DatasetSpec) -> tuple[int, int, int, int]:
        """Return the rows of a data set, about how many train and test, and its columns."""
        from rfbench.datasets.split import planned_rows
        from rfbench.datasets.synthetic import PROBLEMS

        entry = spec.entry
        n, given, d = entry.rows, entry.train_rows, entry.columns
        if entry.kind == "synthetic":
            values = PROBLEMS[entry.reader].complete(entry.name, spec.parameters)
            given, d = int(values["n_train"]), int(values["d"])
            n = given + int(values["n_test"])
        train, test = planned_rows(n, given, self.split)
        if self.rows is not None and self.rows < train:
            train, test = self.rows, max(1, round(test * self.rows / train))
        return n, max(1, train), test, d

    @model_validator(mode="before")
    @classmethod
    def _part(cls, value: Any) -> Any:
        """Tell data of one's own which column says `train` or `test`, so that it is no feature."""
        split = value.get("split") if isinstance(value, dict) else None
        if not isinstance(split, dict) or set(split) != {"column"}:
            return value
        told: list[Any] = []
        for spec in _as_list(value.get("dataset")):
            if isinstance(spec, dict) and set(spec) & set(OWN_SOURCES):
                told.append({**spec, "part": split["column"]})
            elif isinstance(spec, DatasetSpec) or (isinstance(spec, dict) and "parameters" in spec):
                told.append(spec)  # read before
            else:
                raise ValueError("`split: {column: ...}` is for data of your own, see `dataset`")
        return {**value, "dataset": told}

    @field_validator("dataset", mode="before")
    @classmethod
    def _datasets(cls, value: Any) -> Any:
        specs = [DatasetSpec.model_validate(item) for item in _as_list(value)]
        try:
            return grids.joined(_every_combination(spec) for spec in specs)
        except ConfigError as error:
            raise ValueError(str(error)) from None

    @model_validator(mode="after")
    def _can_be_planned(self) -> Experiment:
        settings = len(self.dataset) * len(self.sizes) * len(self.samplers)
        if settings > MOST_SETTINGS or settings * self.trials > MOST_TRIALS:
            raise ValueError(
                f"{settings} combinations of data set, M and sampler with {self.trials} trials "
                f"each are too many: at most {MOST_SETTINGS} combinations and {MOST_TRIALS} trials"
            )
        labels = [spec.label for spec in self.samplers]
        for label in labels:
            if labels.count(label) > 1:
                raise ValueError(
                    f"two samplers carry the label '{label}': give one of them another `label`"
                )
        return self


def _every_combination(spec: DatasetSpec) -> list[DatasetSpec]:
    """Return the data sets that lists of parameter values stand for (d: 2:15)."""
    if spec.own:
        return [spec]
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
