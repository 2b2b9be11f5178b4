"""Kernels by what a sampler asks of them."""

GAUSSIAN = ("gaussian", "gaussian-unhalved")
ISOTROPIC = (*GAUSSIAN, "arc-cosine-0", "arc-cosine-1", "arc-cosine-2")
PRODUCT = (*ISOTROPIC, "laplacian", "cauchy")
WAVES = (*GAUSSIAN, "laplacian", "cauchy")
