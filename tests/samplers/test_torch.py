"""Feature maps as modules of torch: the same features, and gradients of them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from rfbench.checking.samplers import CHECK_ROWS, NEW_ROWS
from rfbench.errors import MethodError
from rfbench.registry import SAMPLERS
from rfbench.samplers import RKS
from rfbench.samplers.elsewhere import adapted
from rfbench.samplers.feature_map import OFFSET, PAIRED

torch = pytest.importorskip("torch")
LABELS = (CHECK_ROWS[:, 0] > 0).astype(int)
WITHOUT = ("low-precision", "nystroem")


def fitted(name, kernel="gaussian", feature_map=OFFSET, M=6, **parameters):
    sampler = SAMPLERS[name](
        M, kernel=kernel, bandwidth=2.0, feature_map=feature_map, random_state=0, **parameters
    )
    return sampler.fit(CHECK_ROWS, LABELS)


def tensors(rows=NEW_ROWS, **kwargs):
    return torch.tensor(rows, **kwargs)


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize("feature_map", [OFFSET, PAIRED])
def test_each_sampler_converts_to_torch_or_reports_that_it_cannot(name, feature_map):
    kernel = SAMPLERS[name].declaration.kernels[0]
    sampler = fitted(name, kernel, feature_map, M=12)
    if name in WITHOUT:
        with pytest.raises(MethodError, match="cannot be computed by torch"):
            sampler.feature_map_.as_torch()
        return
    features = sampler.feature_map_.as_torch()
    assert_allclose(features(tensors()).numpy(), sampler.transform(NEW_ROWS), atol=1e-13)


@pytest.mark.parametrize("name", [name for name in SAMPLERS if name not in WITHOUT])
@pytest.mark.parametrize("feature_map", [OFFSET, PAIRED])
def test_features_of_float32_rows_are_float32(name, feature_map):
    kernel, rows = SAMPLERS[name].declaration.kernels[0], CHECK_ROWS.astype(np.float32)
    sampler = SAMPLERS[name](
        12, kernel=kernel, bandwidth=2.0, feature_map=feature_map, random_state=0
    ).fit(rows, LABELS)
    features = sampler.feature_map_.as_torch()
    made = features(tensors(NEW_ROWS, dtype=torch.float32))
    assert made.dtype == torch.float32
    expected = sampler.transform(NEW_ROWS.astype(np.float32))
    assert_allclose(made.numpy(), expected, atol=1e-4)


def test_arrays_of_a_torch_module_are_buffers_and_not_parameters():
    features = RKS(4, bandwidth=2.0).fit(CHECK_ROWS.astype(np.float32)).feature_map_.as_torch()
    assert list(features.parameters()) == []
    assert {name for name, _ in features.named_buffers()} == {"frequencies", "offsets"}
    assert {buffer.dtype for buffer in features.buffers()} == {torch.float32}


@pytest.mark.parametrize(
    ("name", "kernel", "feature_map"),
    [
        ("rks", "gaussian", OFFSET),
        ("rks", "gaussian", PAIRED),
        ("ses", "gaussian", PAIRED),
        ("swim", "gaussian", OFFSET),
        ("tefm-g", "gaussian", OFFSET),
        ("rks", "arc-cosine-1", OFFSET),
        ("rks", "arc-cosine-2", OFFSET),
        ("rks", "linear", OFFSET),
    ],
)
def test_gradients_equal_finite_differences(name, kernel, feature_map):
    features = fitted(name, kernel, feature_map).feature_map_.as_torch()
    rows = tensors(NEW_ROWS[:3], requires_grad=True)
    assert torch.autograd.gradcheck(features, (rows,))


def test_torch_module_is_adapted_to_a_feature_map_function():
    """By `adapted`: rows take the type of the module's numbers, and no gradient comes back."""

    class Net(torch.nn.Module):
        def __init__(self, d, M, seed):
            super().__init__()
            generator = torch.Generator().manual_seed(seed)
            self.weight = torch.nn.Parameter(torch.randn(d, M, generator=generator))

        def forward(self, rows):
            return torch.cos(rows @ self.weight) / self.weight.shape[1] ** 0.5

    found = adapted(Net)(CHECK_ROWS, 6, 3)
    weight = Net(CHECK_ROWS.shape[1], 6, 3).weight.detach().numpy()
    assert found.dtype == weight.dtype == np.float32
    assert_allclose(found, np.cos(CHECK_ROWS @ weight) / 6**0.5, atol=1e-5)
