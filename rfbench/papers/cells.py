"""Search for a number in a paper by the printed names of its table, data set, method and size."""

from __future__ import annotations

import re
from collections.abc import Mapping

from rfbench.errors import ConfigError, make_unknown_error
from rfbench.method_names import find_displayed_name
from rfbench.papers.models import Folder, Published

CELL_GRAMMAR = "'PAPER, TABLE, DATA SET, METHOD, M', such as 'PAPER, Table 3, EEG, ORF, 224'"
NOT_STATED = "not stated"  # text for a number of features that the paper does not state


def find_published_cell(text: str, library: Mapping[str, Folder]) -> list[Published]:
    """Return the published numbers in one cell of a paper's table, one number per metric.

    Parameters
    ----------
    text : str
        The names of paper, table, data set, method and size as printed in the paper, separated by
        commas (see `CELL_GRAMMAR`). Case and spaces do not matter. The size may be omitted if the
        paper states no size.
    library : mapping
        The papers by their short names.

    Raises
    ------
    ConfigError
        If the text does not have five names, or if a name is unknown. The message contains the
        nearest name.
    """
    words = [word.strip() for word in text.split(",")]
    if len(words) == len(CELL_PARTS) - 1:
        words.append(NOT_STATED)
    if len(words) != len(CELL_PARTS):
        raise ConfigError(
            f"--cell {text} has {len(words)} parts instead of 5.", "", f"Write {CELL_GRAMMAR}."
        )
    here = [(_name_parts(n, folder), n) for folder in library.values() for n in folder.published]
    for place, (kind, word) in enumerate(zip(CELL_PARTS, words, strict=True)):
        known: dict[str, str] = {}
        for name in (name for names, _ in here for name in names[place]):
            known.setdefault(_fold(name), name)
        here = [each for each in here if _fold(word) in map(_fold, each[0][place])]
        if not here:
            raise make_unknown_error(
                kind, word, known.values(), ConfigError, f"Write {CELL_GRAMMAR}."
            )
    return [number for _, number in here]


CELL_PARTS = ("paper with numbers", "table or figure", "data set", "method", "size")


def format_item(item: str) -> str:
    """Return the printed name of a table or figure, such as ``Table 3`` for ``table3``."""
    name = re.sub(r"^(table|figure)(\d+)", r"\1 \2", item)
    return name[:1].upper() + name[1:]


def _name_parts(number: Published, folder: Folder) -> tuple[tuple[str, ...], ...]:
    """Return the names by which users can search for a published number.

    The result has five tuples: names of the paper, table, data set, method and size. The first name
    of a tuple is displayed.
    """
    methods = (find_displayed_name(number.method), folder.paper.methods.get(number.method))
    return (
        (number.paper,),
        (format_item(number.item), number.item),
        (number.dataset,),
        (*filter(None, methods), number.method),
        (number.M or NOT_STATED,),
    )


def _fold(name: str) -> str:
    return re.sub(r"\s", "", name).casefold()
