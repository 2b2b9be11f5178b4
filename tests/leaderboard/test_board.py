"""The leaderboard: its numbers by brute force, its rule on noise, its facts from rows."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata

from rfbench.analysis.frame import build_collection
from rfbench.leaderboard.board import compute_leaderboard
from rfbench.leaderboard.facts import collect_leaderboard_facts
from rfbench.leaderboard.rows import _folders, summarize_error_ratios
from rfbench.leaderboard.rule import (
    MIN_DATASETS,
    MIN_RATIOS,
    compute_median_interval,
    compute_wilcoxon_p_value,
    find_significant_differences,
)
from tests.leaderboard.comparisons import rows
from tests.support.frames import results
from tests.support.manifests import read_damaged
from tests.support.nightly import at_night


@pytest.mark.parametrize("level", [0.9, 0.5])
def test_median_interval_has_its_binomial_coverage(level):
    """Of n values the number below the median is binomial: the ends are the nearest that cover."""
    for n in range(MIN_RATIOS, 120):
        low, high = compute_median_interval(np.random.default_rng(n).permutation(n) * 1.0, level)
        below, above = int(low), n - 1 - int(high)
        assert below == above

        def covers(ends, n=n):
            return sum(math.comb(n, k) for k in range(ends + 1, n - ends)) / 2**n

        assert covers(below) >= level > covers(below + 1)


def test_error_ratio_summary_has_median_mean_and_trimmed_mean():
    """Three tables of thirteen decide the mean; a table with equal errors is not a better one."""
    logs = np.array([*np.full(8, -0.02), 0.0, 0.01, -2.0, -3.0, 1.5])
    made = summarize_error_ratios(logs)
    assert (made.median, made.better, made.datasets) == (pytest.approx(np.exp(-0.02)), 10, 13)
    assert made.mean == pytest.approx(np.exp(logs.sum() / 13))
    assert made.trimmed == pytest.approx(np.exp(-0.15 / 10))
    few = summarize_error_ratios(logs[: MIN_RATIOS - 1])
    assert np.isnan([few.low, few.high, few.trimmed]).all()
    assert (few.median, few.datasets) == (pytest.approx(np.exp(-0.02)), MIN_RATIOS - 1)


def test_sign_flip_test_decides_whether_two_methods_differ():
    """Of ten data sets there are 1,024 signs: the share with a larger sum of ranks, counted.

    That is the exact law of Wilcoxon's test, and scipy's p-value.
    """
    generator = np.random.default_rng(1)
    for shift in (0.2, 0.6, 0.9, 1.5):
        d = generator.normal(shift, 1.0, size=10)
        logs = pd.DataFrame({"a": np.zeros(10), "b": d})
        ranks = np.sign(d) * rankdata(np.abs(d))
        signed = np.array(list(itertools.product((-1.0, 1.0), repeat=10))) * ranks
        p = (np.abs(signed.sum(axis=1)) >= abs(ranks.sum()) - 1e-9).mean()
        assert compute_wilcoxon_p_value(d) == pytest.approx(p)
        assert abs(p - 0.05) > 0.02  # the draws tell such a p from 0.05
        assert bool(find_significant_differences(logs, draws=4000)[0, 1]) == (p <= 0.05)


def test_significant_difference_requires_ranks_and_mean_to_agree():
    """Better on 28 of 30 data sets, and so much worse on two that it is worse on the mean."""
    d = np.full(30, -0.1)
    d[:2] = 5.0
    logs = pd.DataFrame({"a": np.zeros(30), "b": d})
    assert d.mean() > 0
    assert not find_significant_differences(logs)[0, 1]
    assert find_significant_differences(logs.iloc[2:])[0, 1]
    assert (compute_wilcoxon_p_value(d), compute_wilcoxon_p_value(np.zeros(30))) == (1.0, 1.0)
    assert compute_wilcoxon_p_value(d[2:]) < 1e-6


def test_ties_are_not_counted_as_evidence_for_a_difference():
    """Twenty ties and five gains are no difference; nor are ties but for rounding."""
    d = np.zeros(25)
    d[:5] = -0.5
    logs = pd.DataFrame({"a": np.zeros(25), "b": d})
    assert not find_significant_differences(logs)[0, 1]
    d[5:] = -1e-15
    assert not find_significant_differences(logs.assign(b=d))[0, 1]
    assert not find_significant_differences(logs.assign(b=0.0)).any()


@pytest.mark.parametrize("noise", ["few", *at_night("normal", "heavy")])
def test_equal_methods_differ_significantly_in_at_most_5_percent(noise):
    """Of 200 comparisons of six equal methods; the binomial law gives at most 20 with 99.9 %."""
    generator = np.random.default_rng(3)
    any_pair = leaders = 0
    for seed in range(200):
        n = 12 if noise == "few" else 25
        X = generator.standard_t(3, (n, 6)) if noise == "heavy" else generator.normal(size=(n, 6))
        X = X * generator.exponential(size=(n, 1)) if noise == "heavy" else X
        apart = find_significant_differences(pd.DataFrame(X), draws=300, seed=seed)
        best = X.mean(axis=0).argmin()
        any_pair += apart.any()
        leaders += apart[best].sum() == 5
    assert leaders <= any_pair <= 20
    assert any_pair >= 1


def board_of(errors, name="leaderboard_x", *more, trials=3):
    return compute_leaderboard(
        build_collection([results(rows(errors, trials, scaling="standard"), name), *more])
    )


def errors_of(n, M=100, factor=0.5):
    """Twenty-odd data sets on which orf has a part of the error of rks."""
    generator = np.random.default_rng(0)
    made = {}
    for i in range(n):
        base = 10.0 + i
        made[f"d{i}", "rks", M] = base
        made[f"d{i}", "orf", M] = base * factor * float(np.exp(generator.normal() * 0.1))
        made[f"d{i}", "qmc", M] = base * float(np.exp(generator.normal() * 0.1))
    return made


def test_leaderboard_facts_equal_values_computed_from_the_rows():
    errors = errors_of(MIN_DATASETS)
    size = board_of(errors).largest
    assert (size.best, size.leader, size.datasets) == ("orf", "orf", MIN_DATASETS)
    assert size.has_enough_datasets
    line = {each.method: each for each in size.lines}["orf"]
    quotients = [  # of each trial, half a point apart
        np.mean(
            [
                np.log((errors[f"d{i}", "orf", 100] + e) / (errors[f"d{i}", "rks", 100] + e))
                for e in (-0.5, 0.0, 0.5)
            ]
        )
        for i in range(MIN_DATASETS)
    ]
    of = line.ratio
    assert of.mean == pytest.approx(np.exp(np.mean(quotients)))
    assert of.median == pytest.approx(np.exp(np.median(quotients)))
    assert (of.low, of.high) == pytest.approx(np.exp(compute_median_interval(np.array(quotients))))
    assert (of.better, of.datasets) == (sum(each < 0 for each in quotients), MIN_DATASETS)
    assert ("orf", "rks") in size.apart
    assert (size.find_verdict("orf", "rks"), size.find_verdict("rks", "orf")) == ("better", "worse")
    assert (size.find_verdict("rks", "qmc"), size.list_undecided_methods("rks")) == (
        "open",
        ["qmc"],
    )
    assert board_of(errors).trials == (3, 3)


def test_best_method_needs_the_minimum_number_of_data_sets():
    size = board_of(errors_of(MIN_DATASETS - 1)).largest
    assert (size.best, size.leader, size.has_enough_datasets) == ("orf", "", False)


def test_baseline_alone_is_not_a_leader():
    alone = {key: error for key, error in errors_of(30).items() if key[1] == "rks"}
    boosted = rows({(f"d{i}", "boosting", 1): 40.0 for i in range(30)}, 3, scaling="standard")
    size = board_of(alone, "leaderboard_x", results(boosted, "leaderboard_references_b")).largest
    assert (size.best, size.leader, size.has_enough_datasets) == ("rks", "", True)


def test_only_rows_of_the_leaderboard_configurations_count():
    other = results(rows(errors_of(4), 3, scaling="standard"), "mine")
    assert compute_leaderboard(build_collection([other])) is None
    assert board_of(errors_of(20), "leaderboard_y", other).largest.datasets == 20
    smoke = results(rows(errors_of(3), 3, scaling="standard"), "leaderboard_z", smoke=True)
    assert compute_leaderboard(build_collection([smoke])) is None
    assert compute_leaderboard(build_collection([])) is None


def test_only_trials_of_both_methods_are_compared():
    """An interrupted run: the second trial of one method alone would shift its mean."""
    made = rows({("a", "rks", 50): 10.0, ("a", "orf", 50): 10.0, ("b", "rks", 50): 8.0,
                 ("b", "orf", 50): 4.0}, 2, scaling="standard")  # fmt: skip
    made = [r for r in made if not (r["sampler"] == "rks" and r["trial"] == 1)]
    board = compute_leaderboard(build_collection([results(made, "leaderboard_a")]))
    line = next(each for each in board.largest.lines if each.method == "orf")
    expected = math.sqrt(1.0 * (3.75 / 7.75))
    assert line.ratio.mean == pytest.approx(expected)


def test_incomplete_method_does_not_remove_data_sets_of_others():
    """One on half of the tables is left out; of one on 19 of 20 the gap is."""
    few = {(f"d{i}", "swim", 100): 5.0 for i in range(10)}
    most = {(f"d{i}", "svd", 100): 5.0 for i in range(19)}
    size = board_of(errors_of(20) | few | most).largest
    assert (size.left_out, size.datasets) == (("swim",), 19)
    assert size.methods[0].method == "svd"


def test_leaderboard_classifies_methods_by_their_declared_role():
    """Models are the same at every M; a method at one M stands in that column alone."""
    roles = {"rks": "method", "plain": "baseline", "forest": "model", "varpro": "method"}
    errors = {(f"d{i}", "plain", M): 20.0 + i for i in range(MIN_DATASETS) for M in (50, 100)}
    errors |= {(f"d{i}", "rks", M): 19.0 + i for i in range(MIN_DATASETS) for M in (50, 100)}
    made = rows(errors, 2, scaling="standard")
    varpro = {(f"d{i}", "varpro", 100): 10.0 + i for i in range(MIN_DATASETS)}
    single = rows(varpro, 2, scaling="standard")
    models = rows(
        {(f"d{i}", "forest", M): 15.0 + i for i in range(MIN_DATASETS) for M in (50, 100)},
        2,
        scaling="standard",
        message="at chance: it is not",
    )
    for row in made + single + models:
        row["role"] = roles[row["sampler"]]
    folders = [
        results(made, "leaderboard_x"),
        results(single, "leaderboard_mine"),
        results(models, "leaderboard_models"),
    ]
    board = compute_leaderboard(build_collection(folders))
    assert board.baseline == "plain"
    assert board.unlearnt == ()
    found = {size.M: {line.method: line for line in size.lines} for size in board.sizes}
    assert set(found[50]) == {"plain", "rks", "forest"}
    assert set(found[100]) == {"plain", "rks", "forest", "varpro"}
    written = {
        line["method"]: line["role"]
        for line in collect_leaderboard_facts(board)["sizes"][-1]["lines"]
    }
    assert written == roles
    references = {name for lines in found.values() for name in lines if lines[name].role == "model"}
    assert references == {"forest"}
    assert (board.largest.best, board.largest.leader) == ("varpro", "varpro")
    for row in made:  # nobody says which one is the baseline: nothing is compared
        row["role"] = "method"
    assert (
        compute_leaderboard(build_collection([results(made, "leaderboard_x"), *folders[1:]]))
        is None
    )


def test_data_sets_with_all_methods_at_chance_level_are_not_compared():
    """Every row at chance, or no mean R^2 of 0.05; one row that is not, or an R^2 of it, is."""
    made = rows(errors_of(6), 2, scaling="standard")
    for row in made:
        row["at_chance"] = row["dataset"] in ("d0", "d1")
        row["message"] = "" if row["at_chance"] else "at chance"
        row["error"] = 99.0 if row["dataset"] in ("d2", "d3", "d4") else row["error"]
        row["r2"] = {"d2": 0.049, "d3": 0.051}.get(row["dataset"])
        if row["dataset"] == "d1" and row["sampler"] == "qmc" and row["trial"] == 1:
            row["at_chance"] = False
    board = compute_leaderboard(build_collection([results(made, "leaderboard_x")]))
    assert (board.unlearnt, board.largest.datasets) == (("d0", "d2"), 4)


def test_versions_of_one_data_set_count_once():
    """Digits is optdigits in other clothes: each mean is that of two data sets, not of three."""
    names = ("iris", "digits", "optdigits")
    errors = {(d, "rks", 100): 40.0 if d == "iris" else 10.0 for d in names}
    errors |= {(d, "orf", 100): 40.0 if d == "iris" else 5.0 for d in names}
    made = rows(errors, 1, scaling="standard")
    board = compute_leaderboard(build_collection([results(made, "leaderboard_x")]))
    line = next(each for each in board.largest.lines if each.method == "orf")
    assert line.ratio.mean == pytest.approx(math.sqrt(0.5))
    assert board.largest.datasets == 2


def test_data_sets_excluded_by_the_catalogue_do_not_count():
    errors = {(d, m, 50): 9.0 for d in ("iris", "mushroom") for m in ("rks", "orf")}
    assert board_of(errors).largest.datasets == 1


def test_costs_are_relative_and_from_trials_where_all_methods_were_timed():
    """One that was timed on cheap tables alone would look cheap; so would one in a fast trial."""
    made = rows(errors_of(6), 2, scaling="standard")
    boosted = rows({(f"d{i}", "boosting", 1): 10.0 for i in range(6)}, 1, scaling="standard")
    for row in made + boosted:
        dear = row["dataset"] in ("d4", "d5")
        slow = (100.0 if dear else 1.0) * (9.0 if row["trial"] == 0 else 1.0)
        row["cpu_train"] = slow * {"orf": 2.0, "boosting": 3.0}.get(row["sampler"], 1.0)
        row["cpu_pp"] = row["cpu_features"] = row["cpu_test"] = 0.0
        if row["sampler"] == "orf" and (dear or row["trial"] == 0):
            row["cpu_train"] = None
    folders = [results(made, "leaderboard_x"), results(boosted, "leaderboard_references_b")]
    size = compute_leaderboard(build_collection(folders)).largest
    assert (size.datasets, size.timed) == (6, 4)
    costs = {line.method: line.search for line in size.lines}
    assert costs == pytest.approx({"rks": 1.0, "qmc": 1.0, "orf": 2.0, "boosting": 3.0})


def test_held_out_data_sets_are_shown_but_not_used_for_selection():
    """The trials that the best method shares with the baseline, at their largest M."""
    errors = errors_of(20)
    apart = {("new", "rks", 400): 10.0, ("new", "orf", 400): 6.0, ("new", "orf", 50): 1.0,
             ("new", "rks", 50): 9.0, ("other", "rks", 400): 10.0,
             ("other", "orf", 400): 15.0}  # fmt: skip
    made = rows(apart, 2, scaling="standard")
    made = [
        row for row in made if (row["dataset"], row["sampler"], row["trial"]) != ("new", "orf", 1)
    ]
    board = board_of(errors, "leaderboard_x", results(made, "leaderboard_held_out_r"))
    alone = board_of(errors)
    assert collect_leaderboard_facts(board)["sizes"] == collect_leaderboard_facts(alone)["sizes"]
    assert board.folders == alone.folders
    assert alone.held_out is None
    first = math.log((6 - 0.25) / (10 - 0.25))  # of the first trial, the only one of both
    second = np.mean([math.log((15 + e) / (10 + e)) for e in (-0.25, 0.25)])
    assert board.held_out.mean == pytest.approx(math.exp((first + second) / 2))
    assert board.held_out.datasets == 2


PROTOCOL = {
    "rows": 5000, "test_rows": 100, "split": {"test_size": 0.3}, "scaling": "standard",
    "target": "range", "feature_map": "offset", "dtype": "float64", "seed": 0,
    "features_in_folds": "nested", "protocol": "tuned",
    "bandwidth": {"cv": ["median"], "widen": True}, "solver": {"name": "ridge"},
    "samplers": [{"name": "rks", "role": "baseline"}],
}  # fmt: skip


def run_of(made, name, config):
    """Results whose manifest has a configuration with these keys."""
    run = results(made, name)
    run.manifest["config"] |= config
    return run


def test_configuration_of_any_name_counts_under_the_same_protocol():
    """With other rows it does not; nor do its rows of methods that the leaderboard has."""
    errors = errors_of(20)
    mine = {(d, "mine", M): 0.3 * e for (d, name, M), e in errors.items() if name == "rks"}
    again = {(d, name, M): 9.0 for (d, name, M), e in errors.items() if name == "rks"}
    own = run_of(rows(errors, scaling="standard"), "leaderboard_x", PROTOCOL)
    asked = PROTOCOL | {"samplers": [{"name": "mine", "role": "method"}]}
    guest = rows(mine | again, scaling="standard")
    board = compute_leaderboard(build_collection([own, run_of(guest, "any-name", asked)]))
    assert board.largest.best == "mine"
    assert board.largest.datasets == 20
    ratio = {line.method: line.ratio for line in board.largest.lines}
    alone = {
        line.method: line.ratio
        for line in compute_leaderboard(build_collection([own])).largest.lines
    }
    assert {name: ratio[name] for name in alone} == alone
    assert {name for name in ratio if name not in alone} == {"mine"}
    for change in ({"rows": 100}, {"feature_map": "paired"}, {"bandwidth": "median"}):
        other = run_of(guest, "any-name", asked | change)
        assert collect_leaderboard_facts(
            compute_leaderboard(build_collection([own, other]))
        ) == collect_leaderboard_facts(compute_leaderboard(build_collection([own])))
    foreign = asked | {"bandwidth": "median", "samplers": [{"name": "m.py:M", "imported": True}]}
    assert (
        compute_leaderboard(build_collection([own, run_of(guest, "any", foreign)])).largest.best
        == "mine"
    )


def test_manifest_with_arbitrary_content_causes_no_error(tmp_path):
    read_damaged(lambda results: _folders([results], ("a", "quickstart")), tmp_path)
