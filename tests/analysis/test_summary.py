import math
import random

import pytest

from rfbench.analysis.data_issues import DataIssue, evaluate_checks, find_data_issues
from rfbench.analysis.summary import find_shown_metrics, find_x_axis, summarize
from rfbench.errors import ResultsError
from rfbench.results import read_results_folder
from tests.support.results import Write


def test_mean_standard_error_and_counts_equal_closed_form(write: Write) -> None:
    rows = [{"trial": t, "error": e, "t_pp": e} for t, e in enumerate([1.0, 2.0, 3.0, 6.0])]
    rows += [{"trial": 4, "error": "", "status": "timeout", "t_pp": ""}]
    [line] = summarize(read_results_folder(write(rows))).to_dict("records")
    assert (line["metric"], line["trials"], line["failed"]) == ("error", 4, 1)
    assert line["mean"] == 3
    assert line["sd"] == pytest.approx(math.sqrt(14 / 3))
    assert line["se"] == pytest.approx(math.sqrt(14 / 3) / 2)
    assert line["t_pp"] == 3
    assert line["t_total"] == 3 + 0.5 + 1.25
    assert line["t_total_se"] == pytest.approx(line["se"])
    assert line["alpha_scale_free"] == 0.01


def test_summary_of_one_trial_has_no_standard_error(write: Write) -> None:
    table = summarize(
        read_results_folder(write([{}, {"sampler": "eerf", "status": "crashed", "error": ""}]))
    )
    assert list(table["trials"]) == [1, 0]
    assert table["se"].isna().all()
    assert list(table["mean"].isna()) == [False, True]


def test_infinite_error_counts_as_failed(write: Write) -> None:
    results = read_results_folder(write([{"error": 1}, {"trial": 1, "error": "inf"}]))
    [line] = summarize(results).to_dict("records")
    assert (line["mean"], line["trials"], line["failed"]) == (1, 1, 1)
    fault = find_data_issues(results)[0]
    assert fault.kind == "failed"
    assert "Column error cannot contain inf" in fault.message


def test_rows_with_early_stopped_solvers_are_counted_per_method(write: Write) -> None:
    rows = [{"trial": t, "converged": t > 1} for t in range(4)]
    rows += [{"sampler": "eerf"}, {"sampler": "lkrf", "converged": False, "status": "failed"}]
    results = read_results_folder(write(rows))
    found = [fault for fault in find_data_issues(results) if fault.kind == "not converged"]
    assert [(fault.of, fault.count) for fault in found] == [("rks", 2)]


def test_failed_trial_without_dimension_is_counted_in_its_group(write: Write) -> None:
    rows = [{}, {"trial": 1, "status": "memory", "d": "", "error": ""}]
    [line] = summarize(read_results_folder(write(rows))).to_dict("records")
    assert (line["d"], line["trials"], line["failed"]) == (64, 1, 1)


def test_summary_does_not_depend_on_the_row_order(write: Write) -> None:
    rows = [
        {"sampler": s, "M": m, "trial": t, "error": random.Random(f"{s}{m}{t}").random()}
        for s in ("rks", "mine", "eerf")
        for m in (10, 20)
        for t in range(7)
    ]
    straight = summarize(read_results_folder(write(rows, name="a")))
    random.Random(0).shuffle(rows)
    assert summarize(read_results_folder(write(rows, name="b"))).equals(straight)
    assert list(straight["method"]) == ["rks", "rks", "eerf", "eerf", "mine", "mine"]
    assert list(straight["x"]) == [10, 20] * 3


def test_metric_is_set_by_configuration_argument_or_data_set(write: Write) -> None:
    rows = [{}, {"dataset": "cpu", "error": "", "relative_squared_error": 0.5}]
    results = read_results_folder(write(rows, name="a"))
    assert find_shown_metrics(results) == {"cpu": "relative_squared_error", "digits": "error"}
    assert set(find_shown_metrics(results, "rmse").values()) == {"rmse"}
    assert find_shown_metrics(read_results_folder(write([{}], name="b", metric="accuracy"))) == {
        "digits": "accuracy"
    }
    with pytest.raises(ResultsError, match="Did you mean 'accuracy'"):
        find_shown_metrics(results, "acuracy")


@pytest.mark.parametrize(
    ("rows", "config", "expected"),
    [
        ([{"M": 10}, {"M": 20}], {}, "M"),
        ([{"M": 10}], {}, "M"),
        ([{"d": 2}, {"d": 3}], {}, "d"),
        ([{"d": 2}, {"d": 3, "dataset": "eeg"}], {}, "M"),
        ([{"variant": "bandwidth=1"}, {"variant": "bandwidth=2"}], {}, "bandwidth"),
        ([{"variant": "kernel=linear"}, {"variant": "kernel=gaussian"}], {}, "variant"),
        ([{"variant": "bandwidth=1"}, {"variant": "bandwidth=2", "M": 1}], {}, "M"),
        ([{"M": 171}, {"M": 180}], {"M": {"follow": "lkrf"}}, "variant"),
    ],
)
def test_varied_setting_becomes_the_x_axis_of_the_summary(
    write: Write, rows: list[dict], config: dict, expected: str
) -> None:  # type: ignore[type-arg]
    assert find_x_axis(read_results_folder(write(rows, **config))) == expected


