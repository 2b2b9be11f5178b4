"""Products of scipy's BLAS library: as numpy's, in every layout, without copies."""

import ast
import itertools
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import ThreadpoolController, threadpool_limits

import rfbench
from rfbench.compute import products
from rfbench.compute.products import (
    matmul,
    multiply_by_transpose,
    multiply_row_without_blas,
    sum_squares,
)
from rfbench.compute.threads import limit_to_one_thread
from rfbench.kernels import compute_squared_distances
from rfbench.solvers import RidgeRegressor, base
from rfbench.solvers.design import Design

PACKAGE = Path(rfbench.__file__).parent
# What is read block by block, or in turn with factorisations.
LOOPS = (
    *("compute/gram.py", "compute/products.py", "compute/ridge.py", "compute/dual_ridge.py"),
    *("samplers/pool.py", "samplers/projected.py", "samplers/tefm.py", "samplers/varpro.py"),
    *("solvers/design.py", "solvers/fits.py", "solvers/newton.py", "solvers/ridge.py"),
    *("compute/left_out.py", "experiment/kernel_error.py", "solvers/joint.py"),
)
# Of operands that BLAS does not take, and of two vectors, once per fit.
ALLOWED = ("a @ b", "shift @ shift", "self.shift @ self.shift", "self.shift @ self.column_sums")
SHAPES = [(7, 3, 5), (1, 4, 6), (6, 4, 1), (1, 4, 1), (300, 20, 130), (5, 1, 4)]


def in_layout(a: np.ndarray, layout: str) -> np.ndarray:
    """Return a matrix in C order, in Fortran order, or as a view that is in neither."""
    if layout == "strided":
        wide = np.zeros((2 * a.shape[0], 2 * a.shape[1]), a.dtype)
        wide[::2, ::2] = a
        return wide[::2, ::2]
    return np.asarray(a, order=layout)  # type: ignore[call-overload]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", SHAPES)
def test_products_of_all_memory_layouts_are_correct(shape, dtype) -> None:
    n, k, m = shape
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((n, k)).astype(dtype), rng.standard_normal((k, m)).astype(dtype)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    tolerance = 8 * k * np.finfo(dtype).eps
    for left, right, into in itertools.product(("C", "F", "strided"), repeat=3):
        out = in_layout(np.full((n, m), np.nan, dtype), into)
        returned = matmul(in_layout(a, left), in_layout(b, right), out)
        assert returned is out
        assert np.abs(out - expected).max() <= tolerance
        alone = matmul(in_layout(a, left), in_layout(b, right))
        assert alone.dtype == dtype
        assert alone.flags.c_contiguous
        assert np.array_equal(alone, out)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_matrix_times_a_vector_is_correct(order, dtype) -> None:
    rng = np.random.default_rng(0)
    a = np.asarray(rng.standard_normal((30, 20)), dtype, order=order)
    b = rng.standard_normal(20).astype(dtype)
    product = matmul(a, b)
    assert product.shape == (30,)
    assert product.dtype == dtype
    expected = a.astype(np.float64) @ b.astype(np.float64)
    assert np.abs(product - expected).max() <= 160 * np.finfo(dtype).eps


def test_product_is_written_in_place(monkeypatch) -> None:
    # f2py would fill a copy, and `out` be written a second time, if it could not take the array.
    rng = np.random.default_rng(0)
    a, b, out = rng.standard_normal((9, 4)), rng.standard_normal((4, 7)), np.empty((9, 7))
    results = []

    def gemm(*given, **named):
        results.append(original(*given, **named))
        return results[-1]

    original = products.blas.dgemm
    monkeypatch.setattr(products.blas, "dgemm", gemm)
    matmul(a, b, out)
    assert np.shares_memory(results[0], out)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (sparse.csr_array(np.eye(3)), np.arange(6.0).reshape(3, 2)),
        (np.eye(3, dtype=np.float32), np.arange(6.0).reshape(3, 2)),
        (np.eye(3, dtype=np.int64), np.arange(6).reshape(3, 2)),
        (np.empty((0, 3)), np.ones((3, 2))),
        (np.empty((2, 0)), np.ones((0, 2))),
    ],
)
def test_other_operands_are_multiplied_as_in_numpy(a, b) -> None:
    assert np.array_equal(matmul(a, b), a @ b)
    out = np.full((a.shape[0], b.shape[1]), np.nan)
    assert np.array_equal(matmul(a, b, out), a @ b)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_matrix_times_its_transpose_is_correct(order, dtype) -> None:
    a = np.asarray(np.random.default_rng(0).standard_normal((300, 40)), dtype, order=order)
    product = multiply_by_transpose(a)
    assert np.array_equal(product, product.T)
    assert np.abs(product - a.astype(np.float64) @ a.T).max() <= 400 * np.finfo(dtype).eps


