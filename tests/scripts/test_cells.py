"""Kernel errors of cells: brute force of the error and of the authors' rows, and the comparison."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from rfbench import kernels
from rfbench.errors import DataError
from rfbench.results.cells import COLUMNS_OF_CELLS, Cell, list_cells, read_cells, write_cells
from scripts.cells import __main__ as command
from scripts.cells import authors, claims, compare, measure, page

CELL = Cell(
    *("Yacht", "standardized", "polynomial", 3, 0.5, "poly_sketch", "srht", "complex"),
    *(0, 0, 0, 2, 8, "modulus", 20),
)
MAPS = [
    CELL,
    CELL._replace(features="ctr", norm="real", full_cov=1, D=9),
    CELL._replace(projection="rademacher", tree=1),
    CELL._replace(projection="countsketch", features="real", norm="real"),
    CELL._replace(features="real", norm="real", expanded=32),
    CELL._replace(method="maclaurin", least_degree=3),
    CELL._replace(method="maclaurin_p", features="real", norm="real"),
]


def frame(*rows):
    """Return a table of cells, each with a folder, the authors' errors and, if measured, ours."""
    lines = [(cell.id, *cell, folder, *theirs, *(ours or [math.nan] * 3))
             for cell, folder, theirs, ours in rows]  # fmt: skip
    return pd.DataFrame(lines, columns=COLUMNS_OF_CELLS)


@pytest.fixture
def table(monkeypatch):
    X = 3.0 + np.random.default_rng(0).standard_normal((50, 5)) * [1, 2, 3, 4, 0]
    monkeypatch.setattr(measure, "_load", lambda source: (X, None))
    return X


@pytest.mark.parametrize("modulus", [False, True])
def test_relative_kernel_error_equals_the_frobenius_norm_ratio(modulus, monkeypatch):
    monkeypatch.setattr(measure, "BLOCK_ROWS", 3)
    generator = np.random.default_rng(0)
    Z, K = generator.standard_normal((7, 6)), np.cov(generator.standard_normal((7, 9)))
    complex_Z = Z[:, :3] + 1j * Z[:, 3:]
    estimate = complex_Z @ complex_Z.conj().T if modulus else Z @ Z.T
    expected = np.linalg.norm(estimate - K) / np.linalg.norm(K)
    assert_allclose(measure.compute_relative_error(Z, K, modulus), expected, rtol=1e-12)


@pytest.mark.parametrize("modulus", [False, True])
def test_squared_error_on_a_subset_of_rows_is_an_unbiased_estimate(modulus):
    generator = np.random.default_rng(4)
    Z, Y = generator.standard_normal((2, 12, 6))
    K = Y @ Y.T + 5 * np.eye(12)
    squares = []
    for rows in itertools.combinations(range(12), 3):
        part = np.ix_(rows, rows)
        complex_Z = Z[rows, :3] + 1j * Z[rows, 3:]
        estimate = complex_Z @ complex_Z.conj().T if modulus else Z[rows, :] @ Z[rows, :].T
        weights = np.where(np.eye(3), 12 / 3, 12 * 11 / (3 * 2))
        above = (weights * abs(estimate - K[part]) ** 2).sum()
        below = (weights * K[part] ** 2).sum()
        found = measure.compute_relative_error(Z[rows, :], K[part], modulus, n_rows=12)
        assert_allclose(found, np.sqrt(above / below), rtol=1e-12)
        squares.append((above, below))
    above, below = np.mean(squares, axis=0)
    assert_allclose(
        np.sqrt(above / below), measure.compute_relative_error(Z, K, modulus), rtol=1e-12
    )


def test_mnist_cells_with_many_features_are_classified_as_slow():
    mnist = CELL._replace(dataset="MNIST", expanded=0)
    assert not measure.is_slow(mnist._replace(D=1024))
    assert measure.is_slow(mnist._replace(D=2048))
    assert measure.is_slow(mnist._replace(D=256, expanded=4096))
    assert not measure.is_slow(CELL._replace(dataset="Letter", D=2048))


def test_trials_are_spread_over_the_seeds():
    assert measure.choose_seeds(CELL, 5) == [2, 6, 10, 14, 18]
    assert measure.choose_seeds(CELL._replace(n_seeds=1), 3) == [0, 0, 0]


