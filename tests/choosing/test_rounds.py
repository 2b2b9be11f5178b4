"""The rounds: what is a trial of which rows, what is tried next, and how it goes on."""

from dataclasses import replace
from importlib import resources
from time import monotonic

import numpy as np
import pandas as pd
import pytest

from rfbench.choosing import rounds, table
from rfbench.choosing.choice import choose
from rfbench.choosing.rounds import BOOSTING, CONSTANT, FEATURES, LINEAR, TREES, Candidate, Rounds
from rfbench.choosing.table import LabeledTable
from rfbench.pages.templates import render_template
from rfbench.plugins import load_class
from rfbench.results import predictions
from rfbench.results.reader import read_results_folder
from tests.choosing.conftest import FOREVER, shortened, towns

SHIPPED = rounds.CONTENDERS


def test_documentation_of_choosing_states_the_constants_of_the_search():
    page = " ".join(resources.files("rfbench.choosing").joinpath("README.md").read_text().split())
    for fact in (
        f"on {SHIPPED['rows']['few']:,} rows",
        f"with {SHIPPED['sizes']['few']} landmarks",
        f"with {SHIPPED['sizes']['middle']:,} landmarks on {SHIPPED['rows']['middle']:,} rows",
        f"up to {table.FOLDED_ROWS:,} rows",
        f"{table.ROWS_PER_SECOND} rows per second of the budget, at most {table.MOST_ROWS:,}",
        f"a quarter of the rows, at most {table.MOST_HELD_OUT:,}",
    ):
        assert fact in page, fact
    assert (table.HELD_OUT, table.VALIDATION, table.FOLDS) == (0.25, 0.2, 3)
    text = resources.files("rfbench.choosing").joinpath("contenders.yaml").read_text()
    assert len(text.splitlines()) <= 100


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory):
    """Return what is said after the second contender was measured, and the whole answer after."""
    folder = tmp_path_factory.mktemp("rounds")
    towns(300).to_csv(folder / "towns.csv", index=False)
    few, seen = shortened(), []

    def stop(candidate):
        seen.append(candidate.family)
        if len(seen) == 2:
            raise KeyboardInterrupt

    keys = {"target": "price", "budget": FOREVER, "out": folder / "out", "n_jobs": 2}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rounds, "CONTENDERS", few)
        first = choose(folder / "towns.csv", on_candidate=stop, **keys)
        before = read_results_folder(folder / "out").rows
        whole = choose(folder / "towns.csv", **keys)
    return first, before, whole


def test_interrupted_choose_returns_the_best_model_so_far(interrupted):
    first, _, whole = interrupted
    assert first.card["interrupted"]
    assert {c["family"] for c in first.card["contenders"]} == {CONSTANT, LINEAR}
    assert "INTERRUPTED" in render_template(
        "choosing/choose.txt.j2", choice=first.card, folder=first.folder
    )
    assert first.card["take"]["error"] > whole.card["take"]["error"]
    assert not whole.card["interrupted"]


def test_repeating_an_interrupted_choose_command_resumes_it(interrupted):
    _, before, whole = interrupted
    after = read_results_folder(whole.folder).rows
    kept = after[after["trial_id"].isin(before["trial_id"])]
    assert len(after) > len(kept) == len(before)
    times = [frame.set_index("trial_id")["t_train"] for frame in (before, kept)]
    pd.testing.assert_series_equal(*times, check_like=True)
    assert after["trial_id"].is_unique


def test_held_out_rows_are_not_used_for_model_selection(interrupted):
    *_, whole = interrupted
    y = towns(300)["price"].to_numpy()
    rows = np.load(whole.folder / "rows.npz")
    held = set(y[rows["test"]].round(9))
    trials = read_results_folder(whole.folder).rows
    for _, row in trials.iterrows():
        truth = set(predictions.read(whole.folder, row["trial_id"])["truth"].round(9))
        if row["role"] == "validation":
            assert not truth & held
            assert (row["n_train"], row["n_test"]) == (150, 75)
        else:
            assert truth == held
            assert (row["n_train"], row["n_test"]) == (225, 75)
            assert row["role"] == ("method" if row["label"].startswith("Nystroem") else "model")
    last = trials["role"].to_numpy() != "validation"
    assert last[-1]
    assert not (whole.folder / "rows").exists()


