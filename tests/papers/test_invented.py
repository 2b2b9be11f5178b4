"""A paper is a folder: an invented one works, and a broken one is named."""

import csv
import io
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t

import rfbench
from rfbench import papers
from rfbench.analysis import verdict_counts
from rfbench.analysis.verification import verify_results
from rfbench.errors import ConfigError
from rfbench.results import find_results_folders, read_results_folder
from tests.support.command_line import call
from tests.support.frames import results, verification
from tests.support.invented import CLAIMS, FILES, PAPER, PUBLISHED, write
from tests.support.papers import read_from

pytestmark = pytest.mark.usefixtures("no_pictures")
CONFIG = """\
title: An invented table
paper: doe2030
item: table7
protocol: printed
dataset: digits
split: {test_size: 0.3}
M: 40
samplers: [rks]
solver: {alphas: 0.1}
trials: 6
"""


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_folder_and_configuration_suffice_for_a_paper(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("doe2030_table7_digits.printed.yaml").write_text(CONFIG)
    shipped = papers.list_papers()
    with read_from(write(tmp_path / "papers")):
        assert papers.list_papers() == ["doe2030"]
        assert papers.find_paper("doe2030").citation == "Doe & Roe, JOKE 2030"
        call("run", "doe2030_table7_digits.printed.yaml", "--jobs", "1")

        every = rows(call("verify", "results", "--format", "csv"))
        numbers = [number for number in every if number["protocol"] == "printed"]
        assert [(n["metric"], n["published"]) for n in numbers] == [
            ("error", "99.5"),
            ("t_total", "12.5"),
        ]
        assert [n["trials"] for n in numbers] == ["6", "6"]
        assert 0 < float(numbers[0]["measured"]) < 90
        assert (numbers[0]["verdict"], numbers[1]["verdict"]) == ("differs", "not judged")

        (claim,) = rows(call("verify", "results", "--claims", "--format", "csv"))
        assert {claim["verdict"]} == {"holds, not varied"}

        call("report", "results", "--out", "pages")
        assert "Doe & Roe, JOKE 2030" in Path("pages/README.md").read_text().replace("\\", "")
        assert "doe2030  table7" in call("list", "papers")
    assert papers.list_papers() == shipped


def test_numbers_without_unit_are_judged_by_their_ratio(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error of its own rows, and another number, as if they were no percentages."""
    monkeypatch.chdir(tmp_path)
    Path("doe2030_table7_digits.printed.yaml").write_text(CONFIG)
    with read_from(write(tmp_path / "first")):
        call("run", "doe2030_table7_digits.printed.yaml", "--jobs", "1")
    errors = (
        read_results_folder(find_results_folders(["results"])[0])
        .rows["error"]
        .astype(float)
        .to_numpy()
    )
    mean, sd = float(errors.mean()), float(errors.std(ddof=1))
    lines = [
        f"table7,Digits,rks,40,{name},{value!r},{sd!r},sd,1,,{cell},1000 trials"
        for name, value, cell in (("error", mean, ""), ("loss", 2.5, f"2.50 ({sd!r})"))
    ]
    printed = "\n".join([PUBLISHED.splitlines()[0].replace("note", "cell,note"), *lines])
    paper = PAPER.replace("t_total: t_all", "error: error, loss: error")
    with read_from(write(tmp_path / "papers", published=printed, paper=paper)):
        assert [number.half_digit for number in papers.list_published_numbers()][
            1
        ] == pytest.approx(0.005)
        found = verify_results(["results"])
        same, half = found.numbers_on_own_data[
            found.numbers_on_own_data["protocol"] == "printed"
        ].itertuples()
        assert same.difference == pytest.approx(0)
        assert half.difference == pytest.approx(mean - 2.5)
        error = sd / 6**0.5
        freedom = (1 / 1000 + 1 / 6) ** 2 / (1 / 1000**2 / 999 + 1 / 6**2 / 5)
        width = t.ppf(0.95, freedom) * np.hypot(error / mean, sd / 1000**0.5 / mean) * mean
        assert same.half_width == pytest.approx(width, rel=1e-6)
        relative = np.array([sd / 1000**0.5 / 2.5, error / mean])
        freedom = (relative**2).sum() ** 2 / (relative**4 / [999, 5]).sum()
        width = t.ppf(0.95, freedom) * np.hypot(*relative) + 0.005 / 2.5
        assert half.half_width == pytest.approx(width * mean, rel=1e-6)
        assert half.verdict == "differs"
        assert verdict_counts.count_published_by_source(["doe2030"]) == {"table": {"doe2030": 2}}
        text = call("verify", "results")
        assert f"{mean:.2f} ± {error:.2f}" in text
        away = 50 * abs(mean / 2.5 - 1)
        assert re.search(rf"\d / \d / \d / 1, {away:.2f} %", text)
        call("report", "results", "--out", "pages")
    for value in ("0", "-1"):
        wrong = printed.replace(",2.5,", f",{value},").replace("2.50 (", "(")
        with pytest.raises(ConfigError), read_from(write(tmp_path / value, published=wrong)):
            pass


def test_paper_without_numbers_is_valid_and_newest_is_first(tmp_path: Path) -> None:
    short = PAPER.partition("gains:")[0].replace("2030", "2031")
    (write(tmp_path) / "new2031").mkdir()
    (tmp_path / "new2031" / "paper.yaml").write_text(short)
    (tmp_path / "no_paper").mkdir()
    with read_from(tmp_path):
        assert papers.list_papers() == ["new2031", "doe2030"]
        assert {number.paper for number in papers.list_published_numbers()} == {"doe2030"}


@pytest.mark.parametrize(
    ("file", "old", "new", "place"),
    [
        ("paper", "[[rks, rks]]", "[rks, rks]", r"doe2030/paper.yaml, line 11\b.*table7"),
        ("paper", "[rks, rks]", "[rks, orf]", r"doe2030/paper.yaml: .*orf has no number"),
        ("published", "99.5", "many", r"doe2030/published.csv, line 2\b.*value"),
        ("published", "12.5,,", "12.5,,,", r"doe2030/published.csv, line 3\b"),
        ("published", "Digits,rks,40,error", "Letters,rks,40,error", r"published.csv: .*Letters"),
        ("claims", "at: each", "at: some", r"doe2030/claims.yaml, line 12\b.*at"),
        ("claims", "claims:", "answer: x\nclaims:", r"claims.yaml, line 1\b.*unknown key answer"),
        ("open_choices", "[offset, paired]", "offset", r"doe2030/open_choices.yaml, line 2\b"),
        ("paper", "year:", "name: doe\nyear:", r"doe2030/paper.yaml, line \d+: .*Remove the key"),
        (
            "claims",
            "where:",
            "paper: roe2031\n    where:",
            r"doe2030/claims.yaml, line \d+: .*roe2031",
        ),
    ],
)
def test_invalid_paper_file_is_reported_with_file_and_line(
    tmp_path: Path, file: str, old: str, new: str, place: str
) -> None:
    text = next(text for name, text in FILES.items() if name.startswith(f"{file}."))
    root = write(tmp_path, **{file: text.replace(old, new, 1)})
    with pytest.raises(ConfigError, match=place), read_from(root):
        pass


@pytest.mark.parametrize("change", [("at: each", "at: own"), ("metric: error", "metric: errors")])
def test_untestable_claim_raises_error_with_its_name(
    tmp_path: Path, change: tuple[str, str]
) -> None:
    rows = [
        {"protocol": "printed", "n_train": 1258, "n_test": 539, "M": 40, "trial": t, "error": 0.1}
        for t in range(6)
    ]
    root = write(tmp_path, claims=CLAIMS.replace(*change))
    with read_from(root), pytest.raises(ConfigError, match=r"D1 has|Did you mean 'error'"):
        verification(results(rows, paper="doe2030", item="table7"))


def test_csv_in_another_encoding_is_reported(tmp_path: Path) -> None:
    write(tmp_path)
    file = tmp_path / "doe2030" / "published.csv"
    file.write_bytes(b"\xef\xbb\xbf" + PUBLISHED.replace("\n", "\r\n").encode())
    with read_from(tmp_path):  # as a spreadsheet saves it
        assert [number.value for number in papers.list_published_numbers()] == [99.5, 12.5]
    file.write_bytes(PUBLISHED.encode() + "table7,é".encode("latin-1"))
    with pytest.raises(ConfigError, match=r"doe2030/published\.csv"), read_from(tmp_path):
        pass


def test_claim_id_is_unique_within_its_paper(tmp_path: Path) -> None:
    write(write(tmp_path), "roe2031")
    with read_from(tmp_path):
        assert [(c.id, c.paper) for c in papers.list_claims()] == [
            ("D1", "doe2030"),
            ("D1", "roe2031"),
        ]
        assert list(map(papers.format_claim_name, papers.list_claims())) == [
            "doe2030 D1",
            "roe2031 D1",
        ]
    twice = CLAIMS + CLAIMS.replace("claims:\n", "")
    root = write(tmp_path / "twice", claims=twice)
    with (
        pytest.raises(ConfigError, match=r"claims\.yaml: .*two claims have the id D1"),
        read_from(root),
    ):
        pass


def test_no_paper_is_named_in_the_python_code() -> None:
    package = Path(rfbench.__file__).parent
    names = re.compile("|".join(papers.list_papers()), re.IGNORECASE)
    found = [
        f"{path.relative_to(package)}: {line.strip()}"
        for path in sorted(package.rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if names.search(line)
    ]
    assert found == []
