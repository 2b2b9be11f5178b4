"""Published numbers beside hand-made results: each verdict, and what never counts."""

import io
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rfbench.errors import ResultsError
from rfbench.report import evidence, rules, scoreboard
from rfbench.report.verify import COLUMNS, Board, Cell, board, interval, judge

from ..papers.test_papers import number
from .conftest import Write

EEG = {"dataset": "eeg", "n_train": 7490, "n_test": 7490, "protocol": "matched", "M": 14}
PAPER = {"paper": "liu2020", "item": "table3, figure1"}


def trials(mean: float, sd: float = 0.5, n: int = 10, **changes: Any) -> list[dict[str, Any]]:
    """Rows with exactly this mean and standard deviation of the accuracy."""
    values = np.linspace(-1, 1, n)
    values = mean + (sd * values / values.std(ddof=1) if n > 1 else 0 * values)
    return [
        {**EEG, "trial": t, "accuracy": v, "error": 100 - v, **changes}
        for t, v in enumerate(values)
    ]


def absent(name: str) -> bool:
    return name == "eeg"


def found(*folders: Path, paper: str = "liu2020") -> Board:
    return board(evidence.gather(folders), paper, absent)


def cell(made: Board, method: str = "rks", M: str = "14", **where: str) -> Cell:
    wanted = {"metric": "accuracy", "dataset": "EEG", "item": "table3"} | where
    protocol = wanted.pop("protocol", "matched")
    cells = [
        c
        for c in made.cells
        if (c.number.method, c.number.M, c.protocol) == (method, M, protocol)
        and all(getattr(c.number, name) == value for name, value in wanted.items())
    ]
    assert len(cells) == 1
    return cells[0]


@pytest.mark.parametrize(
    ("mean", "sd", "n", "verdict"),
    [
        (68.45, 0.9, 10, "agrees"),
        (68.90, 0.9, 10, "agrees"),
        (68.96, 0.9, 10, "close"),
        (69.45, 0.9, 10, "close"),
        (67.44, 0.9, 10, "differs"),
        (68.45, 9.0, 10, "close"),
        (68.45, 9.0, 3, "close"),
        (68.45, 0.0, 1, "close"),
        (99.00, 0.0, 1, "differs"),
    ],
)
def test_verdicts(mean: float, sd: float, n: int, verdict: str) -> None:
    se = sd / n**0.5 if n > 1 else math.nan
    assert judge(number(), mean, se, n) == verdict


def test_a_difference_of_less_than_half_a_point_may_be_significant() -> None:
    exact = number(spread="0.01")
    assert judge(exact, 68.75, 0.01, 10) == "close"
    assert judge(exact, 68.46, 0.01, 10) == "agrees"


def test_without_a_published_spread_nothing_agrees() -> None:
    bare = number(spread="", spread_kind="")
    assert judge(bare, 68.45, 0.1, 10) == "close"
    assert judge(bare, 70.45, 0.1, 10) == "differs"


def test_times_are_never_judged() -> None:
    time = number(metric="t_features", unit="s", value="0.01", spread="0")
    assert judge(time, 0.01, 0.0, 10) == judge(time, 100.0, 0.0, 10) == "not judged"


def test_the_interval_is_welchs() -> None:
    half = interval(number(), 0.3, 10)
    variances = 0.89**2 / 10, 0.3**2
    freedom = sum(variances) ** 2 / sum(v**2 / 9 for v in variances)
    from scipy.stats import t

    assert half == pytest.approx(t.ppf(0.975, freedom) * sum(variances) ** 0.5 + 0.005)
    one_sided = interval(number(spread_kind="se", note=""), 0.3, 4)
    assert one_sided == pytest.approx(t.ppf(0.975, 3) * (0.89**2 + 0.09) ** 0.5 + 0.005)
    assert interval(number(spread="0"), 0.0, 10) == rules.HALF_A_DIGIT


def test_without_results_the_whole_board_is_there() -> None:
    made = board(evidence.gather([]), has_data=absent)
    assert len(made.cells) == 3 * 332
    assert {c.verdict for c in made.cells if c.number.dataset == "EEG"} == {"not run"}
    assert {c.verdict for c in made.cells if c.number.dataset != "EEG"} == {"no data"}
    assert [o.verdict for o in made.outcomes] == ["not run"] * 26
    assert not made.contradicted
    for form in scoreboard.FORMATS:
        assert "surrogate-leverage" in scoreboard.render(made, form, width=100)
    with pytest.raises(ResultsError, match="markdown"):
        scoreboard.render(made, "markdwn")


