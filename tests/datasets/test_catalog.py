import re

import numpy as np
import pytest
from pydantic import ValidationError

from rfbench.datasets import catalog
from rfbench.datasets.readers import READERS
from rfbench.datasets.synthetic import PROBLEMS
from rfbench.errors import DataError


@pytest.mark.parametrize("name", catalog.list_names())
def test_catalogue_entry_is_consistent(name):
    entry = catalog.find_entry(name)
    known = {"files": READERS, "synthetic": PROBLEMS, "bundled": {"digits": None}}
    assert entry.reader in known[entry.kind]
    assert (entry.kind == "files") == bool(entry.files)
    sources = {download.name for download in entry.downloads}
    assert all(member.source in {None, *sources} for member in entry.files)
    least = {"regression": 0, "binary": 2}.get(entry.task, max(3, len(entry.classes)))
    assert len(entry.classes) == least
    counts = list(entry.classes.values())
    if None not in counts:
        assert sum(counts) == entry.rows or entry.task == "regression"
    assert set(entry.codes.values()) == set(range(len(entry.classes)))
    assert entry.train_rows is None or 0 < entry.train_rows < entry.rows
    hashes = [member.sha256 for member in entry.files] + [d.sha256 for d in entry.downloads]
    for digest in filter(None, hashes):
        assert len(digest) == 64
        assert int(digest, 16)
    for download in entry.downloads:
        assert download.urls
        old = ("http://ama.liglab.fr/",)  # the lab's former address has no other
        assert all(url.startswith(("https://", *old)) for url in download.urls)


def test_suite_has_62_tables_pinned_to_a_commit():
    assert catalog.list_suites() == ["tables"]
    entries = [catalog.find_entry(name) for name in catalog.list_names("tables")]
    assert len(entries) == 62
    for entry in entries:
        (download,), (member,) = entry.downloads, entry.files
        assert download.sha256
        assert member.sha256
        assert re.search(r"/[0-9a-f]{40}/", download.urls[0])
        assert entry.licence
        assert entry.citation
    assert sum(bool(entry.set_aside) for entry in entries) == 13


def test_misspelled_field_is_rejected():
    fields = catalog.find_entry("covtype-20k").model_dump()
    with pytest.raises(ValidationError):
        catalog.Entry.model_validate(fields | {"rowz": 3})


def test_data_are_checked_against_the_catalogue_entry():
    X, y = np.zeros((3, 108)), np.array([0, 1, 0])
    entry = catalog.find_entry("adult").model_copy(
        update={
            "rows": 3,
            "train_rows": 2,
            "classes": {"a": 2, "b": 1},
            "arrays": catalog.hash_arrays(X, y),
        }
    )
    right = (X, y, 2)
    entry.check(*right)
    for position, wrong in enumerate([np.zeros((4, 108)), np.array([1, 1, 0]), 1]):
        with pytest.raises(DataError, match="but .* in the catalog"):
            entry.check(*right[:position], wrong, *right[position + 1 :])
    for others in ((X + 1e-9, y), (X, np.array([1, 0, 0]))):
        with pytest.raises(DataError, match="sha256 of its arrays"):
            entry.check(*others, 2)
