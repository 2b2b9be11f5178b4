"""The ledger: nothing is added over two classes, and every shipped number and claim has one."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, t

from rfbench import papers
from rfbench.analysis import frame, verdict_counts, verdicts
from rfbench.analysis.frame import collect_results
from rfbench.analysis.outcomes import Outcome
from rfbench.analysis.verification import Verification, verify_results
from rfbench.errors import ResultsError
from rfbench.papers.models import Provenance, Published
from tests.support.claims import bounded
from tests.support.frames import results

PUBLISHED = Path(__file__).parents[2] / "results" / "published"
KERNELS = ("gaussian", "arc-cosine-0", "arc-cosine-1")
MANIFESTS = sorted(PUBLISHED.glob("*/manifest.json"))


def entries(*classes: tuple[str, str, str]) -> pd.DataFrame:
    lines = [(*each, "printed") for each in classes]
    return pd.DataFrame(lines, columns=["source", "settings", "verdict", "protocol"])


def test_verdicts_of_two_provenance_classes_cannot_be_summed() -> None:
    one = entries(("table", "readings", verdicts.AGREES), ("table", "readings", verdicts.DIFFERS))
    counted = verdict_counts.count_by_verdict(one, verdict_counts.OF_NUMBERS)
    assert (counted.n_compared, counted.n_agreeing_or_close, counted[verdicts.CLOSE]) == (2, 1, 0)
    for other in (("repository", "readings"), ("table", "matched")):
        more = entries((*other, verdicts.AGREES))
        with pytest.raises(ResultsError, match="different sources or settings"):
            verdict_counts.count_by_verdict(pd.concat([one, more]), verdict_counts.OF_NUMBERS)
    with pytest.raises(ResultsError, match="none"):
        verdict_counts.count_by_verdict(one[:0], verdict_counts.OF_NUMBERS)


def test_only_numbers_of_the_named_papers_are_counted() -> None:
    assert verdict_counts.count_published_by_source(set()) == {}
    of_one = verdict_counts.count_published_by_source({"liu2020"})
    assert {name for by in of_one.values() for name in by} == {"liu2020"}
    every = verdict_counts.count_published_by_source(papers.list_papers())
    assert every["table"]["liu2020"] == of_one["table"]["liu2020"]


def test_two_protocols_in_one_class_are_rejected() -> None:
    with pytest.raises(ValueError, match="twice"):
        Provenance(settings={"printed": "readings", "matched": "readings"})


def test_each_published_number_and_protocol_has_a_provenance_class() -> None:
    run: dict[str, set[str]] = {}
    for file in MANIFESTS:
        config = json.loads(file.read_text())["config"]
        if paper := config.get("paper"):
            run.setdefault(paper, set()).add(config["protocol"])
    for name in papers.list_papers():
        provenance = papers.find_paper(name).provenance
        assert run[name] <= set(provenance.settings), name
        assert provenance.strongest_answer, name
        items = {number.item for number in papers.find_paper_files(name).published}
        assert set(provenance.sources) == items, name
        for protocol in provenance.settings:
            if protocol == "matched":
                assert provenance.settings[protocol] == "matched"
            elif protocol == "corrected":  # of what was tuned to match, or of a reading
                expected = "corrected" if "printed" in provenance.settings else "rematched"
                assert provenance.settings[protocol] == expected


@pytest.mark.parametrize(("settings", "counts"), [("corrected", True), ("rematched", False)])
def test_protocols_tuned_to_match_do_not_count_for_corrected_claims(
    settings: str, counts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    provenance = Provenance.model_validate({"settings": {"corrected": settings}})
    monkeypatch.setattr(papers, "find_paper", lambda name: SimpleNamespace(provenance=provenance))
    claim = bounded()
    outcome = SimpleNamespace(
        claim=claim, protocol="corrected", label=verdicts.HOLDS, differing=False
    )
    assert verdict_counts.is_counted_as_holding(cast(Outcome, outcome)) == counts


def test_unequal_numbers_of_trials_are_documented_in_the_paper_folder() -> None:
    """Where rows were added to some sizes, the paper's folder has the number that counts."""
    written = {
        name
        for paper in papers.list_papers()
        for name in papers.find_paper(paper).provenance.trials
    }
    uneven = []
    for file in MANIFESTS:
        config = json.loads(file.read_text())["config"]
        if (
            not config.get("paper")
            or isinstance(config.get("M"), dict)
            or config.get("settings_from")
        ):
            continue
        names = ["setting", "label", "variant", "M", "trial", "status"]
        rows = pd.read_csv(file.with_name("trials.csv"), usecols=names, dtype={"variant": str})
        rows = rows[(rows["status"] == "ok") & rows["variant"].isna()]
        many = rows.groupby(["setting", "M"])["trial"].nunique().groupby("setting").nunique()
        if (many > 1).any():
            uneven.append(file.parent.name)
    assert set(uneven) == written
    collection = collect_results([PUBLISHED / name for name in uneven])
    for setting, rows in collection.rows[collection.rows["counts"]].groupby("setting"):
        assert rows.groupby("M")["trial"].nunique().nunique() == 1, setting
    added = [
        line
        for line in verdict_counts.tabulate_added_trials(collection)
        if line["paper"] == "eerf2018"
    ]
    assert {(line["M"], line["counted"], line["added"]) for line in added} == {(450, 10, 104)}


