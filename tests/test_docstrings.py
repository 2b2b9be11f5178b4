"""The examples in the docstrings say what comes out."""

import dataclasses
import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest

import rfbench
from rfbench.docstrings import SECTIONS, entries, readable, sections
from rfbench.pages import method
from rfbench.parameters import estimator, parameter, whole
from rfbench.registry import SAMPLERS, SOLVERS
from rfbench.samplers import RandomFeatures

PACKAGE = Path(rfbench.__file__).parent
WITH_EXAMPLES = {
    ".".join(("rfbench", *file.relative_to(PACKAGE).with_suffix("").parts)): file
    for file in sorted(PACKAGE.rglob("*.py"))
    if ">>> " in file.read_text()
}


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_each_example_is_run_and_right(name: str) -> None:
    text = WITH_EXAMPLES[name].read_text()
    module = importlib.import_module(name.removesuffix(".__init__"))
    assert "doctest:" not in text
    assert doctest.testmod(module) == (0, text.count(">>> "))


METHODS = [
    *SAMPLERS.values(),
    *dict.fromkeys(cls for classes in SOLVERS.values() for cls in classes.values()),
]


@pytest.mark.parametrize("cls", METHODS, ids=lambda cls: cls.__name__)
def test_a_method_is_documented_as_scikit_learn_does(cls: type) -> None:
    """Every parameter, inherited ones too, with its default; attributes; what is raised."""
    parts = sections(cls.__doc__ or "")
    assert list(parts) == ["", *(name for name in SECTIONS if name in parts)]
    parameters = entries(parts["Parameters"])
    declared = {f.name: f for f in dataclasses.fields(cls) if f.init}
    assert list(parameters) == list(declared)
    for name, (kind, meaning) in parameters.items():
        assert kind.endswith(f", default={declared[name].default!r}"), name
        assert kind.count("default") == 1, name
        assert meaning, name
    assert "MethodError" in entries(parts["Raises"])
    assert parts["See Also"]
    for base in cls.__mro__[1:]:
        inherited = entries(sections(base.__doc__ or "").get("Attributes", ""))
        if base.__module__.startswith("rfbench") and inherited:
            assert set(inherited) <= set(entries(parts["Attributes"]))
    for name in ("fit", "transform", "predict"):
        text = inspect.getdoc(getattr(cls, name, None)) or ""
        assert re.search(r"\b(X|Z|features)\b", text) or not hasattr(cls, name), name


@pytest.mark.parametrize("cls", METHODS, ids=lambda cls: cls.__name__)
def test_a_method_stands_on_one_screen(cls: type) -> None:
    lines = method.text(cls).splitlines()
    assert len(lines) <= method.LINES
    assert max(map(len, lines)) <= method.WIDTH
    assert not [line for line in lines if "\\" in line or ":math:" in line]
    assert lines[0].startswith(cls.__name__)


def test_a_class_that_a_person_writes_is_completed_too() -> None:
    @estimator
    class Mine(RandomFeatures):
        """Draws nothing.

        Parameters
        ----------
        size : int, optional
            Of nothing.
        """

        size: int = parameter(3, whole(1))

    parts = entries(sections(Mine.__doc__ or "")["Parameters"])
    assert parts["size"] == ("int, default=3", "Of nothing.")
    assert parts["n_components"] == entries(sections(RandomFeatures.__doc__)["Parameters"])[
        "n_components"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (r":math:`\chi_d`", "χ_d"),
        (r":math:`x^\top y / \sqrt{2 M}`", "x' y / √(2 M)"),
        (r":math:`\tfrac{1}{2} \|x\|^2`", "1 / 2 ‖x‖²"),
        (r":math:`W = \sigma S Q`, ``rks``", "W = \u03c3 S Q, rks"),
    ],
)
def test_formulas_are_readable(formula: str, text: str) -> None:
    assert readable(formula) == text
