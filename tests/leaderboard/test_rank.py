"""Where one method stands: its place by brute force, its trials those of the leaderboard."""

import functools
import json
import math
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import rfbench
from rfbench import datasets, kernels, samplers, shipped, solvers
from rfbench.analysis.frame import build_collection
from rfbench.errors import ConfigError, MethodError, ResultsError
from rfbench.experiment.fanout import FanOut
from rfbench.experiment.plan import Job, Trial
from rfbench.experiment.worker import Limits
from rfbench.leaderboard import quick
from rfbench.leaderboard.rank import (
    MEDIAN,
    NO_BANDWIDTH,
    NOT_SEARCHED,
    SEARCHED,
    RankTarget,
    compare_with_published_rows,
    find_scale_notes,
    make_experiments,
    read_published_rows,
)
from rfbench.leaderboard.ranking import find_method_to_rank
from rfbench.leaderboard.rows import compute_log_ratios, read_trials
from rfbench.leaderboard.rule import MIN_DATASETS
from rfbench.registry import SAMPLERS
from rfbench.results import reader
from rfbench.samplers.elsewhere import EARLIER_UNKNOWN_SCALE, UNKNOWN_SCALE
from tests.leaderboard.comparisons import rows
from tests.support import kinds
from tests.support.command_line import call
from tests.support.frames import results
from tests.support.nightly import nightly
from tests.support.results import write_folder

ROWS = Path(__file__).parents[2] / "results" / "published"
RKS = RankTarget("rfbench.samplers.RKS", samplers.RKS, {}, "RKS")
asked_of = functools.partial(make_experiments, allow_imports=True)
KINDS = ("Drawn", "Transformer", "function", "module")
TIMES = {"cpu_pp": 0.1, "cpu_features": 0.1, "cpu_train": 0.3, "cpu_test": 0.02}
PARTS = {"rks": 1.0, "orf": 0.5, "qmc": 2.0, "boosting": 0.4}


def others(n=12):
    """Rows of three methods and one model, exact multiples of one error but for the trial."""
    errors = {
        (f"d{i}", name, 1 if name == "boosting" else 100): (10.0 + i) * part
        for i in range(n)
        for name, part in PARTS.items()
    }
    made = results(rows(errors, 1, scaling="standard", **TIMES), "leaderboard_x")
    return read_trials(build_collection([made]), {made.path})


def own(factors, *more, **changes):
    errors = {(f"d{i}", "mine", 100): (10.0 + i) * part for i, part in enumerate(factors)}
    made = rows(errors, 1, scaling="standard", **{**TIMES, **changes})
    return results([*made, *more], "rank_x", Path("results/rank-mine"))


def test_ranked_method_gets_its_rank_ratios_and_verdicts():
    factors = np.geomspace(0.6, 0.9, 12)
    found = compare_with_published_rows(others(), own(factors), "mine", 100)
    median = float(np.exp(np.median(np.log(factors))))
    assert (found.place, len(found.size.methods), found.rival) == (2, 4, "orf")
    assert found.plain.median == pytest.approx(median)
    assert found.plain.low < median < found.plain.high
    assert (found.best.median, found.best.datasets) == (pytest.approx(2 * median), 12)
    assert (found.plain.better, found.best.better) == (12, 0)
    assert set(found.list_methods("better")) == {"rks", "qmc"}
    assert set(found.list_methods("worse")) == {"orf", "boosting"}
    assert found.list_methods("open") == []
    assert found.tables[0] == ("d0", pytest.approx(0.6))
    assert found.tables[-1] == ("d11", pytest.approx(0.9))
    assert math.isnan(found.own.search)


def test_method_equal_to_the_baseline_has_ratio_1_and_no_difference():
    found = compare_with_published_rows(others(), own([1.0] * 12), "mine", 100)
    assert (found.plain.median, found.plain.low, found.plain.high) == (1.0, 1.0, 1.0)
    assert "rks" in found.list_methods("open")


