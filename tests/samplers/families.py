"""Kernels by what a sampler asks of them, and the contract of those that choose their columns."""

from rfbench.testing.samplers import SamplerContract

GAUSSIAN = ("gaussian", "gaussian-unhalved")
ISOTROPIC = (*GAUSSIAN, "arc-cosine-0", "arc-cosine-1", "arc-cosine-2")
PRODUCT = (*ISOTROPIC, "laplacian", "cauchy")
WAVES = (*GAUSSIAN, "laplacian", "cauchy")


class ColumnsContract(SamplerContract):
    """As many columns as are asked for, in either map."""

    def expected_columns(self, n_components, feature_map):
        return n_components
