"""The page of maps: which are biased, by how much, why, and what is not counted."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rfbench.checking import page
from rfbench.checking.bias import TESTED, choose_row_pairs
from rfbench.checking.closed_forms import find_kernel_by_name
from rfbench.checking.samplers import make_map_under_test
from rfbench.samplers import RKS
from scripts.foreign import planted
from scripts.foreign.run import SOURCES


def cells(text: str) -> dict[str, list[str]]:
    """Return the lines of the tables in a part of the page, by their first cell."""
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {line[0].strip(): [cell.strip() for cell in line[1:]] for line in lines}


def written() -> dict[str, str]:
    """Return the page as it is written for `results`, by its headings."""
    first, *parts = page.render_maps_page(page.MAPS_FOLDER, Path("results")).split("\n## ")
    return {"": first} | dict(part.split("\n", 1) for part in parts)


def test_each_reviewed_feature_map_is_listed():
    rows = page.read_map_rows(page.MAPS_FOLDER / "others.csv").query("how == 'read'")
    read = [(name, each["option"]) for name, source in SOURCES.items()
            for each in source["maps"] if source["how"] == "read"]  # fmt: skip
    assert sorted(zip(rows["code"], rows["option"], strict=True)) == sorted(read)
    lines = written()["No bias found"].split("The code of these feature maps was read")[1]
    assert all(f"- **{code}**, {option} (version " in lines for code, option in read)


def test_page_shows_size_location_reason_and_fix_of_each_bias():
    rows = page.read_map_rows(page.MAPS_FOLDER / "others.csv")
    rows = rows[(rows["verdict"] == "biased") & (rows["apart"] == "")]
    text = written()["Biased feature maps"].replace("\\*", "*").replace("\\|", "|")
    found = cells(text.partition("The bias of these feature maps")[0])
    for row in rows.to_dict("records"):
        _, how, kernel, percent, place, why, fix = found[f"{row['code']}, {row['option']}"]
        assert how == f"{row['how']}, {row['version']}"
        share = 100 * row["bias"] / row["exact"] if row["exact"] > 1e-9 else row["bias"]
        assert float(percent.removesuffix(" %")) == pytest.approx(share, rel=0.05)
        at, _, words = place.partition(": ")
        becomes, _, exact = words.partition(" instead of ")
        assert (kernel, at, fix) == (row["kernel"], row["at"], row["mend"])
        assert float(becomes) == pytest.approx(row["exact"] + row["bias"], abs=0.006)
        assert float(exact) == pytest.approx(row["exact"], abs=0.006)
        assert becomes != exact
        assert why.startswith(row["cause"] or row["said"])


def test_reason_too_long_for_a_table_cell_becomes_a_footnote():
    rows = page.read_map_rows(page.MAPS_FOLDER / "others.csv")
    one = rows[(rows["code"] == "performer-pytorch")].iloc[0]
    assert len(f"{one['cause']} {one['said']}".split()) > page.WORDS_OF_CELL
    part = written()["Biased feature maps"]
    assert f"- **{one['code']}**, {one['option']}: the matrix Q of a QR" in part
    assert all(len(cell.split()) <= page.WORDS_OF_CELL for line in cells(part).values()
               for cell in line)  # fmt: skip


def test_count_of_biased_maps_excludes_biases_by_construction_or_choice():
    rows = page.read_map_rows(page.MAPS_FOLDER / "others.csv")
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


def test_row_of_a_measured_map_has_all_numbers():
    (claim,) = make_map_under_test(RKS, {"feature_map": "paired"}).list_kernel_claims()[-1:]
    row = page.make_map_row(claim, {"code": "rks"}, most=20)
    numbers = [*page.MEASURED_COLUMNS, "further_out", "exact", "bias", "error", "z"]
    assert set(row) == {"code", *numbers, "kernel", "at", "verdict", "cause"}
    assert np.isfinite([row[name] for name in numbers]).all()
    assert row["seeds"] == 20
    assert row["verdict"] == page.RIGHT


def test_builtin_samplers_are_summarized_in_one_sentence():
    own = page.read_map_rows(page.MAPS_FOLDER / "own.csv")
    claimed = own[own["said"] == ""]
    text = written()["rfbench's own samplers"]
    right = (claimed["verdict"] == "no bias").sum()
    assert f"{right} of the {len(claimed)} forms" in text
    assert "|" not in text
    assert "[own.csv](published/maps/own.csv)" in text
    assert all(f" {code}" in text for code in own.loc[own["said"] != "", "code"])


def test_bias_table_by_number_of_features_has_a_row_per_map():
    sizes = page.read_map_rows(page.MAPS_FOLDER / "by_size.csv")
    found = cells(written()["Biased feature maps"].split("number of features M")[1])
    head = [f"M = {M}" for M in sorted(set(sizes["M"].astype(int)))]
    assert found.pop("feature map") == ["kernel", *head]
    found = {name: line for name, line in found.items() if not name.startswith(":")}
    assert len(found) * len(head) == len(sizes)
    last = sizes[(sizes["kernel"] == "gaussian") & (sizes["M"] == sizes["M"].max())].iloc[0]
    (line,) = [line for line in found.values() if line[0] == "gaussian"]
    assert line[-1] == f"{last['largest_z'] / last['seeds'] ** 0.5:.2f} (no bias)"


def test_maps_with_the_same_mistake_share_one_fault_number():
    others = page.read_map_rows(page.MAPS_FOLDER / "others.csv")
    biased = page.number_faults_of_biased_maps(others)
    assert (biased["fault"] != "").all()
    assert biased.groupby("fault")["number"].nunique().eq(1).all()
    numbers = sorted(set(biased["number"]))
    assert numbers == list(range(1, biased["fault"].nunique() + 1))
    parts = written()
    assert f", by {numbers[-1]} different faults.**" in parts[""]
    real = (biased["how"] == "real").sum()
    counts = f"We ran {real} of the {len(biased)} biased feature maps from released packages."
    assert f"{counts} For the other {len(biased) - real} " in parts[""]
    found = cells(parts["Biased feature maps"].partition("The bias of these")[0])
    for row in biased.to_dict("records"):
        assert found[f"{row['code']}, {row['option']}"][0] == str(row["number"])
    apart = others[others["apart"] != ""]
    declared = [(name, each["option"]) for name, source in SOURCES.items()
                for each in source["maps"] if "apart" in each]  # fmt: skip
    assert sorted(zip(apart["code"], apart["option"], strict=True)) == sorted(declared)
    assert not set(apart.index) & set(biased.index)


def test_annotations_in_the_table_of_maps_equal_their_source_files(tmp_path):
    file = tmp_path / "others.csv"
    file.write_bytes((page.MAPS_FOLDER / "others.csv").read_bytes())
    page.annotate_published_rows(file, SOURCES)
    assert file.read_bytes() == (page.MAPS_FOLDER / "others.csv").read_bytes()
    changed = {"river": {"maps": [SOURCES["river"]["maps"][0] | {"said": "other"}]}}
    page.annotate_published_rows(file, changed)
    rows = page.read_map_rows(file)
    assert rows[rows["code"] == "river"]["said"].tolist() == ["other"]
    assert not rows[rows["code"] != "river"]["said"].eq("other").any()


def test_each_patch_removes_the_bias_and_has_a_letter():
    patched = page.read_map_rows(page.MAPS_FOLDER / "patched.csv")
    assert set(patched["verdict"]) == {page.RIGHT}
    patches, letters = page.MAPS_FOLDER / "patches", page.MAPS_FOLDER / "letters"
    names = {file.stem for file in patches.glob("*.diff")}
    assert names == set(patched["code"]) == {file.stem for file in letters.glob("*.md")}


def test_each_patch_applies_and_passes_the_tests_of_its_package():
    rows = pd.read_csv(page.MAPS_FOLDER / "own_tests.csv", dtype={"version": str})
    assert set(rows["code"]) == {file.stem for file in page.MAPS_FOLDER.glob("patches/*.diff")}
    assert all("tests" in SOURCES[code] for code in rows["code"])
    assert rows["applies"].all()
    assert (rows["biased_before"] == rows["maps"]).all()
    assert (rows["biased_after"] == 0).all()
    run = rows[rows["passed_before"].notna()]
    assert (run["passed_after"] >= run["passed_before"]).all()
    assert (run["failed_after"] <= run["failed_before"]).all()
    assert rows.loc[rows["passed_before"].isna(), "note"].notna().all()
    found = cells(
        written()["Biased feature maps"]
        .split("The table includes patches")[1]
        .split("The bias of")[0]
    )
    assert all(found[row["code"]][1] == "yes" for row in rows.to_dict("records"))
    for row in run.to_dict("records"):
        cell = f"{row['passed_after']:.0f} passed, {row['failed_after']:.0f} failed"
        assert found[row["code"]][3] == cell


@pytest.mark.parametrize("kind", planted.CLOSED_FORMS)
def test_closed_form_of_a_bias_equals_the_mean_of_draws(kind):
    fault = planted.Planted(kind, 0.4, "laplacian", 1.5, "offset", 3)
    pairs = choose_row_pairs(1.5)
    products = planted.multiply(fault, 100_000, 1)
    exact = pairs.compute_kernel(find_kernel_by_name("laplacian", 1.5))
    error = products.std(axis=1) / np.sqrt(100_000)
    bias = planted.find_bias(fault, pairs)
    assert np.abs((products.mean(axis=1) - exact - bias) / error).max() < 4.5
    assert np.abs(bias / error).max() > 20


def test_planted_bias_has_the_chosen_size():
    fault = planted.Planted(planted.ignore_column, 0.0, "gaussian", 2.0, "paired", 4)
    fault = planted.plant_bias(fault, 0.4)
    found = planted.measure_at_once(fault)
    assert planted.find_relative_bias(fault) == pytest.approx(0.4, abs=1e-3)
    assert found.biased
    shares = np.abs(found.bias / found.spread)[TESTED]
    assert shares.max() == pytest.approx(0.4, abs=0.08)  # four standard errors


def test_detection_power_increases_with_the_planted_bias():
    counts = pd.read_csv(page.MAPS_FOLDER / "power.csv").groupby("bias")[["maps", "found"]].sum()
    assert tuple(counts.index) == planted.BIASES
    rates = counts["found"] / counts["maps"]
    assert rates.is_monotonic_increasing
    assert rates[0.1] >= 0.9
    lines = cells(written()["Faults that were planted"])
    for bias, maps, found in counts.itertuples():
        assert lines[f"{bias:g}"][0] == f"{found} of {maps}"
    assert float(lines["0.1"][2]) == pytest.approx(0.9, abs=0.005)  # N_SEEDS is chosen for it


def test_each_tried_package_is_listed_once_with_its_result():
    tried = pd.read_csv(page.MAPS_FOLDER / "candidates.csv")
    assert len(tried) >= 50
    assert not tried["package"].duplicated().any()
    assert tried.notna().all(axis=None)
    others = page.read_map_rows(page.MAPS_FOLDER / "others.csv").query("how == 'real'")
    assert set(others["code"]) == set(tried.loc[tried["result"] == "measured", "package"])
    told = page.count_tried_packages(page.MAPS_FOLDER)
    assert sum(told["counts"].values()) == told["tried"] == len(tried)


def test_all_planted_biases_above_a_tenth_of_the_error_are_detected():
    told = page.count_planted_faults(page.MAPS_FOLDER)
    assert told["large"][0] == told["large"][1]
    assert told["large"][0] + told["small"][0] == len(planted.plant()) == 30
    assert told["small"][0] - told["small"][1] == len(told["missed"])
    maps, rejected, low, high = told["right"]
    assert (maps, rejected, low) == (60, 0, 0.0)
    assert high == pytest.approx(1 - 0.025 ** (1 / 60))  # Clopper and Pearson, in closed form


def test_true_bias_of_a_planted_fault_has_a_closed_form():
    """With divided columns the kernel is scaled by m / (m - 8 size)."""
    fault = planted.Planted(planted.divide_by_less, 0.5, "gaussian", 2.0, "offset", 1)
    found = planted.compute_truth(fault, 500)
    right = planted.compute_truth(fault._replace(kind=planted.fix_lengths, size=0.0), 500)
    assert right[0] < 0.25
    spread = np.sqrt(0.5 / 16)  # of a row with itself, before the scale
    assert found[0] == pytest.approx((4 / 12) / (16 / 12) / spread, rel=0.15)


def test_regularised_softmax_kernel_equals_mean_over_a_sphere():
    """By quadrature over the angle to x + y, in three dimensions."""
    kernel = find_kernel_by_name("softmax-regularised", 1.0)
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
