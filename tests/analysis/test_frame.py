"""What is read into the frame, and what is not."""

from pathlib import Path

import pytest

from rfbench.analysis.frame import collect_results
from rfbench.analysis.naming import parse_parameters
from rfbench.analysis.outcomes import Outcome
from rfbench.analysis.verdicts import CANNOT
from rfbench.errors import ResultsError
from rfbench.papers import list_claims
from tests.support.results import Write


def test_results_folder_given_by_several_paths_is_read_once(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write([{}])
    monkeypatch.chdir(folder.parent)
    found = collect_results([folder, folder.parent, folder.name, folder / "trials.csv"])
    assert (len(found.experiments), len(found.rows)) == (1, 1)


def test_folder_without_rows_is_noted_and_missing_path_is_rejected(
    write: Write, tmp_path: Path
) -> None:
    parts = write([{}], "parts").parent / "none"
    (parts).mkdir()
    (tmp_path / "empty").mkdir()
    found = collect_results([parts, tmp_path / "empty"])
    assert [note.split()[0] for note in found.notes] == [str(parts), str(tmp_path / "empty")]
    with pytest.raises(ResultsError, match="There is no"):
        collect_results([tmp_path / "nowhere"])


def test_last_successful_row_of_a_trial_is_used(write: Write) -> None:
    """They have other identities, as of another revision, and so both stand in the file."""
    ends = [("ok", 10.0), ("ok", 20.0), ("failed", 30.0)]
    rows = [{"trial_id": str(n), "status": s, "error": e} for n, (s, e) in enumerate(ends)]
    collection = collect_results([write(rows)])
    assert list(collection.valid_rows["error"]) == [20.0]
    assert list(collection.compute_means("error")) == [20.0]


@pytest.mark.parametrize("text", ["", "{", "[1]", "nan", "[" * 10_000])
def test_parameters_cell_that_is_not_a_json_object_gives_no_parameters(text: str) -> None:
    assert parse_parameters(text) == {}
    assert parse_parameters('{"pool_size": 5}') == {"pool_size": 5}


def test_reasons_for_undecided_claims_follow_the_data_set_order() -> None:
    undecided = (("eeg", "chance"), ("year", "nothing learnt"), ("b", "chance"))
    outcome = Outcome(list_claims()[0], "printed", CANNOT, undecided=undecided)
    assert outcome.reason == "chance, nothing learnt"
