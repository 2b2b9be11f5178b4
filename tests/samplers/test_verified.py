"""Every sampler says what it was verified against, and the tests that it names are there."""

import importlib
import re
from operator import attrgetter

import pytest

from rfbench.registry import SAMPLERS
from tests.support.command_line import call

COMPARISON = re.compile(
    r"""(?P<against>[^:\n]+): (?P<compared>\S[^\n]*(?:\n {4}[^\n]+)*)
  tolerance: (?P<tolerance>[^\n]*?)(?: \((?P<licence>[^\n()]*)\))?
  tests/(?P<file>[^\s:]+)::(?P<test>\S+)
"""
)


def function(file, name):
    """Return a function of a test file, or of one of its classes as Class::function."""
    module = importlib.import_module("tests." + file.removesuffix(".py").replace("/", "."))
    return attrgetter(name.replace("::", "."))(module)


@pytest.mark.parametrize("name", list(SAMPLERS))
def test_the_tests_that_a_sampler_names_exist(name):
    text = SAMPLERS[name].declaration.verified + "\n"
    comparisons = [match.groupdict() for match in COMPARISON.finditer(text)]
    assert comparisons
    assert COMPARISON.sub("", text) == "", "see rfbench.samplers.declaration.sampler"
    for comparison in comparisons:
        assert callable(function(comparison["file"], comparison["test"])), comparison
        assert comparison["tolerance"], comparison
        # Other people's code is named with its licence.
        own = comparison["against"] in ("closed form", "brute force", "published")
        assert bool(comparison["licence"]) != own, comparison


def test_list_shows_what_a_sampler_was_verified_against():
    shown = " ".join(call("list", "samplers", "rfm-rff").split())
    for comparison in COMPARISON.finditer(SAMPLERS["rfm-rff"].declaration.verified + "\n"):
        # Of the text the first line; the rest is for help() in Python.
        assert f"{comparison['against']}: {comparison['compared'].splitlines()[0]}" in shown
