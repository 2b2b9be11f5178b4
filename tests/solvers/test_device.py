"""Ridge on a device: by torch's CPU the numbers of the CPU; what cannot be served is refused."""

import weakref

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from rfbench import clock as clocks
from rfbench.clock import Clock
from rfbench.compute import CUDA, TORCH_CPU, gram
from rfbench.compute import device as devices
from rfbench.compute.device import Device, Tiles, rounded_to_tf32, solve_ridge
from rfbench.errors import MemoryLimit, MethodError
from rfbench.memory import limited_to
from rfbench.registry import SAMPLERS
from rfbench.samplers import RKS, Nystroem
from rfbench.samplers.feature_map import OFFSET, PAIRED
from rfbench.samplers.projected import ProjectedMap
from rfbench.solvers import RidgeClassifier, RidgeRegressor
from rfbench.solvers.ridge import COLUMNS_SOLVED
from rfbench.testing.samplers import NEW_ROWS, ROWS
from tests.support.problems import problem

SAME = 1e-9
ALPHAS = [1e-4, 1e-2, 1.0]


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(devices, "TILE", 5)
    monkeypatch.setattr(devices, "default_block_rows", lambda *_: 37)


def both(cls, X, y, features, new, **parameters):
    """Return the fits of the CPU and of torch, whose decisions on new rows agree."""
    cpu, torch = (
        cls(**{"random_state": 0, **parameters}, device=name).fit(X, y, features=features)
        for name in ("cpu", TORCH_CPU)
    )
    expected = cpu.decisions(new)
    assert_allclose(torch.decisions(new), expected, rtol=SAME, atol=SAME * np.abs(expected).max())
    assert torch.alpha_ == cpu.alpha_
    assert torch.alpha_scale_free_ == pytest.approx(cpu.alpha_scale_free_, rel=SAME)
    if cpu.selection_loss_ is not None:
        assert torch.selection_loss_ == pytest.approx(cpu.selection_loss_, rel=SAME)
    return cpu, torch


@pytest.mark.parametrize("feature_map", [OFFSET, PAIRED])
@pytest.mark.parametrize("name", [n for n, cls in SAMPLERS.items() if cls.has_torch_form])
def test_every_sampler_with_waves_predicts_the_same(name, feature_map):
    sampler = SAMPLERS[name](12, bandwidth=2.0, feature_map=feature_map, random_state=0)
    y = np.sin(ROWS[:, 0]) + ROWS[:, 1]
    sampler.fit(ROWS, y)
    both(RidgeRegressor, ROWS, y, sampler, NEW_ROWS, alphas=0.01)


@pytest.mark.parametrize("kind", ["real", "several", "two", "four"])
@pytest.mark.parametrize("selection", ["cv5", "validation"])
@pytest.mark.parametrize("intercept", [True, False])
def test_targets_selections_and_intercepts(kind, selection, intercept):
    X, y = problem(200, 6, kind)
    cls = RidgeRegressor if kind in ("real", "several") else RidgeClassifier
    features = RKS(11, bandwidth=3.0, random_state=0).fit(X)
    options = {"alphas": ALPHAS, "selection": selection, "intercept": intercept}
    both(cls, X, y, features, X[:50] + 0.1, **options)


def test_one_vs_one():
    X, y = problem(200, 6, "four")
    features = RKS(11, bandwidth=3.0, random_state=0).fit(X)
    both(RidgeClassifier, X, y, features, X, alphas=ALPHAS, multiclass="one-vs-one")


def test_rows_without_features_and_sparse_ones():
    X, y = problem(100, 6, "real")
    both(RidgeRegressor, X, y, None, X, alphas=0.1)
    rows = sparse.csr_array(np.where(np.abs(X) > 0.7, X, 0.0))
    features = RKS(11, bandwidth=3.0, random_state=0).fit(rows)
    both(RidgeRegressor, rows, y, features, rows, alphas=0.1)


