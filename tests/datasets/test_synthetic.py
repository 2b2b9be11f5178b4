import numpy as np
import pytest

from rfbench.datasets.synthetic import PROBLEMS, hyperplane, sphere
from rfbench.errors import DataError


@pytest.mark.parametrize("d", [2, 10])
def test_sphere_labels_depend_on_the_norm(d):
    X, y = sphere(np.random.default_rng(0), d, 500)
    assert X.shape == (500, d)
    np.testing.assert_array_equal(y, (X**2).sum(axis=1) > d)


@pytest.mark.parametrize(("d", "outside"), [(2, np.exp(-1)), (10, 0.440493)])
def test_fraction_outside_the_sphere_follows_the_chi2_distribution(d, outside):
    n = 100_000
    _, y = sphere(np.random.default_rng(1), d, n)
    z = (y.mean() - outside) / np.sqrt(outside * (1 - outside) / n)
    assert abs(z) < 4


def test_hyperplane_labels_depend_on_few_coordinates():
    X, y = hyperplane(np.random.default_rng(0), 50, 4000, informative=5, weak=1e-9)
    np.testing.assert_array_equal(y, X[:, :5].sum(axis=1) > 0)


def test_weak_coordinates_contribute_with_their_weight():
    d, n, weak = 40, 200_000, 0.5
    X, y = hyperplane(np.random.default_rng(2), d, n, informative=4, weak=weak)
    # E[x_j sign(x'u)] = sqrt(2/pi) u_j / |u|
    u = X.T @ (2 * y - 1) / n
    assert u[:4] / u[0] == pytest.approx(np.ones(4), abs=0.02)
    ratio = np.sqrt(np.mean((u[4:] / u[:4].mean()) ** 2))
    assert ratio == pytest.approx(weak, abs=4 * weak / np.sqrt(2 * 36))


def test_missing_parameters_get_the_values_of_the_paper():
    values = PROBLEMS["sphere"].complete("sphere", {"d": 3})
    assert values == {"d": 3, "n_train": 10_000, "n_test": 1_000}
    assert PROBLEMS["hyperplane"].complete("hyperplane", {"weak": 1})["weak"] == 1


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"n_trian": 5}, "Did you mean 'n_train'"),
        ({"d": 0}, "positive int"),
        ({"d": 2.5}, "positive int"),
        ({"d": True}, "positive int"),
        ({"d": "3"}, "positive int"),
        ({"weak": float("inf")}, "positive float"),
        ({"weak": float("nan")}, "positive float"),
    ],
)
def test_invalid_parameters_are_rejected(given, reason):
    name = "hyperplane" if "weak" in given else "sphere"
    with pytest.raises(DataError, match=reason):
        PROBLEMS[name].complete(name, given)
