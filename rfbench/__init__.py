"""rfbench measures random-feature methods for kernel learning in the experiments of their papers.

    import rfbench

    results = rfbench.run("quickstart")            # a name, a file, or a dict
    rfbench.compare(results, "eerf", "rks")        # two methods on the same splits
    rfbench.samplers.EERF(n_components=100)        # a transformer of scikit-learn

Modules are imported on first use.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

from rfbench import slices
from rfbench._version import __version__ as __version__

if TYPE_CHECKING:
    from rfbench import datasets, kernels, samplers, solvers
    from rfbench.analysis.compare import compare
    from rfbench.analysis.summary import summarize
    from rfbench.api import RunResults, read_config, read_results, run
    from rfbench.errors import RfbenchError
    from rfbench.figures import plot
    from rfbench.pages.report import publish_pages as report

__all__ = [
    "RfbenchError",
    "RunResults",
    "compare",
    "datasets",
    "kernels",
    "plot",
    "read_config",
    "read_results",
    "report",
    "run",
    "samplers",
    "solvers",
    "summarize",
]

# Maps public names of functions and classes to their import paths. All other public names are
# modules. A function must not have the name of a module in this folder, because importing the
# module would replace the function.
_PLACES = {
    "RfbenchError": "rfbench.errors:RfbenchError",
    "RunResults": "rfbench.api:RunResults",
    "compare": "rfbench.analysis.compare:compare",
    "plot": "rfbench.figures:plot",
    "read_config": "rfbench.api:read_config",
    "read_results": "rfbench.api:read_results",
    "report": "rfbench.pages.report:publish_pages",
    "run": "rfbench.api:run",
    "summarise": "rfbench.analysis.summary:summarize",  # alias of `summarize`
    "summarize": "rfbench.analysis.summary:summarize",
}


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return pkgutil.resolve_name(_PLACES[name])
    if name in __all__:
        return importlib.import_module(f"rfbench.{name}")
    if name in (places := _of_slices()):
        return pkgutil.resolve_name(places[name])
    raise AttributeError(f"module 'rfbench' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_of_slices()})


def _of_slices() -> dict[str, str]:
    return {
        name: place
        for names in slices.call_hooks("list_public_names")
        for name, place in names.items()
    }