def test_more_columns_than_rows():
    """The system of the columns, where the CPU solves that of the rows."""
    X, y = problem(40, 6, "real")
    features = RKS(60, bandwidth=3.0, random_state=0).fit(X)
    options = {"alphas": [1e-3, 0.1], "selection": "cv5"}
    cpu, torch = both(RidgeRegressor, X, y, features, X + 0.1, **options)
    assert cpu.notes_ == []
    assert torch.notes_ == [COLUMNS_SOLVED]
    few = RKS(39, bandwidth=3.0, random_state=0).fit(X)
    assert both(RidgeRegressor, X, y, few, X + 0.1, **options)[1].notes_ == []


def test_features_that_look_at_the_target_are_fitted_in_folds():
    X, y = problem(120, 6, "two")
    eerf = SAMPLERS["eerf"](8, pool_size=30, bandwidth=3.0, random_state=0).fit(X, y)
    _, torch = both(RidgeClassifier, X, y, eerf, X, alphas=ALPHAS, selection="cv5")
    assert torch.features_in_folds_ == "nested"


def test_twins_without_a_penalty_fall_back_as_on_the_cpu():
    """Two features that are one: no Cholesky factor, and the solution of least norm."""
    X, y = problem(80, 6, "real")
    twins = np.hstack([X, X])
    _, torch = both(RidgeRegressor, twins, y, None, twins, alphas=[0.0, 1.0], selection="cv5")
    assert_allclose(torch.coef_[:, :6], torch.coef_[:, 6:], atol=1e-12)
    zero = RidgeRegressor(0.0, device=TORCH_CPU).fit(twins, y)
    assert zero.notes_ == RidgeRegressor(0.0).fit(twins, y).notes_
    assert "6 of 12 directions kept" in zero.notes_[0]


def test_the_sums_are_those_of_the_cpu():
    X, y = problem(150, 7, "several")
    groups = np.arange(150) % 3
    import torch

    made = Device(TORCH_CPU).accumulate_groups(
        torch.nn.Identity(), X, y, 7, groups, clock=Clock(), centre=False
    )
    exact = gram.accumulate_groups(lambda rows, out: np.copyto(out, rows), X, y, 7, groups)
    for own, other in zip(made, exact, strict=True):
        for name in ("moment", "column_sums", "target_sums", "target_squares", "n", "shift"):
            assert_allclose(getattr(own, name), getattr(other, name), rtol=1e-13, atol=1e-12)
        assert_allclose(own.gram.full().numpy(), other.gram, rtol=1e-13, atol=1e-12)
        assert_allclose(own.gram @ np.eye(7), other.gram, rtol=1e-13, atol=1e-12)
        assert_allclose(own.gram.diagonal(), np.diag(other.gram), rtol=1e-13)
        assert own.gram.trace() == pytest.approx(np.trace(other.gram), rel=1e-13)


@pytest.mark.parametrize("p", [1, 4, 5, 6, 13])
def test_tiles_are_factorised_and_solved(p):
    random = np.random.default_rng(p)
    root, sides = random.standard_normal((p + 3, p)), random.standard_normal((p, 2))
    K, sums = root.T @ root, random.standard_normal(p)
    tiles = Tiles.zeros(p, "cpu")
    import torch

    for (i, j), part in tiles.parts.items():
        part += torch.tensor(K[tiles.spans[i], tiles.spans[j]])
    work = tiles.shifted(50.0, sums, 4.0)
    assert work.factorise()
    expected = np.linalg.solve(K + 50.0 * np.eye(p) - np.outer(sums, sums) / 4.0, sides)
    assert_allclose(work.solve(sides), expected, rtol=1e-11, atol=1e-14)
    assert_allclose(tiles.full().numpy(), K)  # is not changed
    assert not tiles.shifted(-1e4, None, 1.0).factorise()


