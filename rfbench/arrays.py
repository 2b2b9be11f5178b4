"""Type aliases for arrays, and an option for pandas to parse numbers exactly."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
FloatArray = NDArray[np.floating[Any]]  # float64 or float32
Rows = Any  # dense array of shape (n, d), or scipy.sparse.csr_array

_before_3_1 = [int(part) for part in version("pandas").split(".")[:2]] < [3, 1]
# Options with which `pandas.read_csv` converts a decimal number to the nearest float64. Since
# pandas 3.1, this conversion is the default and the option is deprecated.
EXACT: dict[str, Any] = {"float_precision": "round_trip"} if _before_3_1 else {}
