import json
import math
import time

import pytest
from threadpoolctl import threadpool_info

from rfbench.solvers import fits
from scripts.bench import doubled, pools, quick, report, ridge, runs, solvers
from scripts.bench.case import RECORDED, Bar, Case
from scripts.bench.covtype import covtype_case
from scripts.bench.limit import Limit

KEYS = {
    "case", "n", "d", "M", "seconds", "reference", "reference_seconds", "ratio", "limit_seconds",
    "limit_ratio", "bars",
}  # fmt: skip


def check(case, *, compared, limited):
    record = json.loads(json.dumps(case.record()))
    assert set(record) == KEYS == {*RECORDED, "bars"}
    assert record["seconds"] > 0
    for key in ("reference", "reference_seconds", "ratio"):
        assert (record[key] is not None) == compared
    for key in ("limit_seconds", "limit_ratio"):
        assert (record[key] is not None) == limited


def test_ridge_benchmark_cases_run():
    case = ridge.ridge_case(100, 3, 8, 25, rounds=1, fits=2)
    check(case, compared=True, limited=True)
    assert [bar.number for bar in case.bars] == [1, 2]
    check(ridge.orf_case(100, 3, 8), compared=True, limited=False)
    check(ridge.nystroem_case(100, 3, 8), compared=True, limited=False)


def test_ridge_benchmark_compares_fits_with_equal_errors():
    rows = ridge.problem(2000, 2)
    ours = ridge.fit_and_predict(rows, "rks", 200)
    features = ridge.RBFSampler(gamma=0.5 / rows.bandwidth**2, n_components=200, random_state=0)
    model = ridge.Ridge(ours.alpha_).fit(features.fit_transform(rows.X), rows.y)
    scores = (
        ours.score(rows.X_new, rows.y_new),
        model.score(features.transform(rows.X_new), rows.y_new),
    )
    assert min(scores) > 0.9
    assert scores[0] == pytest.approx(scores[1], abs=0.02)


def test_numpy_orf_is_orthogonal():
    orf = ridge.NumpyORF(5, gamma=0.5).fit(ridge.problem(20, 5).X)
    inner = orf.frequencies.T @ orf.frequencies
    assert abs(inner[0, 1]) < 1e-12 < inner[0, 0]


def test_machine_time_limit_equals_operations_times_measured_costs():
    limit = Limit(n=100, n_new=20, d=3, M=8, penalties=2)
    assert limit.seconds == math.inf
    limit.rates = {"project": 1.0, "gram": 1e3, "predict": 1e6, "cosine": 1e9}
    work = 2 * 120 * 3 * 8 + 1e3 * (100 * 8 * 9 + 2 * 512 / 3) + 1e6 * 2 * 20 * 8 * 2 + 1e9 * 960
    assert limit.seconds == pytest.approx(work)


@pytest.mark.parametrize("name", pools.SCORED)
def test_candidate_pool_benchmark_cases_run(name):
    check(pools.pool_case(name, 50, 3, 20, rounds=1), compared=False, limited=True)


def test_chi_square_weights_benchmark_case_runs():
    check(pools.weights_case(100), compared=False, limited=False)


def test_solver_benchmark_cases_run():
    check(solvers.folds_case(30, 8), compared=True, limited=True)
    check(solvers.single_case(30, 8), compared=True, limited=True)
    check(solvers.one_penalty_case(60, 8, 3), compared=True, limited=False)
    case = solvers.logistic_case(60, 8, 2, 1e-4)
    check(case, compared=True, limited=False)
    assert case.sound


def test_worker_process_benchmark_case_runs():
    case = runs.workers_case(60, 3, 8, 4)
    check(case, compared=True, limited=False)
    assert case.sound


def test_covtype_benchmark_runs_in_its_own_process():
    case = covtype_case(200, 4, 8)
    check(case, compared=False, limited=False)
    assert 0 < case.gigabytes < 14
    assert case.case.startswith("generated rows")


def test_speed_requirements_are_evaluated():
    case = Case("a", 2.0, 1, 2, 3, "b", 10.0, 1.5)
    assert case.reaches(Bar(1, "ratio", least=5))
    assert not case.reaches(Bar(1, "ratio", least=5.1))
    assert not case.reaches(Bar(2, "limit_ratio", most=1.3))
    assert not case.reaches(Bar(5, "gigabytes", most=14))
    assert not Case("a", 1.0, sound=False).reaches(Bar(6, "seconds", most=2))