def test_trials_without_a_length_scale_are_counted():
    note = "the method's parameters are assumed to be for bandwidth 1: The method uses the target."
    one = rows({("d11", "mine", 100): 9.0}, 1, scaling="standard", message=f"7 tried; {note}")
    found = compare_with_published_rows(others(), own([0.7] * 11, *one), "mine", 100)
    assert found.unknown_scales == (note,)


def test_only_selected_data_sets_are_compared():
    """Of four tables of twelve; the others' means over all twelve do not count."""
    found = compare_with_published_rows(others(), own([0.7] * 4), "mine", 100)
    assert (found.size.datasets, found.plain.datasets) == (4, 4)


def test_failed_trials_and_changed_data_are_left_out_and_counted():
    failed = rows({("d11", "mine", 100): 1.0}, 1, scaling="standard", status="failed")
    other = rows({("d10", "mine", 100): 1.0}, 1, scaling="standard", data_hash="other")
    found = compare_with_published_rows(others(), own([0.7] * 10, *failed, *other), "mine", 100)
    assert (found.left_out, found.plain.datasets) == (2, 10)
    assert found.plain.median == pytest.approx(0.7)
    with pytest.raises(ResultsError, match="no rows to compare"):
        compare_with_published_rows(others(), own([0.7] * 3, data_hash="other"), "mine", 100)


def test_times_are_compared_only_within_one_run():
    """Here the baseline takes .2 s, and the method .6 s; the published rows took .5 s."""
    baseline = rows(
        {(f"d{i}", "rks", 100): 10.0 + i for i in range(12)}, 1, scaling="standard",
        cpu_pp=0.0, cpu_features=0.1, cpu_train=0.1,
    )  # fmt: skip
    mine = own([0.7] * 12, *baseline, cpu_train=0.4)
    found = compare_with_published_rows(others(), mine, "mine", 100)
    assert found.own.search == pytest.approx(3.0)
    assert found.plain.median == pytest.approx(0.7)


def test_user_sampler_runs_with_the_leaderboard_settings():
    (regression, classification) = asked_of(RKS, 400, ["airfoil", "vehicle", "yacht"])
    assert [spec.name for spec in regression.dataset] == ["airfoil"]
    assert (regression.M, regression.scaling, regression.trials) == ([400], "standard", 3)
    assert [spec.label for spec in classification.samplers] == ["RKS"]
    small = asked_of(RKS, 50, ["yacht"])
    assert [each.name for each in small] == ["rank_small_regression"]
    both = asked_of(RKS, 400, ["airfoil"], times=True)
    assert [spec.label for each in both for spec in each.samplers] == ["RKS", "rks"]


def test_user_solver_is_ranked_in_place_of_ridge_on_rks_features():
    ranked = RankTarget("rfbench.solvers.RidgeRegressor", solvers.RidgeRegressor, {}, "mine")
    (made,) = asked_of(ranked, 400, ["airfoil", "vehicle"])
    assert [spec.name for spec in made.dataset] == ["airfoil"]  # the other one has classes
    assert ranked.kind == "solver"
    assert (made.solver.name, made.solver.imported) == (ranked.path, True)
    assert made.solver.parameters["selection"] == "cv5"
    assert [(spec.name, spec.label) for spec in made.samplers] == [("rks", "mine")]


def ranked(thing, **parameters):
    return RankTarget(thing, thing, parameters, "mine")


def test_all_kinds_of_methods_are_searched_like_builtin_ones():
    from sklearn.kernel_approximation import Nystroem, RBFSampler

    (ours,) = asked_of(RKS, 400, ["airfoil"])
    assert ours.bandwidth.widen
    things = [Nystroem, RBFSampler, RBFSampler(gamma=2.0), *map(kinds.__dict__.get, KINDS)]
    for thing in things:
        (made,) = asked_of(ranked(thing), 400, ["airfoil"])
        same = made.model_dump(exclude={"samplers", "title"})
        assert same == ours.model_dump(exclude={"samplers", "title"})
    for stated in ({"gamma": 0.1}, {"bandwidth_parameter": "gamma"}):
        assert ranked(RBFSampler, **stated).bandwidth == SEARCHED


