"""Random kitchen sinks, also called random Fourier features."""

from __future__ import annotations

from rfbench.arrays import Array, Rows
from rfbench.parameters import number, parameter
from rfbench.samplers.base import RandomFeatures, RandomStreams
from rfbench.samplers.declaration import ANY, sampler
from rfbench.samplers.feature_map import FeatureMap


@sampler(
    "rks",
    kernels=ANY,
    about=(
        "independent random frequencies from the kernel's spectral measure: plain random "
        "Fourier features, the baseline"
    ),
)
class RKS(RandomFeatures):
    r"""Random kitchen sinks (random Fourier features): independent frequencies.

    The M frequencies :math:`w_m` are drawn from the spectral measure of the kernel. The features
    z(x) of a row x are :math:`\sqrt{2/M} \cos(w_m^\top x + b_m)` with random offsets :math:`b_m`
    (offset map), or :math:`\sqrt{1/M} [\cos w_m^\top x, \sin w_m^\top x]` (paired map). The
    products of features are unbiased estimates of the kernel: :math:`E[z(x)^\top z(y)] = k(x, y)`.

    Parameters
    ----------
    n_components : int, default=100
        M, the number of frequencies. A frequency has one column, or two in the paired map.
    kernel : str, default='gaussian'
        Name of a kernel in `rfbench.registry.KERNELS`.
    bandwidth : float or {'median', 'knn50', 'knn50-sample'}, default='median'
        Bandwidth (length scale) of the kernel, or the rule that computes the bandwidth from the
        training set.
    feature_map : {'offset', 'paired'}, default='offset'
        'offset': the columns are sqrt(2/M) cos(w'x + b) for frequencies w and random offsets b.
        'paired': the columns are the pairs sqrt(1/M) [cos w'x, sin w'x]. Ignored for arc-cosine and
        linear kernels.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Random seed or generator. None uses a new seed in every fit.
    penalty_divisor : float, default=1.0
        Divisor c of the penalty. Every column is multiplied by sqrt(c), so that a ridge penalty
        lambda has the same effect as lambda / c for features without the factor. The features then
        estimate c times the kernel. The parameter is a control for methods that rescale their
        features.

    References
    ----------
    Rahimi and Recht, Random Features for Large-Scale Kernel Machines, NIPS 2007; Weighted Sums of
    Random Kitchen Sinks, NIPS 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import RKS
    >>> X = np.random.default_rng(0).standard_normal((20, 3))
    >>> RKS(50, bandwidth=2.0, random_state=0).fit(X).transform(X).shape
    (20, 50)
    """

    penalty_divisor: float = parameter(1.0, number(above=0))

    def _draw(self, X: Rows, targets: Array | None, random: RandomStreams) -> FeatureMap:
        unit = self.draw_unit_map(random, X.shape[1], self.n_components)
        return unit.times(self.n_components**-0.5 * self.penalty_divisor**0.5)
