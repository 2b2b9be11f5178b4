"""`rfbench test`: the answer first, then what causes it, a table, and the promises."""

import re

import pytest

from rfbench.checking import CheckFailedError, bias, check_feature_map, check_map
from rfbench.errors import MethodError
from tests.checking.faulty_maps import right
from tests.support.command_line import call
from tests.support.nightly import NIGHTLY

MINE = """
import numpy as np
from rfbench.kernels import Gaussian
from rfbench.samplers import RandomFeatures

class Good(RandomFeatures):
    kernels_served = Gaussian

    def _draw(self, X, targets, random):
        frequencies = self.draw(random, X.shape[1])
        return self.unit_map(frequencies, random).times(self.n_components**-0.5)

    def draw(self, random, d):
        return self.kernel_.frequencies(random.frequencies, d, self.n_components)

class RowScaled(Good):
    # Orthogonal directions, with the lengths of a block multiplied onto the wrong axis.
    def draw(self, random, d):
        blocks = []
        for _ in range(-(-self.n_components // d)):
            Q, R = np.linalg.qr(random.frequencies.standard_normal((d, d)))
            lengths = np.sqrt(random.frequencies.chisquare(d, size=d))
            blocks.append(Q * np.sign(np.diag(R)) * lengths)
        return self.kernel_.spread * np.concatenate(blocks)[: self.n_components]

class Forgets(Good):
    def draw(self, random, d):
        return np.random.default_rng().standard_normal((self.n_components, d)) / self.bandwidth_

class Raises(Good):
    def draw(self, random, d):
        return [1, 2][d]

class Plain(Good):
    approximates_kernel = False

class Neither:
    pass

def waves(X, M, seed, bandwidth=1.0):
    generator = np.random.default_rng(seed)
    W = generator.standard_normal((M, X.shape[1])) / bandwidth
    return np.sqrt(2 / M) * np.cos(X @ W.T + generator.uniform(0, 2 * np.pi, M))
"""


@pytest.fixture(autouse=True)
def mine(tmp_path, monkeypatch):
    """A file of maps; by day a seventh of the seeds, which find each bias of these maps."""
    monkeypatch.chdir(tmp_path)
    if not NIGHTLY:
        monkeypatch.setattr(bias, "N_SEEDS", 400)
    (tmp_path / "mine.py").write_text(MINE)


def said(name, *words, code=0):
    return call("test", f"mine.py:{name}", "--allow-imports", *words, code=code)


def test_verdict_is_printed_before_a_short_table():
    lines = said("RowScaled", "--kernel", "gaussian", code=1).splitlines()
    assert re.fullmatch(
        r"NO   no gaussian, (offset|paired) map kernel: biased by -0\.\d+ \(the kernel is "
        r"0\.135\) at distance 2 along [\w -]+, z = -\d+; M = 16",
        lines[0],
    )
    assert lines[2].startswith("     cause: lengths on the wrong axis")
    assert lines[3].startswith("     to do: Multiply the rows")
    table = [
        line for line in lines if re.match(r"distance|a row with|a bandwidth further out  ", line)
    ]
    assert 10 < len(table) <= 20
    assert lines[-1] == "mine.py:RowScaled: 9 of 9 promises are kept"


def test_correct_map_exits_with_code_0():
    output = said("waves", "--bandwidth", "2")
    seen = 0.1 if NIGHTLY else 0.27
    assert output.startswith(f"yes  gaussian kernel: no bias of {seen} errors of one draw, M = 16")
    assert "6 of 6 promises" in output
    path = "sklearn.kernel_approximation.RBFSampler"
    assert call("test", path, "--parameter", "gamma=0.1").startswith("yes  gaussian kernel")
    output = call("test", path, "--parameter", "gamma=0.1", "--bandwidth", "3", code=1)
    assert "NO   no gaussian kernel: biased by" in output
    path = "sklearn.kernel_approximation.PolynomialCountSketch"
    assert call("test", path, "--kernel", "polynomial").startswith(
        "yes  polynomial[degree=2, bias=0.0] kernel"
    )


@pytest.mark.parametrize(
    ("name", "kernel"), [("rks", "matern[nu=2.5]"), ("polynomial-sketch", "polynomial[degree=2]")]
)
def test_sampler_is_measured_with_a_kernel_with_parameters(name, kernel):
    output = call("test", name, "--kernel", kernel)
    assert output.startswith(f"yes  {kernel}")
    assert "kernel: no bias of" in output.splitlines()[0]


