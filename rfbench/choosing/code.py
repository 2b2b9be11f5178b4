"""The model as Python that builds it, fits it and prints its error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from rfbench.choosing.table import LabelledTable


def code_of(
    estimator: BaseEstimator, table: LabelledTable, rows: Path, metric: str, arrays: list[Any]
) -> str:
    """Return Python that fits an estimator on the training rows and prints its loss on the others.

    Rows that were in memory are called X and y there. Learnt metrics are added to `arrays`, and
    read from ``array0`` and so on of the file that has the numbers of the rows.
    """
    classes: set[type] = set()
    built = _built(estimator, classes, arrays)
    homes = {(_home(each), each.__name__) for each in classes}
    lines = [
        "import numpy as np",
        *(f"from {home} import {name}" for home, name in sorted(homes)),
        f"from rfbench.choosing import measured{', read_table' if table.file else ''}",
    ]
    if table.file:
        options = "".join(f", {key}={value!r}" for key, value in table.reading)
        lines += [f"table = read_table({table.file!r}{options})", "X, y = table.X, table.y"]
    lines += [
        f"rows = np.load({str(rows)!r})",
        "train, test = rows['train'], rows['test']",
        f"model = {built}",
        "model.fit(X.iloc[train], y[train])",
        f"print(measured({metric!r}, model, X.iloc[test], y[test]))",
    ]
    return "\n".join(lines) + "\n"


def _built(value: Any, classes: set[type], arrays: list[Any], indent: str = "") -> str:
    """Return the expression that makes an estimator, with the parameters that are no defaults."""
    from sklearn.utils._pprint import _changed_params  # what its own repr prints

    if isinstance(value, BaseEstimator):
        classes.add(type(value))
        given = _changed_params(value).items()
        parameters = ", ".join(
            f"{name}={_built(each, classes, arrays, indent)}" for name, each in given
        )
        return f"{type(value).__name__}({parameters})"
    if isinstance(value, list) and any(isinstance(each, tuple) for each in value):
        inside = indent + "    "
        lines = [f"{inside}{_built(each, classes, arrays, inside)},\n" for each in value]
        return f"[\n{''.join(lines)}{indent}]"
    if isinstance(value, list | tuple):
        inside = ", ".join(_built(each, classes, arrays, indent) for each in value)
        left, right = "[]" if isinstance(value, list) else "()"
        return f"{left}{inside}{',' if left == '(' and len(value) == 1 else ''}{right}"
    if isinstance(value, np.ufunc):
        return f"np.{value.__name__}"
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return f"rows['array{len(arrays) - 1}']"
    return repr(value.item() if isinstance(value, np.generic) else value)


def _home(cls: type) -> str:
    """Return the module that a class is published in: what stands before a private one."""
    return cls.__module__.partition("._")[0]
