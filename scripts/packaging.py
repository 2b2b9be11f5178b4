"""What pyproject.toml cannot say: configs/ goes into the wheel and the source archive.

The folder stays beside the package, where a checkout and an editable install find it. The wheel
also says to editors what `rfbench.samplers` and `rfbench.solvers` import when asked for it.
"""

from __future__ import annotations

import ast
import shutil
from collections.abc import Iterable
from pathlib import Path

from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

CONFIGS = Path("configs")  # a build runs at the top of the project


def stub(room: Path, classes: Iterable[tuple[str, str]]) -> str:
    """Return what type checkers read in place of a room's ``__init__.py``, for its late imports."""
    body = ast.parse((room / "__init__.py").read_text(encoding="utf-8")).body
    # What is imported for types alone is imported.
    body = [part for node in body for part in (node.body if isinstance(node, ast.If) else [node])]
    public = [n for n in body if not (isinstance(n, ast.FunctionDef) and n.name.startswith("__"))]
    for node in public:
        if isinstance(node, ast.FunctionDef):
            node.body = [ast.Expr(ast.Constant(...))]
    lines = [ast.unparse(node) for node in public[1:]]  # all but the docstring
    lines += [f"from {module} import {name} as {name}" for module, name in classes]
    return "\n".join(lines) + "\n"


class BuildWithConfigs(build_py):
    """Copies the configurations beside the modules, and adds the stubs."""

    def run(self) -> None:
        """Build, then copy."""
        from rfbench.registry import SAMPLERS, SOLVERS

        super().run()
        if not getattr(self, "editable_mode", False):
            target = Path(self.build_lib, "rfbench", "configs")
            target.mkdir(parents=True, exist_ok=True)
            for file in CONFIGS.glob("*.yaml"):
                shutil.copy(file, target)
            for room, registry in (("samplers", SAMPLERS), ("solvers", SOLVERS)):
                every = [(module, name) for name, module in registry.classes().items()]
                file = Path(self.build_lib, "rfbench", room, "__init__.pyi")
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(stub(Path("rfbench", room), sorted(every)), encoding="utf-8")


class ArchiveWithConfigs(sdist):
    """Adds what the build above needs to the source archive."""

    def make_distribution(self) -> None:
        """Add the configurations and this file, then archive."""
        self.filelist.extend(map(str, [*CONFIGS.glob("*.yaml"), Path("scripts", "packaging.py")]))
        super().make_distribution()
