"""Ridge regression on a device through torch: features, Gram matrices, factors, predictions.

What `rfbench.compute.gram` does on the CPU, for a GPU: features of a block of rows are formed
there, and their products summed in square tiles of the upper triangle, whose totals are float64.
Rows come from memory or disk block by block; the next block is read while the device works.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rfbench.arrays import Array, FloatArray
from rfbench.clock import Clock
from rfbench.compute import CUDA
from rfbench.compute.blocks import blocks, default_block_rows
from rfbench.compute.equations import NormalEquations
from rfbench.compute.ridge import RidgePath, checked_penalties, rounding
from rfbench.errors import MemoryLimit, MethodError
from rfbench.memory import GIB, check_fits

TILE = 2048
# Of a block of features on a GPU: products of fewer rows do not fill it.
BLOCK_BYTES, LEAST_ROWS, MOST_ROWS = 2**31, 4096, 2**16
MEMORY_SHARE = 1 / 8
# Of so many rows products of float32 are summed in float32, and their sums in float64: as on the
# CPU, whose blocks are no larger, so that `rfbench.compute.ridge.rounding` holds for both.
SUMMED_ROWS = 2048
# How RuntimeErrors of torch say it: the GPU's memory, the CPU's, and cuBLAS and cuSOLVER.
OUT_OF_MEMORY = ("out of memory", "not enough memory", "status_alloc_failed")
# Gram matrices: the whole one, its eigenvectors and twice their size, which the solver works in.
EIGEN_MATRICES = 4


def require_torch() -> Any:
    """Return torch; MethodError if it is not installed."""
    try:
        import torch
    except ImportError:
        raise MethodError(
            "torch is not installed.",
            "Features on a device, or as a module of torch, are computed by it.",
            "Run `pip install 'rfbench[torch]'`, or take the device cpu.",
        ) from None
    return torch


class Tiles:
    """A symmetric matrix of shape (p, p) in float64 on a device: the tiles of its upper triangle.

    It stands where `NormalEquations` has a Gram matrix.

    Parameters
    ----------
    p : int
    parts : dict of pairs of int to tensors
        Those of row i and column j of tiles, for i <= j. Tiles of the diagonal have both triangles.
    """

    def __init__(self, p: int, parts: dict[tuple[int, int], Any]) -> None:
        self.shape, self.parts = (p, p), parts
        self.spans = spans(p)

    @classmethod
    def zeros(cls, p: int, device: str) -> Tiles:
        """Return the matrix of zeros."""
        torch = require_torch()
        parts = {
            (i, j): torch.zeros(_size(left), _size(right), dtype=torch.float64, device=device)
            for j, right in enumerate(spans(p))
            for i, left in enumerate(spans(p)[: j + 1])
        }
        return cls(p, parts)

    @property
    def device(self) -> str:
        """Where it lies, as torch calls it."""
        return next((part.device.type for part in self.parts.values()), "cpu")

    def __len__(self) -> int:
        return self.shape[0]

    def __add__(self, other: Tiles) -> Tiles:
        return Tiles(len(self), {ij: part + other.parts[ij] for ij, part in self.parts.items()})

    def __sub__(self, other: Tiles) -> Tiles:
        return Tiles(len(self), {ij: part - other.parts[ij] for ij, part in self.parts.items()})

    def __matmul__(self, columns: Array) -> Array:
        result = np.zeros(columns.shape)
        for (i, j), part in self.parts.items():
            left, right = self.spans[i], self.spans[j]
            result[left] += _host(part @ _like(part, columns[right]))
            if i < j:
                result[right] += _host(part.T @ _like(part, columns[left]))
        return result

    def diagonal(self) -> Array:
        """Return the diagonal, shape (p,)."""
        own = [_host(self.parts[k, k].diagonal()) for k in range(len(self.spans))]
        return np.concatenate([np.zeros(0), *own])

    def trace(self) -> float:
        """Return the sum of the diagonal."""
        return float(self.diagonal().sum())

    def full(self) -> Any:
        """Return the whole matrix as a tensor."""
        rows = [
            [self.parts[i, j] if i <= j else self.parts[j, i].T for j in range(len(self.spans))]
            for i in range(len(self.spans))
        ]
        torch = require_torch()
        return torch.cat([torch.cat(row, 1) for row in rows])

    def shifted(self, alpha: float, sums: Array | None, n: float) -> Tiles:
        """Return a copy of K + alpha I, less sums sums' / n where there are sums."""
        parts = {ij: part.clone() for ij, part in self.parts.items()}
        for (i, j), part in parts.items():
            if sums is not None:
                left, right = (_like(part, sums[self.spans[k]]) for k in (i, j))
                part.addr_(left, right, alpha=-1.0 / n)
            if i == j:
                part.diagonal().add_(alpha)
        return Tiles(len(self), parts)

    def factorise(self) -> bool:
        """Put the factor U of K = U'U in the place of K; False where K is not positive definite."""
        torch, parts, count = require_torch(), self.parts, len(self.spans)
        for k in range(count):
            parts[k, k], info = torch.linalg.cholesky_ex(parts[k, k], upper=True)
            if info.item():
                return False
            for j in range(k + 1, count):
                factor = parts[k, k].T
                parts[k, j] = torch.linalg.solve_triangular(factor, parts[k, j], upper=False)
            for j in range(k + 1, count):
                for i in range(k + 1, j + 1):
                    parts[i, j].addmm_(parts[k, i].T, parts[k, j], alpha=-1.0)
        return True

    def solve(self, sides: Array) -> Array:
        """Return the solution of U'U A = sides, shape (p, t), of the factor U."""
        solve, parts = require_torch().linalg.solve_triangular, self.parts
        count = len(self.spans)
        columns = [_like(parts[0, 0], sides[span]) for span in self.spans]
        for k in range(count):
            columns[k] = solve(parts[k, k].T, columns[k], upper=False)
            for j in range(k + 1, count):
                columns[j] -= parts[k, j].T @ columns[k]
        for k in reversed(range(count)):
            columns[k] = solve(parts[k, k], columns[k], upper=True)
            for i in range(k):
                columns[i] -= parts[i, k] @ columns[k]
        return np.concatenate([_host(part) for part in columns])


