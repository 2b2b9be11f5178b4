"""Claims on made-up results: where they must hold, must fail, and must stay open."""

import math
from typing import Any

import pytest

from rfbench.analysis import claims
from rfbench.analysis.claims import judge_claim
from rfbench.analysis.outcomes import Outcome
from rfbench.papers.models import Claim, Part
from tests.support.claims import METHODS, PAPER, Mean, rows, verdict
from tests.support.frames import results, selection


def claim_of(id: str = "X1", **part: Any) -> Claim:
    fields = {
        "says": "", "items": ["table3"], "datasets": ["EEG"], "metric": "accuracy",
        "method": "surrogate-leverage", "against": ["rks"], "at": "each",
    }  # fmt: skip
    return Claim(
        id=id, paper="liu2020", where="here", claim="It is so.", source="test",
        parts=[Part.model_validate(fields | part)],
    )  # fmt: skip


OWNERS = {"S": "liu2020", "E": "eerf2018", "L": "lkrf2016", "T": "tefm2015"}
own_of_its_paper = claims.find_custom_claim_function


@pytest.fixture(autouse=True)
def _own_functions_of_every_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a claim on the rows made here use the function of the paper that its id is of."""

    def own(claim: Claim) -> Any:
        return own_of_its_paper(claim.model_copy(update={"paper": OWNERS[claim.id[0]]}))

    monkeypatch.setattr(claims, "find_custom_claim_function", own)


def gain(points: float) -> Mean:
    return lambda method, M: 70 + (points if method == "surrogate-leverage" else 0)


@pytest.mark.parametrize(
    ("points", "n", "expected"),
    [
        (2.0, 10, "holds"),
        (-2.0, 10, "fails"),
        (0.0, 10, "not clear"),
        (2.0, 4, "not clear"),
        (-2.0, 4, "not clear"),
        (2.0, 1, "not clear"),
    ],
)
def test_claim_that_one_method_is_better_gets_a_verdict(
    points: float, n: int, expected: str
) -> None:
    outcome = verdict(claim_of(low=0, values=5), results(rows(gain(points), METHODS, n), **PAPER))
    assert outcome.verdict == expected
    assert len(outcome.comparisons) == 5
    assert outcome.trials == n
    if points:
        assert outcome.effect == pytest.approx(points, abs=0.2)


@pytest.mark.parametrize(
    ("points", "expected"), [(0.1, "holds"), (3.0, "fails"), (1.0, "not clear")]
)
def test_claim_that_two_methods_are_equal_gets_a_verdict(points: float, expected: str) -> None:
    folder = results(rows(gain(points), METHODS, 10), **PAPER)
    assert verdict(claim_of(low=-1, high=1), folder).verdict == expected


def test_constant_differences_are_judged_by_the_sign_test() -> None:
    def outcome(points: float, n: int, name: str) -> Outcome:
        made = rows(gain(points), METHODS, n, sizes=(56,), noise=0)
        return verdict(claim_of(low=0), results(made, name=name, **PAPER))

    assert outcome(1.0, 5, "five").verdict == "holds"
    assert outcome(1.0, 5, "p").p == pytest.approx(2**-5)
    assert outcome(1.0, 4, "four").verdict == "not clear"
    assert outcome(-1.0, 5, "worse").verdict == "fails"
    assert outcome(0.0, 5, "same").verdict == "not clear"


def test_claim_is_undecided_if_methods_data_sets_or_sizes_are_missing() -> None:
    folder = results(rows(gain(2), METHODS, 12), **PAPER)
    more = verdict(claim_of(low=0, against=["rks", "qmc"]), folder)
    assert more.verdict == "not clear"
    assert list(more.missing) == ["EEG"]
    both = verdict(
        claim_of(low=0, against=["rks", "qmc"], datasets=["EEG", "covtype", "magic04"]), folder
    )
    assert list(both.missing) == ["EEG", "covtype", "magic04"]
    data = verdict(claim_of(low=0, datasets=["EEG", "magic04"]), folder)
    assert (data.verdict, data.tested, data.wanted) == ("holds where tested", 1, 2)
    assert list(data.missing) == ["magic04"]
    short = verdict(claim_of(low=0, values=6), folder)
    assert short.verdict == "not clear"
    assert list(short.missing) == ["EEG"]
    assert verdict(claim_of(low=0, values=5), folder).verdict == "holds"


def test_substitute_data_do_not_change_the_verdict() -> None:
    made = rows(gain(2), METHODS, 12, dataset="covtype-20k", n_train=10000)
    outcome = verdict(claim_of(low=0, datasets=["covtype"]), results(made, **PAPER))
    assert outcome.verdict == "not run"
    assert (outcome.stand_ins, outcome.on_stand_ins) == (("covtype-20k",), "holds")


def test_claim_without_comparisons_is_not_run() -> None:
    folder = results(rows(gain(2), METHODS, 12), **PAPER)
    assert verdict(claim_of(low=0, items=["figure9"]), folder).verdict == "not run"
    assert verdict(claim_of(low=0, metric="kernel_error_spectral"), folder).verdict == "not run"


def test_each_protocol_gets_its_own_verdict() -> None:
    folders = [
        results(rows(gain(points), METHODS, 10, protocol=protocol), name=protocol, **PAPER)
        for protocol, points in (("tuned", 0.0), ("printed", -2.0), ("matched", 2.0))
    ]
    few = results(rows(gain(2), METHODS, 10, protocol="code"), smoke=True, name="few", **PAPER)
    found = judge_claim(claim_of(low=0), selection(*folders, few))
    assert [(o.protocol, o.verdict) for o in found] == [
        ("printed", "fails"), ("matched", "holds"), ("tuned", "shown"),
    ]  # fmt: skip
    only = judge_claim(claim_of(low=0, protocols=["tuned"]), selection(*folders))
    assert [o.protocol for o in only] == ["tuned"]


def test_methods_of_two_experiments_are_paired_by_trial_and_data() -> None:
    made = rows(gain(2), METHODS, 10)
    halves = [[r for r in made if r["sampler"] == method] for method in METHODS]
    folders = [results(half, name=str(i), **PAPER) for i, half in enumerate(halves)]
    assert verdict(claim_of(low=0), *folders).verdict == "holds"
    other = [{**row, "data_hash": "other"} for row in halves[1]]
    apart = [folders[0], results(other, name="other", **PAPER)]
    assert verdict(claim_of(low=0), *apart).verdict == "not run"


@pytest.mark.parametrize(
    ("part", "effect"),
    [
        ({"at": "largest"}, 16.0),
        ({"id": "S3", "at": "own"}, 15.0),
        ({"id": "L7", "at": "own"}, 8.0),
        ({"id": "L2", "at": "own"}, 1 / 14),
        ({"at": "lower-half"}, 1.0),
        ({"at": "upper-half"}, 4.0),
        ({"at": "largest", "scale": "ratio"}, 86 / 70),
        ({"id": "S4", "at": "own"}, 6.2),
        ({"id": "T3", "at": "own"}, 1.0),
    ],
)
def test_claim_statistic_is_computed_from_learning_curves(
    part: dict[str, Any], effect: float
) -> None:
    """The gain at s is s / 14: 1, 2, 4, 8, 16."""

    def mean(method: str, M: int) -> float:
        return 70 + (M / 14 if method == "surrogate-leverage" else 0)

    folder = results(rows(mean, METHODS, 10, noise=0, kept=14), **PAPER)
    outcome = verdict(claim_of(low=0.001, **part), folder)
    assert outcome.effect == pytest.approx(effect)


@pytest.mark.parametrize(
    ("kept", "expected", "effect"),
    [(112, "holds", 8.0), (113, "not run", None), ("", "not run", None)],
)
def test_error_plateau_is_tested_from_the_number_of_kept_features(
    kept: int | str, expected: str, effect: float | None
) -> None:
    """Below it the largest sizes still differ in their features: there is no plateau to test."""

    def mean(method: str, M: int) -> float:
        return 70 + M / 14

    made = rows(mean, METHODS, 10, noise=0, kept=kept)
    outcome = verdict(claim_of("L7", at="own", against=[], low=0.001), results(made, **PAPER))
    assert outcome.verdict == expected
    assert effect is None or outcome.effect == pytest.approx(effect)


@pytest.mark.parametrize(("r2", "expected"), [(0.049, "inconclusive"), (0.051, "holds")])
def test_data_sets_at_chance_level_do_not_decide_a_claim(r2: float, expected: str) -> None:
    made = rows(gain(2), METHODS, 10)
    made = [row | {"r2": r2 if row["M"] == 56 else -20} for row in made]
    assert (
        verdict(claim_of(metric="error", high=0), results(made, "labels", **PAPER)).verdict
        == "holds"
    )
    real = [row | {"accuracy": "", "relative_rmse": (100 - row["accuracy"]) / 100} for row in made]
    folder = results(real, metric="relative_rmse", **PAPER)
    assert verdict(claim_of(metric="error", high=0), folder).verdict == expected
    more = results(
        rows(gain(2), METHODS, 10, dataset="magic04", n_train=9510, n_test=9510), "more", **PAPER
    )
    outcome = verdict(claim_of(metric="error", high=0, datasets=["EEG", "magic04"]), folder, more)
    assert outcome.verdict == ("holds" if expected == "holds" else "holds where tested")
    assert outcome.undecided == (() if expected == "holds" else (("eeg", "nothing learnt"),))


@pytest.mark.parametrize("sign", [1, -1])
def test_comparison_farthest_outside_the_bounds_is_shown(sign: int) -> None:
    """Of those that fail, and of those with a corrected p of 1 too."""

    def mean(method: str, M: int) -> float:
        return 70 - sign * (M / 14 if method == "surrogate-leverage" else 0)

    made = rows(mean, METHODS, 10, noise=0.001)
    outcome = verdict(claim_of(low=0, high=None if sign > 0 else 20), results(made, **PAPER))
    if sign > 0:
        assert (outcome.verdict, outcome.effect) == ("fails", pytest.approx(-16, abs=0.1))
    few = verdict(claim_of(low=0), results(rows(mean, METHODS, 3), name="few", **PAPER))
    assert few.verdict == "not clear"
    assert few.effect == pytest.approx(-16 if sign > 0 else 1, abs=0.3)


def test_claim_can_compare_two_metrics_of_one_method() -> None:
    made = rows(gain(0), METHODS, 10, noise=0)
    made = [{**row, "t_pp": 0.7 + 0.01 * row["trial"], "t_features": 0.25} for row in made]
    part = {"metric": "t_pp", "at": "own", "against": [], "scale": "ratio"}
    outcome = verdict(claim_of("E3", high=1, **part), results(made, **PAPER))
    assert (outcome.verdict, outcome.n_inside_bounds) == ("shown", 1)
    assert outcome.effect == pytest.approx(0.745 / 1.5, rel=0.01)


def test_methods_are_compared_at_equal_time() -> None:
    """The second method needs four times the time; at equal time it has a quarter of the size."""

    def made(error: float, slower: float) -> list[dict[str, Any]]:
        found = rows(lambda _, M: 0, METHODS, 10, metric="error", noise=0.01)
        for row in found:
            own = row["sampler"] == "surrogate-leverage"
            row["error"] += 10 / row["M"] ** 0.5 - (error if own else 0)
            row |= {"t_pp": 0, "t_features": 0, "t_train": row["M"] * (slower if own else 1)}
        return found

    part = {"metric": "error", "at": "equal-time", "high": 0}
    cheap = verdict(claim_of(**part), results(made(2, 1), name="cheap", **PAPER))
    assert (cheap.verdict, cheap.n_inside_bounds, len(cheap.comparisons)) == ("shown", 5, 5)
    dear = verdict(claim_of(**part), results(made(0, 4), name="dear", **PAPER))
    assert (dear.verdict, dear.n_outside_bounds > 0, len(dear.comparisons)) == ("shown", True, 3)
    last = verdict(claim_of("E4", **part | {"at": "own"}), results(made(2, 1), **PAPER))
    assert [one.x for one in last.comparisons] == [224]


def test_methods_are_compared_at_their_best_sizes() -> None:
    def mean(method: str, M: int) -> float:
        return abs(M - (28 if method == "rks" else 112)) / 10 + (method == "rks")

    made = rows(mean, METHODS, 10, metric="error", noise=0.001)
    outcome = verdict(claim_of(metric="error", at="best", high=0), results(made, **PAPER))
    assert outcome.effect == pytest.approx(-1, abs=0.01)
    assert outcome.decisive
    assert (outcome.decisive.x, outcome.decisive.other_x) == (112, 28)


def test_comparison_at_equal_time_uses_errors_and_times_of_one_run() -> None:
    """Where two experiments have other times, none of their means belongs to an error."""

    def made(slow: float) -> list[dict[str, Any]]:
        found = rows(lambda _, M: -M / 100, METHODS, 10, metric="error", noise=0.001)
        return [{**row, "t_pp": 0, "t_features": 0, "t_train": row["M"] * slow} for row in found]

    part = {"metric": "error", "at": "equal-time"}
    folders = [results(made(slow), name=f"by-{slow}", **PAPER) for slow in (1.0, 3.0)]
    outcome = verdict(claim_of(**part, low=-0.1, high=0.1), *folders)
    assert (outcome.n_inside_bounds, len(outcome.comparisons)) == (5, 5)
    alone = verdict(claim_of(**part, low=-0.1, high=0.1), folders[0])
    assert outcome.effect == alone.effect


def test_claim_on_times_uses_cpu_seconds_of_isolated_trials() -> None:
    made = rows(lambda *_: 70, METHODS, 10)
    for row in made:
        own = row["sampler"] == "surrogate-leverage"
        row |= {"t_pp": 9 if own else 1, "cpu_pp": 2 + 0.01 * row["trial"] if own else 1}
    part = {"metric": "t_pp", "scale": "ratio", "high": 3}
    outcome = verdict(claim_of(**part), results(made, **PAPER))
    assert (outcome.verdict, outcome.n_inside_bounds) == ("shown", len(outcome.comparisons))
    assert outcome.effect == pytest.approx(2.04, abs=0.01)


def test_slope_of_error_in_dimension_pairs_trials_across_data_sets() -> None:
    made = []
    for d in (2, 5, 9):
        made += [
            {**row, "d": d, "dataset": "sphere", "data_hash": f"of-{d}", "n_train": 10000,
             "n_test": 1000, "error": row["error"] + (d if row["sampler"] == "rks" else 0)}
            for row in rows(lambda *_: 10, ("rks", "lkrf"), 10, sizes=(100,), metric="error")
        ]  # fmt: skip
    claim = Claim(
        id="L2", paper="lkrf2016", where="here", claim="It is so.", source="test",
        parts=[Part(says="", items=["figure1"], datasets=["sphere"], metric="error",
                    method="lkrf", against=["rks"], along="d", at="own", high=-0.5)],
    )  # fmt: skip
    outcome = verdict(claim, results(made, paper="lkrf2016", item="figure1"))
    assert outcome.verdict == "holds"
    assert outcome.effect == pytest.approx(-1, abs=0.1)


@pytest.mark.parametrize(
    ("parameters", "expected"), [("{}", "not run"), ('{"base_size": "2*M"}', "holds")]
)
def test_methods_are_compared_at_equal_columns_and_settings(parameters: str, expected: str) -> None:
    """One counts its columns, the other its frequencies, with two columns each."""
    made = []
    for row in rows(gain(2), METHODS, 10):
        own = row["sampler"] == "surrogate-leverage"
        row["columns"] = row["M"] * (1 if own else 2)
        made.append(row | ({"parameters": parameters} if own else {}))
    settings = {"surrogate-leverage": {"base_size": ["2*M", 7]}}
    outcome = verdict(
        claim_of(low=0, along="columns", settings=settings, values=4), results(made, **PAPER)
    )
    assert outcome.verdict == expected
    at = [] if expected == "not run" else [28, 56, 112, 224]
    assert [one.x for one in outcome.comparisons] == at


def test_unjudged_claim_has_effects_but_no_verdict() -> None:
    bounded = claim_of(at="largest", low=0)
    parts = [bounded.parts[0].model_copy(update={"low": None})]
    claim = bounded.model_copy(update={"kind": "shown", "parts": parts})
    folder = results(rows(gain(-2), METHODS, 10), **PAPER)
    outcome = verdict(claim, folder)
    assert (outcome.verdict, len(outcome.comparisons)) == ("shown", 1)
    assert outcome.effect == pytest.approx(-2, abs=0.2)
    assert outcome.comparisons[0].spread > 0
    assert math.isnan(outcome.p)


def test_at_chance_level_only_times_are_compared() -> None:
    """The larger class of EEG has 55.12 % of the rows."""

    def made(accuracy: float) -> list[dict[str, Any]]:
        found = rows(lambda method, _: accuracy - (method == "rks"), METHODS, 10, noise=0.01)
        return [
            row | {"t_pp": 1 + (row["sampler"] == "rks") + 0.01 * row["trial"]} for row in found
        ]

    for accuracy, expected in ((56.0, "inconclusive"), (56.3, "holds")):
        folder = results(made(accuracy), str(accuracy), **PAPER)
        outcome = verdict(claim_of(low=0), folder)
        assert outcome.verdict == expected
        assert outcome.reason == ("chance" if accuracy == 56.0 else "")
        of_times = verdict(claim_of(metric="t_pp", high=0), folder)
        assert of_times.n_inside_bounds == len(of_times.comparisons) > 0


@pytest.mark.parametrize(("spread", "expected"), [(0.04, "inconclusive"), (0.06, "holds")])
def test_nearly_constant_kernel_matrix_does_not_decide_a_claim(
    spread: float, expected: str
) -> None:
    def mean(method: str, M: int) -> float:
        return spread / M**0.5 * (1 if method == "rks" else 0.5)

    made = rows(mean, METHODS, 10, metric="kernel_error_spectral", noise=1e-5)
    part = {"metric": "kernel_error_spectral", "scale": "ratio", "high": 1}
    outcome = verdict(claim_of(**part), results(made, **PAPER))
    assert outcome.verdict == expected