def test_method_without_bandwidth_is_detected_by_rescaled_rows():
    from sklearn.svm import LinearSVC

    elm, pairs, rks = (SAMPLERS[name] for name in ("elm", "pairs", "rks"))
    assert ranked(kinds.Ranks).bandwidth == ranked(pairs).bandwidth == NO_BANDWIDTH
    assert ranked(kernels.ArcCosine1).bandwidth == NO_BANDWIDTH
    for one in (
        ranked(elm),
        ranked(rks, bandwidth=2.0),
        ranked(kinds.Sized),  # its number of features is not known
        ranked(kinds.Transformer, bandwidth_parameter="none"),
        ranked(LinearSVC),
    ):
        assert one.bandwidth == NOT_SEARCHED, one.thing
        (made,) = asked_of(replace(one, path=f"{one.thing.__module__}.{one.thing.__qualname__}"),
                           400, ["vehicle"])  # fmt: skip
        assert made.bandwidth == MEDIAN
    assert ranked(kinds.Sized, D="M").bandwidth == SEARCHED
    assert ranked(elm, bandwidth_parameter="rows").bandwidth == SEARCHED


def test_user_kernel_is_ranked_with_plain_random_features():
    for path in ("rfbench.kernels.Laplacian", "laplacian"):
        ranked = RankTarget(path, kernels.Laplacian, {}, "Mine")
        (made,) = asked_of(ranked, 400, ["airfoil"])
        assert (ranked.kind, made.kernel) == ("kernel", path)
        assert [(spec.name, spec.label) for spec in made.samplers] == [("rks", "Mine")]


def test_trials_of_a_registered_sampler_equal_the_published_ones():
    """By identity, on every table: the same setting, whatever it is called."""
    hashes = _hashes()
    asked = {
        trial.setting
        for M in (50, 400)
        for experiment in asked_of(RankTarget("rks", samplers.RKS, {}, "x"), M, _tables())
        for spec in experiment.dataset
        for trial in [Trial(experiment, spec, hashes[spec.name], experiment.samplers[0], M, 0)]
    }
    there = set(_published_rows().query("label == 'rks'")["setting"])
    assert asked == there


@functools.cache
def _published_rows():
    runs = ("regression", "classification", "small_regression", "small_classification")
    return pd.concat([reader.read_results_folder(ROWS / f"leaderboard_{run}").rows for run in runs])


def _hashes():
    return {
        name.partition("[")[0]: data
        for name, data in _published_rows()[["dataset", "data_hash"]]
        .drop_duplicates()
        .itertuples(index=False, name=None)
    }


def _tables():
    return list(_hashes())


RIDGE = RankTarget("rfbench.solvers.RidgeRegressor", solvers.RidgeRegressor, {}, "RidgeRegressor")


@pytest.mark.parametrize(
    ("table", "ranked"),
    [
        ("yacht", RKS),
        ("energy", RIDGE),
        pytest.param("vehicle", RKS, marks=nightly),
        pytest.param("rest", RKS, marks=nightly),
    ],
    ids=["sampler", "solver", "vehicle", "rest"],
)
def test_rks_given_by_class_reproduces_the_published_rows(table, ranked):
    """Bit for bit, where the sums are taken as then; else within what a replay allows."""
    M = 50 if table == "yacht" else 100
    there = _published_rows().query("label == 'rks' and M == @M")
    there = there.assign(dataset=there["dataset"].str.partition("[")[0])
    there = there.set_index(["dataset", "trial"])
    names = [name for name in _tables() if table in (name, "rest") and datasets.is_on_disk(name)]
    if not names:
        pytest.skip("The data are not on this machine")
    for experiment in asked_of(ranked, M, names):
        for spec in experiment.dataset:
            data = datasets.hash_data(spec.name, spec.parameters, spec.folder)
            trial = Trial(experiment, spec, data, experiment.samplers[0], M, 0)
            made = []
            FanOut(made.append, Limits()).run([Job((trial,))])
            then = there.loc[spec.name, 0]
            assert made[0]["status"] == "ok"
            for metric in ("error", "relative_rmse"):
                if not pd.isna(then[metric]):
                    assert made[0][metric] == pytest.approx(then[metric], rel=1e-9, abs=1e-9)