def test_held_out_rows_of_earlier_seeds_are_duplicated_as_by_the_authors(table):
    """The test part is a tenth of 50 + 5 s rows; from seed 0 on, five rows occur s + 1 times."""
    for seed in (0, 4):
        rows = measure.draw_rows("Yacht", "none", False, seed)
        every = np.concatenate(rows[:2])
        assert len(every) == 50 + 5 * seed
        assert len(rows.training) == round(0.9 * len(every))
        counts = np.unique(every, axis=0, return_counts=True)[1]
        assert sorted(counts) == [1] * 45 + [1 + seed] * 5


def test_rows_are_scaled_by_the_training_part(table):
    scaled = measure.draw_rows("Yacht", "standardized", False, 3).training
    assert_allclose(scaled.mean(axis=0), 0.0, atol=1e-12)
    assert_allclose(scaled.std(axis=0, ddof=1), [1, 1, 1, 1, 0], atol=1e-12)
    assert_allclose(measure.draw_rows("Yacht", "minimum", False, 3).training.min(axis=0), 0.0)
    unit = measure.draw_rows("Yacht", "none", True, 3)
    assert_allclose(np.linalg.norm(unit.test, axis=1), 1.0)


def test_median_distance_is_the_lower_median_including_the_diagonal():
    rows = np.array([[0.0], [1.0], [3.0], [7.0]])  # sorted: 0 four times, 1, 1, 2, 2, 3, 3, ...
    assert measure.compute_median_distance(rows, np.random.default_rng(0)) == pytest.approx(2.0)


@pytest.mark.parametrize("cell", MAPS, ids=lambda cell: f"{cell.method}-{cell.projection}")
def test_cell_error_does_not_depend_on_other_cells_measured_with_it(cell, table):
    """Over 200 seeds the mean estimate is the kernel; alone or among others, a cell is the same."""
    ((_, alone, _),) = measure.measure([cell], 1, 5)
    others = [each for each in MAPS if (*each[:5], each.n_seeds) == (*cell[:5], cell.n_seeds)]
    assert {each: error for each, error, _ in measure.measure(others, 1, 5)}[cell] == alone
    rows = measure.draw_rows("Yacht", "standardized", True, 2)
    kernel = measure.make_kernel(cell, rows.training, np.random.default_rng(0))
    exact = (1 - kernels.compute_squared_distances(rows.test, rows.test) / 4) ** 3
    assert_allclose(kernel(rows.test, rows.test), exact, atol=1e-12)
    counts = measure._allocate_all([cell], kernel, rows, np.random.default_rng(0))
    if counts:
        assert sum(counts[cell.id]) == cell.D - 1
    features = [
        measure.make_sampler(cell, kernel, counts.get(cell.id), seed)
        .fit(rows.test)
        .transform(rows.test)
        for seed in range(200)
    ]
    columns = 2 * cell.D if cell.features == "complex" else cell.D
    assert features[0].shape[1] == columns
    estimates = np.array([Z @ Z.T for Z in features])
    if cell.method != "maclaurin":  # the truncated series is biased
        z = (estimates.mean(axis=0) - exact) / (estimates.std(axis=0) / 200**0.5 + 1e-9)
        assert np.abs(z).max() < 4.5


def test_fourier_features_have_as_many_columns_as_the_authors(table):
    rff = CELL._replace(kernel="gaussian", method="rff", projection="gaussian", norm="real")
    kernel = kernels.make("gaussian", 2.0)
    for features, columns in (("real", 8), ("complex", 16)):
        sampler = measure.make_sampler(rff._replace(features=features), kernel, None, 0)
        assert sampler.fit(table).transform(table).shape[1] == columns
    squares = measure.make_sampler(rff._replace(method="poly_sketch"), kernel, None, 0)
    assert type(squares).__name__ == "PowerSketch"


