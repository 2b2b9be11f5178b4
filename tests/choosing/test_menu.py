"""The menu of `choose`: one file, and what a leaderboard's facts change in it."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from rfbench.choosing import judging, menu
from rfbench.choosing import search as searching
from rfbench.choosing.search import LearningProblem, Search
from rfbench.errors import ConfigError

SHIPPED = menu.shipped()


def test_the_page_says_the_numbers_of_the_search():
    page = " ".join((Path(searching.__file__).parent / "README.md").read_text().split())
    for fact in (
        f"at {SHIPPED.landmarks.small} landmarks",
        f"at {SHIPPED.landmarks.middle:,} landmarks",
        f"{SHIPPED.trained} trained frequencies",
        f"up to {searching.FOLDED_ROWS:,} rows",
        f"{judging.ROWS_PER_SECOND} per second of the budget, at most {judging.MOST_ROWS:,}",
        f"a quarter of the rows, at most {judging.MOST_HELD_OUT:,}",
    ):
        assert fact in page, fact
    assert (judging.HELD_OUT, searching.VALIDATION) == (0.25, 0.2)
    assert (searching.FOLDS, searching.DRAWS) == (3, 3)
    assert (len(SHIPPED.kernels), SHIPPED.rounds) == (3, 6)
    assert searching.METRIC_LANDMARKS[1] == 2 * searching.METRIC_LANDMARKS[0]


@pytest.mark.parametrize(
    "change",
    [
        "trained: -1",
        "scalings: [zscore]",
        "landmarks: {kind: best}",
        "more: 1",
        "kernels: {linear: [1, 2, 3]}",
    ],
)
def test_a_menu_that_is_none_is_refused(change):
    key = change.partition(":")[0]
    shipped = yaml.safe_dump(SHIPPED.model_dump(mode="json"))
    lines = [line for line in shipped.splitlines() if not line.startswith(key)]
    text = "\n".join([*lines, change]) if key not in ("landmarks", "kernels") else change
    with pytest.raises(ConfigError, match=r"m\.yaml"):
        menu.parsed(text, "m.yaml")


def small_search(columns=2):
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.normal(size=(150, columns))).add_prefix("x")
    y = np.sin(2 * X["x0"].to_numpy()) + 0.1 * generator.normal(size=150)
    problem = LearningProblem(X, y, 0, None, "rmse", 0)
    landmarks = SHIPPED.landmarks.model_copy(
        update={"kind": "kmeans", "small": 10, "middle": 15, "largest": 15}
    )
    own = SHIPPED.model_copy(
        update={"scalings": ["robust"], "kernels": {"gaussian": (0.5, 1.0, 2.0)}, "metrics": [],
                "trained": 0, "boosting": [], "landmarks": landmarks}
    )  # fmt: skip
    return Search(problem, deadline=np.inf, menu=own)


def test_features_whose_matrices_do_not_fit_are_left_out(monkeypatch):
    scaled = 3 * 150 * 2 * 8  # of three folds
    monkeypatch.setattr(searching, "free_bytes", lambda: searching.GRAMS * 8 * 12**2 + scaled)
    search = small_search()
    search.run()
    features = [c for c in search.candidates if c.family == "features" and not c.members]
    assert {c.M for c in features} == {10}
    assert search.stopped == "memory"


def test_the_first_trees_see_few_columns_of_a_wide_table(monkeypatch):
    """A fit cannot be interrupted, and one tree of 5,000 columns took longer than the budget."""
    monkeypatch.setattr(searching, "PROBED_COLUMNS", 3)
    widths, fit = [], searching.HistGradientBoostingRegressor.fit
    monkeypatch.setattr(
        searching.HistGradientBoostingRegressor,
        "fit",
        lambda self, X, y: (widths.append((X.shape[1], self.max_iter)), fit(self, X, y))[1],
    )
    search = small_search(columns=7)
    search.boost()
    assert widths[:2] == [(3, 1), (3, 1 + searching.PROBED)]
    assert {width for width, trees in widths if trees == 100} == {7}


def test_the_search_tries_what_the_menu_says():
    search = small_search()
    search.run()
    features = [c for c in search.candidates if c.family == "features" and not c.members]
    assert features
    assert {c.M for c in features} <= {10, 15}
    assert all("gaussian kernel, robust" in c.label and "metric" not in c.label for c in features)
    assert all("varpro" not in c.label for c in search.candidates)
    assert all("'kmeans'" in str(c.estimator) for c in features)
    assert sum(c.label.startswith("boosting") for c in search.candidates) == 1