@pytest.mark.parametrize(("more", "added"), [(12, 2), (10, 0)])
def test_trials_above_the_documented_number_are_left_out(more: int, added: int) -> None:
    """A run of one's own with 12 trials at every size counts whole."""
    written = papers.find_paper("eerf2018").provenance.trials
    name = next(name for name, n in written.items() if n == 10)
    for sizes, expected in (({100: 10, 450: more}, added), ({100: 12, 450: 12}, 0)):
        rows = [{"M": M, "trial": t} for M, n in sizes.items() for t in range(n)]
        made = frame.build_collection([results(rows, name, paper="eerf2018")]).rows
        assert made["added"].sum() == expected
        assert made.loc[made["added"], "trial"].ge(10).all()


def decidable(number: Published, of_rows: float) -> bool:
    """Whether equal means agree in four of five cases: the width of the paper's own interval."""
    if number.standard_error is None:
        return True
    relative = number.unit == "1"
    scale = number.value if relative else 1.0
    error, many = np.hypot(number.standard_error / scale, of_rows), number.trials
    quantile = t.ppf(0.95, many - 1) if many and many > 1 else norm.ppf(0.95)
    own = quantile * error + number.half_digit / scale
    return bool(own + norm.ppf(0.9) * error <= (np.log(1.05) if relative else 0.5))


def test_verdict_of_each_published_number_equals_its_recomputation(
    every_published: Verification,
) -> None:
    """Recomputed from the published rows: by the intervals, and by the papers' spreads alone."""
    held = every_published
    lines = held.numbers_on_own_data[
        (held.numbers_on_own_data["trials"] > 0) & (held.numbers_on_own_data["unit"] != "s")
    ]
    lines = lines[(lines["same_as"] == "") & (lines["protocol"] != "tuned")]
    every = papers.list_published_numbers()
    expected: dict[tuple[str, str], dict[str, list[bool]]] = {}
    for line in lines.to_dict("records"):
        low, high = (line["difference"] + s * line["half_width"] for s in (-1, 1))
        relative = line["unit"] == "1"
        if relative:  # half the width is of the logarithm, to first order
            half = line["half_width"] / line["measured"]
            middle = np.log(line["measured"] / line["published"])
            low, high = middle - half, middle + half
        close = np.log(1.1) if relative else 1.0
        near, apart = max(abs(low), abs(high)) <= close, low > close or high < -close
        verdict = "near" if near else "different" if apart else "undecided"
        number, of_rows = every[line["number"]], 0.0
        if papers.find_paper(line["paper"]).provenance.one_draw_of_rows:
            config = json.loads((Path(line["folder"]) / "manifest.json").read_text())["config"]
            repeats = config["kernel_error_repeats"]
            features = (line["published_spread"] / line["published"]) ** 2 / repeats
            own = (line["standard_error"] / line["measured"]) ** 2 * line["trials"]
            of_rows = max(0.0, own - features) ** 0.5
        of_class = expected.setdefault((line["source"], line["settings"]), {})
        of_class.setdefault(verdict, []).append(decidable(number, of_rows))
    counts = {each.of: each for each in verdict_counts.count_published_numbers(held)}
    assert counts.keys() == expected.keys()
    for key, each in counts.items():
        found = expected[key]
        assert each.n_compared == sum(map(len, found.values()))
        for of, size in ((each, len), (each.decidable_count, sum)):
            three = of.n_agreeing_or_close, of[verdicts.UNDECIDED], of[verdicts.DIFFERS]
            names = ("near", "undecided", "different")
            assert three == tuple(size(found.get(name, [])) for name in names), key
        without = [every[line["number"]].standard_error is None for line in lines.to_dict("records")
                   if (line["source"], line["settings"]) == key]  # fmt: skip
        assert each.unspread == sum(without)
    tables = verdict_counts.count_verdicts_by_table(held)[list(verdicts.COMPARED)].to_numpy().sum()
    assert tables == sum(each.n_compared for each in counts.values())


def test_numbers_left_out_of_a_total_are_counted_by_verdict() -> None:
    """USPS of quadrature2018, by an independent sum over the rows: means farther than a factor."""
    folders = [PUBLISHED / f"quadrature2018_figure2_usps-{kernel}.code" for kernel in KERNELS]
    held = verify_results(folders)
    groups = {
        (each.group, each.count.of[1]): each for each in verdict_counts.list_left_out_numbers(held)
    }
    usps = groups.pop((verdict_counts.OTHER_DATA, "code"))
    assert not groups
    assert usps.places == ("quadrature2018 USPS",)
    assert sum(usps.count.verdicts.values()) == 90
    assert verdict_counts.count_published_numbers(held) == []
    rows = pd.concat([pd.read_csv(folder / "trials.csv") for folder in folders])
    means = rows.groupby(["kernel", "label", "M"])["kernel_error_frobenius"].mean()
    names = {"figure2-gaussian": "gaussian"} | {
        f"figure2-arc-cosine-{n}": f"arc-cosine-{n}" for n in (0, 1)
    }
    far = [
        number
        for number in papers.find_paper_files("quadrature2018").published
        if number.dataset == "USPS"
        and abs(np.log(means[names[number.item], number.method, number.size] / number.value))
        > np.log(1.1)
    ]
    assert len(far) >= usps.count["differs"]  # those beyond with all of their interval
    back = verdict_counts.count_numbers_including_removed(held)[usps.count.of]
    assert (back.n_agreeing_or_close, back.n_compared, back["differs"]) == (
        usps.count.n_agreeing_or_close, usps.count.n_compared, usps.count["differs"],
    )  # fmt: skip
