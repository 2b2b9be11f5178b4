"""rfbench measures random-feature methods for kernel learning the way their papers did.

    import rfbench

    results = rfbench.run("quickstart")            # a name, a file, or a dict
    rfbench.compare(results, "eerf", "rks")        # paired, trial by trial
    rfbench.samplers.EERF(n_components=100)        # a transformer of scikit-learn

Everything is imported when it is first asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rfbench import datasets, kernels, samplers, solvers
    from rfbench.analysis.compare import compare
    from rfbench.analysis.summary import summarise
    from rfbench.api import RunResults, read_config, read_results, run
    from rfbench.choosing import choose
    from rfbench.errors import RfbenchError
    from rfbench.figures import plot
    from rfbench.pages.report import publish as report

__version__ = "0.2.0"

__all__ = [
    "RfbenchError",
    "RunResults",
    "choose",
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
    "summarise",
]

# Where each name comes from; one that is missing here is a module. No function may have the name
# of a module of this folder: whoever imports the module would put it in the function's place.
_PLACES = {
    "RfbenchError": "rfbench.errors:RfbenchError",
    "RunResults": "rfbench.api:RunResults",
    "choose": "rfbench.choosing:choose",
    "compare": "rfbench.analysis.compare:compare",
    "plot": "rfbench.figures:plot",
    "read_config": "rfbench.api:read_config",
    "read_results": "rfbench.api:read_results",
    "report": "rfbench.pages.report:publish",
    "run": "rfbench.api:run",
    "summarise": "rfbench.analysis.summary:summarise",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'rfbench' has no attribute '{name}'")
    module, _, thing = _PLACES.get(name, f"rfbench.{name}").partition(":")
    exported = importlib.import_module(module)
    return getattr(exported, thing) if thing else exported


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
