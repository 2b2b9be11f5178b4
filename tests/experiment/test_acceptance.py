import itertools
import json
from fractions import Fraction

import pytest

from rfbench import config
from rfbench.errors import ResultsError
from rfbench.experiment import acceptance
from rfbench.experiment.replay import Passed
from rfbench.results import community
from rfbench.results import manifest as manifests
from rfbench.results.maintenance import rows_of
from rfbench.results.store import Store
from tests.support.command_line import call

from .conftest import SMALL

WORDS = ("--author", "A. Author", "--method", "My features", "--replay", 3, "--seed", 1)


@pytest.fixture
def protocol(tmp_path):
    file = tmp_path / "protocol.yaml"
    file.write_text(SMALL)
    return file


def rewritten(folder, change):
    """Write the rows of a folder anew, each with its checksum, as a forger would."""
    store = Store(folder)
    rows = store.rows()
    store.csv.write_bytes(b"")
    for row in map(change, rows):
        if row is not None:
            store.append(row)


@pytest.mark.parametrize(
    ("rows", "replayed", "forged"), [(6, 2, 1), (6, 3, 2), (7, 7, 1), (5, 1, 5)]
)
def test_the_probability_of_finding_a_forgery_is_that_of_counting_all_choices(
    rows, replayed, forged
):
    choices = list(itertools.combinations(range(rows), replayed))
    hits = sum(any(row < forged for row in choice) for choice in choices)
    expected = float(Fraction(hits, len(choices)))
    assert acceptance.detection(rows, replayed, forged) == pytest.approx(expected, abs=1e-12)


def test_sound_rows_are_taken_in_with_their_origin(folder, protocol, tmp_path):
    output = call("accept", folder, *WORDS, "--protocol", protocol, "--into", tmp_path / "out")
    assert "3 of 3 random rows came out as they stand" in output
    assert "1 (12 %): 38 %" in output  # of 8 rows 3 were measured again
    (taken,) = (tmp_path / "out" / "community").glob("*/*")
    origin = community.origin_of(taken)
    assert (origin.author, origin.method, origin.labels) == (
        "A. Author", "My features", ["eerf", "rks"]
    )  # fmt: skip
    assert (origin.rows, origin.replayed, origin.seed) == (8, 3, 1)
    assert rows_of(taken) == rows_of(folder)
    again = call(
        "accept", folder, *WORDS, "--protocol", protocol, "--into", tmp_path / "out", code=2
    )
    assert "there already" in again


def test_forged_numbers_are_found_and_nothing_is_taken_in(folder, protocol, tmp_path):
    rewritten(folder, lambda row: row | {"rmse": "0.001"})
    output = call(
        "accept", folder, *WORDS, "--protocol", protocol, "--into", tmp_path / "out", code=1
    )
    assert "rmse 0.001 there" in output
    assert not (tmp_path / "out").exists()


def test_a_row_that_cannot_be_measured_again_counts_as_one_that_differs(folder, monkeypatch):
    submission = acceptance.Submission(folder, 8, 0, ("rks",))
    row = rows_of(folder)[0]
    monkeypatch.setattr(
        acceptance,
        "replay_any",
        lambda *args, **kwargs: [Passed(folder, row, "Its data are gone.")],
    )
    replays = acceptance.Replays()
    assert len(list(acceptance.measured_again(submission, 3, 0, replays))) == 1
    assert (replays.agreeing, len(replays.refused)) == (0, 1)


def checked(folder, protocol):
    return acceptance.check(folder, config.read_all(protocol))


def test_what_is_accepted_is_whole(folder, protocol):
    sound = checked(folder, protocol)
    assert (sound.rows, sound.failed, sound.labels) == (8, 0, ("eerf", "rks"))
    first = rows_of(folder)[0]["trial_id"]
    rewritten(folder, lambda row: row | {"status": "failed"} if row["trial_id"] == first else row)
    assert (checked(folder, protocol).rows, checked(folder, protocol).failed) == (7, 1)
    rewritten(folder, lambda row: None if row["trial_id"] == first else row)
    with pytest.raises(ResultsError, match="no rows of 1 of its 8 trials"):
        checked(folder, protocol)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"label": "mine"}, "Its method is mine"),
        ({"M": "5"}, "Its M is 5"),
        ({"dataset": "eeg"}, "Its data set is eeg"),
        ({"data_hash": "0" * 64}, "Its data_hash is"),
        ({"trial_id": "0" * 16}, "No trial of its configuration"),
    ],
)
def test_a_row_that_is_not_the_trial_it_names_is_refused(folder, protocol, change, why):
    rewritten(folder, lambda row: row | change)
    with pytest.raises(ResultsError, match=why):
        checked(folder, protocol)


def test_a_line_or_a_manifest_that_was_changed_is_refused(folder, protocol):
    file = folder / "trials.csv"
    text = file.read_bytes()
    file.write_bytes(text.replace(b",rks,", b",rkz,", 1))
    with pytest.raises(ResultsError, match="not sound"):
        checked(folder, protocol)
    file.write_bytes(text)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["config"]["seed"] = 7
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ResultsError, match="checksum"):
        checked(folder, protocol)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SMALL.replace("cv5", "cv3"), "another solver on sphere"),
        (SMALL.replace("bandwidth: 1.0", "bandwidth: 2.0"), "another bandwidth"),
        (SMALL.replace("sphere: {d: 3", "hyperplane: {d: 3"), "has the data set sphere"),
    ],
)
def test_another_protocol_is_refused(folder, tmp_path, text, message):
    file = tmp_path / "other.yaml"
    file.write_text(text)
    with pytest.raises(ResultsError, match=message):
        checked(folder, file)


def test_a_protocol_fixes_neither_methods_nor_numbers_of_trials(folder, tmp_path):
    file = tmp_path / "other.yaml"
    file.write_text(SMALL.replace("- rks", "- orf").replace("trials: 2", "trials: 5"))
    assert checked(folder, file).rows == 8


def test_smoke_runs_are_refused(folder, protocol):
    manifests.write(folder, manifests.read(folder) | {"smoke": True})
    with pytest.raises(ResultsError, match="smoke"):
        checked(folder, protocol)


def test_an_origin_that_was_changed_is_refused_and_names_steer_no_terminal(tmp_path, folder):
    assert community.origin_of(folder) is None
    origin = community.Origin(
        author="a", method="../m", labels=["rks"], rows=1, failed=0, replayed=1, seed=0, version="1"
    )
    taken = community.add(folder, tmp_path / "out", origin)
    assert taken.parent.name == "m-a"
    assert community.origin_of(taken) == origin
    file = taken / "community.json"
    file.write_text(file.read_text().replace('"author": "a"', '"author": "b"'))
    with pytest.raises(ResultsError, match="cannot be read"):
        community.origin_of(taken)


def test_a_name_that_would_steer_a_terminal_is_refused(folder, protocol, tmp_path):
    words = ("--author", "a\nb", "--method", "m", "--protocol", protocol)
    assert "--author is no name" in call("accept", folder, *words, "--into", tmp_path, code=2)