def test_rare_class_is_learned_and_an_unlearnable_class_is_reported(short, tmp_path):
    random = np.random.default_rng(0)
    X = random.standard_normal((400, 2))
    y = np.where(X[:, 0] > 0, "a longer word", "no")
    y[:3], y[3:5] = "rare", "rarer"
    choice = choose(X, y, budget=FOREVER, out=tmp_path, n_jobs=2)
    assert choice.card["left_out"] == {"rarer": 2}
    assert "class rarer" in render_template(
        "choosing/choose.txt.j2", choice=choice.card, folder=tmp_path
    )
    assert choice.card["classes"] == ["a longer word", "no", "rare"]
    known = y != "rarer"
    for model in (choice.model, choice.others[BOOSTING].fit(X[known], y[known])):
        assert model.predict_proba(pd.DataFrame(X, columns=["x0", "x1"])).shape == (400, 3)
    rows = np.load(tmp_path / "rows.npz")
    assert not {3, 4} & {*rows["train"], *rows["test"]}


def test_no_rows_option_stores_no_training_rows(short, tmp_path):
    table = towns(120)
    y = table.pop("price").to_numpy()
    free = choose(table, y, budget=FOREVER, out=tmp_path, n_jobs=2, allow_rows=False)
    assert not any(c["holds_rows"] for c in free.card["contenders"])
    written = render_template("choosing/choose.txt.j2", choice=free.card, folder=free.folder)
    assert "it contains no training rows" in written
    assert not (tmp_path / "predictions").exists()
    assert not (tmp_path / "rows").exists()
    words = f"{y[0]:.6g}".encode()
    assert not any(words in f.read_bytes() for f in tmp_path.rglob("*") if f.is_file())


# What is tried next, with trials that say what the test wants.


class Told(Rounds):
    """Rounds whose trials have errors that a function of the setting says, and take a second."""

    def measure(self, trials, deadline):
        made, y = [], self.table.y[self.held]
        self.ends.append(deadline)
        for setting, _, rows in trials:
            self.rows.append(rows)
            scores = y + self.error(setting) * (-1.0) ** np.arange(len(y))
            said = {"scores": scores[:, None], "fit": 1.0}
            if setting.M:
                factor = min(setting.parameters["factors"])
                said |= {"chosen": np.array([factor, 1e-3, 4.0, 2.0]), "seconds": np.array(1.0)}
            if setting.parameters.get("metric", "none") != "none":
                said["root"] = np.ones(2)
            made.append(said)
            self.tried.append(setting)
        return made


def told(error, *, seconds=FOREVER, n=3000, **changes):
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((n, 2)))
    table = LabeledTable(X, np.random.default_rng(1).standard_normal(n), [], metric="rmse")
    splits = [*table.split(0.2), (np.arange(n), np.arange(n))]
    made = Told(table, splits, monotonic() + seconds, None)
    made.error, made.tried, made.ends, made.rows = error, [], [], []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rounds, "CONTENDERS", SHIPPED | changes)
        made.run()
    return made


@pytest.mark.parametrize(
    ("losses", "with_metric"),
    [
        ({"laplacian": (1.0, 0.9), "gaussian": (1.05, 0.8), "laplacian-l2": (1.2, 0.1)},
         ["laplacian", "gaussian"]),
        ({"laplacian": (1.05, 0.8), "gaussian": (1.0, 0.999), "laplacian-l2": (1.01, 0.1)},
         ["gaussian"]),
    ],
    ids=["near ones", "while it gains"],
)  # fmt: skip
def test_metric_is_learned_for_the_best_kernels_while_the_loss_improves(losses, with_metric):
    def error(setting):
        if not setting.M:
            return 3.0
        scaled = setting.scaling == "rank"
        learnt = setting.basis or setting.parameters["metric"] != "none"
        return losses[setting.parameters["kernel"]][bool(learnt)] + scaled

    made = told(error)
    tried = [e for e in made.tried if e.parameters.get("metric") in SHIPPED["metrics"]]
    assert list(dict.fromkeys(e.parameters["kernel"] for e in tried)) == with_metric
    assert {e.parameters["metric"] for e in tried} == set(SHIPPED["metrics"])
    # It is learnt once: what is larger sees its rows.
    larger = [
        e
        for e in made.tried
        if e.M >= 1000 and e.parameters["kernel"] == with_metric[0] and e.basis
    ]
    assert larger or len(with_metric) == 2
    assert {e.parameters["metric"] for e in larger} <= {"none"}


def test_landmarks_increase_while_the_error_decreases():
    def error(setting):
        return 3.0 if not setting.M else 1 / min(setting.M, 2_000)

    made = told(error, n=12_000, metrics=[])
    assert max(e.M for e in made.tried) == 4_000
    assert not made.stopped


def test_trial_expected_to_exceed_the_time_budget_is_not_started():
    """A trial of small features takes a second, so larger ones take minutes."""
    made = told(lambda setting: 1 / max(1, setting.M), seconds=30, metrics=[])
    assert {LINEAR, BOOSTING, FEATURES} <= {c.family for c in made.candidates}
    assert max(e.M for e in made.tried) < 4_000
    assert made.stopped


