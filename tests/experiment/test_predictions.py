"""What a trial says of its test rows: arrays beside the rows, and the metrics of probabilities."""

import time

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.datasets import load_digits

from rfbench import api
from rfbench.analysis import frame
from rfbench.experiment import runner
from rfbench.experiment.run_plan import plan_run
from rfbench.experiment.worker import Limits
from rfbench.metrics import compute_probability_metrics
from rfbench.results import predictions
from rfbench.solvers.probabilities import apply_link, calibrate_probabilities

BASE = {
    "dataset": "digits",
    "rows": 300,
    "test_rows": 200,
    "split": {"test_size": 0.5},
    "bandwidth": "median",
    "M": 40,
    "samplers": [{"rks": {"role": "validation"}}, "nystroem"],
    "solver": {"name": "ridge", "alphas": 0.1},
    "trials": 1,
    "predictions": True,
}
BOOSTING = {"class": "sklearn.ensemble.HistGradientBoostingClassifier", "max_iter": 3}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    top = tmp_path_factory.mktemp("predictions")
    ridge = api.run(BASE, out=top, n_jobs=1, name="ridge")
    boosting = api.run(
        BASE | {"solver": BOOSTING, "samplers": "nystroem"}, out=top, n_jobs=1, name="boosting"
    )
    return ridge, boosting


def test_stored_predictions_give_the_metrics_of_the_row(ran):
    for results in ran:
        for _, row in results.rows.iterrows():
            kept = predictions.read(results.folder, row["trial_id"])
            truth, shares = kept["truth"], kept["probabilities"]
            assert shares.shape == (200, 10)
            np.testing.assert_allclose(shares.sum(axis=1), 1.0)
            assert row["log_loss"] == pytest.approx(metrics.log_loss(truth, shares))
            area = metrics.roc_auc_score(truth, shares, multi_class="ovr")
            assert row["auc"] == pytest.approx(area)
            np.testing.assert_array_equal(load_digits().target[kept["rows"]], truth)
            assert row["error"] < 60
    said = kept["predictions"][:, 0]
    assert row["error"] == pytest.approx(100 * np.mean(said != truth))
    balanced = 100 * (1 - metrics.balanced_accuracy_score(truth, said))
    assert row["balanced_error"] == pytest.approx(balanced)


def test_rows_with_role_validation_are_excluded_from_pages(ran):
    results, _ = ran
    assert set(results.rows["role"]) == {"validation", "method"}
    assert set(frame.build_collection([results]).rows["role"]) == {"method"}
    assert results.summary()["method"].tolist() == ["nystroem"]


def test_storing_predictions_is_optional_and_changes_no_number(ran, tmp_path):
    plain = api.run({**BASE, "predictions": False}, out=tmp_path, n_jobs=1)
    assert not (plain.folder / predictions.PREDICTIONS_KEY).exists()
    assert plain.rows["log_loss"].isna().all()
    assert plain.rows["error"].tolist() == ran[0].rows["error"].tolist()


def test_stored_regression_predictions_equal_those_of_the_model(tmp_path):
    pd.DataFrame(np.random.default_rng(0).random((60, 3)), columns=list("aby")).to_csv(
        tmp_path / "own.csv"
    )
    own = {"file": str(tmp_path / "own.csv"), "target": "y"}
    results = api.run({**BASE, "dataset": own, "rows": 20, "target": "raw"}, out=tmp_path, n_jobs=1)
    for _, row in results.rows.iterrows():
        kept = predictions.read(results.folder, row["trial_id"])
        rmse = np.sqrt(np.mean((kept["predictions"][:, 0] - kept["truth"]) ** 2))
        assert row["rmse"] == pytest.approx(rmse)


def test_predictions_are_written_before_the_row(monkeypatch, tmp_path):
    def no_row(self, row):
        raise OSError("disk full")

    monkeypatch.setattr(runner.Store, "append", no_row)
    with pytest.raises(OSError, match="disk full"):
        api.run(BASE, out=tmp_path, n_jobs=1)
    assert len(list((tmp_path / "python" / predictions.PREDICTIONS_KEY).iterdir())) == 1
    assert not (tmp_path / "python" / "trials.csv").exists()


def test_no_trial_starts_after_the_deadline(tmp_path):
    plan = plan_run([api.read_config(BASE)], tmp_path / "late")
    summary = runner.run_plan(plan, limits=Limits(deadline=time.monotonic() - 1))
    assert (summary.done, summary.left) == (0, 2)


def test_trial_time_limit_is_the_time_left_until_the_deadline(monkeypatch):
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    assert Limits().compute_time_limit() is None
    assert (
        Limits(timeout=3.0).compute_time_limit()
        == Limits(timeout=3.0, deadline=104.0).compute_time_limit()
        == 3.0
    )
    assert Limits(timeout=3.0, deadline=102.0).compute_time_limit() == 2.0
    assert Limits(deadline=99.0).compute_time_limit() == 0.0


def test_probabilities_of_each_half_are_calibrated_on_the_other_half():
    """Scores of classes drawn from a link: nearly the log-loss of the truth, on all rows."""
    random = np.random.default_rng(0)
    scores = random.standard_normal((4000, 1))
    truth = apply_link(scores, (1.5, 2.5))
    codes = (random.random(4000) < truth[:, 1]).astype(int)
    made = compute_probability_metrics(calibrate_probabilities(scores, codes), codes, codes)[
        "log_loss"
    ]
    best = metrics.log_loss(codes, truth)
    assert best - 0.02 < made < best + 0.005
    few = calibrate_probabilities(scores[:3], codes[:3])
    changed = calibrate_probabilities(scores[:3], np.array([codes[0], 1 - codes[1], codes[2]]))
    np.testing.assert_array_equal(few[1], changed[1])  # a row's own class says nothing of it
    assert not np.array_equal(few[0], changed[0])