def test_cell_measurement_resumes_and_its_trials_are_summarized(table, tmp_path):
    rows = frame(*((cell, "a", (20, 0.5, 0.1), None) for cell in [*MAPS[:2], MAPS[0]]))
    file = tmp_path / "trials.csv"
    command.run(rows[:1], file)
    first = file.read_text()
    command.run(rows, file)
    assert file.read_text().startswith(first)
    trials = command.read_trials(file)
    assert len(trials) == 2 * 5
    write_cells(tmp_path / "cells.csv", command.summarize(rows, file))
    measured, _, same = read_cells(tmp_path / "cells.csv")[["n", "mean", "sd"]].to_numpy()
    errors = trials.loc[trials["id"] == CELL.id, "error"]
    assert_allclose(measured, [5, np.mean(errors), np.std(errors, ddof=1)], rtol=1e-5)
    assert_allclose(same, measured)
    command.run(command.summarize(rows, file), tmp_path / "more.csv")
    assert (tmp_path / "more.csv").read_text() == ""
    for rest in (f"{CELL.id},4,0.", f"{CELL.id},", CELL.id[:5]):
        file.write_text("".join(first.splitlines(keepends=True)[:-1]) + rest)
        assert command.summarize(rows, file)["n"].isna().all()
        command.run(rows[:1], file)
        assert command.summarize(rows, file)["n"][0] == 5
    file.write_text(f"{CELL.id},")
    kept = rows.assign(n=3.0)
    assert_allclose(command.summarize(kept, file)["n"], 3)


def test_stored_trials_are_a_reproducible_sample_of_fast_cells(table, monkeypatch):
    slow = [CELL._replace(dataset="MNIST"), CELL._replace(D=1025), CELL._replace(expanded=32)]
    rows = frame(*((cell, "a", (20, 0.5, 0.1), None) for cell in [*slow, *MAPS[:4], CELL]))
    assert set(command.draw_kept(rows)) == set(MAPS[:4])
    monkeypatch.setattr(command, "N_KEPT", 2)
    assert command.draw_kept(rows) == command.draw_kept(rows[::-1])
    kept = command.measure_first(command.draw_kept(rows))
    assert len(kept) == 2
    assert command.replay(rows, kept).empty
    kept.loc[1, "error"] *= 1 + 2 * command.TOLERANCE
    assert command.replay(rows, kept)["id"].tolist() == [kept.loc[1, "id"]]
    assert len(command.replay(rows[:0], kept)) == 2


def test_feature_counts_per_degree_are_compared_with_the_recorded_ones(table, monkeypatch):
    """Three of 15 features with another degree are a share of 0.2."""
    maclaurin = [CELL._replace(method="maclaurin", D=D) for D in (16, 32)]
    counts = measure.prepare(maclaurin, 0, command.TRIALS, 2)[2]
    assert [sum(counts[cell.id]) for cell in maclaurin] == [15, 31]
    first = counts[maclaurin[0].id]
    moved = [first[0] - 3, *first[1:-1], first[-1] + 3]
    rows = frame(*((cell, "b", (20, 0.5, 0.1), None) for cell in (*maclaurin, CELL)))
    rows["degrees_used"] = [str(moved), str(counts[maclaurin[1].id]), None]
    monkeypatch.setattr(authors, "read_cells_that_qualify", lambda path: (rows, {}))
    found = command.compare_degrees(command.CELLS)
    assert_allclose(found.loc[("Yacht", "standardized", "b")], [2, 0.1, 0.2])


def test_feature_allocation_for_mnist_uses_the_authors_number_of_rows(monkeypatch):
    X = np.random.default_rng(0).standard_normal((4000, 6))
    monkeypatch.setattr(measure, "_load", lambda source: (X, 3900))
    monkeypatch.setattr(measure, "PROTOCOL_ROWS", 700)
    cell = CELL._replace(dataset="MNIST", method="maclaurin", D=64)
    rows, kernel, counts = measure.prepare([cell], 0, 3, 5)
    assert rows.allocation.shape == (700, 6)
    assert_allclose((rows.allocation**2).sum(axis=1), 1.0)
    scaled = measure._scale(X[:3900], X, "standardized")[0]
    scaled /= np.linalg.norm(scaled, axis=1, keepdims=True)
    distances = kernels.compute_squared_distances(rows.allocation, scaled)
    assert distances.min(axis=1).max() < 1e-12
    way = measure.Way("srht", True)
    expected = measure.allocate_features(rows.allocation, kernel, [63], way, cell.least_degree)
    assert counts == {cell.id: expected[63]}
    few = measure.allocate_features(rows.training[:10], kernel, [63], way, cell.least_degree)
    assert counts != {cell.id: few[63]}


