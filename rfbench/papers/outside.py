"""Papers that are not part of rfbench, found by a path or by an entry point of a package."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path

from rfbench.errors import ConfigError, ResultsError, RfbenchError
from rfbench.papers.models import Folder
from rfbench.papers.reader import CHANGES, CLAIMS, OPEN_CHOICES, PAPER, read_paper_folder

GROUP = "rfbench.papers"  # name of the entry points with which packages register papers
PAPER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


def is_paper_folder(path: Path) -> bool:
    """Return True if the path is a folder with the file paper.yaml, which describes a paper."""
    return path.joinpath(PAPER).is_file()


def find_paper_folders(path: Path) -> list[Path]:
    """Return the folders of papers: the path itself, or the folders directly in it, sorted by name.

    Raises ResultsError if there is no paper.
    """
    below = sorted(path.iterdir()) if path.is_dir() else []
    found = [path] if is_paper_folder(path) else [each for each in below if is_paper_folder(each)]
    if not found:
        raise ResultsError(
            f"There is no paper in {path}.",
            f"Neither this folder nor a folder in it contains the file {PAPER}.",
            "Name the folder of a paper, or write a new one with `rfbench new --paper NAME`.",
        )
    return found


def list_installed_papers() -> Iterator[Path]:
    """Yield the folders of papers that installed packages register as entry points.

    An entry point has the form `package.folder`. No package is imported.
    """
    for point in metadata.entry_points(group=GROUP):
        package, *inner = re.split("[.:]", point.value)
        try:
            # For a name without dots, find_spec does not import the package.
            spec = importlib.util.find_spec(package)
        except (ImportError, ValueError):
            spec = None
        places = list(spec.submodule_search_locations or ()) if spec else []
        yield next(filter(is_paper_folder, (Path(p, *inner) for p in places)), Path(point.value))


def list_configurations(folder: Path) -> list[Path]:
    """Return the configuration files in the folder of a paper and in its subfolder `configs`."""
    known = {PAPER, CLAIMS, OPEN_CHOICES, CHANGES}
    found = [path for path in folder.glob("*.yaml") if path.name not in known]
    return sorted(found) + sorted(folder.glob("configs/*.yaml"))


def read_external_papers(
    folders: Iterable[Path], shipped: Mapping[str, Folder], allow_imports: bool
) -> tuple[dict[str, Folder], list[str]]:
    """Read papers that are not part of rfbench from their folders.

    Return the papers by name, and a message for each invalid folder. The names of the papers in
    `shipped` cannot be used. Without `allow_imports`, the claims.py of the papers are not used.
    """
    papers: dict[str, Folder] = {}
    problems = []
    for folder in dict.fromkeys(folder.resolve() for folder in folders):
        try:
            if not is_paper_folder(folder):
                raise ConfigError(
                    f"The folder does not contain the file {PAPER}.",
                    "An entry point names this folder.",
                )
            check_external_name(folder.name, [*shipped, *papers])
            found = read_paper_folder(folder)
        except (RfbenchError, OSError, RecursionError) as error:
            problems.append(f"{folder}: {error}")
        else:
            code = found.code if allow_imports else None
            update = {"folder": folder, "withheld": code != found.code, "code": code}
            papers[found.paper.name] = found.model_copy(update=update)
    return papers, problems


def check_external_name(name: str, taken: Collection[str]) -> None:
    """Raise ConfigError if `name` cannot be the name of a paper that a user adds.

    A name is invalid if it is in `taken` or contains other characters than letters, digits, _ and
    -.
    """
    if name in taken:
        raise ConfigError(
            f"There is already a paper with the name {name}.", "", "Rename this folder."
        )
    if not PAPER_NAME.fullmatch(name):
        raise ConfigError(
            f"{name!r} cannot be the name of a paper.",
            "A name may contain letters, digits, _ and -.",
            "Rename the folder.",
        )
