import inspect
from collections import Counter

from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from rfbench.registry import SAMPLERS

FEWEST_CHECKS = 45


def small(cls):
    """Build a sampler that the checks' 10 to 80 rows can serve."""
    words = {"n_components": 3, "pool_size": 12}
    known = inspect.signature(cls).parameters
    return cls(**{word: value for word, value in words.items() if word in known})


def expected_failures(sampler):
    """Return names of checks that a sampler cannot pass, and why: there are none."""
    return {}


@parametrize_with_checks(
    [small(cls) for cls in SAMPLERS.values()], expected_failed_checks=expected_failures
)
def test_check_of_scikit_learn(estimator, check):
    check(estimator)


def test_checks_are_collected_for_every_sampler():
    collected = Counter(
        name for name, cls in SAMPLERS.items() for _ in estimator_checks_generator(small(cls))
    )
    assert set(collected) == set(SAMPLERS)
    assert min(collected.values()) >= FEWEST_CHECKS
