"""The examples in the docstrings say what comes out."""

import doctest
import importlib
from pathlib import Path

import pytest

import rfbench

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