def solve_ridge(equations: NormalEquations, alphas: npt.ArrayLike, *, intercept: bool) -> RidgePath:
    """Return what `rfbench.compute.ridge.solve_ridge` returns, for a Gram matrix on a device.

    By one Cholesky factorisation per penalty there; where it fails, by the eigenvectors of the
    whole matrix, by the same rule as on the CPU.
    """
    penalties, K = checked_penalties(equations, alphas), equations.gram
    assert isinstance(K, Tiles)
    torch, (p, t) = require_torch(), equations.moment.shape
    n, moment, sums = equations.n, equations.moment, None
    if intercept:
        sums = equations.column_sums
        moment = moment - np.outer(sums / n, equations.target_sums)
    noise, largest = rounding(equations), float(K.diagonal().max(initial=0.0))
    coef, fallback = np.empty((penalties.size, p, t)), [""] * penalties.size
    spectrum: Any = None
    failed = -1.0
    for i, alpha in enumerate(penalties if p else ()):
        if alpha > failed:
            work = K.shifted(float(alpha), sums, n)
            if work.factorise():
                pivots = work.diagonal() ** 2
                if pivots.min() > noise * max(pivots.max(), largest):
                    coef[i] = work.solve(moment)
                    continue
            failed = alpha
            del work
        if spectrum is None:
            check_fits(
                8.0 * EIGEN_MATRICES * p**2,
                f"On the device, the eigendecomposition of a Gram matrix of {p} columns",
                "Take larger penalties, or fewer features.",
                free_on_gpu() / GIB if K.device == CUDA else None,
            )
            spectrum = torch.linalg.eigh(K.shifted(0.0, sums, n).full())
        values = spectrum[0].clamp(min=0.0) + float(alpha)
        kept = values > noise * max(float(values.max()), largest)
        basis = spectrum[1][:, kept]
        coef[i] = _host(basis @ ((basis.T @ _like(basis, moment)) / values[kept, None]))
        fallback[i] = f"eigendecomposition, {int(kept.sum())} of {p} directions kept"
    offset = equations.intercepts(coef) if intercept else np.zeros((penalties.size, t))
    return RidgePath(coef, offset, [text or None for text in fallback])


