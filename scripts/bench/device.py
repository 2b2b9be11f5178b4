"""`python -m scripts.bench.device`: ridge on a GPU against its own limit, and what precision costs.

Rows of the shape of HIGGS, made up: 11,000,000 x 28. Plain features, eleven penalties, five folds,
in float64 and in TF32; with `--folds 0` one fixed penalty. The *limit* is the time of the
arithmetic alone, at the rates of the device's own matrix product, measured in the same run:
2 n d M for the projections and n M (M + 1) for the Gram matrix, at the rate of the precision;
a (K + 1) M^3 / 3 for the factors of a penalties in K folds and of all rows, at that of float64. The
CPU of the same machine does a part of the rows, and one factor; its seconds are scaled up.

`--precision` measures instead what float32 and TF32 cost in error: without a GPU, TF32 is emulated.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.clock import Clock
from rfbench.compute import CUDA, TORCH_CPU
from rfbench.compute.device import Device, require_torch
from rfbench.compute.ridge import solve_ridge
from rfbench.samplers import RKS
from rfbench.solvers import RidgeRegressor
from rfbench.solvers.design import Design
from scripts.bench.timing import seconds_of

Array = NDArray[np.floating[Any]]
ROWS, COLUMNS, SIZES, PART = 11_000_000, 28, (1000, 10_000, 50_000), 20_000
FOLDS, PRECISIONS = 5, ("float64", "tf32")
ALPHAS = np.logspace(-3, 2, 11)  # times the rows
CPU_MOST = 10_000  # features: beyond, the CPU's part is not measured
NOT_MEASURED = "not measured on an accelerator"


def problem(n: int, d: int, dtype: str) -> tuple[Array, NDArray[np.float64]]:
    """Draw rows and a smooth target with noise."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((n, d), dtype=np.float32).astype(dtype, copy=False)
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * generator.standard_normal(n)
    return X, y.astype(np.float64)


def features_of(X: Array, M: int) -> Any:
    """Return plain features of M frequencies."""
    return RKS(M, bandwidth=float(np.sqrt(X.shape[1])), random_state=0).fit(X[:1000])


def rate(device: Device, dtype: str, size: int) -> float:
    """Return the operations per second of the device's product of square matrices."""
    torch = require_torch()
    kind = torch.float64 if dtype == "float64" else torch.float32
    left = torch.ones(size, size, dtype=kind, device=device.torch_name)

    def multiply() -> None:
        left @ left
        device.wait()

    with device.precision(device.tf32):
        multiply()
        return float(2.0 * size**3 / min(seconds_of(multiply) for _ in range(5)))


def cpu_seconds(X: Array, y: NDArray[np.float64], M: int, n: int, factors: int) -> float:
    """Return the seconds of numpy for n rows and so many factors, from those of X and of one."""
    design = Design(X, features_of(X, M))
    groups, clock = np.zeros(len(X), dtype=np.intp), Clock()
    (equations,) = design.equations(y[:, None], groups, clock, 1, True)
    sums = sum(clock.wall.values())
    solved = seconds_of(lambda: solve_ridge(equations, [len(X) * 1.0], intercept=True))
    return sums * n / len(X) + solved * factors


