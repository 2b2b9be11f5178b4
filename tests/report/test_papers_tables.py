"""The papers' tables, filled with hand-made results."""

import numpy as np
import pytest
from click.testing import CliRunner

from rfbench.cli import main
from rfbench.errors import ResultsError
from rfbench.report import evidence, papers_tables, rules
from rfbench.report.verify import board

from .conftest import Write
from .test_verify import A9A, EEG, PAPER, trials


def test_table_3_of_liu2020_has_its_bullets(write: Write) -> None:
    rng = np.random.default_rng(0)
    rows = []
    for t in range(10):
        shared = rng.normal()
        for method, mean in (
            ("rks", 68),
            ("qmc", 68),
            ("leverage-rff", 70),
            ("surrogate-leverage", 68),
        ):
            accuracy = mean + shared + 0.1 * rng.normal()
            rows.append({**EEG, "sampler": method, "trial": t, "accuracy": accuracy, "error": ""})
    gathered = evidence.gather([write(rows, **PAPER)])
    text = papers_tables.render(gathered, "liu2020", "table3", width=120)
    line = next(line for line in text.splitlines() if line.startswith("14 "))
    assert line.count("•") == 1
    assert line.index("•") < line.rindex("(")
    latex = papers_tables.render(gathered, "liu2020", "table3", "latex")
    assert r"$\bullet$" in latex
    assert "| 14 |" in papers_tables.render(gathered, "liu2020", "table3", "markdown")


def test_table_3_of_eerf2018_has_standard_errors(write: Write) -> None:
    rows = trials(83.0, **A9A | {"M": 100}) + trials(84.0, **A9A | {"M": 100}, sampler="eerf")
    rows += trials(90.0, **A9A | {"M": 100, "dataset": "adult"})
    gathered = evidence.gather([write(rows, paper="eerf2018", item="table3")])
    text = papers_tables.render(gathered, "eerf2018", "table3", width=160)
    assert "17.00 (0.16)" in text
    assert "adult (stand-in adult, 32561 training rows)" in text
    with pytest.raises(ResultsError, match="Nothing of eerf2018"):
        papers_tables.render(gathered, "eerf2018", "table5")


def test_tables_of_lkrf2016(write: Write) -> None:
    rows = trials(84.0, **A9A | {"M": 100}, sampler="lkrf")
    gathered = evidence.gather([write(rows, paper="lkrf2016", item="table1")])
    assert "16.00 (0.16), 2.12" in papers_tables.render(gathered, "lkrf2016", "table1", width=120)


def test_wrong_tables_are_named(write: Write) -> None:
    gathered = evidence.gather([])
    for arguments in (("liu2020", "table4"), ("tefm2015", "table1"), ("liu2002", "table3")):
        with pytest.raises(ResultsError):
            papers_tables.render(gathered, *arguments)
    with pytest.raises(ResultsError, match="written as"):
        papers_tables.render(gathered, "liu2020", "table3", "csv")
    folder = str(write(trials(68.0), **PAPER))
    run = CliRunner().invoke
    assert run(main, ["table", folder, "--paper", "liu2020"]).exit_code == 2
    shown = run(main, ["table", folder, "--paper", "liu2020", "--item", "table3"])
    assert shown.exit_code == 0
    assert "68.00" in shown.output


def test_table_2_of_lkrf2016_has_training_errors(write: Write) -> None:
    sampled = A9A | {"dataset": "a9a[5000 rows]", "protocol": "printed", "n_train": 3335,
                     "n_test": 1665, "M": 250, "sampler": "lkrf"}  # fmt: skip
    rows = trials(84.0, **sampled)
    rows = [row | {"train_error": 15.0 + (row["trial"] % 2)} for row in rows]
    gathered = evidence.gather([write(rows, paper="lkrf2016", item="table2")])
    text = papers_tables.render(gathered, "lkrf2016", "table2", width=120)
    assert "15.50 (0.17) / 16.00 (0.16), 2.12" in text
    cells = board(gathered, "lkrf2016", lambda name: True).cells
    (cell,) = (c for c in cells if c.trials and c.number.metric == "train_error")
    assert (cell.measured, cell.number.value, cell.number.method) == (15.5, 16.22, "lkrf")
    assert cell.verdict in (rules.CLOSE, rules.DIFFERS)
