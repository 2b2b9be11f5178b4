"""Reading and writing of results folders: `trials.csv`, `manifest.json` and `kept.csv`.

Other parts of the package do not open these files.
"""

from rfbench.results.reader import (
    Results,
    find_results_folders,
    read_results_folder,
    read_results_folders,
)

__all__ = ["Results", "find_results_folders", "read_results_folder", "read_results_folders"]
