"""`choose` ends with a model, or with exit code 2 and a sentence of a complete list."""

import ast
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rfbench.choosing import choice as choosing
from rfbench.choosing.rounds import BOOSTING, CONSTANT, FEATURES, Rounds
from rfbench.datasets.columns import UNREAD
from tests.support.command_line import call
from tests.support.generated_tables import KINDS, generated, near_constant, rows_20
from tests.support.nightly import at_night

REFUSED = {
    "a target with one value": pd.DataFrame({"a": range(40), "y": [1.5] * 40}),
    "a target without a value": pd.DataFrame({"a": range(40), "y": ["?"] * 40}),
    "names as a target": pd.DataFrame({"a": range(40), "y": [f"n{i}" for i in range(40)]}),
    "two rows": pd.DataFrame({"a": range(2), "y": [0.5, 1.5]}),
    "a target with one class": pd.DataFrame({"a": range(40), "y": ["x"] * 40}),
    "a class that cannot be held out": pd.DataFrame({"a": range(40), "y": ["x"] * 39 + ["z"]}),
    "no usable column": pd.DataFrame({"a": [7] * 40, "y": np.arange(40) / 7}),
    "no column": pd.DataFrame({"y": np.arange(40) / 7}),
}


def test_duplicate_column_name_is_rejected_with_positions(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("a,y,a\n" + "".join(f"{i},{i / 7},{i}\n" for i in range(40)))
    output = call("choose", "t.csv", "--target", "y", "--budget", "5s", code=2)
    assert "columns 1 and 3" in output


@pytest.mark.parametrize("what", REFUSED)
def test_unsuitable_table_is_rejected_with_one_sentence(what, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    REFUSED[what].to_csv("t.csv", index=False)
    output = call("choose", "t.csv", "--target", "y", "--budget", "5s", "--jobs", 1, code=2)
    assert output.splitlines()[-1].strip()
    assert "error:" in output
    assert not Path("results").exists() or not list(Path("results").rglob("model.json"))


N = 48
A = np.random.default_rng(0).standard_normal(N).round(3)
Q = (2 * A + 10).round(3)
DAYS = pd.Timestamp("2024-01-05") + pd.to_timedelta((Q * 30).astype(int), "D")
THIRD, TENTH = np.arange(N) % 3 == 0, np.arange(N) % 24 == 0


def frame(y, **more):
    return pd.DataFrame({"a": A, **more, "y": y}).to_csv(index=False)


def lines(form, head="a;y"):
    return f"{head}\n" + "".join(form.format(i=i, a=900 + 7 * i) + "\n" for i in range(N))


# What a file holds, the first line, whether there are classes, and the rows with a target.
TAKEN = {
    "dates": (
        frame(DAYS.strftime("%d.%m.%Y")),
        "Target y: dates, the day first, read as a quantity in days since 2000-01-01 (--task c",
        0,
        N,
    ),
    "dates and a word": (
        frame(np.where(TENTH, "soon", DAYS.strftime("%Y-%m-%d"))),
        "Target y: dates, read as a quantity in days since 2000-01-01 (--task classification",
        0,
        N - 2,
    ),
    "a few words among numbers": (
        frame(np.where(TENTH, "late", (A > 0).astype(int).astype(str))),
        "Target y: 46 numbers and 2 other strings, read as numbers and gaps (--task",
        2,
        N - 2,
    ),
    "words among a quantity": (
        frame(np.where(THIRD, "late", Q.astype(str))),
        "Target y: 32 numbers and 16 other strings, read as numbers and gaps (--task",
        0,
        N - 16,
    ),
    "words among codes": (
        frame(np.where(THIRD, "late", (A > 0).astype(int).astype(str))),
        "Target y: 32 numbers and 16 other strings, read as classes (--task regression",
        3,
        N,
    ),
    "infinite numbers": (frame(np.where(TENTH, -np.inf, Q)), "", 0, N - 2),
    "n/a among numbers": (frame(np.where(TENTH, "n/a", Q.astype(str))), "", 0, N - 2),
    "a word among numbers with a unit": (
        frame([f"{q} kg" if q != Q[5] else "heavy" for q in Q]),
        "Target y: 47 numbers and 1 other strings, read as numbers and gaps (--task",
        0,
        N - 1,
    ),
    "many labels": (
        frame([f"n{i // 3}" for i in range(N)]),
        "",
        16,
        N,
    ),
    "nine rows": (
        pd.DataFrame({"a": A[:9], "y": Q[:9]}).to_csv(index=False),
        "Only 9 rows have a target. This is too few for a test, and the errors are unreliable.",
        0,
        9,
    ),
    "six rows of two classes": (
        "a,y\n1,u\n2,v\n3,u\n4,v\n5,u\n6,v\n",
        "Only 6 rows have a target",
        2,
        6,
    ),
    "classes one after the other in time": (
        frame(np.where(np.arange(N) < 24, "u", "v"), day=pd.date_range("2024-01-01", periods=N)),
        "",
        2,
        N,
    ),
    "marks of unknown meaning, with smaller numbers": (
        lines("{i};{a}").replace(";1", ";1,"),
        "Numbers like 1,234, read as 1234 (--decimal ',' for 1.234).",
        0,
        N,
    ),
    "marks of unknown meaning": (
        lines("5,{i:03};{a}"),
        "Numbers like 1,234, read as 1.234 (--decimal '.' for 1234).",
        0,
        N,
    ),
    "no names": (
        frame(Q).partition("\n")[2],
        "The first line, which contains numbers, read as a row "
        "(--header if the line contains names).",
        0,
        N,
    ),
    "years as names": (frame(Q).replace("a,y", "2010,2011"), "", 0, N),
}
TARGETS = {"no names": 1, "years as names": 2011}


@pytest.mark.parametrize("what", TAKEN)
def test_assumptions_about_a_table_are_reported(what, tmp_path, monkeypatch):
    """The first line, the card and the page have the assumption; `predict` reads a new file."""
    monkeypatch.chdir(tmp_path)
    content, first, n_classes, rows = TAKEN[what]
    Path("t.csv").write_text(content)
    target = TARGETS.get(what, "y")
    words = ("--target", target, "--budget", "1ms", "--jobs", 1, "--out", "o")
    output = call("choose", "t.csv", *words)
    card = json.loads(Path("o/model.json").read_text())
    assert output.startswith(first)
    assert card["assumed"].startswith(first)
    assert bool(card["assumed"]) == bool(first)
    assert not first or " ".join(output.split()).count(first) == 2
    assert (len(card["classes"]), card["rows"]) == (n_classes, rows)
    call("predict", "o/model.joblib", "t.csv", "--out", "p.csv")
    made = pd.read_csv("p.csv")["prediction"]
    assert len(made) == content.count("\n") - (what != "no names")
    if what == "dates":
        assert made.str.fullmatch(r"20\d\d-\d\d-\d\d").all()
        days = pd.to_datetime(made) - pd.Series(DAYS)
        assert days.abs().max() < pd.Timedelta(days=3)
    said = " ".join(card["notes"])
    for word, found in {"late": (2, 16), "heavy": (1,), "soon": (2,), "-inf": (2,)}.items():
        if rows < N and word in content:
            assert any(f"{UNREAD}{word} ({n})" in said for n in found)
    if what == "classes one after the other in time":
        assert not card["in_time"]
        assert "does not leave enough rows for training and testing" in said
    if what == "marks of unknown meaning, with smaller numbers":
        assert made.max() > 1000


def test_column_of_lists_is_left_out_with_a_note(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = pd.DataFrame({"a": A, "tags": [["x", "y"]] * N, "y": Q})
    table.to_parquet("t.parquet")
    call("choose", "t.parquet", "--target", "y", "--budget", "1ms", "--jobs", 1, "--out", "o")
    card = json.loads(Path("o/model.json").read_text())
    assert card["columns"] == ["a"]
    assert "These columns contain lists or bytes and are left out: tags." in " ".join(card["notes"])
    assert "tags" not in call("predict", "o/model.joblib", "t.parquet", "--out", "p.csv")


# Every error that a table can reach, by its first words in the source, and what it is.
ERRORS = {
    "a table that is refused": [
        "choosing/table.py: {} has only {} rows with a target.",  # of a regression
        "choosing/table.py: {}: fewer than two classes have rows in both parts of every",
        "datasets/columns.py: {} is constant.",
        "datasets/preparation.py: No column remains from which a model could learn.",
        "datasets/values.py: {} has two columns '{}': columns {} and {}.",
    ],
    "no table": [
        "datasets/archives.py: The archive contains {} files instead of one",
        "datasets/archives.py: {} cannot be read.",
        "datasets/archives.py: '{}'",  # is larger than what may be unpacked
        "datasets/arff.py: Attribute {} has the type {}, which is not supported",
        "datasets/arff.py: The file does not have a line @attribute, or a line @data",
        "datasets/arff.py: Line {} has {} values for {} attributes",
        "datasets/arff.py: Line {} is sparse, {0 1.5, ...}, which is not supported",
        "datasets/arff.py: Line {} does not name an attribute with a type: {}",
        "datasets/arff.py: Line {} of the header is not valid: {}",
        "datasets/arff.py: {} has the value {}, which is not one of its declared values",
        "datasets/columns.py: X of {} has the shape {} and the type {}.",
        "datasets/columns.py: y of {} has the shape {}, but X has {} rows.",
        "datasets/files.py: A column has the number 0, but columns are numbered from 1",
        "datasets/files.py: The file contains the arrays {}, but X and y are required",
        "datasets/files.py: {} cannot be read.",
        "datasets/files.py: {} has only one column, {}.",
        "datasets/files.py: {} is empty.",
    ],
    "an option, or a file to predict, that does not fit": [
        "choosing/choice.py: metric of {}",
        "choosing/table.py: Column {} of {} is read differently than in training.",
        "choosing/table.py: Both --groups and --time were given.",
        "choosing/table.py: The rows cannot be split by groups.",
        "choosing/table.py: The rows cannot be split by time.",
        "choosing/table.py: {} has no rows.",
        "choosing/table.py: {} has no column of the model.",
        "datasets/columns.py: The target column of {} is not named.",
        "datasets/columns.py: The data of {} have a separate target, but the key `target` is",
        "datasets/columns.py: The {} and the {} of {} are both '{}'.",
        "datasets/columns.py: {} has no column '{}'.{}",
        "datasets/columns.py: {} contains strings, such as {}.",  # --task regression
        "datasets/columns.py: {} is sparse, so its columns have no names.",  # drop, groups
        "datasets/files.py: The first line of {} contains names, but the training file",
        "datasets/files.py: There is no file {}.{}",
        "datasets/files.py: {} has {} columns, which is a different number than in training.",
        "datasets/files.py: {} is a folder.",
        # The column of --time.
        "datasets/values.py: The column '{}' contains neither dates nor numbers. One value is {}.",
    ],
    "no model within the budget, with the messages of all candidates": [
        "choosing/choice.py: No model could be fitted on all rows.",
        "choosing/choice.py: No model was measured within {} s, not even the constant prediction.",
    ],
    "a folder that is in use": [
        "choosing/workplace.py: Another `rfbench choose` is using {}.",
        "choosing/workplace.py: {} contains {}, but not the file {} of `rfbench choose`.",
        "choosing/workplace.py: {} is not a folder.",
    ],
    "a run alone: it does not guess, and tables for `choose` are never sparse": [
        "datasets/archives.py: {} contains {} files named '{}' instead of {}.",
        "datasets/columns.py: All columns of {} are constant.",
        "datasets/columns.py: Column '{}' of {} does not define the training and the test rows.",
        "datasets/columns.py: {} has values that are not finite.",
        "datasets/columns.py: {} has {} rows and {} feature columns.",
        "datasets/columns.py: {}: {}",
    ],
}
ROOM = Path(choosing.__file__).parents[1]
SOURCES = [
    *(f"choosing/{name}.py" for name in ("choice", "table", "workplace")),
    *(f"datasets/{name}.py" for name in ("archives", "arff", "cells", "columns", "files")),
    *(f"datasets/{name}.py" for name in ("preparation", "scaling", "values")),
]


def texts(node, function):
    """Return an error's first argument with {} for values; a name is what was assigned to it."""
    match node:
        case ast.Constant(str(text)):
            return text
        case ast.JoinedStr(parts):
            return "".join(p.value if isinstance(p, ast.Constant) else "{}" for p in parts)
        case ast.IfExp(body=body):
            return texts(body, function)
        case ast.Name(name):
            for each in ast.walk(function):
                if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == name:
                    return texts(each.value, function)
    return ""


def raised():
    """Return the texts of all errors in the modules that a table goes through."""
    for source in SOURCES:
        tree = ast.parse((ROOM / source).read_text())
        functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
        for function in functions:
            for each in ast.walk(function):
                match each:
                    case ast.Raise(exc=ast.Call(args=[first, *_])):
                        if text := texts(first, function):
                            yield f"{source}: {text}"


def test_each_error_message_about_tables_is_covered_by_a_test_case():
    listed, found = [text for texts in ERRORS.values() for text in texts], {*raised()}
    assert [text for text in sorted(found) if not text.startswith(tuple(listed))] == []
    assert [text for text in listed if not any(each.startswith(text) for each in found)] == []


@pytest.mark.parametrize(
    "kind",
    [near_constant, rows_20, *at_night(*(KINDS[i] for i in (0, 1, 4, 5)))],
    ids=lambda kind: kind.__name__,
)
def test_each_kind_of_generated_table_gets_a_model_and_predictions(
    kind, short, tmp_path, monkeypatch
):
    """Six of the generated tables through the command, from the file to the predictions."""
    monkeypatch.chdir(tmp_path)
    X, y = generated(kind, 3 + KINDS.index(kind) % 2 * 2)
    X.assign(target=y).to_csv("t.csv", index=False)
    call("choose", "t.csv", "--target", "target", "--budget", "20s", "--jobs", 1, "--out", "o")
    card = json.loads(Path("o/model.json").read_text())
    assert card["take"]["label"]
    # A kernel has no bandwidth by a rule if most rows are equal, which the card names.
    assert all("most rows are equal" in text for text in card["failed"].values())
    call("predict", "o/model.joblib", "t.csv", "--out", "p.csv", "--allow-imports")
    assert len(pd.read_csv("p.csv")) == len(X)


@pytest.mark.parametrize(
    ("words", "n_classes", "line"),
    [
        ((), 4, "Target y: 4 different whole numbers, read as classes (--task regression for a"),
        (("--task", "regression"), 0, "0 s: the mean"),
        (("--task", "classification"), 4, "0 s: the majority class"),
    ],
)
def test_output_reports_that_an_integer_target_is_read_as_classes(
    words, n_classes, line, short, tmp_path, monkeypatch
):
    """The page and the card have the sentence, too."""
    monkeypatch.chdir(tmp_path)
    a = np.random.default_rng(0).standard_normal(120)
    pd.DataFrame({"a": a, "y": np.digitize(a, [-1, 0, 1])}).to_csv("t.csv", index=False)
    output = call(
        "choose", "t.csv", "--target", "y", "--budget", "0.01s", "--jobs", 1, "--out", "o", *words
    )
    card = json.loads(Path("o/model.json").read_text())
    assert len(card["classes"]) == n_classes
    first = re.sub(r"^\d+ s:", "0 s:", output)
    assert first.startswith(line)
    assert bool(card["assumed"]) == (not words)
    assert " ".join(output.split()).count("read as classes") == 2 * (not words)


def table(n=150):
    random = np.random.default_rng(0)
    X = random.standard_normal((n, 3))
    return X, X[:, 0] + 0.1 * random.standard_normal(n)


def test_failing_candidate_is_reported_and_the_others_continue(short, tmp_path, monkeypatch):
    real = Rounds._candidate

    def broken(self, setting, parts, rows):
        if setting.family == BOOSTING:
            raise ValueError("boosting is broken\nhere")
        return real(self, setting, parts, rows)

    monkeypatch.setattr(Rounds, "_candidate", broken)
    found = choosing.choose(*table(), budget=60.0, out=tmp_path / "o", n_jobs=1)
    assert found.card["failed"] == {"boosting": "boosting is broken\\nhere"}
    assert {c["family"] for c in found.card["contenders"]} >= {CONSTANT, FEATURES}


def test_next_best_model_is_saved_if_the_final_fit_fails(short, tmp_path, monkeypatch):
    real, broken = choosing.fit_on_all_rows, []

    def last_fit(rounds, taken, end):
        if not broken:
            broken.append(taken.label)
            raise ValueError("no memory for it")
        return real(rounds, taken, end)

    monkeypatch.setattr(choosing, "fit_on_all_rows", last_fit)
    found = choosing.choose(*table(), budget=60.0, out=tmp_path / "o", n_jobs=1)
    assert found.card["failed"] == {broken[0]: "no memory for it"}
    assert found.card["take"]["label"] != broken[0]
    assert (tmp_path / "o" / "model.joblib").exists()


def test_exhausted_time_budget_is_reported_in_the_first_output_line(short, tmp_path, monkeypatch):
    """Nobody knows if something can be learnt: the other models had no time."""
    random = np.random.default_rng(0)
    noise = random.standard_normal((60, 2)), random.standard_normal(60)
    real = Rounds.run

    def run(self):
        real(self)
        self.stopped = True

    monkeypatch.setattr(Rounds, "run", run)
    found = choosing.choose(*noise, budget=60.0, out=tmp_path / "o", n_jobs=1)
    assert found.card["take"]["family"] == CONSTANT
    assert (found.card["no_time"], found.card["nothing_learnt"]) == (True, False)
    from rfbench.pages.templates import render_template

    text = render_template("choosing/choose.txt.j2", choice=found.card, folder=found.folder)
    assert text.startswith("THERE WAS NO TIME: ")
    assert "NOTHING WAS LEARNED" not in text