def test_a_measured_cell(write: Write) -> None:
    made = found(write(trials(68.6) + trials(75.0, sampler="qmc"), **PAPER))
    agreed = cell(made)
    assert agreed.verdict == "agrees"
    assert agreed.trials == 10
    assert agreed.measured == pytest.approx(68.6)
    assert agreed.standard_error == pytest.approx(0.5 / 10**0.5)
    assert agreed.difference == pytest.approx(0.15)
    assert cell(made, "qmc").verdict == "differs"
    assert cell(made, "leverage-rff").verdict == "not run"
    assert cell(made, protocol="printed").verdict == "not run"
    time = cell(made, metric="t_features")
    assert (time.verdict, time.measured) == ("not judged", 0.75)
    assert made.contradicted


def test_accuracy_and_error_stand_for_each_other(write: Write) -> None:
    made = found(write(trials(68.45, accuracy=""), **PAPER))
    assert cell(made).measured == pytest.approx(68.45)


@pytest.mark.parametrize(
    "changes",
    [
        {"dataset": "eeg[5000 rows]"},
        {"n_train": 5000},
        {"n_test": 100},
        {"dataset": "covtype-20k"},
    ],
)
def test_subsets_and_stand_ins_never_count(write: Write, changes: dict[str, Any]) -> None:
    M, name = (54, "covtype") if "covtype-20k" in changes.values() else (14, "EEG")
    made = found(write(trials(68.6, **{"M": M} | changes), **PAPER))
    assert not any(c.trials for c in made.cells)
    assert cell(made, M=str(M), dataset=name).verdict == ("no data" if M == 54 else "not run")
    (shown, _) = made.stand_ins
    assert shown.measured == pytest.approx(68.6)
    assert "STAND-IN" in scoreboard.render(made, width=100)


def test_what_belongs_to_no_paper_or_is_a_smoke_run_or_a_sweep_does_not_count(write: Write) -> None:
    made = found(
        write(trials(68.6), name="own"),
        write(trials(68.6), name="smoky", smoke=True, **PAPER),
        write(trials(68.6, variant="solver.alphas=1"), name="swept", **PAPER),
        write(trials(68.6), name="other-item", paper="liu2020", item="table1"),
    )
    assert not any(c.trials for c in made.cells)
    assert any("smoke" in note for note in made.notes)
    assert any("sweep" in note for note in made.notes)


def test_the_results_with_the_most_trials_count(write: Write) -> None:
    one = write(trials(60.0, n=3), name="few", **PAPER)
    made = found(one, write(trials(68.5), name="many", **PAPER))
    assert cell(made).measured == pytest.approx(68.5)


def test_a_control_does_not_stand_for_its_sampler(write: Write) -> None:
    control = trials(80.0, sampler="rks", label="rks-2s")
    made = found(write(trials(68.5) + control, **PAPER))
    assert cell(made).measured == pytest.approx(68.5)
    two = control + trials(70.0, sampler="rks", label="rks-4s")
    assert cell(found(write(two, name="two", **PAPER))).verdict == "not run"
    alone = trials(68.5, sampler="rks", label="plain")
    assert cell(found(write(alone, name="alone", **PAPER))).trials == 10


def test_kernel_errors_of_rescaled_features_are_none(write: Write) -> None:
    folder = write(
        [
            *trials(70.0, kernel_error_spectral=0.5),
            *trials(70.0, sampler="leverage-rff", kernel_error_spectral=7.0,
                    parameters='{"reweight": "inverse"}'),
        ],
        **PAPER,
    )  # fmt: skip
    arms = evidence.gather([folder]).arms["liu2020", "table3"]
    errors = {arm.sampler: arm.values("kernel_error_spectral") for arm in arms}
    assert (errors["rks"] == 0.5).all()
    assert np.isnan(errors["leverage-rff"]).all()
    assert all(np.isfinite(arm.values("accuracy")).all() for arm in arms)


