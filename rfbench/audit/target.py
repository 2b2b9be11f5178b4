"""The published row that an audit aims at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rfbench import papers
from rfbench.errors import ConfigError, unknown
from rfbench.papers.models import SECONDS, Published

GRAMMAR = "PAPER/ITEM/DATASET, as in published.csv; several items as ITEM,ITEM"


@dataclass(frozen=True)
class Target:
    """Published numbers, but times, of a data set (the paper's name of it), by method and size."""

    paper: str
    items: tuple[str, ...]
    dataset: str
    numbers: tuple[Published, ...]

    def __str__(self) -> str:
        return f"{self.paper}/{','.join(self.items)}/{self.dataset}"

    @property
    def methods(self) -> list[str]:
        """The methods that have numbers."""
        return list(dict.fromkeys(number.method for number in self.numbers))

    def folder(self, measured: Sequence[str], start: str = "audit") -> str:
        """Return the name of the folder of an audit; with the methods if only some are measured.

        Two configurations may have the methods of one row between them, and each its audit.
        """
        name = f"{start}_{self.paper}_{'+'.join(self.items)}_{self.dataset}"
        return name if set(measured) >= set(self.methods) else f"{name}_{'+'.join(measured)}"

    def check_data(self, dataset: str) -> None:
        """Raise ConfigError if a data set is neither the target's nor a substitute for it."""
        source = papers.sources()[self.paper][self.dataset]
        if dataset != source.dataset and dataset not in source.stand_ins:
            raise ConfigError(
                f"The configuration measures {dataset}, the target is {self.dataset}.",
                f"For that one it takes {' or '.join([source.dataset, *source.stand_ins])}.",
                "Take a configuration on these data, or another --target.",
            )

    def of(self, methods: Sequence[str], sizes: Sequence[int] | None = None) -> Target:
        """Return the target with the numbers of these methods at these sizes, or at any."""
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
    """Return the target that ``PAPER/ITEM/DATASET`` names.

    Raises ConfigError if there is no such paper, item or data set, or nothing but times was
    published there.
    """
    parts = text.split("/")
    if len(parts) != 3 or not all(parts):
        raise ConfigError(f"--target {text} is not {GRAMMAR}.")
    paper, items, dataset = parts
    wanted, here = tuple(items.split(",")), list(papers.published())
    for column, words in (("paper", (paper,)), ("item", wanted), ("dataset", (dataset,))):
        known = dict.fromkeys(getattr(number, column) for number in here)
        for word in words:
            if word not in known:
                todo = f"A target is {GRAMMAR}."
                raise unknown(f"published {column}", word, known, ConfigError, todo)
        here = [number for number in here if getattr(number, column) in words]
    once: dict[tuple[str, str, str], Published] = {}
    for number in here:
        if number.unit != SECONDS:
            once.setdefault((number.method, number.M, number.metric), number)
    return Target(paper, wanted, dataset, tuple(once.values()))
