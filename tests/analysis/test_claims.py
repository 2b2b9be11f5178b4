"""Claims on made-up results: where they must hold, must fail, and must stay open."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rfbench.papers import Claim, Part
from rfbench.report import evidence
from rfbench.report.claims import Outcome, evaluate

from .conftest import Write

SIZES = (14, 28, 56, 112, 224)
Mean = Callable[[str, int], float]


def rows(
    mean: Mean,
    methods: tuple[str, ...],
    n: int,
    *,
    sizes: tuple[int, ...] = SIZES,
    metric: str = "accuracy",
    noise: float = 0.1,
    **changes: Any,
) -> list[dict[str, Any]]:
    """Rows whose trials share half of their noise, as paired trials do."""
    rng = np.random.default_rng(0)
    base = {"dataset": "eeg", "n_train": 7490, "n_test": 7490, "protocol": "as-run", "error": ""}
    made = []
    for t in range(n):
        shared = rng.normal()
        for M in sizes:
            for method in methods:
                value = mean(method, M) + noise * (shared + rng.normal())
                row = {**base, "sampler": method, "M": M, "trial": t, metric: value}
                made.append(row | changes)
    return made


def claim_of(**part: Any) -> Claim:
    fields = {
        "says": "", "items": ["table3"], "datasets": ["EEG"], "metric": "accuracy",
        "method": "surrogate-leverage", "against": ["rks"], "at": "each",
    }  # fmt: skip
    return Claim(
        id="X1", paper="liu2020", where="here", claim="It is so.", source="test", kind="order",
        parts=[Part.model_validate(fields | part)],
    )  # fmt: skip


def verdict(claim: Claim, *folders: Path) -> Outcome:
    (outcome,) = evaluate(claim, evidence.gather(folders))
    return outcome


METHODS = ("rks", "surrogate-leverage")
PAPER = {"paper": "liu2020", "item": "table3"}


def gain(points: float) -> Mean:
    return lambda method, M: 70 + (points if method == "surrogate-leverage" else 0)


@pytest.mark.parametrize(
    ("points", "n", "expected"),
    [
        (2.0, 10, "holds"),
        (-2.0, 10, "fails"),
        (0.0, 10, "inconclusive"),
        (2.0, 4, "inconclusive"),
        (-2.0, 4, "inconclusive"),
        (2.0, 1, "inconclusive"),
    ],
)
def test_an_order(write: Write, points: float, n: int, expected: str) -> None:
    outcome = verdict(claim_of(low=0, values=5), write(rows(gain(points), METHODS, n), **PAPER))
    assert outcome.verdict == expected
    assert outcome.comparisons == 5
    assert outcome.trials == n
    if points:
        assert outcome.effect == pytest.approx(points, abs=0.2)
    if n < 7:
        assert "too few trials" in outcome.note


@pytest.mark.parametrize(
    ("points", "expected"), [(0.1, "holds"), (3.0, "fails"), (1.0, "inconclusive")]
)
def test_an_equality(write: Write, points: float, expected: str) -> None:
    folder = write(rows(gain(points), METHODS, 10), **PAPER)
    assert verdict(claim_of(low=-1, high=1), folder).verdict == expected


def test_random_splits_are_corrected(write: Write) -> None:
    made = rows(gain(0.12), METHODS, 10, sizes=(56,))
    split = [{**row, "split": '{"test_size": 0.5}'} for row in made]
    given = [{**row, "split": "given"} for row in made]
    plain = verdict(claim_of(low=0), write(given, name="given", **PAPER))
    corrected = verdict(claim_of(low=0), write(split, name="random", **PAPER))
    assert plain.verdict == "holds"
    assert corrected.verdict == "inconclusive"
    assert corrected.effect == plain.effect


@pytest.mark.parametrize(
    ("dataset", "split", "ratio"),
    [
        ("eeg", "given", 0.0),
        ("eeg", '{"train_size": 7490}', 0.0),
        ("eeg", '{"test_size": 0.5}', 0.5),
        ("eeg[7490 rows]", "given", 0.5),
        ("eeg[7490 rows]", '{"train_size": 9000}', 0.5),
        ("eeg[7491 rows]", "given", 0.0),  # more than there are: nothing is drawn
    ],
)
def test_what_corrects_is_whether_the_test_rows_are_drawn_anew(
    write: Write, dataset: str, split: str, ratio: float
) -> None:
    changes = {"dataset": dataset, "split": split, "n_test": 3745}
    folder = write(rows(gain(1), METHODS, 2, **changes), **PAPER)
    arms = evidence.gather([folder]).arms["liu2020", "table3"]
    assert {arm.ratio for arm in arms} == {ratio}


def test_differences_that_do_not_vary_are_judged_by_the_sign_test(write: Write) -> None:
    def outcome(points: float, n: int, name: str) -> Outcome:
        made = rows(gain(points), METHODS, n, sizes=(56,), noise=0)
        return verdict(claim_of(low=0), write(made, name=name, **PAPER))

    assert outcome(1.0, 5, "five").verdict == "holds"
    assert outcome(1.0, 5, "p").p == pytest.approx(2**-5)
    assert outcome(1.0, 4, "four").verdict == "inconclusive"
    assert outcome(-1.0, 5, "worse").verdict == "fails"
    assert outcome(0.0, 5, "same").verdict == "inconclusive"


def test_missing_methods_data_sets_and_sizes_leave_a_claim_open(write: Write) -> None:
    folder = write(rows(gain(2), METHODS, 12), **PAPER)
    more = verdict(claim_of(low=0, against=["rks", "qmc"]), folder)
    assert (more.verdict, more.held) == ("inconclusive", 5)
    assert "nothing to compare on EEG (surrogate-leverage against qmc)" in more.note
    both = verdict(
        claim_of(low=0, against=["rks", "qmc"], datasets=["EEG", "covtype", "magic04"]), folder
    )
    assert (
        "nothing to compare on covtype, magic04 (surrogate-leverage against rks, qmc)" in both.note
    )
    data = verdict(claim_of(low=0, datasets=["EEG", "magic04"]), folder)
    assert data.verdict == "inconclusive"
    assert "magic04" in data.note
    assert verdict(claim_of(low=0, values=6), folder).verdict == "inconclusive"
    assert verdict(claim_of(low=0, values=5), folder).verdict == "holds"


def test_stand_ins_are_only_told(write: Write) -> None:
    made = rows(gain(2), METHODS, 12, dataset="covtype-20k", n_train=10000)
    outcome = verdict(claim_of(low=0, datasets=["covtype"]), write(made, **PAPER))
    assert outcome.verdict == "not run"
    assert "on stand-ins alone (covtype-20k): holds" in outcome.note


def test_nothing_to_compare_is_not_run(write: Write) -> None:
    folder = write(rows(gain(2), METHODS, 12), **PAPER)
    assert verdict(claim_of(low=0, items=["figure9"]), folder).verdict == "not run"
    assert verdict(claim_of(low=0, metric="kernel_error_spectral"), folder).verdict == "not run"


def test_every_protocol_has_its_verdict(write: Write) -> None:
    folders = [
        write(rows(gain(points), METHODS, 10, protocol=protocol), name=protocol, **PAPER)
        for protocol, points in (("tuned", 0.0), ("printed", -2.0), ("as-run", 2.0))
    ]
    found = evaluate(claim_of(low=0), evidence.gather(folders))
    assert [(o.protocol, o.verdict) for o in found] == [
        ("printed", "fails"), ("as-run", "holds"), ("tuned", "inconclusive"),
    ]  # fmt: skip
    only = evaluate(claim_of(low=0, protocols=["tuned"]), evidence.gather(folders))
    assert [o.protocol for o in only] == ["tuned"]


def test_methods_of_two_experiments_are_paired_by_trial_and_data(write: Write) -> None:
    made = rows(gain(2), METHODS, 10)
    halves = [[r for r in made if r["sampler"] == method] for method in METHODS]
    folders = [write(half, name=str(i), **PAPER) for i, half in enumerate(halves)]
    assert verdict(claim_of(low=0), *folders).verdict == "holds"
    other = [{**row, "data_hash": "other"} for row in halves[1]]
    apart = [folders[0], write(other, name="other", **PAPER)]
    assert verdict(claim_of(low=0), *apart).verdict == "not run"


@pytest.mark.parametrize(
    ("part", "effect"),
    [
        ({"at": "largest"}, 16.0),
        ({"at": "growth"}, 15.0),
        ({"at": "plateau"}, 8.0),
        ({"at": "slope"}, 1 / 14),
        ({"at": "lower-half"}, 1.0),
        ({"at": "upper-half"}, 4.0),
        ({"at": "largest", "scale": "ratio"}, 86 / 70),
        ({"at": "each", "against_factor": 2}, 1.0),
    ],
)
def test_what_is_taken_along_the_axis(write: Write, part: dict[str, Any], effect: float) -> None:
    """The gain at s is s / 14: 1, 2, 4, 8, 16."""

    def mean(method: str, M: int) -> float:
        return 70 + (M / 14 if method == "surrogate-leverage" else 0)

    folder = write(rows(mean, METHODS, 10, noise=0, kept=14), **PAPER)
    outcome = verdict(claim_of(low=0.001, **part), folder)
    assert outcome.effect == pytest.approx(effect)


@pytest.mark.parametrize(
    ("kept", "expected", "effect"),
    [(112, "holds", 8.0), (113, "not run", None), ("", "not run", None)],
)
def test_a_plateau_begins_at_the_number_kept(
    write: Write, kept: int | str, expected: str, effect: float | None
) -> None:
    """Below it the largest sizes still differ in their features: there is no plateau to test."""

    def mean(method: str, M: int) -> float:
        return 70 + M / 14

    made = rows(mean, METHODS, 10, noise=0, kept=kept)
    outcome = verdict(claim_of(at="plateau", against=[], low=0.001), write(made, **PAPER))
    assert outcome.verdict == expected
    assert effect is None or outcome.effect == pytest.approx(effect)


@pytest.mark.parametrize(("r2", "expected"), [(0.049, "not run"), (0.051, "holds")])
def test_data_on_which_nothing_is_learnt_decide_nothing(
    write: Write, r2: float, expected: str
) -> None:
    made = rows(gain(2), METHODS, 10)
    made = [row | {"r2": r2 if row["M"] == 56 else -20} for row in made]
    assert (
        verdict(claim_of(metric="error", high=0), write(made, "labels", **PAPER)).verdict == "holds"
    )
    real = [row | {"accuracy": "", "relative_rmse": (100 - row["accuracy"]) / 100} for row in made]
    folder = write(real, metric="relative_rmse", **PAPER)
    assert verdict(claim_of(metric="error", high=0), folder).verdict == expected
    more = write(
        rows(gain(2), METHODS, 10, dataset="magic04", n_train=9510, n_test=9510), "more", **PAPER
    )
    outcome = verdict(claim_of(metric="error", high=0, datasets=["EEG", "magic04"]), folder, more)
    assert outcome.verdict == ("holds" if expected == "holds" else "inconclusive")
    assert ("nothing is learnt on eeg" in outcome.note) == (expected == "not run")


@pytest.mark.parametrize(("d", "expected"), [(279, "not run"), (280, "holds")])
def test_data_with_too_few_columns_do_not_count(write: Write, d: int, expected: str) -> None:
    folder = write(rows(gain(2), METHODS, 10, d=d), **PAPER)
    assert verdict(claim_of(low=0, least_d=280), folder).verdict == expected


@pytest.mark.parametrize("sign", [1, -1])
def test_the_comparison_shown_is_the_farthest_outside(write: Write, sign: int) -> None:
    """Of those that fail, and of those with a corrected p of 1 too."""

    def mean(method: str, M: int) -> float:
        return 70 - sign * (M / 14 if method == "surrogate-leverage" else 0)

    made = rows(mean, METHODS, 10, noise=0.001)
    outcome = verdict(claim_of(low=0, high=None if sign > 0 else 20), write(made, **PAPER))
    if sign > 0:
        assert (outcome.verdict, outcome.effect) == ("fails", pytest.approx(-16, abs=0.1))
    few = verdict(claim_of(low=0), write(rows(mean, METHODS, 3), name="few", **PAPER))
    assert few.verdict == "inconclusive"
    assert few.effect == pytest.approx(-16 if sign > 0 else 1, abs=0.3)


def test_two_metrics_of_one_method(write: Write) -> None:
    made = rows(gain(0), METHODS, 10, noise=0)
    made = [{**row, "t_pp": 0.7 + 0.01 * row["trial"], "t_features": 0.25} for row in made]
    part = {"metric": "t_pp", "against_metric": "t_fit", "against": [], "scale": "ratio"}
    outcome = verdict(claim_of(high=1, **part), write(made, **PAPER))
    assert outcome.verdict == "holds"
    assert outcome.effect == pytest.approx(0.745 / 1.5, rel=0.01)
    assert "t_fit(surrogate-leverage)" in outcome.effect_of


def test_equal_time(write: Write) -> None:
    """The second method needs four times the time; at equal time it has a quarter of the size."""

    def made(error: float, slower: float) -> list[dict[str, Any]]:
        found = rows(lambda _, M: 0, METHODS, 10, metric="error", noise=0.01)
        for row in found:
            own = row["sampler"] == "surrogate-leverage"
            row["error"] += 10 / row["M"] ** 0.5 - (error if own else 0)
            row |= {"t_pp": 0, "t_features": 0, "t_train": row["M"] * (slower if own else 1)}
        return found

    part = {"metric": "error", "at": "equal-time", "high": 0}
    cheap = verdict(claim_of(**part), write(made(2, 1), name="cheap", **PAPER))
    assert (cheap.verdict, cheap.comparisons) == ("holds", 5)
    dear = verdict(claim_of(**part), write(made(0, 4), name="dear", **PAPER))
    assert (dear.verdict, dear.comparisons) == ("fails", 3)
    last = verdict(claim_of(**part | {"at": "equal-time-last"}), write(made(2, 1), **PAPER))
    assert last.comparisons == 1


def test_each_at_its_best_size(write: Write) -> None:
    def mean(method: str, M: int) -> float:
        return abs(M - (28 if method == "rks" else 112)) / 10 + (method == "rks")

    made = rows(mean, METHODS, 10, metric="error", noise=0.001)
    outcome = verdict(claim_of(metric="error", at="best", high=0), write(made, **PAPER))
    assert outcome.effect == pytest.approx(-1, abs=0.01)
    assert "(112, 28)" in outcome.effect_of


def test_equal_time_takes_errors_and_times_of_one_experiment(write: Write) -> None:
    """Where two experiments have other times, none of their means belongs to an error."""

    def made(slow: float) -> list[dict[str, Any]]:
        found = rows(lambda _, M: -M / 100, METHODS, 10, metric="error", noise=0.001)
        return [{**row, "t_pp": 0, "t_features": 0, "t_train": row["M"] * slow} for row in found]

    part = {"metric": "error", "at": "equal-time"}
    folders = [write(made(slow), name=f"by-{slow}", **PAPER) for slow in (1.0, 3.0)]
    outcome = verdict(claim_of(**part, low=-0.1, high=0.1), *folders)
    assert (outcome.verdict, outcome.comparisons) == ("holds", 5)
    alone = verdict(claim_of(**part, low=-0.1, high=0.1), folders[0])
    assert outcome.effect == alone.effect


def test_times_are_cpu_seconds_of_isolated_trials(write: Write) -> None:
    made = rows(lambda *_: 70, METHODS, 10)
    for row in made:
        own = row["sampler"] == "surrogate-leverage"
        row |= {"t_pp": 9 if own else 1, "cpu_pp": 2 + 0.01 * row["trial"] if own else 1}
    part = {"metric": "t_pp", "scale": "ratio", "high": 3}
    outcome = verdict(claim_of(**part), write(made, **PAPER))
    assert outcome.verdict == "holds"
    assert outcome.effect == pytest.approx(2.04, abs=0.01)
    shared = [{**row, "timing": "shared"} for row in made]
    assert verdict(claim_of(**part), write(shared, name="shared", **PAPER)).verdict == "not run"


def test_kernel_errors_are_not_corrected_for_the_split(write: Write) -> None:
    made = rows(gain(0.12), METHODS, 10, sizes=(56,), metric="kernel_error_spectral")
    made = [{**row, "split": '{"test_size": 0.5}'} for row in made]
    part = {"metric": "kernel_error_spectral", "low": 0}
    assert verdict(claim_of(**part), write(made, **PAPER)).verdict == "holds"


def test_a_slope_over_d_joins_trials_whose_data_differ(write: Write) -> None:
    made = []
    for d in (2, 5, 9):
        made += [
            {**row, "d": d, "dataset": "sphere", "data_hash": f"of-{d}", "n_train": 10000,
             "n_test": 1000, "error": row["error"] + (d if row["sampler"] == "rks" else 0)}
            for row in rows(lambda *_: 10, ("rks", "lkrf"), 10, sizes=(100,), metric="error")
        ]  # fmt: skip
    claim = Claim(
        id="X2", paper="lkrf2016", where="here", claim="It is so.", source="test", kind="trend",
        parts=[Part(says="", items=["figure1"], datasets=["sphere"], metric="error",
                    method="lkrf", against=["rks"], along="d", at="slope", high=-0.5)],
    )  # fmt: skip
    outcome = verdict(claim, write(made, paper="lkrf2016", item="figure1"))
    assert outcome.verdict == "holds"
    assert outcome.effect == pytest.approx(-1, abs=0.1)
