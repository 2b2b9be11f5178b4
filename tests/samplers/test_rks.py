from rfbench.samplers import RKS

from .contract import SamplerContract


class TestRKS(SamplerContract):
    sampler = RKS
