"""Floor 2: knowledge-graph embedding models, regimes, losses and the module that trains them."""

from mohone.kge.analogy import Analogy
from mohone.kge.base import KGEModel, Query
from mohone.kge.complex import ComplEx
from mohone.kge.distmult import DistMult
from mohone.kge.k_vs_all import KvsAll
from mohone.kge.negative_sampling import NegativeSampling
from mohone.kge.one_vs_all import OneVsAll
from mohone.kge.reciprocal import Reciprocal
from mohone.kge.regime import Regime
from mohone.kge.rescal import RESCAL
from mohone.kge.transd import TransD
from mohone.kge.transe import TransE
from mohone.kge.transh import TransH
from mohone.kge.transr import TransR
from mohone.kge.wrapped import Wrapped

__all__ = [
    "RESCAL",
    "Analogy",
    "ComplEx",
    "DistMult",
    "KGEModel",
    "KvsAll",
    "NegativeSampling",
    "OneVsAll",
    "Query",
    "Reciprocal",
    "Regime",
    "TransD",
    "TransE",
    "TransH",
    "TransR",
    "Wrapped",
]
