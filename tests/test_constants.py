"""Each numeric constant of the package says where its value comes from."""

import ast
import re
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import pytest

import rfbench

PACKAGE = Path(rfbench.__file__).parent
NAME = re.compile(r"_?[A-Z][A-Z0-9_]*")
# A source is a publication or the rule of other software, a measurement, a definition, or what
# happens if the value is doubled or halved.
SOURCE = re.compile(
    r"\b(?:1[89]|20)\d\d\b|\b(?:sections?|equations?|tables?|figures?|algorithms?|papers?|errata)\b"
    r"|scikit-learn|scipy|numpy|pandas|matplotlib|LaTeX|POSIX|csv module"
    r"|measured|recipe|by definition|doubl|halv|twice",
    re.IGNORECASE,
)


def names_of(statement: ast.stmt) -> list[str]:
    """Return the upper-case names that a statement assigns a value to."""
    targets = (
        statement.targets
        if isinstance(statement, ast.Assign)
        else [statement.target]
        if isinstance(statement, ast.AnnAssign) and statement.value
        else []
    )
    names = [
        node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)
    ]
    return names if all(map(NAME.fullmatch, names)) else []


def numbers_of(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the numbers in an expression, but those that pick a part of something else."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield node
    if not isinstance(node, ast.Subscript | ast.JoinedStr):
        for child in ast.iter_child_nodes(node):
            yield from numbers_of(child)


def is_comment(line: str) -> bool:
    return line.lstrip().startswith("#")


def list_unsourced(code: str) -> list[str]:
    """Return the numeric constants of a module or its classes whose comments have no source.

    The comment is above the constant, on its lines, or a string below it. That above several
    constants without a line between them serves the first, and the others that it names.
    """
    lines, unsourced = code.splitlines(), []
    for scope in ast.walk(ast.parse(code)):
        if not isinstance(scope, ast.Module | ast.ClassDef):
            continue
        group, end = "", 0  # of the statements so far: the comment that serves them, the last line
        for statement, following in zip(scope.body, [*scope.body[1:], None], strict=True):
            above = lines[: statement.lineno - 1][::-1]
            comment = "\n".join(takewhile(is_comment, above))
            group = comment or (group if statement.lineno == end + 1 else "")
            end = statement.end_lineno or 0
            own = [line.partition("  #")[2] for line in lines[statement.lineno - 1 : end]]
            if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
                own.append(str(following.value.value))
            names = names_of(statement)
            if comment or all(re.search(rf"\b{name}\b", group) for name in names):
                own.append(group)
            if names and any(numbers_of(statement)) and not SOURCE.search("\n".join(own)):
                unsourced.append(", ".join(names))
    return unsourced


@pytest.mark.parametrize(
    "file", sorted(PACKAGE.rglob("*.py")), ids=lambda f: str(f.relative_to(PACKAGE))
)
def test_numeric_constants_state_the_source_of_their_values(file: Path) -> None:
    assert list_unsourced(file.read_text()) == []


@pytest.mark.parametrize(
    "code",
    [
        "LIMIT = 3",
        "LIMIT = 3  # rows",
        "# Rows.\nLIMIT, SHARE = 2 * 5, [0.1]",
        "# Measured: .2 s.\nLIMIT = 3\nSHARE = 0.1",
        "# Measured: .2 s.\nLIMIT = 3\n\nSHARE = 0.1",
        "class Method:\n    LIMIT: float = 1e-3",
    ],
)
def test_constant_without_a_source_is_detected(code: str) -> None:
    assert list_unsourced(code) == [re.findall(r"[A-Z]+(?:, [A-Z]+)?(?=:| =)", code)[-1]]


@pytest.mark.parametrize(
    "code",
    [
        "# Measured: .2 s.\nLIMIT = 3",
        "LIMIT = 3  # doubled, it takes twice the memory",
        'LIMIT = 3\n"""Rows, see the paper, section 3."""',
        "# Measured: .2 s; SHARE is theirs.\nLIMIT = 3\nSHARE = 0.1",
        'NAMES = ("a", "b")\nFIRST = NAMES[0]',
    ],
)
def test_constant_with_a_source_is_accepted(code: str) -> None:
    assert list_unsourced(code) == []
