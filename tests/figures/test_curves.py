import sys
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pytest
from matplotlib.text import Text

from rfbench import figures
from rfbench.analysis import naming
from rfbench.analysis.frame import has_kernel_estimate
from rfbench.errors import WriteError
from rfbench.figures import curves, iterate_figures, kept, panels, plot, style
from rfbench.figures.measured import summarize_for_figures
from rfbench.results import read_results_folder
from tests.support.nightly import nightly
from tests.support.results import Write


@pytest.fixture(autouse=True)
def ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw the figures that are tested here, and none that was added since."""
    known = (curves.error, curves.error_over_time, curves.error_over_bytes, curves.time)
    known = (*known, curves.kernel_error, kept.features)
    assert set(known) <= set(figures.FIGURES)
    monkeypatch.setattr(figures, "FIGURES", known)


@pytest.fixture
def every_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw also what compares nothing, whose axes and words are tested."""
    monkeypatch.setattr(curves, "explain_empty_figure", lambda *_: "")


def sweep(**changes: Any) -> list[dict[str, Any]]:
    return [
        {"sampler": s, "M": m, "trial": t, "error": 10 + t + i, "t_pp": (1 + i) * m / 100} | changes
        for i, s in enumerate(("rks", "eerf"))
        for m in (10, 50, 200)
        for t in (0, 1)
    ]


