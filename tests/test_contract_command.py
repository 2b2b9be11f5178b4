"""`rfbench test`: somebody else's class against its contract."""

import re

import pytest

from rfbench.errors import MethodError
from rfbench.testing import check_class
from tests.support.command_line import call

MINE = """
import numpy as np
from rfbench.samplers import RandomFeatures

class Good(RandomFeatures):
    def _draw(self, X, targets, random):
        return self.draw_unit_map(random, X.shape[1], self.n_components).times(
            self.n_components**-0.5
        )

class Forgets(Good):
    def _draw(self, X, targets, random):
        frequencies = np.random.default_rng().standard_normal((self.n_components, X.shape[1]))
        return self.unit_map(frequencies, random)

class OneTooMany(RandomFeatures):
    def _draw(self, X, targets, random):
        return self.draw_unit_map(random, X.shape[1], self.n_components + 1)

class Other:
    def fit(self, X, y=None):
        return self
    def transform(self, X):
        return X - X.mean(axis=0)

class Neither:
    pass

def rows():
    return np.arange(12.0).reshape(6, 2), [0, 1] * 3

def chance():
    return np.random.default_rng().standard_normal((6, 2)), [0, 1] * 3
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MINE)


def failed(name, *words):
    output = call("test", f"mine.py:{name}", "--allow-imports", *words, code=1)
    assert all(output.count(f"    {word}:") == output.count("FAILED") for word in ("got", "to do"))
    return output, set(re.findall(r"^FAILED +(.*?)(?: \(.*)?$", output, re.MULTILINE))


@pytest.mark.usefixtures("mine")
def test_what_keeps_its_contract_ends_with_0():
    assert "FAILED" not in call("test", "mine.py:Good", "--allow-imports")
    assert "2 of 2" in call("test", "mine.py:rows", "--allow-imports")
    output = call("test", "sklearn.kernel_approximation.Nystroem", "--set", "gamma=0.1")
    assert "5 of 5" in output


@pytest.mark.usefixtures("mine")
def test_what_does_not_says_what_was_got_and_ends_with_1():
    output, names = failed("OneTooMany")
    assert "has exactly the columns asked for" in names
    assert "(20, 2) == (20, 1)" in output
    assert "same seed of any kind same features" not in names
    _, names = failed("Forgets")
    assert "same seed of any kind same features" in names
    assert "has exactly the columns asked for" not in names
    assert failed("Other")[1] == {"features are a function of each row", "clones and copies"}
    assert failed("chance")[1] == {"it returns the same rows again"}


@pytest.mark.usefixtures("mine")
def test_what_has_no_contract_or_no_permission_is_refused():
    assert "--allow-imports" in call("test", "mine.py:Good", code=2)
    assert "neither" in call("test", "mine.py:Neither", "--allow-imports", code=2)
    assert "cannot be imported" in call("test", "mine.py:Nobody", "--allow-imports", code=2)
    with pytest.raises(MethodError):
        check_class(3)


def test_every_promise_says_what_to_do():
    from rfbench import solvers

    for check in check_class(solvers.RidgeRegressor):
        assert check.expected, check.name
        assert check.todo, check.name
        assert check.got == []
