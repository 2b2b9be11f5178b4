"""A hidden layer of tanh units whose weights are drawn without a look at the data."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from rfbench.arrays import Array, Rows
from rfbench.parameters import NOTHING, number, one_of, parameter, whole
from rfbench.samplers.base import RandomFeatures, Streams
from rfbench.samplers.declaration import ANY, Form, sampler
from rfbench.samplers.feature_map import PLAIN, FeatureMap

UNIFORM = "uniform"


@sampler(
    "elm",
    kernels=ANY,
    about="tanh features with independent weights, the layer that swim is held against",
    forms=(Form({"scale": 3.0}),),
)
class ELM(RandomFeatures):
    r"""Columns :math:`\tanh(s (w^\top x + b)) / \sqrt M` of independent w and b.

    Every entry of w and b is uniform on :math:`[-1/\sqrt d, 1/\sqrt d]`, as torch's ``nn.Linear``
    begins: an extreme learning machine's hidden layer. Costs O(M d).

    Parameters
    ----------
    n_components : int
        M, the number of columns.
    scale : float
        s.
    weights : {'uniform'}
        The law of the entries.
    torch_seed : int, optional
        Take the weights that ``torch.manual_seed(torch_seed)`` gives to ``torch.nn.Linear(d, M)``
        on the CPU, so that a published run can be repeated; nothing is drawn then, and M columns do
        not begin with those of a smaller M.
    kernel, bandwidth, feature_map
        Without effect: there is no kernel.
    Other parameters: those of `RandomFeatures`.

    References
    ----------
    Huang, Zhu and Siew, Extreme learning machine: theory and applications, Neurocomputing 70, 2006.
    Zozoulenko, Cass and Gonon, Random Feature Representation Boosting, ICML 2025, take it as the
    network with i.i.d. features.

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
    weights: str = parameter(UNIFORM, one_of(UNIFORM))
    torch_seed: int | None = parameter(None, whole(0) | NOTHING)

    def _draw(self, X: Rows, targets: Array | None, random: Streams) -> FeatureMap:
        d, m = X.shape[1], self.n_components
        if self.torch_seed is not None:
            drawn = self.scale / np.sqrt(d) * torch_uniform(self.torch_seed, d * m + m)
            frequencies, offsets = drawn[: d * m].reshape(m, d).T, drawn[d * m :]
            frequencies = np.ascontiguousarray(frequencies)
            return FeatureMap("tanh", PLAIN, frequencies, offsets, scale=m**-0.5)
        bound = self.scale / np.sqrt(d)
        frequencies = random.frequencies.uniform(-bound, bound, (m, d)).T
        offsets = random.offsets.uniform(-bound, bound, m)
        return FeatureMap("tanh", PLAIN, np.ascontiguousarray(frequencies), offsets, scale=m**-0.5)


def torch_uniform(seed: int, count: int) -> Array:
    """Return the first numbers, uniform on [-1, 1), that torch draws in float32 after a seed.

    Its generator on the CPU is numpy's of old, MT19937, and a number is made of the last 24 bits.
    """
    words = np.random.RandomState(seed).randint(0, 2**32, size=count, dtype=np.uint64)
    return np.asarray((words & (2**24 - 1)) * 2.0**-23 - 1.0)
