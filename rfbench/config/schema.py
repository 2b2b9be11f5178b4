"""The schema of a configuration, which pydantic checks.

The tables of configs/README.md explain each key and its values.
"""

from __future__ import annotations

import itertools
import math
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PrivateAttr, field_validator, model_validator

from rfbench import bandwidths, grids
from rfbench.config.specs import (
    BandwidthGrid,
    CheckSpec,
    DatasetSpec,
    SameSizeAs,
    SamplerSpec,
    Section,
    SolverSpec,
    Split,
    as_list,
    expand_number_grids,
    make_column_validator,
)
from rfbench.datasets import split
from rfbench.datasets.catalog import SOURCES, Entry
from rfbench.datasets.prepare import DType, Scaling, Target
from rfbench.datasets.synthetic import PROBLEMS
from rfbench.errors import ConfigError

# Maximum number of trials of a plan. Planning a trial needs a millisecond (measured), so this
# number of trials needs 17 minutes, and twice this number 33 minutes.
MOST_TRIALS = 1_000_000


def _sizes(value: Any) -> Any:
    """Expand the numbers of features M into a list. `{kept_by: sampler}` is returned unchanged."""
    if isinstance(value, dict) and set(value) == {"kept_by"}:
        return value
    sizes = expand_number_grids(value)
    counts = isinstance(sizes, list) and all(type(size) is int and size >= 1 for size in sizes)
    if not counts or not sizes:
        raise ValueError(
            "M has to be whole numbers of at least 1, a list or "
            f"{grids.GRID_GRAMMAR}, or {{kept_by: SAMPLER}}"
        )
    return sizes


def _bandwidth(value: Any) -> Any:
    """Expand a grid of bandwidths into a list. A single bandwidth is returned unchanged."""
    if value == "cv":
        return {"cv": list(bandwidths.BANDWIDTH_GRID)}
    if not isinstance(value, dict):
        return value
    listed = expand_number_grids(value.get("cv"))
    good = isinstance(listed, list) and all(map(bandwidths.ALLOWED.holds, listed))
    widen = value.get("widen", False)
    if not {"cv"} <= set(value) <= {"cv", "widen"} or not good or not listed:
        raise ValueError(
            "write {cv: ..., widen: true} with a list of values, each of which is "
            f"{bandwidths.ALLOWED.words}"
        )
    return {"cv": listed, "widen": widen}


def _kernel(value: Any) -> Any:
    """Convert ``{class: path}`` to the import path. The name of a kernel is returned unchanged."""
    return value["class"] if isinstance(value, dict) and set(value) == {"class"} else value


