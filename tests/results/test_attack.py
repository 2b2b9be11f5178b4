"""Flips and other changes in every file of a results folder: none goes unnoticed."""

import os
import random
from contextlib import suppress

import pytest
from click.testing import CliRunner

from rfbench.cli import main
from rfbench.errors import ResultsError
from rfbench.results import kept_features, manifest, read_results_folder
from rfbench.results.reader import TRIALS
from tests.support.results import write_folder

MANIFEST = {
    "config": {"name": "a", "protocol": "own", "checks": [{"column": "M", "below": 200.0}]},
    **{"settings": ["s"], "trials": [f"{n:016x}" for n in range(6)], "data": {"digits": "1e5"}},
    **{"machines": {"0" * 8: {"cpu": "C", "cores": 2, "memory_gib": 3.5, "blas": None}}},
    **{"versions": {"numpy": "2.0"}, "smoke": False},
}
CHANGES = 2500 if os.environ.get("RFBENCH_NIGHTLY") else 25  # of each file


@pytest.fixture
def folder(tmp_path):
    rows = [{"trial_id": f"{n:016x}", "setting": "s", "trial": n, "error": n / 7} for n in range(5)]
    folder = write_folder(tmp_path / "a", rows, {})
    manifest.write(folder, MANIFEST)
    kept_features.write(
        folder, f"{0:016x}", [{"trial": 0, "w1": 0.1, "w2": n, "weight": 2} for n in (3, 4)]
    )
    return folder


def changed(content: bytes, rng: random.Random) -> bytes:
    """Return content with a flipped bit, another digit, or a piece that is gone or twice there."""
    i = rng.randrange(len(content))
    j = min(len(content), i + rng.randrange(1, 40))
    match rng.randrange(5):
        case 0 | 1:
            return content[:i] + bytes([content[i] ^ 1 << rng.randrange(8)]) + content[i + 1 :]
        case 2:
            places = [k for k, byte in enumerate(content) if chr(byte).isdigit()]
            k = rng.choice(places)
            return content[:k] + str((content[k] - 47) % 10).encode() + content[k + 1 :]
        case 3:
            return content[:i] + content[j:]
        case _:
            return content[:j] + content[i:j] + content[j:]


def facts(folder):
    """Return all that a reader takes from a folder, and whether it was told that some is wrong."""
    results = read_results_folder(folder)
    notes = list(results.notes)
    kept = kept_features.read_frame(folder, notes).drop(columns="check", errors="ignore")
    rows = results.rows.drop(columns="check").astype(object)
    rows = rows.where(rows.notna(), "").to_dict("records")
    content = results.manifest, rows, kept.to_dict("records")
    return content, bool(notes)


def only_lines_went(now, expected):
    same = all(
        repr(line) in set(map(repr, whole))
        for part, whole in zip(now[1:], expected[1:], strict=True)
        for line in part
    )
    return same and now[0] == expected[0]


@pytest.mark.parametrize("name", [TRIALS, manifest.MANIFEST, kept_features.KEPT_FEATURES_FILE])
def test_each_corrupted_result_file_is_detected_without_a_traceback(folder, name):
    file = folder / name
    whole, rng = file.read_bytes(), random.Random(name)
    expected, noted = facts(folder)
    assert not noted
    for number in range(CHANGES):
        file.write_bytes(content := changed(whole, rng))
        if number % 8 == 0:
            result = CliRunner().invoke(main, ["table", str(folder)])
            assert result.exception is None or isinstance(result.exception, SystemExit), content
        with suppress(ResultsError):
            now, noted = facts(folder)
            # A piece that is gone, or twice there, may be whole lines: those left are the same.
            assert noted or only_lines_went(now, expected), content
