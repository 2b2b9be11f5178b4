"""An audit of a claim: the range of its effects, by other code from the rows that it made."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rfbench.analysis.verification import verify_results
from tests.support.command_line import call
from tests.support.papers import read_from

CONFIG = """\
paper: invented2026
item: figure9
protocol: printed
dataset: {sphere: {d: 3, n_train: 80, n_test: 20}}
split: given
scaling: none
bandwidth: 2.0
feature_map: paired
M: [8, 16]
samplers: [rks, orf]
solver: none
kernel_error_rows: 80
trials: 6
"""
PAPER = """\
title: An Invented Paper
authors: [Jane Doe]
venue: JOKE
year: 2026
about: audits
datasets:
  Ball: {dataset: sphere}
"""
CLAIMS = """\
claims:
  - id: Z1
    where: Figure 9
    claim: The kernel error of ORF is below that of RKS.
    source: its caption
    parts:
      - says: ORF / RKS below the bound
        items: [figure9]
        datasets: [Ball]
        metric: kernel_error_frobenius
        method: orf
        against: [rks]
        along: columns
        at: each
        scale: ratio
        high: %s
        values: 2
"""
GAPS = "gaps: [bandwidth]\nall: {bandwidth: [2.0, 0.05]}\n"
AIM = "invented2026/Z1/Ball"


def write(root: Path, bound: float) -> Path:
    folder = root / f"papers-{bound}" / "invented2026"
    folder.mkdir(parents=True)
    (folder / "paper.yaml").write_text(PAPER)
    (folder / "claims.yaml").write_text(CLAIMS % bound)
    (folder / "open_choices.yaml").write_text(GAPS)
    return folder.parent


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """A folder with the results of the configuration and of the audit of its claim."""
    home = tmp_path_factory.mktemp("claims")
    with pytest.MonkeyPatch.context() as patch, read_from(write(home, 2.0)):
        patch.chdir(home)
        Path("mine.yaml").write_text(CONFIG)
        call("run", "mine.yaml", "--jobs", 1)
        call("audit", "mine.yaml", "--target", AIM, "--gaps", "--trials", 6, "--jobs", 1)
    return home


def expected(home):
    """The means over trials of log(ORF / RKS), by bandwidth and columns."""
    (file,) = home.glob("results/gaps_*/trials.csv")
    rows = pd.read_csv(file).pivot_table(
        index=["bandwidth", "columns", "trial"], columns="label", values="kernel_error_frobenius"
    )
    return np.log(rows["orf"] / rows["rks"]).groupby(["bandwidth", "columns"]).mean()


def test_range_of_a_ratio_equals_the_range_computed_from_rows(here, monkeypatch):
    monkeypatch.chdir(here)
    means = expected(here)
    for bound, verdict in ((2.0, "holds"), (0.99, None), (1e-9, "fails")):
        with read_from(write(here / "more", bound)):
            (one,) = [o for o in verify_results(["results"]).outcomes if o.protocol]
        for comparison in one.comparisons:
            ends = sorted(np.exp(means[:, comparison.x]))
            span = comparison.over_gaps
            assert (span.low, span.high) == pytest.approx(tuple(ends))
            assert bool(comparison.depends_on) == (ends[0] < bound < ends[1])
            assert (span.varied, span.combinations) == (("bandwidth",), 2)
        if verdict:
            assert one.label == verdict


def test_claim_audit_page_names_varied_keys_and_is_reproducible(here, monkeypatch):
    monkeypatch.chdir(here)
    (page,) = Path("results").glob("gaps_*/audit.md")
    before, table = page.read_text(), pd.read_csv(page.with_name("audit.csv"))
    assert set(table["bandwidth"]) == {2.0, 0.05}
    assert "bandwidth" in before
    with read_from(next(here.glob("papers-*"))):
        call("audit", "mine.yaml", "--target", AIM, "--gaps", "--trials", 6, "--jobs", 1)
        assert page.read_text() == before
        assert json.loads(page.with_name("manifest.json").read_text())
        said = call("audit", "mine.yaml", "--target", AIM, "--trials", 6, code=2)
        assert "Add --gaps" in said
        call("audit", "mine.yaml", "--target", "invented2026/Z1/Digits", "--gaps", code=2)
