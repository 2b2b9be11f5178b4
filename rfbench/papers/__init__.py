"""The published numbers, the claims of the papers, and what their data sets are called here."""

from __future__ import annotations

import csv
import re
from functools import cache
from importlib import resources
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from rfbench.errors import ResultsError, nearest

PROTOCOLS = ("printed", "as-run", "tuned")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Published(_Strict):
    """One number of a paper.

    `M` is a number of features, ``'best'`` (the best test value over all sizes) or empty (not
    stated). `spread` is a standard deviation (``'sd'``) or a standard error (``'se'``) over the
    paper's trials; `mark` is ``'significant'`` where the paper's table says so.
    """

    paper: str
    item: str
    dataset: str
    method: str
    M: str
    metric: str
    value: float
    spread: float | None
    spread_kind: Literal["sd", "se", ""]
    unit: Literal["%", "s"]
    mark: Literal["significant", ""]
    note: str

    @field_validator("spread", mode="before")
    @classmethod
    def _empty(cls, value: Any) -> Any:
        return None if value == "" else value

    @property
    def size(self) -> int | None:
        """The number of features, where the paper states one."""
        return int(self.M) if self.M.isdigit() else None

    @property
    def trials(self) -> int | None:
        """The number of the paper's trials, where it is stated."""
        found = re.search(r"(\d+) trials", self.note)
        return int(found[1]) if found else None

    @property
    def standard_error(self) -> float | None:
        """The standard error of the published mean, where it is known."""
        if self.spread is None or self.spread_kind == "se":
            return self.spread
        return self.spread / self.trials**0.5 if self.trials else None


class Source(_Strict):
    """What a paper's data set is in the catalogue, and what stands in for it.

    Attributes
    ----------
    dataset : str
        Name in the catalogue.
    n_train, n_test : int or None
        The rows of the paper; an experiment on other numbers of rows is a stand-in.
    rows : dict
        By item (or ``'all'``): the number of training rows that the item itself sampled.
    stand_ins : list of str
        Catalogue names of subsets and replacements; they never count as the data set.
    reason : str
        Why this entry of the catalogue, where the names differ.
    """

    dataset: str
    n_train: int | None = None
    n_test: int | None = None
    rows: dict[str, int] = Field(default_factory=dict)
    stand_ins: list[str] = Field(default_factory=list)
    reason: str = ""


class Doubt(_Strict):
    """Something about the published numbers that does not fit together."""

    paper: str
    item: str
    text: str


class Part(_Strict):
    """A comparison that a claim asserts: a paired quantity lies between `low` and `high`.

    The quantity is `metric` of `method`, less that of each method of `against` (or less
    `against_metric` of the same method), trial by trial; with the scale ``'ratio'`` it is the
    quotient. Without `against` it is the metric itself.

    Attributes
    ----------
    says : str
        The comparison in words.
    items, datasets, protocols : list of str
        Which experiments count; no protocols means every one.
    along : {'M', 'd'}
        What `at` selects on.
    at : str
        ``each`` value; the ``largest``; the ``lower-half`` or ``upper-half`` of the values; the
        ``slope`` over them; ``growth``, largest less smallest; ``plateau``, largest less the one
        before, both at least as large as the number of features kept; ``best``, each method at its
        own size of the smallest mean test error;
        ``equal-time`` and ``equal-time-last``, the other method's error interpolated at the time
        that `method` took, at each or at the largest time that both reached.
    against_factor : int
        The other method has so many times the features.
    low, high : float or None
        The bounds, in the metric's units or as a quotient.
    family : {'claim', 'dataset'}
        Over which comparisons Holm's correction runs.
    values : int
        The smallest number of values along the axis with which the part can hold.
    least_d : int
        Only data with so many columns count.
    """

    says: str
    items: list[str]
    datasets: list[str]
    protocols: list[str] = Field(default_factory=list)
    metric: str
    method: str
    against: list[str] = Field(default_factory=list)
    against_metric: str | None = None
    against_factor: int = 1
    along: Literal["M", "d"] = "M"
    at: Literal[
        "each", "largest", "lower-half", "upper-half", "slope", "growth", "plateau", "best",
        "equal-time", "equal-time-last",
    ]  # fmt: skip
    scale: Literal["difference", "ratio"] = "difference"
    low: float | None = None
    high: float | None = None
    family: Literal["claim", "dataset"] = "dataset"
    values: int = 1
    least_d: int = 1

    @model_validator(mode="after")
    def _bounded(self) -> Part:
        if self.low is None and self.high is None:
            raise ValueError("a part needs a bound, low or high")
        return self


class Claim(_Strict):
    """A claim of a paper, in own words, with what would show it.

    `kind` is ``order``, ``equality``, ``bound``, ``ratio`` or ``trend`` (words for the reader: the
    parts are what is tested; all must hold), or ``marks``: the marks of significance of
    `published.csv`, of which a share of at most `tolerance` may come out differently.
    """

    id: str
    paper: str
    where: str
    claim: str
    source: str
    kind: Literal["order", "equality", "bound", "ratio", "trend", "marks"]
    parts: list[Part] = Field(default_factory=list)
    tolerance: float = 0.0

    @model_validator(mode="after")
    def _testable(self) -> Claim:
        if (self.kind == "marks") == bool(self.parts):
            raise ValueError(f"{self.id}: parts are for every kind but marks, and needed there")
        return self


def _text(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


@cache
def published() -> tuple[Published, ...]:
    """Return every published number, in the order of the papers' tables."""
    reader = csv.DictReader(_text("published.csv").splitlines())
    return tuple(Published.model_validate(row) for row in reader)


@cache
def claims() -> tuple[Claim, ...]:
    """Return the claims of the papers, E1 to T6."""
    return tuple(Claim.model_validate(entry) for entry in _mapping("claims.yaml")["claims"])


@cache
def doubts() -> tuple[Doubt, ...]:
    """Return what does not fit together in the published numbers."""
    return tuple(Doubt.model_validate(entry) for entry in _mapping("sources.yaml")["doubts"])


@cache
def sources() -> dict[str, dict[str, Source]]:
    """Return the data sets of each paper by the names that the paper gives them."""
    return {
        paper: {name: Source.model_validate(entry) for name, entry in named.items()}
        for paper, named in _mapping("sources.yaml")["datasets"].items()
    }


def _mapping(name: str) -> dict[str, Any]:
    content: dict[str, Any] = yaml.load(_text(name), Loader=_LOADER)
    return content


_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def papers() -> list[str]:
    """Return the short names of the papers."""
    return list(sources())


def check_paper(name: str) -> str:
    """Return the name of a paper; ResultsError with the nearest one otherwise."""
    if name not in papers():
        raise ResultsError(
            f"There is no paper '{name}'.{nearest(name, papers())}",
            f"The papers are {', '.join(papers())}.",
        )
    return name
