"""A paper is a folder: an invented one works everywhere, and a broken one is named."""

import csv
import io
import re
from pathlib import Path

import pytest

import rfbench
from rfbench import papers
from rfbench.analysis.verification import verify
from rfbench.errors import ConfigError
from rfbench.pages import claims, front
from tests.support.command_line import call
from tests.support.frames import results, verification
from tests.support.papers import read_from

pytestmark = pytest.mark.usefixtures("no_pictures")
PAPER = """\
title: Two Numbers and One Claim
authors: [Jane Doe, Richard Q. Roe]
venue: JOKE
year: 2030
about: an invented paper
datasets:
  Digits: {dataset: digits, n_train: 1258, n_test: 539}
methods: {rks: RKS}
measured_as: {t_total: t_all}
tables:
  table7:
    caption: [Errors of an invented paper]
    facts: [n, trials]
    columns:
      - {head: RKS error (%), method: rks, metrics: [error]}
      - {head: RKS time (s), method: rks, metrics: [t_total]}
doubts:
  - {item: table7, text: Nobody has seen this paper.}
"""
PUBLISHED = """\
item,dataset,method,M,metric,value,spread,spread_kind,unit,mark,note
table7,Digits,rks,40,error,99.5,0.5,se,%,,
table7,Digits,rks,40,t_total,12.5,,,s,,
"""
CLAIMS = """\
claims:
  - id: D1
    where: Table 7
    claim: "Less than nine tenths of the digits are taken for others."
    source: invented
    parts:
      - says: error below 90
        items: [table7]
        datasets: [Digits]
        metric: error
        method: rks
        at: each
        high: 90
"""
CHOICES = """\
all: {scaling: [none, standard]}
table7/Digits: {feature_map: [offset, paired]}
"""
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
FILES = {
    "paper.yaml": PAPER,
    "published.csv": PUBLISHED,
    "claims.yaml": CLAIMS,
    "open_choices.yaml": CHOICES,
}


def write(root: Path, name: str = "doe2030", **changes: str) -> Path:
    """Write a paper's folder; `changes` are other contents by the stem of the file."""
    folder = root / name
    folder.mkdir(parents=True)
    for file, text in FILES.items():
        (folder / file).write_text(changes.get(file.partition(".")[0], text))
    return root


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_a_folder_and_a_configuration_are_all_that_a_paper_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("doe2030_table7_digits.printed.yaml").write_text(CONFIG)
    shipped = papers.papers()
    with read_from(write(tmp_path / "papers")):
        assert papers.papers() == ["doe2030"]
        assert papers.paper("doe2030").citation == "Doe & Roe, JOKE 2030"
        call("run", "doe2030_table7_digits.printed.yaml", "--jobs", "1")

        numbers = rows(call("verify", "results", "--protocol", "printed", "--format", "csv"))
        assert [(n["metric"], n["published"]) for n in numbers] == [
            ("error", "99.5"),
            ("t_total", "12.5"),
        ]
        assert [n["trials"] for n in numbers] == ["6", "6"]
        assert 0 < float(numbers[0]["measured"]) < 90
        assert (numbers[0]["verdict"], numbers[1]["verdict"]) == ("differs", "not judged")

        (claim,) = rows(call("verify", "results", "--claims", "--format", "csv"))
        assert {claim["verdict"]} == {"holds"}

        table = call("table", "results", "--paper", "doe2030", "--item", "table7")
        assert f"{float(numbers[0]['measured']):.2f}" in table
        assert "1258" in table

        call("report", "results", "--out", "pages")
        assert "Doe & Roe, JOKE 2030" in Path("pages/README.md").read_text().replace("\\", "")
        assert "doe2030  table7" in call("list", "papers")
    assert papers.papers() == shipped