def test_benchmark_report_contains_all_cases_and_requirements(tmp_path):
    bars = (Bar(1, "ratio", least=25), Bar(2, "limit_ratio", most=1.3))
    cases = [Case("rks, ridge", 2.0, 100, 2, 3, "Ridge", 60.0, 1.0, bars=bars)]
    report.write(cases, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(report.FILES)
    assert len(json.loads((tmp_path / "bench.json").read_text())) == len(cases)
    text = (tmp_path / "bench.md").read_text()
    assert "| 30 | 2.00 | >= 25 x; <= 1.3 x limit | PASS, MISSED |" in text
    assert "bar 2: MISSED by rks, ridge 100, 2, 3" in report.verdict(cases)
    assert "The limit is the smallest possible time" in text


def test_tuning_constant_is_restored_after_timing_other_values(monkeypatch):
    seen = []
    monkeypatch.setattr(doubled, "REPEATS", 1)
    doubled.compare("solvers.fits.BLOCK_VALUES", lambda: seen.append(fits.BLOCK_VALUES))
    assert seen == [fits.BLOCK_VALUES, fits.BLOCK_VALUES // 2, fits.BLOCK_VALUES * 2]


def test_quick_benchmark_lines_show_one_and_two_threads(tmp_path, monkeypatch):
    monkeypatch.setattr(quick, "MULTIPLICATIONS", 40 * 8**2)
    lines = [
        *quick.ridge_lines(60, 3, 8, quick.KINDS, time.process_time, seconds=0.0),
        *quick.map_lines(40, 3, 8, "float32", time.process_time, seconds=0.0),
        *quick.logistic_lines(60, 8, 2, time.process_time, seconds=0.0),
    ]
    assert len(lines) == 4 + len(quick.MAPS) + 2
    assert "from 40 rows" in lines[0].name  # the reference fits fewer rows, and its time is scaled
    for line in lines:
        assert line.ours.keys() == line.theirs.keys() == {1, 2}
        assert len(line.cells()) == len(quick.HEAD)
    assert set(lines[0].limit) == {1, 2}
    assert not lines[-1].limit
    text = quick.write_page(quick.page(lines), tmp_path).read_text()
    assert text.count("\n| ") == len(lines) + 2


def test_loosest_tolerance_with_a_sufficient_gap_is_found():
    gaps = {1e-1: 3.0, 1e-2: 0.5, 1e-3: 0.1}
    assert solvers.find_tolerance(gaps.__getitem__, gaps, 0.5) == 1e-2
    with pytest.raises(ValueError, match="at most 0.05"):
        solvers.find_tolerance(gaps.__getitem__, gaps, 0.05)


@pytest.mark.parametrize("classes", [2, 3])
def test_logistic_objective_is_minimal_at_the_solution(classes):
    Z, y = solvers.rows(200, 8, classes)
    ours = solvers.LogisticClassifier(0.1, tol=1e-10).fit(Z, y)
    theirs = solvers.LogisticRegression(C=10.0, tol=1e-12, max_iter=10_000).fit(Z, y)
    least, same = (solvers.compute_logistic_objective(m, Z, y, 0.1) for m in (ours, theirs))
    assert same == pytest.approx(least, rel=1e-8)
    loose = solvers.LogisticRegression(C=10.0, tol=0.1).fit(Z, y)
    assert solvers.compute_logistic_objective(loose, Z, y, 0.1) > least * (1 + 1e-6)


def test_quick_benchmark_alternates_between_one_and_two_threads():
    seen = []

    def note(name):
        seen.append((name, {each["num_threads"] for each in threadpool_info()}))

    found = quick.in_rounds({"a": lambda: note("a"), "b": lambda: note("b")}, seconds=0.0)
    assert [name for name, _ in seen] == ["a", "b"] * 2 * quick.LEAST_ROUNDS
    assert [max(threads) for _, threads in seen[:4]] == [1, 1, 2, 2]
    assert found.keys() == {"a", "b"}
