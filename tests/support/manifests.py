"""Manifests of which a part is something else."""

from __future__ import annotations

import functools
import json
import operator
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from rfbench import shipped
from rfbench.errors import ResultsError
from rfbench.results import Results, manifest, read_results_folder
from tests.support.results import write_folder

OTHERS = (True, 1, "x", None, [[1]], ["x"], {}, {"a": [1]})


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every part of a manifest; of lists of the first entry."""
    parts = value.items() if isinstance(value, dict) else enumerate(value[:1])
    for key, each in parts:
        yield (*place, key)
        if isinstance(each, dict | list):
            yield from places(each, (*place, key))


def read_damaged(reader: Callable[[Results], Any], folder: Path) -> None:
    """Put every part in the place of every other kind: it is read as a manifest, or not at all."""
    folder = write_folder(folder / "a", [{"setting": "s"}], {})
    published = shipped.find_published_folder()
    assert published is not None
    whole = json.loads((published / "quickstart" / "manifest.json").read_text())
    del whole["check"]
    whole |= {"settings": ["s"], "trials": whole["trials"][:2]}
    whole["config"]["checks"] = [{"column": "M", "below": 200.0}]
    base = read_results_folder(folder)
    for place in places(whole):
        for other in OTHERS:
            content = json.loads(json.dumps(whole))
            part = functools.reduce(operator.getitem, place[:-1], content)
            part[place[-1]] = other
            (folder / "manifest.json").write_text(json.dumps(content))
            try:
                reader(replace(base, manifest=manifest.read_if_valid(folder, [])))
            except ResultsError:
                pass
            except Exception as error:
                raise AssertionError(f"{place} is {other!r}: {error!r}") from error
