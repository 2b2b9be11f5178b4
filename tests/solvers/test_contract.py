"""Every solver keeps the contract of all, in each of its forms."""

from rfbench import solvers
from rfbench.registry import SOLVERS
from rfbench.testing.solvers import MANY_FITS, SolverContract

# The solver, its options, the value of its grid at which it learns, and the checks that it fails.
FORMS = (
    ("RidgeClassifier", {}, 0.5, {}),
    ("RidgeRegressor", {}, 0.5, {}),
    ("RidgeClassifier", {"multiclass": "one-vs-one"}, 0.5, {}),
    ("KernelRidgeClassifier", {"bandwidth": 3.0}, 0.5, {}),
    ("KernelRidgeRegressor", {"bandwidth": 3.0}, 0.5, {}),
    ("LogisticClassifier", {"tol": 1e-9}, 0.5, MANY_FITS),
    ("SVMClassifier", {"tol": 1e-9, "max_iter": 100_000}, 0.5, MANY_FITS),
    ("KernelSVMClassifier", {"tol": 1e-9, "bandwidth": 3.0}, 0.5, MANY_FITS),
    ("JointClassifier", {"tol": 1e-9}, 0.5, MANY_FITS),
)
for name, options, value, exceptions in FORMS:
    own = {"solver": getattr(solvers, name), "options": options, "value": value}
    form = "-".join((f"Test{name}", *map(str, options.values())))
    globals()[form] = type(form, (SolverContract,), own | {"exceptions": exceptions})


def test_every_solver_has_its_line():
    every = {cls for tasks in SOLVERS.values() for cls in tasks.values()}
    assert {getattr(solvers, name) for name, *_ in FORMS} == every
