import gc
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

from rfbench import memory, samplers
from rfbench.cli.memory import memory_lines, trials_without_data
from rfbench.compute import waves
from rfbench.config import read
from rfbench.errors import MemoryLimit
from rfbench.experiment.footprint import FREQUENCIES, RowSizes, estimate, footprints, row_sizes
from rfbench.experiment.plan import plan
from rfbench.experiment.worker import LEAST_MEMORY
from rfbench.memory import GIB
from rfbench.registry import SAMPLERS

SPHERE = """\
dataset: {sphere: {d: 8, n_train: 1500, n_test: 300}}
bandwidth: 3.0
trials: 1
"""


def trials_of(folder, text):
    path = folder / "tried.yaml"
    path.write_text(text)
    return trials_without_data([read(path)])


def peak_of(work):
    """Return the most bytes that numpy held at once while `work` ran, beyond those before."""
    gc.collect()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# Large enough beside the blocks, small enough for a second.
N, M = 900, 600
ROWS = np.random.default_rng(0).standard_normal((N, 6))
LABELS = np.arange(N) % 4


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    waves.warm_up()


@pytest.mark.parametrize("name", ["leverage-rff", "greedy", "svd"])
def test_a_pool_whose_gram_matrix_does_not_fit_is_refused(name):
    words = {"base_size": 40} if name == "svd" else {"pool_size": 40}
    sampler = samplers.make(name, n_components=5, bandwidth=3.0, random_state=0, **words)
    memory.limit_to(1.0)
    try:
        with pytest.raises(MemoryLimit, match="40 columns"):
            sampler.fit(ROWS, ROWS[:, 0])
    finally:
        memory.limit_to(None)


@pytest.mark.parametrize("name", list(SAMPLERS))
@pytest.mark.parametrize("feature_map", ["offset", "paired"])
def test_columns_are_known_before_the_fit(name, feature_map):
    words = {"bandwidth": 3.0, "random_state": 0, "feature_map": feature_map}
    sampler = samplers.make(name, n_components=12, **words)
    fitted = sampler.fit(ROWS[:80], LABELS[:80])
    assert sampler.planned_columns() == fitted.transform(ROWS[:2]).shape[1]
    pool = {"pool_size", "base_size"} & {*sampler.get_params()}
    assert sampler.n_drawn == 12 or pool


@pytest.mark.parametrize("landmarks", ["uniform", "kmeans", "rpcholesky"])
def test_what_drawing_landmarks_takes(landmarks):
    rows = np.random.default_rng(0).standard_normal((4000, 6))
    sampler = samplers.Nystroem(M, bandwidth=3.0, landmarks=landmarks, random_state=0)
    sampler.fit(rows[:M])  # imports and compiles
    measured = peak_of(lambda: sampler.fit(rows))
    assert sampler.scratch_bytes(4000, 6) == pytest.approx(measured, rel=0.2)


@pytest.mark.parametrize(
    ("name", "n", "d", "classes", "m", "words"),
    [
        ("pairs", 4000, 6, 1, 100, {}),
        ("pairs", 1000, 400, 1, 2000, {}),
        ("swim", 4000, 6, 1, 100, {}),
        ("swim", 4000, 6, 20, 100, {"target_norm": "l2"}),
        ("rfm-rff", 2000, 6, 1, 600, {}),
        ("rfm-rff", 2000, 6, 20, 300, {"feature_map": "paired", "rounds": 1}),
        ("rfm-rff", 600, 300, 1, 50, {"score_rows": 0.5, "rounds": 1}),
        ("varpro", 2000, 6, 1, 600, {"iterations": 1}),
        ("varpro", 2000, 6, 20, 50, {"iterations": 1, "score_rows": 0.5}),
        ("varpro", 300, 1000, 1, 100, {"iterations": 11}),
    ],
)
def test_what_drawing_from_the_target_or_pairs_takes(name, n, d, classes, m, words):
    """Beside the frequencies, as often as `estimate` counts them."""
    rows = np.random.default_rng(0).standard_normal((n, d))
    target = np.arange(n) % classes if classes > 1 else rows[:, 0]
    sampler = samplers.make(name, n_components=m, bandwidth=3.0, random_state=0, **words)
    sampler.fit(rows[:50], target[:50])  # imports and compiles
    measured = peak_of(lambda: sampler.fit(rows, target))
    estimated = sampler.scratch_bytes(n, d, classes, 8.0 * d) + 8.0 * FREQUENCIES * m * d
    assert measured < estimated < 2 * measured


@pytest.mark.parametrize("estimator", ["all", "paper"])
def test_what_the_data_decide_is_not_estimated(tmp_path, estimator):
    lkrf = f"M: 10\nsamplers: [lkrf: {{estimator: {estimator}}}, rks]\n"
    unknown, known = footprints(trials_of(tmp_path, SPHERE + lkrf))
    assert unknown[1] is None
    assert known[1] > LEAST_MEMORY
    kept = "M: {kept_by: lkrf}\nsamplers: [lkrf: {estimator: all}, rks]\n"
    assert [need for _, need in footprints(trials_of(tmp_path, SPHERE + kept))] == [None, None]