def test_published_sample_of_cell_trials_is_reproducible(monkeypatch):
    """The first two of Yacht are measured again, if the data set is here."""
    kept, cells = pd.read_csv(command.KEPT), read_cells(command.CELLS)
    assert set(kept["id"]) == {cell.id for cell in command.draw_kept(cells)}
    assert len(kept) == 300
    load = measure._load

    def load_or_skip(source):
        try:
            return load(source)
        except DataError:
            pytest.skip(f"{source} is not here")

    monkeypatch.setattr(measure, "_load", load_or_skip)
    some = kept[kept["dataset"] == "Yacht"].head(2)
    assert command.replay(cells, some).empty


def test_only_cells_that_meet_the_criteria_are_read_from_authors_results(tmp_path):
    line = {
        **{"role": "main", "dataset": "Boston", "method": "poly_sketch", "tree_code": "ahle2024"},
        **{"flag": "", "centering": "standardised", "kernel": "polynomial", "degree": 3},
        **{"bias": 0.875, "proj": "srht", "complex": 1, "complex_to_real": 0, "full_cov": 0},
        **{"hierarchical": 1, "craft": 1, "folder": "poly3_approx_a4", "D": 16, "n_seeds": 20},
        **{"norm": "complex modulus", "n_k": 19, "degrees_used": "[9, 6]"},
        **{"k_rel_frob_error_mean": 0.5, "k_rel_frob_error_sd": 0.1},
    }
    left_out = [
        {"role": "debug"},
        {"dataset": "Adult"},
        {"method": "srf"},
        {"tree_code": "hier2021"},
        {"flag": "product of count sketches without the convolution: estimate near 0"},
    ]
    table = pd.DataFrame([line, *({**line, **other} for other in left_out)])
    table.to_csv(tmp_path / "cells.csv")
    found, others = authors.read_cells_that_qualify(tmp_path / "cells.csv")
    assert others == {"Adult": 1}
    (row,) = found.to_dict("records")
    assert [row[f"published_{name}"] for name in ("n", "mean", "sd")] == [19, 0.5, 0.1]
    assert row["degrees_used"] == "[9, 6]"
    assert list(found.columns) == [*COLUMNS_OF_CELLS, "degrees_used"]
    assert found[["n", "mean", "sd"]].isna().all(axis=None)
    (cell,) = list_cells(found)
    assert row["id"] == cell.id
    assert cell == Cell(
        *("Boston", "standardized", "polynomial", 3, 0.875, "poly_sketch", "srht", "complex"),
        *(0, 1, 32_768, 3, 16, "modulus", 20),
    )


def test_comparison_has_scores_ratios_and_verdicts():
    rows = frame(
        (CELL._replace(D=1), "a", (25, 1.0, 0.05), (4, 1.01, 0.04)),
        (CELL._replace(D=2), "a", (25, 1.0, 0.05), (4, 1.5, 0.04)),
        (CELL._replace(D=3), "a", (1, 1.0, math.nan), (4, 1.0, 0.04)),
        (CELL, "a", (2, 1.0, 1.0), None),
    )
    table = compare.tabulate(rows)
    assert_allclose(table["z"], [0.01 / np.hypot(0.01, 0.02), 0.5 / np.hypot(0.01, 0.02), 0.0])
    assert table["verdict"].tolist() == ["close", "differs", "undecided"]
    (group,) = compare.group_ratios(table, compare.MAP).to_dict("records")
    assert group["ratio"] == pytest.approx((1.01 * 1.5) ** (1 / 3))
    assert group["within"] == pytest.approx(2 / 3)
    logs = np.log([1.01, 1.5, 1.0])
    assert group["se"] == pytest.approx(np.std(logs, ddof=1) / 3**0.5)
    assert group["precise_cells"] == 3
    assert "3 of 4 cells are measured" in compare.report(rows)


def make_rows():
    """Return cells of three data sets in which complex features have 0.5 times the error."""
    rows = []
    for name in ("Yacht", "Boston", "Energy"):
        for number, features in enumerate(("real", "complex")):
            for D in (8, 16):
                cell = CELL._replace(dataset=name, features=features, norm="real", D=D)
                mean = (2.0 if name == "Boston" else 1.0) * 0.5**number / D
                errors = (20, mean, 0.01 * mean), (5, 1.01 * mean, 0.02 * mean)
                rows.append((cell, "a", *errors))
    return rows


