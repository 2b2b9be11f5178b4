"""Feature maps as torch modules. The package torch has to be installed (`rfbench[torch]`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from rfbench.arrays import FloatArray


class TorchMap(torch.nn.Module):  # type: ignore[misc]
    """Torch module that computes the features of a feature map for rows of shape (..., n, d).

    The features are differentiable with respect to the rows. Frequencies, offsets and weights are
    buffers: they move with the module to a device, and optimizers do not change them.

    Parameters
    ----------
    features : FeatureMap
        The feature map.
    matrix : array of shape (features.n_columns, l), optional
        Matrix by which the features are multiplied.
    """

    def __init__(self, features: Any, matrix: FloatArray | None = None) -> None:
        super().__init__()
        self.feature, self.paired = features.feature, features.layout == "paired"
        self.scale, self.order = features.scale, features.order
        frequencies: Any = features.frequencies
        if features.projection is not None:
            frequencies = features.projection.compute_frequencies()[:, frequencies]
        arrays = {
            "frequencies": frequencies,
            "offsets": features.offsets,
            "weights": features.weights,
            "matrix": matrix,
        }
        for name, array in arrays.items():
            own = np.asarray(array) if array is not None else None
            if own is not None and own.dtype.kind == "f":
                own = own.astype(features.dtype)
            buffer = None if own is None else torch.from_numpy(np.array(own, order="C"))
            self.register_buffer(name, buffer)

    def forward(self, rows: Any) -> Any:
        """Return the features of the rows, shape (..., n, n_columns).

        The rows have the shape (..., n, d) and the dtype of the module's buffers.
        """
        if self.feature == "coordinate":
            columns = rows[..., self.frequencies] * self.scale
        else:
            # The columns are changed in place, because a block of features is the largest array.
            # torch keeps copies of intermediate values only if a gradient is required.
            columns = rows @ self.frequencies
            if self.offsets is not None:
                columns.add_(self.offsets)
            if self.paired:
                size = columns.shape[-1]
                columns = torch.cat([columns, columns], -1)
                columns[..., :size].cos_()
                columns[..., size:].sin_()
            elif self.feature == "wave":
                columns.cos_()
            elif self.feature == "tanh":
                # The addition of 0 makes a copy, which is multiplied in place below. The gradient
                # of tanh needs the original values of tanh.
                columns = columns.tanh() + 0.0
            elif self.order == 0:
                columns = columns.sign().add_(1.0).mul_(0.5)
            else:
                columns = columns.clamp_(min=0.0).pow(self.order)
            columns = columns.mul_(self.scale)
        if self.weights is not None:
            columns = columns * self.weights
        return columns if self.matrix is None else columns @ self.matrix
