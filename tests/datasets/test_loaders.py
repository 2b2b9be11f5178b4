"""Every data set of the catalogue keeps the promises of all."""

import re
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from rfbench import datasets
from rfbench.errors import DataError
from tests.support import data_files


def dense(X: Any) -> Any:
    return X.toarray() if sparse.issparse(X) else X


class LoaderContract:
    """Inherit with the names as `parametrize`, set what differs, and the tests below run.

    Attributes
    ----------
    parameters : what they are loaded with
    wrong : a parameter that must be refused
    """

    parameters: ClassVar[Mapping[str, Any]] = {}
    wrong: ClassVar[Mapping[str, Any]] = {"d": 3}

    def install(self, name: str, home: Any, catalogue: Any) -> datasets.Entry:
        """Make the data set loadable, and return its entry."""
        return datasets.find_entry(name)

    def shape(self, entry: datasets.Entry) -> tuple[int, int]:
        return entry.rows, entry.columns

    @pytest.fixture
    def entry(self, name: str, home: Any, catalogue: Any) -> datasets.Entry:
        return self.install(name, home, catalogue)

    def load(self, entry: datasets.Entry, **kwargs: Any) -> datasets.Dataset:
        kwargs = {"parameters": self.parameters, "generator": np.random.default_rng(3), **kwargs}
        return datasets.load(entry.name, **kwargs)

    def test_loaded_data_match_the_catalogue(self, entry: datasets.Entry) -> None:
        found = self.load(entry)
        assert (found.name, found.task) == (entry.name, entry.task)
        assert found.classes == tuple(entry.classes)
        assert found.X.shape == self.shape(entry)
        assert found.X.dtype == np.float64
        assert isinstance(found.X, sparse.csr_array if entry.sparse else np.ndarray)
        assert np.isfinite(dense(found.X)).all()
        assert found.y.shape == (len(dense(found.X)),)
        if entry.classes:
            assert found.y.dtype == np.int64
            assert set(found.y) <= set(range(len(entry.classes)))
        else:
            assert found.y.dtype == np.float64
            assert np.isfinite(found.y).all()
        if found.groups is not None:
            assert (found.groups.dtype, found.groups.shape) == (np.int64, found.y.shape)

    def test_loading_twice_gives_equal_data(self, entry: datasets.Entry) -> None:
        first, second = self.load(entry), self.load(entry)
        assert_array_equal(dense(first.X), dense(second.X))
        assert_array_equal(first.y, second.y)
        assert first.n_given_train == second.n_given_train
        known = datasets.hash_data(entry.name, self.parameters)
        assert {first.sha256, second.sha256} == {known}
        assert len(known) == 64

    def test_unsupported_arguments_are_rejected(self, entry: datasets.Entry) -> None:
        with pytest.raises(DataError, match="parameter"):
            self.load(entry, parameters=self.wrong)
        with pytest.raises(DataError, match="parameter"):
            datasets.hash_data(entry.name, self.wrong)


NAMES = {
    kind: [name for name in datasets.list_names() if datasets.find_entry(name).kind == kind]
    for kind in ("files", "bundled", "synthetic")
}
SUITE = {name for name in NAMES["files"] if datasets.find_entry(name).suite}
SHAPES = {"swd", "banana", "airfoil"}  # of the suite: one table per way in which they are written


@pytest.mark.parametrize("name", [n for n in NAMES["files"] if n in SHAPES or n not in SUITE])
class TestFiles(LoaderContract):
    def install(self, name: str, home: Any, catalogue: Any) -> datasets.Entry:
        entry, contents, _, y, n_given_train, _ = data_files.example(name)
        entry = data_files.put_in_place(entry, contents, home, len(y), n_given_train)
        catalogue(entry)
        return entry

    @pytest.mark.parametrize("wrong", [b"\0", None], ids=["zero", "twice"])
    def test_wrong_file_is_rejected_and_not_cached(
        self, entry: datasets.Entry, home: Any, wrong: Any
    ) -> None:
        right = datasets.hash_data(entry.name)
        file = sorted((home / entry.folder).iterdir())[0]
        content = file.read_bytes()
        file.write_bytes(wrong or 2 * content)
        with pytest.raises(DataError, match=f"{re.escape(file.name)}|{entry.name}"):
            self.load(entry)
        assert not (home / "cache").exists() or not [*(home / "cache").glob(f"{entry.name}-*")]
        file.write_bytes(content)
        assert self.load(entry).sha256 == right


@pytest.mark.parametrize("name", NAMES["bundled"])
class TestBundled(LoaderContract):
    def test_loading_a_generated_data_set_writes_no_file(
        self, entry: datasets.Entry, home: Any
    ) -> None:
        self.load(entry)
        assert list(home.iterdir()) == []


@pytest.mark.parametrize("name", NAMES["synthetic"])
class TestSynthetic(LoaderContract):
    parameters = {"d": 3, "n_train": 20, "n_test": 5}
    wrong = {"n_trian": 20}

    def shape(self, entry: datasets.Entry) -> tuple[int, int]:
        return 25, 3

    def test_predefined_split_has_the_requested_training_size(self, entry: datasets.Entry) -> None:
        assert self.load(entry).n_given_train == 20

    def test_each_generator_parameter_is_part_of_the_data_identity(
        self, entry: datasets.Entry
    ) -> None:
        changed = [self.parameters | {key: 4} for key in self.parameters]
        assert len({datasets.hash_data(entry.name, p) for p in (self.parameters, *changed)}) == 4

    def test_missing_random_generator_is_rejected(self, entry: datasets.Entry) -> None:
        with pytest.raises(DataError, match="generator"):
            self.load(entry, generator=None)


def test_identities_of_all_data_sets_differ(home: Any) -> None:
    names = NAMES["bundled"] + NAMES["synthetic"]
    assert len({datasets.hash_data(name) for name in names}) == len(names)
