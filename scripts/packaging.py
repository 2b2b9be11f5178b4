"""Build commands that add the folder configs/ to the wheel and to the source archive.

The folder is next to the package in a checkout, and inside the package in a wheel. A build imports
nothing of the package, because an isolated build does not have its dependencies.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

CONFIGS = Path("configs")  # builds run in the top folder of the project


class BuildWithConfigs(build_py):
    """Copy the configurations into the package that is built."""

    def run(self) -> None:
        """Build the package, then copy the configurations unless the install is editable."""
        super().run()
        if not getattr(self, "editable_mode", False):
            target = Path(self.build_lib, "rfbench", "configs")
            target.mkdir(parents=True, exist_ok=True)
            for file in CONFIGS.glob("*.yaml"):
                shutil.copy(file, target)


class ArchiveWithConfigs(sdist):
    """Add the configurations and this file to the source archive; the wheel is built from it."""

    def make_distribution(self) -> None:
        """Add the files, then write the archive."""
        self.filelist.extend(map(str, [*CONFIGS.glob("*.yaml"), Path("scripts", "packaging.py")]))
        super().make_distribution()
