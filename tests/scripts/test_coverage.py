"""Coverage of the bootstrap: the verdicts, a cell by brute force, and the published page."""

import numpy as np
import pandas as pd
import pytest

from rfbench import kernels
from scripts import coverage


@pytest.mark.parametrize(
    ("covered", "verdict"),
    [(340, "too low"), (350, "agrees"), (369, "agrees"), (375, "conservative")],
)
def test_coverage_verdict_depends_on_interval_and_nominal_level(covered, verdict):
    low, high, found = coverage.judge(covered, 400)
    assert low < covered / 400 < high
    assert found == verdict


def test_coverage_cells_count_draws_below_the_estimated_quantile():
    cells = pd.DataFrame(coverage.measure_cells("normal", "rks", "gaussian", "paired", 20, 20, 8))
    X = coverage.draw_rows("normal")
    s = coverage.compute_bandwidth(X, "gaussian")
    K = kernels.make("gaussian", s)(X, X)
    covered = 0
    for seed in range(8):
        sampler = coverage.SAMPLERS.find("rks")(
            20, bandwidth=s, feature_map="paired", random_state=seed
        )
        Z = sampler.fit(X).transform(X)
        stated = coverage.estimate_errors(Z, "paired", seed)["frobenius"]
        covered += np.linalg.norm(Z @ Z.T - K) <= stated
    (row,) = cells[cells["norm"] == "frobenius"].to_dict("records")
    assert (row["covered"], row["draws"]) == (covered, 8)


def test_extrapolated_error_quantile_decreases_with_the_root_of_m():
    same, further = (
        pd.DataFrame(coverage.measure_cells("normal", "rks", "gaussian", "paired", 20, to, 3))
        for to in (20, 80)
    )
    np.testing.assert_allclose(further["stated"], same["stated"] / 2)


def test_published_coverage_page_equals_the_page_made_from_its_cells():
    cells = pd.read_csv(coverage.FILE)
    page = coverage.FILE.with_name("README.md").read_text(encoding="utf-8")
    assert page == coverage.make_page(cells)
    assert len(cells) == 144
    assert (cells["draws"] == coverage.DRAWS).all()


def test_coverage_cells_have_different_seeds(monkeypatch):
    firsts = []

    def remember(*kind, **words):
        firsts.append(kind[-1])
        return iter([{}])

    monkeypatch.setattr(coverage, "measure_cells", remember)
    coverage.measure_all(draws=7)
    assert firsts == [14 * i for i in range(48)]


def test_first_seed_of_a_coverage_cell_changes_its_draws():
    kind = ("normal", "rks", "gaussian", "paired", 20, 20, 3)
    first, other = (pd.DataFrame(coverage.measure_cells(*kind, first)) for first in (0, 3))
    assert (first["stated"] != other["stated"]).all()
