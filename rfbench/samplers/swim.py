"""Random features that are tanh units of a neural network with one hidden layer."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array, Rows
from rfbench.kernels import to_dense
from rfbench.parameters import NONE, number, one_of, parameter, whole
from rfbench.samplers.base import RandomFeatures, RandomStreams
from rfbench.samplers.declaration import ANY, CheckCase, sampler
from rfbench.samplers.feature_map import PLAIN, FeatureMap
from rfbench.samplers.projected import iterate_row_blocks

# Value at which tanh is 1/2, by definition.
HALF = float(np.arctanh(0.5))
# Pairs of rows are left out if their distance, divided by the median distance, is below this value.
# Such rows are equal up to rounding errors, and features of a pair are scaled by the inverse of the
# distance, which would be huge. The value was chosen without a measurement. Twice or half the value
# would matter only for pairs that agree in five digits.
COINCIDE = 1e-6
MAX, L2 = "max", "l2"
Numbers = NDArray[np.intp]


@sampler(
    "pairs",
    kernels=ANY,
    about="as swim, with pairs drawn uniformly: the control without the target",
    contract={"float32_tolerance": 1e-3},
)
class DataPairs(RandomFeatures):
    r"""Features from uniformly drawn pairs of training rows, each a tanh unit of a neural network.

    Each feature is :math:`\tanh(w^\top x + b) / \sqrt M`. The weights w and the offset b are
    computed from a pair :math:`(x_1, x_2)` of rows at the distance D: :math:`w = 2 s (x_2 - x_1) /
    D^2` and :math:`b = -w^\top x_1 - s` with the scale s. By default, tanh(w'x + b) is -1/2 at
    :math:`x_1` and 1/2 at :math:`x_2`. The sampler is a control for `SWIM`, which draws pairs with
    a preference for large changes of the target. The cost is O(pairs_per_row n d).

    Parameters
    ----------
    n_components : int, default=100
        M, the number of columns. Each column is from one pair of rows, drawn with replacement.
    kernel, bandwidth, feature_map
        Ignored, because the features have no kernel.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Random seed or generator. None uses a new seed in every fit.
    pairs_per_row : int, default=5
        Number of ordered pairs in the pool for each first row. The second row is drawn uniformly
        from the other rows. Pairs with a distance below 1e-6 times the median distance are left
        out.
    scale : float, default=0.5493061443340549
        Scale s. Before the division by sqrt(M), the values of a column at its two rows are -tanh s
        and tanh s.

    Attributes
    ----------
    pairs_ : array of shape (M, 2)
        Row indices of the pairs in the training set. The array is empty if all rows are equal, and
        columns are then constant.
    pool_ : array of shape (p, 2)
        The pairs from which columns are drawn.
    probabilities_ : array of shape (p,)
        Probabilities with which the pairs of `pool_` are drawn.
    coinciding_ : int
        Number of pairs that were left out because their distance is too small.

    References
    ----------
    Bolager, Burak, Datar, Sun and Dietrich, Sampling Weights of Deep Neural Networks, NeurIPS
    2023: one layer. The reference implementation is swimnetworks.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import DataPairs
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> DataPairs(10, random_state=0).fit(X).transform(X).shape
    (200, 10)
    """

    approximates_kernel: ClassVar[bool] = False
    has_bandwidth: ClassVar[bool] = False

    pairs_per_row: int = parameter(5, whole(1))
    scale: float = parameter(HALF, number(above=0))

    def _draw(self, X: Rows, targets: Array | None, random: RandomStreams) -> FeatureMap:
        n = X.shape[0]
        first = np.tile(np.arange(n), self.pairs_per_row)
        pool = np.stack([first, (first + random.rows.integers(1, max(n, 2), len(first))) % n], 1)
        distances = _distances(X, pool)
        apart = distances > COINCIDE * np.median(distances)
        self.coinciding_ = int(np.count_nonzero(~apart))
        self.pool_, distances = pool[apart], distances[apart]
        if self.coinciding_:
            self.notes_.append(
                f"{self.coinciding_} of {len(pool)} pairs have nearly equal rows and are omitted"
            )
        self.probabilities_ = self._probabilities(self.pool_, distances, targets)
        self.pairs_ = self.pool_[:0]
        if len(self.pool_):
            p, size = self.probabilities_, self.n_components
            self.pairs_ = self.pool_[random.selection.choice(len(p), size, p=p)]
        frequencies, offsets = compute_pair_weights(X, self.pairs_, self.scale)
        missing = self.n_components - len(self.pairs_)
        return FeatureMap(
            "tanh",
            PLAIN,
            np.pad(frequencies, ((0, 0), (0, missing))),
            np.pad(offsets, (0, missing), constant_values=-self.scale),
            scale=self.n_components**-0.5,
        )

    def _probabilities(self, pairs: Numbers, distances: Array, targets: Array | None) -> Array:
        """Return the probability with which each of the p pairs of rows is drawn, shape (p,).

        `distances` contains the distance of the two rows of each pair.
        """
        return np.full(len(pairs), 1.0 / max(len(pairs), 1))


@sampler(
    "swim",
    kernels=ANY,
    about=(
        "tanh features from pairs of training rows, most likely pairs with a large "
        "change of the target; no kernel and no bandwidth"
    ),
    contract={"float32_tolerance": 1e-3},
    forms=(CheckCase({"pairs_per_row": 3, "target_norm": "l2"}),),
)
class SWIM(DataPairs):
    r"""Features from pairs of training rows between which the target changes a lot (SWIM).

    Each feature is a tanh unit of a neural network, computed from a pair of rows as in `DataPairs`.
    Pairs are drawn with probabilities proportional to :math:`|t_2 - t_1| / D`. D is the distance of
    the two rows, and :math:`t_1` and :math:`t_2` are their targets (one-hot for several classes).
    The probabilities are uniform if the target is constant.

    Parameters
    ----------
    n_components : int, default=100
        M, the number of columns. Each column is from one pair of rows, drawn with replacement.
    kernel, bandwidth, feature_map
        Ignored, because the features have no kernel.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Random seed or generator. None uses a new seed in every fit.
    pairs_per_row : int, default=5
        Number of ordered pairs in the pool for each first row. The second row is drawn uniformly
        from the other rows. Pairs with a distance below 1e-6 times the median distance are left
        out.
    scale : float, default=0.5493061443340549
        Scale s. Before the division by sqrt(M), the values of a column at its two rows are -tanh s
        and tanh s.
    target_norm : {'max', 'l2'}, default='max'
        The norm of :math:`t_2 - t_1` over the columns. The authors use the maximum.

    References
    ----------
    Bolager, Burak, Datar, Sun and Dietrich, Sampling Weights of Deep Neural Networks, NeurIPS
    2023, Definition 2 for one layer. The reference implementation is swimnetworks.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import SWIM
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> SWIM(10, random_state=0).fit(X, X[:, 0] > 0).transform(X).shape
    (200, 10)
    """

    needs_target: ClassVar[bool] = True

    target_norm: str = parameter(MAX, one_of(MAX, L2))

    def _probabilities(self, pairs: Numbers, distances: Array, targets: Array | None) -> Array:
        assert targets is not None
        change = np.abs(targets[pairs[:, 1]] - targets[pairs[:, 0]])
        size = change.max(axis=1) if self.target_norm == MAX else np.linalg.norm(change, axis=1)
        if not size.any():
            return super()._probabilities(pairs, distances, targets)
        return np.asarray(size / distances / np.sum(size / distances))


def compute_pair_weights(X: Rows, pairs: Numbers, scale: float = HALF) -> tuple[Array, Array]:
    """Return the weights and the offsets of m tanh units that are computed from m pairs of rows.

    `pairs` contains row indices. The weights have the shape (d, m), and the offsets the shape (m,).
    """
    start = np.asarray(to_dense(X[pairs[:, 0]]), np.float64)
    step = np.asarray(to_dense(X[pairs[:, 1]]), np.float64) - start
    frequencies = 2.0 * scale * step / np.sum(step**2, axis=1, keepdims=True)
    return np.ascontiguousarray(frequencies.T), -np.sum(frequencies * start, axis=1) - scale


def _distances(X: Rows, pairs: Numbers) -> Array:
    found = np.empty(len(pairs))
    for block in iterate_row_blocks(len(pairs), X.shape[1]):
        start, end = (np.asarray(to_dense(X[side]), np.float64) for side in pairs[block].T)
        found[block] = np.linalg.norm(end - start, axis=1)
    return found


@sampler(
    "elm",
    kernels=ANY,
    about="tanh features with independent weights, the layer that swim is compared with",
    forms=(CheckCase({"scale": 3.0}),),
)
class ELM(RandomFeatures):
    r"""Hidden layer of an extreme learning machine: tanh units with random weights.

    The features of a row x are :math:`\tanh(s (w^\top x + b)) / \sqrt M` with the scale s. Every
    entry of the weights w and of the offset b is independent and uniform on :math:`[-1/\sqrt d,
    1/\sqrt d]` for rows with d columns, as in the initialization of torch's ``nn.Linear``. The cost
    is O(M d).

    Parameters
    ----------
    n_components : int, default=100
        M, the number of columns.
    kernel, bandwidth, feature_map
        Ignored, because the features have no kernel.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Random seed or generator. None uses a new seed in every fit.
    scale : float, default=1.0
        Scale s.
    weights : {'uniform'}, default='uniform'
        Distribution of the entries of w and b.
    torch_seed : int, optional, default=None
        Use the weights of ``torch.nn.Linear(d, M)`` on the CPU after
        ``torch.manual_seed(torch_seed)``, in order to repeat a published run. No other random
        numbers are used, and the columns for a smaller M are not the first columns for a larger M.

    References
    ----------
    Huang, Zhu and Siew, Extreme learning machine: theory and applications, Neurocomputing 70, 2006.
    Zozoulenko, Cass and Gonon, Random Feature Representation Boosting, ICML 2025, use this layer as
    the network with i.i.d. features.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import ELM
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> ELM(10, random_state=0).fit(X).transform(X).shape
    (200, 10)
    """

    approximates_kernel: ClassVar[bool] = False
    has_bandwidth: ClassVar[bool] = False

    scale: float = parameter(1.0, number(above=0))
    weights: str = parameter("uniform", one_of("uniform"))
    torch_seed: int | None = parameter(None, whole(0) | NONE)

    def _draw(self, X: Rows, targets: Array | None, random: RandomStreams) -> FeatureMap:
        d, m = X.shape[1], self.n_components
        bound = self.scale / np.sqrt(d)
        if self.torch_seed is not None:
            drawn = bound * draw_torch_uniform(self.torch_seed, d * m + m)
            frequencies, offsets = drawn[: d * m].reshape(m, d).T, drawn[d * m :]
        else:
            frequencies = random.frequencies.uniform(-bound, bound, (m, d)).T
            offsets = random.offsets.uniform(-bound, bound, m)
        return FeatureMap("tanh", PLAIN, np.ascontiguousarray(frequencies), offsets, scale=m**-0.5)


def draw_torch_uniform(seed: int, count: int) -> Array:
    """Return the first `count` uniform random numbers on [-1, 1) that torch draws after seeding.

    The numbers are the same as the float32 numbers of torch on the CPU for the seed `seed`, but
    torch is not needed.
    """
    words = np.random.RandomState(seed).randint(0, 2**32, size=count, dtype=np.uint64)
    return np.asarray((words & (2**24 - 1)) * 2.0**-23 - 1.0)
