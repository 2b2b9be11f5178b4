"""What is known of a paper, as checked by pydantic."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

PRINTED, CODE, MATCHED, TUNED = "printed", "code", "matched", "tuned"
CORRECTED = "corrected"
PERCENT, SECONDS, PLAIN = "%", "s", "1"  # units of published numbers
# By the name of a choice: the values of that key, or named settings of several keys.
Choices = dict[str, list[Any] | dict[str, dict[str, Any]]]


def _of_paper(name: str, info: ValidationInfo) -> str:
    """Take the name of the paper that is read, which its files need not repeat."""
    paper = str((info.context or {}).get("paper", name))
    if name not in ("", paper):
        raise ValueError(f"it names the paper {name}, and this is {paper}; leave it out")
    return paper


PaperName = Annotated[str, BeforeValidator(_of_paper), Field(validate_default=True)]


class _PaperSection(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Published(_PaperSection):
    """One number of a paper.

    `M` is a number of features, ``'best'`` (the best test value over all sizes) or empty (not
    stated). `spread` is a standard deviation (``'sd'``) or a standard error (``'se'``) over the
    paper's trials; `mark` is ``'significant'`` where the paper's table says so. `same_as` is the
    item that prints the very number as well: there it is judged and counted, here it is not.

    `unit` is ``'%'``, which is judged in points; ``'s'``, a time, which is not judged; or ``'1'``,
    any other number above 0 (an error in the unit of its target, a relative error), which is judged
    by the quotient of ours and theirs.

    `row` and `column` say where in the item it stands, `cell` quotes what is printed there, and
    `checked` says against what: the paper's text, or a figure of its page. `page` counts from the
    paper's first; it is empty where the text at hand has no pages.
    """

    paper: PaperName = ""
    item: str
    dataset: str
    method: str
    M: str
    metric: str
    value: float
    unit: Literal["%", "s", "1"]
    spread: float | None = None
    spread_kind: Literal["sd", "se", ""] = ""
    mark: Literal["significant", ""] = ""
    note: str = ""
    same_as: str = ""
    page: int | None = None
    row: str = ""
    column: str = ""
    cell: str = ""
    checked: Literal["text", "figure", "no"] = "no"

    @field_validator("spread", "page", mode="before")
    @classmethod
    def _empty(cls, value: Any) -> Any:
        return None if value == "" else value

    @model_validator(mode="after")
    def _quoted(self) -> Published:
        quoted = parse_numbers(self.cell)
        wanted = [self.value] if self.spread is None else [self.value, self.spread]
        places = range(len(quoted))
        if self.cell and not any(quoted[i : i + len(wanted)] == wanted for i in places):
            raise ValueError(f"the cell '{self.cell}' does not say {wanted}")
        if self.unit == PLAIN and self.value <= 0:
            raise ValueError("a number with the unit 1 is above 0, for it is judged by a quotient")
        return self

    @property
    def size(self) -> int | None:
        """The number of features, where the paper states one."""
        return int(self.M) if self.M.isdigit() else None

    @property
    def half_digit(self) -> float:
        """Half of the last printed digit; of percentages and times, half of the second decimal."""
        if self.unit != PLAIN:
            return 0.005
        printed = [text for text in _numerals(self.cell) if float(text) == self.value]
        exponent = Decimal((printed or [str(self.value)])[0]).as_tuple().exponent
        return 0.5 * 10.0 ** int(exponent)

    @property
    def trials(self) -> int | None:
        """The number of the paper's trials, where it is stated."""
        match = re.search(r"(\d+) trials", self.note)
        return int(match[1]) if match else None

    @property
    def standard_error(self) -> float | None:
        """The standard error of the published mean, where it is known."""
        if self.spread is None or self.spread_kind == "se":
            return self.spread
        return self.spread / self.trials**0.5 if self.trials else None


def parse_numbers(cell: str) -> list[float]:
    """Return the numbers of a printed cell, in their order."""
    return [float(text) for text in _numerals(cell)]


