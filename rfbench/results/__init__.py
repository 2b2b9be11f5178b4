"""Access to results folders: writing and reading `trials.csv`, `manifest.json` and `kept.csv`.

Other parts of the package do not open these files.
"""

from rfbench.results.reader import Results, find, read, read_all

__all__ = ["Results", "find", "read", "read_all"]
