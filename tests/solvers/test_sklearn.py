"""scikit-learn's own checks of every solver."""

from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from rfbench.registry import SOLVERS

EVERY = [cls() for tasks in SOLVERS.values() for cls in tasks.values()]
N_CHECKS = {
    "RidgeClassifier": 55,
    "RidgeRegressor": 53,
    "LogisticClassifier": 55,
    "SVMClassifier": 55,
    "ConstrainedClassifier": 55,
    "ConstrainedRegressor": 53,
    "KernelRidgeClassifier": 55,
    "KernelRidgeRegressor": 53,
    "KernelSVMClassifier": 55,
    "JointClassifier": 56,
}
MANY_FITS = (
    "n_iter_ is one number, and a fit is one for every penalty, fold and column; those that stop "
    "at max_iter are named in notes_"
)
TIGHT = "the default bound, C = 1, is too tight for the target of this check"
ITERATES = {"check_non_transformer_estimators_n_iter": MANY_FITS}
EXPECTED = {
    "LogisticClassifier": ITERATES,
    "SVMClassifier": ITERATES,
    "ConstrainedClassifier": ITERATES,
    "ConstrainedRegressor": {**ITERATES, "check_regressors_train": TIGHT},
    "KernelSVMClassifier": ITERATES,
    "JointClassifier": ITERATES,
}


@parametrize_with_checks(EVERY, expected_failed_checks=lambda e: EXPECTED.get(type(e).__name__, {}))
def test_a_check_of_scikit_learn(estimator, check):
    check(estimator)


def test_the_number_of_checks():
    counts = {
        type(solver).__name__: sum(1 for _ in estimator_checks_generator(solver))
        for solver in EVERY
    }
    assert counts == N_CHECKS
