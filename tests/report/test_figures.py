import sys
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pytest

from rfbench.report import style
from rfbench.report.figures import plot
from rfbench.report.results import read

from .conftest import Write


def sweep(**changes: Any) -> list[dict[str, Any]]:
    return [
        {"sampler": s, "M": m, "trial": t, "error": 10 + t, "t_pp": m / 100} | changes
        for s in ("rks", "eerf")
        for m in (10, 50, 200)
        for t in (0, 1)
    ]


def names(files: list[Path]) -> list[str]:
    return [file.name for file in files]


def test_files_and_the_same_bytes_twice(write: Write) -> None:
    results = read(write(sweep()))
    files = plot(results)
    assert names(files) == [
        "error_vs_M.png",
        "error_vs_M.pdf",
        "error_vs_time.png",
        "error_vs_time.pdf",
    ]
    assert all(file.parent == results.folder for file in files)
    first = [file.read_bytes() for file in files]
    assert [file.read_bytes() for file in plot(results)] == first
    assert b"CreationDate" not in first[1]
    picture = matplotlib.image.imread(files[0])
    assert picture.shape[1] == 900
    assert np.unique(picture.reshape(-1, picture.shape[2]), axis=0).shape[0] > 10


@pytest.mark.parametrize(
    ("rows", "name"),
    [
        ([{"d": 2}, {"d": 3}], "error_vs_d.png"),
        ([{"variant": "a.b=1"}, {"variant": "a.b=2"}], "error_vs_b.png"),
        ([{"variant": f"kernel={k}"} for k in ("linear", "gaussian")], "error_vs_variant.png"),
        ([{}], "error_vs_M.png"),
        (sweep(dataset="eeg") + sweep(), "error_vs_M.png"),
        (sweep(label="_$_{%", protocol="as-run"), "error_vs_M.png"),
        (
            [{"error": "", "kernel_error_spectral": 1 / m, "M": m} for m in (1, 30)],
            "error_vs_M.png",
        ),
    ],
)
def test_kinds_of_axis(write: Write, rows: list[dict[str, Any]], name: str) -> None:
    files = plot(read(write(rows)))
    assert files[0].name == name
    assert all(file.stat().st_size for file in files)


def test_the_name_does_not_call_an_accuracy_an_error(write: Write) -> None:
    files = plot(read(write([{"accuracy": 90}], metric="accuracy")))
    assert files[0].name == "accuracy_vs_M.png"


def test_failures_are_left_out_and_without_times_there_is_no_time_figure(write: Write) -> None:
    none = {"t_pp": "", "t_features": "", "t_train": ""}
    rows = [none, none | {"M": 200, "status": "failed", "error": ""}]
    assert names(plot(read(write(rows)))) == ["error_vs_M.png", "error_vs_M.pdf"]


def test_nothing_to_draw(write: Write) -> None:
    assert plot(read(write([], name="a"))) == []
    assert plot(read(write([{"status": "failed", "error": ""}], name="b"))) == []


def test_pyplot_stays_out(write: Write) -> None:
    before = "matplotlib.pyplot" in sys.modules
    plot(read(write([{}])))
    assert ("matplotlib.pyplot" in sys.modules) == before


def test_known_methods_have_markers_of_their_own() -> None:
    looks = [(look.marker, look.filled) for look in style.METHODS.values()]
    assert len(set(looks)) == len(looks)


def test_a_method_looks_the_same_in_every_figure() -> None:
    alone = style.assign({"mine": "mine"})["mine"]
    assert style.assign({"mine": "mine", "rks": "rks"})["mine"].marker == alone.marker
    assert style.assign({"gaussian": "rks"})["gaussian"] == style.METHODS["rks"]
    both = style.assign({"rks": "rks", "rks, scaled": "rks"})
    assert both["rks"] == style.METHODS["rks"]
    assert both["rks, scaled"].marker != "o"


def test_twelve_unknown_methods_differ_in_marker() -> None:
    styles = style.assign({f"m{i}": "x" for i in range(12)})
    assert len({(look.marker, look.filled) for look in styles.values()}) == 12
