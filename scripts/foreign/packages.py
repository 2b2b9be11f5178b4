"""Maps of other packages as functions f(X, M, seed) -> Z; rows are in bandwidths.

This file is run in an environment of the package, without rfbench. M is the requested number of
columns.
"""

import numpy as np


def rfflearn(X, M, seed, kind):
    from rfflearn.cpu.rfflearn_cpu_common import Base

    np.random.seed(seed)
    made = Base(kind, M, 1.0, None, None)
    made.set_weight(X.shape[1])
    return np.sqrt(2 / M) * made.conv(X)


def revrand(X, M, seed, name):
    from revrand import basis_functions

    made = getattr(basis_functions, name)(M // 2, X.shape[1], random_state=seed)
    return made.transform(X, np.ones(1))


def scikit_learn_extra(X, M, seed, **options):
    from sklearn_extra.kernel_approximation import Fastfood

    return Fastfood(sigma=1.0, n_components=M, random_state=seed, **options).fit_transform(X)


def pykoop(X, M, seed, kernel_or_ft, method):
    from pykoop import RandomFourierKernelApprox

    frequencies = M if method == "weight_offset" else M // 2
    shape = 0.5  # with this shape, the rows are scaled by sqrt(2 shape) = 1
    made = RandomFourierKernelApprox(
        kernel_or_ft, frequencies, shape=shape, method=method, random_state=seed
    )
    return made.fit(X).transform(X)


def pyrff(X, M, seed, nu=np.inf):
    from pyrff import sample_rff

    np.random.seed(seed)  # with a finite nu it draws from numpy's global generator
    drawn = sample_rff(
        lengthscales=np.ones(X.shape[1]),
        scaling=1.0,
        noise=1.0,
        kernel_nu=nu,
        X=X[:3],
        Y=np.zeros(3),
        M=M,
        seed=seed,
    )
    return drawn.sqrt_2_alpha_over_m * np.cos(X @ drawn.W.T + drawn.B.ravel())


def gpjax(X, M, seed, kernel):
    import gpjax as gpx
    import jax

    base = getattr(gpx.kernels, kernel)(n_dims=X.shape[1])
    made = gpx.kernels.RFF(base, num_basis_fns=M // 2, key=jax.random.key(seed))
    scale = np.sqrt(base.variance[...] / made.num_basis_fns)
    return scale * np.asarray(made.compute_features(X))


def gpytorch(X, M, seed):
    import torch
    from gpytorch.kernels import RFFKernel

    torch.manual_seed(seed)
    made = RFFKernel(num_samples=M // 2, num_dims=X.shape[1])
    made.lengthscale = 1.0
    with torch.no_grad():
        return made._featurize(torch.as_tensor(X, dtype=torch.float32), normalize=True).numpy()


def botorch(X, M, seed, nu=None):
    import torch
    from botorch.sampling.pathwise.features import gen_kernel_features
    from gpytorch.kernels import MaternKernel, RBFKernel

    torch.manual_seed(seed)
    kernel = RBFKernel() if nu is None else MaternKernel(nu=nu)
    kernel.lengthscale = 1.0
    with torch.no_grad():
        made = gen_kernel_features(kernel.double(), num_inputs=X.shape[1], num_outputs=M)
        return made(torch.as_tensor(X)).numpy()


def performer_pytorch(X, M, seed):
    import torch
    from performer_pytorch.performer_pytorch import gaussian_orthogonal_random_matrix

    torch.manual_seed(seed)
    W = gaussian_orthogonal_random_matrix(M, X.shape[1]).double().numpy()
    return np.exp(X @ W.T - (X**2).sum(axis=1, keepdims=True) / 2) / np.sqrt(M)


def sklearn(X, M, seed, name, **options):
    from sklearn import kernel_approximation

    made = getattr(kernel_approximation, name)(n_components=M, random_state=seed, **options)
    return made.fit_transform(X)
