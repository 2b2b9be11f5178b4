"""The page of maps: which are biased, by how much, why, and what is not counted."""

from pathlib import Path

import numpy as np
import pytest

from rfbench.checking import page
from rfbench.checking.closed_forms import find_kernel
from scripts.foreign.run import SOURCES


def cells(text: str) -> dict[str, list[str]]:
    """Return the lines of the tables in a part of the page, by their first cell."""
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {line[0].strip(): [cell.strip() for cell in line[1:]] for line in lines}


def written() -> dict[str, str]:
    """Return the page as it is written for `results`, by its headings."""
    first, *parts = page.render_page(page.MAPS_FOLDER, Path("results")).split("\n## ")
    return {"": first} | dict(part.split("\n", 1) for part in parts)


def test_each_reviewed_feature_map_is_listed():
    rows = page.read(page.MAPS_FOLDER / "others.csv").query("how == 'read'")
    read = [(name, each["option"]) for name, source in SOURCES.items()
            for each in source["maps"] if source["how"] == "read"]  # fmt: skip
    assert sorted(zip(rows["code"], rows["option"], strict=True)) == sorted(read)
    lines = written()["No bias found"].split("The code of these feature maps was read")[1]
    assert all(f"- **{code}**, {option} (version " in lines for code, option in read)


def test_biased_feature_map_has_size_place_reason_and_fix():
    rows = page.read(page.MAPS_FOLDER / "others.csv")
    rows = rows[(rows["verdict"] == "biased") & (rows["apart"] == "")]
    text = written()["Biased feature maps"].replace("\\*", "*")
    found = cells(text.partition("The bias of these feature maps")[0])
    for row in rows.to_dict("records"):
        kernel, percent, place, why, fix = found[f"{row['code']}, {row['option']}"]
        share = 100 * row["bias"] / row["exact"]
        assert float(percent.removesuffix(" %")) == pytest.approx(share, rel=0.05)
        at, _, words = place.partition(": ")
        becomes, _, exact = words.partition(" instead of ")
        assert (kernel, at, fix) == (row["kernel"], row["at"], row["mend"])
        assert float(becomes) == pytest.approx(row["exact"] + row["bias"], abs=0.006)
        assert float(exact) == pytest.approx(row["exact"], abs=0.006)
        assert becomes != exact
        assert why.startswith(row["cause"] or row["said"])


def test_reason_too_long_for_a_cell_becomes_a_note():
    rows = page.read(page.MAPS_FOLDER / "others.csv")
    one = rows[(rows["code"] == "performer-pytorch")].iloc[0]
    assert len(f"{one['cause']} {one['said']}".split()) > page.WORDS_OF_CELL
    part = written()["Biased feature maps"]
    assert f"- **{one['code']}**, {one['option']}: QR as it comes" in part
    assert all(len(cell.split()) <= page.WORDS_OF_CELL for line in cells(part).values()
               for cell in line)  # fmt: skip


def test_headline_excludes_biases_by_construction_or_choice():
    rows = page.read(page.MAPS_FOLDER / "others.csv")
    rows = rows[rows["verdict"] != ""]
    apart = rows["apart"] != ""
    biased = rows[(rows["verdict"] == "biased") & ~apart]
    parts = written()
    assert f"**{len(biased)} of {(~apart).sum()} public feature maps are biased" in parts[""]
    counted, kept = (
        cells(parts[f"Biased {name}"]) for name in ("feature maps", "by construction or by choice")
    )
    for row in rows[apart].to_dict("records"):
        name = f"{row['code']}, {row['option']}"
        assert name in kept
        assert name not in counted


def test_builtin_samplers_are_summarized_in_one_sentence():
    own = page.read(page.MAPS_FOLDER / "own.csv")
    claimed = own[own["said"] == ""]
    text = written()["rfbench's own samplers"]
    right = (claimed["verdict"] == "no bias").sum()
    assert f"{right} of {len(claimed)} combinations" in text
    assert "|" not in text
    assert "[own.csv](published/maps/own.csv)" in text
    assert all(f" {code}" in text for code in own.loc[own["said"] != "", "code"])


def test_bias_table_by_number_of_features_has_a_row_per_map():
    sizes = page.read(page.MAPS_FOLDER / "by_size.csv")
    found = cells(written()["Biased feature maps"].split("number of features M")[1])
    head = [f"M = {M}" for M in sorted(set(sizes["M"].astype(int)))]
    assert found.pop("feature map") == ["kernel", *head]
    found = {name: line for name, line in found.items() if not name.startswith(":")}
    assert len(found) * len(head) == len(sizes)
    last = sizes[(sizes["kernel"] == "gaussian") & (sizes["M"] == sizes["M"].max())].iloc[0]
    (line,) = [line for line in found.values() if line[0] == "gaussian"]
    assert line[-1] == f"{last['largest_z'] / last['seeds'] ** 0.5:.2f} (no bias)"


def test_fault_counts_once_and_only_for_maps_claimed_unbiased():
    """13 options, 11 faults: pykoop and pyrff have two options with one fault each."""
    others = page.read(page.MAPS_FOLDER / "others.csv")
    biased = page.count_faults(others).query("verdict == 'biased'")
    twice = biased[biased.duplicated(["code", "said"], keep=False)]["code"]
    assert sorted(twice) == ["pykoop", "pykoop", "pyrff", "pyrff"]
    assert len(biased) - len(page.faults(others)) == 2
    apart = others[others["apart"] != ""]
    declared = [(name, each["option"]) for name, source in SOURCES.items()
                for each in source["maps"] if "apart" in each]  # fmt: skip
    assert sorted(zip(apart["code"], apart["option"], strict=True)) == sorted(declared)
    assert not set(apart.index) & set(page.count_faults(others).index)


def test_regularised_softmax_kernel_equals_mean_over_a_sphere():
    """By quadrature over the angle to x + y, in three dimensions."""
    kernel = find_kernel("softmax-regularised", 1.0)
    x, y = np.array([[0.3, -0.2, 0.5]]), np.array([[0.1, 0.4, -0.3]])
    length = np.sqrt(3) * np.linalg.norm(x + y)
    cosines, weights = np.polynomial.legendre.leggauss(40)
    mean = (weights * np.exp(length * cosines)).sum() / 2  # cosines are uniform in 3 dimensions
    expected = np.exp(-((x**2).sum() + (y**2).sum()) / 2) * mean
    assert kernel(x, y)[0, 0] == pytest.approx(expected, rel=1e-12)
    W = kernel.frequencies(np.random.default_rng(0), 3, 100_000)
    assert np.allclose((W**2).sum(axis=1), 3)
    drawn = np.exp(W @ (x + y)[0]).mean() * np.exp(-((x**2).sum() + (y**2).sum()) / 2)
    assert drawn == pytest.approx(expected, rel=0.01)
