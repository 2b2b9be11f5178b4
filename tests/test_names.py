"""One name has one meaning: constants, functions of several modules, and words that names avoid."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import rfbench

ROOT = Path(rfbench.__file__).parent
PREPOSITIONS = {"of", "by", "at", "in", "on", "over", "near", "about", "less", "beside"}
# Functions with these names do the same for different objects, and are called through their module.
SHARED = {
    *("check", "choose", "find", "find_folder", "find_paper", "gather"),
    *("gather_facts", "load", "make", "measure", "rank", "read", "read_all"),
    *("render", "render_page", "render_text", "run", "save", "verify"),
    *("write", "find_file", "find_settings", "report", "hash_code"),
}
# The core asks every component, and every paper's folder, for these names.
INTERFACES = ("slice.py", "papers/*/claims.py")


def modules() -> Iterator[tuple[Path, ast.Module]]:
    """Yield the modules of the package that are not interfaces, with their syntax trees."""
    for file in sorted(ROOT.rglob("*.py")):
        if not any(file.match(pattern) for pattern in INTERFACES):
            yield file, ast.parse(file.read_text(encoding="utf-8"))


def test_constant_has_one_value_in_the_package() -> None:
    values: dict[str, dict[str, str]] = defaultdict(dict)
    for file, tree in modules():
        for node in tree.body:
            target = node.targets[0] if isinstance(node, ast.Assign) else None
            target = node.target if isinstance(node, ast.AnnAssign) else target
            if isinstance(target, ast.Name) and target.id.isupper() and node.value is not None:
                values[target.id][str(file.relative_to(ROOT))] = ast.unparse(node.value)
    several = {name: places for name, places in values.items() if len({*places.values()}) > 1}
    assert not several


def public_functions() -> Iterator[tuple[Path, str]]:
    """Yield the module and the name of each public function of a module."""
    for file, tree in modules():
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                yield file, node.name


def test_function_name_of_three_modules_is_a_shared_verb() -> None:
    files: dict[str, list[str]] = defaultdict(list)
    for file, name in public_functions():
        files[name].append(str(file.relative_to(ROOT)))
    assert {name for name, places in files.items() if len(places) > 2} <= SHARED


def test_function_name_begins_with_no_preposition_and_does_not_end_in_of() -> None:
    wrong = [
        f"{file.relative_to(ROOT)}: {name}"
        for file, name in public_functions()
        if name.split("_")[0] in PREPOSITIONS or name.endswith("_of")
        if name != "one_of"  # a rule that users write in their samplers
    ]
    assert not wrong
