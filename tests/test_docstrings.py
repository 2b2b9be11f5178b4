"""The examples in the docstrings say what comes out, and every parameter is explained."""

import doctest
import importlib
import inspect
import re
from dataclasses import fields
from pathlib import Path

import pytest

import rfbench
from rfbench.registry import SAMPLERS, SOLVERS

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
def test_a_method_or_its_bases_explain_each_parameter(cls: type) -> None:
    ours = [base for base in cls.__mro__ if base.__module__.startswith("rfbench")]
    sections = [(base.__doc__ or "").partition("Parameters\n    -")[2] for base in ours]
    explained = {
        name
        for section in sections
        for line in re.findall(r"^    (\w+(?:, \w+)*)(?: :|$)", section, re.MULTILINE)
        for name in line.split(", ")
    }
    assert {f.name for f in fields(cls) if f.init} <= explained
    assert cls.__doc__
    for name in ("fit", "transform", "predict"):
        text = inspect.getdoc(getattr(cls, name, None)) or ""
        assert re.search(r"\b(X|Z|features)\b", text) or not hasattr(cls, name), name
