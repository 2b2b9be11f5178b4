"""The results stand below what measures and what reports, and own their files."""

import re
from pathlib import Path

import rfbench

PACKAGE = Path(rfbench.__file__).parent
ABOVE = "analysis|audit|cli|config|datasets|experiment|figures|pages|papers|report|samplers|solvers"


def test_the_results_import_nothing_of_what_stands_above_them():
    for file in (PACKAGE / "results").glob("*.py"):
        assert not re.search(rf"rfbench(\.| import )({ABOVE})\b", file.read_text()), file.name


def test_nothing_else_opens_their_files():
    for file in PACKAGE.rglob("*.py"):
        if file.parent.name != "results":
            named = re.search(r'"(trials\.csv|manifest\.json|kept\.csv)"', file.read_text())
            assert not named, file
