"""The page of maps names what was read alone."""

from rfbench.checking import page
from scripts.foreign.run import SOURCES


def test_each_map_that_was_read_has_its_row_and_its_line():
    rows = page.read(page.FOLDER / "others.csv").query("how == 'read'")
    read = [(name, each["option"]) for name, source in SOURCES.items()
            for each in source["maps"] if source["how"] == "read"]  # fmt: skip
    assert sorted(zip(rows["code"], rows["option"], strict=True)) == sorted(read)
    lines = page.page(page.FOLDER).split("Read, but not run")[1].split("\n## ")[0]
    assert all(f"- **{code}**, {option} (version " in lines for code, option in read)
