"""Every sampler keeps the contract of all, in each of its forms."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from rfbench import samplers
from rfbench.registry import SAMPLERS
from rfbench.testing.samplers import MAPS, SamplerContract

from .families import GAUSSIAN, ISOTROPIC, PRODUCT, WAVES


class Columns(SamplerContract):
    """As many columns as are asked for, in either map."""

    def expected_columns(self, n_components, feature_map):
        return n_components


class Matched(SamplerContract):
    """Few frequencies cannot have exact moments."""

    def small(self):
        return self.sampler(40)


class Unscrambled(SamplerContract):
    """Another seed is another draw of offsets alone, and the estimate has a bias."""

    def maps_to_estimate(self, kernel):
        pytest.skip("points of a lattice that is not shifted have a bias")

    @pytest.mark.parametrize("feature_map", MAPS)
    def test_different_seeds_different_features(self, feature_map):
        first, second = (
            self.features(feature_map=feature_map, random_state=seed) for seed in (0, 1)
        )
        if feature_map == "paired":
            assert_array_equal(first, second)
        else:
            assert np.mean(np.abs(first - second)) > 1e-3


class Pooled(SamplerContract):
    """The pool of the form is small, or its weights are others: see test_leverage."""

    def maps_to_estimate(self, kernel):
        pytest.skip("this form has a bias")


ANY = tuple(SamplerContract.kernels_served)
NEAR, FAR = {"float32_tolerance": 1e-3}, {"float32_tolerance": 1e-2}
STEP = {"float32_tolerance": 1.01 / 255}  # a step of 8 bits: rows in float32 are other rows
UNWEIGHTED = {"resample": False, "per_column": True, "reweight": "inverse"}
POOL, SMALL = {"pool_size": 40}, {"pool_size": 30}
# The contract, the sampler, the kernels that it serves, its options, and what else differs.
FORMS = (
    (SamplerContract, "RKS", ANY, {}, {}),
    (SamplerContract, "ORF", ISOTROPIC, {}, {}),
    (SamplerContract, "SORF", ISOTROPIC, {}, {}),
    (SamplerContract, "ROM", ISOTROPIC, {}, {}),
    (SamplerContract, "SimRF", ISOTROPIC, {}, {}),
    (SamplerContract, "Fastfood", ISOTROPIC, {}, {}),
    (SamplerContract, "Circulant", PRODUCT, {}, NEAR),
    (SamplerContract, "QMC", PRODUCT, {}, {}),
    (SamplerContract, "QMC", PRODUCT, {"sequence": "halton"}, {}),
    (Unscrambled, "QMC", PRODUCT, {"scramble": False}, {}),
    (Matched, "MomentMatching", GAUSSIAN, {},
     {"sizes": (6, 7, 16), "refuses": "cannot match the moments"}),
    (SamplerContract, "GaussianQuadrature", GAUSSIAN, {}, {}),
    (SamplerContract, "SSR", GAUSSIAN, {}, {"refuses": "needs 3 columns"}),
    (SamplerContract, "LowPrecision", WAVES, {"bits": 8}, STEP),
    (SamplerContract, "LowPrecision", WAVES, {"bits": 8, "base": "circulant"}, STEP),
    (SamplerContract, "UniformPool", ANY, POOL, {"kernel_sizes": (4, 40)}),
    (SamplerContract, "EERF", ANY, POOL | {"score_rows": 1.0}, {}),
    (SamplerContract, "EERF", ANY,
     POOL | {"score_rows": 0.5, "center_target": True, "multiclass": "max"}, {}),
    (SamplerContract, "EERF", ANY, POOL | {"score_rows": 30, "multiclass": "per-class"}, {}),
    (SamplerContract, "LKRF", ANY, POOL | {"rho": 2.0}, {}),
    (SamplerContract, "LKRF", ANY, POOL | {"rho": 2.0, "estimator": "draw", "score_rows": 0.5}, {}),
    (SamplerContract, "LKRF", ANY, POOL | {"penalty": 0.5, "power": 3.0, "weighted": False}, {}),
    (SamplerContract, "LKRF", ANY,
     POOL | {"penalty": "validation", "estimator": "draw", "score_rows": 0.5}, {}),
    (SamplerContract, "Greedy", ANY, POOL, {}),
    (SamplerContract, "Greedy", ANY, POOL | {"normalize": True, "center_target": True}, {}),
    (Pooled, "LeverageRFF", ANY, SMALL, {}),
    (Pooled, "LeverageRFF", ANY, UNWEIGHTED, NEAR),
    (Pooled, "SurrogateLeverage", ANY,
     SMALL | {"replace": False, "center_target": True}, NEAR),
    (Pooled, "SurrogateLeverage", ANY, SMALL | {"equation": 12, "per_column": True}, {}),
    (SamplerContract, "ORCCA", ANY, SMALL, NEAR),
    (SamplerContract, "SES", ANY, {}, {}),
    (SamplerContract, "SES", ANY, {"equations": "exact", "weights": "clipped"}, {}),
    (SamplerContract, "SES", ANY, {"equations": "exact", "penalty": 0.01}, {}),
    (SamplerContract, "ARFF", WAVES, {"sweeps": 3, "refit": 2}, NEAR),
    (SamplerContract, "RFMFeatures", GAUSSIAN, {"rounds": 2}, NEAR),
    (SamplerContract, "RFMFeatures", GAUSSIAN, {"metric": "diagonal", "score_rows": 40}, NEAR),
    (SamplerContract, "VariableProjection", WAVES, {"iterations": 3}, NEAR),
    (Columns, "Nystroem", ANY, {}, {}),
    (Columns, "Nystroem", ANY, {"landmarks": "ridge-leverage", "score_rows": 30}, {}),
    (Columns, "Nystroem", ANY, {"landmarks": "kmeans"}, {}),
    (Columns, "Nystroem", ANY, {"landmarks": "rpcholesky"}, {}),
    (Columns, "Nystroem", ANY, {"landmarks": "rpcholesky", "block_size": 1}, {}),
    (Columns, "Nystroem", ANY, {"landmarks": "recursive-rls"}, {}),
    (Columns, "TEFMG", ANY, {}, {}),
    (Columns, "TEFMG", ANY, {"power": 2}, FAR),
    (Columns, "TEFMS", ANY, {}, {}),
    (Columns, "TEFMS", ANY, {"sketch": "dct"}, {}),
    (Columns, "CompactFeatures", ANY, {}, {}),
    (Columns, "CompactFeatures", ANY, {"projection": "srht"}, {}),
    (Columns, "TruncatedSVD", ANY, {}, FAR),
    (Columns, "PositiveFeatures", GAUSSIAN, {}, {}),
    (Columns, "OptimalPositiveFeatures", GAUSSIAN, {"base": "orf"}, {}),
    (Columns, "RandomBinning", ("laplacian",), {"kernel": "laplacian"}, {}),
    (Columns, "DataPairs", ANY, {}, NEAR),
    (Columns, "SWIM", ANY, {"pairs_per_row": 3, "target_norm": "l2"}, NEAR),
)  # fmt: skip
for contract, name, served, options, differs in FORMS:
    own = {"sampler": getattr(samplers, name), "kernels_served": served, "options": options}
    form = "-".join((f"Test{name}", *map(str, options.values())))
    globals()[form] = type(form, (contract,), own | differs)


def test_every_sampler_has_its_line():
    assert {getattr(samplers, name) for _, name, *_ in FORMS} == set(SAMPLERS.values())
