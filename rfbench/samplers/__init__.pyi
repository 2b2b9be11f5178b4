# Written by `python -m scripts.stubs` from rfbench/registry.py. Do not edit.

from __future__ import annotations
from typing import TYPE_CHECKING, Any
from rfbench.parameters import build_checked_object
from rfbench.registry import SAMPLERS
from rfbench.samplers.base import RandomFeatures as RandomFeatures
def make(name: str, **parameters: Any) -> RandomFeatures:
    ...
from rfbench.samplers.eerf import EERF as EERF
from rfbench.samplers.greedy import Greedy as Greedy
from rfbench.samplers.leverage import LeverageRFF as LeverageRFF
from rfbench.samplers.leverage import SurrogateLeverage as SurrogateLeverage
from rfbench.samplers.lkrf import LKRF as LKRF
from rfbench.samplers.low_precision import LowPrecision as LowPrecision
from rfbench.samplers.metric import RFMFeatures as RFMFeatures
from rfbench.samplers.nystroem import Nystroem as Nystroem
from rfbench.samplers.orf import ColumnORF as ColumnORF
from rfbench.samplers.orf import ORF as ORF
from rfbench.samplers.orf import SimRF as SimRF
from rfbench.samplers.pool import UniformPool as UniformPool
from rfbench.samplers.positive import PositiveFeatures as PositiveFeatures
from rfbench.samplers.qmc import QMC as QMC
from rfbench.samplers.quadrature import GaussianQuadrature as GaussianQuadrature
from rfbench.samplers.quadrature import SSR as SSR
from rfbench.samplers.rks import RKS as RKS
from rfbench.samplers.ses import SES as SES
from rfbench.samplers.sketches import MaclaurinFeatures as MaclaurinFeatures
from rfbench.samplers.sketches import PolynomialSketch as PolynomialSketch
from rfbench.samplers.sketches import PowerSketch as PowerSketch
from rfbench.samplers.structured import Circulant as Circulant
from rfbench.samplers.structured import Fastfood as Fastfood
from rfbench.samplers.structured import ROM as ROM
from rfbench.samplers.structured import SORF as SORF
from rfbench.samplers.swim import DataPairs as DataPairs
from rfbench.samplers.swim import ELM as ELM
from rfbench.samplers.swim import SWIM as SWIM
from rfbench.samplers.tefm import CompactFeatures as CompactFeatures
from rfbench.samplers.tefm import TEFMG as TEFMG
from rfbench.samplers.tefm import TEFMS as TEFMS
from rfbench.samplers.tefm import TruncatedSVD as TruncatedSVD
from rfbench.samplers.varpro import VariableProjection as VariableProjection