def _numerals(cell: str) -> list[str]:
    return re.findall(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?", cell)


class AuthorsRow(_PaperSection):
    """One score of the authors' own runs, a line of rows.csv.

    Columns that are no field here are parameters of the sampler. M, `alpha` and these are the
    settings with which a configuration measures the fold again (its key ``settings_from``).
    """

    dataset: str  # as in paper.yaml
    method: str  # our label
    fold: int = Field(ge=0)
    metric: Literal["rmse", "accuracy"]  # accuracy in percent
    value: float
    M: int | None = None
    alpha: float | None = None  # the one penalty of `solver.alphas`
    parameters: dict[str, float] = {}

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, value: Any) -> Any:
        given = {key: text for key, text in value.items() if text not in ("", None)}
        own = {key: given.pop(key) for key in [*given] if key not in cls.model_fields}
        return {**given, "parameters": own}

    @property
    def settings(self) -> dict[str, Any]:
        """What a trial takes of it: M, alpha and parameters, as far as they are known."""
        given = {"M": self.M, "alpha": self.alpha, **self.parameters}
        return {key: value for key, value in given.items() if value is not None}


class ShownBeside(_PaperSection):
    """Rows of rows.csv that are shown beside results of another protocol, and not judged."""

    rows: str  # their method
    experiments: list[str] = Field(min_length=1)  # names of results folders
    method: str  # the label there
    differs: str  # what must be known of the two protocols


class Source(_PaperSection):
    """What a paper's data set is in the catalogue, and what stands in for it."""

    dataset: str  # name in the catalogue
    n_train: int | None = None  # rows of the paper; other numbers of rows are a stand-in
    n_test: int | None = None
    d: int | None = None  # columns of the paper
    rows: dict[str, int] = {}  # by item, or all: training rows that the item itself sampled
    stand_ins: list[str] = []  # catalogue names of subsets and replacements
    larger_class: dict[str, float] = {}  # its share of the rows, by catalogue name
    reason: str = ""  # why this entry of the catalogue, where the names differ
    other_rows: str = ""  # why a fold of rows.csv has other rows than here; empty: the same


class Content(_PaperSection):
    """A table or figure of the paper."""

    item: str
    of: str = ""  # the item whose rows it shows, where it is another
    datasets: list[str] = []  # that it shows, if its runs have others as well
    nothing: str = ""  # what it holds, where that is nothing to measure


class Doubt(_PaperSection):
    """Something about the published numbers that does not fit together."""

    item: str
    text: str


class SizeName(_PaperSection):
    """What the paper calls the number of features."""

    title: str = ""  # of the axis of sizes in figures; empty for the usual one
    over_d: bool = False  # whether the paper counts in multiples of the number of columns


class Added(_PaperSection):
    """What is measured for a paper but is not the paper's: each with what it is."""

    items: dict[str, str] = {}
    methods: dict[str, str] = {}  # by label


# Classes of settings that were chosen with the paper's numbers in sight.
TUNED_TO_MATCH = (MATCHED, "rematched")


class Provenance(_PaperSection):
    """Where a paper's numbers come from, and our settings: totals are made within one class.

    Settings are classed by the weakest source of any key: the paper's ``text``; its authors'
    ``code``; our ``readings`` of the text where it is silent; ``corrected`` readings, changed after
    rows were seen because they contradicted the text; those ``matched`` to its numbers, or
    ``rematched``: matched and then corrected; or ``ours``, which measure something else than the
    paper did.
    """

    sources: dict[str, Literal["table", "figure", "repository"]] = {}  # by item; else a table
    settings: dict[
        str,
        Literal["text", "code", "readings", "corrected", "matched", "rematched", "ours"],
    ] = {
        PRINTED: "readings",
        CORRECTED: "corrected",
        CODE: "code",
        MATCHED: "matched",
        TUNED: "ours",
    }  # by protocol
    # By results folder, how many trials each point of its curves has, where rows were added to some
    # points after a look at them: those that were added are shown, and are in no verdict.
    trials: dict[str, int] = {}
    one_draw_of_rows: bool = False  # whether all of the paper's trials share it, and ours do not
    contradicts: dict[str, str] = {}  # by protocol: what of the text its settings are not
    # By protocol, the class that its settings had when the first results were published.
    formerly: dict[str, Literal["text", "code", "readings", "ours"]] = {}
    one_finding: dict[str, str] = {}  # by protocol: what all of its numbers show, a remark
    strongest_answer: str = ""  # of the paper, in one sentence

    @property
    def earlier(self) -> str:
        """The protocol that `corrected` corrects: the one whose rows are an earlier reading."""
        return MATCHED if self.settings.get(CORRECTED) == "rematched" else PRINTED

    @field_validator("settings")
    @classmethod
    def _one_class_each(cls, settings: dict[str, str]) -> dict[str, str]:
        if len(set(settings.values())) < len(settings):
            raise ValueError("two protocols of one class would count a number twice")
        return settings