def test_failed_trials_are_told(write: Write) -> None:
    made = found(write(trials(68.5, status="failed"), **PAPER))
    assert cell(made).verdict == "not run"
    assert "10 trials did not end well" in cell(made).note


def test_a_broken_folder_is_left_out_with_a_note(write: Write, tmp_path: Path) -> None:
    good, bad = write(trials(68.5), **PAPER), tmp_path / "bad"
    bad.mkdir()
    (bad / "trials.csv").write_text("a,b\n1,2\n")
    made = found(good, bad)
    assert cell(made).trials == 10
    assert any("bad" in note for note in made.notes)
    with pytest.raises(ResultsError, match="no-such"):
        evidence.gather([tmp_path / "no-such"])


A9A = {"dataset": "a9a", "n_train": 32561, "n_test": 16281, "protocol": "printed"}


def test_the_best_is_taken_over_the_sizes_and_its_time_with_testing(write: Write) -> None:
    rows = [
        row
        for M, accuracy in ((100, 80.0), (500, 84.5), (900, 84.0))
        for row in trials(accuracy, **A9A | {"M": M}, t_test=M / 100)
    ]
    made = found(write(rows, paper="lkrf2016", item="table1"), paper="lkrf2016")
    where = {"dataset": "adult", "item": "table1", "protocol": "printed"}
    best = cell(made, M="best", metric="error", **where)
    assert best.measured == pytest.approx(15.5)
    assert best.verdict == "close"
    assert "optimistic" in best.note
    assert "M = 500" in best.note
    time = cell(made, M="best", metric="t_total", **where)
    assert time.measured == pytest.approx(0.25 + 0.5 + 1.25 + 5)


def test_table_2_counts_with_its_5000_rows_and_joint_is_a_solver(write: Write) -> None:
    sampled = A9A | {"n_train": 5000, "M": 400}
    rows = trials(83.6, **sampled, sampler="lkrf")
    rows += trials(83.7, **sampled, sampler="rks", solver="joint")
    made = found(write(rows, paper="lkrf2016", item="table2"), paper="lkrf2016")
    where = {"dataset": "adult", "item": "table2", "protocol": "printed", "metric": "error"}
    assert cell(made, "lkrf", "", **where).verdict == "close"
    assert cell(made, "joint", "", **where).measured == pytest.approx(16.3)


@pytest.mark.parametrize(("name", "n_test"), [("a9a[5000 rows]", 2500), ("a9a", 2500)])
def test_table_2_with_a_part_of_the_test_rows_is_a_stand_in(
    write: Write, name: str, n_test: int
) -> None:
    part = A9A | {"dataset": name, "n_train": 5000, "n_test": n_test, "M": 400}
    folder = write(trials(83.6, **part, sampler="lkrf"), paper="lkrf2016", item="table2")
    where = {"dataset": "adult", "item": "table2", "protocol": "printed", "metric": "error"}
    assert cell(found(folder, paper="lkrf2016"), "lkrf", "", **where).trials == 0


def test_a_regression_error_is_our_reading(write: Write) -> None:
    news = {"dataset": "news", "n_train": 26561, "n_test": 13083, "protocol": "matched", "M": 200}
    blank = {"accuracy": "", "error": "", "relative_squared_error": 0.0163}
    made = found(
        write(trials(0, **news, **blank, sampler="eerf"), paper="eerf2018", item="table3"),
        paper="eerf2018",
    )
    shown = cell(made, "eerf", "200", dataset="news", metric="error")
    assert shown.measured == pytest.approx(1.63)
    assert "our reading" in shown.note
    trained = cell(made, "eerf", "200", dataset="news", metric="t_train")
    assert trained.measured == pytest.approx(0.5 + 1.25)


def test_csv_has_the_documented_columns(write: Write) -> None:
    made = found(write(trials(68.6), **PAPER))
    table = pd.read_csv(io.StringIO(scoreboard.render(made, "csv")))
    assert tuple(table.columns) == COLUMNS
    assert len(table) == 3 * 232
    claims = pd.read_csv(io.StringIO(scoreboard.render(made, "csv", claims_only=True)))
    assert set(claims["id"]) == {"S1", "S2", "S3", "S4", "S5", "S6"}
    assert set(claims["verdict"]) <= set(rules.CLAIM_VERDICTS)
