"""Random Fourier features of the metric in which the target varies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, ClassVar

import joblib
import numpy as np

from rfbench.arrays import Array, Rows
from rfbench.kernels import Gaussian
from rfbench.parameters import one_of, parameter, whole
from rfbench.rows import RowSource
from rfbench.samplers.base import Streams
from rfbench.samplers.declaration import GAUSSIAN, Form, sampler
from rfbench.samplers.feature_map import FeatureMap
from rfbench.samplers.metric import DIAGONAL, FULL, LearnedMetric, into
from rfbench.samplers.pool import SCORE_ROWS, ScoredFeatures

METRIC_BYTES = 2**26  # of the metrics that a search remembers; one more may go beyond

Metrics = dict[str, LearnedMetric]
_remembered: ContextVar[Metrics | None] = ContextVar("metrics of a search", default=None)


@contextmanager
def remembering(metrics: Metrics) -> Iterator[None]:
    """Let the fits inside learn the metric of the same rows once, and keep it in `metrics`.

    It is the same for every bandwidth. The rows of a fold are copied anew for each of them, so
    they are known by their content. What is found takes no time, and none is charged for it.
    """
    token = _remembered.set(metrics)
    try:
        yield
    finally:
        _remembered.reset(token)


@sampler(
    "rfm-rff",
    kernels=GAUSSIAN,
    about="random Fourier features of a metric that is learnt from the gradients of a few fits",
    contract={"float32_tolerance": 1e-3},
    forms=(
        Form({"rounds": 2}),
        Form({"metric": "full", "score_rows": 40}),
    ),
)
class RFMFeatures(ScoredFeatures):
    r"""Random Fourier features of a Mahalanobis kernel whose metric is learnt from gradients.

    The frequencies are :math:`w = A^{1/2} w_0`, with :math:`w_0` from the spectral measure and A
    the average gradient outer product of kernel regressions (AGOP), see
    `rfbench.samplers.metric.LearnedMetric`: in a few rounds, of which that with the smallest loss
    on rows held out is kept. Round 0, A = I, is random kitchen sinks.

    This is the recursive feature machine with random features, and a method of rfbench: that of
    the paper solves kernel regression on all rows. The metric is learnt from fits on landmarks,
    because the gradients of fits on random Fourier features carry the noise of these features.

    Parameters
    ----------
    rounds : int
        Number of outer products that are tried.
    metric : {'diagonal', 'full'}
        Weights of the columns, or any linear map of them.
    score_rows : int or float
        Number, or fraction, of training rows that the metric is learnt from.
    Other parameters: those of `ScoredFeatures`.

    Attributes
    ----------
    metric_ : array of shape (d,) or (d, d)
        A, the weights of the columns where it is diagonal.
    losses_ : array of shape (rounds + 1,)
        Mean squared loss of the rows held out, by round.
    round_ : int
        The round that is kept.

    References
    ----------
    Radhakrishnan, Beaglehole, Pandit and Belkin, Mechanism for feature learning in neural networks
    and backpropagation-free machine learning models, Science 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import RFMFeatures
    >>> X = np.random.default_rng(0).standard_normal((300, 3))
    >>> sampler = RFMFeatures(50, bandwidth=2.0, random_state=0).fit(X, np.sin(2 * X[:, 0]))
    >>> bool(sampler.metric_[0] > 2.5)
    True
    """

    needs_target: ClassVar[bool] = True
    approximates_kernel: ClassVar[bool] = False
    kernels_served: ClassVar[Any] = Gaussian
    revision: ClassVar[int] = 2  # 1: from Fourier features, the last round, full, one penalty

    rounds: int = parameter(3, whole(1))
    metric: str = parameter(DIAGONAL, one_of(DIAGONAL, FULL))
    score_rows: int | float = parameter(3000, SCORE_ROWS)

    def _metric(self, n: int, random_state: Any = None) -> LearnedMetric:
        return LearnedMetric(
            kind=self.metric,
            kernel=self.kernel,
            rounds=self.rounds,
            n_rows=max(2, self.n_scored(n)),
            random_state=random_state,
        )

    def _learned(self, X: Rows, targets: Array | None, random: Streams) -> LearnedMetric:
        """Return the metric of these rows, learnt now or remembered."""
        metric, known = self._metric(X.shape[0], random.selection), _remembered.get()
        if known is None or isinstance(X, RowSource):
            return metric.fit(X, targets)
        key = joblib.hash((X, targets, metric.get_params()))
        if key in known:
            return known[key]
        metric.fit(X, targets)
        if sum(other.root_.nbytes for other in known.values()) < METRIC_BYTES:
            known[key] = metric
        return metric

    def _draw(self, X: Rows, targets: Array | None, random: Streams) -> FeatureMap:
        learned = self._learned(X, targets, random)
        self.metric_, self.losses_ = learned.metric_, learned.losses_
        self.round_ = learned.round_
        self.notes_.extend(learned.notes_)
        drawn = self.draw_unit_map(random, X.shape[1], self.n_components)
        turned = into(learned.root_, drawn.frequencies.T).T
        return replace(drawn, frequencies=np.ascontiguousarray(turned)).times(
            self.n_components**-0.5
        )
