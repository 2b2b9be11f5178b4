"""The settings of the shipped configurations, stored in the cache folder of this user.

Planning the configurations imports scikit-learn and reads YAML. For all published rows this takes
longer than reading the rows.
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
    """Return the current settings of several results, read from the cache if possible.

    See `rfbench.experiment.current_settings.find_current_settings`.

    Results that the cache has are not planned again. An entry is valid for the same rfbench and
    scikit-learn, the same configurations with this name, and the same data. Settings that depend
    on other files are computed at each call, see
    `rfbench.experiment.current_settings.depends_on_shipped_files`.
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
        # an error is ignored, because the cache is optional
        with contextlib.suppress(RfbenchError):
            files.replace(file, content.encode())
    return found


def _plan(results: Results) -> tuple[frozenset[str] | None, bool]:
    """Return the settings of results, and True if these may be stored."""
    from rfbench.experiment import current_settings

    return current_settings.find_current_settings(
        results
    ), current_settings.depends_on_shipped_files(results.name)


def _make_key(results: Results, contents: Mapping[str, bytes]) -> str | None:
    """Return the identity of the configuration and its data; None without a configuration."""
    own = [content for stem, content in contents.items() if results.name.startswith(stem)]
    if not own:
        return None
    digest = hashlib.sha256(json.dumps([results.name, results.list_data()]).encode())
    for content in own:
        digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()


def _hash_shipped() -> str:
    """Return a hash over the code of rfbench, the rows of papers and scikit-learn's version."""
    digest = hashlib.sha256(f"{hash_code()} {metadata.version('scikit-learn')}".encode())
    for file in sorted(PACKAGE.glob("papers/*/*.csv")):
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def _load(file: Path) -> dict[str, list[str] | None]:
    """Return the settings by key; empty if the file is of other code, or cannot be read."""
    try:
        content = json.loads(files.read(file))
        settings = content["settings"] if content["code"] == _hash_shipped() else {}
        return {
            str(key): None if values is None else [str(each) for each in values]
            for key, values in settings.items()
        }
    except (OSError, RfbenchError, ValueError, TypeError, KeyError, AttributeError):
        return {}
