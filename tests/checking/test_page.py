"""The page of maps names what was read alone."""

import numpy as np
import pytest

from rfbench.checking import page
from rfbench.checking.closed_forms import find_kernel
from scripts.foreign.run import SOURCES


def test_each_map_that_was_read_has_its_row_and_its_line():
    rows = page.read(page.MAPS_FOLDER / "others.csv").query("how == 'read'")
    read = [(name, each["option"]) for name, source in SOURCES.items()
            for each in source["maps"] if source["how"] == "read"]  # fmt: skip
    assert sorted(zip(rows["code"], rows["option"], strict=True)) == sorted(read)
    lines = page.render_page(page.MAPS_FOLDER).split("Read, but not run")[1].split("\n## ")[0]
    assert all(f"- **{code}**, {option} (version " in lines for code, option in read)


def test_a_fault_is_counted_once_and_only_of_maps_that_claim_to_be_unbiased():
    """13 options, 11 faults: pykoop and pyrff have two options with one fault each."""
    others = page.read(page.MAPS_FOLDER / "others.csv")
    biased = page.count_faults(others).query("verdict == 'biased'")
    twice = biased[biased.duplicated(["code", "said"], keep=False)]["code"]
    assert sorted(twice) == ["pykoop", "pykoop", "pyrff", "pyrff"]
    assert len(biased) - len(page.faults(others)) == 2
    apart = others[others["apart"] != ""]
    declared = [(name, each["option"]) for name, source in SOURCES.items()
                for each in source["maps"] if "apart" in each]  # fmt: skip
    assert sorted(zip(apart["code"], apart["option"], strict=True)) == sorted(declared)
    assert not set(apart.index) & set(page.count_faults(others).index)


def test_the_regularised_softmax_kernel_is_the_mean_over_a_sphere():
    """By quadrature over the angle to x + y, in three dimensions."""
    kernel = find_kernel("softmax-regularised", 1.0)
    x, y = np.array([[0.3, -0.2, 0.5]]), np.array([[0.1, 0.4, -0.3]])
    length = np.sqrt(3) * np.linalg.norm(x + y)
    cosines, weights = np.polynomial.legendre.leggauss(40)
    mean = (weights * np.exp(length * cosines)).sum() / 2  # cosines are uniform in 3 dimensions
    expected = np.exp(-((x**2).sum() + (y**2).sum()) / 2) * mean
    assert kernel(x, y)[0, 0] == pytest.approx(expected, rel=1e-12)
    W = kernel.frequencies(np.random.default_rng(0), 3, 100_000)
    assert np.allclose((W**2).sum(axis=1), 3)
    drawn = np.exp(W @ (x + y)[0]).mean() * np.exp(-((x**2).sum() + (y**2).sum()) / 2)
    assert drawn == pytest.approx(expected, rel=0.01)
