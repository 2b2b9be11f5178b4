"""Every data set of the catalogue keeps the promises of all."""

import re
from typing import Any

import pytest

from rfbench import datasets
from rfbench.errors import DataError
from tests.support import data_files

from .contract import LoaderContract

NAMES = {
    kind: [name for name in datasets.names() if datasets.entry(name).kind == kind]
    for kind in ("files", "bundled", "synthetic")
}


@pytest.mark.parametrize("name", NAMES["files"])
class TestFiles(LoaderContract):
    def install(self, name: str, home: Any, catalogue: Any) -> datasets.Entry:
        entry, contents, _, y, n_given_train, _ = data_files.example(name)
        entry = data_files.put_in_place(entry, contents, home, len(y), n_given_train)
        catalogue(entry)
        return entry

    @pytest.mark.parametrize("wrong", [b"\0", None], ids=["zero", "twice"])
    def test_a_wrong_file_is_refused_and_not_kept(
        self, entry: datasets.Entry, home: Any, wrong: Any
    ) -> None:
        right = datasets.data_sha256(entry.name)
        file = sorted((home / entry.folder).iterdir())[0]
        content = file.read_bytes()
        file.write_bytes(wrong or 2 * content)
        with pytest.raises(DataError, match=f"{re.escape(file.name)}|{entry.name}"):
            self.load(entry)
        assert not (home / "cache").exists() or not [*(home / "cache").glob(f"{entry.name}-*")]
        file.write_bytes(content)
        assert self.load(entry).sha256 == right

    def test_a_missing_file_is_named(self, entry: datasets.Entry, home: Any) -> None:
        file = sorted((home / entry.folder).iterdir())[0]
        file.unlink()
        for call in (datasets.load, datasets.data_sha256):
            with pytest.raises(DataError, match="missing"):
                call(entry.name)


@pytest.mark.parametrize("name", NAMES["bundled"])
class TestBundled(LoaderContract):
    def test_no_file_is_written(self, entry: datasets.Entry, home: Any) -> None:
        self.load(entry)
        assert list(home.iterdir()) == []


@pytest.mark.parametrize("name", NAMES["synthetic"])
class TestSynthetic(LoaderContract):
    parameters = {"d": 3, "n_train": 20, "n_test": 5}
    wrong = {"n_trian": 20}

    def shape(self, entry: datasets.Entry) -> tuple[int, int]:
        return 25, 3

    def test_the_rows_are_divided_as_asked(self, entry: datasets.Entry) -> None:
        assert self.load(entry).n_given_train == 20

    def test_each_parameter_is_part_of_the_identity(self, entry: datasets.Entry) -> None:
        changed = [self.parameters | {key: 4} for key in self.parameters]
        assert len({datasets.data_sha256(entry.name, p) for p in (self.parameters, *changed)}) == 4

    def test_a_generator_is_asked_for(self, entry: datasets.Entry) -> None:
        with pytest.raises(DataError, match="generator"):
            self.load(entry, generator=None)


def test_no_two_have_one_identity(home: Any) -> None:
    names = NAMES["bundled"] + NAMES["synthetic"]
    assert len({datasets.data_sha256(name) for name in names}) == len(names)