def test_float32_is_near_and_tf32_less_so():
    X, y = problem(400, 6, "real")
    new = X[:50] + 0.1
    features = RKS(30, bandwidth=3.0, random_state=0).fit(X)
    exact = RidgeRegressor(10.0).fit(X, y, features=features).predict(new)
    narrow = X.astype(np.float32)
    errors = []
    for tf32 in (False, True):
        own = RKS(30, bandwidth=3.0, random_state=0).fit(narrow)
        model = RidgeRegressor(10.0, device=TORCH_CPU, tf32=tf32)
        model.fit(narrow, y, features=own)
        found = model.predict(new.astype(np.float32))
        errors.append(float(np.abs(found - exact).max() / np.abs(exact).max()))
    assert errors[0] < 1e-5 < errors[1] < 1e-2


def test_tf32_keeps_ten_bits_and_rounds_ties_to_even():
    import torch

    random = np.random.default_rng(0).standard_normal(1000).astype(np.float32)
    rounded = rounded_to_tf32(torch.tensor(random)).numpy()
    assert np.abs(rounded / random - 1).max() <= 2.0**-11
    assert np.abs(rounded / random - 1).max() > 2.0**-12
    assert (rounded.view(np.int32) & 0x1FFF == 0).all()
    ulp = 2.0**-10
    ties = torch.tensor([1 + ulp / 2, 1 + 3 * ulp / 2, -1 - ulp / 2, 0.0], dtype=torch.float32)
    assert rounded_to_tf32(ties).tolist() == [1.0, 1 + 2 * ulp, -1.0, 0.0]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alphas": ALPHAS, "selection": "loo"}, "selection is 'loo'"),
        ({"alphas": ALPHAS, "selection": "test"}, "selection is 'test'"),
    ],
)
def test_what_a_device_cannot_serve_is_refused_without_data(parameters, message):
    for cls in (RidgeRegressor, RidgeClassifier):
        with pytest.raises(MethodError, match=message):
            cls(device=TORCH_CPU, **parameters).check_parameters()
    with pytest.raises(MethodError, match="TF32 is for a device"):
        RidgeRegressor(tf32=True).check_parameters()


def test_features_without_a_form_for_torch_are_refused():
    X, y = problem(60, 4, "real")
    landmarks = Nystroem(5, bandwidth=2.0, random_state=0).fit(X)
    with pytest.raises(MethodError, match="cannot be computed by torch"):
        RidgeRegressor(device=TORCH_CPU).fit(X, y, features=landmarks)
    from sklearn.preprocessing import PolynomialFeatures

    with pytest.raises(MethodError, match="PolynomialFeatures cannot be computed on a device"):
        RidgeRegressor(device=TORCH_CPU).fit(X, y, features=PolynomialFeatures().fit(X))


def test_features_that_are_not_finite_are_refused():
    X, y = problem(60, 4, "real")
    with pytest.raises(MethodError, match="features are not finite"):
        RidgeRegressor(device=TORCH_CPU).fit(X, y, features=Infinite(5).fit(X))


class Infinite(RKS):
    def fit(self, X, y=None):
        super().fit(X)
        self.feature_map_ = self.feature_map_.times(np.inf)
        return self


def test_matrices_that_do_not_fit_are_refused_before_they_are_made():
    X, y = problem(60, 4, "real")
    features = RKS(40, bandwidth=2.0, random_state=0).fit(X)
    with limited_to(0), pytest.raises(MemoryLimit, match="8 Gram matrices of 40 columns"):
        RidgeRegressor(ALPHAS, selection="cv5", device=TORCH_CPU).fit(X, y, features=features)


def test_without_a_gpu_cuda_says_so():
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises(MethodError, match="torch sees no GPU"):
        Device(CUDA).check()


def sums_of(X, targets, transform=None, **options):
    import torch

    groups = np.zeros(len(X), dtype=np.intp)
    (equations,) = Device(TORCH_CPU, **options).accumulate_groups(
        transform or torch.nn.Identity(), X, targets, 3, groups, clock=Clock(), centre=False
    )
    return equations