def nearest_to_all(logs, among):
    """Choose ten tables: one after the other, then by exchanges; the names in order."""
    X = logs.loc[among].to_numpy() - logs.to_numpy().mean(axis=0)

    def error(chosen):
        return (X[chosen].mean(axis=0) ** 2).sum()

    chosen = []
    while len(chosen) < 10:
        chosen = min(([*chosen, i] for i in range(len(X)) if i not in chosen), key=error)
    while True:
        others = [i for i in range(len(X)) if i not in chosen]
        exchanged = ([*(kept for kept in chosen if kept != out), new]
                     for out in chosen for new in others)  # fmt: skip
        best = min(exchanged, key=error)
        if error(best) >= error(chosen) - 1e-15:
            return sorted(among[i] for i in chosen)
        chosen = best


def test_quick_data_sets_are_selected_by_the_documented_rule():
    every, _ = read_published_rows(ROWS)
    logs = compute_log_ratios(every[~every["reference"]], 400).dropna()
    plain = every[(every["M"] == 400) & (every["method"] == "rks")]
    spent = plain.groupby("table")["search"].sum()
    among = sorted(set(spent.index[spent <= spent.median()]) & set(logs.index))
    assert nearest_to_all(logs, among) == list(quick.QUICK)
    every_mean = logs.drop(columns="rks").mean()
    few = pd.Series({
        name: logs.loc[nearest_to_all(logs.drop(columns=name), among), name].mean()
        for name in every_mean.index
    })  # fmt: skip
    assert quick.FURTHEST == pytest.approx(np.exp((few - every_mean).abs().max()), abs=0.005)
    assert quick.CORRELATION == pytest.approx(few.corr(every_mean, "spearman"), abs=0.005)


def test_minimum_number_of_data_sets_has_power_80_percent():
    """Tukey's range with n - 1 degrees of freedom, the power and the efficiency of signed ranks."""

    def suffices(n, methods):
        q = stats.studentized_range.isf(0.05, methods, n - 1)
        return q / math.sqrt(2) + stats.norm.ppf(0.8) <= math.sqrt(n)

    for methods, n, tables in ((2, 10, 11), (19, 24, MIN_DATASETS)):
        assert [suffices(each, methods) for each in (n - 1, n)] == [False, True]
        assert math.ceil(n * math.pi / 3) == tables


def test_kernel_with_parameters_is_rejected():
    ranked = RankTarget("rfbench.kernels.Laplacian", kernels.Laplacian, {"bandwidth": 2.0}, "Mine")
    with pytest.raises(ConfigError, match="parameters of a kernel cannot be set"):
        asked_of(ranked, 400, ["airfoil"])


def test_rank_rejects_feature_counts_without_published_rows():
    with pytest.raises(ConfigError, match="with M = 300"):
        asked_of(RKS, 300, ["airfoil"])


def test_published_rows_of_other_settings_are_left_out(tmp_path):
    """A folder by the name of a configuration of ours, whose rows have another setting."""
    shared = {"scaling": "standard", "samplers": [{"role": "baseline"}]}
    for name, method in (("leaderboard_x", "orf"), ("leaderboard_regression", "swim")):
        errors = {(f"d{i}", each, 100): 10.0 for i in range(4) for each in ("rks", method)}
        made = rows(errors, 1, scaling="standard", setting=f"of {name}")
        write_folder(tmp_path / name, made, {"config": {"name": name, **shared}})
    found, stale = read_published_rows(tmp_path)
    assert set(found["method"]) == {"rks", "orf"}
    assert (stale, set(found["table"])) == (8, {"d0", "d1", "d2", "d3"})
    for folder in ("nowhere", "leaderboard_regression"):
        with pytest.raises(ResultsError, match="No published leaderboard rows"):
            read_published_rows(tmp_path / folder)


