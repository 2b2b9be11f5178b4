"""One name has one meaning: constants, functions of several modules, and words that names avoid."""

from __future__ import annotations

import ast
import functools
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import rfbench
from rfbench import checking, errors
from rfbench.checking.samplers import OF_EVERY_MAP, SAMPLER_CHECKS
from rfbench.figures import FIGURES

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


@functools.cache
def modules() -> list[tuple[Path, ast.Module]]:
    """Return the modules of the package that are not interfaces, with their syntax trees."""
    return [
        (file, ast.parse(file.read_text(encoding="utf-8")))
        for file in sorted(ROOT.rglob("*.py"))
        if not any(file.match(pattern) for pattern in INTERFACES)
    ]


def test_constants_of_the_same_name_have_the_same_value() -> None:
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


def test_only_listed_function_names_occur_in_more_than_two_modules() -> None:
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


# First words of public functions and methods. Add a verb if none of these has its meaning.
VERBS = {
    *("accumulate", "acquire", "add", "adjust", "allocate", "annotate", "append", "apply"),
    *("argsort", "arrange", "assign", "assume", "average", "begin", "build"),
    *("calibrate", "call", "catch", "check", "choose", "clear", "close", "collect", "combine"),
    *("compare", "compile", "complete", "compute", "control", "convert", "copy"),
    *("count", "decode", "describe", "detect", "download", "draw", "drop", "echo"),
    *("encode", "end", "ensure", "escape", "estimate", "evaluate", "expand", "expect"),
    *("explain", "fetch", "filter", "find", "finish", "fit", "forecast", "forget", "format"),
    *("gather", "get", "group", "guard", "hash", "hold", "identify", "import"),
    *("include", "infer", "invert", "invoke", "iterate", "join", "judge", "keep"),
    *("kill", "lay", "limit", "link", "list", "load", "locate", "lock", "log", "make"),
    *("map", "mark", "mask", "measure", "merge", "minimize", "mirror", "move"),
    *(
        "multiply",
        "name",
        "normalize",
        "note",
        "number",
        "open",
        "overload",
        "override",
        "pack",
        "pair",
    ),
    *("parse", "pause", "pivot", "plan", "plot", "predict", "prepare", "print"),
    *("project", "publish", "raise", "rank", "read", "recall", "record", "refit"),
    *("refuse", "regenerate", "release", "remove", "render", "renew", "repair"),
    *("repeat", "replace", "replay", "report", "reset", "resolve", "restrict"),
    *("return", "round", "run", "sample", "save", "score", "search", "seed"),
    *("select", "send", "set", "settle", "shift", "shorten", "show", "shuffle"),
    *("solve", "sort", "split", "stage", "start", "stop", "store", "subtract"),
    *("suggest", "sum", "summarize", "tabulate", "test", "time"),
    *("transform", "unproject", "update", "verify", "warm", "widen", "wrap", "write"),
}
PREDICATES = {"is", "has", "uses", "can", "depends", "supports"}
CONVERSIONS = {"from", "to", "as", "with", "without"}
# A function that returns a mathematical quantity may have its name.
QUANTITIES = {
    *("arc_cosine", "arc_cosine_inplace", "coefficients", "cos", "cos_inplace", "cos_sin"),
    *("frequencies", "gradients", "holm_correction", "paired_t_test", "quantile", "fwht_inplace"),
}
# Names of methods that numpy, scikit-learn, torch and Python call or share.
ELSEWHERE = {"astype", "decision_function", "forward", "main", "matmul"}
# Names that users write in samplers, kernels and configurations, which a new name would break.
PUBLIC = {
    *("bytes_per_row", "estimator", "hyperplane", "kept_features", "number", "one_of", "parameter"),
    *("sampler", "serves", "sphere", "summary", "times", "unit_map", "whole"),
}
# Names that are shown: figures are files of this name, and a check is printed with its name.
SHOWN = {each.__name__ for each in (*FIGURES, *OF_EVERY_MAP, *SAMPLER_CHECKS)}
COMMANDS = re.compile(r"\b(command|group)\(")  # a command has the name that users type


