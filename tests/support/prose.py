"""The prose of the project by kind of text, and the patterns of tests/plain_english.yaml in it.

``python -m tests.support.prose`` prints each match with its place, `--pattern` and `--below` narrow
the list. Matches in files that differ from the newest commit come first.
``python -m tests.support.prose --write`` lowers the ceilings in tests/plain_english_counts.json to
the current counts; it never raises one.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
PATTERNS = ROOT / "tests" / "plain_english.yaml"
COUNTS = ROOT / "tests" / "plain_english_counts.json"
KINDS = ("docstrings", "comments", "messages", "templates", "pages")
PAGES = ("*.md", "configs/*.md", "data/*.md", "scripts/*.md", "rfbench/**/README.md")
NOT_PROSE = re.compile(r"# ?(?:fmt:|type: ignore|noqa|pragma:)")
# The share of the first counts that is the ceiling of a pattern.
SHARE = 4


@dataclass(frozen=True)
class Text:
    """A piece of prose: a docstring, a comment, a message or a paragraph."""

    kind: str
    file: str
    line: int
    text: str


@dataclass(frozen=True)
class Match:
    """A pattern in a piece of prose."""

    pattern: str
    kind: str
    place: str
    text: str


def join_lines(text: str) -> str:
    """Return a text whose paragraphs, list items and heads of parameters are one line each.

    Code in backticks is replaced, because its names are not prose.
    """
    text = re.sub(r"(`+)[^`]+\1", r"\1x\1", text)
    text = re.sub(r"^ *-{3,} *$", "", text, flags=re.M)
    text = re.sub(r"^( *\*{0,2}\w[\w, ]* : .*)$", r"\n\1\n", text, flags=re.M)
    text = re.sub(r"^( *- )", r"\n\1", text, flags=re.M)
    return "\n".join(" ".join(part.split()) for part in re.split(r"\n\s*\n", text) if part.strip())


def read_string(node: ast.AST) -> str | None:
    """Return the text of a string or an f-string, with ``{}`` for each value."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(read_string(part) or "{}" for part in node.values)
    return None


def read_module(code: str, file: str) -> Iterator[Text]:
    """Yield the docstrings, the strings of four words and more, and the comments of a module."""
    tree = ast.parse(code)
    seen = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and (text := read_string(node.value)):
            seen.add(node.value)
            yield Text("docstrings", file, node.lineno, join_lines(text))
        elif isinstance(node, ast.JoinedStr):
            seen.update(node.values)
    for node in ast.walk(tree):
        text = None if node in seen else read_string(node)
        if text and len(text.split()) >= 4:
            yield Text("messages", file, getattr(node, "lineno", 0), join_lines(text))
    lines: list[str] = []
    last = joinable = 0
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type != tokenize.COMMENT or NOT_PROSE.match(token.string):
            continue
        own_line = not token.line[: token.start[1]].strip()
        if lines and not (own_line and token.start[0] == joinable):
            yield Text("comments", file, last, join_lines("\n".join(lines)))
            lines = []
        lines.append(token.string.lstrip("# "))
        last = token.start[0]
        # A comment after code ends on its line; comments on their own lines are one text.
        joinable = last + 1 if own_line else 0
    if lines:
        yield Text("comments", file, last, join_lines("\n".join(lines)))


def read_paragraphs(text: str, kind: str, file: str) -> Iterator[Text]:
    """Yield the paragraphs and the list items of Markdown, without blocks of code."""
    text = re.sub(r"^```.*?^```", lambda m: "\n" * m[0].count("\n"), text, flags=re.M | re.S)
    text = re.sub(r"^(?: {4}|\t).*$", "", text, flags=re.M)
    line = 1
    for part in re.split(r"(\n\s*\n|\n(?=\s*(?:[-*|]|\d+\.)\s))", text):
        if part.strip():
            yield Text(kind, file, line, " ".join(join_lines(part).split()))
        line += part.count("\n")


def keep_comments(text: str) -> str:
    """Return the comments of YAML on their lines, a comment after a key as an item of a list."""
    lines = [line.partition("# ") for line in text.split("\n")]
    return "\n".join(f"- {said}" if key.strip() and said else said for key, _, said in lines)


def read_template(text: str, file: str) -> Iterator[Text]:
    """Yield the paragraphs of a template, with ``{}`` for each value and without statements.

    Tags of HTML and the keys of YAML are code.
    """
    text = re.sub(r"\{#.*?#\}|\{%.*?%\}", lambda m: "\n" * m[0].count("\n"), text, flags=re.S)
    text = re.sub(r"\{\{.*?\}\}", lambda m: "{}" + "\n" * m[0].count("\n"), text, flags=re.S)
    if file.endswith(".html.j2"):
        text = re.sub(r"<[^>]*>", lambda m: "\n" * m[0].count("\n"), text)
    if file.endswith(".yaml.j2"):
        text = keep_comments(text)
    yield from read_paragraphs(text, "templates", file)