@nightly
def test_all_published_rows_have_the_current_settings():
    assert read_published_rows(ROWS)[1] == 0


CONFIG = """
title: Invented
protocol: tuned
rows: 200
test_rows: 100
split: {test_size: 0.3}
scaling: standard
kernel: gaussian
bandwidth: {cv: [0.5*median, median, 2*median], widen: true}
M: 10,20
samplers: [{rks: {role: baseline}}, orf]
solver: {name: ridge, alphas: "log:1e-8:1e4:13", alpha_convention: absolute, selection: cv5}
trials: 1
datasets:
  invented: {dataset: [sphere]}
"""


@pytest.fixture(scope="module")
def measured_board(tmp_path_factory):
    """A leaderboard of one generated table, its rows measured."""
    top = tmp_path_factory.mktemp("board")
    (top / "leaderboard.yaml").write_text(CONFIG)
    out = top / "results" / "published"
    call("run", top / "leaderboard.yaml", "--jobs", 1, "--out", out, "--quiet")
    return top


@pytest.fixture
def board(measured_board, tmp_path, monkeypatch):
    """Go to a copy of it, which is the leaderboard that there is."""
    shutil.copytree(measured_board, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        shipped, "locate_configuration", lambda named: tmp_path / "leaderboard.yaml"
    )
    monkeypatch.setattr(shipped, "find_published_folder", lambda: None)


SAMPLER = """
from rfbench.samplers import RKS

class Mine(RKS):
    pass
"""


def test_class_in_a_file_is_measured_and_ranked(board, no_pictures, monkeypatch):
    monkeypatch.setattr("rfbench.leaderboard.figure.render_figure", lambda *_, **__: b"")
    Path("mine.py").write_text(SAMPLER)
    words = ("rank", "mine.py:Mine", "--M", 10, "--jobs", 1)
    assert "--allow-imports" in call(*words, code=2)
    said = call(*words, "--allow-imports", "--times")
    lines = said[said.index("Mine: place") :].splitlines()
    assert len(lines) <= 12
    assert lines[0].endswith("of 3 methods with features at M = 10, over 1 table")
    assert "0.0 % higher error in the median than RKS, and lower error on 0 of 1 table; " in said
    assert "of CPU time if it is as fast as rks" in said
    assert "significance is not tested with 1 table: at least 26 are needed" in said
    before, _, _ = said.partition("trials to run")
    assert "significance will not be tested: 26 tables are needed, but there are 1" in before
    assert "significantly" not in said
    assert "times the CPU time of RKS" in said
    folder = Path("results/rank-Mine")
    assert {"rank.png", "rank.pdf", "rank.tex", "trials.csv"} <= {f.name for f in folder.iterdir()}
    assert (folder / "rank.tex").read_text().startswith("Mine & 1.00 & ")
    before = (folder / "trials.csv").read_bytes()
    again = call(*words, "--allow-imports")
    assert (folder / "trials.csv").read_bytes() == before
    assert "0 trials to run" in again
    assert "of CPU time if" not in again
    assert "cost: not compared" in again
    said = call("verify", folder, "--replay", 2, "--allow-imports")
    assert "1 agree" in said
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["config"]["samplers"][0]["role"] == "method"


