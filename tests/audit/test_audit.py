"""An audit against a row whose protocol is known, because we made it."""

import importlib
import math
import shlex

import pandas as pd
import pytest

from rfbench import __version__, papers, results, shipped
from rfbench.audit import choices, page
from rfbench.audit.plan import plan
from rfbench.audit.ranking import rank
from rfbench.audit.target import find
from rfbench.errors import ConfigError, ResultsError
from rfbench.experiment import runner
from rfbench.experiment.run_plan import plan_run
from rfbench.papers import Published, Source
from tests.support.command_line import call

CONFIG = """\
paper: invented2026
item: table1
protocol: printed
dataset: digits
rows: 800
split: {test_size: 0.4}
scaling: standard
bandwidth: median
M: [10, 20, 40, 80]
samplers: [rks, orf, {eerf: {pool_size: 160}}, {rks: {label: control}}]
solver: {alphas: 1e-3}
trials: 2
timing: isolated
kernel_error_rows: 50
"""
HIDDEN = {"bandwidth": "4", "feature_map": "paired", "solver.multiclass": "one-vs-one"}
VARY = [
    "bandwidth=2,4,20",
    "feature_map=offset,paired",
    "solver.multiclass=one-vs-rest,one-vs-one",
]


def number(method, size, value, spread=0.5):
    return Published(
        paper="invented2026", item="table1", dataset="Digits", method=method, M=str(size),
        metric="error", value=value, spread=spread, spread_kind="se", unit="%", mark="", note="",
    )  # fmt: skip


@pytest.fixture(scope="module")
def truth(tmp_path_factory):
    """Published numbers made by a hidden protocol with other random numbers."""
    folder = tmp_path_factory.mktemp("truth")
    (folder / "truth.yaml").write_text(CONFIG)
    overrides = [f"{key}={value}" for key, value in HIDDEN.items()]
    from rfbench import config

    experiment = config.read(folder / "truth.yaml", [*overrides, "seed=99", "trials=4"])
    runner.run(plan_run([experiment], folder / "truth"), n_jobs=1)
    rows = results.read(folder / "truth").rows
    means = rows.groupby(["label", "M"])["error"].mean()
    return tuple(
        number(method, size, float(means[method, size]))
        for method in ("rks", "orf", "eerf")
        for size in (10, 20, 40, 80)
    )


@pytest.fixture
def invented(tmp_path, monkeypatch, truth):
    source = Source(dataset="digits", n_train=480, n_test=320, stand_ins=["iris"])
    monkeypatch.setattr(papers, "published", lambda: truth)
    monkeypatch.setattr(papers, "sources", lambda: {"invented2026": {"Digits": source}})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "invented.yaml").write_text(CONFIG)
    return tmp_path


def audited(folder, **keywords):
    target = find("invented2026/table1/Digits")
    varied = [choices.given(text, {}) for text in VARY]
    audit = plan(folder / "invented.yaml", target, varied=varied, **keywords)
    work = plan_run([t.experiment for t in audit.tried], folder / "out")
    runner.run(work, n_jobs=1)
    return audit, rank(audit, results.read(folder / "out"))


def test_the_hidden_protocol_is_found(invented):
    audit, ranking = audited(invented)
    assert len(audit.tried) == 12
    first = ranking.placed[0]
    names = [choice.name for choice in ranking.audit.choices]
    assert dict(zip(names, [o.name for o in first.combination], strict=True)) == HIDDEN
    assert ranking.places_confirmed == (1, 1)
    assert ranking.correlation > 0.7
    assert first.choosing < 3 * ranking.noise
    assert ranking.placed[1].choosing > 1.3 * first.choosing


def test_distances_are_those_of_the_rows(invented, truth):
    audit, ranking = audited(invented)
    rows = results.read(invented / "out").rows
    best = rows[rows["bandwidth"].eq(4) & rows["feature_map"].eq("paired")]
    placed = ranking.placed[0]
    choosing, confirming = audit.target.halves()
    gaps = []
    for cell, published in zip(placed.cells, truth, strict=True):
        assert cell.trials == 2
        assert cell.difference == pytest.approx(cell.measured - published.value)
        here = best[best["label"].eq(published.method) & best["M"].eq(published.size)]
        means = here.groupby("setting")["error"].mean()  # one setting a multiclass scheme
        assert len(means) == 2
        assert min(abs(means - cell.measured)) < 1e-9
        gaps.append(cell.difference)
    for half, said in ((choosing, placed.choosing), (confirming, placed.confirming)):
        assert said == pytest.approx(math.sqrt(sum(gaps[i] ** 2 for i in half) / len(half)))
    assert placed.largest == pytest.approx(max(map(abs, gaps)))


