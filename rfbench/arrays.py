"""The types of arrays that the package speaks of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
FloatArray = NDArray[np.floating[Any]]  # float64 or float32
Rows = Any  # a dense array or a scipy.sparse.csr_array of shape (n, d)
