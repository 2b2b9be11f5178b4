"""Maps of other packages as functions f(X, M, seed) -> Z; rows are in bandwidths.

This file is run in an environment of the package, without rfbench. M is the requested number of
columns.
"""

import functools

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
    return np.asarray(made.compute_features(X)) / np.sqrt(made.num_basis_fns)  # variance 1


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


def river(X, M, seed):
    from river.feature_extraction import RBFSampler

    made = RBFSampler(gamma=0.5, n_components=M, seed=seed)
    rows = [made.transform_one(dict(enumerate(row))) for row in X.tolist()]
    found = np.array([list(row.values()) for row in rows])
    # The release promises no scale; with this one the product of a row with itself is 1.
    return found if found.shape[1] == M else found * np.sqrt(2 / found.shape[1])


def snapboost(X, M, seed):
    from snapboost.rff_learner import LaplacianSampler

    return LaplacianSampler(n_components=M, random_state=seed).fit(X).transform(X)


def gstools(X, M, seed, model, **options):
    from gstools import covmodel
    from gstools.field.generator import RandMeth

    claimed = getattr(covmodel, model)(dim=X.shape[1], var=1.0, **options)
    made = RandMeth(claimed, mode_no=M // 2, seed=seed)
    phases = X @ made._cov_sample
    return np.hstack([np.cos(phases), np.sin(phases)]) / np.sqrt(M // 2)


def econml(X, M, seed):
    from econml.dml.dml import _RandomFeatures

    return _RandomFeatures(dim=M, bw=1.0, random_state=seed).fit(X).transform(X)


def causal_learn(X, M, seed):
    from causallearn.utils.RCIT.RCIT import RCIT

    np.random.seed(seed)
    return RCIT().random_fourier_features(X, num_f=M, sigma=1.0) / np.sqrt(M)


def pykoopman(X, M, seed):
    from pykoopman.observables import RandomFourierFeatures

    made = RandomFourierFeatures(include_state=False, gamma=0.5, D=M // 2, random_state=seed)
    return made.fit(X).transform(X)


def xgpr(X, M, seed, kernel, nu=2.5):
    from xGPR.kernel_fgen import KernelFGen

    settings = {"matern_nu": nu, "intercept": False}
    made = KernelFGen(M, np.zeros(1), X.shape[1], kernel, "cpu", settings, seed, False)
    return np.asarray(made.predict(X.copy()))


def torchhd(X, M, seed, bandwidth=1.0):
    import torch
    from torchhd.embeddings import FractionalPower

    torch.manual_seed(seed)
    made = FractionalPower(X.shape[1], M // 2, "gaussian", bandwidth, "FHRR")
    with torch.no_grad():
        Z = made(torch.as_tensor(X, dtype=torch.float32) / bandwidth).numpy()
    return np.hstack([Z.real, Z.imag]).astype(float) / np.sqrt(M // 2)


def positive(X, W):
    """Return positive features of the softmax kernel for the frequencies in the rows of W."""
    return np.exp(X @ W.T - (X**2).sum(axis=1, keepdims=True) / 2) / np.sqrt(len(W))


def darkformer(X, M, seed):
    from darkformer_pytorch.random_features import DataAwareRandomFeatures

    made = DataAwareRandomFeatures(X.shape[1], 1, M, projection_seed=seed)
    return positive(X, made.projection_matrix.double().numpy())


def srf_attention(X, M, seed):
    import torch
    from srf_attention import simplex_random_matrix

    torch.manual_seed(seed)
    padded = np.pad(X, ((0, 0), (0, 8 - X.shape[1])))  # it needs a power of 2; zeros change nothing
    return positive(padded, simplex_random_matrix(M, 8).double().numpy())


def rff_pytorch(X, M, seed):
    import sys
    import types

    import torch

    # Only its reader of pictures needs torchvision.
    sys.modules.setdefault("torchvision", types.ModuleType("torchvision"))
    from rff.layers import GaussianEncoding

    torch.manual_seed(seed)
    made = GaussianEncoding(sigma=1 / (2 * np.pi), input_size=X.shape[1], encoded_size=M // 2)
    with torch.no_grad():
        return made(torch.as_tensor(X, dtype=torch.float32)).double().numpy() / np.sqrt(M // 2)


def learnable_fourier(X, M, seed, gamma):
    import torch
    from learnable_fourier_positional_encoding import LearnableFourierPositionalEncoding

    torch.manual_seed(seed)
    made = LearnableFourierPositionalEncoding(1, X.shape[1], M, 4, 4, gamma)
    with torch.no_grad():
        phases = made.Wr(torch.as_tensor(gamma * X, dtype=torch.float32)).double().numpy()
    return np.hstack([np.cos(phases), np.sin(phases)]) / np.sqrt(M // 2)


def taylor(X, M, seed):
    import torch
    from taylor_series_linear_attention.attention import second_taylor_expansion

    return second_taylor_expansion(torch.as_tensor(X)).numpy()


def franken(X, M, seed, use_offset):
    import torch
    from franken.rf.heads import OrthogonalRFF

    made = OrthogonalRFF(X.shape[1], M if use_offset else M // 2, use_offset=use_offset,
                         rng_seed=seed)  # fmt: skip
    with torch.no_grad():  # a row is a configuration of one atom
        return np.vstack([made.feature_map(torch.as_tensor(row)[None]).numpy() for row in X])


def franken_tensor_sketch(X, M, seed, degree):
    import torch
    from franken.rf.heads import TensorSketch

    made = TensorSketch(X.shape[1], M, degree=degree, bias=1.0, rng_seed=seed)
    with torch.no_grad():
        return np.vstack([made.feature_map(torch.as_tensor(row)[None]).numpy() for row in X])


def xformers(X, M, seed, name):
    import torch
    from xformers.components.attention.feature_maps import softmax

    torch.manual_seed(seed)
    made = getattr(softmax, name)(dim_features=M, iter_before_redraw=None)
    scale = X.shape[1] ** 0.25  # it divides each row by this number
    with torch.no_grad():
        made.forward(torch.as_tensor(scale * X, dtype=torch.float32)[None])
    W = made.features.double().numpy().T
    return positive(X, W) if name == "SMOrf" else positive(X, np.vstack([W, -W]))


def torch_geometric(X, M, seed):
    import torch
    from torch_geometric.nn.attention.performer import generalized_kernel, orthogonal_matrix

    torch.manual_seed(seed)
    W = orthogonal_matrix(M, X.shape[1])
    found = generalized_kernel(torch.as_tensor(X)[None, None], W.double(), epsilon=0.0)[0, 0]
    # With frequencies of length root of d, the mean would be the arc-cosine kernel of order 1.
    return found.numpy() * np.sqrt(2 * X.shape[1] / M)


@functools.cache
def ott_features(kernel, M, n):
    """Return the compiled function of rows and a key; without compiling, it needs .2 s per seed."""
    import jax
    from ott.geometry.low_rank import LRKGeometry

    std = 2.0 if kernel == "gaussian" else 1.0

    def features(rows, key):
        words = {"kernel": kernel, "rank": M, "std": std, "n": n, "rng": key}
        return LRKGeometry.from_pointcloud(rows, rows, **words).k1

    return jax.jit(features)


def ott(X, M, seed, kernel, n=1):
    import jax

    return np.asarray(ott_features(kernel, M, n)(X, jax.random.key(seed)), float)


@functools.cache
def numpyro_products(M, d, bandwidth):
    """Return the compiled function of two sets of rows and a key."""
    import jax
    import jax.numpy as jnp
    from numpyro.contrib.einstein.stein_kernels import RandomFeatureKernel, median_bandwidth

    particles = jnp.asarray(np.random.default_rng(1).standard_normal((M, d)))
    factor = bandwidth / float(median_bandwidth(particles, lambda n: 1.0))

    def products(left, right, key):
        made = RandomFeatureKernel(bandwidth_factor=lambda n: factor)
        made.init(key, particles.shape)
        return jax.vmap(made.compute(None, particles, None, None))(left, right)

    return jax.jit(products)


def numpyro_stein(X, M, seed, bandwidth):
    import jax

    half = (len(X) - 60) // 2  # the kernel is a function of two rows: its values are the features
    left, right = bandwidth * X[60 : 60 + half], bandwidth * X[60 + half :]
    compiled = numpyro_products(M, X.shape[1], bandwidth)
    # It is a sum over M frequencies with d offsets each; the docstring has a mean.
    products = np.asarray(compiled(left, right, jax.random.key(seed)), float) / (M * X.shape[1])
    return np.concatenate([np.zeros(60), products, np.ones(half)])[:, None]


def numpyro_hsgp(X, M, seed):
    import jax.numpy as jnp
    from numpyro.contrib.hsgp.laplacian import eigenfunctions
    from numpyro.contrib.hsgp.spectral_densities import diag_spectral_density_squared_exponential

    d = X.shape[1]
    each = max(2, round(M ** (1 / d)))
    phi = eigenfunctions(jnp.asarray(X), ell=5.0, m=each)
    density = diag_spectral_density_squared_exponential(1.0, 1.0, 5.0, each, d)
    return np.asarray(phi * jnp.sqrt(density), float)


def tf_keras_layer(X, M, seed, kernel):
    import tf_keras

    tf_keras.utils.set_random_seed(seed)
    made = tf_keras.layers.experimental.RandomFourierFeatures(M, kernel, scale=1.0)
    # The docstring says that the root of 2 / M is left out.
    return made(X.astype("float32")).numpy().astype(float) * np.sqrt(2 / M)


def sngp_layer(X, M, seed, package, scale):
    import importlib

    import tf_keras

    tf_keras.utils.set_random_seed(seed)
    layer = importlib.import_module(package).RandomFeatureGaussianProcess(
        1, num_inducing=M, gp_kernel_scale=scale, normalize_input=False, return_gp_cov=False,
        return_random_features=True, use_custom_random_features=True,
    )  # fmt: skip
    # The docstring has exp(-|x - y|^2 / scale), with bandwidth root of scale / 2.
    found = layer((X * np.sqrt(scale / 2)).astype("float32"))
    return np.asarray(found[-1], float)


def tf_fourier_features(X, M, seed):
    import tensorflow as tf
    from tf_fourier_features import FourierFeatureProjection

    tf.keras.utils.set_random_seed(seed)
    made = FourierFeatureProjection(gaussian_projection=M // 2, gaussian_scale=1.0)
    return made((X / (2 * np.pi)).astype("float32")).numpy().astype(float) / np.sqrt(M // 2)


def tf_models(X, M, seed, seeded):
    import tensorflow as tf
    from official.nlp.modeling.layers.kernel_attention import create_projection_matrix

    tf.random.set_seed(seed)
    given = tf.constant([seed, 17]) if seeded else None
    return positive(X, create_projection_matrix(M, X.shape[1], given).numpy().astype(float))


@functools.cache
def bayes_hdc_features(M, d):
    """Return the compiled function of rows and a key."""
    import jax
    from bayes_hdc.embeddings import KernelEncoder

    def features(rows, key):
        return KernelEncoder.create(d, M, gamma=0.5, key=key).encode_batch(rows)

    return jax.jit(features)


def bayes_hdc(X, M, seed):
    import jax

    return np.asarray(bayes_hdc_features(M, X.shape[1])(X, jax.random.PRNGKey(seed)), float)


def mlkm(X, M, seed, kernel):
    import torch
    from Multi_Layer_Kernel_Machine.RandomFeature import RandomFourierFeature

    torch.manual_seed(seed)
    made = RandomFourierFeature(X.shape[1], M, kernel=kernel, gamma=1.0)
    return made.transform(torch.as_tensor(X, dtype=torch.float32)).double().numpy()
