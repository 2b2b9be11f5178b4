"""The ledger: nothing is added over two classes, and every shipped number and claim has one."""

import json
from pathlib import Path

import pandas as pd
import pytest

from rfbench import papers
from rfbench.analysis import ledger, verdicts
from rfbench.analysis.frame import collect
from rfbench.errors import ResultsError
from rfbench.papers.models import Provenance

PUBLISHED = Path(__file__).parents[2] / "results" / "published"
MANIFESTS = sorted(PUBLISHED.glob("*/manifest.json"))


def entries(*classes: tuple[str, str, str]) -> pd.DataFrame:
    lines = [(*each, "printed") for each in classes]
    return pd.DataFrame(lines, columns=["source", "settings", "verdict", "protocol"])


def test_a_sum_over_two_classes_is_refused() -> None:
    one = entries(("table", "blind", verdicts.AGREES), ("table", "blind", verdicts.DIFFERS))
    counted = ledger.count(one, ledger.OF_NUMBERS)
    assert (counted.compared, counted.near, counted[verdicts.CLOSE]) == (2, 1, 0)
    twice = counted + counted
    assert (twice.of, twice.compared, twice.near) == (("table", "blind"), 4, 2)
    for other in (("repository", "blind"), ("table", "in sight")):
        more = entries((*other, verdicts.AGREES))
        with pytest.raises(ResultsError, match="one class"):
            counted + ledger.count(more, ledger.OF_NUMBERS)
        with pytest.raises(ResultsError, match="one class"):
            ledger.count(pd.concat([one, more]), ledger.OF_NUMBERS)
        with pytest.raises(ResultsError, match="one class"):
            sum([ledger.count(more, ledger.OF_NUMBERS)], start=counted)
    with pytest.raises(ResultsError, match="none"):
        ledger.count(one[:0], ledger.OF_NUMBERS)


def test_two_protocols_of_one_class_would_count_a_number_twice() -> None:
    with pytest.raises(ValueError, match="twice"):
        Provenance(settings={"printed": "blind", "matched": "blind"})


def test_every_shipped_number_and_protocol_has_a_class_in_its_papers_folder() -> None:
    run: dict[str, set[str]] = {}
    for file in MANIFESTS:
        config = json.loads(file.read_text())["config"]
        if paper := config.get("paper"):
            run.setdefault(paper, set()).add(config["protocol"])
    for name in papers.papers():
        provenance = papers.paper(name).provenance
        assert run[name] <= set(provenance.settings), name
        assert provenance.strongest_answer, name
        items = {number.item for number in papers.folder(name).published}
        assert set(provenance.sources) == items, name
        for protocol in provenance.settings:
            if protocol == "matched":
                assert provenance.settings[protocol] == "in sight"


def test_the_trials_of_a_curve_are_as_many_at_each_size_or_written_down() -> None:
    """Where rows were added to some sizes, the paper's folder has the number that counts."""
    written = {name for paper in papers.papers() for name in papers.paper(paper).provenance.trials}
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
    collection = collect([PUBLISHED / name for name in uneven])
    for setting, rows in collection.rows[collection.rows["counts"]].groupby("setting"):
        assert rows.groupby("M")["trial"].nunique().nunique() == 1, setting
    added = ledger.added_trials(collection, "eerf2018")
    assert set(added["M"]) == {450}
    assert (added["counted"] == 10).all()
    assert (added["added"] == 104).all()
