"""Every data set in the folder that RFBENCH_DATA names is loaded and compared."""

import os

import numpy as np
import pytest

from rfbench import datasets
from tests.support.nightly import at_night

SHARED = os.path.abspath(os.environ.get("RFBENCH_DATA") or os.devnull)
FILES = [name for name in datasets.list_names() if datasets.find_entry(name).kind == "files"]
SUITE = datasets.list_names("tables")
FILES = [name for name in FILES if name not in SUITE]

pytestmark = pytest.mark.skipif(
    not os.path.isdir(SHARED), reason="RFBENCH_DATA names no folder with the real files"
)


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RFBENCH_DATA", SHARED)


def large(name):
    entry = datasets.find_entry(name)
    return entry.rows * entry.columns > 3e6


@pytest.fixture(params=[*at_night(*filter(large, FILES)), *(n for n in FILES if not large(n))])
def name(request, here):
    if not datasets.is_on_disk(request.param):
        pytest.skip(f"{request.param} is not in the folder")
    return request.param


def test_real_data_set_matches_the_catalogue(name):
    assert {check.status for check in datasets.verify(name)} == {"ok"}
    entry, dataset = datasets.find_entry(name), datasets.load(name)
    assert dataset.X.shape == (entry.rows, entry.columns)
    assert isinstance(dataset.X, np.ndarray) != entry.sparse
    assert dataset.n_given_train == entry.train_rows
    assert datasets.load(name).sha256 == dataset.sha256
    split = "given" if entry.train_rows else {"test_size": 0.2}
    rows = 2000 if entry.rows > 5000 else None
    prepared = datasets.prepare(dataset, split=split, generator=np.random.default_rng(0), rows=rows)
    assert prepared.X_train.shape == (rows or len(prepared.y_train), entry.columns)


@pytest.mark.parametrize("name", [*at_night(*SUITE[4:]), *SUITE[:4]])
def test_suite_table_matches_the_catalogue(name, here):
    if not datasets.is_on_disk(name):
        pytest.skip(f"{name} is not in the folder")
    assert {check.status for check in datasets.verify(name)} == {"ok"}
    entry, dataset = datasets.find_entry(name), datasets.load(name)
    assert dataset.X.shape == (entry.rows, entry.columns)
