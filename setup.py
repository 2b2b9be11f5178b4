"""Puts configs/ into the wheel; everything else is in pyproject.toml.

The folder stays beside the package, where a checkout and an editable install find it.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

CONFIGS = Path(__file__).resolve().parent / "configs"


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


if __name__ == "__main__":
    setup(cmdclass={"build_py": BuildWithConfigs})
