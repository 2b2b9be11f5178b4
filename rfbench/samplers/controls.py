"""Controls: samplers that show where the gain of another one comes from."""

from __future__ import annotations

from rfbench.arrays import Array, Rows
from rfbench.samplers.base import Streams
from rfbench.samplers.declaration import ANY, Form, sampler
from rfbench.samplers.feature_map import FeatureMap
from rfbench.samplers.pool import PooledFeatures


@sampler(
    "uniform-pool",
    kernels=ANY,
    about="M features drawn uniformly from a random pool: the control for methods with a pool",
    contract={"kernel_sizes": (4, 40)},
    forms=(Form({"pool_size": 40}),),
)
class UniformPool(PooledFeatures):
    r"""M features drawn uniformly, without replacement, from a pool; nothing is scored.

    The pool is the one that EERF and LKRF see with the same seed, so that the difference to them
    is the selection alone. In distribution the features are those of random kitchen sinks (except
    for the linear kernel, whose coordinates are then drawn without replacement).

    Parameters
    ----------
    n_components : int
        M.
    pool_size : int
        Number of candidates.
    score_rows : int or float
        Without effect; there so that a configuration differs from a scored one in the name only.
    Other parameters: those of `PooledFeatures`.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import UniformPool
    >>> X = np.random.default_rng(0).standard_normal((20, 3))
    >>> UniformPool(10, pool_size=100, random_state=0).fit(X).transform(X).shape
    (20, 10)
    """

    def check_parameters(self) -> None:
        """Check that the pool holds M features."""
        super().check_parameters()
        self._check_pool_holds_components()

    def _draw(self, X: Rows, targets: Array | None, random: Streams) -> FeatureMap:
        pool = self.draw_pool(random, X.shape[1])
        self._check_pool_holds_components(pool.n_frequencies)
        chosen = random.selection.permutation(pool.n_frequencies)[: self.n_components]
        return pool.take(chosen).times(self.n_components**-0.5)