def test_controls_and_kernel_errors_are_not_measured(invented):
    audit, _ = audited(invented)
    for tried in audit.tried:
        assert [spec.label for spec in tried.experiment.samplers] == ["rks", "orf", "eerf"]
        assert tried.experiment.kernel_error_rows is None
        assert tried.experiment.timing == "shared"


def test_what_lacks_trials_is_counted_and_not_placed(invented):
    audit, _ = audited(invented)
    rows = results.read(invented / "out")
    trial = rows.rows[rows.rows["label"].eq("orf") & rows.rows["M"].eq(10)]
    broken = rows.rows[~rows.rows["trial_id"].isin(trial["trial_id"])]
    ranking = rank(audit, results.Results(rows.folder, rows.name, broken))
    assert (ranking.incomplete, ranking.placed) == (12, [])
    with pytest.raises(ResultsError, match="12 lack at least one"):
        page.render(ranking, "text")


def test_the_command(invented):
    words = ["audit", "invented.yaml", "--target", "invented2026/table1/Digits", "--jobs", 1]
    for text in VARY:
        words += ["--vary", text]
    said = call(*words, "--dry-run")
    assert "12 of 12 combinations" in said
    assert not (invented / "results").exists()
    said = call(*words)
    assert "12 combinations of 3 open choices were tried" in said
    assert "6 of the 12 published numbers choose, the other 6 confirm" in said
    folder = invented / "results" / "audit_invented2026_table1_Digits"
    lines = (folder / "audit.csv").read_text().splitlines()
    assert len(lines) == 1 + 12
    assert lines[1].startswith("1,4,paired,one-vs-one,")
    assert (folder / "audit.md").read_text().startswith("**Audit of invented2026/table1/Digits**")
    assert "0 run, 0 failed" in call(*words)
    more = call(*words, "--vary", "solver.alphas=1e-3,1")
    assert "24 combinations of 4 open choices" in " ".join(more.split())
    assert "the folder holds" not in more
    assert "of 3 open choices" in call(*words, "--vary", "solver.alphas=1e-3")
    part = " ".join(call(*words, "--most", 5).split())
    assert "drawn at random from 12" in part
    assert "the folder holds trials of 24 combinations in all, from this and earlier" in part
    assert "the nearest of those drawn that has it" in part
    table = pd.read_csv(folder / "audit.csv")
    assert (len(table), set(table["tried"])) == (5, {24})
    call(*words, "--most", 1, "--set", "split.test_size=0.3")
    assert set(pd.read_csv(folder / "audit.csv")["tried"]) == {25}
    single = (folder / "audit.md").read_text()
    assert "never drawn: bandwidth " in single
    assert "not independent" not in single
    call(*words, "--most", 1, "--set", "samplers=[rks]")
    assert (invented / "results" / "audit_invented2026_table1_Digits_rks" / "audit.csv").exists()
    assert (folder / "audit.md").read_text() == single


def test_an_interrupted_audit_is_not_ranked(invented, monkeypatch):
    def stopped(work, *others):
        left = len(work.trials) - 1
        return runner.Summary(work.folder, done=1, left=left, interrupted=True)

    command = importlib.import_module("rfbench.cli.audit")  # the package has the click object
    monkeypatch.setattr(command, "run_with_progress", stopped)
    target = ["--target", "invented2026/table1/Digits", "--vary", "scaling=standard,none"]
    said = call("audit", "invented.yaml", *target, code=1)
    assert "interrupted: not ranked" in said
    assert "left:    47; run the same command again" in said
    assert not list(invented.rglob("audit.*"))


def test_known_options_that_cannot_be_run_are_dropped(invented, monkeypatch):
    known = {"scaling": choices.given("scaling=none,sideways,standard", {})}
    monkeypatch.setattr("rfbench.audit.plan.known", lambda target: known)
    target = find("invented2026/table1/Digits")
    audit = plan(invented / "invented.yaml", target, most=2)
    assert [t.experiment.scaling for t in audit.tried] == ["none", "standard"]
    assert len(audit.refused) == 1
    assert audit.refused[0].startswith("scaling sideways: ")
    assert (audit.drawn_of, audit.drawn) == (2, False)


def test_the_noise_is_that_of_the_nearest_combinations(invented):
    _, ranking = audited(invented)
    choosing, _ = ranking.target.halves()
    assert ranking.pooled == 5  # of 12
    ours = [
        sum(p.cells[i].standard_error ** 2 for i in choosing) / len(choosing)
        for p in ranking.placed[:5]
    ]
    assert ranking.noise == pytest.approx(math.sqrt(0.5**2 + sorted(ours)[2]))
    assert ranking.within_noise == sum(p.choosing <= ranking.noise for p in ranking.placed)
    assert "so they are not independent" in page.render(ranking, "markdown")


