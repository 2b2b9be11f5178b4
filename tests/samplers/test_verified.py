"""Every sampler says what it was verified against, and the tests that it names are there."""

import importlib
from operator import attrgetter

import pytest

from rfbench.registry import SAMPLERS
from rfbench.samplers.verified import verifications
from tests.support.command_line import call


def function(file, name):
    """Return a function of a test file, or of one of its classes as Class::function."""
    module = importlib.import_module("tests." + file.removesuffix(".py").replace("/", "."))
    return attrgetter(name.replace("::", "."))(module)


def test_every_sampler_has_an_entry_and_nothing_else():
    assert set(verifications()) == set(SAMPLERS)


@pytest.mark.parametrize("name", list(SAMPLERS))
def test_the_tests_that_an_entry_names_exist(name):
    entry = verifications()[name]
    assert entry
    for one in entry:
        file, _, test = one.test.partition("::")
        assert callable(function(file, test)), one
        assert one.compared, one
        assert one.tolerance, one
        # Other people's code is named with its licence.
        assert bool(one.licence) == (one.against not in ("closed form", "brute force", "published"))


def test_list_shows_what_a_sampler_was_verified_against():
    said = call("list", "samplers", "nystroem")
    for one in verifications()["nystroem"]:
        assert f"{one.against}: {one.compared}" in " ".join(said.split())
        assert one.test in said
