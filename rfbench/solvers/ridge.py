"""Ridge regression for a grid of penalties, from normal equations or from products of rows."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array
from rfbench.clock import Clock
from rfbench.compute import gram
from rfbench.compute.dual_ridge import KernelEigendecomposition, solve_dual
from rfbench.compute.left_out import GramEigendecomposition
from rfbench.compute.products import matmul, multiply_by_transpose, multiply_row_without_blas
from rfbench.compute.ridge import NormalEquations, RidgePath, solve_ridge
from rfbench.errors import MethodError
from rfbench.memory import check_memory_fits
from rfbench.parameters import estimator, one_of, parameter
from rfbench.solvers.base import LOO, LinearModel
from rfbench.solvers.coding import MULTICLASS, ONE_VS_REST, Targets
from rfbench.solvers.design import Design
from rfbench.solvers.estimators import Classifier, Regressor
from rfbench.solvers.fits import Fits, Folds, LinearPath, fit_from_gram

# Number of n x n matrices in memory, by definition: the inner products of all rows, the inner
# products of the rows of a fold, their Cholesky factor or eigenvectors, and two matrices of work
# space. With half this number, a fit that does not fit into memory would be started.
ROW_SIDE_MATRICES = 5
# From this number of folds on, one eigendecomposition replaces a separate fit for each fold.
# Measured, as the time of one eigendecomposition and the time of five fits: 4.1 and 6.0 ms with 100
# rows and 400 columns, 23 and 39 ms with 300 rows and 2,000 columns, 333 and 348 ms with 1,000 rows
# and 4,000 columns. With twice the value, five folds would be fitted separately.
FEWEST_FOLDS = 3


@estimator
class _Ridge(LinearModel):
    """Base class of the ridge regressor and the ridge classifier.

    If there are at least as many features p as rows n, an n x n system is solved, which needs the
    complete feature matrix in memory. Otherwise a p x p system is solved, which is computed from
    blocks of rows.
    """

    leaves_one_out: ClassVar[bool] = True

    def _fits(self, design: Design, targets: Targets, folds: Folds, clock: Clock) -> Fits:
        if design.n_columns >= design.n:
            return self._row_side_fits(design, targets, folds, clock)
        if self.resolve_selection() == LOO:
            return self._left_out_fits(design, targets, clock)
        return fit_from_gram(design, targets, folds, clock, self._solve, self.intercept)

    def _solve(self, equations: NormalEquations) -> LinearPath:
        alphas = self._absolute(equations.n)
        solved = solve_ridge(equations, alphas, intercept=self.intercept)
        return LinearPath(solved.coef, intercepts=solved.intercept, notes=solved.notes)

    def _left_out_fits(self, design: Design, targets: Targets, clock: Clock) -> Fits:
        """Fit the model on all rows, and compute the leave-one-out errors of every penalty.

        The errors are computed in a second pass over blocks of rows.
        """
        none, columns = np.zeros(design.n, dtype=np.intp), targets.columns.astype(np.float64)
        means = columns.mean(axis=0) * self.intercept
        columns -= means
        equations = design.accumulate_equations(columns, none, clock, self.intercept)[0]
        with clock.time_part("train"):
            spectrum = GramEigendecomposition(equations, intercept=self.intercept)
            solved = spectrum.compute_path(self._absolute(design.n))
            alphas = self._absolute(design.n - 1)
            losses = np.zeros(len(alphas))
        for rows, features in design.iterate_blocks(clock):
            with clock.time_part("train"):
                decisions = spectrum.predict_leave_one_out(features, columns[rows], alphas) + means
                losses += self._summed_losses(decisions, targets.truth[rows])
        path = LinearPath(solved.coef, intercepts=solved.intercept + means, notes=solved.notes)
        return Fits(path, equations.compute_mean_squared_norm(), held_loss=losses[None])

    def _row_side_fits(self, design: Design, targets: Targets, folds: Folds, clock: Clock) -> Fits:
        """Fit the model with every penalty from the n x n inner products of feature rows."""
        n, p = design.n, design.n_columns
        check_memory_fits(
            8.0 * n * (p + ROW_SIDE_MATRICES * n),
            f"The matrix of {p} features of {n} rows, with the products of the rows,",
            "Use fewer features, or fewer rows.",
        )
        with clock.time_part("features"):
            Z = design.compute_matrix()
        with clock.time_part("train"):
            noise = max(p * float(np.finfo(np.float64).eps), 4 * float(np.finfo(Z.dtype).eps))
            shift = gram.subtract_mean_row(Z) if self.intercept else np.zeros(p)
            wide = Z.astype(np.float64, copy=False)  # products are added up in float64
            K = np.asarray(multiply_by_transpose(wide), np.float64)
            row_norm = float(np.trace(K) / n + shift @ shift)  # `shift` is the mean of the rows
            loss, dual = None, None
            if self.resolve_selection() == LOO:
                spectrum = KernelEigendecomposition(
                    K, targets.columns, intercept=self.intercept, noise=noise
                )
                decisions = spectrum.predict_leave_one_out(self._absolute(n - 1))
                loss = self._summed_losses(decisions, targets.truth)[None]
                dual = spectrum.compute_path(self._absolute(n))
            elif folds is not None:
                loss, dual = self._fold_loss(K, targets, folds, noise)
            if dual is None:
                dual = self._dual(K, targets, np.arange(n), noise)
            a, _, t = dual.coef.shape
            flat = dual.coef.transpose(0, 2, 1).reshape(a * t, n)
            flat = matmul(flat.astype(Z.dtype, copy=False), Z).astype(np.float64, copy=False)
            coef = flat.reshape(a, t, p).transpose(0, 2, 1)
            intercepts = dual.intercept - multiply_row_without_blas(
                shift.astype(np.float64, copy=False), coef
            )
            path = LinearPath(coef, intercepts=intercepts, notes=dual.notes)
        return Fits(path, row_norm, held_loss=loss)

    def _fold_loss(
        self, K: Array, targets: Targets, folds: NDArray[np.intp], noise: float
    ) -> tuple[Array, RidgePath | None]:
        """Return the summed loss of each of the K held-out folds for each of the a penalties.

        The losses have shape (K, a). If one eigendecomposition is used for all folds, the second
        value is the fit of all rows. Otherwise the second value is None.
        """
        losses = []
        centered = targets.columns - targets.columns.mean(axis=0) * self.intercept
        sizes = [int((folds != g).sum()) for g in range(int(folds.max()) + 1)]
        spectrum = None
        by_pairs = targets.coding is not None and targets.coding.is_one_vs_one
        if len(sizes) >= FEWEST_FOLDS and not by_pairs:
            spectrum = KernelEigendecomposition(
                K, targets.columns, intercept=self.intercept, noise=noise
            )
            if not spectrum.is_accurate(self._absolute(min(sizes))):
                spectrum = None
        for g, size in enumerate(sizes):
            held = np.flatnonzero(folds == g)
            if spectrum is not None:
                decisions = spectrum.predict_fold_left_out(held, self._absolute(size))
            else:
                rest = np.flatnonzero(folds != g)
                fitted = self._dual(K, targets, rest, noise)
                decisions = _multiply_path(K[np.ix_(held, rest)], fitted)
            own = self._summed_losses(decisions, targets.truth[held])
            if targets.codes is None:
                # Losses below this limit are rounding errors. All of them are set to the limit, so
                # that their penalties have equal losses and the largest of these penalties is
                # selected.
                own = np.maximum(own, 10 * noise * float(np.mean(centered[held] ** 2)) * len(held))
            losses.append(own)
        path = None if spectrum is None else spectrum.compute_path(self._absolute(len(K)))
        return np.array(losses), path

    def _dual(self, K: Array, targets: Targets, rows: NDArray[np.intp], noise: float) -> RidgePath:
        """Return the dual coefficients of a fit on the rows with the indices `rows`.

        `K` contains the inner products of all rows. With one-vs-one coding, the column of a pair of
        classes is fitted only on the rows of these classes. The column is 0 if there are no such
        rows.
        """

        def fit(Y: Array, chosen: NDArray[np.intp]) -> RidgePath:
            part = K if len(chosen) == len(K) else K[np.ix_(chosen, chosen)]
            alphas = self._absolute(len(chosen))
            return solve_dual(part, Y[chosen], alphas, intercept=self.intercept, noise=noise)

        if targets.coding is None or not targets.coding.is_one_vs_one:
            return fit(targets.columns, rows)
        a, t = len(self.make_grid()), targets.columns.shape[1]
        joined = RidgePath(np.zeros((a, len(K), t)), np.zeros((a, t)), [[] for _ in range(a)])
        for column, signs in enumerate(targets.columns.T):
            inside = rows[signs[rows] != 0]
            if len(inside) > 0:
                pair = fit(signs[:, None], inside)
                joined.coef[:, inside, column] = pair.coef[:, :, 0]
                joined.intercept[:, column] = pair.intercept[:, 0]
                both = zip(joined.notes, pair.notes, strict=True)
                joined = replace(joined, notes=[new or old for old, new in both])
        return replace(joined, coef=joined.coef[:, rows])


def _multiply_path(rows: Array, fitted: RidgePath) -> Array:
    """Return the decision values of the n rows for each of the a penalties, shape (a, n, t).

    `rows` contains kernel values between the n rows and the training rows. `fitted` contains the
    dual coefficients in the t decision columns.
    """
    a, _, t = fitted.coef.shape
    flat = np.ascontiguousarray(fitted.coef.transpose(1, 0, 2)).reshape(rows.shape[1], a * t)
    values = matmul(rows, flat).reshape(len(rows), a, t).transpose(1, 0, 2)
    return np.asarray(values + fitted.intercept[:, None])


@estimator
class RidgeRegressor(Regressor, _Ridge):
    r"""Ridge regression: minimizes :math:`|y - Z\theta - b|^2 + \alpha |\theta|^2`.

    y is the target, Z are the features, and b is an intercept. The models with all penalties, on
    all rows and without each fold, are computed from Gram matrices of the features, which are
    accumulated in one pass over the rows. If there are at least as many features as rows, the inner
    products of the rows are used instead.

    Parameters
    ----------
    alphas : float or sequence of float, default=1.0
        Penalties to select from (the grid). A single number is a grid with one value.
    alpha_convention : {'absolute', 'per-sample'}, default='absolute'
        'absolute': the penalty in the formula of the solver is alpha. 'per-sample': the penalty is
        n alpha for a fit on n rows. n is smaller in a fold and for a pair of classes.
    selection : {'fixed', 'test', 'validation', 'cv5', 'loo'}, default=None
        Method that selects one penalty of the grid.

        - 'fixed': no selection, because the grid has a single value.
        - 'test': smallest error on the evaluation rows that are passed to `fit`. This error is
          too small if these rows are the test set.
        - 'validation': smallest error on a random fifth of the training set.
        - 'cv5' (or 'cvK'): smallest error in five-fold (K-fold) cross-validation.
        - 'loo': smallest leave-one-out error in closed form (ridge and kernel ridge only).
        - None: 'fixed' for a single value, and 'cv5' otherwise.

        If several penalties have the same error, the largest is selected. After the selection, the
        model is fitted on all rows. Features that use the target are fitted again without the
        held-out rows (see `fit`).
    intercept : bool, default=True
        Fit an intercept.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Random seed or generator for the folds.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.solvers import RidgeRegressor
    >>> X = np.random.default_rng(0).standard_normal((50, 2))
    >>> RidgeRegressor(1e-9).fit(X, X @ [1.0, -2.0] + 3.0).coef_.round(6)
    array([[ 1., -2.]])
    """


@estimator
class RidgeClassifier(Classifier, _Ridge):
    r"""Least squares on labels coded -1 and +1: :math:`|y - Z\theta - b|^2 + \alpha |\theta|^2`.

    y are the coded labels, Z are the features, and b is an intercept. For two classes there is one
    decision column, and its sign is predicted. More than two classes have one column per class, and
    the class with the largest value is predicted (one-vs-rest). With one-vs-one, there is one
    column per pair of classes, which is fitted on the rows of these classes, and the columns vote.

    Every selection of a penalty minimizes the number of wrong labels. The leave-one-out selection
    of scikit-learn's RidgeClassifierCV minimizes the squared error of the coded labels.

    Parameters
    ----------
    alphas : float or sequence of float, default=1.0
        Penalties to select from (the grid). A single number is a grid with one value.
    alpha_convention : {'absolute', 'per-sample'}, default='absolute'
        'absolute': the penalty in the formula of the solver is alpha. 'per-sample': the penalty is
        n alpha for a fit on n rows. n is smaller in a fold and for a pair of classes.
    selection : {'fixed', 'test', 'validation', 'cv5', 'loo'}, default=None
        Method that selects one penalty of the grid.

        - 'fixed': no selection, because the grid has a single value.
        - 'test': smallest error on the evaluation rows that are passed to `fit`. This error is
          too small if these rows are the test set.
        - 'validation': smallest error on a random fifth of the training set.
        - 'cv5' (or 'cvK'): smallest error in five-fold (K-fold) cross-validation.
        - 'loo': smallest leave-one-out error in closed form (ridge and kernel ridge only).
        - None: 'fixed' for a single value, and 'cv5' otherwise.

        If several penalties have the same error, the largest is selected. After the selection, the
        model is fitted on all rows. Features that use the target are fitted again without the
        held-out rows (see `fit`).
    intercept : bool, default=True
        Fit an intercept.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Random seed or generator for the folds.
    multiclass : {'one-vs-rest', 'one-vs-one'}, default='one-vs-rest'
        Coding of more than two classes. `rfbench.solvers.coding.Coding` describes the vote and its
        ties. With 'per-sample' penalties, n is the number of rows of the pair of classes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rfbench.solvers import RidgeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> rest, pairs = (RidgeClassifier(multiclass=m) for m in ("one-vs-rest", "one-vs-one"))
    >>> round(rest.fit(X, y).score(X, y), 2), round(pairs.fit(X, y).score(X, y), 2)
    (0.85, 0.98)
    """

    fits_coded_labels: ClassVar[bool] = True

    multiclass: str = parameter(ONE_VS_REST, one_of(*MULTICLASS))

    def check_parameters(self) -> None:
        """Raise MethodError if a parameter or a combination of parameters is not allowed."""
        super().check_parameters()
        if self.selection == LOO and self.multiclass != ONE_VS_REST:
            raise MethodError(
                "selection is 'loo', but multiclass is one-vs-one.",
                "The closed form requires that each column is fitted on all rows.",
                "Use selection: cv5, or multiclass: one-vs-rest.",
            )