def test_failed_checks_and_unmeasured_kernels_are_reported():
    output = said("Forgets", "--kernel", "gaussian", code=1)
    assert "FAILED  same seed same features" in output
    output = said("Plain")
    assert "No kernel is measured: the method declares that it does not estimate a kernel" in output
    output = said("Raises", code=1)
    assert "IndexError: list index out of range" in output
    assert re.search(r"mine.py, line \d+: return \[1, 2\]\[d\]", output)


def test_class_that_is_not_a_feature_map_or_not_permitted_is_rejected():
    assert "--allow-imports" in call("test", "mine.py:Good", code=2)
    assert "not a feature map" in said("Neither", code=2)
    assert "cannot be imported" in said("Nobody", code=2)
    assert "does not have the form NAME=VALUE" in said("Good", "--parameter", "gamma", code=2)
    assert "Did you mean 'matern52'" in said("waves", "--kernel", "matern5", code=2)
    assert "does not support the kernel 'cauchy'" in said("Good", "--kernel", "cauchy", code=2)
    with pytest.raises(MethodError):
        check_feature_map(3)


def test_check_map_works_as_a_test_in_user_code():
    from tests.checking import faulty_maps

    check_map(faulty_maps.right, bandwidth=faulty_maps.S)
    with pytest.raises(CheckFailedError, match="the features are the same for two seeds"):
        check_map(faulty_maps.constant_seed, bandwidth=faulty_maps.S)


def test_builtin_sampler_is_labeled_by_its_name() -> None:
    assert "rks: " in call("test", "rks", "--kernel", "laplacian")


def inverse(X, M, seed, sigma=0.5):
    return right(X, M, seed, s=1 / sigma)


def of_gamma(X, M, seed, bandwidth=1.0):
    return right(X, M, seed, s=(2 * bandwidth) ** -0.5)


def of_variance(X, M, seed, length_scale=1.0):
    return right(X, M, seed, s=length_scale**0.5)


def of_precision(X, M, seed, gamma=1.0):
    return right(X, M, seed, s=1 / gamma)


def squared(X, M, seed, bandwidth=1.0):
    return right(X, M, seed, s=bandwidth**2)


@pytest.mark.parametrize(
    ("draw", "given", "reading"),
    [
        (inverse, {}, "sigma is interpreted as 1 * s^-1"),
        (inverse, {"sigma": 0.25}, "sigma is interpreted as 1 * s^-1"),
        (of_gamma, {}, "bandwidth is interpreted as 0.5 * s^-2"),
        (of_variance, {}, "length_scale is interpreted as 1 * s^2"),
        (of_precision, {}, "gamma is interpreted as 1 * s^-1"),
    ],
)
def test_bandwidth_exponent_is_measured_for_any_parameter_name(draw, given, reading):
    report = check_feature_map(draw, parameters=given, seconds=0.5)
    assert not report.wrong_kernels
    assert report.reading.startswith(reading)


def test_squared_bandwidth_is_reported_as_a_mistake():
    report = check_feature_map(squared, seconds=0.5)
    assert report.wrong_kernels
    assert not report.reading
    stated = {"bandwidth_parameter": "bandwidth", "bandwidth_formula": "s^0.5"}
    assert not check_feature_map(squared, parameters=stated, seconds=0.5).wrong_kernels


@pytest.mark.parametrize("value", ["scale", "-1", "0"])
def test_nonpositive_or_invalid_bandwidth_is_rejected(value):
    printed = call(
        "test", "mine.py:waves", "--parameter", f"bandwidth={value}", "--allow-imports", code=2
    )
    assert "Write a number above 0." in printed


@pytest.mark.parametrize(
    ("at", "made", "fault"),
    [
        ("M > 8", "Z * np.nan", "are not a finite matrix"),
        ("M == 16 and seed == 5", "Z * np.nan", "M = 16, seed 5"),
        ("M > 8", "Z[:5]", "are not a finite matrix"),
        ("M > 8", "1 / 0", "ZeroDivisionError"),
    ],
)
def test_features_that_fail_at_other_values_of_M_fail_the_check(tmp_path, at, made, fault):
    (tmp_path / "odd.py").write_text(
        f"{MINE}\ndef odd(X, M, seed):\n    Z = waves(X, M, seed)\n"
        f"    return {made} if {at} else Z\n"
    )
    printed = call("test", "odd.py:odd", "--allow-imports", code=1)
    assert "FAILED  features to measure a kernel by" in printed
    assert fault in " ".join(printed.split())
    assert "yes" not in printed