def test_figures_are_saved_and_reproducible_byte_by_byte(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    results, with_pyplot = read_results_folder(write(sweep())), "matplotlib.pyplot" in sys.modules
    stems, kinds = ("error_vs_M", "error_vs_time", "time_vs_M"), ("png", "pdf", "svg")
    assert plot(results) == [results.folder / f"{stem}.png" for stem in stems]
    assert ("matplotlib.pyplot" in sys.modules) == with_pyplot
    monkeypatch.setattr(figures, "FIGURES", figures.FIGURES[:1])
    files, again = (plot(results, results.folder / name, formats=kinds) for name in "ab")
    assert files == [results.folder / "a" / f"{stems[0]}.{kind}" for kind in kinds]
    first = [file.read_bytes() for file in files]
    assert [file.read_bytes() for file in again] == first
    for content in first:
        assert b"Date" not in content
        assert b"atplotlib v" not in content
    assert b"/CIDFontType2" in first[1]
    assert b"/Type3" not in first[1]
    picture = matplotlib.image.imread(files[0])
    assert picture.shape[1] == 150 * panels.PAGE_WIDTH
    assert np.unique(picture.reshape(-1, picture.shape[2]), axis=0).shape[0] > 10


@pytest.mark.parametrize(
    ("rows", "name"),
    [
        ([{"d": 2}, {"d": 3}], "error_vs_d"),
        ([{"variant": "a.b=1"}, {"variant": "a.b=2"}], "error_vs_b"),
        ([{"variant": f"kernel={k}"} for k in ("linear", "gaussian")], "error_vs_variant"),
        ([{}], "error_vs_M"),
        (sweep(dataset="eeg") + sweep(), "error_vs_M"),
        (sweep(label="_$_{%", protocol="matched"), "error_vs_M"),
        ([{"error": "", "kernel_error_spectral": 1 / m, "M": m} for m in (1, 30)], "error_vs_M"),
    ],
)
@pytest.mark.usefixtures("every_figure")
def test_figure_is_drawn_for_each_kind_of_x_axis(
    write: Write, rows: list[dict[str, Any]], name: str
) -> None:
    (first, figure), *others = iterate_figures(read_results_folder(write(rows)))
    assert first == name
    for made in (figure, *(other for _, other in others)):
        made.draw_without_rendering()


@pytest.mark.usefixtures("every_figure")
def test_failed_trials_and_missing_times_are_left_out_of_figures(write: Write) -> None:
    none = {"t_pp": "", "t_features": "", "t_train": ""}
    rows = [none, none | {"M": 200, "status": "failed", "error": ""}]
    assert list(drawn(write(rows))) == ["error_vs_M"]


def test_no_figure_without_successful_trials(write: Write) -> None:
    assert plot(read_results_folder(write([], name="a"))) == []
    assert plot(read_results_folder(write([{"status": "failed", "error": ""}], name="b"))) == []


def drawn(folder: Path) -> dict[str, Any]:
    """Return the figures of a folder by the name of their file."""
    return dict(iterate_figures(read_results_folder(folder)))


def error_figure(folder: Path) -> Any:
    """Return the first figure of a folder, and draw no other."""
    return next(iterate_figures(read_results_folder(folder)))[1]


def points(figure: Any) -> dict[str, tuple[list[float], list[float]]]:
    """Return the points of each method in the first panel."""
    bars = figure.axes[0].containers
    return {
        bar.get_label(): tuple(list(map(float, values)) for values in bar[0].get_data())
        for bar in bars
    }


LIU = [
    {"dataset": "eeg", "d": 14, "M": 14 * k, "trial": t, "sampler": s, "label": label,
     "parameters": parameters, "kernel_error_spectral": 1 / k, "t_pp": k, "t_features": 2.0,
     "t_train": 4.0, "t_test": 8.0}
    for s, label, parameters in (
        ("rks", "rks", "{}"),
        ("rks", "rks-2s", '{"penalty_divisor": "2*M"}'),
        ("leverage-rff", "leverage-rff", '{"reweight": "inverse"}'),
        ("surrogate-leverage", "surrogate-leverage", '{"reweight": true}'),
    )
    for k in (1, 4, 128)
    for t in (0, 1)
]  # fmt: skip


@pytest.mark.usefixtures("every_figure")
def test_axes_follow_liu2020(write: Write) -> None:
    figures = drawn(write(LIU, paper="liu2020"))
    assert list(figures) == ["error_vs_M", "error_vs_time", "time_vs_M", "kernel_error_vs_M"]
    panel = figures["kernel_error_vs_M"].axes[0]
    assert (panel.get_yscale(), panel.get_xlabel()) == ("log", "features over dimension, s / d")
    found = points(figures["kernel_error_vs_M"])
    assert found == dict.fromkeys(("rks", "surrogate-leverage"), ([1, 4, 128], [1, 1 / 4, 1 / 128]))
    caption = figures["kernel_error_vs_M"].get_supxlabel().replace("\n", " ")
    assert "do not estimate the kernel: RKS-2s, LS-RFF." in caption
    assert points(figures["time_vs_M"])["rks-2s"] == ([1, 4, 128], [3, 6, 130])
    caption = figures["time_vs_M"].get_supxlabel()
    assert "Time: choosing the features and computing them." in caption
    assert len(points(figures["error_vs_M"])) == 4


@pytest.mark.usefixtures("every_figure")
def test_time_of_lkrf2016_includes_testing(write: Write) -> None:
    rows = [row | {"dataset": "a9a"} for row in LIU if row["label"] == "rks"]
    figure = drawn(write(rows, paper="lkrf2016"))["time_vs_M"]
    assert points(figure)["rks"] == ([14, 56, 1792], [15, 18, 142])
    assert figure.axes[0].get_xlabel() == "number of features D"
    assert figure.axes[0].get_ylabel() == "wall time with testing (s)"


@pytest.mark.parametrize(
    ("parameters", "estimates"),
    [
        ("{}", True),
        ('{"reweight": true}', True),
        ('{"reweight": "inverse"}', False),
        ('{"penalty_divisor": "2*M"}', False),
        ('{"penalty_divisor": 1}', True),
        ("not JSON", True),
    ],
)
def test_samplers_whose_features_estimate_a_kernel_are_recognized(
    parameters: str, estimates: bool
) -> None:
    assert has_kernel_estimate(parameters) is estimates


def test_variants_of_a_method_are_sorted_by_the_number_in_their_name() -> None:
    methods = ["eerf-10M", "eerf-5M", "eerf"]
    assert sorted(methods, key=lambda name: naming.get_method_sort_key("eerf", name)) == [
        "eerf",
        "eerf-5M",
        "eerf-10M",
    ]


def test_time_figures_use_cpu_time(write: Write) -> None:
    rows = [row | {"cpu_pp": 2 * row["t_pp"]} for row in sweep(t_features=0, t_train=0)]
    figures = drawn(write(rows, "cpu"))
    assert points(figures["error_vs_time"])["rks"][0] == [0.2, 1.0, 4.0]
    assert points(figures["time_vs_M"])["rks"][1] == [0.2, 1.0, 4.0]
    assert figures["error_vs_time"].axes[0].get_xlabel() == "training CPU time (s)"
    caption = " ".join(figures["time_vs_M"].get_supxlabel().split())
    assert "Time: choosing the features, computing them, and the fit; no testing." in caption
    assert "_" not in caption
    rows += sweep(sampler="qmc", t_features=0, t_train=0)
    figures = drawn(write(rows, "wall for one"))
    assert points(figures["error_vs_time"])["rks"][0] == [0.1, 0.5, 2.0]
    assert figures["error_vs_time"].axes[0].get_xlabel() == "training wall time (s)"


@pytest.mark.parametrize(("methods", "counts"), [(9, [9]), (10, [6, 5]), (19, [7, 7, 7])])
def test_many_methods_are_divided_into_panels_with_the_baseline(
    write: Write, methods: int, counts: list[int]
) -> None:
    names = ["rks", *(f"m{i}" for i in range(methods - 1))]
    rows = [{"sampler": s, "M": m, "error": m + i} for i, s in enumerate(names) for m in (10, 50)]
    figure = error_figure(write(rows + [row | {"dataset": "eeg"} for row in rows]))
    shown = [[bar.get_label() for bar in axes.containers] for axes in figure.axes]
    assert [len(names) for names in shown] == 2 * counts
    assert {name for names in shown for name in names} == set(names)
    colors = {axes.containers[0][0].get_color() for axes in figure.axes}
    assert colors == {style.METHODS["rks"].color}
    assert all("rks" in names for names in shown)


@nightly
def test_no_axis_label_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """These rows have ticks that the layout itself changes: wider ones than it reckoned with."""
    monkeypatch.setattr(figures, "FIGURES", (curves.error,))
    rows = Path("results/published/leaderboard_regression_rank")
    picture = matplotlib.image.imread(plot(read_results_folder(rows), tmp_path)[0])
    assert picture[:, 0, :3].min() == 1


def test_figure_that_cannot_be_written_gives_a_message(write: Write) -> None:
    results = read_results_folder(write(sweep()))
    with pytest.raises(WriteError, match="error_vs_M.png could not be written: Not a directory"):
        plot(results, results.folder / "trials.csv" / "figures")


@pytest.mark.usefixtures("every_figure")
def test_methods_with_more_columns_than_the_baseline_are_named(write: Write) -> None:
    factor = {"rks": 2, "rks-4l": 8, "comp": 1, "qmc": 2}
    rows = [
        {"sampler": label.split("-")[0], "label": label, "M": m, "columns": times * m}
        for label, times in factor.items()
        for m in (10, 50)
    ]
    figures = drawn(write(rows))
    caption = " ".join(figures["error_vs_M"].get_supxlabel().split())
    assert caption.endswith("RKS-4l has 400 columns at M = 50, RKS 100.")
    assert caption.count("columns") == 1
    assert "columns" not in figures["error_vs_time"].get_supxlabel()


@pytest.mark.usefixtures("every_figure")
def test_pareto_frontier_lies_below_the_curves(write: Write) -> None:
    times = {"rks": {10: 1.0, 50: 2.0}, "eerf": {10: 3.0, 50: 4.0}}
    errors = {"rks": {10: 30.0, 50: 20.0}, "eerf": {10: 25.0, 50: 10.0}}
    rows = [
        {"sampler": s, "M": m, "error": errors[s][m], "t_pp": t, "t_features": 0, "t_train": 0}
        for s, sizes in times.items()
        for m, t in sizes.items()
    ]
    figures = drawn(write(rows, "two"))
    assert frontiers(figures["error_vs_time"]) == [[[1, 30], [2, 20], [4, 10], [4, 10]]]
    assert frontiers(figures["error_vs_M"]) == frontiers(figures["time_vs_M"]) == []
    alone = drawn(write(rows[:2], "one"))
    assert frontiers(alone["error_vs_time"]) == []
    good = [row | {"accuracy": 100 - row["error"]} for row in rows]
    (line,) = frontiers(drawn(write(good, "good", metric="accuracy"))["accuracy_vs_time"])
    assert line == [[1, 70], [2, 80], [4, 90], [4, 90]]


def frontiers(figure: Any) -> list[list[list[float]]]:
    steps = [line for line in figure.axes[0].lines if line.get_drawstyle() == "steps-post"]
    return [line.get_xydata().tolist() for line in steps]


@pytest.mark.usefixtures("every_figure")
def test_methods_labeled_on_the_axis_need_no_legend(write: Write) -> None:
    figure = error_figure(write([{"sampler": s} for s in ("rks", "qmc")]))
    assert [tick.get_text() for tick in figure.axes[0].get_xticklabels()] == ["RKS", "QMC"]
    assert not figure.legends


def test_error_against_bytes_is_drawn_if_column_sizes_differ(write: Write) -> None:
    rows = [
        {"sampler": s, "M": m, "columns": m, "feature_bytes": m * size // 8, "setting": s}
        | {"error": 10 + t, "trial": t}
        for s, size in (("rks", 32), ("low-precision", 4))
        for m in (16, 64)
        for t in (0, 1)
    ]
    figure = drawn(write(rows, "both"))["error_vs_bytes"]
    assert points(figure) == {
        "rks": ([64, 256], [10.5, 10.5]),
        "low-precision": ([8, 32], [10.5, 10.5]),
    }
    assert figure.axes[0].get_xlabel().endswith("(bytes)")
    assert frontiers(figure) == [[[8, 10.5], [256, 10.5]]]
    assert "error_vs_bytes" not in drawn(write(rows[:4], "one"))
    assert "error_vs_bytes" not in drawn(write([row | {"feature_bytes": ""} for row in rows], "no"))
    kept = [row | {"M": row["M"] + row["trial"]} for row in rows]
    assert "error_vs_bytes" in drawn(write(kept, "follows", M={"kept_by": "rks"}))


def test_title_labels_a_smoke_run(write: Write) -> None:
    figures = drawn(write(sweep(), "a", smoke=True)) | {"full": drawn(write(sweep(), "b"))}
    titles = [figure.get_suptitle() for name, figure in figures.items() if name != "full"]
    assert all(title.startswith("SMOKE RUN, Small handwritten digits") for title in titles)
    title = figures["full"]["error_vs_M"].get_suptitle()
    assert title == "Small handwritten digits of scikit-learn"


@pytest.mark.parametrize(
    ("count", "letters", "drawn"), [(40, 10, True), (41, 10, False), (2, 60, True), (2, 61, False)]
)
def test_no_figure_is_drawn_for_too_many_or_too_long_axis_labels(
    write: Write, count: int, letters: int, drawn: bool
) -> None:
    rows = [{"variant": f"kernel=k{k:0{letters - 8}d}"} for k in range(count)]
    names = [name for name, _ in iterate_figures(read_results_folder(write(rows)))]
    assert ("error_vs_variant" in names) == drawn
    assert "error_vs_time" in names


@pytest.mark.usefixtures("every_figure")
def test_unordered_settings_are_not_joined_by_lines(write: Write) -> None:
    rows = [{"variant": f"kernel={k}", "sampler": s} for k in ("b", "a") for s in ("rks", "eerf")]
    (panel,) = error_figure(write(rows)).axes
    assert {bar[0].get_linestyle() for bar in panel.containers} == {"None"}


def test_error_bars_are_standard_errors_of_the_mean(write: Write) -> None:
    """Trials of 10 and 11 %: the standard deviation is 0.71, the standard error of two is 0.5."""
    figure = error_figure(write(sweep()))
    bars = [container for panel in figure.axes for container in panel.containers]
    assert len(bars) == 2
    for container in bars:
        (vertical,) = container.lines[2]
        heights = [np.ptp(segment[:, 1]) / 2 for segment in vertical.get_segments()]
        assert heights == pytest.approx([0.5] * 3)


@pytest.mark.usefixtures("every_figure")
def test_many_data_sets_become_one_panel_of_medians_relative_to_baseline(write: Write) -> None:
    """Twice the error on 13 sets, eight times on one; a set where a method lacks a size is out."""
    rows = [
        {"dataset": f"d{i}", "sampler": sampler, "M": M, "trial": trial,
         "error": (i + 1) * (1 if sampler == "rks" else 8 if i == 0 else 2), "t_pp": 1.0}
        for i in range(15)
        for sampler in ("rks", "eerf")
        for M in (10, 50)
        for trial in (0, 1)
        if (i, sampler, M) != (14, "eerf", 50)
    ]  # fmt: skip
    drawn = dict(iterate_figures(read_results_folder(write(rows))))
    assert list(drawn) == ["error_vs_M", "time_vs_M"]
    figure = drawn["error_vs_M"]
    (panel,) = figure.axes
    assert panel.get_ylabel() == "test error / that of RKS"
    assert points(figure) == {
        "rks": ([10.0, 50.0], pytest.approx([1.0, 1.0])),
        "eerf": ([10.0, 50.0], pytest.approx([2.0, 2.0])),
    }
    assert "15 data sets" in figure.get_suptitle()
    assert figure.get_label() == (
        "Median over the 14 of 15 data sets with a positive value at every point; for each "
        "the mean over 2 trials is divided by the mean of RKS."
    )
    others = [row for row in rows if row["sampler"] != "rks"]
    assert not dict(iterate_figures(read_results_folder(write(others, "others"))))


def results_of(write: Write, *rows: dict[str, Any]) -> Any:
    measured = summarize_for_figures(
        read_results_folder(write(list(rows), f"of {len(rows)} {rows[-1]['error']}"))
    )
    return [name for name, _ in iterate_figures(measured.results, None, measured)], measured


def test_figures_without_a_comparison_are_omitted_and_named(write: Write) -> None:
    """One point; one method; two whose errors are the same, their times not; two that differ."""
    one = {"sampler": "rks", "error": 10.0, "t_pp": 1.0}
    names, measured = results_of(write, one)
    assert (names, measured.not_drawn) == (
        [],
        ["error_vs_M (one point)", "error_vs_time (one point)"],
    )
    names, measured = results_of(write, *(one | {"M": m, "error": m} for m in (10, 50)))
    assert names == []
    assert measured.not_drawn[0] == "error_vs_M (one method)"
    two = [one | {"M": m, "sampler": s, "t_pp": len(s) * m, "error": 100 - m}
           for m in (10, 50) for s in ("rks", "eerf")]  # fmt: skip
    names, measured = results_of(write, *two)
    assert names == ["error_vs_time", "time_vs_M"]
    assert measured.not_drawn == ["error_vs_M (all lines are equal)"]
    two[-1]["error"] += 1
    assert results_of(write, *two)[0] == ["error_vs_M", "error_vs_time", "time_vs_M"]


def test_settings_of_one_method_are_compared(write: Write) -> None:
    rows = [{"variant": f"a.b={b}", "error": 10 + b} for b in (1, 2)]
    assert results_of(write, *rows)[0] == ["error_vs_b", "error_vs_time", "time_vs_b"]


@pytest.mark.parametrize("count", [1, 2, 5, 12])
def test_figures_fit_a_page_and_text_has_at_least_7_points(write: Write, count: int) -> None:
    names = [*style.METHODS][: 31 if count == 1 else 3]
    rows = [
        {"sampler": s, "M": m, "error": m + i + k, "t_pp": i + m, "dataset": f"d{k}"}
        for i, s in enumerate(names)
        for m in (10, 50)
        for k in range(count)
    ]
    with style.apply_style():
        for _, figure in iterate_figures(
            read_results_folder(write(rows, title="A title of some forty letters"))
        ):
            figure.draw_without_rendering()
            assert figure.get_figwidth() <= panels.PAGE_WIDTH
            texts = [text for text in figure.findobj(Text) if text.get_text()]
            assert min(text.get_fontsize() for text in texts) >= style.SMALLEST_POINTS
            box = figure.get_tightbbox()
            assert box.x0 >= -0.02
            assert box.x1 <= panels.PAGE_WIDTH + 0.02


def test_title_equals_the_title_of_the_configuration(write: Write) -> None:
    (figure, *_) = drawn(write(sweep(), title="Two  methods\n on digits")).values()
    assert figure.get_suptitle() == "Two methods on digits"