def test_sums_of_float32_are_taken_in_parts_however_large_a_block_is(monkeypatch):
    """Integers, whose sums of 2,048 rows are exact in float32 (24 bits), of a block's are not."""
    monkeypatch.setattr(devices, "default_block_rows", lambda *_: 2**16)
    random = np.random.default_rng(0)
    X, targets = random.integers(1, 90, (40_000, 3)), random.integers(1, 90, (40_000, 2))
    products = X.T @ X
    assert products.min() > 2**24
    for tf32 in (False, True):
        made = sums_of(X.astype(np.float32), targets.astype(np.float64), tf32=tf32)
        assert (made.gram.full().numpy() == products).all()
        assert (made.moment == X.T @ targets).all()
        assert (made.column_sums == X.sum(0)).all()


class Ticking:
    """A clock that stands still but for `tick`, in the place of the module `time`."""

    now = 0.0

    def perf_counter(self):
        return self.now

    process_time = perf_counter

    def tick(self, function, seconds):
        def slow(*args, **kwargs):
            self.now += seconds
            return function(*args, **kwargs)

        return slow


@pytest.fixture
def ticking(monkeypatch):
    fake = Ticking()
    monkeypatch.setattr(clocks, "time", fake)
    return fake


def test_predictions_are_time_of_the_test(ticking, monkeypatch):
    """Forming the features is part of it: no clock of its own pauses it."""
    from rfbench.samplers.torch_map import TorchMap

    X, y = problem(200, 6, "real")
    features = RKS(11, bandwidth=3.0, random_state=0).fit(X)
    model = RidgeRegressor(0.1, device=TORCH_CPU).fit(X, y, features=features)
    monkeypatch.setattr(TorchMap, "forward", ticking.tick(TorchMap.forward, 1.0))
    clock = Clock()
    with clock.part("test"):
        model.decisions(X)
    assert clock.wall == {"pp": 0.0, "features": 0.0, "train": 0.0, "test": 6.0}  # blocks of 37


def test_what_goes_before_the_sums_is_timed(ticking, monkeypatch):
    from rfbench.samplers.torch_map import TorchMap

    X, y = problem(100, 6, "real")
    features = RKS(11, bandwidth=3.0, random_state=0).fit(X)
    monkeypatch.setattr(TorchMap, "__init__", ticking.tick(TorchMap.__init__, 1.0))
    monkeypatch.setattr(TorchMap, "to", ticking.tick(TorchMap.to, 10.0))
    monkeypatch.setattr(Tiles, "zeros", ticking.tick(Tiles.zeros, 100.0))
    clock = Clock()
    RidgeRegressor(0.1, device=TORCH_CPU).fit(X, y, features=features, clock=clock)
    assert (clock.wall["features"], clock.wall["train"]) == (11.0, 100.0)


def test_tf32_of_rows_in_float64_is_refused():
    """Rounding their bits as those of float32 would make other numbers of them."""
    X, y = problem(60, 4, "real")
    features = RKS(5, bandwidth=2.0, random_state=0).fit(X)
    with pytest.raises(MethodError, match="tf32 is asked for, and the rows are float64"):
        RidgeRegressor(device=TORCH_CPU, tf32=True).fit(X, y, features=features)
    narrow = X.astype(np.float32)
    model = RidgeRegressor(device=TORCH_CPU, tf32=True).fit(narrow, y, features=features)
    with pytest.raises(MethodError, match="tf32 is asked for, and the rows are float64"):
        model.predict(X)


def test_the_features_of_a_block_are_gone_before_the_next_are_made():
    import torch

    class Watching(torch.nn.Module):
        last, seen = None, 0

        def forward(self, rows):
            assert self.last is None or self.last() is None
            features = rows + 1.0
            self.last, self.seen = weakref.ref(features), self.seen + 1
            return features

    X = np.random.default_rng(0).standard_normal((150, 3))
    watching = Watching()
    sums_of(X, X[:, :1], watching)
    Device(TORCH_CPU).multiply(watching, X, np.ones((3, 1)), 3, None)
    assert watching.seen == 10


