"""Build commands that add configurations and published rows to the wheel and the source archive.

In a checkout they are next to the package, in a wheel inside the package: all configurations, and
the rows of the leaderboard, which `rfbench rank` needs. A build does not import the package,
because an isolated build does not have its dependencies.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist


def added() -> dict[Path, Path]:
    """Return the files to add and their paths in the package; builds run in the top folder."""
    files = {file: Path(file) for file in Path("configs").glob("*.yaml")}
    published = Path("results", "published")
    for name in ("trials.csv", "manifest.json"):
        for file in published.glob(f"leaderboard*/{name}"):
            files[file] = file.relative_to("results")
    return files


class BuildWithData(build_py):
    """Copy the configurations and the rows into the package that is built."""

    def run(self) -> None:
        """Build the package, then copy the files unless the install is editable."""
        super().run()
        if not getattr(self, "editable_mode", False):
            for file, place in added().items():
                target = Path(self.build_lib, "rfbench", place)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, target)


class ArchiveWithData(sdist):
    """Add the same files and this one to the source archive, from which the wheel is built."""

    def make_distribution(self) -> None:
        """Add the files, then write the archive."""
        self.filelist.extend(map(str, [*added(), Path("scripts", "packaging.py")]))
        super().make_distribution()
