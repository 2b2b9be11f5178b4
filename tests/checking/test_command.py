"""`rfbench test`: somebody else's class against its contract."""

import re

import pytest

from rfbench.checking import promises_of
from rfbench.errors import MethodError
from tests.support.command_line import call

MINE = """
import numpy as np
from rfbench.kernels import Gaussian
from rfbench.samplers import RandomFeatures

class Good(RandomFeatures):
    kernels_served = Gaussian

    def _draw(self, X, targets, random):
        return self.draw_unit_map(random, X.shape[1], self.n_components).times(
            self.n_components**-0.5
        )

class Forgets(Good):
    def _draw(self, X, targets, random):
        frequencies = np.random.default_rng().standard_normal((self.n_components, X.shape[1]))
        return self.unit_map(frequencies, random)

class OneTooMany(Good):
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
    assert "16 of 16 promises" in call("test", "mine.py:Good", "--allow-imports")
    assert "2 of 2" in call("test", "mine.py:rows", "--allow-imports")
    output = call("test", "sklearn.kernel_approximation.Nystroem", "--set", "gamma=0.1")
    assert "5 of 5" in output


@pytest.mark.usefixtures("mine")
def test_what_does_not_says_what_was_got_and_ends_with_1():
    output, names = failed("OneTooMany")
    assert "has exactly the columns asked for" in names
    assert "M = 1 gives the shape (20, 2) in place of (20, 1)" in " ".join(output.split())
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
        promises_of(3)


WRONG = """
import numpy as np
from rfbench.samplers import RandomFeatures
from rfbench.kernels import Gaussian

class Features(RandomFeatures):
    kernels_served = Gaussian

    def _draw(self, X, targets, random):
        frequencies = self.draw(random, X.shape[1])
        return self.unit_map(frequencies, random).times(self.n_components**-0.5)

    def draw(self, random, d):
        return self.kernel_.frequencies(random.frequencies, d, self.n_components)

class NoBandwidth(Features):
    def draw(self, random, d):
        return random.frequencies.standard_normal((self.n_components, d))

class WrongByRootTwo(Features):
    def draw(self, random, d):
        return super().draw(random, d) * 2**0.5

class NoFactor(Features):
    def _draw(self, X, targets, random):
        return self.unit_map(self.draw(random, X.shape[1]), random)

class OneLine(Features):
    def draw(self, random, d):
        frequencies = super().draw(random, d)
        lengths = np.linalg.norm(frequencies, axis=1, keepdims=True)
        return lengths * frequencies[:1] / lengths[0]

class RowScaled(Features):
    # Orthogonal directions, with the lengths of a block multiplied onto the wrong axis.
    def draw(self, random, d):
        blocks = []
        for _ in range(-(-self.n_components // d)):
            Q, R = np.linalg.qr(random.frequencies.standard_normal((d, d)))
            lengths = np.sqrt(random.frequencies.chisquare(d, size=d))
            blocks.append(Q * np.sign(np.diag(R)) * lengths)
        return self.kernel_.spread * np.concatenate(blocks)[: self.n_components]

class IgnoresTheTarget(Features):
    needs_target = True

class NotFinite(Features):
    def draw(self, random, d):
        return np.where(np.arange(self.n_components)[:, None] == 2, np.nan, super().draw(random, d))

class Raises(Features):
    def draw(self, random, d):
        return [1, 2][d]

class Plain(Features):
    approximates_kernel = False
"""


@pytest.mark.parametrize(
    ("name", "promise", "message"),
    [
        (
            "NoBandwidth",
            "the mean over seeds is the kernel",
            "with the kernel gaussian: with M = 16",
        ),
        ("WrongByRootTwo", "the mean over seeds is the kernel", "(standard error)"),
        ("NoFactor", "the mean over seeds is the kernel", "where the kernel is"),
        ("RowScaled", "the mean over seeds is the kernel", "where the kernel is 0.1353"),
        ("OneLine", "the error of the kernel falls with M", "with M = 16 and"),
        ("IgnoresTheTarget", "target is asked for where it is needed", "with shuffled labels"),
        ("NotFinite", "one plain fit", "1 of 8 columns has NaN or infinity: 2"),
    ],
)
def test_a_wrong_sampler_is_told_from_a_right_one(name, promise, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(WRONG)
    output, names = failed(name)
    assert promise in names
    assert message in " ".join(output.split())
    if name == "OneLine":
        assert names == {promise}


def test_what_is_not_tested_and_what_cannot_be_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(WRONG)
    output = call("test", "mine.py:Features", "--allow-imports")
    assert "serves: gaussian, gaussian-unhalved." in output
    assert "skipped" not in output
    output = " ".join(call("test", "mine.py:Plain", "--allow-imports").split())
    for promise in ("the mean over seeds is the kernel", "the error of the kernel falls with M"):
        assert f"skipped {promise}: it says that it estimates no kernel" in output
    output, names = failed("Raises")
    assert names == {"one plain fit"}
    assert "IndexError: list index out of range" in output
    assert re.search(r"mine.py, line \d+: return \[1, 2\]\[d\]", output)
