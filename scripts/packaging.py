"""What pyproject.toml cannot say: configs/ goes into the wheel and the source archive.

The folder stays beside the package, where a checkout and an editable install find it.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

CONFIGS = Path("configs")  # a build runs at the top of the project


class BuildWithConfigs(build_py):
    """Copies the configurations beside the modules."""

    def run(self) -> None:
        """Build, then copy."""
        super().run()
        if not getattr(self, "editable_mode", False):
            target = Path(self.build_lib, "rfbench", "configs")
            target.mkdir(parents=True, exist_ok=True)
            for file in CONFIGS.glob("*.yaml"):
                shutil.copy(file, target)


class ArchiveWithConfigs(sdist):
    """Adds what the build above needs to the source archive."""

    def make_distribution(self) -> None:
        """Add the configurations and this file, then archive."""
        self.filelist.extend(map(str, [*CONFIGS.glob("*.yaml"), Path("scripts", "packaging.py")]))
        super().make_distribution()
