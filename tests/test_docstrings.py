"""The examples in the docstrings say what comes out, and every parameter is explained."""

import doctest
import importlib
import inspect
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

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
def test_each_docstring_example_is_run_and_correct(name: str) -> None:
    text = WITH_EXAMPLES[name].read_text()
    module = importlib.import_module(name.removesuffix(".__init__"))
    assert "doctest:" not in text
    assert doctest.testmod(module) == (0, text.count(">>> "))


METHODS = [
    *SAMPLERS.values(),
    *dict.fromkeys(cls for classes in SOLVERS.values() for cls in classes.values()),
]


@pytest.mark.parametrize("cls", METHODS, ids=lambda cls: cls.__name__)
def test_method_or_its_bases_document_each_parameter(cls: type) -> None:
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


def list_public_objects() -> dict[str, Any]:
    """Return the classes and functions that ``help(rfbench)`` and its modules name, by place."""
    found: dict[str, Any] = {}
    things = [getattr(rfbench, name) for name in dir(rfbench) if not name.startswith("_")]
    modules = [rfbench.samplers, rfbench.solvers, rfbench.kernels, rfbench.datasets]
    for module in modules:
        names = getattr(module, "__all__", vars(module))
        things += [getattr(module, name) for name in names if not name.startswith("_")]
    for each in things:
        has_signature = inspect.isfunction(each) or inspect.isclass(each)
        if has_signature and each.__module__.startswith("rfbench."):
            found[f"{each.__module__}.{each.__qualname__}"] = each
    return found


PUBLIC = list_public_objects()
# The catalogue's record is checked by pydantic, and its docstring explains the keys in prose.
IN_PROSE = {"rfbench.datasets.catalog.Entry"}


def read_section(text: str, head: str) -> str | None:
    """Return the lines of a section of a docstring, without the next head."""
    found = re.search(rf"^{head}\n-+\n(.*?)(?=^\S[^\n]*\n-+$|\Z)", text, re.M | re.S)
    return found[1] if found else None


@pytest.mark.parametrize("name", sorted(PUBLIC.keys() - IN_PROSE))
def test_public_docstring_lists_parameters_in_order_and_the_return_value(name: str) -> None:
    thing = PUBLIC[name]
    text = inspect.getdoc(thing) or ""
    signature = inspect.signature(thing)
    asked = [
        "*" * (p.kind is p.VAR_POSITIONAL) + "**" * (p.kind is p.VAR_KEYWORD) + p.name
        for p in signature.parameters.values()
        if p.name != "self"
    ]
    heads = re.findall(
        r"^(\*{0,2}\w+(?:, \w+)*)(?: : .+)?$", read_section(text, "Parameters") or "", re.M
    )
    listed = [each for head in heads for each in head.split(", ")]
    assert listed == asked
    returns = inspect.isfunction(thing) and signature.return_annotation not in (None, "None")
    assert not returns or read_section(text, "Returns")
    assert text.split("\n")[0].endswith(".") or text.split("\n")[0].endswith("ramp features")
    assert not re.match(r"(What|Whether)\b", text)
