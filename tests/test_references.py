"""What texts name exists: commands with their options, files, configurations and their runs.

Texts are those of pages, configurations, papers, templates, help, errors and comments. The lists of
changes name what was there once.
"""

import ast
import functools
import re
import shlex
import tokenize
from pathlib import Path

import click
import pytest

from rfbench import config, papers
from rfbench.cli import main

ROOT = Path(__file__).parents[1]
FILES = [
    file
    for pattern in (
        *("*.md", "configs/*", "data/*.md", "results/*.md", "results/papers/*.md", "scripts/**/*"),
        *("results/published/audits/*/audit.md", "rfbench/**/*"),
    )
    for file in sorted(ROOT.glob(pattern))
    if file.suffix in {".py", ".md", ".j2", ".yaml", ".txt"}
    and file.name not in {"CHANGELOG.md", "errata.md", "changed_claims.md", "changes.yaml"}
]
# Configurations of the reader's in examples, a file of numba's, and tests of other packages.
EXAMPLES = {"flats", "mine", "prices", "new", "higgs", "bench", ".numba_config"}
EXAMPLES |= {"test_kernel_approximation", "test_estimators"}
ACTING = {
    "--example",
    "--help",
    "--rules",
    "--version",
}  # options that act as soon as they are read
TOPS = ("configs", "rfbench", "scripts", "tests")


def read_texts(file):
    """Return what a file says, each text on one line; what is filled in is an X."""
    if file.suffix != ".py":
        filled = re.sub(r"\{\{.*?\}\}|\{%.*?%\}", "X", file.read_text(encoding="utf-8"))
        texts = [re.sub(r"\n\s*#", " ", filled)]
    else:
        with file.open("rb") as source:
            tokens = list(tokenize.tokenize(source.readline))
        texts = [" ".join(t.string.strip("# ") for t in tokens if t.type == tokenize.COMMENT)]
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            parts = node.values if isinstance(node, ast.JoinedStr) else [node]
            said = [part.value if isinstance(part, ast.Constant) else "X" for part in parts]
            texts += ["".join(map(str, said))] if isinstance(parts[0], ast.Constant) else []
    return [" ".join(text.split()) for text in texts]


@functools.cache
def read_all():
    """Return the texts of all files; the first test that needs them reads them."""
    return {str(file.relative_to(ROOT)): read_texts(file) for file in FILES}


def find_all(pattern):
    """Return what a pattern finds, each with the files that have it."""
    found = {}
    for name, texts in read_all().items():
        for text in texts:
            for each in re.findall(pattern, text):
                found.setdefault(each, set()).add(name)
    return found


def parse(command, words):
    """Parse words as the command would, without running it."""
    if not words and isinstance(command, click.Group):
        return
    with command.make_context(str(command.name), list(words)) as context:
        if isinstance(command, click.Group):
            found = command.get_command(context, words[0])
            assert found is not None, f"no command {words[0]}"
            parse(found, words[1:])


def is_command(line):
    """Whether the program takes a line; it may lack arguments, or have names in their place."""
    words = [word for word in shlex.split(line) if word not in ACTING]
    try:
        parse(main, words[: words.index("|")] if "|" in words else words)
    except (click.MissingParameter, click.BadOptionUsage):
        return True
    except click.BadParameter as error:
        return re.search(r"'\d*[A-Z]+'", error.message) is not None
    except (click.NoSuchOption, AssertionError):
        return False
    return True


def test_rfbench_commands_quoted_in_messages_are_valid():
    quoted = find_all(r"`rfbench ([a-z]+[^`]*)`") | find_all(r"\(rfbench ([a-z]+)[,)]")
    assert len(quoted) > 60
    assert not {line: files for line, files in quoted.items() if not is_command(line)}


@pytest.mark.parametrize(
    ("line", "taken"),
    [
        ("table results/x --columns r2", False),
        ("status", False),
        ("list nothing", False),
        ("report results --html", True),
        ("list WHAT", True),
        ("audit configs/liu2020_table3.yaml --gaps", True),
    ],
)
def test_wrong_command_is_detected(line, taken):
    assert is_command(line) == taken


def list_runs():
    """Return the names of shipped configurations and of their runs."""
    files = list((ROOT / "configs").glob("*.yaml"))
    every = (each for file in files for each in config.read_runs(file, [], allow_imports=True))
    return {file.stem for file in files} | {each.name for each in every}


def test_quoted_files_and_runs_exist():
    yaml_files = {file.name for top in TOPS for file in (ROOT / top).rglob("*.yaml")}
    runs = list_runs()
    beside = {file.name for file in (ROOT / "results" / "papers").glob("*.csv")}
    kinds = (
        (
            rf"(?<![\w/.~-])((?:{'|'.join(TOPS)}|results/published)/[\w./+-]*\w)",
            lambda name: (ROOT / name).exists(),
        ),
        (r"(?<![\w*./-])([\w.-]*\w\.yaml)\b", lambda name: name in yaml_files),
        (
            rf"(?<![\w+/])((?:{'|'.join(papers.list_papers())})_[\w.+-]*\w)",
            lambda name: name.removesuffix(".yaml") in runs or name in beside,
        ),
    )
    for pattern, is_there in kinds:
        named = find_all(pattern)
        assert len(named) > 20
        assert not {
            name: files
            for name, files in named.items()
            if not is_there(name)
            and not re.search("[A-Z]", name)  # a placeholder
            and Path(name).stem not in EXAMPLES
        }
