"""What a method gains over another: means by hand."""

from pathlib import Path
from typing import Any

import pytest

from rfbench.report import evidence, gains

from .conftest import Write

SIZES = (14, 28, 56, 112, 224, 448, 896, 1792)


def rows(protocol: str, better: float, **changes: Any) -> list[dict[str, Any]]:
    """Plain features and leverage ones; the gain is `better` -1, 0, +1 by trial, + M / 1792."""
    base = {"dataset": "eeg", "n_train": 7490, "n_test": 7490, "protocol": protocol, "error": ""}
    return [
        base
        | {"sampler": method, "M": M, "trial": t}
        | {"accuracy": 70 + (better + t - 1 + M / 1792 if method == "leverage-rff" else 0)}
        | changes
        for method in ("rks", "leverage-rff")
        for M in SIZES
        for t in range(3)
    ]


def table(*folders: Path) -> list[list[str]]:
    text = gains.section(evidence.gather(folders), Path())
    lines = [line for line in text.splitlines() if line.startswith("| liu2020")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


PAPER = {"paper": "liu2020", "item": "table3"}


def test_a_gain_is_the_mean_over_sizes_and_trials(write: Write) -> None:
    """The sizes add (1 + 1/2 + ... + 1/128) / 8 = 0.249; the spread 1 over root three."""
    printed, tuned = write(rows("printed", 2), "p", **PAPER), write(rows("tuned", -3), "t", **PAPER)
    ((name, what, sizes, theirs, *ours, trials, folders),) = table(printed, tuned)
    assert name == "liu2020 table3, EEG"
    assert what == "leverage-rff over rks"
    assert sizes == "14\N{EN DASH}1792"
    assert theirs == "+6.13"  # by hand from Table 3: the eight differences, summed, over 8
    assert ours == ["+2.25 ± 0.58", "\N{EN DASH}", "-2.75 ± 0.58"]
    assert trials == "3"
    assert [word[:3] for word in folders.split(", ")] == ["[p]", "[t]"]


def test_a_trial_that_lacks_a_size_is_left_out(write: Write) -> None:
    made = [row for row in rows("printed", 2) if (row["M"], row["trial"]) != (56, 2)]
    ((*_, printed, _, _, trials, _),) = table(write(made, **PAPER))
    assert (printed, trials) == ("+1.75 ± 0.50", "2")


def test_a_stand_in_is_named(write: Write) -> None:
    made = rows("printed", 2, n_train=1000, n_test=1000)
    ((name, *_),) = table(write(made, **PAPER))
    assert name == "liu2020 table3, EEG (stand-in eeg, 1000 training rows)"


def test_without_one_of_the_two_methods_there_is_no_row(write: Write) -> None:
    made = [row for row in rows("printed", 2) if row["sampler"] == "rks"]
    assert gains.section(evidence.gather([write(made, **PAPER)]), Path()) == ""


@pytest.mark.parametrize("metric", ["error", "relative_squared_error"])
def test_errors_count_the_other_way(write: Write, metric: str) -> None:
    base = {"dataset": "a9a", "n_train": 32561, "n_test": 16281, "protocol": "printed", "error": ""}
    scale = 1 if metric == "error" else 100
    made = [
        base | {"sampler": method, "M": 100, "trial": t, metric: (20 + t - less) / scale}
        for method, less in (("rks", 0), ("eerf", 1.5))
        for t in range(2)
    ]
    folder = write(made, paper="eerf2018", item="table3")
    text = gains.section(evidence.gather([folder]), Path())
    assert "| eerf over rks | 100 | +1.21 | +1.50 ± 0.00 |" in text


@pytest.mark.parametrize(("accuracy", "said"), [(55.6, ", chance"), (57.0, "")])
def test_guessing_the_larger_class_is_called_chance(
    write: Write, accuracy: float, said: str
) -> None:
    """Of the EEG rows 55.1 % are of the larger class; a point above it counts as learning."""
    made = [row | {"accuracy": accuracy} for row in rows("printed", 0)]
    ((*_, printed, _, _, _, _),) = table(write(made, **PAPER))
    assert printed == f"+0.00 ± 0.00{said}"


@pytest.mark.parametrize(("r2", "said"), [(0.04, ", nothing learnt"), (0.06, "")])
def test_a_regression_that_learns_nothing_is_marked(write: Write, r2: float, said: str) -> None:
    base = {"dataset": "news", "n_train": 26561, "n_test": 13083, "protocol": "printed"}
    made = [
        base
        | {"sampler": method, "M": 200, "trial": t, "error": "", "r2": r2}
        | {"relative_squared_error": 0.03}
        for method in ("rks", "eerf")
        for t in range(2)
    ]
    text = gains.section(evidence.gather([write(made, paper="eerf2018", item="table3")]), Path())
    assert f"| +0.00 ± 0.00{said} |" in text