class SourceOfRows(_PaperSection):
    """Where the authors' own runs were taken from: `rows.csv`, or numbers of `published.csv`."""

    repository: str  # owner/name
    commit: str = Field(pattern="^[0-9a-f]{40}$")
    path: str  # of the file or folder there
    sha256: str = Field(default="", pattern="^([0-9a-f]{64})?$")  # of the file; none of a folder
    licence: str  # of the repository, or that none is stated
    note: str = ""  # how the numbers were taken from it


class Paper(_PaperSection):
    """The content of a paper.yaml."""

    name: PaperName = ""  # that of the folder
    title: str
    authors: list[str] = Field(min_length=1)  # with their first names
    venue: str
    year: int
    about: str  # its subject in a few words
    link: str = Field("", pattern=r"^(https://[\w./:?=&%-]+)?$")  # where it can be read
    datasets: dict[str, Source] = Field(min_length=1)  # by the name that the paper gives them
    methods: dict[str, str] = {}  # from our label to the name that the paper prints
    sizes: SizeName = SizeName()
    # From a metric of published.csv to the one of ours that measures the same: t_pp (drawing,
    # scoring, selecting), t_features, t_train, t_test, or a sum of `rfbench.analysis.frame.SUMS`.
    measured_as: dict[str, str] = {}
    time_axis: str = "t_total"  # the time that figures over the size show
    gains: dict[str, list[tuple[str, str]]] = {}  # by item: (method, other)
    added: Added = Added()
    provenance: Provenance = Provenance()
    beside: list[ShownBeside] = []
    contents: list[Content] = []  # the paper's tables and figures, each one
    # Sentences after the counts: which settings matter, and what the text does not state.
    # {E1} stands for how many comparisons of a claim are inside its bounds, {E1 mean} for the mean
    # effect of its first part at each size.
    result: str = ""
    readings: dict[str, str] = {}  # our reading of each setting that the paper does not state
    text_at_hand: bool = True  # whether the settings were checked against the paper's text
    doubts: list[Doubt] = []  # each with an item and a text
    rows_source: SourceOfRows | None = None  # where numbers of the authors' own runs come from

    @property
    def citation(self) -> str:
        """The surnames, venue and year: ``Sinha & Duchi, NIPS 2016``."""
        *others, last = [author.split()[-1] for author in self.authors]
        names = f"{', '.join(others)} & {last}" if others else last
        return f"{names}, {self.venue} {self.year}"


class Part(_PaperSection):
    """A comparison of a claim: a paired quantity, which lies between `low` and `high` if it holds.

    The quantity is `metric` of `method`, less that of each method of `against`, trial by trial;
    with the scale ``'ratio'`` it is the quotient. Without `against` it is the metric itself.

    `along` is what two methods are compared at the same of: features as the paper counts them, real
    columns, or the dimension of the data; `at` says where on it: ``each`` value; the ``largest``;
    the ``lower-half`` or ``upper-half``; ``best``, each method at its own size of the smallest mean
    test error; ``equal-time``, the other method's error interpolated at the time that `method`
    took, at each time that both reached; ``own``, what the claim's own function in the paper's
    ``claims.py`` says.
    """

    says: str  # the comparison in words
    items: list[str]  # which experiments count
    datasets: list[str]
    protocols: list[str] = []  # none means every one
    metric: str
    method: str
    against: list[str] = []
    settings: dict[str, dict[str, Any]] = {}  # by method, of its sampler: a value, or several
    along: Literal["M", "columns", "d"] = "M"
    at: Literal["each", "largest", "lower-half", "upper-half", "best", "equal-time", "own"]
    scale: Literal["difference", "ratio"] = "difference"
    low: float | None = None  # in the metric's units or as a quotient
    high: float | None = None
    values: int = 1  # the smallest number of values along the axis with which the part can hold

    @property
    def of_times(self) -> bool:
        """Whether times are compared, or what is reached in the same time."""
        return self.metric.startswith("t_") or self.at == "equal-time"