def read_project(root: Path = ROOT) -> Iterator[Text]:
    """Yield the prose of the package, its templates and the pages that are written by hand."""
    for path in sorted((root / "rfbench").rglob("*.py")):
        yield from read_module(path.read_text(encoding="utf-8"), str(path.relative_to(root)))
    for path in sorted((root / "rfbench").rglob("*.j2")):
        yield from read_template(path.read_text(encoding="utf-8"), str(path.relative_to(root)))
    for path in sorted({path for pattern in PAGES for path in root.glob(pattern)}):
        if path.name != "CHANGELOG.md":
            text = path.read_text(encoding="utf-8")
            yield from read_paragraphs(text, "pages", str(path.relative_to(root)))


@cache
def read_patterns() -> dict[str, Any]:
    """Return the content of tests/plain_english.yaml, with compiled expressions."""
    content: dict[str, Any] = yaml.safe_load(PATTERNS.read_text(encoding="utf-8"))
    for name, entry in content["patterns"].items():
        entry["compiled"] = re.compile(entry["expression"].replace("\n", ""))
        entry["right"] = [use["phrase"] for use in content["right"] if use["pattern"] == name]
    return content


def find_matches(text: Text) -> Iterator[Match]:
    """Yield the matches of all patterns in a piece of prose, without the reviewed right uses."""
    for name, entry in read_patterns()["patterns"].items():
        if text.kind not in entry.get("kinds", KINDS):
            continue
        for found in entry["compiled"].finditer(text.text):
            right = (re.finditer(re.escape(phrase), text.text) for phrase in entry["right"])
            spans = [m.span() for uses in right for m in uses]
            if not any(first <= found.start() < last for first, last in spans):
                place = f"{text.file}:{text.line}"
                around = text.text[max(0, found.start() - 40) : found.end() + 40]
                yield Match(name, text.kind, place, around.replace("\n", " "))


def count_matches(matches: list[Match]) -> dict[str, dict[str, int]]:
    """Return the number of matches per pattern and kind of text."""
    counts = {name: dict.fromkeys(KINDS, 0) for name in read_patterns()["patterns"]}
    for match in matches:
        counts[match.pattern][match.kind] += 1
    return counts


def read_counts() -> dict[str, Any]:
    """Return the first counts, their date and the ceilings."""
    counts: dict[str, Any] = json.loads(COUNTS.read_text(encoding="utf-8"))
    return counts


def highest_ceiling(pattern: str, first: int) -> int:
    """Return the highest ceiling that a pattern may have with a first count."""
    fixed: int | None = read_patterns()["patterns"][pattern].get("ceiling")
    return first // SHARE if fixed is None else fixed


def find_changed_files() -> set[str]:
    """Return the files that differ from the newest commit; without git, the set is empty."""
    command = ["git", "status", "--porcelain", "--no-renames", "--untracked-files=all"]
    try:
        said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:
        return set()
    return {line[3:] for line in said.stdout.splitlines()}


def sort_changed_first(matches: Iterable[Match], changed: Set[str]) -> list[Match]:
    """Return the matches with those in changed files first; otherwise the order is kept."""
    return sorted(matches, key=lambda match: match.place.partition(":")[0] not in changed)


def main() -> None:
    """Print the matches and the counts above their ceilings, or lower the ceilings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="lower the ceilings to the counts")
    parser.add_argument("--pattern", help="print the matches of this pattern only")
    parser.add_argument("--below", default="", help="print the matches in files below this folder")
    asked = parser.parse_args()
    found = (match for text in read_project() for match in find_matches(text))
    matches = sort_changed_first(found, find_changed_files())
    counts, stored = count_matches(matches), read_counts()
    if asked.write:
        for name, kinds in stored["ceilings"].items():
            for kind in kinds:
                kinds[kind] = min(kinds[kind], counts[name][kind])
        COUNTS.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
        return
    lines = [
        f"{match.place}: {match.kind}: {match.pattern}: {match.text}"
        for match in matches
        if asked.pattern in (None, match.pattern) and match.place.startswith(asked.below)
    ]
    for name, kinds in stored["ceilings"].items():
        for kind, ceiling in kinds.items():
            if counts[name][kind] > ceiling:
                lines.append(f"{name}, {kind}: {counts[name][kind]} for a ceiling of {ceiling}")
    sys.stdout.write("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    main()
