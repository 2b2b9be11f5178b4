"""The results folders: `trials.csv`, `manifest.json` and `kept.csv`, written, read and kept.

Nothing else in the package opens these files.
"""

from rfbench.results.reader import Results, find, read, read_all

__all__ = ["Results", "find", "read", "read_all"]
