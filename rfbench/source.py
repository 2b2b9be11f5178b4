"""Hash of the code of rfbench. Installations with the same files have the same hash."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
SUFFIXES = (".py", ".yaml")
# Name of the folder of the configurations, which contains no code. In a wheel, the folder is inside
# the package. In a checkout, it is next to the package.
CONFIGS = "configs"


def hash_folder(package: Path) -> str:
    """Return a hash of the relative paths and the content of all code files in a folder.

    Code files have the suffix ``.py`` or ``.yaml`` and are not configurations. All other files are
    excluded, so that an installed package and a checkout of the source code have the same hash.
    """
    digest = hashlib.sha256()
    files = {
        file.relative_to(package).as_posix(): file
        for file in package.rglob("*")
        if file.suffix in SUFFIXES and file.is_file()
    }
    for name, file in sorted(files.items()):
        if not name.startswith(f"{CONFIGS}/"):
            content = file.read_bytes()
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


@functools.cache
def hash_code() -> str:
    """Return the hash of the code of rfbench. The hash is computed only at the first call."""
    return hash_folder(PACKAGE)
