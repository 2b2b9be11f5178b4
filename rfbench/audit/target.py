"""The published row that an audit aims at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rfbench import papers
from rfbench.errors import ConfigError, make_unknown_error
from rfbench.papers.models import SECONDS, Claim, Published

TARGET_GRAMMAR = (
    "PAPER/ITEM/DATASET, as in published.csv; several items as ITEM,ITEM; or PAPER/CLAIM/DATASET"
)


@dataclass(frozen=True)
class Target:
    """What an audit measures on a data set (the paper's name of it).

    Published numbers, but times, by method and size; or the comparisons of a claim.
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
        """The methods that have numbers, or that the claim compares."""
        if self.claim:
            here = [part for part in self.claim.parts if self.dataset in part.datasets]
            return list(dict.fromkeys(m for part in here for m in (part.method, *part.against)))
        return list(dict.fromkeys(number.method for number in self.numbers))

    def folder(self, measured: Sequence[str], start: str = "audit", run: str = "") -> str:
        """Return the name of the folder of an audit; with the methods if only some are measured.

        Two configurations may have the methods of one row between them, and each its audit. Two
        runs may have the items of one claim between them: its folder is named by the run.
        """
        if self.claim:
            return f"{start}_{self.paper}_{self.claim.id}_{self.dataset}_{run}"
        name = f"{start}_{self.paper}_{'+'.join(self.items)}_{self.dataset}"
        return name if set(measured) >= set(self.methods) else f"{name}_{'+'.join(measured)}"

    def check_data(self, dataset: str) -> None:
        """Raise ConfigError if a data set is neither the target's nor a substitute for it."""
        source = papers.list_sources()[self.paper][self.dataset]
        if dataset != source.dataset and dataset not in source.stand_ins:
            raise ConfigError(
                f"The configuration measures {dataset}, the target is {self.dataset}.",
                f"For that one it takes {' or '.join([source.dataset, *source.stand_ins])}.",
                "Take a configuration on these data, or another --target.",
            )

    def of(self, methods: Sequence[str], sizes: Sequence[int] | None = None) -> Target:
        """Return the target with the numbers of these methods at these sizes, or at any."""
        if self.claim:
            return self
        fits = [
            number
            for number in self.numbers
            if number.method in methods
            and (None in (sizes, number.size) or number.size in (sizes or ()))
        ]
        return replace(self, numbers=tuple(fits))

    def halves(self) -> tuple[list[int], list[int]]:
        """Return the positions of the numbers that choose, and of those that confirm.

        Like the fields of a chessboard over methods and sizes, so that every method and every
        size has its share in both; a single number only chooses.
        """
        sizes = list(dict.fromkeys((n.M, n.metric) for n in self.numbers))
        parity = [
            (self.methods.index(n.method) + sizes.index((n.M, n.metric))) % 2 for n in self.numbers
        ]
        return [i for i, odd in enumerate(parity) if not odd], [
            i for i, odd in enumerate(parity) if odd
        ]


def find(text: str) -> Target:
    """Return the target that ``PAPER/ITEM/DATASET`` names; a claim is named by its id.

    Raises ConfigError if there is no such paper, item or data set, or nothing but times was
    published there.
    """
    parts = text.split("/")
    if len(parts) != 3 or not all(parts):
        raise ConfigError(f"--target {text} is not {TARGET_GRAMMAR}.")
    paper, items, dataset = parts
    for claim in papers.list_claims():
        if claim.key == (paper, items):
            on = dict.fromkeys(name for part in claim.parts for name in part.datasets)
            if dataset not in on:
                raise make_unknown_error(f"data set of {claim.id}", dataset, on, ConfigError)
            of = dict.fromkeys(item for part in claim.parts for item in part.items)
            return Target(paper, tuple(of), dataset, (), claim)
    wanted, here = tuple(items.split(",")), list(papers.list_published())
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