def test_vector_times_stacked_matrices_is_correct() -> None:
    rng = np.random.default_rng(0)
    row, path = rng.standard_normal(5), rng.standard_normal((3, 5, 2))
    assert np.allclose(multiply_row_without_blas(row, path), row @ path, rtol=0, atol=1e-14)
    assert np.allclose(multiply_row_without_blas(row, path[0]), row @ path[0], rtol=0, atol=1e-14)


def test_sums_of_squares_are_correct() -> None:
    values = np.random.default_rng(0).standard_normal((30, 4))
    for own in (values, values[::2, ::2], values.astype(np.float32), values[:0]):
        assert sum_squares(own) == pytest.approx(float((own.astype(np.float64) ** 2).sum()))
    assert np.isnan(sum_squares(np.array([[1.0, np.nan]])))


def test_squared_distances_equal_scikit_learn() -> None:
    from sklearn.metrics.pairwise import euclidean_distances

    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((30, 4)), rng.standard_normal((20, 4))
    for first, second in ((X, Y), (X, X), (X[:, :1], Y[:, :1])):
        expected = euclidean_distances(first, second, squared=True)
        own = compute_squared_distances(first, second)
        assert np.allclose(own, expected, rtol=0, atol=1e-13)
    own = compute_squared_distances(X, X)
    assert (np.diag(own) == 0).all()


@pytest.mark.parametrize("file", LOOPS)
def test_modules_with_inner_loops_do_not_call_numpy_matrix_products(file) -> None:
    # numpy's operator, and its functions that call its own library.
    found = []
    for node in ast.walk(ast.parse((PACKAGE / file).read_text())):
        own = isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)
        called = isinstance(node, ast.Attribute) and ast.unparse(node) in ("np.matmul", "np.dot")
        found += [ast.unparse(node)] * (own or called)
    assert [text for text in found if text not in ALLOWED] == []


def count_threads() -> list[int]:
    libraries = ThreadpoolController().lib_controllers
    return [each.num_threads for each in libraries if each.user_api == "blas"]


def test_one_thread_limit_ends_with_its_context_manager() -> None:
    with threadpool_limits(2, user_api="blas"):
        before = count_threads()
        with limit_to_one_thread(False):
            assert count_threads() == before
        with limit_to_one_thread(True):
            assert set(count_threads()) == {1}
        assert count_threads() == before
        with pytest.raises(ValueError, match="inside"), limit_to_one_thread(True):
            raise ValueError("inside")
        assert count_threads() == before


@pytest.mark.parametrize(("n", "d", "expected"), [(60, 5, {1}), (60, 30, {2}), (20, 80, {2})])
def test_blas_uses_one_thread_for_small_fits(n, d, expected, monkeypatch) -> None:
    # Seen from inside a fit: the matrix of features is formed there.
    monkeypatch.setattr(base, "SMALL_SIDE", 10)
    seen: set[int] = set()
    original = Design.transform_into

    def transform_into(self: Design, rows: np.ndarray, out: np.ndarray) -> None:
        seen.update(count_threads())
        original(self, rows, out)

    monkeypatch.setattr(Design, "transform_into", transform_into)
    X = np.random.default_rng(0).standard_normal((n, d))
    with threadpool_limits(2, user_api="blas"):
        RidgeRegressor([1.0, 10.0], random_state=0).fit(X, X[:, 0])
        after = set(count_threads())
    assert seen == expected
    assert after == {2}
