"""Tables for an article."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from rfbench.pages.grids import Grid
from rfbench.pages.latex import PREAMBLE, render_latex_table
from rfbench.pages.summary_table import render_summary_tables
from tests.support.frames import results

ARTICLE = r"""\documentclass[twocolumn]{article}
\usepackage{booktabs,siunitx}
\begin{document}
\input{table}
\end{document}
"""
METHODS = ("rks", "orf", "qmc", "lkrf", "eerf", "nystroem", "surrogate-leverage")


def grid(columns: int, cell: str = "17.37 ± 0.12", name: str = "rks") -> Grid:
    return Grid(["method", *map(str, range(columns))], [[name] + [cell] * columns])


def test_latex_numbers_have_standard_errors_in_units_of_the_last_digit() -> None:
    text = render_latex_table(
        Grid(["method", "a", "b"], [["x", "17.37 ± 0.12", "-3.5"], ["y", "5 ± –", "n/a"]])
    )
    assert "S[table-format=2.2(2)]" in text
    assert "S[table-format=-1.1]" in text
    assert r"x & 17.37(12) & -3.5 \\" in text
    assert r"y & {5 $\pm$ --} & {n/a} \\" in text


def test_wide_latex_tables_use_two_columns_or_several_blocks() -> None:
    few, more, many = (render_latex_table(grid(count)) for count in (3, 8, 24))
    assert r"\begin{table}" in few
    assert r"\begin{table*}" in more
    assert more.count(r"\begin{tabular}") == 1
    assert r"{method} & {0} & {1} & {2} \\" in few
    assert many.count(r"\begin{tabular}") > 1
    assert many.count(r"\begin{table*}") == many.count(r"\caption") + 1 == 1


def test_best_cells_are_bold_and_parts_have_headings() -> None:
    grid = Grid(
        ["method", "50"], [["digits", ""], ["rks", "1.0"], ["orf", "2.0"]],
        best=frozenset({(1, 1)}), parts=frozenset({0}), over=("", "M"),
    )  # fmt: skip
    text = render_latex_table(grid, "A caption 5 %.", "tab:a", "A note.")
    heading = r"\multicolumn{2}{@{}l@{}}{\itshape digits} \\"
    rows = [heading, r"rks & \bfseries 1.0 \\", r"orf & 2.0 \\", r"\bottomrule"]
    assert "{method} & {50} \\\\\n\\midrule\n" + "\n".join(rows) in text
    assert text.index(r"\setlength{\belowcaptionskip}{4pt}") < text.index(r"\caption")
    assert r"\caption{A caption 5 \%.}" in text
    assert text.index(r"\label{tab:a}") < text.index("A note.")


def test_latex_table_separates_data_sets_by_vertical_space() -> None:
    rows = [["a", ""], ["rks", "1.0"], ["b", ""], ["rks", "2.0"]]
    text = render_latex_table(Grid(["method", "50"], rows, parts=frozenset({0, 2})))
    assert text.count(r"\addlinespace") == 1
    heading = r"\multicolumn{2}{@{}l@{}}{\itshape b} \\"
    assert "rks & 1.0 \\\\\n\\addlinespace\n" + heading + "\nrks & 2.0" in text
    long = [["A title that is wider than a column of an article, by far", ""], *rows[1:]]
    assert r"\begin{table*}" in render_latex_table(
        Grid(["method", "50"], long, parts=frozenset({0}))
    )


def measured(errors: dict[str, float], dataset: str = "letter[3000 rows]") -> list[dict[str, Any]]:
    """Return rows of methods whose errors differ by a constant from trial to trial."""
    return [
        {"sampler": name, "trial": t, "error": error + t, "dataset": dataset,
         "n_train": 2000, "n_test": 1000}
        for name, error in errors.items()
        for t in range(5)
    ]  # fmt: skip


def test_latex_table_without_significant_differences_has_no_bold_cells() -> None:
    alike = render_summary_tables(results(measured({"rks": 10.0, "orf": 10.0})), "latex")
    assert r"\bfseries" not in alike
    assert "Bold" not in alike
    assert "Letter recognition, 3,000 rows" in alike
    assert "letter[" not in alike
    text = render_summary_tables(results(measured({"rks": 10.0, "orf": 20.0})), "latex")
    assert text.count(r"\bfseries") == 1


def test_several_data_sets_become_one_table_with_titles() -> None:
    names = ("letter[3000 rows]", "digits", "eeg", "magic04")
    rows = [row for name in names for row in measured({"rks": 10.0, "orf": 20.0}, name)]
    text = render_summary_tables(results(rows), "latex")
    assert text.count(r"\begin{tabular}") == 1
    assert r"{\itshape MAGIC gamma telescope} \\" in text
    assert "on 4 data sets" in text


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="there is no LaTeX on this machine")
@pytest.mark.parametrize(("sizes", "datasets"), [(4, 1), (12, 1), (4, 4)])
def test_latex_table_of_seven_methods_fits_a_two_column_article(
    tmp_path: Path, sizes: int, datasets: int
) -> None:
    rows = [
        {
            "sampler": name,
            "dataset": dataset,
            "M": 50 * m,
            "trial": t,
            "error": 17.3 + m + 0.37 * t * (-1) ** m,
        }
        for dataset in ("digits", "letter[3000 rows]", "eeg", "news-14columns")[:datasets]
        for name in METHODS
        for m in range(1, sizes + 1)
        for t in range(3)
    ]
    text = render_summary_tables(results(rows), "latex")
    assert text.startswith(PREAMBLE)
    (tmp_path / "table.tex").write_text(text, encoding="utf-8")
    (tmp_path / "article.tex").write_text(ARTICLE, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "article.tex"]
    log = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    if "siunitx.sty' not found" in log:
        pytest.skip("this LaTeX lacks siunitx")
    assert "Output written" in log
    assert "Overfull" not in log
