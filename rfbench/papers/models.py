"""The data of a paper, as pydantic models that check the data."""

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
# Values of a key, or named settings of several keys, by the name of a choice.
Choices = dict[str, list[Any] | dict[str, dict[str, Any]]]


def _of_paper(name: str, info: ValidationInfo) -> str:
    """Return the name of the paper that is being read; its files may omit the name."""
    paper = str((info.context or {}).get("paper", name))
    if name not in ("", paper):
        raise ValueError(f"the paper is {name} instead of {paper}. Remove this key")
    return paper


PaperName = Annotated[str, BeforeValidator(_of_paper), Field(validate_default=True)]


class _PaperSection(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Published(_PaperSection):
    """One number of a paper.

    `M` is a number of features, ``'best'`` (the best test value over all sizes) or empty (not
    stated). `spread` is a standard deviation (``'sd'``) or a standard error (``'se'``) over the
    paper's trials, and `mark` is ``'significant'`` if the paper's table marks it so. `same_as` is
    the
    item that also prints this number. It is judged and counted there, and not here.

    `unit` is one of:

    - ``'%'``: a percentage, which is judged in points.
    - ``'s'``: a time, which is not judged.
    - ``'1'``: any other positive number (an error in the unit of its target, a relative error),
    which
      is judged by the quotient of our number and the paper's.

    `row` and `column` are its place in the item, and `cell` is the printed text. `checked` is the
    source with which it was compared: the paper's text, or a figure of its page. `page` counts from
    the paper's first page; it is empty if the available text has no pages.
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
            raise ValueError(f"the cell '{self.cell}' does not contain {wanted}")
        if self.unit == PLAIN and self.value <= 0:
            raise ValueError(
                "a number with the unit 1 has to be positive, because it is compared as a ratio"
            )
        return self

    @property
    def size(self) -> int | None:
        """Number of features, if the paper states one."""
        return int(self.M) if self.M.isdigit() else None

    @property
    def half_digit(self) -> float:
        """Half a unit of the last printed digit; for '%' and 's', of the second decimal."""
        if self.unit != PLAIN:
            return 0.005
        printed = [text for text in _numerals(self.cell) if float(text) == self.value]
        exponent = Decimal((printed or [str(self.value)])[0]).as_tuple().exponent
        return 0.5 * 10.0 ** int(exponent)

    @property
    def trials(self) -> int | None:
        """Number of trials in the paper, if the paper states the number."""
        match = re.search(r"(\d+) trials", self.note)
        return int(match[1]) if match else None

    @property
    def standard_error(self) -> float | None:
        """Standard error of the published mean, if it is known."""
        if self.spread is None or self.spread_kind == "se":
            return self.spread
        return self.spread / self.trials**0.5 if self.trials else None


def parse_numbers(cell: str) -> list[float]:
    """Return the numbers in a printed cell, in their order."""
    return [float(text) for text in _numerals(cell)]


def _numerals(cell: str) -> list[str]:
    return re.findall(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?", cell)


class AuthorsRow(_PaperSection):
    """One score of the authors' own runs, a line of rows.csv.

    Columns that are not fields of this class are parameters of the sampler. M, `alpha` and these
    parameters are the settings with which a configuration measures the fold again (its key
    ``settings_from``).
    """

    dataset: str  # name in paper.yaml
    method: str  # our label
    fold: int = Field(ge=0)
    metric: Literal["rmse", "accuracy"]  # accuracy in percent
    value: float
    M: int | None = None
    alpha: float | None = None  # the only penalty in `solver.alphas`
    parameters: dict[str, float] = {}

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, value: Any) -> Any:
        given = {key: text for key, text in value.items() if text not in ("", None)}
        own = {key: given.pop(key) for key in [*given] if key not in cls.model_fields}
        return {**given, "parameters": own}

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of a trial: M, alpha and parameters, without unknown settings."""
        given = {"M": self.M, "alpha": self.alpha, **self.parameters}
        return {key: value for key, value in given.items() if value is not None}


class ShownBeside(_PaperSection):
    """Rows of rows.csv that are shown next to results of another protocol, without a verdict."""

    rows: str  # method in rows.csv
    experiments: list[str] = Field(min_length=1)  # names of results folders
    method: str  # label in the results folders
    differs: str  # difference between the two protocols


class Source(_PaperSection):
    """A data set of a paper, with its entry in the catalog and its substitutes."""

    dataset: str  # name in the catalog
    # training rows of the paper; data with other numbers are a substitute
    n_train: int | None = None
    n_test: int | None = None
    d: int | None = None  # columns of the paper
    rows: dict[
        str, int
    ] = {}  # number of training rows that an item sampled; the key is the item or `all`
    stand_ins: list[str] = []  # names of subsets and substitutes in the catalog
    larger_class: dict[str, float] = {}  # share of the majority class, by name in the catalog
    reason: str = ""  # why this catalog entry is used, if its name differs
    # Reason why the folds of rows.csv have other rows than our folds; empty if the rows are the
    # same.
    other_rows: str = ""


class Content(_PaperSection):
    """A table or figure of the paper."""

    item: str
    of: str = ""  # the item whose rows are used, if this item has no rows
    datasets: list[str] = []  # data sets in the item, if its runs have more data sets
    nothing: str = ""  # content of an item without measurements


class Doubt(_PaperSection):
    """An inconsistency of the published numbers."""

    item: str
    text: str


class SizeName(_PaperSection):
    """The paper's name of the number of features."""

    title: str = ""  # title of the axis in figures; empty for the usual one
    over_d: bool = False  # True if the paper counts in multiples of the number of columns


class Added(_PaperSection):
    """Our additional measurements for a paper, with a description of each measurement."""

    items: dict[str, str] = {}
    methods: dict[str, str] = {}  # the keys are labels of methods


# classes of settings that were chosen after looking at the paper's numbers
TUNED_TO_MATCH = (MATCHED, "rematched")


class Provenance(_PaperSection):
    """Sources of a paper's numbers and of our settings; totals are within one class.

    The class of settings is the weakest source of any key:

    - ``text``: the paper's text.
    - ``code``: the authors' code.
    - ``readings``: our interpretation of the text if the text is incomplete.
    - ``corrected``: interpretations that were changed after rows were seen, because they
      contradicted the text.
    - ``matched``: settings that are matched to the paper's numbers.
    - ``rematched``: settings that were matched and then corrected.
    - ``ours``: settings that measure something else than the paper.
    """

    # for each item; the default is a table
    sources: dict[str, Literal["table", "figure", "repository"]] = {}
    settings: dict[
        str,
        Literal["text", "code", "readings", "corrected", "matched", "rematched", "ours"],
    ] = {
        PRINTED: "readings",
        CORRECTED: "corrected",
        CODE: "code",
        MATCHED: "matched",
        TUNED: "ours",
    }  # for each protocol
    # Number of trials of each point of the curves of a results folder, if further trials were added
    # to a few points after a look at them. The added trials are shown, but not used in verdicts.
    trials: dict[str, int] = {}
    # True if all trials of the paper share one draw of rows, but our trials do not.
    one_draw_of_rows: bool = False
    contradicts: dict[
        str, str
    ] = {}  # for each protocol: the parts of the text that its settings contradict
    # For each protocol, the class of its settings when the first results were published.
    formerly: dict[str, Literal["text", "code", "readings", "ours"]] = {}
    one_finding: dict[str, str] = {}  # for each protocol: a remark on all of its numbers
    strongest_answer: str = ""  # strongest answer of the paper, in one sentence

    @property
    def earlier(self) -> str:
        """The protocol that `corrected` corrects; its rows follow an earlier interpretation."""
        return MATCHED if self.settings.get(CORRECTED) == "rematched" else PRINTED

    @field_validator("settings")
    @classmethod
    def _one_class_each(cls, settings: dict[str, str]) -> dict[str, str]:
        if len(set(settings.values())) < len(settings):
            raise ValueError("two protocols of one class would count a number twice")
        return settings


class SourceOfRows(_PaperSection):
    """Source of the authors' own runs in `rows.csv`, or of numbers in `published.csv`."""

    repository: str  # owner/name
    commit: str = Field(pattern="^[0-9a-f]{40}$")
    path: str  # path of the file or folder in the repository
    # hash of the file; empty for a folder
    sha256: str = Field(default="", pattern="^([0-9a-f]{64})?$")
    licence: str  # license of the repository, or a remark that none is stated
    note: str = ""  # how the numbers were read from it


class Paper(_PaperSection):
    """Content of a paper.yaml."""

    name: PaperName = ""  # name of the folder
    title: str
    authors: list[str] = Field(min_length=1)  # with their first names
    venue: str
    year: int
    about: str  # short description of the subject
    link: str = Field("", pattern=r"^(https://[\w./:?=&%-]+)?$")  # address at which it can be read
    datasets: dict[str, Source] = Field(
        min_length=1
    )  # the keys are the paper's names of the data sets
    methods: dict[str, str] = {}  # from our label to the name that the paper prints
    sizes: SizeName = SizeName()
    # Maps a metric of published.csv to our equivalent metric: t_pp (drawing, scoring, selecting),
    # t_features, t_train, t_test, or a sum of `rfbench.analysis.frame.SUMS`.
    measured_as: dict[str, str] = {}
    time_axis: str = "t_total"  # column of times that figures show over the size
    gains: dict[str, list[tuple[str, str]]] = {}  # for each item: (method, other)
    added: Added = Added()
    provenance: Provenance = Provenance()
    beside: list[ShownBeside] = []
    contents: list[Content] = []  # all tables and figures of the paper
    # Sentences after the counts: which settings matter, and what the text does not state. {E1} is
    # replaced by the number of comparisons of claim E1 that are inside its bounds, and {E1 mean} by
    # the mean effect of its first part at each size.
    result: str = ""
    readings: dict[str, str] = {}  # our choice for each setting that the paper does not state
    text_at_hand: bool = True  # True if the settings were checked against the paper's text
    doubts: list[Doubt] = []  # inconsistencies of the published numbers
    rows_source: SourceOfRows | None = None  # source of numbers from the authors' own runs

    @property
    def citation(self) -> str:
        """Surnames, venue and year: ``Sinha & Duchi, NIPS 2016``."""
        *others, last = [author.split()[-1] for author in self.authors]
        names = f"{', '.join(others)} & {last}" if others else last
        return f"{names}, {self.venue} {self.year}"


class Part(_PaperSection):
    """Comparison of a claim: a paired quantity that is between `low` and `high` if the claim holds.

    The quantity is `metric` of `method` minus the metric of each method of `against`, per trial.
    With the scale ``'ratio'`` it is the quotient. Without `against` it is the metric itself.

    Two methods are compared at equal values of `along`: features as the paper counts them, real
    columns, or the dimension of the data.

    `at` selects the values:

    - ``each`` value, the ``largest``, the ``lower-half`` or the ``upper-half``.
    - ``best``: each method at its own size with the smallest mean test error.
    - ``equal-time``: the other method's error interpolated at each time of `method` that both
      reached.
    - ``own``: the values of the claim's own function in the paper's ``claims.py``.
    """

    says: str  # description of the comparison
    items: list[str]  # items whose experiments are used
    datasets: list[str]
    protocols: list[str] = []  # empty for all protocols
    metric: str
    method: str
    against: list[str] = []
    # for each method: values of its sampler's parameters
    settings: dict[str, dict[str, Any]] = {}
    along: Literal["M", "columns", "d"] = "M"
    at: Literal["each", "largest", "lower-half", "upper-half", "best", "equal-time", "own"]
    scale: Literal["difference", "ratio"] = "difference"
    low: float | None = None  # in the metric's units or as a quotient
    high: float | None = None
    values: int = 1  # smallest number of values along the axis with which the part can hold

    @property
    def of_times(self) -> bool:
        """True if times are compared, or errors at equal times."""
        return self.metric.startswith("t_") or self.at == "equal-time"


class Claim(_PaperSection):
    """A claim of a paper in our words, with the comparisons that test it.

    A claim of the kind ``shown`` has no verdict, because no test could decide it: its effects are
    on the page, without bounds. A claim on times is also only shown, because times depend on a
    program and a machine. `whose` is ``paper`` or ``we``. `bounds` is ``after`` if they were set
    after a look at results that are not in git. `note` is a remark for readers of the verdict.
    `strongest_answer` is the best reply of its authors if it does not reproduce, in one sentence.
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
            raise ValueError(
                "a part of a claim needs a bound, low or high, unless the kind of the "
                "claim is shown"
            )
        return self

    @property
    def key(self) -> tuple[str, str]:
        """Paper and id; an id is unique within its paper."""
        return self.paper, self.id

    @property
    def of_times(self) -> bool:
        """True if the claim depends on times, and therefore on the software and the machine."""
        return any(part.of_times for part in self.parts)

    @property
    def judged(self) -> bool:
        """True if the claim gets a verdict under any protocol."""
        return self.kind == "judged" and not self.of_times

    def judged_under(self, protocol: str) -> bool:
        """Return True if the claim gets a verdict under a protocol.

        Under `TUNED`, which measures something else than the papers, only claims that list
        this protocol get a verdict.
        """
        named = any(TUNED in part.protocols for part in self.parts)
        return self.judged and (protocol != TUNED or named)


class Committed(_PaperSection):
    """The commits of a form and of the first rows that this form decides about.

    It is a line of history.csv, which `python -m scripts.history` writes from git. A form decides a
    result: metric, methods, settings, data, sizes, scale and bounds, but not wording. A form that
    was committed before the first rows may still have been written by someone who had seen rows.
    """

    kind: Literal["claim", "data", "rule", "setting"]
    name: str  # name of the claim, the data set or its entry, the rule of paper.yaml, or the run
    keys: str = ""  # for settings: the keys with this history
    form: str  # first commit of the present form; empty if it is not committed yet
    form_date: str
    rows: str  # commit of the first rows; empty without rows
    rows_date: str
    # Order of the two commits. The form was committed before or after the first rows; the order is
    # unknown if the commits are on branches.
    order: Literal["before", "same commit", "after", "unknown", "no rows"]


class Recorded(_PaperSection):
    """A file in a commit of this repository with a verdict."""

    commit: str
    file: str


class Change(_PaperSection):
    """An entry of changes.yaml: a claim whose first form or verdict is not the current one.

    `why` is the kind of change: the ``definition`` of the claim (comparison, data, bounds), a
    ``rule`` of the verdicts, a statistical ``test``, or ``rows`` that were added or measured again.
    """

    id: str
    first_form: str  # text of the first form
    first_verdicts: dict[str, str] = Field(min_length=1)  # by protocol
    recorded: Recorded  # file and commit of the first verdicts
    changed_by: list[str] = Field(min_length=1)  # commits that changed the claim
    why: list[Literal["definition", "rule", "test", "rows"]] = Field(min_length=1)
    withdrawn: bool = False  # True if the claim was removed
    reason: str


class Folder(_PaperSection):
    """Content of the files of a paper; all files but paper.yaml may be missing."""

    paper: Paper
    published: tuple[Published, ...]  # in the order of the paper's tables
    rows: tuple[AuthorsRow, ...] = ()  # the authors' own runs
    claims: tuple[Claim, ...] = ()
    open_choices: dict[str, Choices] = {}  # for `all`, for ITEM, or for ITEM/DATASET
    # Choices that the text does not mention; all other choices contradict the text.
    gaps: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()  # choices of this kind that only `rfbench audit --gaps` varies
    history: tuple[Committed, ...] = ()
    changes: tuple[Change, ...] = ()
    code: Path | None = None  # path of its claims.py
    folder: Path | None = None  # the folder of a paper that is not part of rfbench
    withheld: bool = False  # True if it has a claims.py, and running it was not allowed

    @property
    def outside(self) -> bool:
        """True if the paper is not part of rfbench."""
        return self.folder is not None