class Claim(_PaperSection):
    """A claim of a paper, in own words, with what would show it.

    One of the kind ``shown`` is not judged, for no test could decide it: its effects stand on the
    page, without bounds. A claim on times is shown too, for times belong to a program and a
    machine. `whose` says who makes it, the ``paper`` or ``we``. `bounds` is ``after`` where they
    were set with results in sight that git does not have. `note` is what a reader of the verdict
    must know; `strongest_answer` is the best that its authors could say where it does not
    reproduce, in one sentence.
    """

    id: str
    paper: PaperName = ""
    where: str
    claim: str
    source: str
    kind: Literal["judged", "shown"] = "judged"
    whose: Literal["paper", "we"] = "paper"
    bounds: Literal["", "after"] = ""
    note: str = ""
    strongest_answer: str = ""
    parts: list[Part] = Field(min_length=1)

    @model_validator(mode="after")
    def _bounded(self) -> Claim:
        bounded = {part.low is not None or part.high is not None for part in self.parts}
        if bounded != {self.kind == "judged"}:
            raise ValueError("a part needs a bound, low or high, unless the claim is only shown")
        return self

    @property
    def key(self) -> tuple[str, str]:
        """What names it among those of all papers: an id stands for one claim of its paper."""
        return self.paper, self.id

    @property
    def of_times(self) -> bool:
        """Whether it rests on times, and so on a program and a machine."""
        return any(part.of_times for part in self.parts)

    @property
    def judged(self) -> bool:
        """Whether it gets a verdict, under some protocol."""
        return self.kind == "judged" and not self.of_times

    def judged_under(self, protocol: str) -> bool:
        """Whether it gets a verdict under a protocol.

        Not under `TUNED`, which measures something else than the papers did, unless it says so.
        """
        named = any(TUNED in part.protocols for part in self.parts)
        return self.judged and (protocol != TUNED or named)


class Committed(_PaperSection):
    """When a form was committed, and when the first rows that it decides about.

    A line of history.csv, which `python -m scripts.history` writes from git. A form is what decides
    a result: metric, methods, settings, data, sizes, scale and bounds, not wording. That a form was
    committed before the first rows does not show that nobody had seen rows when it was made.
    """

    kind: Literal["claim", "data", "rule", "setting"]
    name: str  # of the claim, the data set or its entry, the rule of paper.yaml, the run
    keys: str = ""  # of settings: the keys with this history
    form: str  # the commit from which on the present form is there; empty: not committed yet
    form_date: str
    rows: str  # the commit of the first rows; empty: there are none
    rows_date: str
    # Whether the form was committed before the first rows, or after; unknown: on branches.
    order: Literal["before", "same commit", "after", "unknown", "no rows"]


class Recorded(_PaperSection):
    """A file of a commit of this repository that has a verdict."""

    commit: str
    file: str


class Change(_PaperSection):
    """A claim whose first form, or first verdict, is not the present one: an entry of changes.yaml.

    `why` is what changed: the ``definition`` of the claim (what is compared, on what data, within
    which bounds), a ``rule`` of the verdicts, a statistical ``test``, or ``rows`` that were added
    or measured again.
    """

    id: str
    first_form: str  # in words
    first_verdicts: dict[str, str] = Field(min_length=1)  # by protocol
    recorded: Recorded  # where these are
    changed_by: list[str] = Field(min_length=1)  # commits
    why: list[Literal["definition", "rule", "test", "rows"]] = Field(min_length=1)
    withdrawn: bool = False  # whether the claim is not there any more
    reason: str


class Folder(_PaperSection):
    """What the files of a paper hold; all but paper.yaml may be missing."""

    paper: Paper
    published: tuple[Published, ...]  # in the order of the paper's tables
    rows: tuple[AuthorsRow, ...] = ()  # of the authors' own runs
    claims: tuple[Claim, ...] = ()
    open_choices: dict[str, Choices] = {}  # by all, item or item/data set
    gaps: tuple[str, ...] = ()  # choices of which the text says nothing; the others contradict it
    apart: tuple[str, ...] = ()  # such choices that `rfbench audit --gaps` alone varies
    history: tuple[Committed, ...] = ()
    changes: tuple[Change, ...] = ()
    code: Path | None = None  # its claims.py
