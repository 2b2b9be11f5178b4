"""Target of an audit: published numbers on a data set, or a claim about this data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rfbench import papers
from rfbench.errors import ConfigError, make_unknown_error
from rfbench.papers.models import SECONDS, Claim, Published

TARGET_GRAMMAR = (
    "PAPER/ITEM/DATASET, as in published.csv (several items as ITEM,ITEM), or PAPER/CLAIM/DATASET"
)


@dataclass(frozen=True)
class Target:
    """Published numbers on a data set, or a claim, that `rfbench audit` compares with our results.

    Run times are not included. The attribute `dataset` is the name of the data set in the paper.
    """

    paper: str
    items: tuple[str, ...]
    dataset: str
    numbers: tuple[Published, ...]
    claim: Claim | None = None

    def __str__(self) -> str:
        named = self.claim.id if self.claim else ",".join(self.items)
        return f"{self.paper}/{named}/{self.dataset}"

    @property
    def methods(self) -> list[str]:
        """Methods that have published numbers, or methods that the claim compares."""
        if self.claim:
            here = [part for part in self.claim.parts if self.dataset in part.datasets]
            return list(dict.fromkeys(m for part in here for m in (part.method, *part.against)))
        return list(dict.fromkeys(number.method for number in self.numbers))

    def make_folder_name(self, measured: Sequence[str], start: str = "audit", run: str = "") -> str:
        """Return the name of the results folder of an audit.

        The name starts with `start`. If not all methods are measured, the name includes the
        `measured` methods. For a claim, the name includes the name of the `run`.
        """
        # A different configuration may measure the remaining methods in a separate audit. Two runs
        # may each measure some of a claim's tables.
        if self.claim:
            return f"{start}_{self.paper}_{self.claim.id}_{self.dataset}_{run}"
        name = f"{start}_{self.paper}_{'+'.join(self.items)}_{self.dataset}"
        return name if set(measured) >= set(self.methods) else f"{name}_{'+'.join(measured)}"

    def check_data_set(self, dataset: str) -> None:
        """Raise ConfigError if `dataset` is not the data set of the published numbers.

        Data that rfbench uses as a replacement for this data set are also accepted.
        """
        source = papers.list_data_sets_of_papers()[self.paper][self.dataset]
        if dataset != source.dataset and dataset not in source.stand_ins:
            raise ConfigError(
                f"The configuration measures {dataset}, but the target is on {self.dataset}.",
                f"The target needs {' or '.join([source.dataset, *source.stand_ins])}.",
                "Use a configuration with these data, or a different --target.",
            )

    def restrict(self, methods: Sequence[str], sizes: Sequence[int] | None = None) -> Target:
        """Return a target with only the numbers of the given methods and numbers of features.

        `sizes` are the numbers of features, or None for all of them. The target of a claim is
        returned unchanged.
        """
        if self.claim:
            return self
        fits = [
            number
            for number in self.numbers
            if number.method in methods
            and (None in (sizes, number.size) or number.size in (sizes or ()))
        ]
        return replace(self, numbers=tuple(fits))

    def split_numbers_into_halves(self) -> tuple[list[int], list[int]]:
        """Split the published numbers into two halves, and return the positions of both halves.

        The first half ranks combinations of settings, and the second half confirms the ranking.
        Numbers are assigned like the colors of a chessboard, with methods as rows and sizes as
        columns. A single number is in the first half.
        """
        sizes = list(dict.fromkeys((n.M, n.metric) for n in self.numbers))
        parity = [
            (self.methods.index(n.method) + sizes.index((n.M, n.metric))) % 2 for n in self.numbers
        ]
        return [i for i, odd in enumerate(parity) if not odd], [
            i for i, odd in enumerate(parity) if odd
        ]


def parse_target(text: str) -> Target:
    """Parse a string ``PAPER/ITEM/DATASET`` or ``PAPER/CLAIM/DATASET`` into a `Target`.

    ITEM is the name of a published table or figure.

    Raises ConfigError if the string has a different form or contains an unknown name.
    """
    parts = text.split("/")
    if len(parts) != 3 or not all(parts):
        raise ConfigError(
            f"The value of --target, {text}, does not have the form {TARGET_GRAMMAR}."
        )
    paper, items, dataset = parts
    for claim in papers.list_claims():
        if claim.key == (paper, items):
            on = dict.fromkeys(name for part in claim.parts for name in part.datasets)
            if dataset not in on:
                raise make_unknown_error(f"data set of {claim.id}", dataset, on, ConfigError)
            of = dict.fromkeys(item for part in claim.parts for item in part.items)
            return Target(paper, tuple(of), dataset, (), claim)
    wanted, here = tuple(items.split(",")), list(papers.list_published_numbers())
    for column, words in (("paper", (paper,)), ("item", wanted), ("dataset", (dataset,))):
        known = dict.fromkeys(getattr(number, column) for number in here)
        for word in words:
            if word not in known:
                todo = f"A target is {TARGET_GRAMMAR}."
                raise make_unknown_error(f"published {column}", word, known, ConfigError, todo)
        here = [number for number in here if getattr(number, column) in words]
    once: dict[tuple[str, str, str], Published] = {}
    for number in here:
        if number.unit != SECONDS:
            once.setdefault((number.method, number.M, number.metric), number)
    return Target(paper, wanted, dataset, tuple(once.values()))