def test_the_command_that_repeats_is_on_the_page(invented):
    (invented / "configs").mkdir()
    (invented / "configs" / "invented.yaml").write_text(CONFIG)
    path = invented / "configs" / "invented.yaml"
    words = ["--target", "invented2026/table1/Digits", "--set", "solver.alphas=1e-3, 1"]
    words += ["--vary", "bandwidth=2,4", "--trials", 1, "--most", 20]
    call("audit", path, *words, "--jobs", 1, "--out", invented / "there")
    made = invented / "there" / "audit_invented2026_table1_Digits"
    content = (made / "audit.md").read_text()
    assert content.endswith(
        "\nTo repeat this audit:\n\n"
        "    rfbench audit configs/invented.yaml --target invented2026/table1/Digits "
        "--set 'solver.alphas=1e-3, 1' --vary bandwidth=2,4 --trials 1 --most 20\n"
    )
    assert str(invented) not in content
    assert f"measured with M=10,20,40,80, trials=1, seed=0, rfbench {__version__}" in content
    assert "fixed: solver.alphas=1e-3, 1; all that is not varied or fixed" in content
    repeated = shlex.split(content.splitlines()[-1])[1:]
    assert "0 run, 0 failed, 24 were there" in call(*repeated, "--out", invented / "there")
    assert (made / "audit.md").read_text() == content


def test_the_configuration_as_it_stands_has_its_place(invented):
    _, ranking = audited(invented)
    content = page.render(ranking, "markdown")
    assert "invented as it stands: not among the combinations that have a place" in content

    varied = [choices.given(text, {}) for text in ("bandwidth=2,median", "scaling=none,standard")]
    target = find("invented2026/table1/Digits")
    audit = plan(invented / "invented.yaml", target, varied=varied)
    assert [option.name for option in audit.as_it_stands] == ["median", "standard"]
    runner.run(plan_run([t.experiment for t in audit.tried], invented / "out"), n_jobs=1)
    ranking = rank(audit, results.read(invented / "out"))
    place, own = next(
        (place, placed)
        for place, placed in enumerate(ranking.placed, 1)
        if placed.combination == audit.as_it_stands
    )
    said = f"place {place}, {own.choosing:.2f} / {own.confirming:.2f} (chosen by / confirmed by)"
    assert f"- invented as it stands: {said}\n" in page.render(ranking, "markdown")


def test_a_fixed_key_is_part_of_the_configuration_as_it_stands(invented):
    varied = [choices.given("bandwidth=2,median", {})]
    target = find("invented2026/table1/Digits")
    keywords = {"varied": varied, "overrides": ["scaling=none", "trials=1"]}
    audit = plan(invented / "invented.yaml", target, **keywords)
    assert [option.name for option in audit.as_it_stands] == ["median"]
    assert audit.fixed == ["scaling=none"]


@pytest.mark.parametrize("sizes", ["90,160", "160,90"])
def test_what_the_choosing_numbers_do_not_tell_apart_shares_its_place(
    invented, monkeypatch, truth, sizes
):
    two = tuple(n for n in truth if n.method in ("rks", "eerf") and n.size == 10)
    monkeypatch.setattr(papers, "published", lambda: two)
    varied = [choices.given(f"samplers.eerf.pool_size={sizes}", {})]
    audit = plan(invented / "invented.yaml", find("invented2026/table1/Digits"), varied=varied)
    assert audit.idle == ["samplers.eerf.pool_size"]
    runner.run(plan_run([t.experiment for t in audit.tried], invented / "out"), n_jobs=1)
    ranking = rank(audit, results.read(invented / "out"))
    assert ranking.places == [1, 1]
    assert [p.combination[0].name for p in ranking.placed] == sizes.split(",")
    assert ranking.places_confirmed == (1, 2)
    assert "hold different methods, rks against eerf" in page.render(ranking, "markdown")


def test_a_smoke_run_is_not_ranked(invented):
    target = ["--target", "invented2026/table1/Digits", "--vary", "scaling=standard,none"]
    said = call("audit", "invented.yaml", *target, "--smoke", "--jobs", 1)
    assert "the numbers of a smoke run mean nothing" in said
    assert not list((invented / "results").rglob("audit.csv"))