def test_a_block_has_the_rows_that_memory_holds_with_what_features_are_made_from(monkeypatch):
    X = np.zeros((10, 5))
    small, large = (RKS(M, bandwidth=2.0).fit(ROWS).feature_map_ for M in (6, 500))
    plain, projected = small.as_torch(), ProjectedMap(large, np.ones((500, 6))).as_torch()
    assert (plain.columns_formed, projected.columns_formed) == (6, 506)
    monkeypatch.setattr(devices, "free_on_gpu", lambda: 8e5)
    rows = [Device(CUDA)._block_rows(each, 6, X) for each in (plain, projected)]
    assert rows == [10**5 // (8 * 11), 10**5 // (8 * 511)]
    monkeypatch.setattr(devices, "free_on_gpu", lambda: 1e11)
    assert Device(CUDA)._block_rows(plain, 6, X) == devices.MOST_ROWS


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("CUDA out of memory. Tried to allocate 80.00 GiB.\nMore.", r"80\.00 GiB\."),
        ("cusolver error: CUSOLVER_STATUS_ALLOC_FAILED, when calling", "ALLOC_FAILED"),
        ("DefaultCPUAllocator: not enough memory: you tried to allocate 9 bytes", "9 bytes"),
    ],
)
def test_memory_that_runs_out_is_a_limit_of_memory(text, shown, monkeypatch):
    import torch

    from rfbench.samplers.torch_map import TorchMap

    def forward(self, rows):
        raise (torch.OutOfMemoryError if "CUDA" in text else RuntimeError)(text)

    X, y = problem(60, 4, "real")
    features = RKS(5, bandwidth=2.0).fit(X)
    model = RidgeRegressor(device=TORCH_CPU).fit(X, y, features=features)
    monkeypatch.setattr(TorchMap, "forward", forward)
    for use in (
        lambda: RidgeRegressor(device=TORCH_CPU).fit(X, y, features=features),
        lambda: model.predict(X),
    ):
        with pytest.raises(MemoryLimit, match=rf"device is out of memory[^\n]*{shown}") as error:
            use()
        assert "More" not in str(error.value)


def test_other_errors_of_torch_are_not_of_memory():
    with pytest.raises(RuntimeError, match="shapes"), devices.memory_errors():
        raise RuntimeError("shapes cannot be multiplied")


def test_an_eigendecomposition_that_does_not_fit_is_refused():
    X = np.random.default_rng(0).standard_normal((50, 1)) * [1.0, 1.0, 1.0]
    equations = sums_of(X, X[:, :1])
    with (
        limited_to(0),
        pytest.raises(MemoryLimit, match="eigendecomposition of a Gram matrix of 3"),
    ):
        solve_ridge(equations, [0.0], intercept=False)


def test_everything_but_the_gram_matrix_has_all_digits_whatever_is_set_outside():
    """TF32 that a program allows for its own products rounds none of ours."""
    import torch

    matmul, seen = torch.backends.cuda.matmul, []

    class Watching(torch.nn.Module):
        def forward(self, rows):
            seen.append(matmul.fp32_precision)
            return rows

    before, X = matmul.fp32_precision, ROWS[:, :3].astype(np.float32)
    matmul.fp32_precision = "tf32"
    try:
        sums_of(X, ROWS[:, :1], Watching(), tf32=True)
        Device(TORCH_CPU).multiply(Watching(), X, np.ones((3, 1)), 3, None)
        assert set(seen) == {"ieee"}
        assert matmul.fp32_precision == "tf32"
        with Device(CUDA, tf32=True).precision(tf32=True):
            assert matmul.fp32_precision == "tf32"
    finally:
        matmul.fp32_precision = before
