from rfbench.samplers import EERF, LKRF

from .contract import SamplerContract


class TestEERF(SamplerContract):
    sampler = EERF
    options = {"pool_size": 40, "score_rows": 1.0}


class TestLKRF(SamplerContract):
    sampler = LKRF
    options = {"pool_size": 40, "rho": 2.0}


class TestLKRFd(SamplerContract):
    sampler = LKRF
    options = {"pool_size": 40, "rho": 2.0, "estimator": "draw"}


class TestLKRFpen(SamplerContract):
    sampler = LKRF
    options = {"pool_size": 40, "penalty": 2.0, "power": 3.0}
