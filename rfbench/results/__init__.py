"""The results folders: writing, reading and storing `trials.csv`, `manifest.json` and `kept.csv`.

No other part of the package opens these files.
"""

from rfbench.results.reader import Results, find, read, read_all

__all__ = ["Results", "find", "read", "read_all"]
