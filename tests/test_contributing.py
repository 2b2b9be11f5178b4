"""The guide names files, decorators and attributes that exist."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

from rfbench.checking.run import CheckFailedError
from rfbench.checking.samplers import OF_EVERY_MAP, SAMPLER_CHECKS
from rfbench.registry import SAMPLERS, SOLVERS
from rfbench.results import schema
from rfbench.samplers.base import RandomFeatures
from rfbench.solvers import fits
from rfbench.solvers.base import Solver
from tests.samplers import contract as samplers
from tests.solvers import contract as solvers
from tests.support import contracts

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
ADDITIONS = dict(
    re.findall(r"^\*\*(?:An?) ([^*]+)\.\*\* (.*?)(?=^\*\*|^## |\Z)", GUIDE, re.M | re.S)
)
DECORATORS = {"sampler": "rfbench.samplers.declaration", "estimator": "rfbench.parameters"}


def list_words(text):
    """Return the text between backticks."""
    return re.findall(r"`([^`\n]+)`", text)


def test_each_test_file_in_the_guide_exists():
    named = set(re.findall(r"\btests/[\w/.]*\w", GUIDE))
    assert len(named) >= 15
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_guide_names_the_tests_to_run_for_each_kind_of_addition():
    rows = dict(re.findall(r"^\| ([\w ,]+) \| (.*tests/.*) \|$", GUIDE, re.MULTILINE))
    listed = {word for names in rows for word in re.split(r", | or ", names)}
    assert {"sampler", "solver", "data set", "paper", "key", "column"} <= listed
    assert "rfbench test NAME" in rows["sampler"]


def test_each_decorator_in_the_guide_exists_and_is_used():
    named = {word[1:] for word in list_words(GUIDE) if word.startswith("@")}
    assert named == set(DECORATORS)
    for name in named:
        assert callable(getattr(importlib.import_module(DECORATORS[name]), name))
    (cls,) = SOLVERS["svm"].values()
    assert "@estimator" in list_words(ADDITIONS["solver"])
    assert f"@estimator\nclass {cls.__name__}" in (ROOT / "rfbench/solvers/svm.py").read_text()


@pytest.mark.parametrize(
    ("addition", "owner", "names"),
    [
        ("sampler", RandomFeatures, {"_draw", "kernels_served"}),
        ("solver", Solver, {"_fits", "positive_alphas", "penalty_degree"}),
        ("solver", fits, {"fit_from_matrix", "fit_from_gram", "Fits", "LinearPath"}),
        ("solver", fits.LinearPath, {"make_zero_path", "record_gap", "mark_unconverged"}),
        ("column of `trials.csv`", schema, {"_WHAT", "_METRICS", "_TIMES", "_REFIT", "_HOW"}),
    ],
)
def test_guide_names_what_a_class_has_to_define(addition, owner, names):
    said = set(re.findall(r"\w+", " ".join(list_words(ADDITIONS[addition]))))
    assert names <= said
    assert all(hasattr(owner, name) for name in names)


def test_linear_path_methods_named_in_the_guide_exist():
    called = re.findall(r"`(?:path|LinearPath)\.(\w+)\(", GUIDE)
    assert len(called) >= 3
    assert [name for name in called if not hasattr(fits.LinearPath, name)] == []


def test_all_samplers_and_no_solvers_have_a_declaration():
    assert all(hasattr(cls, "declaration") for cls in SAMPLERS.values())
    assert not any(
        hasattr(cls, "declaration") for tasks in SOLVERS.values() for cls in tasks.values()
    )


def list_contract_checks():
    """Return the checks that a new sampler or solver has to pass, by their names."""
    each = (*OF_EVERY_MAP, *SAMPLER_CHECKS, *samplers.CONTRACT.checks, *solvers.CONTRACT.checks)
    return {f"{check.__module__}.{check.__name__}": check for check in each}


@pytest.mark.parametrize("name", list_contract_checks())
def test_docstring_of_each_contract_check_states_how_to_fix_a_failure(name):
    """The promise is a statement, and the correction an instruction to the author of a method."""
    text = " ".join(inspect.getdoc(list_contract_checks()[name]).split())
    sentences = re.split(r"(?<=[.:,;]) ", text)
    first_words = {sentence.split()[0].lower() for sentence in sentences}
    assert first_words & INSTRUCTIONS, text


INSTRUCTIONS = {
    *("accumulate", "charge", "copy", "correct", "declare", "draw", "fit", "get", "inherit"),
    *("keep", "learn", "limit", "look", "name", "read", "set", "solve", "use", "do"),
}


def test_failed_contract_check_shows_how_to_fix_the_failure():
    def always_fails(subject):
        """A promise.

        Set an attribute.
        """
        raise CheckFailedError("the fault")

    with pytest.raises(CheckFailedError) as caught:
        contracts.run_cases(always_fails, [{}], None)
    assert any("Set an attribute." in note for note in caught.value.__notes__)