class Experiment(Section):
    """Checked configuration of one run. The file `configs/README.md` explains each key."""

    name: str
    title: str = ""
    description: str = ""
    paper: str = ""
    item: str = ""
    protocol: Literal["printed", "corrected", "code", "matched", "tuned", "own"] = "own"
    dataset: list[DatasetSpec] = Field(min_length=1)
    rows: Annotated[int, Field(ge=2)] | None = None
    test_rows: Annotated[int, Field(ge=1)] | None = None
    split: Split = "given"
    scaling: Scaling = "standard"
    target: Target = "range"
    kernel: Annotated[str, BeforeValidator(_kernel)] = "gaussian"
    bandwidth: Annotated[float | str | BandwidthGrid, BeforeValidator(_bandwidth)] = "median"
    feature_map: Literal["offset", "paired"] = "offset"
    M: Annotated[SameSizeAs | list[int], BeforeValidator(_sizes)]
    samplers: Annotated[list[SamplerSpec], Field(min_length=1), BeforeValidator(as_list)]
    solver: SolverSpec = SolverSpec()
    settings_from: str = ""
    features_in_folds: Literal["nested", "once"] = "nested"
    trials: Annotated[int, Field(ge=1, le=100_000)] = 10
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    metric: Annotated[str | None, make_column_validator("metric")] = None
    kernel_error_rows: Annotated[int, Field(ge=2)] | None = None
    kernel_error_draws: Literal[1, 2] = 1
    kernel_error_repeats: Annotated[int, Field(ge=1, le=100_000)] = 1
    train_error: bool = False
    refit_time: bool = False
    kept_features: bool = False
    predictions: bool = False
    dtype: DType = "float64"
    threads: Annotated[int, Field(ge=1, le=1024)] = 1
    checks: list[CheckSpec] = Field(default_factory=list)
    _changed: list[str] = PrivateAttr(default_factory=list)

    def __eq__(self, other: object) -> bool:
        """Return True if both configurations have equal values, even if ``--set`` changed them."""
        return isinstance(other, Experiment) and dict(self) == dict(other)

    @property
    def changed_settings(self) -> list[str]:
        """Settings ``key = value`` that the option ``--set`` changed, except for `trials`."""
        return self._changed

    @property
    def sizes(self) -> list[int | None]:
        """Distinct numbers of features M. None is the number of features that a sampler keeps."""
        return [None] if isinstance(self.M, SameSizeAs) else list(dict.fromkeys(self.M))

    def estimate_shape(self, spec: DatasetSpec, entry: Entry | None = None) -> tuple[int, int]:
        """Return the approximate numbers of rows and columns of a data set's training set."""
        entry = entry or spec.entry
        n, given, d = entry.rows, entry.train_rows, entry.columns
        if entry.kind == "synthetic":
            values = PROBLEMS[entry.reader].complete(entry.name, spec.parameters)
            given, d = int(values["n_train"]), int(values["d"])
            n = given + int(values["n_test"])
        train = split.count_training_rows(n, given, self.split)
        return max(1, min(train, self.rows or train)), d

    @model_validator(mode="before")
    @classmethod
    def _part(cls, value: Any) -> Any:
        """Mark the column of a user's data that contains `train` or `test` for each row.

        The key ``split`` names this column, which is therefore not a feature.
        """
        split = value.get("split") if isinstance(value, dict) else None
        if not isinstance(split, dict) or set(split) != {"column"}:
            return value
        told: list[Any] = []
        for spec in as_list(value.get("dataset")):
            if isinstance(spec, dict) and set(spec) & set(SOURCES):
                told.append({**spec, "part": split["column"]})
            elif isinstance(spec, DatasetSpec) or (isinstance(spec, dict) and "parameters" in spec):
                told.append(spec)  # this entry is valid, because it was validated before
            else:
                raise ValueError("`split: {column: ...}` is only for data of your own (`dataset`)")
        return {**value, "dataset": told}

    @field_validator("dataset", mode="before")
    @classmethod
    def _datasets(cls, value: Any) -> Any:
        specs = [DatasetSpec.model_validate(item) for item in as_list(value)]
        try:
            return grids.join_lists(_every_combination(spec) for spec in specs)
        except ConfigError as error:
            raise ValueError(str(error)) from None

    @model_validator(mode="before")
    @classmethod
    def _timed_alone(cls, value: Any) -> Any:
        """Remove the outdated key `timing: isolated` of a configuration. Reject other values."""
        if not isinstance(value, dict) or "timing" not in value:
            return value
        if value["timing"] != "isolated":
            raise ValueError("every trial is timed separately: remove the key `timing`")
        return {key: item for key, item in value.items() if key != "timing"}

    @model_validator(mode="after")
    def _can_be_planned(self) -> Experiment:
        trials = len(self.dataset) * len(self.sizes) * len(self.samplers) * self.trials
        if trials > MOST_TRIALS:
            raise ValueError(f"{trials:,} trials are too many. The maximum is {MOST_TRIALS:,}")
        labels = [spec.label for spec in self.samplers]
        for label in labels:
            if labels.count(label) > 1:
                raise ValueError(
                    f"two samplers have the label '{label}'. Change one of the two keys `label`"
                )
        return self


def _every_combination(spec: DatasetSpec) -> list[DatasetSpec]:
    """Return a data set for each combination of parameter values, such as each d in d: 2:15."""
    if spec.is_user_data:
        return [spec]
    keys = list(spec.parameters)
    choices = [
        as_list(expand_number_grids(value)) if isinstance(value, str | list) else [value]
        for value in spec.parameters.values()
    ]
    if math.prod(map(len, choices)) > grids.MAX_POINTS:
        raise ValueError(f"{spec.name} describes more than {grids.MAX_POINTS} data sets")
    return [
        DatasetSpec(name=spec.name, parameters=dict(zip(keys, values, strict=True)))
        for values in itertools.product(*choices)
    ]
