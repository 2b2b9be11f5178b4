"""The keys of a configuration as Markdown: `configs/README.md` is what `render` returns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from rfbench import shipped
from rfbench.config.schema import AXES, CheckSpec, Experiment, OwnData, SolverSpec

EXAMPLE = """\
title: "Table 1"              # of a run: "Table 1, EEG, printed"
M: 14,28,56
samplers: [rks, orf]
solver: {name: ridge, alphas: 0.1}

protocols:
  printed: {scaling: minmax}  # section 5: all columns to [0, 1]
  tuned:                      # ours
    scaling: standard
    solver.alphas: log:1e-6:1e3:10

datasets:
  eeg: {title: EEG, split: {test_size: 0.5}}
  adult: {dataset: a9a}       # the folder says adult, the catalogue a9a

exceptions:
  adult.tuned: {scaling: none}   # binary columns
"""
ELSEWHERE = """\
dataset: digits
split: {test_size: 0.3}
bandwidth: knn50
M: 20,50,100,200
samplers:
  - rks
  - eerf: {pool_size: 10*M, score_rows: 0.5, center_target: true}
  - {class: "mine.py:Antithetic", label: antithetic}
  - {class: sklearn.kernel_approximation.Nystroem, n_components: M, gamma: 0.01}
solver: {name: ridge, alphas: "log:1e-3:1e3:7", selection: cv5}
trials: 10
"""
HEAD = """\
# Configurations

One file per table or figure; `rfbench list configs` has them all. A file is one run, such as
`quickstart.yaml`:

```yaml
{quickstart}```

or each protocol on each data set:

```yaml
{example}```

This makes the runs `FILE_eeg.printed`, `FILE_eeg.tuned`, `FILE_adult.printed` and
`FILE_adult.tuned`, each with a results folder of that name. Later parts win: first the common keys,
then the protocol, the data set, the exception. An entry has the keys of `--set`: `scaling` replaces
a key, `solver.alphas` or `samplers.eerf.pool_size` one within it. Titles and descriptions are put
together.

    rfbench run FILE.yaml --only dataset=eeg --only protocol=printed
    rfbench run FILE.yaml --run eeg.printed
    rfbench list configs quickstart     # with all that its parts make of it

A key can be changed, or varied, without a file of one's own. A sweep lands in a folder of its own,
and so does a smoke run, whose numbers mean nothing:

    rfbench run quickstart --set scaling=none --trials 2 --out try
    rfbench sweep quickstart --M 50:200:50 --set bandwidth=knn50,median
    rfbench run quickstart --smoke

Numbers such as `1e-5` are numbers; `10:30` and `no` are text. A wrong key, value or combination is
named with its line and the nearest right word, before anything runs.

## Methods from elsewhere

A sampler is any scikit-learn transformer, and a solver any estimator, named by its import path.
This is `mine.yaml`, beside the `mine.py` of the [README](../README.md):

```yaml
{elsewhere}```

    rfbench test mine.py:Antithetic --allow-imports
    rfbench run mine.yaml --allow-imports

A configuration that imports code needs `--allow-imports`, or the package in your own list
`allow_imports: [mypackage]` in `~/.config/rfbench/settings.yaml`. The key `plugins:` gives
no permission; it says which packages a configuration asks for. Classes of scikit-learn are always
allowed. A file is looked for beside the configuration, then in the current folder. A parameter of a
sampler of your own is one line,
`stretch: float = parameter(1.0, number(above=0))`, with `@estimator` above the class, all from
`rfbench.parameters`. A package of yours can also offer its methods by name, through the entry-point
groups `rfbench.samplers` and `rfbench.solvers`; `rfbench.testing` has the contracts for its tests.

"""
TAIL = """\
This page is written from `rfbench/config/schema.py`.
"""


def render() -> str:
    """Return the page: two examples, and each key with its values, default and meaning."""
    quickstart = shipped.find("quickstart").read_text(encoding="utf-8")
    axes = [(name, "a mapping", "none", meaning) for name, meaning in AXES.items()]
    tables: list[tuple[str, Sequence[Sequence[str]]]] = [
        ("## Keys", _rows(Experiment, leave=("name",))),
        ("## Keys of a file with several runs", axes),
        (
            "## Keys of data of your own, under `dataset`\n\nOne of the first five, and what is "
            "needed of the others; `data/README.md` has examples.",
            _rows(OwnData),
        ),
        (
            "## Keys of `solver`\n\nBeside these, the solver's own: `rfbench list solvers NAME`.",
            _rows(SolverSpec, leave=("imported", "parameters")),
        ),
        ("## Keys of an entry of `checks`", _rows(CheckSpec)),
    ]
    head = HEAD.format(quickstart=quickstart, example=EXAMPLE, elsewhere=ELSEWHERE)
    return head + "".join(f"{title}\n\n{_table(rows)}\n" for title, rows in tables) + TAIL


def _rows(model: type[BaseModel], leave: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    fields = {name: field for name, field in model.model_fields.items() if name not in leave}
    return [
        (name, _values(field), _default(field), field.description or "")
        for name, field in fields.items()
    ]


def _values(field: FieldInfo) -> str:
    """Return what may stand there: what the field says, or the words that its type allows."""
    if field.examples:
        return str(field.examples[0])
    return "true, false" if field.annotation is bool else ", ".join(get_args(field.annotation))


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "must be given"
    default: Any = field.default
    if isinstance(default, BaseModel):
        return str(default.model_dump()["name"])
    return "none" if default in (None, "", []) else json.dumps(default).strip('[]"')


def _table(rows: Sequence[Sequence[str]]) -> str:
    head = "| key | values | default | meaning |\n|---|---|---|---|\n"
    lines = (" | ".join(cell.replace("|", "\\|") for cell in row[1:]) for row in rows)
    return head + "".join(
        f"| `{row[0]}` | {line} |\n" for row, line in zip(rows, lines, strict=True)
    )