def test_a_folder_that_cannot_be_read_is_named_before_the_trials_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable() -> list[str]:
        raise ConfigError("doe2030/paper.yaml cannot be read.")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(papers, "papers", unreadable)
    Path("doe2030.yaml").write_text(CONFIG)
    assert "doe2030/paper.yaml" in call("run", "doe2030.yaml", code=2)
    assert not Path("results").exists()
    Path("own.yaml").write_text(CONFIG.replace("paper: doe2030\nitem: table7\n", ""))
    call("run", "own.yaml", "--smoke", "--jobs", "1")


def test_open_choices_are_named_by_their_place(tmp_path: Path) -> None:
    from rfbench.audit import choices, target

    with read_from(write(tmp_path)):
        known = choices.known(target.find("doe2030/table7/Digits"))
    assert {name: list(options) for name, options in known.items()} == {
        "scaling": ["none", "standard"],
        "feature_map": ["offset", "paired"],
    }


def test_what_is_disputed_is_shown_and_counted_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("doe2030_table7_digits.printed.yaml").write_text(CONFIG)
    first, second, _ = PUBLISHED.replace("note", "note,disputed").splitlines()
    contested = write(
        tmp_path / "papers",
        published=f"{first}\n{second},Roe: a misprint\n",
        paper=PAPER.replace(
            "time (s), method: rks, metrics: [t_total]", "M, method: rks, metrics: [size]"
        ),
        claims=CLAIMS.replace("source:", "disputed: Doe means letters\n    source:"),
    )
    (contested / "doe2030" / "answer.md").write_text("2031-02-03, Jane Doe\n\nWe *meant*\n99.4.\n")
    with read_from(contested):
        said = papers.answer("doe2030")
        assert said is not None
        assert (str(said.date), said.by, said.text) == (
            "2031-02-03",
            "Jane Doe",
            "We *meant*\n99.4.",
        )
        call("run", "doe2030_table7_digits.printed.yaml", "--jobs", "1")
        found = verify(["results"])
        (number,) = found.own[found.own["protocol"] == "printed"].itertuples()
        assert (number.verdict, number.trials, number.disputed) == (
            "disputed",
            6,
            "Roe: a misprint",
        )
        (claim,) = found.outcomes
        assert (claim.verdict, len(claim.comparisons)) == ("disputed", 1)
        counted = front.summary(found)
        assert (counted.compared, counted.tested) == (0, 0)
        assert dict(counted.by_number.loc["printed"])["disputed"] == 1
        assert dict(counted.by_claim.loc["printed"]) == {
            **dict.fromkeys(counted.by_claim, 0),
            "disputed": 1,
        }
        assert not found.contradicted
        assert not claims.needs(found.outcomes).rows

        call("report", "results", "--out", "pages")
        call("report", "results", "--html", "page.html")
        assert "> We *meant*\n  > 99.4." in Path("pages/README.md").read_text()
        assert "Roe: a misprint" in Path("pages/scoreboard.md").read_text()
        assert "Doe means letters" in Path("pages/claims.md").read_text()
        html = Path("page.html").read_text()
        assert all(text in html for text in ("2031-02-03", "Roe: a misprint", "Doe means letters"))


@pytest.mark.parametrize("text", ["We meant 99.4.", "2031-02-03\n\nWe", "2031-02-03, Jane Doe\n"])
def test_an_answer_says_when_who_and_what(tmp_path: Path, text: str) -> None:
    write(tmp_path)
    (tmp_path / "doe2030" / "answer.md").write_text(text)
    with pytest.raises(ConfigError, match=r"doe2030/answer\.md"), read_from(tmp_path):
        pass


def test_only_paper_yaml_is_needed_and_the_newest_is_first(tmp_path: Path) -> None:
    short = PAPER.partition("tables:")[0].replace("2030", "2031")
    (write(tmp_path) / "new2031").mkdir()
    (tmp_path / "new2031" / "paper.yaml").write_text(short)
    (tmp_path / "no_paper").mkdir()
    with read_from(tmp_path):
        assert papers.papers() == ["new2031", "doe2030"]
        assert {number.paper for number in papers.published()} == {"doe2030"}


