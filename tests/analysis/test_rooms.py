"""The analysis stands below the pages and beside the runner: it reads results and papers alone."""

import ast
from pathlib import Path

import rfbench.analysis

ALLOWED = {"analysis", "results", "papers", "errors"}


def test_the_analysis_imports_results_and_papers_alone() -> None:
    folder = Path(rfbench.analysis.__file__).parent
    rooms = {
        name.split(".")[1] if "." in name else alias
        for file in folder.glob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rfbench")
        for name in [str(node.module)]
        for alias in [one.name for one in node.names]
    }
    assert {"analysis", "results", "papers"} <= rooms <= ALLOWED