MEASURE = """
import os, sys
from pathlib import Path
from rfbench.config import read
from rfbench.experiment.environment import peak_rss_mb
from rfbench.experiment.plan import jobs, plan
from rfbench.experiment.trial import run_job

def peak(path):
    rows = [row for job in jobs(plan(read(Path(path)))) for row in run_job(job)]
    assert {row["status"] for row in rows} == {"ok"}, rows
    return peak_rss_mb()

small, *large = sys.argv[1:]
peak(small)  # imports and compiles for all
for path in large:
    if os.fork() == 0:
        bare = peak(small)
        print(peak(path) - bare, flush=True)
        os._exit(0)
    assert os.wait()[1] == 0
"""
SMALL = """\
dataset: {sphere: {d: 3, n_train: 60, n_test: 30}}
bandwidth: 3.0
trials: 1
M: 5
samplers: [rks, leverage-rff]
solver: {alphas: [0.1, 1], selection: cv3}
"""


FOLDS = "solver: {alphas: [0.1, 1], selection: cv5}\n"
LARGE = {
    "five": f"M: 1400\nsamplers: [rks]\n{FOLDS}",
    "curve": f"M: [700, 1500]\nsamplers: [rks]\n{FOLDS}",
    "rows": f"M: 3000\nsamplers: [rks]\n{FOLDS}",
    "loo": "M: 1400\nsamplers: [rks]\nsolver: {alphas: [0.1, 1], selection: loo}\n",
    "svm": "M: 3000\nsamplers: [rks]\nsolver: {name: svm, alphas: 1, max_iter: 2}\n",
}


def test_estimate_holds_the_measured_peak(tmp_path):
    """The growth of a process beyond one that has run something small."""
    files = [tmp_path / f"{name}.yaml" for name in ("small", *LARGE)]
    for file, text in zip(files, (SMALL, *(SPHERE + text for text in LARGE.values())), strict=True):
        file.write_text(text)
    words = [sys.executable, "-c", MEASURE, *files]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for file, grown in zip(files[1:], map(float, done.stdout.split()), strict=True):
        estimated = max(estimate(t) for t in plan(read(file))) - LEAST_MEMORY
        assert 1e6 * grown < estimated < 2e6 * grown, file.name


def test_methods_from_elsewhere(tmp_path):
    """A sampler that is ours in kind is estimated; an estimator takes a matrix and a copy."""
    (tmp_path / "mine.py").write_text(
        "from rfbench.samplers import RKS\nclass Mine(RKS):\n    pass\n"
    )
    path = tmp_path / "tried.yaml"
    theirs = "{class: sklearn.kernel_approximation.RBFSampler, n_components: M}"
    mine = f"{{class: '{tmp_path}/mine.py:Mine'}}"
    ridge = "solver: {class: sklearn.linear_model.Ridge}\n"
    path.write_text(SPHERE + f"M: 10\nsamplers: [rks, {mine}, {theirs}]\n{ridge}")
    (_, rks), (_, own), (_, other) = footprints(
        trials_without_data([read(path, allow_imports=True)])
    )
    assert rks == own > LEAST_MEMORY
    assert other is None


def test_sizes_come_from_the_catalogue(tmp_path):
    def sizes(text):
        return row_sizes(trials_of(tmp_path, text + "M: 5\nsamplers: [rks]\n")[0])

    adult = sizes("dataset: adult\n")
    assert (adult.n, adult.d, adult.n_test, adult.classes) == (32561, 108, 48842 - 32561, 2)
    half = sizes("dataset: letter\nsplit: {test_size: 0.5}\ntrials: 1\ndtype: float32\n")
    assert half == RowSizes(10000, 16, 10000, 26, 4, 2 * 8 * 16 * 20000)
    few = sizes("dataset: letter\nsplit: {test_size: 5000, train_size: 2000}\nrows: 200\n")
    assert (few.n, few.n_test) == (200, 500)
    sphere = sizes("dataset: {sphere: {d: 3, n_train: 70}}\n")
    assert (sphere.n, sphere.d, sphere.n_test, sphere.classes) == (70, 3, 1000, 2)
    digits = sizes("dataset: digits\nsplit: {test_size: 0.3}\n")
    assert (digits.n, digits.d, digits.n_test, digits.classes) == (1258, 64, 539, 10)


def test_the_largest_and_those_above_the_limit_are_named(tmp_path):
    text = "M: [100, 20000]\nsamplers: [rks, eerf: {pool_size: 40000}]\nsolver: {alphas: 1}\n"
    trials = trials_of(tmp_path, SPHERE.replace("1500", "30000") + text)
    most, above = memory_lines(trials, 2, 2.0 * GIB)
    assert most.startswith("memory: about 9.5")
    assert "per worker at most (eerf, M = 20000, sphere d=8 n_train=30000 n_test=300)" in most
    assert most.endswith("2 workers, limit 2.0 GiB each")
    assert "rks, M = 20000" in above
    assert "M = 100," not in above
    assert "take fewer --jobs, or raise --memory" in above
    (fine,) = memory_lines(trials, 1, 100.0 * GIB)
    assert fine.endswith("1 worker, limit 100.0 GiB each")
    assert list(memory_lines([], 1, None)) == []


def test_folds_with_features_of_their_own_hold_their_rows(tmp_path):
    text = SPHERE + "samplers: [{eerf: {pool_size: 40}}]\nM: [8, 16]\nsolver: {alphas: [1, 2]}\n"
    sizes = {}
    for how in ("nested", "once"):
        trials = trials_of(tmp_path, f"{text}features_in_folds: {how}\n")
        sizes[how] = estimate(next(t for t in trials if t.M == 16))
    assert sizes["nested"] - sizes["once"] == 1500 * 8 * 8