def test_time_limits_of_the_search_stages_leave_time_for_later_stages():
    """The simple models have no end, and what follows has the time until the last fits."""
    made = told(lambda setting: 1.0, n=12_000, metrics=[])
    simple, boosting, kernels, *others = made.ends
    left = [end - (made.deadline - FOREVER) for end in (kernels, *others)]
    assert simple is None
    assert boosting - (made.deadline - FOREVER) < 0.5 * FOREVER
    assert left[0] < 0.4 * FOREVER < 0.8 * FOREVER < min(left[1:])


def test_time_for_the_final_fits_is_reserved():
    """Of the best of all kinds side by side on the training rows, then of their average."""
    made = told(lambda setting: 1.0, seconds=-5.0)
    made.candidates = [Candidate("", LINEAR, seconds=6.0, loss=made.candidates[0].loss)]
    made.deadline, made.workers, larger = monotonic() + 100, 2, 3000 / 2400
    assert made.compute_seconds_left() == pytest.approx(
        95 - 1.1 * larger * (6 / 2 + 4 / 3 * 6), abs=0.5
    )
    for family, total in ((LINEAR, 12), (BOOSTING, 18)):
        expected = 95 - 1.1 * larger * (total / 2 + 4 / 3 * total)
        assert made.compute_seconds_left(12, family) == pytest.approx(expected, abs=0.5)
    assert made.compute_seconds_left(4, LINEAR) == pytest.approx(
        made.compute_seconds_left(), abs=0.5
    )
    seconds, before = made.compute_seconds_for_averages(), made.compute_seconds_left()
    assert made.compute_seconds_left(seconds, LINEAR) == pytest.approx(0, abs=0.5)
    for made.total, reserved in ((100, 5), (1000, 1.1 * larger * 6)):  # for the importances
        assert made.compute_seconds_left() == pytest.approx(before - reserved, abs=0.5)


def test_time_to_fit_an_average_of_three_kernel_models_is_reserved():
    made = told(lambda setting: 1.0, seconds=-5.0)
    made.deadline, made.workers, larger = monotonic() + 100, 2, 3000 / 2400
    kernels = [Candidate("", FEATURES, seconds=2.0, loss=made.candidates[0].loss) for _ in range(4)]
    made.candidates = [
        replace(c, parameters={"kernel": kernel}) for kernel, c in zip("abcd", kernels, strict=True)
    ]
    each = 1.1 * larger * (1 / 2 + 4 / 3) * 2.0
    for made.total, reserved in ((0, each), (1000, 3 * each + 1.1 * larger * 2)):
        assert made.compute_seconds_left() == pytest.approx(95 - reserved, abs=0.5)
    made.total = 20  # 15 % for the average, and 5 % for the importances
    assert made.compute_seconds_left() == pytest.approx(95 - each - 3 - 1, abs=0.5)


def test_only_as_many_candidates_are_fitted_as_the_remaining_time_allows():
    made = told(lambda setting: 1.0, metrics=[])
    setting = Candidate("", LINEAR, seconds=100.0, loss=made.candidates[0].loss)
    made.candidates = [setting]
    seconds, fit = made._needed(setting, made.n)
    made.deadline += (3.5 * seconds - made.compute_seconds_left(fit, LINEAR)) / 0.95
    made.stopped = False
    assert len(made.round([setting] * 6, made.n)) == 3
    assert made.stopped


def test_only_kernels_close_to_the_best_get_more_landmarks():
    def error(setting):
        best = (setting.parameters.get("kernel"), setting.scaling) == ("gaussian", "rank")
        return 1.0 if best else 1.6

    larger = [e for e in told(error, n=12_000, metrics=[]).tried if e.M >= 1000]
    assert {(e.parameters["kernel"], e.scaling) for e in larger} == {("gaussian", "rank")}


def test_constant_and_linear_models_are_measured_even_without_time():
    made = told(lambda setting: 1.0, seconds=-5.0)
    assert {c.family for c in made.candidates} == {CONSTANT, LINEAR}
    assert made.stopped


def test_simplest_of_nearly_equal_models_is_selected():
    made = told(lambda setting: 1.0, seconds=-5.0)
    base, y = made.candidates[0], made.table.y[made.held]
    kinds = {"single": (1.0, {}), "average": (0.995, {base: 1.0})}
    for label, (error, members) in kinds.items():
        scores = y + error * (-1.0) ** np.arange(len(y))
        made.add(Candidate(label, FEATURES, members=members), scores[:, None])
    assert made.find_best_candidate_of_each_family()[FEATURES].label == "single"