@dataclass(frozen=True)
class Device:
    """Where features and sums are computed, and in what precision their products are.

    Attributes
    ----------
    name : {'cuda', 'torch-cpu'}
    tf32 : bool
        Of rows in float32: the products of the Gram matrix in TF32, which rounds what it multiplies
        to 10 bits behind the point. So the features are rounded first, those of rows to predict
        too, and the fit is an exact one of features that are a little different. Rounded in the
        Gram matrix alone they would not fit the moments, and small penalties magnify that.
    """

    name: str
    tf32: bool = False

    @property
    def torch_name(self) -> str:
        """What torch calls it."""
        return "cuda" if self.name == CUDA else "cpu"

    def check(self) -> None:
        """Raise MethodError where it cannot be had on this machine."""
        torch = require_torch()
        if self.name != CUDA:
            return
        if not torch.cuda.is_available():
            raise MethodError(
                "device is cuda, and torch sees no GPU on this machine.",
                f"This is torch {torch.__version__}.",
                "Take the device cpu, or install torch for CUDA where there is a GPU.",
            )
        if self.tf32 and torch.cuda.get_device_capability()[0] < 8:
            raise MethodError(f"{torch.cuda.get_device_name()} has no TF32.", "", "Take float32.")

    def begin(self, threads: int) -> None:
        """Make it ready, before any clock runs, and measure its memory from now on."""
        self.check()
        torch = require_torch()
        torch.set_num_threads(threads)
        ready = torch.ones(8, 8, dtype=torch.float64, device=self.torch_name)
        torch.linalg.cholesky_ex(ready @ ready.T + ready.diag().diag())
        if self.name == CUDA:
            torch.cuda.synchronize()
            torch.cuda.reset_peak_memory_stats()

    def facts(self) -> dict[str, Any]:
        """Return its name, and the largest memory of it since `begin`, in MB."""
        if self.name != CUDA:
            return {}
        cuda = require_torch().cuda
        memory = round(cuda.max_memory_allocated() / 1e6, 1)
        return {"accelerator": cuda.get_device_name(), "device_memory_mb": memory}

    def check_fits(self, p: int, matrices: int) -> None:
        """Raise MemoryLimit where so many Gram matrices of p columns do not fit there."""
        sizes = [_size(span) for span in spans(p)]
        tiles = sum(size * sum(sizes[: k + 1]) for k, size in enumerate(sizes))
        check_fits(
            8.0 * matrices * tiles,
            f"On the device, {matrices} Gram matrices of {p} columns, half of each,",
            "Take fewer features or folds, or a fixed penalty.",
            free_on_gpu() / GIB if self.name == CUDA else None,
        )

    def accumulate_groups(
        self,
        transform: Any,
        X: Any,
        targets: Array,
        n_columns: int,
        groups: npt.NDArray[np.intp],
        *,
        clock: Clock,
        centre: bool,
    ) -> list[NormalEquations]:
        """Sum the normal equations, as `rfbench.compute.gram.accumulate_groups` does.

        Parameters
        ----------
        transform : torch.nn.Module
            From rows (b, d) to features (b, n_columns); it is moved to the device.
        X : ndarray, RowSource or scipy CSR matrix, shape (n, d)
        targets : array, shape (n, t)
        n_columns : int
        groups : integer array, shape (n,)
            Codes 0..G-1.
        clock : Clock
        centre : bool
            Sum features less a row near their mean.

        Returns
        -------
        list of NormalEquations
            One per group, whose Gram matrix is `Tiles`.
        """
        torch, t = require_torch(), targets.shape[1]
        # Less a row, rounded features would be no numbers of TF32.
        centre = centre and not self.tf32
        count = int(groups.max(initial=0)) + 1
        with clock.part("train"):
            grams = [Tiles.zeros(n_columns, self.torch_name) for _ in range(count)]
            options = {"dtype": torch.float64, "device": self.torch_name}
            moments = [torch.zeros(t + 1, n_columns, **options) for _ in range(count)]
        inner = np.zeros((count, t + 1, t + 1))
        shift: Any = None
        steps = list(blocks(X.shape[0], groups, self._block_rows(transform, n_columns, X)))
        for group, picked, features in self._features(transform, X, steps, clock):
            with clock.part("train"), self.precision():
                if shift is None:
                    shift = _mean_row(features) if centre else features.new_zeros(n_columns)
                if centre:
                    features -= shift
                sides = np.hstack([targets[picked], np.ones((len(features), 1))])
                inner[group] += sides.T @ sides
                _add_product(moments[group], _like(features, sides), features)
                with self.precision(tf32=self.tf32):
                    self._add_products(grams[group], features)
                self.wait()
            del features  # before those of the next block take memory
        centre_row = np.zeros(n_columns) if shift is None else _host(shift).astype(np.float64)
        return [
            NormalEquations(
                gram=gram,  # type: ignore[arg-type]  # Tiles stands for an array there
                moment=sums[:-1].T,
                column_sums=sums[-1],
                target_sums=own[-1, :-1],
                target_squares=np.diag(own)[:-1],
                n=float(own[-1, -1]),
                shift=centre_row,
                eps=float(np.finfo(X.dtype).eps),
            )
            for gram, sums, own in zip(grams, map(_host, moments), inner, strict=True)
        ]

    def multiply(
        self, transform: Any, X: Any, coefficients: FloatArray, n_columns: int, clock: Clock | None
    ) -> Array:
        """Return the features of the rows times coefficients, shape (n, k), in float64.

        The time of forming the features is booked by the clock; without one, to the part that is
        open already.
        """
        result = np.empty((X.shape[0], coefficients.shape[1]))
        size = self._block_rows(transform, n_columns, X)
        steps = list(blocks(X.shape[0], None, size))
        flat: Any = None
        for _, picked, features in self._features(transform, X, steps, clock):
            flat = _like(features, coefficients) if flat is None else flat
            with self.precision():
                result[picked] = _host(features @ flat)
            del features
        return result

    def _features(
        self, transform: Any, X: Any, steps: list[Any], clock: Clock | None
    ) -> Iterator[Any]:
        """Yield the group, the row numbers and the features of each block.

        Rows are read by a thread, into memory that the device copies from by itself (pinned).
        """
        torch, pinned = require_torch(), self.name == CUDA
        kind = getattr(torch, str(np.dtype(X.dtype)))
        if self.tf32 and kind != torch.float32:
            raise MethodError(
                f"tf32 is asked for, and the rows are {np.dtype(X.dtype)}.",
                "TF32 is a precision of the products of float32.",
                "Give the rows in float32, or leave tf32 out.",
            )

        def timed() -> Any:
            return nullcontext() if clock is None else clock.part("features")

        most = max((_length(picked) for _, picked in steps), default=0)
        with timed():
            transform = transform.to(device=self.torch_name, dtype=kind)
            options = {"dtype": kind, "pin_memory": pinned}
            buffers = [torch.empty(most, X.shape[1], **options) for _ in range(2)]

        def read(number: int) -> Any:
            picked = steps[number][1]
            block: Any = X[picked]
            # Of two buffers: one is filled while the device works on the other.
            rows = buffers[number % 2][: _length(picked)]
            rows.numpy()[...] = block.toarray() if hasattr(block, "toarray") else block
            return rows

        with ThreadPoolExecutor(1) as reader:
            ahead = reader.submit(read, 0) if steps else None
            for number, (group, picked) in enumerate(steps):
                with timed(), self.precision():
                    assert ahead is not None
                    rows = ahead.result().to(self.torch_name, non_blocking=True)
                    if number + 1 < len(steps):
                        ahead = reader.submit(read, number + 1)
                    features = transform(rows)
                    del rows
                    if self.tf32:
                        features = rounded_to_tf32(features)
                    if not bool(torch.isfinite(features).all()):
                        raise MethodError(
                            "The features are not finite.",
                            "NaN or infinity came out of the rows or of the sampler.",
                            "Look for missing values, and scale the data.",
                        )
                yield group, picked, features
                del features

    def _add_products(self, gram: Tiles, features: Any) -> None:
        for (i, j), part in gram.parts.items():
            _add_product(part, features[:, gram.spans[i]], features[:, gram.spans[j]])

    @contextmanager
    def precision(self, tf32: bool = False) -> Iterator[None]:
        """Take products of float32 in TF32, or in all of its digits, whatever is set outside."""
        backends = require_torch().backends
        settings = [(backends.cuda.matmul, tf32), (backends.mkldnn.matmul, False)]
        before = [matmul.fp32_precision for matmul, _ in settings]
        for matmul, less in settings:
            matmul.fp32_precision = "tf32" if less else "ieee"
        try:
            yield
        finally:
            for (matmul, _), setting in zip(settings, before, strict=True):
                matmul.fp32_precision = setting

    def wait(self) -> None:
        """Wait until the device is done, so that its time is booked where it belongs."""
        if self.name == CUDA:
            require_torch().cuda.synchronize()

    def _block_rows(self, transform: Any, n_columns: int, X: Any) -> int:
        itemsize = int(np.dtype(X.dtype).itemsize)
        if self.name != CUDA:
            return default_block_rows(n_columns, itemsize)
        # What the features are made from counts too, and what the products are copied from.
        row_bytes = itemsize * (getattr(transform, "columns_formed", n_columns) + int(X.shape[1]))
        wanted = max(LEAST_ROWS, min(BLOCK_BYTES // row_bytes, MOST_ROWS))
        return max(1, min(wanted, int(MEMORY_SHARE * free_on_gpu()) // row_bytes))


@contextmanager
def memory_errors() -> Iterator[None]:
    """Raise MemoryLimit where a device has no more memory, as the check before could not tell."""
    try:
        yield
    except RuntimeError as error:
        if not any(term in str(error).lower() for term in OUT_OF_MEMORY):
            raise
        raise MemoryLimit(
            "The device is out of memory.",
            str(error).partition("\n")[0],
            "Take fewer features or folds, or a fixed penalty.",
        ) from error


def free_on_gpu() -> float:
    """Return the bytes that can still be had there, with those that torch holds unused."""
    cuda = require_torch().cuda
    reusable = cuda.memory_reserved() - cuda.memory_allocated()
    return float(cuda.mem_get_info()[0] + reusable)


def _add_product(total: Any, left: Any, right: Any) -> None:
    """Add left' right to a total in float64."""
    if left.dtype == total.dtype:
        total.addmm_(left.T, right)
        return
    for some, others in zip(left.split(SUMMED_ROWS), right.split(SUMMED_ROWS), strict=True):
        total.add_(some.T @ others)


def rounded_to_tf32(values: Any) -> Any:
    """Round float32 numbers, in place, to the 10 bits behind the point of TF32, ties to even."""
    bits = values.view(require_torch().int32)
    bits += (bits >> 13).bitwise_and_(1).add_(0xFFF)
    bits.bitwise_and_(~0x1FFF)
    return values


def spans(p: int) -> list[slice]:
    """Return the columns of each tile."""
    return [slice(start, min(start + TILE, p)) for start in range(0, p, TILE)]


def _size(span: slice) -> int:
    return int(span.stop - span.start)


def _length(picked: slice | npt.NDArray[np.intp]) -> int:
    return _size(picked) if isinstance(picked, slice) else len(picked)


def _mean_row(features: Any) -> Any:
    """Return the mean of the first rows; of a constant column exactly its value."""
    first, block = features[0], features[:1024]
    return first + (block - first).mean(0)


def _host(values: Any) -> Array:
    result: Array = values.cpu().numpy()
    return result


def _like(values: Any, array: npt.ArrayLike) -> Any:
    """Return an array as a tensor of the same type and device as another one."""
    copy = np.array(array, np.float64, order="C")
    return require_torch().from_numpy(copy).to(values.device, values.dtype)