def test_a_fixed_key_is_no_open_choice():
    target = find("liu2020/table3/EEG")
    words = ["scaling=standard", "M=14,28"]
    audit = plan(shipped.find("liu2020_table3"), target, overrides=words, most=5, run="eeg.printed")
    assert "scaling" not in [choice.name for choice in audit.choices]
    assert {t.experiment.scaling for t in audit.tried} == {"standard"}
    assert {n.size for n in audit.target.numbers} == {14, 28}
    assert audit.drawn_of == 192


def test_of_several_runs_the_only_one_that_fits_is_taken(tmp_path, invented):
    text = CONFIG.replace("dataset: digits\n", "")
    assert text != CONFIG
    path = tmp_path / "several.yaml"
    runs = "datasets: {digits: , letter: }\n"
    path.write_text(f"{text}{runs}")
    target = find("invented2026/table1/Digits")
    audit = plan(path, target, varied=[], most=3)
    assert (audit.config, audit.tried[0].experiment.dataset[0].name) == ("several_digits", "digits")
    path.write_text(f"{text}{runs}protocols: {{printed: , tuned: }}\n")
    with pytest.raises(ConfigError, match=r"digits\.printed, digits\.tuned\."):
        plan(path, target)
    assert plan(path, target, most=3, run="digits.tuned").config == "several_digits.tuned"


def test_a_stand_in_is_not_judged(invented, monkeypatch):
    source = Source(dataset="mnist", stand_ins=["digits"])
    monkeypatch.setattr(papers, "sources", lambda: {"invented2026": {"Digits": source}})
    _, ranking = audited(invented)
    text = " ".join(page.render(ranking, "text", width=200).split())
    assert "not the paper's data, so a distance is no verdict" in text
    assert "agrees" not in text
    assert page.table(ranking)[["agree", "close", "differ"]].isna().all(axis=None)
    shown = page.render(ranking, "markdown").splitlines()
    assert (
        next(line for line in shown if line.startswith("| 1 |")).split("|")[5].strip() == "\u2013"
    )


def test_other_data_are_refused(invented, monkeypatch):
    source = Source(dataset="mnist")
    monkeypatch.setattr(papers, "sources", lambda: {"invented2026": {"Digits": source}})
    with pytest.raises(ConfigError, match="measures digits"):
        audited(invented)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--target", "invented2026/table1/digits"], "Did you mean 'Digits'"),
        (["--set", "paper=liu2020"], "is not about invented2026"),
        (["--set", "M=7"], "has no size of invented2026/table1/Digits"),
        (["--set", "seed=1", "--vary", "seed=1,2"], "seed is both fixed and varied"),
        (["--vary", "samplers.control.bandwidth=1,2"], "concerns no sampler that is measured"),
        (["--set", "M=7"], "Published are M = 10, 20, 40, 80; it has 7."),
        (["--vary", "scaling=none,sideways"], "scaling is 'sideways'"),
        (["--vary", "M=10,7"], "has no size of invented2026/table1/Digits"),
        (["--vary", "scaling=none", "--vary", "scaling=minmax"], "--vary scaling=a,b"),
        (["--set", "dataset=letter"], "measures letter, the target is Digits"),
        (["--only", "M=10"], "--only would leave combinations without their numbers"),
    ],
)
def test_mistakes_are_answered_with_a_sentence(invented, words, said):
    target = [] if "--target" in words else ["--target", "invented2026/table1/Digits"]
    output = call("audit", "invented.yaml", *target, *words, "--jobs", 1, code=2)
    assert said in " ".join(output.split())


@pytest.mark.parametrize(
    ("config", "run", "aim"),
    [
        ("liu2020_table3", "eeg.printed", "liu2020/table3/EEG"),
        ("liu2020_table3", "cod-rna.printed", "liu2020/table3/cod-RNA"),
        ("eerf2018_table3", "adult.printed", "eerf2018/table3,table5/adult"),
        ("eerf2018_table3", "mnist.printed", "eerf2018/table3,table5/mnist"),
        ("eerf2018_table5", "letter.printed", "eerf2018/table5/letter"),
        ("eerf2018_table5", "har-train.printed", "eerf2018/table5/har"),
        ("eerf2018_table3", "news-14k.printed", "eerf2018/table3,table5/news"),
        ("lkrf2016_figure3", "adult.printed", "lkrf2016/table1/adult"),
        ("lkrf2016_table2", "adult-joint.printed", "lkrf2016/table2/adult"),
        ("lkrf2016_table2", "adult.printed", "lkrf2016/table2/adult"),
    ],
)
def test_the_known_choices_fit_the_shipped_configurations(config, run, aim):
    audit = plan(shipped.find(config), find(aim), most=60, run=run)
    assert audit.choices
    assert audit.refused == []
    assert audit.target.numbers
