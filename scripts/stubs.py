"""Write the type stubs of the packages whose classes are imported on first use.

Type checkers and editors cannot follow the lazy imports of `rfbench.samplers` and
`rfbench.solvers`. Their stubs, ``__init__.pyi``, list every class of the registry. The stubs are
committed, so that a build does not import the package:

    python -m scripts.stubs
"""

from __future__ import annotations

import ast
from pathlib import Path

import rfbench
from rfbench.registry import SAMPLERS, SOLVERS, Registry

HEADER = "# Written by `python -m scripts.stubs` from rfbench/registry.py. Do not edit.\n"
PACKAGES: dict[str, Registry] = {"samplers": SAMPLERS, "solvers": SOLVERS}


def stub_path(package: str) -> Path:
    """Return the path of the stub of ``rfbench.<package>``."""
    return Path(rfbench.__file__).parent / package / "__init__.pyi"


def make_stub(package: str) -> str:
    """Return the stub of ``rfbench.<package>``.

    It consists of the statements of the package's ``__init__.py`` without docstrings and bodies,
    and of an import of each class in the registry.
    """
    source = stub_path(package).with_suffix(".py").read_text(encoding="utf-8")
    statements: list[ast.stmt] = []
    for node in ast.parse(source).body[1:]:  # without the docstring
        # Imports for type checkers only are ordinary imports of a stub.
        statements += node.body if isinstance(node, ast.If) else [node]
    lines = [HEADER]
    for node in statements:
        if isinstance(node, ast.FunctionDef):
            if node.name.startswith("__"):
                continue
            node.body = [ast.Expr(ast.Constant(...))]
        lines.append(ast.unparse(node))
    classes = sorted((module, name) for name, module in PACKAGES[package].list_classes().items())
    lines += [f"from {module} import {name} as {name}" for module, name in classes]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for name in PACKAGES:
        stub_path(name).write_text(make_stub(name), encoding="utf-8")
        print(f"rfbench/{name}/__init__.pyi")
