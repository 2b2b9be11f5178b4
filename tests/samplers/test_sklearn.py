import inspect

from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from rfbench.registry import SAMPLERS

FEWEST_CHECKS = 45


def small(cls):
    """Build a sampler that the checks' 10 to 80 rows can serve."""
    words = {"n_components": 3, "pool_size": 12}
    known = inspect.signature(cls).parameters
    return cls(**{word: value for word, value in words.items() if word in known})


@parametrize_with_checks([small(cls) for cls in SAMPLERS.values()])
def test_check_of_scikit_learn(estimator, check):
    check(estimator)


def test_checks_are_collected_for_every_sampler():
    for cls in SAMPLERS.values():
        assert sum(1 for _ in estimator_checks_generator(small(cls))) >= FEWEST_CHECKS
