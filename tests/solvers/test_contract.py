"""Every solver keeps the promises of all, in each of its forms."""

from rfbench import solvers
from rfbench.registry import SOLVERS
from tests.solvers.contract import CONTRACT, SolverSubject
from tests.support import contracts

# The fourth field of a form in FORMS whose class has a parameter `max_iter`.
MANY_FITS = {
    "check_non_transformer_estimators_n_iter": (
        "n_iter_ is one number, and a fit is one for every penalty, fold and column; those that "
        "stop at max_iter are named in notes_"
    )
}
# The solver, its options, the value of its grid at which it learns, and the checks that it fails.
# An iterative solver needs a small `tol` here, because the contract compares two ways to one fit.
FORMS = (
    ("RidgeClassifier", {}, 0.5, {}),
    ("RidgeRegressor", {}, 0.5, {}),
    ("RidgeClassifier", {"multiclass": "one-vs-one"}, 0.5, {}),
    ("KernelRidgeClassifier", {"bandwidth": 3.0}, 0.5, {}),
    ("KernelRidgeRegressor", {"bandwidth": 3.0}, 0.5, {}),
    ("LogisticClassifier", {"tol": 1e-9}, 0.5, MANY_FITS),
    ("SVMClassifier", {"tol": 1e-9, "max_iter": 100_000}, 0.5, MANY_FITS),
    ("KernelSVMClassifier", {"tol": 1e-9, "bandwidth": 3.0}, 0.5, {}),
    ("JointClassifier", {"tol": 1e-9}, 0.5, MANY_FITS),
)
SUBJECTS = {
    "-".join((name, *map(str, options.values()))): SolverSubject(
        getattr(solvers, name), options, value, exceptions
    )
    for name, options, value, exceptions in FORMS
}


@contracts.every_check(SUBJECTS, CONTRACT.checks)
def test_solver_passes_the_contract_checks(subject, check):
    contracts.run_cases(check, CONTRACT.cases(check), subject)


def test_each_solver_is_listed_in_the_contract():
    every = {cls for tasks in SOLVERS.values() for cls in tasks.values()}
    assert {getattr(solvers, name) for name, *_ in FORMS} == every