def test_rank_accepts_methods_given_by_path_object_or_function(board):
    """Of the same frequencies the ratio is 1; without a search there is no verdict."""
    words = ("--M", 10, "--jobs", 1, "--allow-imports")
    said = call("rank", f"{kinds.__file__}:module", *words)
    assert "module: place" in said
    objects = {"instance": kinds.Transformer(), "f": kinds.function}
    found = [rfbench.rank(thing, label=label, M=10, n_jobs=1) for label, thing in objects.items()]
    ratios = [each.standing.plain.median for each in found]
    assert ratios == pytest.approx([1.0, 1.0], rel=1e-9)
    assert str(found[0]).startswith("instance: place ")
    for folder in ("module", *objects):
        line = Path(f"results/rank-{folder}/rank.tex").read_text()
        assert line.startswith(f"{folder} & 1.00")

    assert "may be shifted" not in str(found[0])
    said = str(rfbench.rank(kinds.ramps, M=10, n_jobs=1))
    assert (
        "its grid of bandwidths may be shifted in 1 trial: the method's parameters are "
        "assumed to be for bandwidth 1: The mean product of features does not decrease to 0.61 as "
        "the distance of the rows grows."
    ) in said.splitlines()

    words = ("rank", f"{kinds.__file__}:Transformer", *words)
    said = call(*words, "--set", "bandwidth_parameter=none")
    assert "the bandwidth is not selected, so the method gets no rank" in said
    assert "Transformer is not compared, because its bandwidth was not searched" in said
    assert "--set bandwidth_parameter=NAME" in said
    verdict = said.partition("not compared")[2]
    assert "than RKS" in verdict
    for words_of_verdicts in ("place 1", "LaTeX", "significan", "to publish the rows"):
        assert words_of_verdicts not in verdict
    assert not list(Path("results/rank-Transformer").glob("rank.*"))

    said = call("rank", f"{kinds.__file__}:Ranks", "--M", 10, "--jobs", 1, "--allow-imports")
    (line,) = [line for line in said.splitlines() if line.startswith("Ranks: place")]
    assert "it has no bandwidth, because dividing the rows by 4" in line
    assert "LaTeX: Ranks" in said


# The columns of a trial that say which rows, folds, penalties and bandwidths were searched.
SEARCH = [
    "protocol",
    "n_train",
    "n_test",
    "d",
    "kernel",
    "bandwidth_rule",
    "M",
    "columns",
    "kept",
    "trial",
    "solver",
    "selection",
    "chosen",
    "features_in_folds",
    "alpha_convention",
    "intercept",
    "split",
    "scaling",
    "dtype",
    "seed",
    "data_hash",
    "timing",
    "status",
]


def test_external_map_gets_the_same_rows_folds_and_grid(board):
    from sklearn.kernel_approximation import Nystroem, RBFSampler

    published = reader.read_results_folder(Path("results/published/leaderboard_invented")).rows
    ours = published.query("label == 'rks' and M == 10")[SEARCH]
    for thing in (RBFSampler(gamma=0.5), Nystroem(gamma=0.5)):
        theirs = reader.read_results_folder(rfbench.rank(thing, M=10, n_jobs=1).folder).rows
        pd.testing.assert_frame_equal(theirs[SEARCH], ours.reset_index(drop=True))


def test_displayed_names_are_accepted_as_input():
    for name, own, parameters in (
        ("ORF", "orf", {}),
        ("LS-RFF", "leverage-rff", {}),
        ("RLS Nyström", "nystroem", {"landmarks": "recursive-rls"}),
        ("nystroem-kmeans", "nystroem", {"landmarks": "kmeans"}),
        ("qmc", "qmc", {}),
        ("laplacian", "laplacian", {}),
    ):
        found = find_method_to_rank(name, {}, None, False)
        assert (found.path, found.parameters) == (own, parameters)
    with pytest.raises(MethodError, match=r"no sampler or kernel 'matern32'.* gaussian-unhalved"):
        find_method_to_rank("matern32", {}, None, False)
    with pytest.raises(MethodError, match="Did you mean 'SLS-RFF'"):
        find_method_to_rank("SLS-RF", {}, None, False)


@pytest.mark.parametrize("text", [UNKNOWN_SCALE, EARLIER_UNKNOWN_SCALE])
def test_notes_on_unknown_length_scale_are_found_in_old_and_new_rows(text):
    """Rows keep the wording of the version that wrote them."""
    messages = pd.Series([f"5 bandwidths tried; {text}: why", f"{text}: why", "", "no note"])
    assert list(find_scale_notes(messages)) == [f"{text}: why"] * 2
