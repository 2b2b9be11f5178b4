"""Samplers: scikit-learn transformers that compute random features.

A sampler's class is imported only when it is first used. `rfbench.registry` maps the name of each
class to its module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rfbench.parameters import build_checked_object
from rfbench.registry import SAMPLERS

if TYPE_CHECKING:
    from rfbench.samplers.base import RandomFeatures as RandomFeatures


def __getattr__(name: str) -> Any:
    return SAMPLERS.find_in_module(__name__, name, RandomFeatures="base")


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})


def make(name: str, **parameters: Any) -> RandomFeatures:
    """Return a new sampler, given its name and parameters.

    Parameters
    ----------
    name : str
        Name of the sampler, as printed by ``rfbench list samplers``.
    **parameters : Any
        Parameters of the sampler's class.

    Returns
    -------
    RandomFeatures
        The unfitted sampler.

    Raises
    ------
    MethodError
        If the sampler is unknown, or a parameter is wrong.

    Examples
    --------
    >>> from rfbench import samplers
    >>> samplers.make("eerf", n_components=50, pool_size=500)
    EERF(n_components=50, pool_size=500)
    """
    sampler: RandomFeatures = build_checked_object(SAMPLERS.find(name), name, parameters)
    return sampler
