"""Cache file of this user for the hashes of the settings in the shipped configurations.

The cache saves time, because computing the hashes imports scikit-learn and reads YAML. For all
published results, this needs more time than reading their rows.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path

from rfbench import files, shipped
from rfbench.errors import RfbenchError
from rfbench.home import find_user_folder
from rfbench.results import Results
from rfbench.source import PACKAGE, hash_code

FILE = "settings.json"


def load_current_settings(several_results: Sequence[Results]) -> list[frozenset[str] | None]:
    """Return the hashes of the current settings of several results, from the cache if possible.

    The result is the same as from `find_current_settings_of_each`. A stored entry is used only if
    the code of rfbench, the version of scikit-learn, the configurations and the data have not
    changed.
    """
    contents = {path.stem: path.read_bytes() for path in shipped.list_configurations()}
    file = find_user_folder() / FILE
    stored = _load(file)
    known = dict(stored)
    found: list[frozenset[str] | None] = []
    for results in several_results:
        key = _make_key(results, contents)
        if key is None or key in known:
            settings = None if key is None else known[key]
            found.append(None if settings is None else frozenset(settings))
            continue
        asked, is_shipped = _plan(results)
        if is_shipped:
            known[key] = None if asked is None else sorted(asked)
        found.append(asked)
    if known != stored:
        content = json.dumps({"code": _hash_shipped(), "settings": known})
        # Ignore an error of writing the cache, because the settings can be computed without the
        # cache.
        with contextlib.suppress(RfbenchError):
            files.replace(file, content.encode())
    return found


def _plan(results: Results) -> tuple[frozenset[str] | None, bool]:
    """Compute the hashes of the current settings of results without the cache.

    The second value is True if the hashes may be stored in the cache.
    """
    from rfbench.experiment import current_settings

    return current_settings.find_current_settings(
        results
    ), current_settings.depends_on_shipped_files(results.name)


def _make_key(results: Results, contents: Mapping[str, bytes]) -> str | None:
    """Return the key of results in the cache, or None if their configuration is not shipped.

    The key is a hash of the name, the configuration and the data of the results.
    """
    own = [content for stem, content in contents.items() if results.name.startswith(stem)]
    if not own:
        return None
    digest = hashlib.sha256(json.dumps([results.name, results.list_data()]).encode())
    for content in own:
        digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()


def _hash_shipped() -> str:
    """Return a hash of the files and versions for which the cache is valid.

    The hash covers the code of rfbench, the values printed in papers and the version of
    scikit-learn.
    """
    digest = hashlib.sha256(f"{hash_code()} {metadata.version('scikit-learn')}".encode())
    for file in sorted(PACKAGE.glob("papers/*/*.csv")):
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def _load(file: Path) -> dict[str, list[str] | None]:
    """Return the hashes of settings that the cache file contains, by key.

    The dictionary is empty if the file is invalid or was written by different code.
    """
    try:
        content = json.loads(files.read(file))
        settings = content["settings"] if content["code"] == _hash_shipped() else {}
        return {
            str(key): None if values is None else [str(each) for each in values]
            for key, values in settings.items()
        }
    except (OSError, RfbenchError, ValueError, TypeError, KeyError, AttributeError):
        return {}