def test_trials_with_varying_numbers_of_kept_features_are_one_group(write: Write) -> None:
    rows = [{"d": d, "trial": t, "M": 170 + d + t} for d in (2, 3) for t in range(4)]
    table = summarize(read_results_folder(write(rows, M={"follow": "lkrf"})))
    assert list(table["trials"]) == [4, 4]
    assert list(table["M_min"]) == [172, 173]
    assert list(table["M_max"]) == [175, 176]


def test_method_names_contain_exactly_the_differing_settings(write: Write) -> None:
    rows = [
        {"M": m, "sampler": "eerf", "parameters": f'{{"pool_size": {k * m}, "gamma": 1}}'}
        for m in (10, 20)
        for k in (5, 20)
    ]
    rows += [{"M": m, "parameters": f'{{"pool_size": {m}}}'} for m in (10, 20)]
    rows += [{"M": 10, "sampler": "ses", "kernel": k} for k in ("gaussian", "linear")]
    table = summarize(read_results_folder(write(rows)))
    assert sorted(set(table["method"])) == [
        "eerf, pool_size=100",
        "eerf, pool_size=200",
        "eerf, pool_size=400",
        "eerf, pool_size=50",
        "rks",
        "ses, kernel=gaussian",
        "ses, kernel=linear",
    ]
    assert not table.duplicated(["dataset", "method", "x"]).any()


def test_swept_setting_is_in_the_method_name_except_M_and_d(write: Write) -> None:
    two = [{"M": m, "variant": f"bandwidth={b}"} for m in (10, 20) for b in (1, 2)]
    assert set(summarize(read_results_folder(write(two, name="a")))["method"]) == {
        "rks, bandwidth=1",
        "rks, bandwidth=2",
    }
    swept = [{"d": d, "variant": f"dataset.d={d}, dataset.noise=1"} for d in (2, 3)]
    assert set(summarize(read_results_folder(write(swept, name="b")))["method"]) == {"rks, noise=1"}
    alike = [{"M": m, "variant": "samplers.rks.k=1, solver.k=2"} for m in (10, 20)]
    named = summarize(read_results_folder(write(alike, name="c")))["method"]
    assert set(named) == {"rks, samplers.rks.k=1, solver.k=2"}


def test_sweep_of_one_sampler_does_not_split_other_samplers(write: Write) -> None:
    rows = [
        {"sampler": s, "variant": f"samplers.eerf.pool_size={k}", "trial": k, "M": m}
        for s, k in (("rks", 1), ("rks", 2), ("eerf", 1), ("eerf", 2))
        for m in (10, 20)
    ]
    table = summarize(read_results_folder(write(rows, name="a")))
    assert set(table["method"]) == {"rks", "eerf, pool_size=1", "eerf, pool_size=2"}
    assert list(table["trials"]) == [2, 2, 1, 1, 1, 1]
    along = read_results_folder(write([row for row in rows if row["M"] == 10], name="b"))
    assert find_x_axis(along) == "pool_size"
    table = summarize(along)[["method", "x", "trials"]]
    assert table.to_numpy().tolist() == [
        ["rks", 1, 2],
        ["rks", 2, 2],
        ["eerf", 1, 1],
        ["eerf", 2, 1],
    ]


def test_trials_that_differ_only_in_hidden_settings_are_not_averaged(write: Write) -> None:
    rows = [{"setting": s, "trial_id": s + str(t), "trial": t} for s in "ab" for t in (0, 1)]
    table = summarize(read_results_folder(write(rows)))
    assert list(table["method"]) == ["rks, setting=a", "rks, setting=b"]
    assert list(table["trials"]) == [2, 2]


def test_checks_declared_in_the_configuration_are_evaluated(write: Write) -> None:
    rows = [
        {"sampler": s, "label": s.upper(), "d": d, "trial": t, "kept": 100 * d + t}
        for s in ("lkrf", "eerf")
        for d in (2, 3)
        for t in (0, 1)
    ]
    rows += [{"sampler": "lkrf", "d": 9, "kept": 999, "status": "failed"}]
    check = {"column": "kept", "sampler": "lkrf", "at_each": "d", "source": "lkrf2016"}
    limits = [{"below": 302}, {"below": 301, "above": None}, {"above": 200}]
    other = [{"column": "kept", "sampler": "rks", "below": 1}]
    found = evaluate_checks(
        read_results_folder(write(rows, checks=[check | one for one in limits] + other))
    )
    assert [check.verdict for check in found] == ["holds", "fails", "fails", "not run"]
    assert [check.failing_at for check in found] == [(), (3,), (2,), ()]
    assert [check.failing for check in found] == [0, 1, 1, 0]
    assert (found[0].low, found[0].high, found[0].rows) == (200, 301, 4)
    assert math.isnan(found[3].low)


def test_check_of_an_unknown_column_raises_error(write: Write) -> None:
    results = read_results_folder(write([{}], checks=[{"column": "keptt", "below": 1}]))
    with pytest.raises(ResultsError, match=r"not have a column 'keptt'.*Did you mean 'kept'"):
        evaluate_checks(results)


def test_failed_duplicated_and_mixed_version_rows_are_reported(write: Write) -> None:
    rows = [
        {"version": "0.2"},
        {"trial_id": "other"},
        {"trial": 1, "sampler": "eerf", "data_hash": "b"},
        {"trial": 1},
        {"trial": 2, "status": "timeout", "message": "longer than 60 s"},
    ]
    assert find_data_issues(read_results_folder(write(rows))) == [
        DataIssue("failed", 1, "rks", "timeout", "longer than 60 s"),
        DataIssue("repeated", 1),
        DataIssue("unpaired", 1),
    ]
