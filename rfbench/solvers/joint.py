"""The kernel and its support vector machine optimised together."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from rfbench.arrays import Array
from rfbench.clock import Clock
from rfbench.memory import check_fits
from rfbench.parameters import estimator, number, parameter, whole
from rfbench.solvers.base import LinearModel, PenalisedSolver
from rfbench.solvers.coding import Targets
from rfbench.solvers.design import Design
from rfbench.solvers.estimators import Classifier
from rfbench.solvers.fits import Fits, Groups, LinearPath, Path
from rfbench.solvers.interior_point import solve_saddle


@estimator
class JointClassifier(Classifier, LinearModel, PenalisedSolver):
    r"""Joint optimisation of a distribution over random features and of an SVM (problem 9).

    .. math:: \min_q \max_{0 \le a \le C,\; y^\top a = 0} 1^\top a - \tfrac12 \sum_m q_m g_m^2,
              \qquad g_m = \sum_i a_i y_i \phi_{im},

    over the distributions q with :math:`N |q|^2 - 1 \le \rho`; C is 1/alpha. For a given q that is
    :math:`\sum_i \max(0, 1 - y_i (\phi_i^\top w + b)) + \alpha \sum_m w_m^2 / (2 q_m)`. The
    features are the pool: N of them, not weighted (the sampler rks with M = N, say). The decision
    is :math:`\sum_m q_m g_m \phi_m(x) + b`, b from the optimality of the hinge losses. Binary
    only. The features z carry a factor 1/sqrt(N), as those of the samplers do, and
    :math:`\phi = \sqrt N z`: the uniform q gives the SVM of the features as they come.

    Solved by an interior-point method until the relative duality gap is below `tol`; the gap that
    was reached is noted, and is proven by a primal and a dual feasible point. With m the
    smaller of n and N, a step costs m n N + m^3/3 operations and 8 * 2 m^2 bytes beside those of
    the features; 20 to 60 steps are usual, and 110 where rows differ in length a thousandfold.

    Parameters
    ----------
    rho : float
        Radius of the chi-square ball, above 0.
    tol : float
        The relative duality gap to reach.
    max_iter : int
        Steps a penalty.
    Other parameters: those of `PenalisedSolver`.

    Attributes
    ----------
    kernel_weights_ : array of shape (N,)
        q.

    References
    ----------
    Sinha and Duchi, Learning Kernels with Random Features, NIPS 2016, section 3.3.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import RKS
    >>> from rfbench.solvers import JointClassifier
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> y = np.linalg.norm(X, axis=1) > 1.2
    >>> pool = RKS(150, bandwidth=1.0, random_state=0).fit(X)
    >>> solver = JointClassifier(1.0, rho=20.0).fit(X, y, features=pool)
    >>> bool(150 * np.sum(solver.kernel_weights_**2) - 1 <= 20 + 1e-9)
    True
    """

    multi_class: ClassVar[bool] = False
    positive_alphas: ClassVar[bool] = True
    matrices: ClassVar[float] = 5.0

    rho: float = parameter(10.0, number(above=0))
    tol: float = parameter(1e-4, number(above=0))
    max_iter: int = parameter(200, whole(1))

    def _fits(self, design: Design, targets: Targets, groups: Groups, clock: Clock) -> Fits:
        check_fits(
            16.0 * min(design.n, design.n_columns) ** 2 + 32.0 * design.n * design.n_columns,
            f"The joint optimisation on {design.n} rows and {design.n_columns} features",
            "Take fewer rows (the key rows); Sinha and Duchi (2016) took 5000.",
        )
        return super()._fits(design, targets, groups, clock)

    def _path(self, Z: Array, targets: Targets) -> LinearPath:
        y, alphas, N = targets.columns[:, 0], self._absolute(len(Z)), Z.shape[1]
        weights = np.full((len(alphas), N), 1.0 / N)
        path = replace(LinearPath.blank(len(alphas), N, 1), kernel_weights=weights)
        if len(np.unique(y)) == 1:
            path.intercepts[:] = y[0]
            return path
        factor = float(np.sqrt(N))
        A = Z * (factor * y[:, None])
        for i, alpha in enumerate(alphas):
            saddle = solve_saddle(
                A,
                y,
                1.0 / alpha,
                self.rho,
                intercept=self.intercept,
                tol=self.tol,
                max_iter=self.max_iter,
            )
            path.coefficients[i, :, 0] = factor * saddle.weights
            path.intercepts[i, 0], weights[i] = saddle.b, saddle.q
            gap = f"relative duality gap {max(saddle.relative_gap, 0.0):.1e}"
            path.notes[i].append(f"{gap} after {saddle.iterations} iterations")
            path.certify(i, max(saddle.relative_gap, 0.0))
            if not saddle.relative_gap <= self.tol:
                path.stopped(i, path.notes[i][0])
        return path

    def _keep(self, path: Path, best: int) -> None:
        super()._keep(path, best)
        assert isinstance(path, LinearPath)
        assert path.kernel_weights is not None
        self.kernel_weights_ = path.kernel_weights[best].copy()