@pytest.mark.parametrize(
    ("file", "old", "new", "place"),
    [
        ("paper", "year: 2030", "year: soon", r"doe2030/paper.yaml, line 4\b.*year"),
        ("paper", "facts: [n, trials]", "fact: [n]", r"doe2030/paper.yaml, line 13\b.*fact"),
        ("paper", "venue: JOKE", "year: 2030", r"doe2030/paper.yaml, line 4\b.*year"),
        ("paper", "t_total]}", "t_test]}", r"doe2030/paper.yaml: .*t_test of rks"),
        ("published", "99.5", "many", r"doe2030/published.csv, line 2\b.*value"),
        ("published", "12.5,,", "12.5,,,", r"doe2030/published.csv, line 3\b"),
        ("published", "Digits,rks,40,error", "Letters,rks,40,error", r"published.csv: .*Letters"),
        ("claims", "at: each", "at: some", r"doe2030/claims.yaml, line 12\b.*at"),
        ("claims", "[Digits]", "[Letters]", r"doe2030/claims.yaml: .*Letters"),
        ("claims", "claims:", "answer: x\nclaims:", r"claims.yaml, line 1\b.*no key answer"),
        ("open_choices", "all:", "all", r"doe2030/open_choices.yaml, line 1\b"),
        ("open_choices", "[offset, paired]", "offset", r"doe2030/open_choices.yaml, line 2\b"),
        ("paper", "- {item", "- {paper: roe2031, item", r"doe2030/paper.yaml, line \d+: .*roe2031"),
        ("paper", "year:", "name: roe2031\nyear:", r"doe2030/paper.yaml, line \d+: .*roe2031"),
        (
            "claims",
            "where:",
            "paper: roe2031\n    where:",
            r"doe2030/claims.yaml, line \d+: .*roe2031",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_file(
    tmp_path: Path, file: str, old: str, new: str, place: str
) -> None:
    text = next(text for name, text in FILES.items() if name.startswith(f"{file}."))
    root = write(tmp_path, **{file: text.replace(old, new, 1)})
    with pytest.raises(ConfigError, match=place), read_from(root):
        pass


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("at: each", "at: own", "says `at: own`"),
        ("metric: error", "metric: errors", "no metric errors. Did you mean 'error'"),
    ],
)
def test_what_a_claim_asks_for_and_nothing_has_is_named(
    tmp_path: Path, old: str, new: str, sentence: str
) -> None:
    row = {"protocol": "printed", "n_train": 1258, "n_test": 539, "M": 40}
    measured = results([row], paper="doe2030", item="table7")
    root = write(tmp_path, claims=CLAIMS.replace(old, new))
    with read_from(root), pytest.raises(ConfigError, match=sentence):
        verification(measured)


def test_a_csv_in_another_encoding_is_named(tmp_path: Path) -> None:
    write(tmp_path)
    file = tmp_path / "doe2030" / "published.csv"
    file.write_bytes(b"\xef\xbb\xbf" + PUBLISHED.replace("\n", "\r\n").encode())
    with read_from(tmp_path):  # as a spreadsheet saves it
        assert [number.value for number in papers.published()] == [99.5, 12.5]
    file.write_bytes(PUBLISHED.encode() + "table7,é".encode("latin-1"))
    with pytest.raises(ConfigError, match=r"doe2030/published\.csv"), read_from(tmp_path):
        pass


def test_an_id_stands_for_one_claim(tmp_path: Path) -> None:
    write(tmp_path)
    with pytest.raises(ConfigError, match="D1"), read_from(write(tmp_path, "roe2031")):
        pass


def test_no_name_of_a_paper_stands_in_python() -> None:
    package = Path(rfbench.__file__).parent
    names = re.compile("|".join(papers.papers()), re.IGNORECASE)
    found = [
        f"{path.relative_to(package)}: {line.strip()}"
        for path in sorted(package.rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if names.search(line)
    ]
    assert found == []