def lines(
    name: str,
    n: int,
    sizes: list[int],
    part: int,
    folds: int = FOLDS,
    precisions: Sequence[str] = PRECISIONS,
) -> Iterator[str]:
    """Yield the lines of the table of times, in Markdown; without folds the penalty is fixed."""
    yield "| M | precision | s | limit | times the limit | CPU, scaled | CPU / device | GPU, MB |"
    yield "|---|---|---|---|---|---|---|---|"
    side = 4096 if name == CUDA else 512
    alphas = ALPHAS if folds else ALPHAS[len(ALPHAS) // 2 :][:1]
    for dtype in precisions:
        device = Device(name, dtype == "tf32")
        device.begin(threads=1)
        rates = {
            kind: rate(Device(name, kind == "tf32"), kind, side) for kind in ("float64", dtype)
        }
        X, y = problem(n, COLUMNS, "float64" if dtype == "float64" else "float32")
        for M in sizes:
            chosen = {"selection": f"cv{folds}", "random_state": 0} if folds else {}
            model = RidgeRegressor(alphas * n, device=name, tf32=device.tf32, **chosen)
            features = features_of(X, M)
            device.begin(threads=1)  # its peak is of this size alone
            begin = time.perf_counter()
            model.fit(X, y, features=features)
            seconds = time.perf_counter() - begin
            sums = 2.0 * n * COLUMNS * M + 1.0 * n * M * (M + 1)
            factors = len(alphas) * (folds + 1)
            limit = sums / rates[dtype] + factors * M**3 / 3 / rates["float64"]
            cpu, ratio = "", ""
            if M <= CPU_MOST:
                spent = cpu_seconds(X[:part], y[:part], M, n, factors)
                cpu, ratio = f"{spent:,.3g}", f"{spent / seconds:.3g}"
            yield (
                f"| {M:,} | {dtype} | {seconds:,.3g} | {limit:,.3g} | {seconds / limit:.2f} "
                f"| {cpu} | {ratio} | {device.facts().get('device_memory_mb', '')} |"
            )


def precision_lines(name: str, n: int, M: int, d: int = 3) -> Iterator[str]:
    """Yield the lines of the table of errors: predictions of n/5 new rows, against float64."""
    yield "| penalty | RMSE, float64 | float32, difference | TF32, difference | directions kept |"
    yield "|---|---|---|---|---|"
    X, y = problem(n + n // 5, d, "float64")
    for share in (1e-10, 1e-8, 1e-7, 1e-6, 1e-4, 1e-2):
        exact, cells, kept = np.zeros(0), [], []
        for dtype, tf32 in (("float64", False), ("float32", False), ("float32", True)):
            rows = X.astype(dtype)
            model = RidgeRegressor(share * n, device=name, tf32=tf32)
            model.fit(rows[:n], y[:n], features=features_of(rows, M))
            found = model.predict(rows[n:]).ravel()
            rmse = float(np.sqrt(np.mean((found - y[n:]) ** 2)))
            kept.append(model.notes_[0].split(", ")[1].split(" of")[0] if model.notes_ else "all")
            if not exact.size:
                exact = found
                cells.append(f"{rmse:.5f}")
            else:
                distance = np.linalg.norm(found - exact) / np.linalg.norm(exact)
                cells.append(f"{distance:.1e} (RMSE {rmse:.5f})")
        # The features have a mean squared norm of 1: the penalty per row is the scale-free one.
        yield f"| {share:g} | {' | '.join(cells)} | {', '.join(kept)} |"


def main() -> None:
    """Print the table that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", choices=(CUDA, TORCH_CPU), default=CUDA)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="of M")
    parser.add_argument("--part", type=int, default=PART, help="rows that the CPU does")
    parser.add_argument("--folds", type=int, default=FOLDS, help="0: one penalty, which is fixed")
    parser.add_argument("--precisions", default=",".join(PRECISIONS), help="of the times")
    parser.add_argument("--precision", action="store_true")
    given = parser.parse_args()
    if given.device == CUDA and not require_torch().cuda.is_available():
        print(f"{NOT_MEASURED}: torch sees no GPU here. Try it: --device torch-cpu --rows 20000")
        return
    sizes = [int(size) for size in given.sizes.split(",")]
    name = require_torch().cuda.get_device_name() if given.device == CUDA else NOT_MEASURED
    if given.precision:
        print(f"{name}; {given.rows:,} rows, M = {sizes[0]}\n")
        table = precision_lines(given.device, given.rows, sizes[0])
    else:
        penalties = (
            f"{len(ALPHAS)} penalties, {given.folds} folds" if given.folds else "one penalty"
        )
        print(f"{name}; {given.rows:,} x {COLUMNS}, {penalties}\n")
        part, precisions = min(given.part, given.rows), given.precisions.split(",")
        table = lines(given.device, given.rows, sizes, part, given.folds, precisions)
    for line in table:
        print(line, flush=True)


if __name__ == "__main__":
    main()
