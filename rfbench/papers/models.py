"""Pydantic models that check the content of the files in a paper's folder."""

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
# units of published numbers: percent, seconds, and no unit
PERCENT, SECONDS, PLAIN = "%", "s", "1"
# Settings that a paper does not state. The keys are names. Each value is a list of values for one
# configuration key, or a dictionary of named options that set several keys.
Choices = dict[str, list[Any] | dict[str, dict[str, Any]]]


def _of_paper(name: str, info: ValidationInfo) -> str:
    """Return the name of the paper that is being read.

    The files of the paper may omit the name. Raise ValueError if `name` is a different name.
    """
    paper = str((info.context or {}).get("paper", name))
    if name not in ("", paper):
        raise ValueError(f"the key paper is {name}, but must be {paper}. Remove the key")
    return paper


PaperName = Annotated[str, BeforeValidator(_of_paper), Field(validate_default=True)]


class _PaperSection(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Published(_PaperSection):
    """One published number of a paper, a line of the file published.csv.

    `item` is the table or figure. `M` is a number of features, ``'best'`` (the best test value over
    all sizes) or empty if the size is not stated. `spread` is a standard deviation (``'sd'``) or a
    standard error (``'se'``) over the paper's trials. `mark` is ``'significant'`` if the paper
    marks the number as significant. `same_as` is a different table or figure that also prints this
    number. The number is judged and counted there.

    `unit` is one of:

    - ``'%'``: a percentage, which is judged in points.
    - ``'s'``: a time, which is not judged.
    - ``'1'``: any other positive number, such as a relative error, which is judged by the quotient
      of our number and the published number.

    `row` and `column` are the position of the number in the table or figure, and `cell` is the
    printed text. `checked` is the source with which the number was compared: the paper's text, or
    an image of its page. `page` counts from the paper's first page. It is empty if the available
    text has no pages.
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
        """Number of features, or None if the paper does not state a number."""
        return int(self.M) if self.M.isdigit() else None

    @property
    def half_digit(self) -> float:
        """Half a unit of the last printed digit. It is 0.005 for percentages and seconds."""
        if self.unit != PLAIN:
            return 0.005
        printed = [text for text in _numerals(self.cell) if float(text) == self.value]
        exponent = Decimal((printed or [str(self.value)])[0]).as_tuple().exponent
        return 0.5 * 10.0 ** int(exponent)

    @property
    def trials(self) -> int | None:
        """Number of trials over which the paper averaged, or None if it is not stated."""
        match = re.search(r"(\d+) trials", self.note)
        return int(match[1]) if match else None

    @property
    def standard_error(self) -> float | None:
        """Standard error of the published mean, or None if it is not known."""
        if self.spread is None or self.spread_kind == "se":
            return self.spread
        return self.spread / self.trials**0.5 if self.trials else None


def parse_numbers(cell: str) -> list[float]:
    """Return the numbers in the printed text of a table cell, from left to right."""
    return [float(text) for text in _numerals(cell)]


def _numerals(cell: str) -> list[str]:
    return re.findall(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?", cell)


class AuthorsRow(_PaperSection):
    """One score of the authors' own runs, a line of the file rows.csv.

    A score belongs to one fold of the authors' cross-validation. A configuration with the key
    ``settings_from`` measures the same fold with the same number of features `M`, penalty `alpha`
    and parameters. Columns that are not fields of this class are parameters of the sampler.
    """

    dataset: str  # name of the data set, as in paper.yaml
    method: str  # label of the method in our results
    fold: int = Field(ge=0)
    # metric of the published scores; accuracies are in percent
    metric: Literal["rmse", "accuracy"]
    value: float
    M: int | None = None
    alpha: float | None = None  # penalty for the fold, None if the penalty is selected
    parameters: dict[str, float] = {}

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, value: Any) -> Any:
        given = {key: text for key, text in value.items() if text not in ("", None)}
        own = {key: given.pop(key) for key in [*given] if key not in cls.model_fields}
        return {**given, "parameters": own}

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of the authors' run on this fold: M, the penalty alpha, and other parameters.

        Unknown settings are left out.
        """
        given = {"M": self.M, "alpha": self.alpha, **self.parameters}
        return {key: value for key, value in given.items() if value is not None}


class DisplayedComparison(_PaperSection):
    """Authors' scores that are shown next to our results with different settings.

    The comparison has no verdict. The scores are in the file rows.csv.
    """

    rows: str  # name of the method in the file rows.csv
    # names of the folders with our results
    experiments: list[str] = Field(min_length=1)
    method: str  # label in the results folders
    differs: str  # description of the difference between the authors' protocol and ours


class Source(_PaperSection):
    """Data set of a paper: its entry in our catalog, its size, and possible substitutes."""

    # name of the data set in the catalog of rfbench
    dataset: str
    # Number of training rows in the paper. A data set with a different number of rows counts as a
    # substitute.
    n_train: int | None = None
    n_test: int | None = None
    d: int | None = None  # number of columns in the paper
    # Number of training rows that were sampled for a table of the paper. The key is the name of the
    # table, or `all`.
    rows: dict[str, int] = {}
    # catalog names of data sets that replace this data set: subsets and substitutes
    stand_ins: list[str] = []
    # maps a name in the catalog to the share of the rows in the largest class, from 0 to 1
    larger_class: dict[str, float] = {}
    # reason for using this data set of the catalog, if its name differs from the name in the paper
    reason: str = ""
    # Reason why the authors' folds in rows.csv consist of different rows than our folds. The reason
    # is empty if the rows are the same.
    other_rows: str = ""


class Content(_PaperSection):
    """Table or figure of a paper, with the data sets that it contains."""

    item: str
    of: str = ""  # table or figure whose runs are used, if `item` has no own runs
    # data sets of the table or figure; needed only if the runs contain further data sets
    datasets: list[str] = []
    nothing: str = ""  # description of a table or figure that contains no measurements


class Inconsistency(_PaperSection):
    """Contradiction between published numbers of a paper, described in a text."""

    item: str
    text: str


class SizeName(_PaperSection):
    """Name and unit that a paper uses for the number of features."""

    title: str = ""  # title of the horizontal axis in figures; empty for the default
    over_d: bool = False  # True if the paper states sizes as multiples of the number of columns


class Added(_PaperSection):
    """Descriptions of measurements and methods that we added to the paper's own."""

    items: dict[str, str] = {}
    # For methods that we added and that the paper does not contain: maps the label to a
    # description.
    methods: dict[str, str] = {}


# Classes of settings that were selected to match the paper's numbers, after our results had been
# compared with these numbers.
TUNED_TO_MATCH = (MATCHED, "rematched")


class Provenance(_PaperSection):
    """Sources of a paper's numbers and of the settings of our runs.

    Numbers with different sources are counted separately. A protocol, a set of runs, has one source
    of settings: the weakest source of any of its settings. These are the sources.

    - ``text``: the paper's text.
    - ``code``: the authors' code.
    - ``cited``: a definition that the paper cites, if the text of the paper is not available.
    - ``readings``: our interpretation of the text, for keys that the text does not state.
    - ``corrected``: interpretations that were changed after rows had been seen, because they
      contradicted the text.
    - ``matched``: settings that are matched to the paper's numbers.
    - ``rematched``: settings that were matched and then corrected.
    - ``ours``: settings that do not measure what the paper measures.
    """

    # For each table or figure, the place from which its numbers were copied. The default is a
    # table.
    sources: dict[str, Literal["table", "figure", "repository"]] = {}
    settings: dict[
        str,
        Literal["text", "cited", "code", "readings", "corrected", "matched", "rematched", "ours"],
    ] = {
        PRINTED: "readings",
        CORRECTED: "corrected",
        CODE: "code",
        MATCHED: "matched",
        TUNED: "ours",
    }  # maps each protocol to the class of its settings
    # For runs to which trials were added after results had been seen: the planned number of trials.
    # The additional trials are shown, but are not used in verdicts.
    trials: dict[str, int] = {}
    # True if the paper draws its rows only once, for all trials. In our results, each trial draws
    # new rows.
    one_draw_of_rows: bool = False
    contradicts: dict[
        str, str
    ] = {}  # for each protocol, the statements of the paper's text that its settings contradict
    # For each protocol, the class of its settings when the first results were published.
    formerly: dict[str, Literal["text", "cited", "code", "readings", "ours"]] = {}
    # For each protocol, one remark that applies to all numbers of this protocol.
    one_finding: dict[str, str] = {}
    # strongest objection that the paper's authors could raise to our result, in one sentence
    strongest_answer: str = ""

    @property
    def earlier_protocol(self) -> str:
        """Name of the protocol whose interpretation of the text was later corrected.

        The protocol `corrected` has the corrected interpretation.
        """
        return MATCHED if self.settings.get(CORRECTED) == "rematched" else PRINTED

    @field_validator("settings")
    @classmethod
    def _one_class_each(cls, settings: dict[str, str]) -> dict[str, str]:
        if len(set(settings.values())) < len(settings):
            raise ValueError(
                "two protocols have the same class of settings, so each number would "
                "be counted twice"
            )
        return settings


class SourceOfRows(_PaperSection):
    """Repository that contains the authors' own scores, or the numbers of a figure.

    The authors' scores are in the file `rows.csv`, and the numbers in `published.csv`.
    """

    repository: str  # repository on GitHub, in the form owner/name
    commit: str = Field(pattern="^[0-9a-f]{40}$")
    # path of the file or folder in the repository with the authors' code
    path: str
    # SHA-256 hash of the file; empty if `path` is a folder
    sha256: str = Field(default="", pattern="^([0-9a-f]{64})?$")
    licence: str  # license of the repository, or a remark that none is stated
    note: str = ""  # description of how the numbers were read from the repository


class Paper(_PaperSection):
    """Content of the file paper.yaml, which describes a paper."""

    name: PaperName = ""  # name of the paper's folder
    title: str
    authors: list[str] = Field(min_length=1)  # full names, including first names
    venue: str
    year: int
    # short description of the subject of the paper
    about: str
    # web address of the paper
    link: str = Field("", pattern=r"^(https://[\w./:?=&%-]+)?$")
    datasets: dict[str, Source] = Field(min_length=1)  # keys are the paper's names of the data sets
    methods: dict[str, str] = {}  # maps our label of a method to its name in the paper
    sizes: SizeName = SizeName()
    # Maps a metric or time in published.csv to the column of our results with the same quantity.
    # The column may be a sum of times in `rfbench.analysis.frame.SUMS`.
    measured_as: dict[str, str] = {}
    # name of the time that figures show as a function of the number of features
    time_axis: str = "t_total"
    # For each table or figure, pairs of methods. According to the paper, the first method of a pair
    # is better than the second method.
    gains: dict[str, list[tuple[str, str]]] = {}
    added: Added = Added()
    provenance: Provenance = Provenance()
    beside: list[DisplayedComparison] = []
    # descriptions of all tables and figures of the paper
    contents: list[Content] = []
    # Sentences for the page of the paper on the settings that matter. A placeholder such as {E1} is
    # replaced by the number of comparisons of claim E1 that are inside their bounds. {E1 mean} is
    # replaced by the mean effect of the first part of the claim at each size.
    result: str = ""
    # for each setting that the paper does not state, the value that we selected
    readings: dict[str, str] = {}
    # True if we checked the settings against the text of the paper
    text_at_hand: bool = True
    # contradictions between published numbers of the paper
    doubts: list[Inconsistency] = []
    # description of the authors' own results per fold, from which published numbers are computed
    rows_source: SourceOfRows | None = None

    @model_validator(mode="after")
    def _classes_need_the_text(self) -> Paper:
        of_text = {"text", "readings"}.intersection(self.provenance.settings.values())
        if of_text and not self.text_at_hand and "settings" in self.provenance.model_fields_set:
            raise ValueError(
                "text_at_hand is false, so that provenance.settings cannot name the class "
                + " or ".join(sorted(of_text))
            )
        return self

    @property
    def citation(self) -> str:
        """Citation of the paper: surnames, venue and year, such as ``Sinha & Duchi, NIPS 2016``."""
        *others, last = [author.split()[-1] for author in self.authors]
        names = f"{', '.join(others)} & {last}" if others else last
        return f"{names}, {self.venue} {self.year}"


class Part(_PaperSection):
    """Part of a claim of a paper: a comparison of methods, and the bounds of its effect.

    The effect is the `metric` of `method` minus the metric of each method in `against`, per trial.
    With the scale ``'ratio'``, it is the quotient of the two. If `against` is empty, it is the
    metric of `method`. The claim holds if the effect is inside the bounds `low` and `high`.

    Two methods are compared at equal values of `along`, which is the number of features as the
    paper counts it (``M``), the number of feature columns (``columns``), or the number of columns
    of the data (``d``).

    `at` selects the values of `along` at which the methods are compared:

    - ``each`` value, the ``largest``, the ``lower-half`` or the ``upper-half``.
    - ``best``: each method at the size at which its mean test error is smallest.
    - ``equal-time``: the values of the other method are interpolated at each mean time of `method`
      that both methods reached.
    - ``own``: the values are computed by a function for this claim in the paper's ``claims.py``.
    """

    says: str  # text of the claim part for readers
    items: list[str]  # names of the tables and figures whose runs test the claim
    datasets: list[str]
    protocols: list[str] = []  # protocols that are compared; empty for all protocols
    metric: str
    method: str
    against: list[str] = []
    # for each method, values that the parameters of its sampler must have
    settings: dict[str, dict[str, Any]] = {}
    along: Literal["M", "columns", "d"] = "M"
    at: Literal["each", "largest", "lower-half", "upper-half", "best", "equal-time", "own"]
    scale: Literal["difference", "ratio"] = "difference"
    # lower bound of the effect, as a difference in the unit of the metric or as a ratio
    low: float | None = None
    high: float | None = None
    # Smallest number of sizes (values of `along`) that have to be measured. With fewer sizes, there
    # is no verdict on this part of the claim.
    values: int = 1

    @property
    def compares_times(self) -> bool:
        """True if the comparison uses times, or errors at equal times."""
        return self.metric.startswith("t_") or self.at == "equal-time"


class Claim(_PaperSection):
    """Claim of a paper in our words, with the comparisons of methods that test it.

    A claim of the `kind` ``shown`` has no verdict, because no test could decide it. Its effects are
    shown without bounds. A claim on times is also only shown, because times depend on the software
    and the machine. `whose` states who makes the claim, ``paper`` or ``we``. `bounds` is ``after``
    if the bounds were set after results had been seen that are not in git. `note` is a remark for
    readers of the verdict. `strongest_answer` is the best reply, in one sentence, that the paper's
    authors could give if our results contradict the claim.
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
        """Pair of the name of the paper and the id of the claim. Ids are unique within a paper."""
        return self.paper, self.id

    @property
    def compares_times(self) -> bool:
        """True if the claim depends on times, and therefore on the software and the machine."""
        return any(part.compares_times for part in self.parts)

    @property
    def is_judged(self) -> bool:
        """True if the claim gets a verdict, such as "holds" or "fails", in any run."""
        return self.kind == "judged" and not self.compares_times

    def is_judged_under(self, protocol: str) -> bool:
        """Return True if the claim gets a verdict in runs of the given protocol.

        A protocol is the source of the settings. The settings of the protocol `TUNED` are not the
        paper's settings, so only claims that list this protocol get a verdict there.
        """
        named = any(TUNED in part.protocols for part in self.parts)
        return self.is_judged and (protocol != TUNED or named)


class Committed(_PaperSection):
    """Git commits of a claim, data set, rule or setting, and of the first result rows that use it.

    Each object is a line of history.csv, which `python -m scripts.history` writes from git. `form`
    is the commit of the current form of a claim: metric, methods, settings, data, sizes, scale and
    bounds, without the wording. A form that was committed before the first rows may still have been
    written by someone who had seen rows.
    """

    kind: Literal["claim", "data", "rule", "setting"]
    # Name of the entry: a claim, a data set, a catalog entry, a rule of paper.yaml, or a run.
    name: str
    keys: str = ""  # keys of the settings, if the entry is about settings
    form: str  # commit of the current form; empty if there is no commit yet
    form_date: str
    rows: str  # commit of the first results that use this form; empty without results
    rows_date: str
    # Order of two commits: the claim or setting was committed before, together with or after the
    # first results that use it. The order is unknown if the commits are on different branches.
    order: Literal["before", "same commit", "after", "unknown", "no rows"]


class Recorded(_PaperSection):
    """File that contains a verdict, at a commit of this repository."""

    commit: str
    file: str


class Change(_PaperSection):
    """Record of a claim whose first form or first verdict was different, an entry of changes.yaml.

    `why` lists the kinds of changes: the ``definition`` of the claim (comparison, data, bounds), a
    ``rule`` of the verdicts, a statistical ``test``, or ``rows`` that were added or measured again.
    """

    id: str
    first_form: str  # text of the claim before all changes
    # for each protocol, the verdict when the claim was first tested
    first_verdicts: dict[str, str] = Field(min_length=1)
    recorded: Recorded  # file and commit in which the first verdicts are recorded
    changed_by: list[str] = Field(min_length=1)  # commits that changed the claim
    why: list[Literal["definition", "rule", "test", "rows"]] = Field(min_length=1)
    withdrawn: bool = False  # True if the claim was removed
    reason: str


class Folder(_PaperSection):
    """Content of all files in the folder of a paper. Only the file paper.yaml is required."""

    paper: Paper
    published: tuple[Published, ...]  # published numbers in the order of the paper's tables
    rows: tuple[AuthorsRow, ...] = ()  # scores of the authors' own runs
    claims: tuple[Claim, ...] = ()
    # Settings that the paper leaves open, for all results (key `all`), for a table or figure (key
    # ITEM), or for a data set of a table or figure (key ITEM/DATASET).
    open_choices: dict[str, Choices] = {}
    # Names of the settings in `open_choices` that the paper's text does not mention. For all other
    # settings, the alternatives contradict the text.
    gaps: tuple[str, ...] = ()
    # Names of further settings that the paper's text does not mention. These settings are varied
    # only by the command `rfbench audit --gaps`.
    apart: tuple[str, ...] = ()
    history: tuple[Committed, ...] = ()
    changes: tuple[Change, ...] = ()
    code: Path | None = None  # path of the paper's claims.py; None without this file
    # folder of a paper that the user added; None for a paper that is part of rfbench
    folder: Path | None = None
    # True if the paper has Python code in claims.py that the user has not allowed to run
    withheld: bool = False

    @property
    def is_external(self) -> bool:
        """True if the paper is not part of rfbench, but was added by the user."""
        return self.folder is not None
