import numpy as np
import pytest

from rfbench import memory, samplers
from rfbench.errors import MemoryLimitError
from rfbench.samplers import RKS
from rfbench.solvers import RidgeClassifier


@pytest.fixture
def no_memory():
    memory.limit_process_memory(1.0)
    yield
    memory.limit_process_memory(None)


def test_free_memory_is_limited_by_machine_and_process(no_memory):
    assert memory.count_free_bytes() == 0
    memory.limit_process_memory(None)
    assert memory.count_free_bytes() > 2**20


def test_excessive_memory_need_is_rejected_with_its_numbers(no_memory):
    with pytest.raises(
        MemoryLimitError, match=r"^A matrix needs about 2 GiB.*0 GiB of memory are free. Less"
    ):
        memory.check_memory_fits(2 * 2**30, "A matrix", "Less.")


def test_ridge_rejects_gram_matrices_that_do_not_fit(no_memory):
    X = np.random.default_rng(0).standard_normal((30, 2))
    features = RKS(10, bandwidth=1.0, random_state=0).fit(X)
    with pytest.raises(MemoryLimitError, match="storage of 5 Gram matrices of 10 columns"):
        RidgeClassifier([1.0, 2.0]).fit(X, np.arange(30) % 2, features=features)


@pytest.mark.parametrize("name", ["leverage-rff", "greedy", "svd"])
def test_pool_with_too_large_gram_matrix_is_rejected(no_memory, name):
    words = {"base_size": 40} if name == "svd" else {"pool_size": 40}
    sampler = samplers.make(name, n_components=5, bandwidth=3.0, random_state=0, **words)
    X = np.random.default_rng(0).standard_normal((900, 6))
    with pytest.raises(MemoryLimitError, match="40 columns"):
        sampler.fit(X, X[:, 0])
