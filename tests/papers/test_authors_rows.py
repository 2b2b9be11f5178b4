"""The authors' own runs: read, measured again with their settings, and compared."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from rfbench import papers
from rfbench.analysis import authors_rows
from rfbench.api import read_config
from rfbench.errors import ConfigError
from rfbench.experiment.plan import Job, Trial, plan_trials
from rfbench.experiment.trial import run_job
from rfbench.pages import paper
from tests.support.frames import results, selection, verification
from tests.support.papers import read_from

PAPER = """\
title: Folds
authors: [Jane Doe]
venue: JOKE
year: 2030
about: an invented paper
datasets: {Digits: {dataset: digits, other_rows: "REASON"}}
rows_source: {repository: doe/folds, commit: COMMIT, path: save/, licence: MIT}
""".replace("COMMIT", "a" * 40)
HEAD = "dataset,method,fold,metric,value,M,alpha,penalty_divisor\n"
CONFIG = """\
paper: doe2030
item: folds
dataset: digits
split: {folds: 3, seed: 7, first_permuted: 300}
scaling: clipped-all
bandwidth: 1.0
M: 1
settings_from: doe2030
samplers: [{class: sklearn.preprocessing.FunctionTransformer, label: linear}]
solver: {name: logistic, alpha_convention: per-sample, selection: fixed}
trials: 3
"""
ALPHAS = [0.01, 0.1, 1.0]


def write(root: Path, rows: str, paper: str = PAPER.replace("REASON", "")) -> Path:
    folder = root / "doe2030"
    folder.mkdir(parents=True)
    (folder / "paper.yaml").write_text(paper)
    (folder / "rows.csv").write_text(HEAD + rows)
    return root


def scikit_learns_scores() -> list[float]:
    """The accuracies of the configuration by numpy and scikit-learn, in percent."""
    X, y = load_digits(return_X_y=True)
    rows = np.random.RandomState(7).permutation(len(X))[:300]
    X, y = X[rows], y[rows]
    X = np.clip((X - X.mean(axis=0)) / (X.std(axis=0) + 1e-5), -3, 3)
    scores = []
    for (train, test), alpha in zip(
        KFold(3, shuffle=True, random_state=7).split(X), ALPHAS, strict=True
    ):
        model = LogisticRegression(C=1 / (alpha * len(train)), tol=1e-6, max_iter=1000)
        scores.append(100 * model.fit(X[train], y[train]).score(X[test], y[test]))
    return scores


def test_scores_per_fold_published_by_authors_are_reproduced(tmp_path: Path) -> None:
    """Of percentages as 97.12 four digits agree where they differ by less than .005 points."""
    off, equal = (0.0049, -0.0051, 1.0), 1
    scores = scikit_learns_scores()
    assert len(set(scores)) == 3
    lines = [
        f"Digits,linear,{fold},accuracy,{score + off[fold]},1,{alpha},\n"
        for fold, (score, alpha) in enumerate(zip(scores, ALPHAS, strict=True))
    ]
    (tmp_path / "folds.yaml").write_text(CONFIG)
    with read_from(write(tmp_path / "papers", "".join(lines))):
        trials = plan_trials(read_config(tmp_path / "folds.yaml"))
        rows = [row for trial in trials for row in run_job(Job((trial,)))]
        named = {"paper": "doe2030", "item": "folds", "settings_from": "doe2030"}
        checked = verification(results(rows, **named))
        (line,) = checked.authors
        page = paper.render_paper_page(checked, "doe2030", tmp_path)
    assert (line.equal, line.near, line.folds, line.draws) == (equal, 3 - equal, 3, 1)
    (group,) = checked.selection.collection.groups.to_dict("records")
    assert (group["trials"], group["parameters"]) == (3, "{}")
    assert line.difference == pytest.approx(-np.mean(off))
    half_width = stats.t(2).ppf(0.95) * np.std(off, ddof=1) / 3**0.5
    assert line.half_width == pytest.approx(half_width)
    assert line.verdict == "undecided"
    assert (
        f"**{equal} of 3 folds** of cross-validation, the results that the authors published "
        f"agree with our results to four digits. For another {3 - equal} fold" in page
    )
    assert "doe/folds, commit aaaaaaa, path save/, with the license MIT" in page


@pytest.mark.parametrize(
    ("rows", "paper", "message"),
    [
        ("Digits,a,0,rmse,1,,,\n", PAPER[: PAPER.index("rows_source")], "rows_source"),
        ("Digits,a,0,rmse,1,,,\nDigits,a,2,rmse,1,,,\n", PAPER, "the folds have to be 0, 1"),
        ("Letters,a,0,rmse,1,,,\n", PAPER, "the data set Letters is not in paper.yaml"),
        ("Digits,a,0,error,1,,,\n", PAPER, "rows.csv, line 2: .*metric"),
    ],
)
def test_invalid_rows_of_the_authors_raise_config_error(
    tmp_path: Path, rows: str, paper: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=message), read_from(write(tmp_path, rows, paper)):
        papers.find_paper("doe2030")


SETTINGS = "Digits,rks,0,rmse,1,5,0.5,2\nDigits,rks,1,rmse,1,9,0.25,3\n"


def test_trial_uses_the_authors_settings_of_its_fold(tmp_path: Path) -> None:
    text = CONFIG.replace("folds: 3", "folds: 2").replace("logistic", "ridge")
    text = text[: text.index("samplers")] + "samplers: [rks]\nsolver: {name: ridge}\ntrials: 3\n"
    (tmp_path / "folds.yaml").write_text(text)
    with read_from(write(tmp_path / "papers", SETTINGS)):
        experiment = read_config(tmp_path / "folds.yaml")
        trials = plan_trials(experiment)
        assert [trial.M for trial in trials] == [5, 9, 5]
        assert [trial.experiment.solver.alphas for trial in trials] == [[0.5], [0.25], [0.5]]
        assert [trial.sampler.parameters["penalty_divisor"] for trial in trials] == [2, 3, 2]
        assert len({trial.id for trial in trials}) == 3
        first = trials[0]
        planned = Trial(experiment, first.dataset, first.data_sha256, experiment.samplers[0], 1, 0)
        assert {trial.setting for trial in trials} == {planned.setting}
        assert first.with_number(1).id == trials[1].id
        settings = first.setting
    with read_from(write(tmp_path / "others", SETTINGS.replace("0.25", "0.75"))):
        assert plan_trials(experiment)[0].setting != settings
    (tmp_path / "folds.yaml").write_text(text.replace("folds: 2", "folds: 3"))
    with (
        read_from(tmp_path / "papers"),
        pytest.raises(
            ConfigError, match="For rks on the data set digits, the paper has settings for 2 folds"
        ),
    ):
        read_config(tmp_path / "folds.yaml")


def lines_of(
    root: Path, theirs: np.ndarray, ours: np.ndarray, reason: str
) -> tuple[authors_rows.AuthorsRuns, ...]:
    """Compare values of shape (methods, 5 folds) with ours, of shape (methods, draws, 5)."""
    rows = [
        f"Digits,m{method},{fold},rmse,{value},,,\n"
        for (method, fold), value in np.ndenumerate(theirs)
    ]
    measured = [
        {"dataset": "digits", "label": f"m{method}", "trial": trial, "rmse": value, "error": ""}
        for method, values in enumerate(ours)
        for trial, value in enumerate(values.ravel())
    ]
    with read_from(write(root, "".join(rows), PAPER.replace("REASON", reason))):
        lines = authors_rows.compare_with_authors_rows(
            selection(results(measured, paper="doe2030", item="folds"))
        )
    assert len(lines) == len(theirs)
    return lines


def test_comparison_on_different_folds_uses_a_welch_interval(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    theirs, ours = random.normal(0.5, 0.01, (1, 5)), random.normal(0.5, 0.02, (1, 2, 5))
    (line,) = lines_of(tmp_path, theirs, ours, "another order")
    test = stats.ttest_ind(ours[0].mean(axis=0), theirs[0], equal_var=False)
    low, high = test.confidence_interval(0.9)
    assert line.difference == pytest.approx(50 * (low + high))
    # Half a unit of the last printed digit is added, see `verdicts.compute_interval_half_widths`.
    assert line.half_width == pytest.approx(50 * (high - low) + 0.005)
    assert (line.same_rows, line.draws) == (False, 2)


def test_interval_on_equal_folds_covers_only_random_feature_variation(tmp_path: Path) -> None:
    """Folds differ by far more than draws, and the interval covers 0 in nine cases of ten."""
    random, n = np.random.default_rng(0), 80
    folds = random.normal(0.5, 0.2, (n, 5))
    theirs, ours = random.normal(folds, 0.01), random.normal(folds[:, None], 0.01, (n, 4, 5))
    lines = lines_of(tmp_path, theirs, ours, "")
    error = np.sqrt(ours.var(axis=1, ddof=1).mean(axis=1) * (1 + 1 / 4) / 5)
    half_widths = np.array([line.half_width for line in lines])
    assert half_widths == pytest.approx(100 * stats.t(15).ppf(0.95) * error)
    covered = int((np.abs([line.difference for line in lines]) < half_widths).sum())
    assert stats.binomtest(covered, n, 0.9).pvalue > 1e-3
    shifted = lines_of(tmp_path / "shifted", theirs[:5] + 0.05, ours[:5], "")
    assert {line.verdict for line in shifted} == {"differs"}