def test_each_fold_uses_the_metric_learned_on_its_training_rows(tmp_path):
    """And the rows held out, as the model, that of the mean of the roots."""
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((300, 2)))
    table = LabeledTable(X, X[0].to_numpy(), [], metric="rmse")
    by = Rounds(table, table.make_splits(60.0), np.inf, tmp_path)
    last = len(by.splits) - 1
    roots = [np.diag([1.0 + fold, 2.0]) for fold in range(last)]
    common = {"chosen": [1.0, 1.0], "seconds": 1.0, "fit": 1.0}
    said = [
        {**common, "scores": table.y[held, None], "root": root}
        for (_, held), root in zip(by.splits, roots, strict=False)
    ]
    setting = Candidate("learnt", FEATURES, "", {"n_components": 9, "metric": "full"})
    learnt = by._candidate(setting, said, 300)
    assert last > 1
    for fold, root in enumerate([*roots, np.mean(roots, axis=0)]):
        plain, seen = (np.load(by._pack(each, fold, 300) / "X.npy") for each in (setting, learnt))
        np.testing.assert_allclose(seen, plain @ root)
    np.testing.assert_array_equal(by._steps(learnt)[-1].func.args[0], np.mean(roots, axis=0))


def test_candidate_model_is_measured_with_role_validation_or_model(tmp_path):
    y = np.arange(3000.0)
    table = LabeledTable(pd.DataFrame({"a": y}), y, [], metric="rmse", seed=7)
    by = Rounds(table, table.make_splits(60.0), np.inf, tmp_path / "choose-x")
    setting = Candidate("mean", CONSTANT, "sklearn.dummy.DummyRegressor", {"strategy": "mean"})
    experiment = by._experiment(setting, 0, 100)
    assert (experiment.seed, experiment.predictions) == (7, True)
    assert experiment.samplers[0].role == "validation"
    assert by._experiment(setting, 1, 100).samplers[0].role == "model"


def tree_settings(*sizes):
    """Return changes of the contenders: a portfolio, and brackets of random settings."""
    portfolio = [{"kind": "boosting", "parameters": {"max_leaf_nodes": n}} for n in sizes]
    own = {"kind": "boosting", "brackets": 2, "size": 4}
    return {"portfolio": portfolio, "random": own, "metrics": []}


def test_successive_halving_measures_the_better_half_on_more_rows():
    def error(setting):
        return abs(setting.parameters.get("max_leaf_nodes", 31) - 12) / 100 + 0.1

    changes = tree_settings(9, 10, 11, 12, 30)
    made = told(error, n=20_000, **changes)
    tried = [(c.label, rows) for c, rows in zip(made.tried, made.rows, strict=True)]
    numbers = lambda rows: [n for n in range(1, 6) if (f"boosting, setting {n}", rows) in tried]  # noqa: E731
    assert numbers(made.few) == [1, 2, 3, 4, 5]
    assert numbers(made.middle) == [2, 3, 4]
    assert numbers(made.n) == [3, 4]
    brackets = [rows for label, rows in tried if label.startswith("boosting, setting")][10:]
    assert brackets == 2 * [*[made.few] * 4, *[made.middle] * 2, made.n]
    assert not made.stopped


def test_boosting_and_kernel_settings_are_measured_alternately():
    made = told(lambda c: 1 / max(1, c.M), n=12_000, **tree_settings(4, 8))
    kinds = [c.family for c in made.tried if c.M >= 1000 or "setting" in c.label]
    turns = [k for k, before in zip(kinds, ["", *kinds], strict=False) if k != before]
    assert turns[:5] == [BOOSTING, FEATURES, BOOSTING, FEATURES, BOOSTING]


def test_boosting_settings_without_enough_time_are_excluded():
    changes = tree_settings(4, 8)
    short = told(lambda setting: 1.0, seconds=12, **changes)
    assert short.stopped
    assert {f"boosting, setting {n}" for n in range(1, 11)} & short.excluded


def test_tree_settings_use_the_loss_of_the_metric_and_minimum_leaf_size(tmp_path):
    y = np.arange(3000.0)
    table = LabeledTable(pd.DataFrame({"a": y}), y, [], metric="mae")
    by = Rounds(table, table.make_splits(60.0), np.inf, tmp_path, least_rows=10)
    default = Candidate(**SHIPPED["models"]["mae"][-1])
    made = [by._tree(1, default, **each) for each in SHIPPED["portfolio"]]
    assert {c.family for c in made} == {BOOSTING, TREES}
    for c in made:
        assert (c.parameters.get("loss") == "absolute_error") == (c.family == BOOSTING)
        assert c.parameters["min_samples_leaf"] >= 10


def test_portfolio_and_search_spaces_are_valid_scikit_learn_parameters():
    drawn = [
        {"kind": kind, "parameters": each}
        for kind in SHIPPED["spaces"]
        for each in rounds.draw_tree_settings(kind, 3, 0)
    ]
    for each in [*SHIPPED["portfolio"], *drawn]:
        for path in SHIPPED["estimators"][each["kind"]].values():
            load_class(path)(**each["parameters"])._validate_params()