def definitions() -> Iterator[tuple[str, ast.FunctionDef | ast.ClassDef]]:
    """Yield the module and the node of each public function, method and class."""
    for file, tree in modules():
        stack: list[ast.AST] = [tree]
        while stack:
            for node in ast.iter_child_nodes(stack.pop()):
                public = isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name[0] != "_"
                if isinstance(node, ast.If | ast.Try) or (
                    public and isinstance(node, ast.ClassDef)
                ):
                    stack.append(node)
                if public:
                    yield file.relative_to(ROOT).as_posix(), node


def is_property(node: ast.FunctionDef) -> bool:
    """Return True if a function is read like an attribute, so that its name is a noun."""
    return any("property" in ast.unparse(each) for each in node.decorator_list)


def is_exempt(node: ast.FunctionDef) -> bool:
    """Return True for a command, a figure, or a check whose name is printed."""
    decorators = [ast.unparse(each) for each in node.decorator_list]
    return (
        is_property(node) or node.name in SHOWN or any(COMMANDS.search(each) for each in decorators)
    )


def test_function_begins_with_a_verb() -> None:
    allowed = VERBS | PREDICATES | CONVERSIONS
    names = QUANTITIES | ELSEWHERE | PUBLIC
    wrong = [
        f"{module}: {node.name}"
        for module, node in definitions()
        if isinstance(node, ast.FunctionDef) and not is_exempt(node)
        if node.name not in names and node.name.split("_")[0] not in allowed
    ]
    assert not wrong


def test_names_exempt_from_the_naming_rules_are_still_used() -> None:
    """A name that is no longer used is removed from the lists."""
    names = {node.name for _, node in definitions()}
    assert names >= QUANTITIES | ELSEWHERE | PUBLIC


def test_exceptions_are_importable_by_their_old_names() -> None:
    assert checking.CheckFailed is checking.CheckFailedError
    assert errors.MemoryLimit is errors.MemoryLimitError


def test_exception_ends_in_error() -> None:
    bases = {
        node.name: {ast.unparse(base) for base in node.bases}
        for _, node in definitions()
        if isinstance(node, ast.ClassDef)
    }
    found = {"Exception", "BaseException", "AssertionError", "ValueError", "RuntimeError"}
    known = set(found)
    while more := {name for name, each in bases.items() if each & found} - found:
        found |= more
    assert {name for name in found - known if not name.endswith("Error")} == set()


def test_no_public_name_begins_with_a_preposition() -> None:
    wrong = [
        f"{module}: {node.name}"
        for module, node in definitions()
        if node.name.split("_")[0] in PREPOSITIONS and len(node.name) > 1
    ]
    assert not wrong


BRITISH = re.compile(
    r"colour|favour|neighbour|behaviour|licence|catalogue|centre|centring|labelled|modelled"
    r"|cancelled|grey|analogue|artefact|judgement|learnt"
    r"|(?:normal|summar|optim|minim|maxim|penal|initial|regular|general|standard)is(?:e|ing|ation)"
)
# Names in files of users, in `rfbench data list --format json` and in leaderboard.json.
STORED = {"licence", "summarise", "unlearnt"}


def list_names(tree: ast.Module) -> Iterator[str]:
    """Yield the names of variables, attributes, parameters, functions and classes of a module."""
    for node in ast.walk(tree):
        for field in ("id", "attr", "arg", "name"):
            if isinstance(name := getattr(node, field, None), str):
                yield name


def test_names_are_in_american_spelling() -> None:
    names = {name for _, tree in modules() for name in list_names(tree)}
    assert {name for name in names if BRITISH.search(name.lower())} <= STORED
    assert BRITISH.search("least_favourable")
    assert not BRITISH.search("least_favorable")