def test_ratio_of_two_maps_is_the_mean_over_data_sets():
    table = compare.tabulate(frame(*make_rows()))
    claim = next(each for each in claims.STATEMENTS if "TensorSRHT, equal D" in each["words"])
    assert_allclose(claims.compute_log_ratios(table, claim, "mean"), np.log([0.5] * 3), atol=1e-9)
    # Complex features with D have the error of real features with 2 D here.
    equal = claims.compute_log_ratios(table, claim | {"storage": 2}, "published_mean")
    assert_allclose(equal, np.log([1.0] * 3), atol=1e-9)


def test_claim_on_cells_holds_if_its_interval_is_on_one_side_of_1():
    """The half width for -1.1, -1, -0.9 is 4.303 * 0.1 / sqrt(3)."""
    logs = pd.Series([-1.1, -1.0, -0.9])
    mean, low, high = np.exp([-1, -1.2484, -0.7516])
    assert claims.judge(logs, "below") == (f"{mean:.2f} ({low:.2f} to {high:.2f})", "holds")
    assert claims.judge(logs, "above")[1] == "fails"
    assert claims.judge(-logs, "above")[1] == "holds"
    assert claims.judge(-logs, "below")[1] == "fails"
    assert claims.judge(logs + 0.9, "below")[1] == "not clear"
    assert claims.judge(logs, "shown")[1] == "shown"
    assert claims.judge(logs[:2], "below") == ("0.33, 0.37", "inconclusive")


def test_each_claim_on_cells_selects_cells_or_states_why_not():
    cells = read_cells(command.CELLS)
    for claim in claims.STATEMENTS:
        if "why" not in claim:
            logs = claims.compute_log_ratios(cells, claim, "published_mean")
            assert len(logs) >= 2, claim["words"]
            assert claim["side"] in ("below", "above", "shown")
    papers = {each["id"][:2] for each in claims.STATEMENTS if each["whose"] == "paper"}
    assert papers == {"W1", "W2", "W3"}


def test_cell_groups_are_marked_by_their_error_ratio():
    assert page.mark_ratio(0.99, 2.0, 0.1, 9) == ""
    assert page.mark_ratio(0.9, 0.99, 0.01, 3) == "*"
    assert page.mark_ratio(0.9, 0.97, 0.01, 3) == "?"
    assert page.mark_ratio(0.9, 1.0, 0.01, 2) == "?"


def test_page_of_cells_shows_the_counts_and_the_claims(tmp_path):
    rows = [*make_rows(), (CELL, "b", (20, 1.0, 0.1), None)]
    page.write_page(frame(*rows), tmp_path)
    text = (tmp_path / "README.md").read_text()
    assert "12 of 13 cells of 3 data sets are measured" in text
    assert "Our mean is missing in these cells: 1 of Yacht. 0 of the missing cells" in text
    assert "0.50 (0.50 to 0.50)" in text
    assert len(text.splitlines()) <= 120
    assert (tmp_path / "ratios.png").read_bytes().startswith(b"\x89PNG")


def test_published_cells_have_the_claims_and_the_counts_of_their_page():
    """The page beside the cells is the one that they give."""
    rows = read_cells(command.CELLS)
    assert len(rows) == 4912
    written = (command.CELLS.parent / "README.md").read_text(encoding="utf-8")
    assert page.make_page(rows) == written
    assert len(written.splitlines()) <= 120
    for claim in claims.STATEMENTS:
        assert claim["words"] in written


def test_log_mean_of_few_skewed_errors_is_biased_downwards():
    """Log means of 5 errors of a product of ten normal projections are below those of 20."""
    rows = np.random.default_rng(0).standard_normal((12, 4))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    kernel = kernels.make("polynomial[degree=10, bias=0.5]", 2**0.5)
    cell = CELL._replace(degree=10, projection="gaussian", features="real", D=8)
    K = kernel(rows, rows)
    errors = np.array(
        [
            measure.compute_relative_error(
                measure.make_sampler(cell, kernel, None, seed).fit(rows).transform(rows), K
            )
            for seed in range(400)
        ]
    )
    few, many = (np.log(errors.reshape(-1, n).mean(axis=1)).mean() for n in (5, 20))
    assert few < many - 0.05
    assert many < np.log(errors.mean())


def test_folder_of_cells_contains_no_trials_csv():
    assert command.KEPT.exists()
    assert not command.CELLS.with_name("trials.csv").exists()
